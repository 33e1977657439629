"""Extraction of a text's concepts, before and after compression, to tell which ones are preserved. Linear time.

A number counts as preserved only next to its subject, a negation only with most of what it denies: "500" alone is no budget.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from math import ceil
from typing import Literal, NamedTuple

from autogen_context.compressor.passage import passages_of
from autogen_context.language.phrases import PhraseMatch
from autogen_context.language.terms import terms
from autogen_context.ledger.reader import cues_in
from autogen_context.messages.identifiers import CONNECTORS, MOST, RUN, is_distinctive
from autogen_context.text.memo import remembered
from autogen_context.tokens.measure import Count

ConceptKind = Literal[
    "keyword", "negation", "constraint", "number", "value", "name", "quote", "statement"
]
WEIGHTS = {"keyword": 4.0, "negation": 3.0, "constraint": 2.0, "number": 1.5, "value": 1.5}
"""Weight of losing a concept, by kind; other kinds weigh 1."""

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
"""The step that met the target: none needed, by structure, the five steps in order, a model's summary, or a plain cut."""

RULES: dict[str, ConceptKind] = {"denies": "negation", "demands": "constraint"}
RULE_OF = {kind: label for label, kind in RULES.items()}
SPOKEN = (*RULES, "padding")  # phrases that are not part of the subject
SIGN = re.compile(r"[^\W_]|[^\x00-\x7f]")  # a sign of content: brackets and drawn lines have none
RUNS = re.compile(rf"\d{{1,3}}(?:,\d{{3}})+(?![\d,])|\d{{1,2}}(?::\d\d)+|{RUN.pattern}")
NUMBER = re.compile(r"\d[\d,.]*[a-zA-Z]{0,3}")
SPELT = re.compile(r"\w\w")  # "e.g." has no such pair
QUOTE = re.compile(r'"([^"\n]{2,80})"|\u201c([^\u201d\n]{2,80})\u201d|`([^`\n]{2,80})`')
# The capital comes first, for a fast search.
NAME = re.compile(r"[A-Z](?<=[a-z,;:] [A-Z])[\w'\u2019]*(?<=[a-z])(?: [A-Z][\w'\u2019]*){0,2}")
CLAUSE_CHARS = 200  # of a sentence, in a concept's text
RULE_FRACTION = 0.6  # of the stems of a negation or constraint that must be present
STATEMENT_FRACTION = 0.8
LOOKED_AT = 64  # candidate passages per word of a concept
REMEMBERED = 20_000  # sentences cached
REMEMBERED_CHARS = 600  # of a sentence that is cached
BEST_SCORE = 10.0


