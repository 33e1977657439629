"""The concepts of a text: looked for before it is compressed, and looked for after.

Promise: linear in the length of the texts; the same text gives the same concepts, in its order. Each sentence has at least
one, so that what is lost can be told.

A concept is a value (identifier, path, address), a number with what it is of, a date, a name, a quoted string, a keyword of
the caller's, or a sentence as a whole: a negation where it denies, a constraint where it demands, else a statement. A number
is there only where what it is of is there as well, a negation only where most of what it denies is: "500" alone is no budget,
and "never" alone forbids nothing. In a table what a number is of stands at the head.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from math import ceil
from typing import Literal, NamedTuple

from autogen_context.compressor.passage import passages_of
from autogen_context.language.terms import stem, terms
from autogen_context.messages.identifiers import CONNECTORS, MOST, RUN, is_telling

ConceptKind = Literal[
    "keyword", "negation", "constraint", "date", "number", "value", "name", "quote", "statement"
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
    "statement": 1.0,
}
"""What the loss of a concept weighs."""

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
RULE_STEMS = frozenset(map(stem, NEGATIONS | CONSTRAINTS))
NEGATING = ("n't", "n\u2019t", "instead of", "rather than")
CONSTRAINING = re.compile(
    r"\b(?:at most|at least|(?:more|less|fewer|later|longer) than|up to|needs? to|ha(?:ve|s) to|ought to)\b"
)
RULE_WORD = re.compile(rf"\b(?:{'|'.join(sorted(NEGATIONS | CONSTRAINTS))}|\w+n['\u2019]t)\b")
WORD = re.compile(r"[a-z]+")
SIGN = re.compile(r"[^\W_]|[^\x00-\x7f]")  # of something said: brackets and lines drawn say nothing
RUNS = re.compile(rf"\d{{1,3}}(?:,\d{{3}})+(?![\d,])|{RUN.pattern}")
NUMBER = re.compile(r"\d[\d,.]*[a-zA-Z]{0,3}")
NO_VALUE = frozenset(["and/or", "he/she", "e.g", "i.e", "a.m", "p.m"])
MONTH = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]{0,6}"
DATE = re.compile(
    rf"\b(?:\d{{4}}-\d\d(?:-\d\d)?|\d{{1,2}}[./]\d{{1,2}}[./]\d{{2,4}}|\d{{1,2}}:\d\d(?::\d\d)?"
    rf"|\d{{1,2}}(?:st|nd|rd|th)? {MONTH}(?: \d{{4}})?|{MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? \d{{4}})?)",
    re.IGNORECASE,
)
MAY_BE_DATE = re.compile(  # a digit first: quick to find
    r"\d(?:[-./:]\d|[a-zA-Z]{0,2} [a-zA-Z]|(?<=[a-zA-Z] \d))"
)
QUOTE = re.compile(r'"([^"\n]{2,80})"|\u201c([^\u201d\n]{2,80})\u201d|`([^`\n]{2,80})`')
NAME = re.compile(
    r"[A-Z](?<=[a-z,;:] [A-Z])[\w'\u2019]*(?<=[a-z])(?: [A-Z][\w'\u2019]*){0,2}"  # a capital first: quick to find
)
CLAUSE_CHARS = 200  # of a sentence, as it is shown
RULE_FRACTION = 0.6  # of what a negation or a constraint is about, for it to be held
STATEMENT_FRACTION = 0.8
LOOKED_AT = 64  # passages that may hold a concept, for each of its words
REMEMBERED = 20_000  # sentences
REMEMBERED_CHARS = 600  # of a sentence


class Concept(NamedTuple):
    """One thing that a text says; a tuple, as sets of them are built again and again.

    Attributes:
        kind: what it is.
        text: as written, on one line.
        about: stems of what a number or a sentence is about; empty for what stands for itself.
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
        about: stems of what it is about: without numbers, and without the words that deny or demand.
        runs: its values and words, in lower case.
        denies: whether it has a negation.
        demands: whether it has a word that demands or limits.
    """

    concepts: tuple[Concept, ...]
    about: frozenset[str]
    runs: frozenset[str]
    denies: bool
    demands: bool


def sense_of(sentence: str) -> Sense:
    """What a sentence, an item or a block says; it is read once while it is remembered."""
    return known(sentence) if len(sentence) <= REMEMBERED_CHARS else found(sentence)


def found(sentence: str) -> Sense:
    """What a sentence says, looked for."""
    lower = sentence.lower()
    words = set(WORD.findall(lower))
    denies = not words.isdisjoint(NEGATIONS) or any(map(lower.__contains__, NEGATING))
    demands = not words.isdisjoint(CONSTRAINTS) or CONSTRAINING.search(lower) is not None
    about = frozenset(
        term for term in terms(sentence) if not term[0].isdigit() and term not in RULE_STEMS
    )
    dates = DATE.findall(sentence) if MAY_BE_DATE.search(sentence) else []
    dated = {part for date in dates for part in RUNS.findall(date)}
    runs = [run.rstrip(CONNECTORS) for run in RUNS.findall(sentence)]
    concepts = [Concept("date", date) for date in dates]
    for run in runs:
        if is_telling(run) and len(run) <= MOST and run not in dated:
            if NUMBER.fullmatch(run):
                concepts.append(Concept("number", run, about))
            elif is_telling(run.replace("-", " ")) and run.lower() not in NO_VALUE:
                concepts.append(Concept("value", run))
    concepts += [Concept("name", name) for name in NAME.findall(sentence)]
    concepts += [Concept("quote", "".join(marks)) for marks in QUOTE.findall(sentence)]
    if about:
        kind: ConceptKind = "negation" if denies else "constraint" if demands else "statement"
        concepts.append(Concept(kind, " ".join(sentence.split())[:CLAUSE_CHARS], about))
    elif not concepts and SIGN.search(sentence):
        concepts.append(Concept("statement", " ".join(sentence.split())))
    return Sense(
        concepts=tuple(dict.fromkeys(concepts)),
        about=about,
        runs=frozenset(map(str.lower, runs)),
        denies=denies,
        demands=demands,
    )


known = lru_cache(maxsize=REMEMBERED)(found)


def concepts_of(text: str, keep: Collection[str] = ()) -> tuple[Concept, ...]:
    """The concepts of a text, each once.

    Args:
        text: any text.
        keep: keywords; those that are in the text are concepts.
    """
    senses = [sense_of(passage.text) for passage in passages_of(text)]
    said = chain.from_iterable(sense.concepts for sense in senses)
    return tuple(dict.fromkeys([*keywords_in(text, keep), *said]))


def keywords_in(text: str, keep: Collection[str]) -> list[Concept]:
    """The keywords that a text has, whatever the case of their letters."""
    flat = flattened(text) if keep else ""
    return [Concept("keyword", word) for word in keep if word.strip() and flattened(word) in flat]


def flattened(text: str) -> str:
    """The text on one line, in lower case."""
    return " ".join(text.split()).lower()


class Holdings:
    """What a text holds, to look concepts up in.

    Args:
        text: any text.
        in_columns: whether what a number is of may stand anywhere in it, such as at the head of a table.
    """

    def __init__(self, text: str, *, in_columns: bool = False) -> None:
        self._in_columns = in_columns
        self._senses = [sense_of(passage.text) for passage in passages_of(text)]
        self._said = set(chain.from_iterable(sense.concepts for sense in self._senses))
        self._flat = flattened(text)
        self._words = " ".join(set(self._flat.split()))
        self._runs = places_of([sense.runs for sense in self._senses])
        self._stems = places_of([sense.about for sense in self._senses])

    def has(self, concept: Concept) -> bool:
        """Whether a concept is there."""
        if concept in self._said:
            return True
        if concept.kind == "number":
            return self._has_number(concept)
        if concept.kind == "value":
            return concept.text.lower() in self._runs
        if not concept.about:
            said = flattened(concept.text)  # each word first, since most texts lack one
            return all(map(self._words.__contains__, said.split())) and said in self._flat
        if concept.kind == "statement":
            return self.tells_of(concept.about)
        denial = concept.kind == "negation"
        rules = self._about(concept.about, RULE_FRACTION)
        return any(sense.denies if denial else sense.demands for sense in rules)

    def tells_of(self, about: frozenset[str]) -> bool:
        """Whether a passage has most of these stems; in columns, whether all of it has."""
        if self._in_columns:
            return sum(stem in self._stems for stem in about) >= STATEMENT_FRACTION * len(about)
        return any(True for _ in self._about(about, STATEMENT_FRACTION))

    def _has_number(self, concept: Concept) -> bool:
        """Whether the number stands beside something that it is of, or below it where there are columns."""
        places = self._runs.get(concept.text.lower(), ())[:LOOKED_AT]
        if not concept.about or not places:
            return bool(places)
        if self._in_columns:
            return not concept.about.isdisjoint(self._stems)
        return any(not concept.about.isdisjoint(self._senses[at].about) for at in places)

    def _about(self, about: frozenset[str], share: float) -> Iterable[Sense]:
        """What has this share of some stems; it has one of the rarest of them, if it has so many."""
        least = ceil(share * len(about))
        rarest = sorted(about, key=lambda stem: (len(self._stems.get(stem, ())), stem))
        looked_at = [
            self._stems.get(stem, ())[:LOOKED_AT] for stem in rarest[: len(about) - least + 1]
        ]
        places = dict.fromkeys(chain.from_iterable(looked_at))
        return (self._senses[at] for at in places if len(about & self._senses[at].about) >= least)


def places_of(sets: Sequence[Iterable[str]]) -> Mapping[str, list[int]]:
    """In which of some sets each member is."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for at, members in enumerate(sets):
        for member in members:
            places[member].append(at)
    return dict(places)
