"""A cache of values that depend on content alone, by kind and key: summaries, advice, embeddings.

Promise: a look-up never waits: it reads memory only. ``warm`` loads values from disk or server into memory; writes happen in
a background thread. Each kind has its own limits, so that no kind evicts another's values. A value read equals the one
stored, and is a new object each time.
"""

import asyncio
import logging
import re
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final, Protocol, TypeVar, runtime_checkable

from autogen_context.cache.entry import decoded, encoded
from autogen_context.cache.tier import CacheLimits, Memory, Scope, SharedTier, Tier
from autogen_context.errors import StoreRefused, StoreUnavailable
from autogen_context.forks import when_forked
from autogen_context.messages.message import content_digest

if TYPE_CHECKING:
    from autogen_context.cache.store import DiskStore

ResultT = TypeVar("ResultT")

QUICK_KINDS: Final = frozenset({"reduction"})  # made anew sooner than read from a disk or a server
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
class Forgets(Protocol):
    """A cache that deletes values, such as ``ContextCache``."""

    def forget(self, kind: str, keys: Collection[str], /) -> None:
        """Delete the values under these keys, wherever they are kept."""
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


class Deletions:
    """Names that are deleted in a thread, all that are due at once. Meanwhile they are not to be read.

    Args:
        delete: deletes names; where it fails, the store itself sees to it that they are not read.
        submit: has a job done in that thread.
        before: what is done first in each job.
    """

    def __init__(
        self,
        delete: Callable[[Collection[str]], None],
        submit: Callable[[Callable[[], None]], "Future[None]"],
        before: Callable[[], None] = lambda: None,
    ) -> None:
        self._delete, self._submit, self._before = delete, submit, before
        self._due: dict[str, object] = {}  # with a mark of each time a name was added
        self._begin_anew()
        when_forked(self._begin_anew)

    def _begin_anew(self) -> None:
        self._job: Future[None] | None = None  # not begun
        self._lock = Lock()

    def __contains__(self, name: str) -> bool:
        """Return True until a name is deleted."""
        return name in self._due

    def add(self, names: Iterable[str]) -> "Future[None]":
        """Have names deleted. Returns what is done when they are."""
        with self._lock:
            self._due |= dict.fromkeys(names, object())
            if self._job is None:
                self._job = self._submit(self._run)
            return self._job

    def drop(self, name: str) -> None:
        """Leave a name that has a new value."""
        with self._lock:
            self._due.pop(name, None)

    def _run(self) -> None:
        with self._lock:
            self._job, begun = None, dict(self._due)
        self._before()
        due = [name for name, mark in begun.items() if self._due.get(name) is mark]
        try:
            self._delete(due)
        except (StoreUnavailable, StoreRefused):
            pass
        except Exception as error:
            _LOGGER.warning("a store may still have values that were deleted", exc_info=error)
        with self._lock:  # unless it was added again meanwhile
            for name in due:
                if self._due.get(name) is begun[name]:
                    del self._due[name]


