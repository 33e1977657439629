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
from contextlib import suppress
from dataclasses import replace
from functools import partial
from inspect import isawaitable, iscoroutinefunction
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, Self, TypeVar, cast, overload

from autogen_context.argument import require_number, require_path
from autogen_context.cache.entry import (
    CacheEntry,
    decoded,
    encoded,
    entry_as_bytes,
    entry_from_bytes,
)
from autogen_context.cache.fingerprint import (
    Compare,
    FileReading,
    FingerprintReader,
    absolute_names,
    is_touched,
)
from autogen_context.cache.tier import CacheLimits, CacheStats, Memory, SharedTier, Tier, TierStats
from autogen_context.cache.values import Values
from autogen_context.errors import StoreUnavailable
from autogen_context.messages.message import content_digest

if TYPE_CHECKING:
    from autogen_context.cache.watch import FileWatch

ValueT = TypeVar("ValueT")
Source = Literal["memory", "disk", "shared", "built"]

_MOST_WAITS = 2
# Longer than the timestamp granularity of most file systems; the 2 s granularity of FAT is not waited for.
_LONGEST_WAIT_S = 0.05


class _Wanted(NamedTuple):
    """A request: the key, its name in the tiers, and the absolute names of its dependencies."""

    key: str
    row: str
    names: tuple[str, ...]


class _Outcome(NamedTuple):
    """An entry and the monotonic time as of which it is valid; a request made later must not be answered with it."""

    entry: CacheEntry
    source: Source
    as_of: float


class _Flight:
    """A look-up or build in progress. While ``is_current``, other callers may join it and its result may be cached."""

    def __init__(self, start: "Callable[[_Flight], Coroutine[object, object, _Outcome]]") -> None:
        self.is_current = True
        self.waiting = 0
        self.task = asyncio.create_task(start(self))


