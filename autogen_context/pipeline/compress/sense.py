"""What one sentence says that a later reader may need.

Promise: linear in the length of the sentence; the same sentence gives the same concepts, in its order. A sentence is read
once while it is remembered: each step of a compression, and the next compression, look at the same ones.

A concept is a value (identifier, path, address), a number with what it is of, a date, a name, a quoted string, a negation,
a constraint, or a keyword of the caller's.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from autogen_context.pipeline.blocks.values import CONNECTORS, MOST, RUN, is_telling
from autogen_context.pipeline.relevance.stems import stem
from autogen_context.pipeline.relevance.terms import terms

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

WORD = re.compile(r"[a-z]+(?:['\u2019][a-z]+)?")
DIGIT = re.compile(r"\d")
MONTH = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]{0,6}"
DATE = re.compile(
    rf"\b(?:\d{{4}}-\d\d(?:-\d\d)?|\d{{1,2}}[./]\d{{1,2}}[./]\d{{2,4}}|\d{{1,2}}:\d\d(?::\d\d)?"
    rf"|\d{{1,2}}(?:st|nd|rd|th)? {MONTH}(?: \d{{4}})?|{MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? \d{{4}})?)",
    re.IGNORECASE,
)
RUNS = re.compile(rf"\d{{1,3}}(?:,\d{{3}})+(?![\d,])|{RUN.pattern}")
NUMBER = re.compile(r"\d[\d,.]*[a-zA-Z]{0,3}")
QUOTE = re.compile(r'"([^"\n]{2,80})"|\u201c([^\u201d\n]{2,80})\u201d|`([^`\n]{2,80})`')
NAME = re.compile(
    r"[A-Z](?<=[a-z,;:] [A-Z])[\w'\u2019]*(?<=[a-z])(?: [A-Z][\w'\u2019]*){0,2}"  # a capital first: quick to find
)
NEGATIONS = frozenset(
    [
        "no",
        "not",
        "never",
        "none",
        "nothing",
        "nobody",
        "nor",
        "neither",
        "without",
        "cannot",
        "avoid",
        "avoids",
        "except",
        "unless",
        "refuse",
        "refuses",
        "refused",
        "forbid",
        "forbids",
        "forbidden",
        "prohibit",
        "prohibits",
        "prohibited",
        "disallow",
        "disallows",
        "disallowed",
        "reject",
        "rejects",
        "rejected",
    ]
)
NEGATING = re.compile("n['\u2019]t|instead of|rather than")
CONSTRAINTS = frozenset(
    [
        "must",
        "shall",
        "should",
        "only",
        "always",
        "limit",
        "limits",
        "limited",
        "max",
        "maximum",
        "min",
        "minimum",
        "cap",
        "caps",
        "capped",
        "require",
        "requires",
        "required",
        "mandatory",
        "until",
        "before",
        "deadline",
        "exceed",
        "exceeds",
        "exactly",
    ]
)
CONSTRAINING = re.compile(
    "at most|at least|(?:more|less|fewer|later|longer) than|up to|needs? to|ha(?:ve|s) to|ought to"
)
RULE_STEMS = frozenset(map(stem, NEGATIONS | CONSTRAINTS))
NO_VALUE = frozenset(["and/or", "he/she", "e.g", "i.e", "a.m", "p.m"])
CLAUSE_CHARS = 200  # of a negation or a constraint, as it is shown
REMEMBERED = 20_000  # sentences
REMEMBERED_CHARS = 600  # of a sentence


@dataclass(frozen=True, slots=True)
class Concept:
    """One thing that a text says.

    Attributes:
        kind: what it is.
        text: as written, on one line.
        about: stems of what a number, a negation or a constraint is about; empty for what stands for itself.
    """

    kind: ConceptKind
    text: str
    about: frozenset[str] = field(default=frozenset())

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
    words = frozenset(WORD.findall(lower))
    runs = [run.rstrip(CONNECTORS) for run in RUNS.findall(sentence)]
    said = tuple(terms(sentence))
    about = frozenset(term for term in said if not term[0].isdigit()) - RULE_STEMS
    denies = not words.isdisjoint(NEGATIONS) or NEGATING.search(lower) is not None
    demands = not words.isdisjoint(CONSTRAINTS) or CONSTRAINING.search(lower) is not None
    dates = dates_in(sentence)
    known_by_date = {part for date in dates for part in RUNS.findall(date.text)}
    values = values_in((run for run in runs if run not in known_by_date), about)
    concepts = [*dates, *values, *strings_in(sentence)]
    if about and (denies or demands):
        rule: ConceptKind = "negation" if denies else "constraint"
        concepts.append(Concept(rule, " ".join(sentence.split())[:CLAUSE_CHARS], about))
    return Sense(
        concepts=tuple(dict.fromkeys(concepts)),
        terms=said,
        about=about,
        runs=frozenset(map(str.lower, runs)),
        denies=denies,
        demands=demands,
    )


known = lru_cache(maxsize=REMEMBERED)(found)


def dates_in(sentence: str) -> list[Concept]:
    """Dates and times of day."""
    if not DIGIT.search(sentence):
        return []
    return [Concept("date", match.group()) for match in DATE.finditer(sentence)]


def values_in(runs: Iterable[str], about: frozenset[str]) -> Iterator[Concept]:
    """Values and numbers; a number is about the words around it."""
    for run in filter(is_telling, runs):
        if len(run) <= MOST:
            if NUMBER.fullmatch(run):
                yield Concept("number", run, about)
            elif is_value(run):
                yield Concept("value", run)


def is_value(run: str) -> bool:
    """Whether what may be a value is one: a hyphen between plain words makes none."""
    return is_telling(run.replace("-", " ")) and run.lower() not in NO_VALUE


def strings_in(sentence: str) -> Iterator[Concept]:
    """Names and what is quoted."""
    yield from (Concept("name", match.group()) for match in NAME.finditer(sentence))
    yield from (
        Concept("quote", next(filter(None, match.groups()))) for match in QUOTE.finditer(sentence)
    )
