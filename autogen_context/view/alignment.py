"""Which messages of an earlier list are in a later one, and where.

Promise: every pair is of equal content, and pairs stand in the same order in both lists. The cost is linear but for a
search, whatever the host did to its list; a change that leaves most messages as they are finds these.
Source: patience diff (Bram Cohen): what stands once in both lists is paired first, then what adjoins it on either side.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self


class Run(NamedTuple):
    """Messages that stand one behind the other in both lists: where they begin, and how many they are."""

    old: int
    new: int
    length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HostChange:
    """What became of a list.

    Attributes:
        known: number of messages before.
        same: number of leading ones that are unchanged; all of them, if messages were appended at most.
        runs: those that are still there, oldest first.
        heads: indices of leading system messages that others replaced, if that is all that happened in addition to appending.
    """

    known: int
    same: int
    runs: tuple[Run, ...] = ()
    heads: tuple[int, ...] = ()

    @classmethod
    def of(cls, known: int, runs: Iterable[Run]) -> Self:
        """Return the change of a list of which these runs are still there."""
        found = tuple(runs)
        first = found[0] if found else Run(0, 0, 0)
        same = first.length if first.old == first.new == 0 else 0
        return cls(known=known, same=same, runs=found)

    @property
    def only_grew(self) -> bool:
        """True if messages were appended at most."""
        return self.same == self.known

    @property
    def is_cut(self) -> bool:
        """True if nothing stays behind the first change."""
        return len(self.runs) <= 1 and self.kept == self.same

    @property
    def kept(self) -> int:
        """Number of messages that are still there."""
        return sum(run.length for run in self.runs)

    def now_at(self, position: int) -> int | None:
        """Return where a message stands now; ``None`` if it is gone."""
        at = bisect_right(self.runs, position, key=lambda run: run.old) - 1
        run = self.runs[at] if at >= 0 else None
        if run is None or position >= run.old + run.length:
            return None
        return position - run.old + run.new

    def stop_at(self, position: int) -> int:
        """Return where what stood before a position ends now."""
        at = bisect_left(self.runs, position, key=lambda run: run.old) - 1
        if at < 0:
            return 0
        run = self.runs[at]
        return run.new + min(run.length, position - run.old)

    def gone(self) -> Iterator[int]:
        """Yield the positions of the messages that are no longer there."""
        at = 0
        for run in self.runs:
            yield from range(at, run.old)
            at = run.old + run.length
        yield from range(at, self.known)


def aligned(old: Sequence[Hashable], new: Sequence[Hashable]) -> tuple[Run, ...]:
    """Return what stands in both lists, by keys that are equal for equal content."""
    places, runs, at, to = once(new), list[Run](), 0, 0
    anchors = in_order([(i, places[key]) for key, i in once(old).items() if key in places])
    for one, other in (*anchors, (len(old), len(new))):
        prefix, most = 0, min(one - at, other - to)
        while prefix < most and old[at + prefix] == new[to + prefix]:
            prefix += 1
        back = 0
        while back < most - prefix and old[one - 1 - back] == new[other - 1 - back]:
            back += 1
        is_anchor = one < len(old)
        for run in (Run(at, to, prefix), Run(one - back, other - back, back + is_anchor)):
            last = runs[-1] if runs else Run(0, 0, 0)
            if run[:2] == (last.old + last.length, last.new + last.length):
                runs[-1:] = [last._replace(length=last.length + run.length)]
            elif run.length:
                runs.append(run)
        at, to = one + 1, other + 1
    return tuple([run for run in runs if run.length])


def once(keys: Sequence[Hashable]) -> dict[Hashable, int]:
    """Return the keys that stand once, each with its position, ascending."""
    counts = Counter(keys)
    return {key: at for at, key in enumerate(keys) if counts[key] == 1}


def in_order(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest part of pairs, sorted by the first, whose second ascends as well."""
    ends: list[int] = []  # smallest last second of a part of each length
    at: list[int] = []  # the pair it belongs to
    before: list[int] = []  # of each pair, the pair before it in its part
    for n, (_, second) in enumerate(pairs):
        length = bisect_left(ends, second)
        before.append(at[length - 1] if length else -1)
        ends[length : length + 1], at[length : length + 1] = [second], [n]
    found: list[tuple[int, int]] = []
    n = at[-1] if at else -1
    while n >= 0:
        found.append(pairs[n])
        n = before[n]
    return found[::-1]
