"""Tiers of a cache: memory, and the protocol that a folder, a server or a custom store implements.

Also the cache's limits and statistics, and scopes.
"""

import math
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

from typing_extensions import override

from autogen_context.argument import require_whole
from autogen_context.forks import when_forked
from autogen_context.messages.message import content_digest

ValueT = TypeVar("ValueT")

EVERYTHING: Final = ""  # reported instead of a name: any name may be invalid


class Tier(Protocol):
    """A store of bytes by name, such as ``DiskStore`` or ``RedisTier``. Called in threads that may block briefly."""

    def read_all(self, names: Iterable[str], /) -> Mapping[str, bytes]:
        """Return the values under names that are available now. Raises nothing if the store is unavailable."""
        ...

    def write(self, values: Mapping[str, bytes], /, *, ttl_s: float | None = None) -> list[str]:
        """Store values for ``ttl_s`` or until evicted. Returns the names not stored or evicted; does not raise either."""
        ...

    def names(self) -> list[str]:
        """Return the stored names, oldest first. Raises ``StoreUnavailable`` if the tier cannot list all, now or ever."""
        ...

    def forget(self, names: Iterable[str], /) -> None:
        """Delete names; they are no longer read. Raises ``StoreUnavailable`` if the data may still be stored."""
        ...

    def clear(self) -> None:
        """Delete everything. Raises ``StoreUnavailable`` if data may still be stored."""
        ...

    def close(self) -> None:
        """Send pending writes and release resources."""
        ...


