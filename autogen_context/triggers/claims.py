"""What an agent says of its work, clause by clause: that it is done, that other work begins.

Promise: code, quoted text and markup are left out, since nobody says them; doubt, conditions, plans and questions claim
nothing. At most ``HEAD_CHARS`` and ``TAIL_CHARS`` of a text are read: what was done is said first or last. The phrases
are data: the tables ``work`` and ``clause`` of ``language/*.toml``.
"""

import re
from bisect import bisect_right
from functools import cache, cached_property, lru_cache
from itertools import accumulate

from autogen_context.language.phrases import package_phrases, phrases

HEAD_CHARS = 600
TAIL_CHARS = 300
CLAUSE_CHARS = 300  # a longer one is pasted, not said
OPENING_CHARS = 300  # of what is said, where what was done last is judged
FIRST_CHARS = 30  # where it is praised
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
_SIGNS = re.compile(r"[\W_]*")
_APART = "\n\n"  # a phrase ends there
_HOST = re.compile(r"\bTERMINATE\b|\bTASK[_ ]COMPLETED?\b")  # to the host, in capitals


def clauses_of(text: str) -> tuple[str, ...]:
    """The clauses of a text, in order, each without the interjections in front of it."""
    if len(text) > HEAD_CHARS + TAIL_CHARS:
        text = f"{text[:HEAD_CHARS]}\n{text[-TAIL_CHARS:]}"
    return _clauses(text)


@lru_cache(REMEMBERED)
def _clauses(text: str) -> tuple[str, ...]:
    text = _LEFT_OUT.sub(lambda left: " " if left["markup"] else " _ ", text.replace("\u2019", "'"))
    breaks, interjections = _joints()
    clauses = (interjections.sub("", clause, count=1).strip() for clause in breaks.split(text))
    return tuple(clause for clause in clauses if clause and len(clause) <= CLAUSE_CHARS)


@cache
def _joints() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What clauses are parted by, and what stands in front of one that says something else as well."""
    joints, interjections = (
        "|".join(
            re.escape(word) for label, word in package_phrases().listed("clause") if label == wanted
        )
        for wanted in ("joint", "interjection")
    )
    breaks = rf"(?=[\s,])(?:(?<=[.!?;:])\s+|\s*\n\s*| [\u2013\u2014-] |, (?=(?:{joints})(?!\w)))"
    opening = rf"(?:[\W_]*(?<!\w)(?:{interjections})(?!\w))+(?=.*[^\W_])"
    return re.compile(breaks, re.IGNORECASE), re.compile(rf"\A{opening}", re.IGNORECASE | re.DOTALL)


@lru_cache(REMEMBERED)
def labels_of(clauses: tuple[str, ...]) -> tuple[frozenset[str], ...]:
    """What each clause says of the work; ``whole`` where nothing but signs stands behind it."""
    labels: list[set[str]] = [set() for _ in clauses]
    text = _APART.join(clauses)
    starts = list(accumulate((len(clause) + len(_APART) for clause in clauses), initial=0))
    for found in phrases("work").find(text):
        i = bisect_right(starts, found.start) - 1
        if found.label != "whole" or _SIGNS.fullmatch(text, found.stop, starts[i + 1]):
            labels[i].add(found.label)
    return tuple(map(frozenset, labels))


class Claims:
    """What is claimed in a turn; each claim is looked for when it is asked for.

    Args:
        text: what the agent said.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    @property
    def done(self) -> bool:
        """That work is done."""
        sure = (labels for labels in self._labels if "doubt" not in labels)
        return any(labels & {"done", "whole"} for labels in sure) or bool(_HOST.search(self._text))

    @property
    def reported(self) -> bool:
        """That something was done, in a report."""
        return any(
            "reported" in labels and not labels & {"doubt", "looked"} for labels in self._labels
        )

    @property
    def planned(self) -> bool:
        """That it goes on."""
        return self._has("planned")

    @property
    def praised(self) -> bool:
        """That what was done before is good, in the first words."""
        return any(label == "praised" and start <= FIRST_CHARS for label, start in self._opening)

    @property
    def denied(self) -> bool:
        """That something is not as it should be, in the first words."""
        return any(label == "denied" for label, _ in self._opening)

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

    @cached_property
    def _opening(self) -> list[tuple[str, int]]:
        text = _LEFT_OUT.sub(
            lambda left: "" if left["markup"] else left[0], self._text[:OPENING_CHARS]
        )
        return [(each.label, each.start) for each in phrases("work").find(text)]

    def _has(self, label: str) -> bool:
        return any(label in labels for labels in self._labels)

    @cached_property
    def _labels(self) -> list[frozenset[str]]:
        clauses = clauses_of(self._text)
        labels = zip(clauses, labels_of(clauses), strict=True)
        return [each for clause, each in labels if not clause.rstrip("\"') ").endswith("?")]
