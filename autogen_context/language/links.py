"""Whether a newer sentence of a person speaks of what an older one states, to change it or take it back: learned from pairs.

Promise: pure; what is compared grows with the words of the new sentence, not with the conversation. The weights are in
``links.json``, which ``benchmarks/fit_links.py`` writes.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import log
from typing import NamedTuple

from pydantic import TypeAdapter

from autogen_context.language.linear import probability
from autogen_context.language.terms import terms

MOST_SENTENCES = 40  # with a stem; of more frequent ones it says nothing about the subject
NEWEST = 10  # sentences with a stem that are compared
NUMBER = re.compile(r"\d[\d.,:]*")
NAME = re.compile(r"(?<!^)(?<![.!?] )\b[A-Z]\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkWeights:
    """The weights of what tells a link, by name; ``provenance`` as of ``LinearModel``."""

    provenance: str
    bias: float
    weights: Mapping[str, float]


class Stated(NamedTuple):
    """A sentence as it is compared: its stems, numbers and names, and how likely it corrects something, in log-odds."""

    stems: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[str]
    corrects: float

    @classmethod
    def of(cls, sentence: str, corrects: float) -> "Stated":
        """Read a sentence."""
        numbers, names = NUMBER.findall(sentence), NAME.findall(sentence)
        return cls(frozenset(terms(sentence)), frozenset(numbers), frozenset(names), corrects)


class Links:
    """The sentences of a conversation by their stems, to find those that a new one speaks of."""

    def __init__(self) -> None:
        self._sentences: list[Stated] = []
        self._by_stem: defaultdict[str, list[int]] = defaultdict(list)
        self._often: Counter[str] = Counter()

    def add(self, new: Stated) -> None:
        """Add the next sentence."""
        for stem in new.stems:
            self._by_stem[stem].append(len(self))
        self._often.update(new.stems)
        self._sentences.append(new)

    def compared(self, new: Stated) -> Iterator[tuple[int, dict[str, float]]]:
        """Yield the older sentences with which a new one is compared, each with what tells a link."""
        rarity = self._rarity()
        for at in self._near(new):
            yield at, signs(self._sentences[at], new, rarity, len(self) - at)

    def __len__(self) -> int:
        """Return the number of sentences."""
        return len(self._sentences)

    def _near(self, new: Stated) -> list[int]:
        near: set[int] = set()
        for stem in new.stems:
            if 0 < self._often[stem] <= MOST_SENTENCES:
                near.update(self._by_stem[stem][-NEWEST:])
        return sorted(near)

    def _rarity(self) -> "Rarity":
        return Rarity(self._often, len(self) + 1)


class Rarity(NamedTuple):
    """How rare a stem is, from 0 to 1."""

    often: Counter[str]
    sentences: int

    def of(self, stem: str) -> float:
        """Return the rarity of a stem."""
        return log((self.sentences + 1) / (1 + self.often[stem])) / log(self.sentences + 1)


def signs(old: Stated, new: Stated, rarity: Rarity, distance: int) -> dict[str, float]:
    """Return what tells whether a new sentence changes what an older one states."""
    shared = old.stems & new.stems
    rare = [rarity.of(stem) for stem in sorted(shared)]
    total = sum(rare)
    whole = sum(rarity.of(stem) for stem in sorted(old.stems)) or 1.0
    return {
        "shared": total,
        "stems": float(len(shared)),
        "rarest": max(rare, default=0.0),
        "of the older": total / whole,
        "corrects": new.corrects,
        "shared and corrects": total * new.corrects,
        "another number": float(bool(old.numbers - new.numbers and new.numbers - old.numbers)),
        "names": float(len(old.names & new.names)),
        "distance": log(1 + distance),
    }


def probability_of(found: Mapping[str, float]) -> float:
    """Return the probability that a new sentence changes an older one, from what is seen of the two."""
    about = weights()
    return probability(about.bias + sum(about.weights[name] * found[name] for name in found))


@cache
def weights() -> LinkWeights:
    """Read the weights of the package."""
    file = files("autogen_context.language").joinpath("links.json")
    return TypeAdapter(LinkWeights).validate_json(file.read_bytes())
