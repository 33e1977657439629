"""What an agent says of its work, clause by clause: that it is done, that other work begins.

Promise: code, quoted text and markup are left out, since nobody says them; doubt, conditions, plans and questions claim
nothing. At most ``HEAD_CHARS`` and ``TAIL_CHARS`` of a text are read: what was done is said first or last. The phrases
are data: the tables ``claim`` and ``clause`` of ``language/*.toml``.
"""

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate

from autogen_context.language.phrases import phrases

HEAD_CHARS = 1_500
TAIL_CHARS = 500
CLAUSE_CHARS = 300  # a longer one is pasted, not said
OPENING_CHARS = 300  # of what is said, where what was done last is judged
FIRST_CLAUSES = 2  # where it is praised
REMEMBERED = 8

# Each begins with the signs of which one must come first: what cannot begin there is passed over at once.
_LEFT_OUT = re.compile(
    r"(?=[`\"\u201c'<>*# \t])(?:"
    r"```.*?(?:```|\Z)"  # code
    r"|`[^`\n]{1,200}`|\"[^\"\n]{1,300}\"|\u201c[^\u201d\n]{1,300}\u201d|(?<!\w)'[^'\n]{2,100}'(?!\w)"  # quoted in a line
    r"|^[ \t]*>[^\n]*$"  # quoted lines
    r"|(?P<markup></?\w{1,40}>|\*\*|^#{1,6} ))",
    re.DOTALL | re.MULTILINE,
)
_BREAK = re.compile(r"(?=[\s,])(?:(?<=[.!?;:])\s+|\s*\n\s*| [\u2013\u2014-] |(?P<comma>, ))")
_SIGNS = re.compile(r"[\W_]*")
_HOST = re.compile(r"\bTERMINATE\b|\bTASK[_ ]COMPLETED?\b")  # to the host, in capitals


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A clause of what is said.

    Attributes:
        text: all of it.
        said: without the interjections in front of it.
    """

    text: str
    said: str

    @property
    def is_question(self) -> bool:
        """Whether it asks."""
        return self.text.rstrip("\"') ").endswith("?")


def clauses_of(text: str) -> tuple[Clause, ...]:
    """The clauses of a text, in order."""
    if len(text) > HEAD_CHARS + TAIL_CHARS:
        text = f"{text[:HEAD_CHARS]}\n{text[-TAIL_CHARS:]}"
    return _clauses(text)


@lru_cache(REMEMBERED)
def _clauses(text: str) -> tuple[Clause, ...]:
    plain = _LEFT_OUT.sub(lambda left: " " if left["markup"] else " _ ", text.replace("\u2019", "'"))
    parts = (part.strip() for part in _parts(plain))
    return tuple(
        Clause(text=part, said=_without_interjections(part))
        for part in parts
        if part and len(part) <= CLAUSE_CHARS
    )


def _parts(text: str) -> list[str]:
    """The text in its clauses: at the ends of sentences and lines, and at commas before a word that joins clauses."""
    joints = {found.start for found in phrases("clause").find(text) if found.label == "joint"}
    stops = [0]
    parts: list[str] = []
    for found in _BREAK.finditer(text):
        if not found["comma"] or found.end() in joints:
            parts.append(text[stops[-1] : found.start()])
            stops.append(found.end())
    return [*parts, text[stops[-1] :]]


def _without_interjections(clause: str) -> str:
    at = 0
    for found in phrases("clause").find(clause):
        if found.label == "interjection" and found.start <= at + len(_SIGNS.match(clause, at)[0]):  # type: ignore[index]
            at = max(at, found.stop)
    return clause[at:].lstrip(" ,!.:") if at else clause


class Claims:
    """What is claimed in a turn; each claim is looked for when it is asked for.

    Args:
        text: what the agent said.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._clauses = [clause for clause in clauses_of(text) if not clause.is_question]

    @property
    def done(self) -> bool:
        """That work is done."""
        sure = [labels for labels in self._labels if "doubt" not in labels]
        return any("done" in labels for labels in sure) or _HOST.search(self._text) is not None

    @property
    def reported(self) -> bool:
        """That something was done, in a report."""
        return any("reported" in labels and "doubt" not in labels for labels in self._labels)

    @property
    def planned(self) -> bool:
        """That it goes on."""
        return self._has("planned")

    @property
    def praised(self) -> bool:
        """That what was done before is good, in the first words."""
        return any("praised" in labels for labels in self._labels[:FIRST_CLAUSES])

    @property
    def denied(self) -> bool:
        """That something is not as it should be, in the first words."""
        starts = accumulate((len(clause.text) for clause in self._clauses), initial=0)
        pairs = zip(starts, self._labels, strict=False)
        return any("denied" in labels for start, labels in pairs if start < OPENING_CHARS)

    @property
    def elsewhere(self) -> bool:
        """That other work begins."""
        return self._has("elsewhere")

    @property
    def next(self) -> bool:
        """What is done now."""
        return self._has("next")

    @property
    def next_work(self) -> bool:
        """What is made now, not looked at."""
        return any({"next", "making"} <= labels for labels in self._labels)

    def _has(self, label: str) -> bool:
        return any(label in labels for labels in self._labels)

    @cached_property
    def _labels(self) -> list[frozenset[str]]:
        return [labels_of(clause) for clause in self._clauses]


@lru_cache(64)
def labels_of(clause: Clause) -> frozenset[str]:
    """What a clause claims; a claim that must stand alone counts where nothing stands behind it."""
    labels: set[str] = set()
    for text in {clause.text, clause.said}:
        for found in phrases("claim").find(text):
            is_last = _SIGNS.fullmatch(text, found.stop) is not None
            if found.label != "whole" or is_last:
                labels.add("done" if found.label == "whole" else found.label)
    return frozenset(labels)
