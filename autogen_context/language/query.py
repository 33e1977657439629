"""What a person asks for: something of the past, a summary of it, or neither.

Promise: whole words decide; the same text has the same kind; a text of any length costs about the same. Each verdict
names the words that led to it. The words are data: the topic ``gate`` of each language.
"""

import re
from functools import lru_cache
from typing import Literal

from autogen_context.language.phrases import phrases

__all__ = ["QueryKind", "kind_of"]

QueryKind = Literal["casual", "recall", "summary"]

END_CHARS = 600  # of a long text, from its head and from its tail: people ask before or behind what they paste
REMEMBERED = 64  # texts
SENTENCE_END = re.compile(r"(?<=[.!?])[\"'\u201d\u00bb)]*\s+|\n+|(?<=[\u3002\uff01\uff1f])")
NOT_END = re.compile(r"[^.!?]")
QUESTION = re.compile(r"[?\uff1f\u037e\u061f][\s\"')\]\u201d\u00bb]*$")
NAME = re.compile(r"\W[^\W\d_a-z\u00df-\u00ff]\w")
QUOTED = re.compile(
    r"\"[^\"\n]*\"|(?<!\w)'[^'\n]*'(?!\w)"
    r"|\u201c[^\u201d\n]*\u201d|\u00ab[^\u00bb\n]*\u00bb|\u201e[^\u201c\n]*\u201c"
)
LABELS: dict[str, tuple[QueryKind, str]] = {  # in the order in which they decide
    "not": ("casual", "asks to keep something in mind"),
    "summary": ("summary", "asks for the whole in short"),
    "recall": ("recall", "asks for the past"),
    "asked": ("recall", "asks for the past"),  # where it is a question
    "world": ("casual", "asks what all may know"),
    "perhaps": ("recall", "asks for the past"),  # where it names nothing
}


def kind_of(text: str) -> tuple[QueryKind, str]:
    """The kind of a query in any language, and the reason in words.

    ``recall`` where it asks for something said or done before, ``summary`` where it asks for the whole of it in short,
    ``casual`` for anything else.
    """
    return kind_of_ends(ends_of(text))


@lru_cache(REMEMBERED)
def kind_of_ends(text: str) -> tuple[QueryKind, str]:
    """The kind of a query that is as long as it is read; a turn asks several times."""
    # Somebody else may have asked what it quotes.
    plain = QUOTED.sub(lambda found: f'"{NOT_END.sub(" ", found[0][1:-1])}"', text)
    verdicts = [verdict for part in sentences(plain) if (verdict := verdict_on(part))]
    for kind in ("recall", "summary"):
        for verdict in verdicts:
            if verdict[0] == kind:
                return verdict
    return verdicts[0] if verdicts else ("casual", "nothing in it asks for the past")


def verdict_on(sentence: str) -> tuple[QueryKind, str] | None:
    """What a sentence asks for, and why; the first of ``LABELS`` that fits decides."""
    found = {each.label: each for each in reversed(phrases("gate").find(sentence))}
    for label, (kind, reason) in LABELS.items():
        if label not in found or (label == "asked" and not is_question(sentence)):
            continue
        start, stop = found[label].start, found[label].stop
        if label != "perhaps" or NAME.search(sentence, stop) is None:
            return kind, f'{reason}: "{sentence[start:stop]}"'
    return None


def is_question(sentence: str) -> bool:
    """Whether a sentence ends as questions do."""
    return QUESTION.search(sentence) is not None


def ends_of(text: str) -> str:
    """Both ends of a text; all of it where it is no longer than they are."""
    return text if len(text) <= 2 * END_CHARS else f"{text[:END_CHARS]}\n{text[-END_CHARS:]}"


def sentences(text: str) -> list[str]:
    """The sentences of a text."""
    return [part for part in SENTENCE_END.split(text) if part.strip()]
