"""A cache of values built from files; an entry is valid until one of its files changes.

Promise: the value returned is the one the builder would make from the files as they are after the request, so a stale
value is never served. A failing cache, disk or server costs a rebuild and nothing more. Concurrent requests for the
same value share one build.
"""

import asyncio
import math
import os
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from inspect import isawaitable, iscoroutinefunction
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, Self, TypeVar, cast, overload

from typing_extensions import override

from autogen_context.argument import require_path, require_seconds, require_text, wrong_argument
from autogen_context.cache.entry import (
    CacheEntry,
    decoded,
    encoded,
    entry_as_bytes,
    entry_from_bytes,
)
from autogen_context.cache.fingerprint import (
    ChangedPaths,
    Compare,
    FileReading,
    FingerprintReader,
    absolute_names,
)
from autogen_context.cache.tier import (
    EVERYTHING,
    CacheLimits,
    CacheStats,
    Memory,
    Scope,
    SharedTier,
    Tier,
    TierStats,
)
from autogen_context.cache.values import Deletions, Values
from autogen_context.messages.message import content_digest
from autogen_context.models.background import wait_for

if TYPE_CHECKING:
    from autogen_context.cache.watch import FileWatch

ValueT = TypeVar("ValueT")
Source = Literal["memory", "disk", "shared", "built"]

_MOST_WAITS = 2  # for files that were changed just now
# Longer than the timestamp granularity of most file systems; the 2 s granularity of FAT is not waited for.
_LONGEST_WAIT_S = 0.05


class _Request(NamedTuple):
    """What is asked for: a key, its name in the tiers, and the absolute names of its dependencies."""

    key: str
    row: str
    names: tuple[str, ...]


_Place = tuple[asyncio.AbstractEventLoop, _Request]
"""No event loop can wait for the work of another one."""


class _Work:
    """A look-up or build in progress. While it ``is_current``, equal requests of its loop join it, and its result may be cached.

    Attributes:
        source: where the entry was found.
        as_of: the monotonic time as of which the entry is valid; a request made later must not be answered with it.
    """

    def __init__(
        self,
        request: _Request,
        builder: Callable[[], object],
        ttl_s: float | None,
        find: "Callable[[_Work], Coroutine[object, object, CacheEntry]]",
    ) -> None:
        self.request, self.builder, self.ttl_s = request, builder, ttl_s
        self.source: Source = "built"
        self.as_of = time.monotonic()
        self.is_current, self.waiting = True, 0
        self.task = asyncio.create_task(find(self))


