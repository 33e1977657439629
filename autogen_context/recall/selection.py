"""What of the working memory is worth its tokens: fillers and empty confirmations are not.

Promise: a message goes only where nothing is lost with it: it says nothing but a courtesy, or repeats what stood right
before it. Whatever asks, decides, answers, names a value, or was said with strong emotion stays, however short it is.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from autogen_context.messages.json_value import part_fields
from autogen_context.messages.message import Message
from autogen_context.messages.openai_chat import messages_in

STRONG_EMOTION = 0.7
FILLER_CHARS = 200  # a courtesy is no longer than that

FILLERS = (
    r"ok(?:ay|ey)?|k|alright|all right|right|sure(?: thing)?|fine|great|good|nice|cool|perfect|awesome|excellent|wonderful|lovely",
    r"got it|understood|i see|makes sense|sounds good|of course|certainly|absolutely|will do|on it|noted|no problem|no worries",
    r"yes|yep|yeah|yup|indeed|exactly|correct|agreed|done|that's (?:fine|great|good|right|all)|very good|good (?:job|work)|well done",
    r"(?:many )?thanks(?: a lot| so much| again)?|thank you(?: (?:so|very) much| again)?|thx|ty|cheers|please|you're welcome",
    r"hi|hello|hey|hi there|good (?:morning|evening|night|afternoon)|bye|goodbye|see you|welcome(?: back)?",
    r"(?:h+m+|ah+|oh|uh|um+|well|so|lol|(?:ha)+h?|wow|hehe)",
    r"in ordnung|alles klar|danke(?: schön| dir)?|ja|genau|gut|super|hallo|tschüss|bitte",
    r"d'accord|merci(?: beaucoup)?|oui|parfait|très bien|bonjour|salut|au revoir|vale|gracias|sí|perfecto|hola|de acuerdo",
    r"хорошо|спасибо|да|понятно|ладно|привет|пока|好的?|谢谢|是的?|明白了?|你好|嗯+|再见",
)
SPACE = r"(?:[^\w']+|$)"
COURTESY = re.compile(rf"^\W*(?:(?:{'|'.join(FILLERS)}){SPACE})+", re.IGNORECASE)
QUESTION = re.compile(
    r"[?\uff1f]|^\W*(?:what|which|who|where|when|why|how|can|could|would|should|shall|do|does|did|is|are|will)\b",
    re.IGNORECASE,
)
WORD = re.compile(r"[\w']+(?:[./:@_-][\w']+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """Whether a message stays in working memory, and why."""

    keep: bool
    reason: str


def select(messages: Sequence[object], intensities: Sequence[float] = ()) -> list[Selected]:
    """One verdict for each message, same order.

    Args:
        messages: a stretch of the conversation, oldest first, in OpenAI's format or as ``Message``; the first is judged as
            if nothing stood before it.
        intensities: emotional intensity of each message, 0..1; left out, no message has any.

    Raises:
        ValueError: there are intensities, but not one for each message; or it is no list.
        BrokenTranscript: one is no message.
    """
    said = list(messages_in(messages))
    if intensities and len(intensities) != len(said):
        raise ValueError(
            f"intensities must have one number for each of {len(said)} messages, got {len(intensities)}"
        )
    return list(verdicts(said, intensities or [0.0] * len(said)))


def intensity_of(payload: object) -> float:
    """The emotional intensity, 0..1, in a host's message; 0 where none is given.

    Source: ``metadata.emotion_data.emotional_intensity``, as assistants with an emotion model write it.
    """
    metadata = part_fields(payload).get("metadata", getattr(payload, "metadata", None))
    value = part_fields(part_fields(metadata).get("emotion_data")).get("emotional_intensity")
    known = isinstance(value, int | float) and not isinstance(value, bool)
    return float(cast("float", value)) if known else 0.0


def verdicts(messages: Sequence[Message], intensities: Sequence[float]) -> Iterator[Selected]:
    """Judge each message by itself and by what stands right before it."""
    before: Message | None = None
    for message, intensity in zip(messages, intensities, strict=True):
        kept = why_kept(message, before, intensity)
        lost = "" if kept else why_dropped(message, before)
        yield Selected(keep=not lost, reason=kept or lost or "says something new")
        before = message


def why_kept(message: Message, before: Message | None, intensity: float) -> str:
    """What makes a message stay, whatever it says; empty where nothing does."""
    if message.calls or message.results or message.images or message.extra:
        return "holds more than words"
    if message.role not in ("user", "assistant"):
        return "sets the frame"
    if intensity > STRONG_EMOTION:
        return "strong emotion"
    if QUESTION.search(message.text):
        return "asks something"
    return "answers a question" if answers(message, before) else ""


def answers(message: Message, before: Message | None) -> bool:
    """Whether the message before, of somebody else, ended with a question."""
    if before is None or before.role == message.role:
        return False
    return before.text.rstrip(" \n\t*_)\"'").endswith(("?", "\uff1f"))


def why_dropped(message: Message, before: Message | None) -> str:
    """What makes a message go; empty where it says something."""
    rest = COURTESY.sub("", message.text) if is_short(message.text) else message.text
    words = WORD.findall(rest.lower())
    if not words:
        return "a courtesy"
    confirms = rest != message.text and before is not None
    return "repeats what was just said" if confirms and within(words, before) else ""


def is_short(text: str) -> bool:
    """Whether a text may be a courtesy."""
    return len(text) <= FILLER_CHARS


def within(words: Sequence[str], before: Message | None) -> bool:
    """Whether these words stand in the message before, in this order."""
    said = iter(WORD.findall(before.text.lower()) if before is not None else [])
    return all(word in said for word in words)
