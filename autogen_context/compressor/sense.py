"""What one sentence says that a later reader may need.

Promise: linear in the length of the sentence; the same sentence gives the same concepts, in its order. A sentence is read
once while it is remembered: each step of a compression, and the next compression, look at the same ones.

A concept is a value (identifier, path, address), a number with what it is of, a date, a name, a quoted string, a negation,
a constraint, or a keyword of the caller's.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Literal, NamedTuple

from autogen_context.compressor.chunk import RUNS, chunks_of

ConceptKind = Literal[
    "keyword", "negation", "constraint", "date", "number", "value", "name", "quote"
]

WEIGHTS: dict[ConceptKind, float] = {
    "keyword": 4.0,
    "negation": 3.0,
    "constraint": 2.0,
    "date": 2.0,
    "number": 1.5,
    "value": 1.5,
    "name": 1.0,
    "quote": 1.0,
}
"""What the loss of a concept weighs."""

MONTH = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]{0,6}"
DATE = re.compile(
    rf"\b(?:\d{{4}}-\d\d(?:-\d\d)?|\d{{1,2}}[./]\d{{1,2}}[./]\d{{2,4}}|\d{{1,2}}:\d\d(?::\d\d)?"
    rf"|\d{{1,2}}(?:st|nd|rd|th)? {MONTH}(?: \d{{4}})?|{MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? \d{{4}})?)",
    re.IGNORECASE,
)
MAY_BE_DATE = re.compile(  # a digit first: quick to find
    r"\d(?:[-./:]\d|[a-zA-Z]{0,2} [a-zA-Z]|(?<=[a-zA-Z] \d))"
)
QUOTES = ('"', "\u201c", "`")
QUOTE = re.compile(r'"([^"\n]{2,80})"|\u201c([^\u201d\n]{2,80})\u201d|`([^`\n]{2,80})`')
NAME = re.compile(
    r"[A-Z](?<=[a-z,;:] [A-Z])[\w'\u2019]*(?<=[a-z])(?: [A-Z][\w'\u2019]*){0,2}"  # a capital first: quick to find
)
NEGATING = ("n't", "n\u2019t", "instead of", "rather than")
CONSTRAINING = re.compile(
    "at most|at least|(?:more|less|fewer|later|longer) than|up to|needs? to|ha(?:ve|s) to|ought to"
)
MAY_CONSTRAIN = ("at most", "at least", " than", " to")
CLAUSE_CHARS = 200  # of a negation or a constraint, as it is shown
REMEMBERED = 20_000  # sentences
REMEMBERED_CHARS = 600  # of a sentence


class Concept(NamedTuple):
    """One thing that a text says; a tuple, as sets of them are built again and again.

    Attributes:
        kind: what it is.
        text: as written, on one line.
        about: stems of what a number, a negation or a constraint is about; empty for what stands for itself.
    """

    kind: ConceptKind
    text: str
    about: frozenset[str] = frozenset()

    @property
    def weight(self) -> float:
        """What its loss weighs."""
        return WEIGHTS[self.kind]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sense:
    """What a sentence says.

    Attributes:
        concepts: each once.
        terms: of the sentence, repeated as in it.
        about: stems of what it is about: without numbers, and without the words that deny or demand.
        runs: its values and words, in lower case.
        denies: whether it has a negation.
        demands: whether it has a word that demands or limits.
    """

    concepts: tuple[Concept, ...]
    terms: tuple[str, ...]
    about: frozenset[str]
    runs: frozenset[str]
    denies: bool
    demands: bool


def sense_of(sentence: str) -> Sense:
    """What a sentence, an item or a block says."""
    return known(sentence) if len(sentence) <= REMEMBERED_CHARS else found(sentence)


def found(sentence: str) -> Sense:
    """What a sentence says, looked for."""
    lower = sentence.lower()
    chunks = chunks_of(sentence)
    about = frozenset(chain.from_iterable(chunks.about))
    denies = True in chunks.denies or any(map(lower.__contains__, NEGATING))
    demands = True in chunks.demands or is_constraining(lower)
    dates = dates_in(sentence)
    known_by_date = {part for date in dates for part in RUNS.findall(date.text)}
    values = [
        Concept("number", run, about) if kind == "number" else Concept(kind, run)
        for kind, run in chain.from_iterable(chunks.values)
        if run not in known_by_date
    ]
    concepts = [*dates, *values, *strings_in(sentence)]
    if about and (denies or demands):
        rule: ConceptKind = "negation" if denies else "constraint"
        concepts.append(Concept(rule, " ".join(sentence.split())[:CLAUSE_CHARS], about))
    return Sense(
        concepts=tuple(dict.fromkeys(concepts)),
        terms=tuple(chain.from_iterable(chunks.terms)),
        about=about,
        runs=frozenset(chain.from_iterable(chunks.runs)),
        denies=denies,
        demands=demands,
    )


known = lru_cache(maxsize=REMEMBERED)(found)


def is_constraining(lower: str) -> bool:
    """Whether words demand or limit together."""
    return any(map(lower.__contains__, MAY_CONSTRAIN)) and CONSTRAINING.search(lower) is not None


def dates_in(sentence: str) -> list[Concept]:
    """Dates and times of day."""
    if not MAY_BE_DATE.search(sentence):
        return []
    return [Concept("date", date) for date in DATE.findall(sentence)]


def strings_in(sentence: str) -> list[Concept]:
    """Names and what is quoted."""
    found = [Concept("name", name) for name in NAME.findall(sentence)]
    if any(map(sentence.__contains__, QUOTES)):
        found += [Concept("quote", "".join(marks)) for marks in QUOTE.findall(sentence)]
    return found
