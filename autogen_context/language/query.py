"""Classify a query: about the past, a request for a summary, or neither.

Promise: whole words decide; the same text has the same kind; the cost does not depend on its length. Each result names the
words that led to it. The words are in the language files, topic ``gate``.
"""

import re
from typing import Literal

from autogen_context.language.phrases import phrases
from autogen_context.text.memo import remembered
from autogen_context.text.sentence import sentences_of
from autogen_context.text.work import ends_of

QueryKind = Literal["casual", "recall", "summary"]

END_CHARS = 600  # read from each end of a long text: people ask before or after what they paste
REMEMBERED = 64  # cached texts
NOT_END = re.compile(r"[^.!?]")
QUESTION = re.compile(r"[?\uff1f\u037e\u061f][\s\"')\]\u201d\u00bb]*$")
NAME = re.compile(r"\W[^\W\d_a-z\u00df-\u00ff]\w")
QUOTED = re.compile(
    r"\"[^\"\n]*\"|(?<!\w)'[^'\n]*'(?!\w)"
    r"|\u201c[^\u201d\n]*\u201d|\u00ab[^\u00bb\n]*\u00bb|\u201e[^\u201c\n]*\u201c"
)
LABELS: dict[str, tuple[QueryKind, str]] = {  # in order of precedence
    "not": ("casual", "asks to keep something in mind"),
    "summary": ("summary", "asks for the whole in short"),
    "recall": ("recall", "asks for the past"),
    "asked": ("recall", "asks for the past"),  # if it is a question
    "world": ("casual", "asks what all may know"),
    "perhaps": ("recall", "asks for the past"),  # if no name follows
}


def kind_of(text: str) -> tuple[QueryKind, str]:
    """Return the kind of a query, in any known language, and the reason in words.

    ``recall`` asks about something said or done before, ``summary`` for the whole in short, ``casual`` is anything else.
    """
    return kind_of_ends(ends_of(text, END_CHARS))


@remembered(REMEMBERED)
def kind_of_ends(text: str) -> tuple[QueryKind, str]:
    """Return the kind of a shortened query; cached, since a turn asks several times."""
    # Quoted sentences may be somebody else's question.
    plain = QUOTED.sub(lambda found: f'"{NOT_END.sub(" ", found[0][1:-1])}"', text)
    verdicts = [verdict for part in sentences_of(plain) if (verdict := verdict_on(part))]
    for kind in ("recall", "summary"):
        for verdict in verdicts:
            if verdict[0] == kind:
                return verdict
    return verdicts[0] if verdicts else ("casual", "nothing in it asks for the past")


def verdict_on(sentence: str) -> tuple[QueryKind, str] | None:
    """Classify a sentence by the first of ``LABELS`` that fits."""
    found = {each.label: each for each in reversed(phrases("gate").find(sentence))}
    for label, (kind, reason) in LABELS.items():
        if label not in found or (label == "asked" and not is_question(sentence)):
            continue
        start, stop = found[label].start, found[label].stop
        if label != "perhaps" or NAME.search(sentence, stop) is None:
            return kind, f'{reason}: "{sentence[start:stop]}"'
    return None


def is_question(sentence: str) -> bool:
    """Whether a sentence ends with a question mark."""
    return QUESTION.search(sentence) is not None
