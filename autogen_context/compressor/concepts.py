"""The concepts of a text: looked for before it is compressed, and looked for after.

Promise: linear in the length of the texts; the same text gives the same concepts, in its order.

A number is there only where what it is of is there as well, a negation only where most of what it denies is: "500" alone
is no budget, and "never" alone forbids nothing. In a table what a number is of stands at the head.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from autogen_context.compressor.passage import passages_of
from autogen_context.compressor.sense import Concept, sense_of

HELD_SHARE = 0.6  # of what a negation or a constraint is about
LOOKED_AT = 16  # passages that may hold a concept, for each of its words


def concepts_of(text: str, keep: Collection[str] = ()) -> tuple[Concept, ...]:
    """The concepts of a text, each once.

    Args:
        text: any text.
        keep: keywords; those that are in the text are concepts.
    """
    found = [
        concept for passage in passages_of(text) for concept in sense_of(passage.text).concepts
    ]
    return tuple(dict.fromkeys([*keywords_in(text, keep), *found]))


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

    @property
    def terms(self) -> set[str]:
        """The terms of the text."""
        return set(chain.from_iterable(sense.terms for sense in self._senses))

    def has(self, concept: Concept) -> bool:
        """Whether a concept is there."""
        if concept in self._said:
            return True
        match concept.kind:
            case "keyword" | "quote" | "name" | "date":
                return self._has_words(flattened(concept.text))
            case "value":
                return concept.text.lower() in self._runs
            case "number":
                return self._has_number(concept)
            case "negation" | "constraint":
                return self._has_rule(concept)

    def _has_words(self, said: str) -> bool:
        """Whether some words stand one behind the other; each of them is looked for first, since most texts lack one."""
        return all(map(self._words.__contains__, said.split())) and said in self._flat

    def _has_number(self, concept: Concept) -> bool:
        """Whether the number stands beside something that it is of, or below it where there are columns."""
        places = self._runs.get(concept.text.lower(), ())[:LOOKED_AT]
        if self._in_columns and places:
            return not concept.about.isdisjoint(self._stems) or not concept.about
        return any(
            not concept.about or not concept.about.isdisjoint(self._senses[at].about)
            for at in places
        )

    def _has_rule(self, concept: Concept) -> bool:
        """Whether a passage that denies or demands has most of what this one is about."""
        denial = concept.kind == "negation"
        return any(
            self._senses[at].denies if denial else self._senses[at].demands
            for at in self._places_about(concept.about)
        )

    def tells_of(self, about: frozenset[str]) -> bool:
        """Whether a passage has most of these stems."""
        return next(self._places_about(about), None) is not None

    def _places_about(self, about: frozenset[str]) -> Iterator[int]:
        counts = Counter(
            chain.from_iterable([self._stems.get(stem, ())[:LOOKED_AT] for stem in about])
        )
        least = HELD_SHARE * len(about)
        return (at for at, count in counts.items() if count >= least)


def places_of(sets: Sequence[Iterable[str]]) -> Mapping[str, list[int]]:
    """In which of some sets each member is."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for at, members in enumerate(sets):
        for member in members:
            places[member].append(at)
    return places
