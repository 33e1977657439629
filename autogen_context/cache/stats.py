"""What a cache did, in numbers.

Promise: every request is a hit of one tier or a miss; ``str()`` is a table for people.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from typing_extensions import override


@dataclass(frozen=True, slots=True, kw_only=True)
class TierStats:
    """One tier.

    Attributes:
        hits: requests that it answered.
        bytes: what it holds; 0 where nobody here knows.
        entries: how many it holds; ``None`` where nobody here knows.
    """

    hits: int = 0
    bytes: int = 0
    entries: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheStats:
    """What a cache did since it was made.

    Attributes:
        memory: the entries used last.
        disk: what the file had.
        shared: what other machines had.
        misses: requests for which the value had to be built.
        builds: how often a builder ran; fewer than misses where several waited for one.
        invalidations: entries that went since what they were built from had changed, or that were invalidated.
        remembered: look-ups by content that were answered.
        not_remembered: look-ups by content that were not.
    """

    memory: TierStats
    disk: TierStats
    shared: TierStats
    misses: int
    builds: int
    invalidations: int
    remembered: int = 0
    not_remembered: int = 0

    @property
    def hits(self) -> int:
        """Requests that were answered without building."""
        return self.memory.hits + self.disk.hits + self.shared.hits

    @property
    def bytes(self) -> int:
        """What it holds here, in memory and on disk; a value that is in both counts twice."""
        return self.memory.bytes + self.disk.bytes

    @property
    def hit_rate(self) -> float:
        """Hits by requests, 0..1; 0 before the first."""
        return self.hits / ((self.hits + self.misses) or 1)

    @override
    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield (
            f"{self.hits + self.misses:,} requests, {self.hit_rate:.1%} hits, {self.misses:,} misses, "
            f"{self.builds:,} builds, {self.invalidations:,} invalidations"
        )
        for name in ("memory", "disk", "shared"):
            tier: TierStats = getattr(self, name)
            held = f"{tier.bytes / 1e6:,.1f} MB" if tier.bytes else ""
            entries = "" if tier.entries is None else f"{tier.entries:,} entries"
            yield f"  {name:<6}  {tier.hits:>9,} hits  {held:>12}  {entries:>14}".rstrip()
        if asked := self.remembered + self.not_remembered:
            yield f"  by content {self.remembered:,} of {asked:,} look-ups"
