"""What stands near a document of a list counts as its own, half as much from one step to the next.

Promise: what a document lends is worked out only for those near it that are judged. Sums of counts are exact, in
whatever order they are taken.
"""

from collections.abc import Iterable, Sequence
from itertools import accumulate, compress
from operator import lt, mul

REACH = 4  # neighbours on each side that count
NEARNESS = tuple(0.5 ** abs(distance) for distance in range(-REACH, REACH + 1))
BY_DISTANCE = NEARNESS[REACH:] + NEARNESS[:REACH]  # negative ones count from its end
WIDTH = len(NEARNESS)
WHOLE = sum(NEARNESS)


class Neighbours:
    """Gathers for some documents of a list what they and their neighbours hold.

    Args:
        judged: positions of m documents, ascending.
        documents: how many there are in the list.
    """

    def __init__(self, judged: Sequence[int], documents: int) -> None:
        self._judged = list(judged)  # quicker to ask than a range
        self._before = judged_before(judged, documents)
        self._reached = list(map(lt, self._before, self._before[WIDTH:]))

    def held(self, documents: Sequence[int], times: Sequence[int]) -> Iterable[tuple[int, float]]:
        """What is held of a term.

        Args:
            documents: those that hold it themselves.
            times: how often each of them does.

        Returns:
            For each of the m that is one of these or near one: its number among the m, and how often it holds the term.
        """
        judged, before, lent = self._judged, self._before, [0.0] * len(self._judged)
        reached = map(self._reached.__getitem__, documents)
        for document, count in compress(zip(documents, times, strict=True), reached):
            for number in range(before[document], before[document + WIDTH]):
                lent[number] += BY_DISTANCE[judged[number] - document] * count
        return zip(compress(range(len(lent)), lent), filter(None, lent), strict=True)


def judged_before(judged: Iterable[int], documents: int) -> list[int]:
    """How many of those that are judged stand before the first that a document reaches, for each one and those behind."""
    flags = bytearray(documents + WIDTH)
    for document in judged:
        flags[document + REACH + 1] = 1
    return list(accumulate(flags))


def means_around(places: Iterable[int], values: Sequence[float]) -> list[float]:
    """The mean of a value and its four neighbours on each side, each half as heavy as the one before it, at some places."""
    margin = [0.0] * REACH
    padded = [*margin, *values, *margin]
    return [
        sum(map(mul, NEARNESS, padded[place : place + WIDTH])) / weight_around(place, len(values))
        for place in places
    ]


def weight_around(place: int, values: int) -> float:
    """What a value and its neighbours weigh together; at both ends there are fewer."""
    if REACH <= place < values - REACH:
        return WHOLE
    return sum(NEARNESS[max(0, REACH - place) : REACH + values - place])