class SharedTier(Tier, Protocol):
    """A tier shared by several machines."""

    def listen(self, heard: Callable[[str], None], /) -> Callable[[], None]:
        """Call ``heard`` with names deleted elsewhere. Returns a function that unsubscribes.

        ``EVERYTHING`` means that any name may have been deleted while disconnected; it is sent each time a connection is
        made, including the first. ``heard`` may be called in any thread.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheLimits:
    """Size limits of a cache.

    Attributes:
        entries: the number of values in memory.
        memory_bytes: the total size of the values in memory.
        kind_bytes: the total size in memory of the values of one kind stored by ``remember``; on disk, each kind has
            the limit ``disk_bytes``.
        disk_bytes: the approximate size of the file.
    """

    entries: int = 100
    memory_bytes: int = 64 * 1024 * 1024
    kind_bytes: int = 16 * 1024 * 1024
    disk_bytes: int = 1024 * 1024 * 1024

    def __post_init__(self) -> None:
        """Raise ``ValueError`` if a limit is negative."""
        for name in self.__slots__:
            require_whole(name, getattr(self, name), least=0, give="a number, 0 or more")


class TierStats(NamedTuple):
    """Statistics of one tier: requests answered, and bytes and entries stored, as far as known."""

    hits: int = 0
    bytes: int = 0
    entries: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheStats:
    """Statistics of a cache since its creation; ``str()`` gives a readable table.

    Attributes:
        memory: hits and size of the memory tier.
        disk: hits and size of the disk tier.
        shared: hits of the shared tier.
        misses: requests whose value had to be built.
        builds: builder runs; fewer than misses if concurrent requests shared a build.
        invalidations: entries dropped because a dependency changed or ``invalidate`` was called.
        remembered: hits of ``ContextCache.remembered``.
        not_remembered: misses of ``ContextCache.remembered``.
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
        """Requests answered without building."""
        return self.memory.hits + self.disk.hits + self.shared.hits

    @property
    def bytes(self) -> int:
        """The size of the memory and disk tiers; a value in both counts twice."""
        return self.memory.bytes + self.disk.bytes

    @property
    def hit_rate(self) -> float:
        """Hits divided by requests, 0..1; 0 before the first request."""
        return self.hits / ((self.hits + self.misses) or 1)

    @override
    def __str__(self) -> str:
        done = (
            f"{self.misses:,} misses, {self.builds:,} builds, {self.invalidations:,} invalidations"
        )
        lines = [f"{self.hits + self.misses:,} requests, {self.hit_rate:.1%} hits, {done}"]
        for name in ("memory", "disk", "shared"):
            tier: TierStats = getattr(self, name)
            size = f"{tier.bytes / 1e6:,.1f} MB" if tier.bytes else ""
            entries = "" if tier.entries is None else f"{tier.entries:,} entries"
            lines.append(f"  {name:<6}  {tier.hits:>9,} hits  {size:>12}  {entries:>14}".rstrip())
        if looked := self.remembered + self.not_remembered:
            lines.append(f"  by content {self.remembered:,} of {looked:,} look-ups")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Identifies the owner of entries in a shared store; equal keys mean the same tenant and agent.

    Attributes:
        tenant: the customer, user or project whose data must be isolated from others.
        agent: the agent's name, or that of a team whose members share.
        conversation: identifies one conversation of the agent; empty for all of them.
    """

    tenant: str = ""
    agent: str = ""
    conversation: str = ""

    @property
    def key(self) -> str:
        """A digest that identifies the scope in stores without revealing the names."""
        return content_digest(self.tenant, self.agent, self.conversation).hex()


class Memory(Generic[ValueT]):
    """An LRU cache with limits on entries and bytes. Thread-safe.

    A value larger than ``limit_bytes`` is not stored and evicts nothing else.
    """

    def __init__(self, *, entries: float = math.inf, limit_bytes: float = math.inf) -> None:
        self.used_bytes = 0
        self._limit_bytes = limit_bytes
        self._most_entries = entries
        self._entries: OrderedDict[str, tuple[ValueT, int]] = OrderedDict()
        self._begin_anew()
        when_forked(self._begin_anew)

    def _begin_anew(self) -> None:
        self._lock = Lock()

    def __len__(self) -> int:
        """Return the number of values."""
        return len(self._entries)

    def __contains__(self, key: str) -> bool:
        """Return True if the key has a value; does not count as a use."""
        return key in self._entries

    def use(self, key: str) -> ValueT | None:
        """Return the value under a key, or ``None``, and mark it as most recently used."""
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
            return self._entries.get(key, (None, 0))[0]

    def look(self, key: str) -> ValueT | None:
        """Return the value under a key, or ``None``; does not count as a use."""
        return self._entries.get(key, (None, 0))[0]

    def items(self) -> list[tuple[str, ValueT]]:
        """Return all keys and values in eviction order."""
        with self._lock:
            return [(key, value) for key, (value, _) in self._entries.items()]

    def put(self, key: str, value: ValueT, *, size_bytes: int = 0) -> list[str]:
        """Store a value, replacing the one under its key. Returns the keys not stored or evicted, in that order."""
        with self._lock:
            self._remove(key)
            if size_bytes > self._limit_bytes or not self._most_entries:
                return [key]
            self._entries[key] = value, size_bytes
            self.used_bytes += size_bytes
            gone: list[str] = []
            while len(self._entries) > self._most_entries or self.used_bytes > self._limit_bytes:
                gone.append(next(iter(self._entries)))
                self._remove(gone[-1])
            return gone

    def replace(self, key: str, old: ValueT, new: ValueT) -> None:
        """Replace the old value with one of the same size if the old one is still stored."""
        with self._lock:
            if key in self._entries and self._entries[key][0] is old:
                self._entries[key] = new, self._entries[key][1]

    def forget(self, keys: Iterable[str]) -> None:
        """Drop these keys."""
        with self._lock:
            for key in keys:
                self._remove(key)

    def forget_where(self, concerns: Callable[[ValueT], bool]) -> list[str]:
        """Drop the values for which ``concerns`` is true. Returns their keys."""
        with self._lock:
            keys = [key for key, (value, _) in self._entries.items() if concerns(value)]
            for key in keys:
                self._remove(key)
            return keys

    def _remove(self, key: str) -> None:
        _, size_bytes = self._entries.pop(key, (None, 0))
        self.used_bytes -= size_bytes