class Values:
    """Values in memory, and optionally in a folder and on a server; the limits apply to each kind separately."""

    def __init__(
        self,
        directory: Path | None,
        shared: SharedTier | None,
        limits: CacheLimits,
        *,
        scope: Scope | None = None,
        key: str | bytes | None = None,
    ) -> None:
        self._directory, self._shared, self._limits = directory, shared, limits
        self.scope = scope
        self._prefix = "" if scope is None else f"{scope.key}:"
        self._key = key
        self._is_believed = bool(getattr(shared, "is_authenticated", True))
        self._looked = self._found = 0
        self._memories: dict[str, Memory[bytes]] = {}
        self._disks: dict[str, DiskStore] = {}  # by subfolder
        self._due: deque[tuple[str, str, bytes]] = deque()  # kind, name and data to be written
        # What is due may be one of them, so it is written before.
        self._unwanted = Deletions(self._delete, self._near_job, self._write)
        self._begin_anew()
        when_forked(self._begin_anew)
        # For what is built from files.
        self._disk = None if directory is None else self._disk_in(directory, "")

    def _begin_anew(self) -> None:
        # In a forked process: its parent writes and deletes them.
        self._due.clear()
        self._changing = Lock()  # of what is in memory and what is unwanted
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="context-cache")  # for disk access

    def remembered(self, kind: str, key: str, /) -> object:
        """Return the value remembered under a kind and a key if it is in memory, a new object each time. Never waits.

        ``None`` may mean that the value is only on disk or on the server; ``warm`` loads it.

        Raises:
            ValueError: ``kind`` is not a short lowercase name.
        """
        data = self._memory_of(kind).use(self._name(kind, key))
        self._looked += 1
        self._found += data is not None
        return None if data is None else decoded(data)

    def remember(self, kind: str, key: str, value: object, /) -> None:
        """Store a value that depends on content alone: in memory now, on disk and server later in a thread. Never waits.

        Args:
            kind: the kind of value, such as ``summary``. Each kind has its own memory limit and LRU eviction.
            key: identifies the content and how the value was computed from it.
            value: JSON data, text or bytes.

        Raises:
            ValueError: ``kind`` or ``value`` is invalid.
        """
        data, name = encoded(value), self._name(kind, key)
        memory = self._memory_of(kind)
        with self._changing:
            self._unwanted.drop(name)
            memory.put(name, data, size_bytes=len(data) + _VALUE_BYTES)
        if self._is_stored(kind):
            self._due.append((kind, name, data))
            self._thread.submit(self._write)

    async def warm(self, kind: str, keys: Collection[str], /) -> None:
        """Load the values under these keys from disk and server into memory."""
        memory = self._memory_of(kind)
        missing = [name for key in keys if (name := self._name(kind, key)) not in memory]
        if missing and self._is_stored(kind):
            await self._in_thread(partial(self._read, kind, missing))

    def forget(self, kind: str, keys: Collection[str], /) -> None:
        """Delete values: from memory now, from disk and server in the thread; one that is remembered from now on is kept."""
        names = {self._name(kind, key) for key in keys}
        memory = self._memory_of(kind)
        with self._changing:
            memory.forget(names)
            if names and self._is_stored(kind):
                self._unwanted.add(names)  # not even if it is being read

    def drop(self) -> None:
        """Empty the memory; what is on disk and on the server stays there."""
        with self._changing:
            self._memories.clear()

    def _delete(self, names: Collection[str]) -> None:
        """Delete names from the tiers of their kinds, in the thread."""
        by_kind = defaultdict[str, list[str]](list)
        for name in names:
            by_kind[name.removeprefix(self._prefix).partition("/")[0]].append(name)
        for kind, each in by_kind.items():
            for tier in self._tiers(kind):
                tier.forget(each)

    def _near_job(self, job: Callable[[], None]) -> "Future[None]":
        return self._thread.submit(job)  # another thread in a forked process

    def _is_stored(self, kind: str) -> bool:
        """Whether values of a kind are anywhere but in memory."""
        return kind not in QUICK_KINDS and (self._disk is not None or self._shared is not None)

    def _name(self, kind: str, key: str) -> str:
        """Return the stored name of a value: a digest, so that keys may have any length and characters."""
        return f"{self._prefix}{kind}/{content_digest(key).hex()}"

    async def _in_thread(self, action: Callable[[], ResultT]) -> ResultT:
        return await asyncio.wrap_future(self._thread.submit(action))

    def _memory_of(self, kind: str) -> Memory[bytes]:
        memory = self._memories.get(kind)
        if memory is None:
            if not _KIND.fullmatch(kind):
                raise ValueError(
                    f"kind={kind!r:.80}: give a short lowercase name, such as 'summary'"
                )
            memory = self._memories.setdefault(kind, Memory(limit_bytes=self._limits.kind_bytes))
        return memory

    def _disk_in(self, directory: Path, subfolder: str) -> "DiskStore":
        if subfolder not in self._disks:
            from autogen_context.cache.store import DiskStore  # noqa: PLC0415 - only needed with a folder

            self._disks[subfolder] = DiskStore(
                directory,
                subfolder=subfolder,
                limit_bytes=self._limits.disk_bytes,
                keep_open=True,
                key=self._key,
            )
        return self._disks[subfolder]

    def _tiers(self, kind: str) -> list[Tier]:
        """Return the tiers of a kind besides memory, disk first; called only in the thread."""
        tiers: list[Tier] = []
        if self._shared is not None and self._is_believed:
            tiers.append(self._shared)
        if self._directory is not None:
            tiers.insert(0, self._disk_in(self._directory, f"{_FOLDER}/{kind}"))
        return tiers

    def _read(self, kind: str, names: Collection[str]) -> None:
        memory = self._memory_of(kind)
        for tier in self._tiers(kind):
            for name, data in tier.read_all([name for name in names if name not in memory]).items():
                with suppress(ValueError):  # tiers may contain foreign bytes
                    decoded(data)
                    with self._changing:  # unless it was stored anew or forgotten meanwhile
                        if name not in memory and name not in self._unwanted:
                            memory.put(name, data, size_bytes=len(data) + _VALUE_BYTES)

    def _write(self) -> None:
        """Write all that is due; the writes asked for meanwhile find nothing left."""
        due: dict[str, dict[str, bytes]] = {}
        while self._due:
            kind, name, data = self._due.popleft()
            due.setdefault(kind, {})[name] = data
        for kind, values in due.items():
            for tier in self._tiers(kind):
                tier.write(values)

    def _clear(self) -> None:
        """Delete everything of this scope in memory and on disk, in the thread. Raises what ``DiskStore.clear`` does."""
        self._memories.clear()
        self._due.clear()
        if self._directory is not None:
            kinds = [f"{_FOLDER}/{each.name}" for each in self._directory.glob(f"{_FOLDER}/*/")]
            for subfolder in ("", *kinds):
                self._disk_in(self._directory, subfolder).clear(self._prefix)

    def _close(self) -> None:
        for disk in self._disks.values():
            disk.close()


