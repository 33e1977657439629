"""A cache of values that depend on content alone, by kind and key: summaries, advice, embeddings.

Promise: a look-up never waits: it reads memory only. ``warm`` loads values from disk or server into memory; writes happen in
a background thread. Each kind has its own limits, so that no kind evicts another's values. A value read equals the one
stored, and is a new object each time.
"""

import asyncio
import logging
import re
from collections.abc import Collection
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from autogen_context.cache.entry import decoded, encoded
from autogen_context.cache.tier import Memory, SharedTier, Tier
from autogen_context.errors import StoreUnavailable
from autogen_context.messages.message import content_digest

if TYPE_CHECKING:
    from autogen_context.cache.store import DiskStore

_FOLDER = "values"
_KIND = re.compile(r"[a-z][a-z0-9_-]{0,40}")
_VALUE_BYTES = 200  # approximate memory overhead of a value
_LONGEST_WARMING_S = 5.0
_LOGGER = logging.getLogger(__name__)


class Cache(Protocol):
    """The cache interface that a conversation uses: a ``ContextCache``, or any object with these three methods."""

    def remembered(self, kind: str, key: str, /) -> object:
        """Return the value under a kind and a key if it is in memory, else ``None``. Never waits."""
        ...

    def remember(self, kind: str, key: str, value: object, /) -> None:
        """Store a value: JSON data, text or bytes. Never waits."""
        ...

    async def warm(self, kind: str, keys: Collection[str], /) -> None:
        """Load the values stored under these keys, so that ``remembered`` finds them."""
        ...


@runtime_checkable
class Counting(Protocol):
    """A cache that counts its requests, such as ``ContextCache``."""

    @property
    def counts(self) -> tuple[int, int, int]:
        """Hits, misses and invalidations so far."""
        ...


@runtime_checkable
class TakesCache(Protocol):
    """A component that stores its results in the given cache unless it has its own."""

    def keep_in(self, cache: Cache, /) -> None:
        """Use this cache from now on."""
        ...


class Values:
    """Values in memory, and optionally in a folder and on a server; the limits apply to each kind separately."""

    def __init__(
        self, *, memory_bytes: int, folder: Path | None, disk_bytes: int, shared: SharedTier | None
    ) -> None:
        self.hits = self.misses = 0
        self._memory_bytes, self._disk_bytes = memory_bytes, disk_bytes
        self._folder = folder and folder / _FOLDER
        self._shared = shared
        self._memories: dict[str, Memory[bytes]] = {}
        self._disks: dict[str, DiskStore] = {}
        self._due: dict[str, dict[str, bytes]] = {}  # pending writes, by kind and name
        self._lock = Lock()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="context-cache-values")

    def look(self, kind: str, key: str) -> object:
        """Return the value if it is in memory, else ``None``."""
        data = self._memory(kind).use(_name(kind, key))
        self.hits, self.misses = self.hits + (data is not None), self.misses + (data is None)
        return None if data is None else decoded(data)

    def keep(self, kind: str, key: str, value: object) -> None:
        """Store a value in memory now, in other tiers soon. Raise ``ValueError`` unless it is JSON data, text or bytes."""
        data, name = encoded(value), _name(kind, key)
        self._memory(kind).put(name, data, size_bytes=len(data) + _VALUE_BYTES)
        if self._folder is not None or self._shared is not None:
            with self._lock:
                is_first = not self._due
                self._due.setdefault(kind, {})[name] = data
            if is_first:
                self._thread.submit(self._write)

    async def warm(self, kind: str, keys: Collection[str]) -> None:
        """Load values from the other tiers into memory."""
        memory = self._memory(kind)
        missing = [name for key in keys if (name := _name(kind, key)) not in memory]
        if missing and (self._folder is not None or self._shared is not None):
            await asyncio.wrap_future(self._thread.submit(self._read, kind, missing))

    def clear(self) -> "Future[None]":
        """Delete everything in memory now and on disk in the background; a server is not touched."""
        self._memories.clear()
        with self._lock:
            self._due.clear()
        return self._thread.submit(self._delete)

    def flushed(self) -> "Future[None]":
        """Return a future that is done when pending writes are on disk and its files are closed."""
        return self._thread.submit(self._close)

    def _memory(self, kind: str) -> Memory[bytes]:
        memory = self._memories.get(kind)
        if memory is None:
            if not _KIND.fullmatch(kind):
                raise ValueError(
                    f"kind={kind!r:.80}: give a short lowercase name, such as 'summary'"
                )
            memory = self._memories.setdefault(kind, Memory(limit_bytes=self._memory_bytes))
        return memory

    def _tiers(self, kind: str) -> list[Tier]:
        """Return the tiers of a kind besides memory, disk first; called only in the thread of this class."""
        tiers: list[Tier] = [] if self._shared is None else [self._shared]
        if self._folder is not None:
            if kind not in self._disks:
                from autogen_context.cache.store import DiskStore  # noqa: PLC0415 - only needed with a folder

                self._disks[kind] = DiskStore(
                    self._folder / kind, limit_bytes=self._disk_bytes, keep_open=True
                )
            tiers.insert(0, self._disks[kind])
        return tiers

    def _read(self, kind: str, names: Collection[str]) -> None:
        memory = self._memory(kind)
        for tier in self._tiers(kind):
            for name, data in tier.read_all([name for name in names if name not in memory]).items():
                with suppress(ValueError):  # tiers may contain foreign bytes
                    decoded(data)
                    if name not in memory:  # no newer value was stored meanwhile
                        memory.put(name, data, size_bytes=len(data) + _VALUE_BYTES)

    def _write(self) -> None:
        with self._lock:
            due, self._due = self._due, {}
        for kind, values in due.items():
            for tier in self._tiers(kind):
                tier.write(values)

    def _delete(self) -> None:
        kept = self._folder.glob("*") if self._folder is not None else ()
        for kind in sorted(place.name for place in kept if place.is_dir()):
            with suppress(StoreUnavailable):  # the remaining values will be the next to be evicted
                self._tiers(kind)[0].clear()

    def _close(self) -> None:
        while self._disks:
            self._disks.popitem()[1].close()


class Guarded:
    """A wrapper for a custom cache: any exception becomes a miss; only the first is logged."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._warned = False

    def remembered(self, kind: str, key: str, /) -> object:
        """Return the cache's value, ``None`` on failure."""
        try:
            return self._cache.remembered(kind, key)
        except Exception as error:  # noqa: BLE001 - logged below
            self._warn(error)
            return None

    def remember(self, kind: str, key: str, value: object, /) -> None:
        """Store a value in the cache."""
        try:
            self._cache.remember(kind, key, value)
        except Exception as error:  # noqa: BLE001 - as above
            self._warn(error)

    async def warm(self, kind: str, keys: Collection[str], /) -> None:
        """Let the cache load values; give up after 5 s, about the time of a model call."""
        try:
            async with asyncio.timeout(_LONGEST_WARMING_S):  # wait_for may swallow a cancellation
                await self._cache.warm(kind, keys)
        except Exception as error:  # noqa: BLE001 - as above
            self._warn(error)

    def _warn(self, error: Exception) -> None:
        if not self._warned:
            _LOGGER.warning("a cache failed; its values are computed again", exc_info=error)
        self._warned = True


def _name(kind: str, key: str) -> str:
    """Return the stored name of a value: a digest, so that keys may have any length and characters."""
    return f"{kind}/{content_digest(key).hex()}"
