"""Remove redundancy: what is said again, in the same words or in nearly the same.

Promise: of two passages that say the same the first stays; passages that differ in a value, a number or a negation never
count as the same. Linear time: a passage is compared with a few that share its rarest words.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

from autogen_context.compressor.concepts import flattened
from autogen_context.compressor.passage import Passage
from autogen_context.compressor.sense import Sense, sense_of
from autogen_context.messages.identifiers import is_telling

LEAST_CHARS = (
    8  # shorter ones (a brace, a number, "else") say little by themselves, and may well come again
)
LEAST_STEMS = 4  # of what is compared by its words
SAME_SHARE = 0.8  # of the words of both
RAREST = 3  # words by which a passage is found again
LOOKED_AT = 6  # passages that it is compared with, for each of them


def without_redundancy(passages: Sequence[Passage]) -> list[Passage]:
    """The passages without those that say again what one before them says."""
    return list(without_near(without_exact(passages)))


def without_exact(passages: Sequence[Passage]) -> list[Passage]:
    """The passages without those that are written like one before them, whatever case and white space."""
    seen: set[str] = set()
    kept: list[Passage] = []
    for passage in passages:
        same = flattened(passage.text)
        if len(same) < LEAST_CHARS or same not in seen or passage.kind == "heading":
            kept.append(passage)
            seen.add(same)
    return kept


def without_near(passages: Sequence[Passage]) -> Iterator[Passage]:
    """The passages without those that have nearly the words of one before them."""
    senses = [sense_of(passage.text) for passage in passages]
    frequency = Counter(chain.from_iterable(sense.about for sense in senses))
    by_rarity = sorted(frequency, key=lambda stem: (frequency[stem], stem))
    rarity = dict(zip(by_rarity, range(len(by_rarity)), strict=True))
    seen: dict[tuple[str, Values], list[frozenset[str]]] = {}
    for passage, sense in zip(passages, senses, strict=True):
        if passage.kind in {"heading", "block"} or len(sense.about) < LEAST_STEMS:
            yield passage
            continue
        told = values_of(sense)
        rarest = sorted(sense.about, key=rarity.__getitem__)[:RAREST]
        places = [seen.setdefault((stem, told), []) for stem in rarest]
        if not any(same(sense.about, other) for place in places for other in place[-LOOKED_AT:]):
            for place in places:
                place.append(sense.about)
            yield passage


Values = tuple[frozenset[str], bool]


def values_of(sense: Sense) -> Values:
    """What must be the same in both: the values, and whether something is denied."""
    return frozenset(filter(is_telling, sense.runs)), sense.denies


def same(stems: frozenset[str], others: frozenset[str]) -> bool:
    """Whether two passages share nearly all of their words."""
    shared = len(stems & others)
    return shared >= SAME_SHARE * (len(stems) + len(others) - shared)
