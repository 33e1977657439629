"""What of the working memory is worth its tokens: fillers and empty confirmations are not.

Promise: a message goes only where nothing is lost with it: it says nothing but a courtesy, or repeats what stood right
before it. Whatever asks, decides, answers, names a value, or was said with strong emotion stays, however short it is.

What people say as a courtesy is data: topic ``courtesy`` of the languages.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autogen_context.language.phrases import phrases
from autogen_context.messages.message import Message
from autogen_context.messages.openai_chat import messages_in
from autogen_context.messages.people import is_strong

FILLER_CHARS = 200  # a courtesy is no longer than that

WORD = re.compile(r"[\w']+(?:[./:@_-][\w']+)*")
ASKS = re.compile(r"[?\uff1f]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """Whether a message stays in working memory, and why."""

    keep: bool
    reason: str


def select(messages: Sequence[object]) -> list[Selected]:
    """One verdict for each message, same order.

    Args:
        messages: a stretch of the conversation, oldest first, in OpenAI's format or as ``Message``; the first is judged as
            if nothing stood before it.

    Raises:
        ValueError: it is no list.
        InvalidTranscript: one is no message.
    """
    return list(verdicts(list(messages_in(messages))))


def verdicts(messages: Sequence[Message]) -> Iterator[Selected]:
    """Judge each message by itself and by what stands right before it."""
    before: Message | None = None
    for message in messages:
        kept = why_kept(message, before)
        lost = "" if kept else why_dropped(message, before)
        yield Selected(keep=not lost, reason=kept or lost or "says something new")
        before = message


def why_kept(message: Message, before: Message | None) -> str:
    """What makes a message stay, whatever it says; empty where nothing does."""
    if message.calls or message.results or message.images or message.extra:
        return "holds more than words"
    if message.role not in ("user", "assistant"):
        return "sets the frame"
    if is_strong(message):
        return "strong emotion"
    if ASKS.search(message.text):
        return "asks something"
    return "answers a question" if answers(message, before) else ""


def answers(message: Message, before: Message | None) -> bool:
    """Whether the message before, of somebody else, ended with a question."""
    if before is None or before.role == message.role:
        return False
    return before.text.rstrip(" \n\t*_)\"'").endswith(("?", "\uff1f"))


def why_dropped(message: Message, before: Message | None) -> str:
    """What makes a message go; empty where it says something."""
    rest = without_courtesy(message.text)
    words = WORD.findall(rest.lower())
    if not words:
        return "a courtesy"
    confirms = rest != message.text and before is not None
    return "repeats what was just said" if confirms and within(words, before) else ""


def without_courtesy(text: str) -> str:
    """A text without the courtesies that it opens with; as it is where it is too long for one."""
    if len(text) > FILLER_CHARS:
        return text
    stop = 0
    for found in phrases("courtesy").find(text):
        if WORD.search(text, stop, found.start):
            break
        stop = found.stop
    return text[stop:]


def within(words: Sequence[str], before: Message | None) -> bool:
    """Whether these words stand in the message before, in this order."""
    said = iter(WORD.findall(before.text.lower()) if before is not None else [])
    return all(word in said for word in words)
