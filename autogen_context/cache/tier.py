"""Where a cache keeps bytes by name: in memory, and, by one contract, in a folder, on a server, or in anybody's own.

Also how much it may keep there, and what came of it.
"""

import math
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Final, Generic, NamedTuple, Protocol, TypeVar, runtime_checkable
from zlib import crc32

from typing_extensions import override

from autogen_context.messages.message import content_digest

ValueT = TypeVar("ValueT")

EVERYTHING: Final = ""  # told in place of a name: any of them may be invalid

_CRC_BYTES: Final = 4


class Tier(Protocol):
    """Bytes by name; a ``DiskStore`` and a ``RedisTier`` are one. Called in threads that may wait a little."""

    def read_all(self, names: Iterable[str], /) -> Mapping[str, bytes]:
        """The values under names, as far as they can be had now; never fails for want of its place."""
        ...

    def write(self, values: Mapping[str, bytes], /, *, ttl_s: float | None = None) -> list[str]:
        """Keep values, for so many seconds or as long as there is room; the names that went. Never fails either."""
        ...

    def forget(self, names: Iterable[str], /) -> None:
        """Delete what is under names; not read any more, it raises ``StoreUnavailable`` where it may still be there."""
        ...

    def clear(self) -> None:
        """Delete everything; raises ``StoreUnavailable`` likewise."""
        ...

    def close(self) -> None:
        """Write what waits, and let go of what is open."""
        ...


@runtime_checkable
class TellsNames(Protocol):
    """A tier that can tell what there is in it."""

    def names(self) -> list[str]:
        """The names under which there is something, oldest first, as far as they can be had now."""
        ...


class SharedTier(Tier, Protocol):
    """Where several machines keep one cache."""

    def listen(self, heard: Callable[[str], None], /) -> Callable[[], None]:
        """Have names that were deleted elsewhere told to ``heard``; what is returned ends that.

        ``EVERYTHING`` stands for all names: any of them may have been deleted while nobody could be told. It is told
        each time the connection is made, the first time included. ``heard`` may be called in any thread.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheLimits:
    """How much a cache may take.

    Attributes:
        entries: values in memory.
        memory_bytes: what these may take together.
        kind_bytes: what the values of one kind that are remembered by content may take in memory; each kind has as
            much on disk as ``disk_bytes``.
        disk_bytes: about what the file may have.
        content_bytes: of a larger file not the content is compared, only what the system says of it.
    """

    entries: int = 100
    memory_bytes: int = 64 * 1024 * 1024
    kind_bytes: int = 16 * 1024 * 1024
    disk_bytes: int = 1024 * 1024 * 1024
    content_bytes: int = 64 * 1024 * 1024

    def __post_init__(self) -> None:
        """Refuse what means nothing."""
        for name in self.__slots__:
            if getattr(self, name) < 0:
                raise ValueError(f"{name}={getattr(self, name)}: give a number, 0 or more")


class TierStats(NamedTuple):
    """One tier: requests that it answered, and what it holds, where somebody here knows."""

    hits: int = 0
    bytes: int = 0
    entries: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheStats:
    """What a cache did since it was made; ``str()`` is a table for people.

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
        done = (
            f"{self.misses:,} misses, {self.builds:,} builds, {self.invalidations:,} invalidations"
        )
        lines = [f"{self.hits + self.misses:,} requests, {self.hit_rate:.1%} hits, {done}"]
        for name in ("memory", "disk", "shared"):
            tier: TierStats = getattr(self, name)
            held = f"{tier.bytes / 1e6:,.1f} MB" if tier.bytes else ""
            entries = "" if tier.entries is None else f"{tier.entries:,} entries"
            lines.append(f"  {name:<6}  {tier.hits:>9,} hits  {held:>12}  {entries:>14}".rstrip())
        if looked := self.remembered + self.not_remembered:
            lines.append(f"  by content {self.remembered:,} of {looked:,} look-ups")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Whose something is, in a store that several share; equal keys mean the same tenant and agent.

    Attributes:
        tenant: the customer, the user, the project: whoever must not see what others have.
        agent: the agent's name.
    """

    tenant: str = ""
    agent: str = ""

    @property
    def key(self) -> str:
        """Stands for the scope where it is written down; tells nobody the names."""
        return content_digest(self.tenant, self.agent).hex()


def sealed(name: str, data: bytes) -> bytes:
    """Data with a checksum over it and the name that it is kept under."""
    return crc32(data, crc32(name.encode())).to_bytes(_CRC_BYTES, "big") + data


def unsealed(name: str, value: bytes) -> bytes | None:
    """The data, if these are the bytes that were sealed under this name."""
    data = value[_CRC_BYTES:]
    return data if sealed(name, data) == value else None


class Memory(Generic[ValueT]):
    """Values by key within limits; what was put or used the longest ago goes first. Any thread may call it.

    What is larger than all room is not kept, and pushes nothing out.
    """

    def __init__(self, *, entries: float = math.inf, limit_bytes: float = math.inf) -> None:
        for name, value in (("entries", entries), ("limit_bytes", limit_bytes)):
            if value < 0:
                raise ValueError(f"{name}={value}: give a number, 0 or more")
        self.held_bytes = 0
        self._limit_bytes = limit_bytes
        self._most_entries = entries
        self._held: OrderedDict[str, tuple[ValueT, int]] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        """How many values there are."""
        return len(self._held)

    def __contains__(self, key: str) -> bool:
        """Whether there is a value; this is no use of it."""
        return key in self._held

    def use(self, key: str) -> ValueT | None:
        """The value under a key, which is the most recently used one then."""
        with self._lock:
            if key in self._held:
                self._held.move_to_end(key)
            return self._held.get(key, (None, 0))[0]

    def look(self, key: str) -> ValueT | None:
        """The value under a key; this is no use of it."""
        return self._held.get(key, (None, 0))[0]

    def items(self) -> list[tuple[str, ValueT]]:
        """All values, those that go first in front."""
        with self._lock:
            return [(key, value) for key, (value, _) in self._held.items()]

    def put(self, key: str, value: ValueT, *, size_bytes: int = 0) -> list[str]:
        """Keep a value in place of the one under its key; the keys that went for want of room, in that order."""
        with self._lock:
            self._remove(key)
            if size_bytes > self._limit_bytes or not self._most_entries:
                return [key]
            self._held[key] = value, size_bytes
            self.held_bytes += size_bytes
            gone: list[str] = []
            while len(self._held) > self._most_entries or self.held_bytes > self._limit_bytes:
                gone.append(next(iter(self._held)))
                self._remove(gone[-1])
            return gone

    def replace(self, key: str, old: ValueT, new: ValueT) -> None:
        """Keep a value of the same size in place of one, if that is still there."""
        with self._lock:
            if key in self._held and self._held[key][0] is old:
                self._held[key] = new, self._held[key][1]

    def forget(self, keys: Iterable[str]) -> None:
        """Drop what is under these keys."""
        with self._lock:
            for key in keys:
                self._remove(key)

    def forget_where(self, concerns: Callable[[ValueT], bool]) -> list[str]:
        """Drop the values that something concerns; their keys."""
        with self._lock:
            keys = [key for key, (value, _) in self._held.items() if concerns(value)]
            for key in keys:
                self._remove(key)
            return keys

    def _remove(self, key: str) -> None:
        _, size_bytes = self._held.pop(key, (None, 0))
        self.held_bytes -= size_bytes
