"""Prose: text in sentences, with headings and lists.

Promise: tightened, it is as it was. Cut, whole sentences, headings and list items stay in their order, one a line: what is
asked for first, then headings, what begins a paragraph, has numbers, names or negations, or says what the text is about.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from autogen_context.compressor.arrival.lines import BLANK_RANK, choose, fits, ranked
from autogen_context.compressor.arrival.reducer import Reducer, Room, are_enough

END = re.compile(
    r"[.!?…\u3002\uff01\uff1f](?:(?<=[.!?…])[\"')\]]*[ \t]+(?=[\"'(\[]?[A-Z0-9À-Þ])|(?<=[\u3002\uff01\uff1f])(?=.))"
)
HEADING = re.compile(r"#{1,6} \S|[=~-]{3,}\s*\Z|[A-Z][^.!?]{0,70}:\s*\Z")
MARKDOWN = re.compile(r"#{2,6} \w")
ITEM = re.compile(r"\s*(?:[-*•+]|\d{1,3}[.)]) ")
EXACT = re.compile(r"[\d`_/]|[a-z][A-Z]")  # numbers and names
UNSPOKEN = re.compile(r"[\W\d_](?<![ ,.'\u2019\u3001\u3002\uff01\uff1f])")
BINDING = frozenset(
    "not no never none must only always except without cannot can't don't won't isn't should because".split()  # noqa: SIM905 - reads as the list it is
)

LEAST_HEADINGS = 2
LEAST_SPOKEN_FRACTION = 0.85  # of the characters
LEAST_WORDS = 8  # of a line, on average
LEAST_CHARS = 120
LEAST_LETTERS = 5  # of a word that says what a text is about

HEADING_RANK = 2.5
FIRST_RANK = 0.5  # added for the first sentence of a paragraph
TELLING_RANK = 0.6  # added for numbers and names, and for what binds or denies


def recognises(_: str, lines: Sequence[str]) -> bool:
    """Whether it is made of words, many on a line."""
    if are_enough(lines, MARKDOWN.match, least=LEAST_HEADINGS):
        return True
    joined = "".join(lines)
    words = joined.count(" ") + len(lines)
    if len(joined) < LEAST_CHARS or (words < LEAST_WORDS * len(lines) and joined.isascii()):
        return False
    return len(UNSPOKEN.sub("", joined)) >= LEAST_SPOKEN_FRACTION * len(joined)


def cut(text: str, room: Room) -> str:
    """Whole sentences, headings and list items."""
    if fits(text, room):
        return text
    lines = END.sub(lambda end: end.group().rstrip(" \t") + "\n", text).split("\n")
    ranks = ranked(ranks_of(lines), lines, room)
    return choose(lines, ranks, room, noun="sentences", whole=True)


def ranks_of(sentences: Sequence[str]) -> Iterator[float]:
    """What each sentence is worth; the words that come often say what the text is about."""
    split = [sentence.split() for sentence in "\n".join(sentences).lower().split("\n")]
    counts = Counter(word for words in split for word in words if len(word) >= LEAST_LETTERS)
    most = max(counts.values(), default=1)
    begins = True
    for sentence, words in zip(sentences, split, strict=True):
        if not words:
            yield BLANK_RANK
        elif HEADING.match(sentence):
            yield HEADING_RANK
        else:
            topic = sum(map(counts.__getitem__, words)) / (most * (len(words) + 3))
            tells = (EXACT.search(sentence) is not None) + (not BINDING.isdisjoint(words))
            yield topic + FIRST_RANK * begins + TELLING_RANK * tells
        begins = not words or ITEM.match(sentence) is not None


PROSE = Reducer(kind="prose", recognises=recognises, cut=cut)
