"""Prose: text in sentences, with headings and lists.

Promise: ``tighten`` leaves it as it is. ``cut`` keeps whole sentences, headings and list items in their order, one a line:
what is asked for first, then what has numbers, names and negations, begins a paragraph, or says what much of the text is
about.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from string import ascii_lowercase, ascii_uppercase, digits

from autogen_context.compressor.arrival.lines import choose, fits
from autogen_context.compressor.arrival.reducer import Room
from autogen_context.compressor.arrival.repeats import lines_in
from autogen_context.compressor.arrival.sample import are_enough, sample_of
from autogen_context.compressor.arrival.wanted import raised, wanted_in

END = re.compile(
    r"[.!?…\u3002\uff01\uff1f](?:(?<=[.!?…])[\"')\]]*[ \t]+(?=[\"'(\[]?[A-Z0-9À-Þ])|(?<=[\u3002\uff01\uff1f])(?=.))"
)
HEADING = re.compile(r"#{1,6} \S|[=~-]{3,}\s*\Z|[A-Z][^.!?]{0,70}:\s*\Z")
MARKDOWN = re.compile(r"#{2,6} \w")
LEAST_HEADINGS = 2
ITEM = re.compile(r"\s*(?:[-*•+]|\d{1,3}[.)]) ")
SIGNS = str.maketrans(
    dict.fromkeys(ascii_lowercase, "a")
    | dict.fromkeys(ascii_uppercase, "A")
    | dict.fromkeys(f"{digits}`_/", "0")
)
NUMBER, CAMEL_CASE = "0", "aA"  # as these signs have them
MAY_HEAD = ": \t\r"  # what a heading that begins with a letter may end with
BINDING_WORDS = """
not no never none must only always except without cannot can't don't won't isn't doesn't should required important
because therefore
"""
BINDING = frozenset(BINDING_WORDS.split())
UNSPOKEN = re.compile(r"[\W\d_](?<![ ,.'\u2019\u3001\u3002\uff01\uff1f])")

LEAST_SPOKEN_SHARE = 0.85  # of the characters
LEAST_WORDS = 8  # of a line, on average
LEAST_CHARS = 120

HEADING_RANK = 2.0
WANTED_RANK = 3.0
FIRST_SHARE = 0.5  # added for the first sentence of a paragraph
TELLING_SHARE = 0.6  # added for numbers and names, and for what binds or denies
LEAST_LETTERS = 5  # of a word that says what a text is about
BLANK_RANK = -1.0


@dataclass(frozen=True, slots=True)
class Prose:
    """Sentences."""

    kind: str = "prose"

    def recognises(self, text: str, /) -> bool:
        """Whether it is made of words, many on a line."""
        lines = sample_of(text)
        if are_enough(lines, MARKDOWN.match, least=LEAST_HEADINGS):
            return True
        joined = "".join(lines)
        words = joined.count(" ") + len(lines)
        if len(joined) < LEAST_CHARS or (words < LEAST_WORDS * len(lines) and joined.isascii()):
            return False
        return len(UNSPOKEN.sub("", joined)) >= LEAST_SPOKEN_SHARE * len(joined)

    def tighten(self, text: str, /) -> str:
        """The prose itself."""
        return text

    def cut(self, text: str, room: Room, /) -> str:
        """Whole sentences, headings and list items."""
        if fits(text, room):
            return text
        lines = lines_in(END.sub(lambda end: end.group().rstrip(" \t") + "\n", text))
        ranks = raised(ranks_of(lines), wanted_in(lines, room.wanted), to=WANTED_RANK)
        return choose(lines, ranks, room, gap=gap_of_sentences)


def gap_of_sentences(sentences: int) -> str:
    """What stands where so many sentences were."""
    return f"[… {sentences} sentences …]" if sentences > 1 else "[… 1 sentence …]"


def ranks_of(sentences: Sequence[str]) -> Iterator[float]:
    """What each sentence is worth; the words that come often say what the text is about."""
    begins = True
    for sentence, said, exact in zip(
        sentences, said_in(sentences), are_exact(sentences), strict=True
    ):
        size, topic, binds = said
        plain = sentence[:1].isalpha()
        if not size:
            yield BLANK_RANK
        elif not (plain and sentence[-1] not in MAY_HEAD) and HEADING.match(sentence):
            yield HEADING_RANK
        else:
            yield topic + FIRST_SHARE * begins + TELLING_SHARE * (exact + binds)
        begins = not size or (not plain and ITEM.match(sentence) is not None)


def said_in(sentences: Sequence[str]) -> Iterator[tuple[int, float, bool]]:
    """Of each sentence how many words it has, how much these share with the text, and whether one binds or denies."""
    long: list[str] = []  # of all sentences: a list for each would cost more than the words in it
    ends, sizes, binding = [0], list[int](), list[bool]()
    for sentence in "\n".join(sentences).lower().split("\n"):
        words = sentence.split()
        long += [word for word in words if len(word) >= LEAST_LETTERS]
        ends.append(len(long))
        sizes.append(len(words))
        binding.append(not BINDING.isdisjoint(words))
    counts = Counter(long)
    most = max(counts.values(), default=1)
    sums = [0, *accumulate(map(counts.__getitem__, long))]
    for (start, end), size, binds in zip(pairwise(ends), sizes, binding, strict=True):
        yield size, (sums[end] - sums[start]) / (most * (size + 3)), binds


def are_exact(sentences: Sequence[str]) -> Iterator[bool]:
    """Whether each sentence has numbers or names."""
    plain = "\n".join(sentences).encode("ascii", "replace").decode("ascii")
    for signs in plain.translate(SIGNS).split("\n"):
        yield NUMBER in signs or CAMEL_CASE in signs