class Concept(NamedTuple):
    """A piece of information in a text, as written; ``about`` has the subject's stems for numbers and sentences."""

    kind: ConceptKind
    text: str
    about: frozenset[str] = frozenset()

    @property
    def weight(self) -> float:
        """The weight of its loss."""
        return WEIGHTS.get(self.kind, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionResult:
    """The result of compressing a text.

    Attributes:
        original: the text as given.
        compressed: the text to use instead; the original itself if it met the target.
        original_tokens: count of the original, with its source.
        compressed_tokens: count of the compressed text, with its source.
        preserved_concepts: concepts of the original that the compressed text contains.
        lost_concepts: concepts of the original that it does not contain.
        strategy: the step that met the target.
        unread_chars: characters of the middle of a very long text whose concepts were not looked for: they are in neither list.
    """

    original: str
    compressed: str
    original_tokens: Count
    compressed_tokens: Count
    preserved_concepts: tuple[Concept, ...]
    lost_concepts: tuple[Concept, ...]
    strategy: Strategy
    unread_chars: int = 0

    @property
    def ratio(self) -> float:
        """Compressed tokens divided by original tokens; 1 for an empty text."""
        before = self.original_tokens.tokens
        return self.compressed_tokens.tokens / before if before else 1.0

    @property
    def quality(self) -> float:
        """The weighted share of preserved concepts times ten, from 0 to 10.

        Weights by kind: keyword 4, negation 3, constraint 2, number and value 1.5, name, quoted string and statement 1. For a
        text without concepts the share of its characters counts. What was not read counts as lost.
        """
        kept, gone = weight_of(self.preserved_concepts), weight_of(self.lost_concepts)
        if not kept + gone:
            kept, gone = len(self.compressed), len(self.original) - len(self.compressed)
        if not kept + gone:
            return BEST_SCORE
        read = 1 - self.unread_chars / max(1, len(self.original))
        return round(BEST_SCORE * read * kept / (kept + gone), 2)


class Sense(NamedTuple):
    """The content of a sentence: concepts, stems of its subject, values and words in lower case, labels of its phrases."""

    concepts: tuple[Concept, ...]
    about: frozenset[str]
    runs: frozenset[str]
    labels: frozenset[str]


def weight_of(concepts: Iterable[Concept]) -> float:
    """Return the total weight of concepts."""
    return sum(concept.weight for concept in concepts)


def sense_of(sentence: str) -> Sense:
    """Return the content of a sentence, an item or a block; cached unless it is long."""
    return known(sentence) if len(sentence) <= REMEMBERED_CHARS else found(sentence)


def found(sentence: str) -> Sense:
    """Extract the content of a sentence."""
    cues = cues_in(sentence)
    rules: list[ConceptKind] = [kind for label, kind in RULES.items() if label in cues]
    spoken = [place for label in SPOKEN for place in cues.get(label, ())]
    stems = terms(without(sentence, spoken) if spoken else sentence)
    about = frozenset(stem for stem in stems if not stem[0].isdigit())
    runs = [run for chunk in sentence.split() for run in runs_of(chunk)]
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
    return Sense(tuple(dict.fromkeys(concepts)), about, said, frozenset(cues))


known = remembered(REMEMBERED)(found)


class WordRun(NamedTuple):
    """A run of text without spaces (a number, a value or a word), without trailing punctuation."""

    text: str
    lower: str
    kind: Literal["number", "value", ""]


@remembered(REMEMBERED)
def runs_of(chunk: str) -> tuple[WordRun, ...]:
    """Return the runs in a text without spaces; cached, since most are repeated."""
    return tuple(map(run_of, RUNS.findall(chunk)))


def run_of(written: str) -> WordRun:
    """Classify a run."""
    run = written.rstrip(CONNECTORS)
    kind: Literal["number", "value", ""] = ""
    if is_distinctive(run) and len(run) <= MOST:
        if NUMBER.fullmatch(run):
            kind = "number"
        elif is_distinctive(run.replace("-", " ")) and SPELT.search(run) and terms(run):
            kind = "value"
    return WordRun(run, run.lower(), kind)


def without(text: str, places: Iterable[PhraseMatch]) -> str:
    """Return the text without these phrases."""
    kept, at = list[str](), 0
    for place in sorted(places, key=lambda place: place.start):
        kept.append(text[at : max(at, place.start)])
        at = max(at, place.stop)
    return "".join([*kept, text[at:]])


def keywords_in(text: str, keep: Collection[str]) -> list[Concept]:
    """Return the keywords that a text contains, case-insensitive."""
    flat = flattened(text) if keep else ""
    return [Concept("keyword", word) for word in keep if word.strip() and flattened(word) in flat]


def flattened(text: str) -> str:
    """Return the text on one line, in lower case."""
    return " ".join(text.split()).lower()


class Holdings:
    """Index of a text's content, to check which concepts it contains."""

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
        """Return True if the text contains a concept."""
        if concept in self._said or (
            concept.kind == "value" and concept.text.lower() in self._runs
        ):
            return True
        if concept.kind == "number":
            senses = self._runs.get(concept.text.lower(), ())[:LOOKED_AT]
            return any(not concept.about or concept.about & sense.about for sense in senses)
        if not concept.about:
            said = flattened(concept.text)  # check the words first: most texts lack one
            return all(map(self._words.__contains__, said.split())) and said in self._flat
        if concept.kind == "statement":
            return self.tells_of(concept.about)
        rule = RULE_OF[concept.kind]
        return any(rule in each.labels for each in self._about(concept.about, RULE_FRACTION))

    def tells_of(self, about: frozenset[str]) -> bool:
        """Return True if one passage has most of these stems."""
        return any(True for _ in self._about(about, STATEMENT_FRACTION))

    def _about(self, about: frozenset[str], fraction: float) -> Iterator[Sense]:
        """Yield the passages with at least this fraction of the stems; only those with one of the rarest stems are checked."""
        least = ceil(fraction * len(about))
        rarest = sorted(about, key=lambda stem: (len(self._stems.get(stem, ())), stem))
        for stem in rarest[: len(about) - least + 1]:
            for sense in self._stems.get(stem, ())[:LOOKED_AT]:
                if len(about & sense.about) >= least:
                    yield sense
