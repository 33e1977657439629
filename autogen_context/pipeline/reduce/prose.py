"""Prose: text in sentences, with headings and lists.

Promise: ``tighten`` leaves it as it is. ``cut`` keeps whole sentences, headings and list items in their order, one a line:
what is asked for first, then what has numbers, names and negations, begins a paragraph, or says what much of the text is
about.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autogen_context.pipeline.reduce.lines import choose
from autogen_context.pipeline.reduce.reducer import Room
from autogen_context.pipeline.reduce.sample import sample_of
from autogen_context.pipeline.reduce.wanted import raised, wanted_in

END = re.compile(r"([.!?…][\"')\]]*)[ \t]+(?=[\"'(\[]?[A-Z0-9À-Þ])|([\u3002\uff01\uff1f])(?=.)")
HEADING = re.compile(r"#{1,6} \S|[=~-]{3,}\s*\Z|[A-Z][^.!?]{0,70}:\s*\Z")
MARKDOWN = re.compile(r"#{2,6} \w")
LEAST_HEADINGS = 2
ITEM = re.compile(r"\s*(?:[-*•+]|\d{1,3}[.)]) ")
EXACT = re.compile(r"[\d`_/]|[a-z][A-Z]")  # numbers and names
BINDING_WORDS = """
not no never none must only always except without cannot can't don't won't isn't doesn't should required important
because therefore
"""
BINDING = frozenset(BINDING_WORDS.split())
SPOKEN = re.compile(r"[^\W\d_]|[ ,.'\u2019\u3001\u3002\uff01\uff1f]")

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
        joined = "".join(lines)
        spoken = sum(1 for _ in SPOKEN.finditer(joined))
        words = sum(line.count(" ") for line in lines) + len(lines)
        long = words >= LEAST_WORDS * len(lines) or not joined.isascii()
        if sum(1 for line in lines if MARKDOWN.match(line)) >= LEAST_HEADINGS:
            return True
        return len(joined) >= LEAST_CHARS and spoken >= LEAST_SPOKEN_SHARE * len(joined) and long

    def tighten(self, text: str, /) -> str:
        """The prose itself."""
        return text

    def cut(self, text: str, room: Room, /) -> str:
        """Whole sentences, headings and list items."""
        if room.count(text) <= room.tokens:
            return text
        lines = END.sub(r"\1\2\n", text).split("\n")
        ranks = raised(ranks_of(lines), wanted_in(lines, room.wanted), to=WANTED_RANK)
        return choose(lines, ranks, room, gap=gap_of_sentences)


def gap_of_sentences(sentences: int) -> str:
    """What stands where so many sentences were."""
    return f"[… {sentences} sentences …]" if sentences > 1 else "[… 1 sentence …]"


def ranks_of(sentences: Sequence[str]) -> Iterator[float]:
    """What each sentence is worth; the words that many sentences share say what the text is about."""
    words = [set(sentence.split()) for sentence in "\n".join(sentences).lower().split("\n")]
    counts = Counter(word for those in words for word in those if len(word) >= LEAST_LETTERS)
    most = max(counts.values(), default=1)
    begins = True
    for sentence, those in zip(sentences, words, strict=True):
        if not those:
            yield BLANK_RANK
        elif HEADING.match(sentence):
            yield HEADING_RANK
        else:
            shared = sum([counts.get(word, 0) for word in those]) / (most * (len(those) + 3))
            telling = (EXACT.search(sentence) is not None) + (not BINDING.isdisjoint(those))
            yield shared + FIRST_SHARE * begins + TELLING_SHARE * telling
        begins = not those or ITEM.match(sentence) is not None
