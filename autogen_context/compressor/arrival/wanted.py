"""Which lines have what is asked for.

Promise: 0 for a line without any wanted word, 1 for the best of the text; a word that is in few lines says more than one
that is in many, and one that is everywhere says nothing. Time grows with the text times the number of words.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
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
    text, starts = lowered(lines)
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


def lowered(lines: Sequence[str]) -> tuple[str, list[int]]:
    """The lines as one text in small letters, and where each of them begins in it."""
    text = "\n".join(lines)
    if text.isascii():
        return text.lower(), starts_of(lines)
    lower = [line.lower() for line in lines]  # some letters grow
    return "\n".join(lower), starts_of(lower)


def starts_of(lines: Sequence[str]) -> list[int]:
    """Where each line begins once they are joined, and where a further one would."""
    return [0, *accumulate(map((1).__add__, map(len, lines)))]


def lines_with(word: str, text: str, starts: Sequence[int], *, most: int) -> list[int]:
    """The positions of the lines that have a word, each once; none where more than ``most`` have it.

    No letter or digit goes on from the word.
    """
    places: list[int] = []
    at, size = text.find(word), len(text)
    opens, closes = word[0].isalnum(), word[-1].isalnum()
    while at >= 0:
        end = at + len(word)
        inside = (opens and at and text[at - 1].isalnum()) or (
            closes and end < size and text[end].isalnum()
        )
        if not inside:
            places.append(at)
            if len(places) > most:
                return []
            at = text.find("\n", at)
            if at < 0:
                break
        at = text.find(word, at + 1)
    return [bisect_right(starts, place) - 1 for place in places]
