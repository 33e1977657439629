"""Cut the older part of a conversation into spans, each of which is summarised once.

Promise: a span depends on its units alone, so that what is said later neither moves nor renames it; the newest units and
those that must stay belong to none.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from autogen_context.pipeline.decision import Candidate
from autogen_context.pipeline.message import SYSTEM_ROLES, Message, content_digest

SPAN_TOKENS = 4_000  # at least; a summary of less is hardly smaller than it
LINE = re.compile("^", re.MULTILINE)
NAMING = re.compile(r"^(?=[ \t]*(?:\[[^\]\n]{1,40}\]|[^\W\d_][\w -]{0,30}:))", re.MULTILINE)
NEWEST_SHARE = 0.25  # of the room, for the newest units, which will stay for a while


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Consecutive units.

    Attributes:
        start: position of the first unit.
        stop: position after the last.
        tokens: of its units.
        text: what was said and done in them, a paragraph for each message with the name of its role.
    """

    start: int
    stop: int
    tokens: int
    text: str

    @property
    def key(self) -> str:
        """What stands for its content."""
        return content_digest(self.text).hex()


def spans_of(
    candidates: Sequence[Candidate], *, stays: Collection[int], room_tokens: int
) -> list[Span]:
    """The spans of a conversation, oldest first.

    Args:
        candidates: its n units.
        stays: positions of those that must stay.
        room_tokens: what a request may have.
    """
    spans: list[Span] = []
    start = next((i for i in range(len(candidates)) if i not in stays), len(candidates))
    tokens = 0
    for i in range(start, newest_of(candidates, room_tokens)):
        tokens += candidates[i].tokens
        if tokens >= SPAN_TOKENS:
            spans.append(span_of(candidates, start, i + 1))
            start, tokens = i + 1, 0
    return spans


def newest_of(candidates: Sequence[Candidate], room_tokens: int) -> int:
    """Where the newest units begin."""
    left = int(NEWEST_SHARE * room_tokens)
    for i in range(len(candidates) - 1, -1, -1):
        left -= candidates[i].tokens
        if left < 0:
            return i
    return 0


def span_of(candidates: Sequence[Candidate], start: int, stop: int) -> Span:
    """The units between two positions."""
    units = candidates[start:stop]
    said = [part for c in units for message in c.unit.messages for part in parts_of(message)]
    return Span(start=start, stop=stop, tokens=sum(c.tokens for c in units), text="\n\n".join(said))


def parts_of(message: Message) -> Iterator[str]:
    """A paragraph for what a message says, for each of its calls and for each of its results.

    What a tool or the model wrote cannot pass for the words of another: lines that could are quoted.
    """
    if message.text:
        own = message.role == "user" or message.role in SYSTEM_ROLES
        yield f"[{message.role}] {message.text if own else NAMING.sub('> ', message.text)}"
    for call in message.calls:
        yield f"[assistant calls {call.name}] {call.arguments}"
    for result in message.results:
        yield f"[tool] {LINE.sub('> ', result.text)}"