class ContextCache(Values):
    """Values by key, cached in memory and optionally on disk and on a server. Belongs to one event loop.

    Args:
        directory: the folder that stores values for later processes; created with access for the owner only. Values are
            not encrypted.
        shared: the store shared between machines: the url of a Redis server, a ``RedisTier``, or any other
            ``SharedTier``. It is closed with the cache.
        watch: drops entries as soon as their files change. Every value is checked against its files in any case.
        compare: ``times`` compares file metadata; ``content`` reads all files at each request. Use ``content`` for
            memory-mapped writes, network folders and Windows, where times do not show every change.
        limits: size limits.
        clock: returns the time in seconds; every process that shares the values needs the same time scale.

    Raises:
        ValueError: ``directory`` is not a folder, or another argument is invalid.
        MissingExtra: ``shared`` is a url, and the ``redis`` extra is not installed.
    """

    def __init__(
        self,
        directory: str | PathLike[str] | None = None,
        *,
        shared: SharedTier | str | None = None,
        watch: "FileWatch | None" = None,
        compare: Compare = "times",
        limits: CacheLimits = CacheLimits(),  # noqa: B008 - it is frozen
        clock: Callable[[], float] = time.time,
    ) -> None:
        if isinstance(shared, str):
            from autogen_context.cache.redis_tier import RedisTier  # noqa: PLC0415 - optional dependency

            shared = RedisTier(shared)
        if shared is not None and not hasattr(shared, "listen"):
            raise ValueError(f"shared={shared!r:.80}: give the url of a server, or a RedisTier")
        if directory is not None:
            require_path("directory", directory)
        if watch is not None and not hasattr(watch, "listen"):
            raise ValueError(f"watch={watch!r:.80}: give a FileWatch")
        self._reader = FingerprintReader(
            compare=compare, pattern_contents=shared is not None, limit_bytes=limits.content_bytes
        )
        super().__init__(None if directory is None else Path(directory), shared, limits)
        self._memory = Memory[CacheEntry](entries=limits.entries, limit_bytes=limits.memory_bytes)
        self._clock = clock
        self._flights: dict[_Wanted, _Flight] = {}
        self._outdated: set[str] = set()  # rows of entries found stale or reported changed
        self._trusted_from = -math.inf
        self._answered = Counter[Source]()
        self._builds = 0
        self._invalidated = 0
        self._endings = [watch.listen(self._heard_of_paths)] if watch is not None else []
        if shared is not None:
            self._endings.append(shared.listen(self._heard_of_row))

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
        if not isinstance(key, str):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
            raise ValueError(f"key={key!r:.80}: give a text")  # noqa: TRY004 - as for every wrong argument
        if not callable(builder):
            raise ValueError(f"builder={builder!r:.80}: give a function that makes the value")  # noqa: TRY004 - as above
        if ttl_s is not None:
            require_number("ttl_s", ttl_s, give="seconds above 0, or None")
            if not ttl_s > 0:
                raise ValueError(f"ttl_s={ttl_s}: give seconds above 0, or None")
        wanted = _Wanted(key, row_of(key), absolute_names(depends_on))
        find = partial(self._find, wanted, builder, ttl_s)
        asked_at = time.monotonic()
        outcome: _Outcome | None = None
        # Work that started before this request may have read older files; work started from now on has not.
        while outcome is None or outcome.as_of < asked_at:
            outcome = await self._in_memory(wanted) or await self._joined(wanted, find)
        self._answered[outcome.source] += 1
        return cast("ValueT", decoded(outcome.entry.data))  # as the builder returns

    async def clear(self) -> None:
        """Delete everything: in memory, on disk, and on the server everything in the namespace.

        Raises:
            StoreUnavailable: a file or server is unavailable, so some values may not be deleted.
        """
        self._detach(lambda _: True)
        self._memory.forget_where(lambda _: True)
        await self._in_thread(self._clear)
        if self._shared is not None:
            await asyncio.to_thread(self._shared.clear)

    async def invalidate(self, key: str) -> None:
        """Drop the entry under a key in every tier; a request made after this returns gets no value built before it."""
        self._invalidated += 1
        row = row_of(key)
        self._detach(lambda wanted: wanted.row == row)
        self._memory.forget([row])
        if self._disk is not None:
            await self._in_thread(partial(_forget_on, self._disk, row))
        if self._shared is not None:
            await asyncio.to_thread(_forget_on, self._shared, row)

    def stats(self) -> CacheStats:
        """Return the statistics so far; ``print`` shows them as a table."""
        memory, answered = self._memory, self._answered
        on_disk = self._disk.held_bytes if self._disk else 0
        return CacheStats(
            memory=TierStats(hits=answered["memory"], bytes=memory.held_bytes, entries=len(memory)),
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
        while self._endings:
            self._endings.pop()()
        if tasks := [flight.task for flight in self._flights.values()]:
            await asyncio.wait(tasks)
        await self._in_thread(self._close)
        if self._shared is not None:
            await asyncio.to_thread(self._shared.close)

    async def __aenter__(self) -> Self:
        """Return the cache."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the cache."""
        await self.aclose()

    async def _joined(
        self, wanted: _Wanted, find: Callable[[_Flight], Coroutine[object, object, _Outcome]]
    ) -> _Outcome:
        """Join the work in progress or start it. When its last waiting caller is cancelled, so is the work."""
        flight = self._flights.get(wanted)
        if flight is None or flight.task.done():  # done, but its callback has not run yet
            flight = self._flights[wanted] = _Flight(find)
            flight.task.add_done_callback(partial(self._land, wanted, flight))
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.task)
        finally:
            flight.waiting -= 1
            if not flight.waiting and not flight.task.done():
                self._land(wanted, flight)
                flight.task.cancel()
                await asyncio.wait({flight.task})

    def _detach(self, concerns: Callable[[_Wanted], bool]) -> None:
        for wanted, flight in list(self._flights.items()):
            if concerns(wanted):
                self._land(wanted, flight)

    def _land(self, wanted: _Wanted, flight: _Flight, *_: object) -> None:
        flight.is_current = False
        if self._flights.get(wanted) is flight:
            self._flights.pop(wanted, None)  # a server may report it in another thread

    async def _find(
        self,
        wanted: _Wanted,
        builder: Callable[[], object],
        ttl_s: float | None,
        flight: _Flight,
    ) -> _Outcome:
        """Return the entry from disk, from the server or from the builder, and the time as of which it is valid.

        A built value is cached only if no dependency changed during the build, not even back and forth.
        """
        as_of = time.monotonic()
        if entry := await self._from_disk(wanted, flight):
            return self._outcome(entry, "disk", as_of)
        as_of, reading = await self._settled(wanted)
        proves = reading.settles_in_s <= 0
        if entry := await self._from_elsewhere(wanted, reading):
            if proves:
                await self._keep(entry, flight)
            return self._outcome(entry, "shared", as_of)
        self._builds += 1
        # A plain function may block, so it runs in a thread.
        made = builder() if iscoroutinefunction(builder) else await asyncio.to_thread(builder)
        data = encoded(await made if isawaitable(made) else made)
        built_at = self._clock()
        entry = CacheEntry(
            key=wanted.key,
            data=data,
            dependencies=reading.fingerprints,
            built_at=built_at,
            expires_at=math.inf if ttl_s is None else built_at + ttl_s,
        )
        checked_at = time.monotonic()
        if proves and await asyncio.to_thread(self._reader.mark, wanted.names) == reading.mark:
            as_of = checked_at
            await self._keep(entry, flight)
            await self._share(entry, flight)
        return self._outcome(entry, "built", as_of)

    def _outcome(self, entry: CacheEntry, source: Source, as_of: float) -> _Outcome:
        row = row_of(entry.key)
        self._invalidated += source == "built" and row in self._outdated
        self._outdated.discard(row)
        return _Outcome(entry, source, as_of if entry.names else math.inf)

    async def _settled(self, wanted: _Wanted) -> tuple[float, FileReading]:
        """Return when the files were read, and the reading. Waits briefly if they changed within the current clock tick."""
        waits = 0
        while True:
            as_of = time.monotonic()
            reading = await asyncio.to_thread(self._reader.read, wanted.names)
            if waits == _MOST_WAITS or not 0 < reading.settles_in_s <= _LONGEST_WAIT_S:
                return as_of, reading
            await asyncio.sleep(reading.settles_in_s)
            waits += 1

    async def _in_memory(self, wanted: _Wanted) -> _Outcome | None:
        entry = self._memory.use(wanted.row)
        current = await self._current(entry, wanted) if entry else None
        if entry and current and current is not entry:
            self._memory.replace(wanted.row, entry, current)
        return _Outcome(current, "memory", math.inf) if current else None

    async def _from_disk(self, wanted: _Wanted, flight: _Flight) -> CacheEntry | None:
        """Return the entry on disk; also put it in memory unless it was invalidated meanwhile."""
        if self._disk is None:
            return None
        entry = _entry(await self._in_thread(partial(self._disk.read, wanted.row)))
        current = await self._current(entry, wanted) if entry else None
        if current:
            await self._keep(current, flight, on_disk=current is not entry)
        return current

    async def _from_elsewhere(self, wanted: _Wanted, reading: FileReading) -> CacheEntry | None:
        """Return the server's entry if all its files were read there and have the same contents as the files here."""
        if self._shared is None:
            return None
        found = await asyncio.to_thread(self._shared.read_all, [wanted.row])
        entry = _entry(found.get(wanted.row))
        contents = [one.content or None for one in reading.fingerprints]
        if entry is None or [one.content for one in entry.dependencies] != contents:
            return None
        own = replace(entry, dependencies=reading.fingerprints, built_at=self._clock())
        return own if self._answers(own, wanted) else None

    async def _keep(self, entry: CacheEntry, flight: _Flight, *, on_disk: bool = True) -> None:
        """Store the entry in memory and on disk unless it was invalidated meanwhile."""
        if flight.is_current:
            row = row_of(entry.key)
            self._memory.put(row, entry, size_bytes=entry.size_bytes)
            if on_disk and self._disk is not None:
                values = {row: entry_as_bytes(entry)}
                await self._in_thread(partial(self._disk.write, values, ttl_s=self._ttl_s(entry)))

    async def _share(self, entry: CacheEntry, flight: _Flight) -> None:
        """Write the entry to the server; delete it again if it was invalidated meanwhile."""
        if self._shared is not None and flight.is_current:
            row = row_of(entry.key)
            values = {row: entry_as_bytes(entry)}
            await asyncio.to_thread(partial(self._shared.write, values, ttl_s=self._ttl_s(entry)))
            if not flight.is_current:
                await asyncio.to_thread(_forget_on, self._shared, row)

    def _ttl_s(self, entry: CacheEntry) -> float | None:
        left_s = entry.expires_at - self._clock()
        return left_s if math.isfinite(left_s) else None

    async def _current(self, entry: CacheEntry, wanted: _Wanted) -> CacheEntry | None:
        """Return the entry, with current file times, if it answers the request and its files are unchanged."""
        if not self._answers(entry, wanted):
            return None
        if self._reader.hold_at_a_glance(entry.dependencies):
            return entry
        now = await asyncio.to_thread(self._reader.renewed, entry.dependencies)
        if now is None:
            self._outdated.add(wanted.row)
            return None
        return entry if now == entry.dependencies else replace(entry, dependencies=now)

    def _answers(self, entry: CacheEntry, wanted: _Wanted) -> bool:
        is_wanted = (entry.key, entry.names) == (wanted.key, wanted.names)
        is_trusted = entry.names or entry.built_at >= self._trusted_from
        return bool(is_wanted and is_trusted and entry.expires_at > self._clock())

    def _heard_of_paths(self, paths: Collection[Path]) -> None:
        """Drop entries that may have changed from memory; entries on disk are checked when they are read."""
        changed = [str(path) for path in paths]
        self._outdated.update(
            self._memory.forget_where(
                lambda entry: any(is_touched(n, path) for n in entry.names for path in changed)
            )
        )

    def _heard_of_row(self, row: str) -> None:
        """Drop the entry that another machine invalidated; called in any thread.

        ``EVERYTHING`` rejects all existing entries without dependencies, since no file shows that they are stale.
        """
        self._detach(lambda wanted: wanted.row == row or (not row and not wanted.names))
        self._memory.forget([row])
        if self._disk is not None:
            self._thread.submit(_forget_on, self._disk, row)
        if not row:
            self._trusted_from = self._clock()


def _entry(data: bytes | None) -> CacheEntry | None:
    """Decode an entry; ``None`` for bytes that are no entry or no value, since others can write to the store."""
    with suppress(ValueError):
        return None if data is None else entry_from_bytes(data)
    return None


def _forget_on(tier: Tier, name: str) -> None:
    with suppress(StoreUnavailable):  # a failed deletion hides the entry from readers
        tier.forget([name])


def row_of(key: str) -> str:
    """Return the row name of a key: a digest, so that keys may have any length and characters."""
    return content_digest(key).hex()


def user_directory() -> Path:
    """Return this user's cache folder (``$XDG_CACHE_HOME`` or ``~/.cache``) for the package."""
    caches = os.environ.get("XDG_CACHE_HOME", "")  # empty or relative counts as not set
    folder = Path(caches) if caches.startswith("/") else Path.home() / ".cache"
    return folder / "autogen-context"
