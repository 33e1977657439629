"""Which messages of an earlier list are in a later one, and where.

Promise: every pair is of equal content, and pairs stand in the same order in both lists. The cost is linear but for a
sort, whatever the host did to its list; a change that leaves most messages as they are finds these.
Source: patience diff (Bram Cohen): what stands once in both lists is paired first, and the gaps between in the same way.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

MOST_DEPTH = 3  # of gaps within gaps; deeper ones count as replaced


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
        heads: indices of leading system messages that others replaced, if that is all that happened beside appending.
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
    return runs_of(matched(old, range(len(old)), new, range(len(new)), depth=0))


def runs_of(pairs: Iterable[tuple[int, int]]) -> tuple[Run, ...]:
    """Return pairs of positions, ascending, as runs."""
    runs: list[Run] = []
    for old, new in pairs:
        last = runs[-1] if runs else None
        if last and (last.old + last.length, last.new + last.length) == (old, new):
            runs[-1] = last._replace(length=last.length + 1)
        else:
            runs.append(Run(old, new, 1))
    return tuple(runs)


def matched(
    old: Sequence[Hashable], here: range, new: Sequence[Hashable], there: range, *, depth: int
) -> Iterator[tuple[int, int]]:
    """Yield pairs of equal keys at these positions, ascending."""
    front = 0
    while front < min(len(here), len(there)) and old[here[front]] == new[there[front]]:
        yield here[front], there[front]
        front += 1
    here, there, back = here[front:], there[front:], 0
    while back < min(len(here), len(there)) and old[here[-1 - back]] == new[there[-1 - back]]:
        back += 1
    ends = list(zip(here[len(here) - back :], there[len(there) - back :], strict=True))
    here, there = here[: len(here) - back], there[: len(there) - back]
    at, to = here.start, there.start
    for one, other in anchors(old, here, new, there):
        if depth < MOST_DEPTH:
            gaps = range(at, one), range(to, other)
            yield from matched(old, gaps[0], new, gaps[1], depth=depth + 1)
        yield one, other
        at, to = one + 1, other + 1
    if depth < MOST_DEPTH and (at, to) != (here.start, there.start):
        rest = range(at, here.stop), range(to, there.stop)
        yield from matched(old, rest[0], new, rest[1], depth=depth + 1)
    yield from ends


def anchors(
    old: Sequence[Hashable], here: range, new: Sequence[Hashable], there: range
) -> list[tuple[int, int]]:
    """Return pairs of keys that stand once in both, else of the n-th of equal keys, as many as keep their order."""
    if not here or not there:
        return []
    places = once(new, there)
    pairs = [(at, places[key]) for key, at in once(old, here).items() if key in places]
    if not pairs:
        numbered = dict(zip(numbers(new, there), there, strict=True))
        of_old = zip(numbers(old, here), here, strict=True)
        pairs = [(at, numbered[key]) for key, at in of_old if key in numbered]
    return in_order(sorted(pairs))


def once(keys: Sequence[Hashable], places: range) -> dict[Hashable, int]:
    """Return the keys that stand once at these positions, each with its position."""
    counts = Counter(keys[at] for at in places)
    return {keys[at]: at for at in places if counts[keys[at]] == 1}


def numbers(keys: Sequence[Hashable], places: range) -> Iterator[tuple[Hashable, int]]:
    """Yield each key with the number of equal ones before it."""
    seen = Counter[Hashable]()
    for at in places:
        yield keys[at], seen[keys[at]]
        seen[keys[at]] += 1


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