class ContextCache(Values):
    """Values by key, cached in memory and optionally on disk and on a server.

    Any number of event loops and threads may share it; equal requests of one loop share a look-up and a build.

    Args:
        directory: the folder that stores values for later processes; created with access for the owner only. Values are
            not encrypted, and sealed, so that a damaged or planted one is a miss.
        shared: the store shared between machines: the url of a Redis server, a ``RedisTier``, or any other
            ``SharedTier``. It is closed with the cache. Without a key (``key``, or that of the tier) only values built from files
            that are here with the same content are read from a server: anybody who can write to it could write the others.
        scope: whose values these are: others' are not read, and ``clear`` leaves them. Agents that are given one cache share
            under this name what they remember; without it each has its own there, by its tenant and name.
        key: seals what is kept in the folder, and on the server of a url: at least 16 random characters, the same for all that
            share. Default: ``AUTOGEN_CONTEXT_STORE_KEY``, or else a key of the folder's own.
        watch: drops entries as soon as their files change. Every value is checked against its files in any case.
        compare: ``times`` compares file metadata; ``content`` reads all files at each request. Use ``content`` for
            memory-mapped writes, network folders and Windows, where times do not show every change.
        limits: size limits.
        clock: returns the time in seconds; every process that shares the values needs the same time scale.

    Raises:
        ValueError: ``directory`` is not a folder, or another argument is invalid.
        MissingExtra: ``shared`` is a url, and the ``redis`` extra is not installed.
    """

    _is_deaf: bool  # in a forked process, which listens from its first request on

    def __init__(
        self,
        directory: str | PathLike[str] | None = None,
        *,
        shared: SharedTier | str | None = None,
        scope: Scope | None = None,
        key: str | bytes | None = None,
        watch: "FileWatch | None" = None,
        compare: Compare = "times",
        limits: CacheLimits = CacheLimits(),  # noqa: B008 - it is frozen
        clock: Callable[[], float] = time.time,
    ) -> None:
        if isinstance(shared, str):
            from autogen_context.cache.redis_tier import RedisTier  # noqa: PLC0415 - optional dependency

            whose = scope or Scope()
            shared = RedisTier(shared, tenant=whose.tenant, agent=whose.agent, key=key)
        if shared is not None and not hasattr(shared, "listen"):
            raise wrong_argument("shared", shared, "the url of a server, or a RedisTier")
        if directory is not None:
            require_path("directory", directory)
        if watch is not None and not hasattr(watch, "listen"):
            raise wrong_argument("watch", watch, "a FileWatch")
        self._reader = FingerprintReader(compare=compare, pattern_contents=shared is not None)
        folder = None if directory is None else Path(directory)
        super().__init__(folder, shared, limits, scope=scope, key=key)
        self._memory = Memory[CacheEntry](entries=limits.entries, limit_bytes=limits.memory_bytes)
        self._clock = clock
        self._works: dict[_Place, _Work] = {}
        self._outdated: set[str] = set()  # rows of entries found stale or reported changed
        self._trusted_from = -math.inf
        self._answered = Counter[Source]()
        self._builds = 0
        self._invalidated = 0
        self._on_disk = self._on_server = None
        if self._disk is not None:
            self._on_disk = Deletions(self._disk.forget, self._near_job)
        if shared is not None:
            self._on_server = Deletions(shared.forget, self._far_job)
        self._endings = [watch.listen(self._heard_of_paths)] if watch is not None else []
        self._listen()

    @overload
    async def get_or_build(
        self,
        key: str,
        builder: Callable[[], Awaitable[ValueT]],
        *,
        depends_on: Iterable[str | PathLike[str]] = (),
        ttl_s: float | None = None,
    ) -> ValueT: ...

    @overload
    async def get_or_build(
        self,
        key: str,
        builder: Callable[[], ValueT],
        *,
        depends_on: Iterable[str | PathLike[str]] = (),
        ttl_s: float | None = None,
    ) -> ValueT: ...

    async def get_or_build(
        self,
        key: str,
        builder: Callable[[], Awaitable[ValueT] | ValueT],
        *,
        depends_on: Iterable[str | PathLike[str]] = (),
        ttl_s: float | None = None,
    ) -> ValueT:
        """Return the value under a key; build it if it is missing or a dependency has changed.

        Args:
            key: identifies the value and how it is built; any text.
            builder: makes the value: a coroutine function, or a plain function, which is called in a thread. It returns
                str, bytes or JSON data, and must not read files before it is called.
            depends_on: paths of the files it reads, and patterns such as ``src/**/*.py``. For a folder, only the names
                in it count; to depend on the files as well, give ``folder/**``.
            ttl_s: the time to live in seconds; by default, until a dependency changes or the entry is evicted.

        Returns:
            The value as decoded from the cache, a new object each time.

        Raises:
            ValueError: an argument or the builder's result is invalid.
            Exception: whatever the builder raised; nothing is cached, and every waiting caller gets the exception.
        """
        require_text("key", key)
        if not callable(builder):
            raise wrong_argument("builder", builder, "a function that makes the value")
        if ttl_s is not None:
            require_seconds("ttl_s", ttl_s)
        request = _Request(key, self._prefix + row_of(key), absolute_names(depends_on))
        if self._is_deaf:
            self._is_deaf = False
            self._heard_of_row(EVERYTHING)
            await asyncio.to_thread(self._listen)
        asked_at = time.monotonic()
        source: Source = "memory"
        while (entry := await self._in_memory(request)) is None:
            place = asyncio.get_running_loop(), request
            work = self._works.get(place)
            if work is None or work.task.done():  # done, but its callback has not run yet
                work = self._works[place] = _Work(request, builder, ttl_s, self._find)
                work.task.add_done_callback(partial(self._detach, work))
            entry, source = await self._result(work), work.source
            # Work that started before this request may have read older files; work started from now on has not.
            if work.as_of >= asked_at:
                break
        self._answered[source] += 1
        return cast("ValueT", decoded(entry.data))  # as the builder returns

    async def clear(self) -> None:
        """Delete everything of this scope: in memory, on disk, and on the server everything in the namespace.

        Raises:
            StoreUnavailable: a file or server is unavailable, so some values may not be deleted.
        """
        self._detach_where(lambda _: True)
        self._memory.forget_where(lambda _: True)
        await self._in_thread(self._clear)
        if self._shared is not None:
            await asyncio.to_thread(self._shared.clear)

    async def invalidate(self, key: str) -> None:
        """Drop the entry under a key in every tier; a request made after this returns gets no value built before it."""
        self._invalidated += 1
        row = self._prefix + row_of(key)
        self._detach_where(lambda request: request.row == row)
        await self._forget(row)

    def stats(self) -> CacheStats:
        """Return the statistics so far; ``print`` shows them as a table."""
        memory, answered = self._memory, self._answered
        on_disk = self._disk.used_bytes if self._disk else 0
        return CacheStats(
            memory=TierStats(hits=answered["memory"], bytes=memory.used_bytes, entries=len(memory)),
            disk=TierStats(hits=answered["disk"], bytes=on_disk),
            shared=TierStats(hits=answered["shared"]),
            misses=answered["built"],
            builds=self._builds,
            invalidations=self._invalidated,
            remembered=self._found,
            not_remembered=self._looked - self._found,
        )

    @property
    def counts(self) -> tuple[int, int, int]:
        """Hits, misses and invalidations so far, of built and remembered values; ``stats`` has details."""
        hits = self._answered.total() - self._answered["built"] + self._found
        return hits, self._answered.total() + self._looked - hits, self._invalidated

    async def aclose(self) -> None:
        """Wait for builds in progress, stop listening, write pending values, and close disk and server."""
        self._is_deaf = False
        while self._endings:
            self._endings.pop()()
        await wait_for([work.task for work in list(self._works.values())])
        await self._in_thread(self._close)
        if self._shared is not None:
            await asyncio.to_thread(self._shared.close)

    async def __aenter__(self) -> Self:
        """Return the cache."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the cache."""
        await self.aclose()

    @override
    def _begin_anew(self) -> None:
        super()._begin_anew()
        self._far = ThreadPoolExecutor(1, thread_name_prefix="context-cache-far")  # for the server
        self._is_deaf = self._shared is not None

    def _listen(self) -> None:
        self._is_deaf = False
        if self._shared is not None:
            self._endings.append(self._shared.listen(self._heard_of_row))

    def _far_job(self, job: Callable[[], None]) -> "Future[None]":
        return self._far.submit(job)

    async def _result(self, work: _Work) -> CacheEntry:
        """Wait for work in progress. When its last waiting caller is cancelled, so is the work."""
        work.waiting += 1
        try:
            return await asyncio.shield(work.task)
        finally:
            work.waiting -= 1
            if not work.waiting and not work.task.done():
                self._detach(work)
                work.task.cancel()
                await asyncio.wait({work.task})

    def _detach(self, work: _Work, *_: object) -> None:
        """Have no request join this work, and its result not cached. May be called in any thread."""
        work.is_current = False
        place = work.task.get_loop(), work.request
        if self._works.get(place) is work:
            self._works.pop(place, None)

    def _detach_where(self, concerns: Callable[[_Request], bool]) -> None:
        for (_, request), work in list(self._works.items()):
            if concerns(request):
                self._detach(work)

    async def _find(self, work: _Work) -> CacheEntry:
        """Return the entry from disk, from the server or from the builder."""
        entry = await self._from_disk(work)
        if entry is None:
            reading = await self._stable(work)
            entry = await self._from_elsewhere(work, reading) or await self._built(work, reading)
        self._outdated.discard(work.request.row)
        return entry

    async def _stable(self, work: _Work) -> FileReading:
        """Read the files; wait briefly if they changed within the current clock tick."""
        waits = 0
        while True:
            work.as_of = time.monotonic()
            reading = await asyncio.to_thread(self._reader.read, work.request.names)
            if waits == _MOST_WAITS or not 0 < reading.stable_in_s <= _LONGEST_WAIT_S:
                return reading
            await asyncio.sleep(reading.stable_in_s)
            waits += 1

    async def _built(self, work: _Work, reading: FileReading) -> CacheEntry:
        """Build the value; cache it only if no dependency changed meanwhile, not even back and forth."""
        self._builds += 1
        build, ttl_s = work.builder, work.ttl_s
        # A plain function may block, so it runs in a thread.
        made = build() if iscoroutinefunction(build) else await asyncio.to_thread(build)
        data, now = encoded(await made if isawaitable(made) else made), self._clock()
        entry = CacheEntry(
            key=work.request.key,
            data=data,
            dependencies=reading.fingerprints,
            built_at=now,
            expires_at=math.inf if ttl_s is None else now + ttl_s,
        )
        checked_at = time.monotonic()
        if await asyncio.to_thread(self._reader.proves, reading):
            work.as_of = checked_at
            await self._keep(entry, work, shared=self._shared)
        self._invalidated += work.request.row in self._outdated
        return entry

    async def _in_memory(self, request: _Request) -> CacheEntry | None:
        entry = self._memory.use(request.row)
        current = await self._current(entry, request)
        if entry and current and current is not entry:
            self._memory.replace(request.row, entry, current)
        return current

    async def _from_disk(self, work: _Work) -> CacheEntry | None:
        """Return the entry on disk, and put it into memory."""
        row = work.request.row
        if self._disk is None or (self._on_disk is not None and row in self._on_disk):
            return None
        entry = _entry(await self._in_thread(partial(self._disk.read, row)))
        current = await self._current(entry, work.request)
        if current:
            work.source = "disk"
            await self._keep(current, work, on_disk=current is not entry)
        return current

    async def _from_elsewhere(self, work: _Work, reading: FileReading) -> CacheEntry | None:
        """Return the server's entry if all its files were read there and have the same contents as the files here."""
        row = work.request.row
        if self._shared is None or (self._on_server is not None and row in self._on_server):
            return None
        found = await asyncio.to_thread(self._shared.read_all, [row])
        entry = _entry(found.get(row))
        contents = [one.content or None for one in reading.fingerprints]
        if entry is None or not (self._is_believed or entry.dependencies):
            return None
        if [one.content for one in entry.dependencies] != contents:
            return None
        entry = replace(entry, dependencies=reading.fingerprints, built_at=self._clock())
        if not self._answers(entry, work.request):
            return None
        work.source = "shared"
        if reading.stable_in_s <= 0:
            await self._keep(entry, work)
        return entry

    async def _keep(
        self, entry: CacheEntry, work: _Work, *, on_disk: bool = True, shared: Tier | None = None
    ) -> None:
        """Store the entry in memory, on disk and on the server unless it was invalidated meanwhile."""
        row, left_s = work.request.row, entry.expires_at - self._clock()
        if not work.is_current:
            return
        self._memory.put(row, entry, size_bytes=entry.size_bytes)
        values, ttl_s = {row: entry_as_bytes(entry)}, left_s if left_s < math.inf else None
        if on_disk and self._disk is not None and self._on_disk is not None:
            self._on_disk.drop(row)
            await self._in_thread(partial(self._disk.write, values, ttl_s=ttl_s))
        if shared is not None and self._on_server is not None and work.is_current:
            self._on_server.drop(row)
            await asyncio.to_thread(partial(shared.write, values, ttl_s=ttl_s))
        if not work.is_current:
            await self._forget(row)

    async def _forget(self, row: str) -> None:
        """Delete an entry in every tier; from now on it is no longer read."""
        self._memory.forget([row])
        due = [each.add([row]) for each in (self._on_disk, self._on_server) if each is not None]
        if pending := [asyncio.wrap_future(each) for each in due if not each.done()]:
            await asyncio.wait(pending)

    async def _current(self, entry: CacheEntry | None, request: _Request) -> CacheEntry | None:
        """Return the entry, with current file times, if it answers the request and its files are unchanged."""
        if entry is None or not self._answers(entry, request):
            return None
        if self._reader.hold_at_a_glance(entry.dependencies):
            return entry
        now = await asyncio.to_thread(self._reader.renewed, entry.dependencies)
        if now is None:
            self._outdated.add(request.row)
            return None
        return entry if now == entry.dependencies else replace(entry, dependencies=now)

    def _answers(self, entry: CacheEntry, request: _Request) -> bool:
        is_wanted = (entry.key, entry.names) == (request.key, request.names)
        is_trusted = entry.names or entry.built_at >= self._trusted_from
        return bool(is_wanted and is_trusted and entry.expires_at > self._clock())

    def _heard_of_paths(self, paths: Collection[Path]) -> None:
        """Drop entries that may have changed from memory; entries on disk are checked when they are read."""
        changed = ChangedPaths(map(str, paths))
        self._outdated.update(
            self._memory.forget_where(lambda entry: any(map(changed.touch, entry.names)))
        )

    def _heard_of_row(self, row: str) -> None:
        """Drop the entry that another machine invalidated; called in any thread.

        ``EVERYTHING`` rejects all existing entries without dependencies, since no file shows that they are stale.
        """
        if row == EVERYTHING:
            self._detach_where(lambda request: not request.names)
            self._trusted_from = self._clock()
            return
        self._detach_where(lambda request: request.row == row)
        self._memory.forget([row])
        if self._on_disk is not None:
            self._on_disk.add([row])


def _entry(data: bytes | None) -> CacheEntry | None:
    """Decode an entry; ``None`` for bytes that are no entry or no value, since others can write to the store."""
    with suppress(ValueError):
        return None if data is None else entry_from_bytes(data)
    return None


def row_of(key: str) -> str:
    """Return the row name of a key: a digest, so that keys may have any length and characters."""
    return content_digest(key).hex()


def user_directory() -> Path:
    """Return this user's cache folder (``$XDG_CACHE_HOME`` or ``~/.cache``) for the package."""
    caches = os.environ.get("XDG_CACHE_HOME", "")  # empty or relative counts as not set
    folder = Path(caches) if caches.startswith("/") else Path.home() / ".cache"
    return folder / "autogen-context"
