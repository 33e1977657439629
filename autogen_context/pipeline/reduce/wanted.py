"""Which lines have what is asked for.

Promise: 0 for a line without any wanted word, 1 for the best of the text; a word that is in few lines says more than one
that is in many, and one that is everywhere says nothing. Time grows with the text times the number of words.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

EVERYWHERE_SHARE = 1 / 3  # of the lines; a word in more of them does not tell them apart
EVERYWHERE_LINES = 10  # but so few lines are never everywhere
LEAST_CHARS = 2  # of a word


def wanted_in(lines: Sequence[str], wanted: Iterable[str]) -> list[float]:
    """How much of what is wanted each line has.

    Args:
        lines: n lines, without their ends.
        wanted: lower-case words, identifiers and paths; they count where they stand alone, not inside other words.

    Returns:
        n numbers from 0 to 1, 1 for the line that has most, where any has something.
    """
    scores = [0.0] * len(lines)
    words = sorted(word for word in wanted if len(word) >= LEAST_CHARS)
    if not words:
        return scores
    lower = [line.lower() for line in lines]  # some letters grow
    text = "\n".join(lower)
    starts = [0, *accumulate(len(line) + 1 for line in lower)]
    most = max(EVERYWHERE_LINES, int(EVERYWHERE_SHARE * len(lines)))
    for word in words:
        found = lines_with(word, text, starts, most=most)
        for i in found:
            scores[i] += 1 / len(found)
    best = max(scores, default=0)
    return [score / best for score in scores] if best else scores


def raised(ranks: Iterable[float], shares: Iterable[float], *, to: float) -> list[float]:
    """The ranks, where something wanted is at least ``to`` and up to half a rank more."""
    return [
        max(rank, to + share / 2) if share else rank
        for rank, share in zip(ranks, shares, strict=True)
    ]


def lines_with(word: str, text: str, starts: Sequence[int], *, most: int) -> list[int]:
    """The positions of the lines that have a word; none where more than ``most`` have it."""
    found: list[int] = []
    for position in places(word, text, starts):
        found.append(position)
        if len(found) > most:
            return []
    return found


def places(word: str, text: str, starts: Sequence[int]) -> Iterator[int]:
    """The positions of the lines that have a word, each once."""
    at = text.find(word)
    while at >= 0:
        if stands_alone(word, text, at):
            line = bisect_right(starts, at) - 1
            yield line
            at = text.find(word, starts[line + 1])
        else:
            at = text.find(word, at + 1)


def stands_alone(word: str, text: str, at: int) -> bool:
    """Whether no letter or digit goes on from a word at a place."""
    end = at + len(word)
    before = at > 0 and text[at - 1].isalnum() and word[0].isalnum()
    after = end < len(text) and text[end].isalnum() and word[-1].isalnum()
    return not (before or after)
