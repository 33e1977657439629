"""Which phrases may stand in a text, by the words without which they do not.

Promise: a phrase that is found in a text is among those that may stand in it; looking takes time in proportion to the
words of the text, not to the phrases.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from autogen_context.language.query_sketches import ANYTHING, GAP, WORD, Sketches, same_case

DOTTED = "\u0130"
UNSPACED = re.compile(r"[^\x00-\x7f]")  # what may be a word by itself, and more


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """A text as phrases are looked for in it.

    Attributes:
        text: the text, in the case in which phrases are sketched.
        words: its words; where they may stand unspaced, each letter as well.
    """

    text: str
    words: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Self:
        """Read a text."""
        folded = same_case(text)
        words = WORD.findall(folded)
        if not text.isascii():
            words += UNSPACED.findall(folded)
        if DOTTED in text:  # in lower case it is two characters, and the second no letter
            words += WORD.findall(text.lower())
        return cls(text=folded, words=frozenset(words))


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchors:
    """What a text has in which a phrase is found.

    Attributes:
        words: of each of these sets a word, the most telling set first.
        letters: where no words can be told, one of these; empty where nothing can.
    """

    words: tuple[frozenset[str], ...]
    letters: frozenset[str]

    @classmethod
    def of(cls, stretches: Sequence[Sketches]) -> Self:
        """The anchors of a phrase with these stretches."""
        words = tuple(told_by(stretches, whole_words))
        letters = () if words else told_by(stretches, letters_of)
        return cls(words=words, letters=letters[0] if letters else frozenset())

    def may_stand_in(self, spoken: Spoken) -> bool:
        """Whether a text has all that the phrase must have."""
        for words in self.words:
            if words.isdisjoint(spoken.words):
                return False
        return not self.letters or any(letters in spoken.text for letters in self.letters)


class AnchorIndex:
    """Phrases by the first of their anchors.

    Args:
        anchors: of n phrases.
    """

    def __init__(self, anchors: Sequence[Anchors]) -> None:
        self._anchors = anchors
        self._wordless = [at for at, each in enumerate(anchors) if not each.words]
        self._by_word: defaultdict[str, list[int]] = defaultdict(list)
        for at, each in enumerate(anchors):
            for word in next(iter(each.words), ()):
                self._by_word[word].append(at)

    def possible(self, spoken: Spoken) -> list[int]:
        """The numbers of the phrases that may stand in a text, in their order."""
        found = {*self._wordless}.union(
            *(self._by_word[word] for word in self._by_word.keys() & spoken.words)
        )
        return [at for at in sorted(found) if self._anchors[at].may_stand_in(spoken)]


def told_by(
    stretches: Iterable[Sketches], read: Callable[[str], list[str]]
) -> tuple[frozenset[str], ...]:
    """What stretches have, the rarest first; without those of which a sketch has nothing."""
    readings = (list(map(read, sketches)) for sketches in stretches)
    told = (rarest_of_each(reading) for reading in readings if all(reading))
    return tuple(sorted(told, key=rarity, reverse=True))


def rarest_of_each(reading: list[list[str]]) -> frozenset[str]:
    """One word of each list, all by the same choice: the longest, the first or the last, whatever tells more."""
    longest = frozenset(max(words, key=len) for words in reading)
    first = frozenset(words[0] for words in reading)
    last = frozenset(words[-1] for words in reading)
    return max(longest, first, last, key=rarity)


def rarity(anchor: frozenset[str]) -> tuple[int, int]:
    """How rare it is that a text has one of these: short words, or many, are in most texts."""
    return min(map(len, anchor)), -len(anchor)


def whole_words(sketch: str) -> list[str]:
    """The words that are whole in a sketch."""
    return [word for word in sketch.split() if ANYTHING not in word]


def letters_of(sketch: str) -> list[str]:
    """The letters that stand together in a sketch."""
    return sketch.replace(ANYTHING, GAP).split()