class Guarded:
    """A wrapper for a custom cache: any exception becomes a miss; only the first is logged.

    With a ``scope`` it has keys of its own in the cache, unless the cache has a scope itself: that was given to be shared.
    """

    def __init__(self, cache: Cache, *, scope: Scope | None = None) -> None:
        self._cache = cache
        is_own = scope is not None and getattr(cache, "scope", None) is None
        self._prefix = f"{scope.key}:" if scope is not None and is_own else ""
        self._warned = False

    def remembered(self, kind: str, key: str, /) -> object:
        """Return the cache's value, ``None`` on failure."""
        with self._guard():
            return self._cache.remembered(kind, self._prefix + key)
        return None

    def remember(self, kind: str, key: str, value: object, /) -> None:
        """Store a value in the cache."""
        with self._guard():
            self._cache.remember(kind, self._prefix + key, value)

    def forget(self, kind: str, keys: Collection[str], /) -> None:
        """Delete values, if the cache can."""
        with self._guard():
            if isinstance(self._cache, Forgets):
                self._cache.forget(kind, [self._prefix + key for key in keys])

    async def warm(self, kind: str, keys: Collection[str], /) -> None:
        """Let the cache load values; give up after 5 s, about the time of a model call."""
        with self._guard():
            async with asyncio.timeout(_LONGEST_WARMING_S):  # wait_for may swallow a cancellation
                await self._cache.warm(kind, [self._prefix + key for key in keys])

    @contextmanager
    def _guard(self) -> Generator[None]:
        try:
            yield
        except Exception as error:  # any that a custom cache may raise
            if not self._warned:
                _LOGGER.warning("a cache failed; its values are computed again", exc_info=error)
            self._warned = True
