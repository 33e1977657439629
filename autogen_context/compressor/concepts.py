"""The concepts of a text, looked for before it is compressed and after, and what became of them. Linear time.

A number is there only beside what it is of, a negation only where most of what it denies is: "500" alone is no budget.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from math import ceil
from typing import Literal, NamedTuple

from autogen_context.compressor.passage import passages_of
from autogen_context.language.phrases import Found, phrases
from autogen_context.language.terms import terms
from autogen_context.messages.identifiers import CONNECTORS, MOST, RUN, is_telling
from autogen_context.tokens.measure import Count

ConceptKind = Literal[
    "keyword", "negation", "constraint", "number", "value", "name", "quote", "statement"
]
WEIGHTS = {"keyword": 4.0, "negation": 3.0, "constraint": 2.0, "number": 1.5, "value": 1.5}
"""What the loss of a concept weighs; others weigh 1."""

Strategy = Literal[
    "none",
    "tighten structure",
    "cut structure",
    "remove redundancy",
    "compress examples",
    "summarise sections",
    "abstract details",
    "keep core concepts",
    "model summary",
    "shorten",
]
"""Which step met the target: nothing to do, the structure of the text, the five steps in their order, a model's summary, or a
plain cut."""

TOPIC = "sense"  # of the phrases
RULES: dict[str, ConceptKind] = {"denies": "negation", "demands": "constraint"}
RULE_OF = {kind: label for label, kind in RULES.items()}
SPOKEN = frozenset({*RULES, "filler"})  # what a sentence is not about
SIGN = re.compile(r"[^\W_]|[^\x00-\x7f]")  # of something said: brackets and lines drawn say nothing
RUNS = re.compile(rf"\d{{1,3}}(?:,\d{{3}})+(?![\d,])|\d{{1,2}}(?::\d\d)+|{RUN.pattern}")
NUMBER = re.compile(r"\d[\d,.]*[a-zA-Z]{0,3}")
SPELT = re.compile(r"\w\w")  # e.g. spells nothing
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
BEST_SCORE = 10.0


class Concept(NamedTuple):
    """One thing that a text says, as written, and stems of what a number or a sentence is about; none of what stands for itself."""

    kind: ConceptKind
    text: str
    about: frozenset[str] = frozenset()

    @property
    def weight(self) -> float:
        """What its loss weighs."""
        return WEIGHTS.get(self.kind, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionResult:
    """A text before and after.

    Attributes:
        original: as given.
        compressed: what to use instead; the original itself where it met the target.
        original_tokens: of the original, with the source of the count.
        compressed_tokens: of the compressed text, with the source of the count.
        preserved_concepts: concepts of the original that the compressed text holds.
        lost_concepts: concepts of the original that it does not hold, whoever took them and why.
        strategy: the step that met the target.
    """

    original: str
    compressed: str
    original_tokens: Count
    compressed_tokens: Count
    preserved_concepts: tuple[Concept, ...]
    lost_concepts: tuple[Concept, ...]
    strategy: Strategy

    @property
    def ratio(self) -> float:
        """Tokens after for each token before; 1 for an empty text."""
        before = self.original_tokens.tokens
        return self.compressed_tokens.tokens / before if before else 1.0

    @property
    def quality(self) -> float:
        """0..10: ten times the share of the concepts that were preserved, by weight.

        Weights by kind: keyword 4, negation 3, constraint 2, number and value 1.5, name, quoted string and statement 1. A text
        without concepts is judged by the share of its characters.
        """
        kept, gone = weight_of(self.preserved_concepts), weight_of(self.lost_concepts)
        if not kept + gone:
            kept, gone = len(self.compressed), len(self.original) - len(self.compressed)
        return round(BEST_SCORE * kept / (kept + gone), 2) if kept + gone else BEST_SCORE


class Sense(NamedTuple):
    """What a sentence says: its concepts, stems of what it is about, its values and words in lower case, labels of its phrases."""

    concepts: tuple[Concept, ...]
    about: frozenset[str]
    runs: frozenset[str]
    labels: frozenset[str]


def weight_of(concepts: Iterable[Concept]) -> float:
    """What some concepts weigh together."""
    return sum(concept.weight for concept in concepts)


def sense_of(sentence: str) -> Sense:
    """What a sentence, an item or a block says; it is read once while it is remembered."""
    return known(sentence) if len(sentence) <= REMEMBERED_CHARS else found(sentence)


def found(sentence: str) -> Sense:
    """What a sentence says, looked for."""
    places = phrases(TOPIC).find(sentence)
    labels = frozenset(place.label for place in places)
    rules: list[ConceptKind] = [kind for label, kind in RULES.items() if label in labels]
    stems = terms(without(sentence, (place for place in places if place.label in SPOKEN)))
    about = frozenset(stem for stem in stems if not stem[0].isdigit())
    runs = [run_of(run) for run in RUNS.findall(sentence)]
    concepts = [
        Concept(run.kind, run.text, about) if run.kind == "number" else Concept(run.kind, run.text)
        for run in runs
        if run.kind
    ]
    concepts += [Concept("name", name) for name in NAME.findall(sentence)]
    concepts += [Concept("quote", "".join(marks)) for marks in QUOTE.findall(sentence)]
    if about or rules or (not concepts and SIGN.search(sentence)):
        kind: ConceptKind = rules[0] if rules else "statement"
        concepts.append(Concept(kind, " ".join(sentence.split())[:CLAUSE_CHARS], about))
    said = frozenset(run.lower for run in runs)
    return Sense(tuple(dict.fromkeys(concepts)), about, said, labels)


known = lru_cache(maxsize=REMEMBERED)(found)


class Run(NamedTuple):
    """What stands without a space: a number, a value, or a word, without the signs behind it."""

    text: str
    lower: str
    kind: Literal["number", "value", ""]


@lru_cache(maxsize=REMEMBERED)
def run_of(written: str) -> Run:
    """What a run is; most come again."""
    run = written.rstrip(CONNECTORS)
    kind: Literal["number", "value", ""] = ""
    if is_telling(run) and len(run) <= MOST:
        if NUMBER.fullmatch(run):
            kind = "number"
        elif is_telling(run.replace("-", " ")) and SPELT.search(run) and terms(run):
            kind = "value"
    return Run(run, run.lower(), kind)


def without(text: str, places: Iterable[Found]) -> str:
    """A text without the phrases that were found in it, in their order."""
    kept, at = list[str](), 0
    for place in places:
        kept.append(text[at : max(at, place.start)])
        at = max(at, place.stop)
    return "".join([*kept, text[at:]])


def concepts_of(text: str, keep: Collection[str] = ()) -> tuple[Concept, ...]:
    """The concepts of a text, each once; keywords to keep are concepts where they are in the text."""
    said = (sense_of(passage.text).concepts for passage in passages_of(text))
    return tuple(dict.fromkeys([*keywords_in(text, keep), *chain.from_iterable(said)]))


def keywords_in(text: str, keep: Collection[str]) -> list[Concept]:
    """The keywords that a text has, whatever the case of their letters."""
    flat = flattened(text) if keep else ""
    return [Concept("keyword", word) for word in keep if word.strip() and flattened(word) in flat]


def flattened(text: str) -> str:
    """The text on one line, in lower case."""
    return " ".join(text.split()).lower()


class Holdings:
    """What a text holds."""

    def __init__(self, text: str) -> None:
        self._senses = [sense_of(passage.text) for passage in passages_of(text)]
        self._said = set(chain.from_iterable(sense.concepts for sense in self._senses))
        self._flat = flattened(text)
        self._words = " ".join(set(self._flat.split()))
        self._runs: defaultdict[str, list[Sense]] = defaultdict(list)
        self._stems: defaultdict[str, list[Sense]] = defaultdict(list)
        for sense in self._senses:
            for run in sense.runs:
                self._runs[run].append(sense)
            for stem in sense.about:
                self._stems[stem].append(sense)

    def has(self, concept: Concept) -> bool:
        """Whether a concept is there."""
        if concept in self._said or (
            concept.kind == "value" and concept.text.lower() in self._runs
        ):
            return True
        if concept.kind == "number":
            beside = self._runs.get(concept.text.lower(), ())[:LOOKED_AT]
            return any(not concept.about or concept.about & sense.about for sense in beside)
        if not concept.about:
            said = flattened(concept.text)  # each word first, since most texts lack one
            return all(map(self._words.__contains__, said.split())) and said in self._flat
        if concept.kind == "statement":
            return self.tells_of(concept.about)
        rule = RULE_OF[concept.kind]
        return any(rule in each.labels for each in self._about(concept.about, RULE_FRACTION))

    def tells_of(self, about: frozenset[str]) -> bool:
        """Whether a passage has most of these stems."""
        return any(True for _ in self._about(about, STATEMENT_FRACTION))

    def _about(self, about: frozenset[str], fraction: float) -> Iterator[Sense]:
        """What has this fraction of some stems; it has one of the rarest of them, if it has so many."""
        least = ceil(fraction * len(about))
        rarest = sorted(about, key=lambda stem: (len(self._stems.get(stem, ())), stem))
        for stem in rarest[: len(about) - least + 1]:
            for sense in self._stems.get(stem, ())[:LOOKED_AT]:
                if len(about & sense.about) >= least:
                    yield sense
