"""Values that are built from files, kept until one of these changes.

Promise: what a caller gets is what its builder would have made of the files after it asked: a changed file is never
served. A cache that fails, its disk or its server too, costs a build and no more. One build serves all who ask for it
at the same time.
"""

import asyncio
import math
import os
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from inspect import isawaitable, iscoroutinefunction
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, Self, TypeVar, cast, overload

from autogen_context.cache.entry import (
    CacheEntry,
    decoded,
    encoded,
    entry_as_bytes,
    entry_from_bytes,
)
from autogen_context.cache.fingerprint import (
    Compare,
    FingerprintReader,
    Reading,
    absolute_names,
    is_touched,
)
from autogen_context.cache.tier import (
    CacheLimits,
    CacheStats,
    Memory,
    SharedTier,
    Tier,
    TierStats,
)
from autogen_context.cache.values import Values
from autogen_context.errors import StoreUnavailable
from autogen_context.messages.message import content_digest

if TYPE_CHECKING:
    from autogen_context.cache.store import DiskStore

ValueT = TypeVar("ValueT")
Source = Literal["memory", "disk", "shared", "built"]

_MOST_WAITS = 2
# A tick of most file systems has passed; one of two seconds is not waited for.
_LONGEST_WAIT_S = 0.05


class Watch(Protocol):
    """What tells of changed paths."""

    def listen(self, heard: Callable[[Collection[Path]], None]) -> Callable[[], None]:
        """Have changed paths told to ``heard``, in any thread; what is returned ends that."""
        ...


class _Wanted(NamedTuple):
    """What a caller asks for: a key, the absolute names of what it depends on, and a pydantic class to read it as."""

    key: str
    names: tuple[str, ...]
    model: type[object] | None


class _Outcome(NamedTuple):
    """An entry, and the monotonic moment as of which it is right; who asked later may not have it."""

    entry: CacheEntry
    source: Source
    as_of: float


class _Flight:
    """Work under way, for so many callers; while it is current others join it, and its result may be kept."""

    def __init__(self, start: "Callable[[_Flight], Coroutine[object, object, _Outcome]]") -> None:
        self.is_current = True
        self.waiting = 0
        self.task = asyncio.create_task(start(self))


class ContextCache:
    """Values by key, in memory, on disk where there is a folder, and on a server where there is one; of one event loop.

    Args:
        directory: keeps values for later processes; made for its owner alone. Values are in it in the clear.
        shared: what other machines share: the url of a Redis server, a ``RedisTier``, or any other ``SharedTier``; it is
            closed with the cache.
        watch: has entries dropped as soon as their files change. What is served is compared in any case.
        compare: ``content`` reads all files at each request; for files that are written through a memory map, for
            network folders, and for Windows, where times do not tell every change.
        limits: how much it may take.
        clock: the time in seconds, on one scale for all who share the values.

    Raises:
        ValueError: ``directory`` is something else than a folder, or another argument none of these.
        MissingExtra: ``redis`` is a url, and the extra is not installed.
    """

    def __init__(
        self,
        directory: str | PathLike[str] | None = None,
        *,
        shared: SharedTier | str | None = None,
        watch: Watch | None = None,
        compare: Compare = "times",
        limits: CacheLimits = CacheLimits(),  # noqa: B008 - it is frozen
        clock: Callable[[], float] = time.time,
    ) -> None:
        if isinstance(shared, str):
            from autogen_context.cache.redis_tier import RedisTier  # noqa: PLC0415 - who shares pays for it

            shared = RedisTier(shared)
        if shared is not None and not hasattr(shared, "listen"):
            raise ValueError(f"shared={shared!r:.80}: give the url of a server, or a RedisTier")
        self._reader = FingerprintReader(
            compare=compare, pattern_contents=shared is not None, limit_bytes=limits.content_bytes
        )
        self._memory = Memory[CacheEntry](entries=limits.entries, limit_bytes=limits.memory_bytes)
        self._disk = None if directory is None else _disk_in(directory, limits.disk_bytes)
        self._shared = shared
        self._values = Values(
            memory_bytes=limits.kind_bytes,
            folder=None if directory is None else Path(directory),
            disk_bytes=limits.disk_bytes,
            shared=shared,
        )
        self._clock = clock
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="context-cache")  # of the disk
        self._flights: dict[_Wanted, _Flight] = {}
        self._outdated: set[str] = set()  # keys of what was found changed, or heard of
        self._trusted_from = -math.inf
        self._answered = Counter[Source]()
        self._builds = 0
        self._invalidated = 0
        self._endings = [watch.listen(self._heard_of_paths)] if watch is not None else []
        if shared is not None:
            self._endings.append(shared.listen(self._heard_of_key))

    @overload
    async def get_or_build(
        self,
        key: str,
        builder: Callable[[], Awaitable[ValueT]],
        *,
        depends_on: Iterable[str | PathLike[str]] = (),
        ttl_s: float | None = None,
        model: type[ValueT] | None = None,
    ) -> ValueT: ...

    @overload
    async def get_or_build(
        self,
        key: str,
        builder: Callable[[], ValueT],
        *,
        depends_on: Iterable[str | PathLike[str]] = (),
        ttl_s: float | None = None,
        model: type[ValueT] | None = None,
    ) -> ValueT: ...

    async def get_or_build(
        self,
        key: str,
        builder: Callable[[], Awaitable[ValueT] | ValueT],
        *,
        depends_on: Iterable[str | PathLike[str]] = (),
        ttl_s: float | None = None,
        model: type[ValueT] | None = None,
    ) -> ValueT:
        """The value under a key; built if it is not there, or what it depends on has changed.

        Args:
            key: names the value and how it is built; any text.
            builder: makes the value: a coroutine function, or a function, which is called in a thread. It gives str,
                bytes, JSON data, or an object of ``model``, and reads files only from when it is called.
            depends_on: the n files it reads, and patterns such as ``src/**/*.py``. Of a folder the names in it count;
                to follow the files as well, name ``folder/**``.
            ttl_s: how long it is kept, in seconds; left out, until it changes or room is needed.
            model: the class of the value, if that is a pydantic model.

        Returns:
            The value as it comes back from the cache, a new object each time.

        Raises:
            ValueError: an argument or what the builder gave is none of these.
            Exception: what the builder raised; nothing is kept then, and all who wait for it get it.
        """
        if not isinstance(key, str):  # pyright: ignore[reportUnnecessaryIsInstance] - nobody need check types
            raise ValueError(f"key={key!r:.80}: give a text")  # noqa: TRY004 - as for every wrong argument
        if not callable(builder):
            raise ValueError(f"builder={builder!r:.80}: give a function that makes the value")  # noqa: TRY004 - as above
        if ttl_s is not None and not ttl_s > 0:
            raise ValueError(f"ttl_s={ttl_s}: give seconds above 0, or None")
        wanted = _Wanted(key, absolute_names(depends_on), model)
        find = partial(self._find, wanted, builder, ttl_s)
        asked_at = time.monotonic()
        outcome: _Outcome | None = None
        # What others began before may be outdated by now; what is begun from now on is not.
        while outcome is None or outcome.as_of < asked_at:
            outcome = await self._in_memory(wanted) or await self._joined(wanted, find)
        self._answered[outcome.source] += 1
        return cast("ValueT", decoded(outcome.entry.data, model=model))  # as its builder gives it

    def remembered(self, kind: str, key: str, /) -> object:
        """The value that was remembered under a kind and a key, if it is in memory; a new object each time. Never waits.

        ``None`` may mean that it is on disk: ``warm`` brings it.

        Raises:
            ValueError: ``kind`` is no short name of small letters.
        """
        return self._values.look(kind, key)

    def remember(self, kind: str, key: str, value: object, /) -> None:
        """Keep what depends on content alone: in memory at once, on disk soon, in a thread. Never waits.

        Args:
            kind: what it is, such as ``summary``; each kind has a room of its own, from which the least recently used goes.
            key: names the content, and how the value was made of it.
            value: JSON data, text or bytes.

        Raises:
            ValueError: ``kind`` or ``value`` is none of these.
        """
        self._values.keep(kind, key, value)

    async def warm(self, kind: str, keys: Collection[str], /) -> None:
        """Bring into memory what is kept on disk under these keys."""
        await self._values.warm(kind, keys)

    async def clear(self) -> None:
        """Delete everything: here, and on a server all that is in its namespace.

        Raises:
            StoreUnavailable: a file or a server cannot be had now, so that something may still be there.
        """
        self._detach(lambda _: True)
        self._memory.forget_where(lambda _: True)
        await asyncio.wrap_future(self._values.clear())
        if self._disk is not None:
            await self._on_disk(self._disk.clear)
        if self._shared is not None:
            await asyncio.to_thread(self._shared.clear)

    async def invalidate(self, key: str) -> None:
        """Drop the entry under a key, for all who share it; who asks once this is done gets none that was built before."""
        self._invalidated += 1
        self._detach(lambda wanted: wanted.key == key)
        self._memory.forget([key])
        if self._disk is not None:
            await self._on_disk(partial(_forget_on, self._disk, row_of(key)))
        if self._shared is not None:
            await asyncio.to_thread(_forget_on, self._shared, key)

    def stats(self) -> CacheStats:
        """What it did so far; print it."""
        memory, answered = self._memory, self._answered
        on_disk = self._disk.held_bytes if self._disk else 0
        return CacheStats(
            memory=TierStats(hits=answered["memory"], bytes=memory.held_bytes, entries=len(memory)),
            disk=TierStats(hits=answered["disk"], bytes=on_disk),
            shared=TierStats(hits=answered["shared"]),
            misses=answered["built"],
            builds=self._builds,
            invalidations=self._invalidated,
            remembered=self._values.hits,
            not_remembered=self._values.misses,
        )

    @property
    def counts(self) -> tuple[int, int, int]:
        """Hits, misses and invalidations so far, of values and look-ups; ``stats`` has more."""
        built, looked = self._answered["built"], self._values
        hits = self._answered.total() - built + looked.hits
        return hits, built + looked.misses, self._invalidated

    async def aclose(self) -> None:
        """Wait for builds under way, and let go of watch, file and server."""
        while self._endings:
            self._endings.pop()()
        if tasks := [flight.task for flight in self._flights.values()]:
            await asyncio.wait(tasks)
        await asyncio.wrap_future(self._values.flushed())
        if self._disk is not None:
            await self._on_disk(self._disk.close)
        if self._shared is not None:
            await asyncio.to_thread(self._shared.close)

    async def __aenter__(self) -> Self:
        """It is ready as it is."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close it."""
        await self.aclose()

    async def _joined(
        self, wanted: _Wanted, find: Callable[[_Flight], Coroutine[object, object, _Outcome]]
    ) -> _Outcome:
        """The outcome of the work that is under way, or of new one; with the last who waits the work is cancelled."""
        flight = self._flights.get(wanted)
        if flight is None or flight.task.done():  # or about to be cleared away
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
            self._flights.pop(wanted, None)  # a server may tell of it in another thread

    async def _find(
        self,
        wanted: _Wanted,
        builder: Callable[[], object],
        ttl_s: float | None,
        flight: _Flight,
    ) -> _Outcome:
        """The value from disk, from elsewhere, or from its builder, and as of when it is right.

        It is kept if nothing that it depends on changed while it was built, not even there and back.
        """
        as_of = time.monotonic()
        if entry := await self._from_disk(wanted, flight):
            return self._outcome(entry, "disk", as_of)
        as_of, reading = await self._settled(wanted)
        proves = reading.settles_in_s <= 0
        if entry := await self._from_elsewhere(wanted, reading):
            if proves:
                await self._keep_here(entry, flight)
            return self._outcome(entry, "shared", as_of)
        self._builds += 1
        # One that is no coroutine function may block, so it has a thread.
        made = builder() if iscoroutinefunction(builder) else await asyncio.to_thread(builder)
        data = encoded(await made if isawaitable(made) else made, model=wanted.model)
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
            await self._keep_here(entry, flight)
            await self._keep_elsewhere(entry, flight)
        return self._outcome(entry, "built", as_of)

    def _outcome(self, entry: CacheEntry, source: Source, as_of: float) -> _Outcome:
        self._invalidated += source == "built" and entry.key in self._outdated
        self._outdated.discard(entry.key)
        return _Outcome(entry, source, as_of if entry.names else math.inf)

    async def _settled(self, wanted: _Wanted) -> tuple[float, Reading]:
        """When the files were looked at, and what they were; a tick later, if they were written within the last one."""
        waits = 0
        while True:
            as_of = time.monotonic()
            reading = await asyncio.to_thread(self._reader.read, wanted.names)
            if waits == _MOST_WAITS or not 0 < reading.settles_in_s <= _LONGEST_WAIT_S:
                return as_of, reading
            await asyncio.sleep(reading.settles_in_s)
            waits += 1

    async def _in_memory(self, wanted: _Wanted) -> _Outcome | None:
        entry = self._memory.use(wanted.key)
        current = await self._current(entry, wanted)
        if entry and current is None:
            self._memory.forget_where(lambda held: held is entry)
        elif entry and current and current is not entry:
            self._memory.replace(wanted.key, entry, current)
        return _Outcome(current, "memory", math.inf) if current else None

    async def _from_disk(self, wanted: _Wanted, flight: _Flight) -> CacheEntry | None:
        """The entry that the disk has; memory has it then, too, if nobody invalidated it meanwhile."""
        if self._disk is None:
            return None
        entry = _entry(await self._on_disk(partial(self._disk.read, row_of(wanted.key))))
        current = await self._current(entry, wanted)
        if current and current is not entry:
            await self._keep_here(current, flight)
        elif current and flight.is_current:
            self._memory.put(current.key, current, size_bytes=current.size_bytes)
        return current

    async def _from_elsewhere(self, wanted: _Wanted, reading: Reading) -> CacheEntry | None:
        """The entry that other machines have, if the contents of its files are known, and those of here."""
        if self._shared is None:
            return None
        found = await asyncio.to_thread(self._shared.read_all, [wanted.key])
        entry = _entry(found.get(wanted.key))
        contents = [one.content or None for one in reading.fingerprints]
        if entry is None or [one.content for one in entry.dependencies] != contents:
            return None
        own = replace(entry, dependencies=reading.fingerprints, built_at=self._clock())
        return own if self._answers(own, wanted) else None

    async def _keep_here(self, entry: CacheEntry, flight: _Flight) -> None:
        if flight.is_current:
            self._memory.put(entry.key, entry, size_bytes=entry.size_bytes)
            if self._disk is not None:
                rows = {row_of(entry.key): entry_as_bytes(entry)}
                await self._on_disk(partial(self._disk.write, rows, ttl_s=self._ttl_s(entry)))

    async def _keep_elsewhere(self, entry: CacheEntry, flight: _Flight) -> None:
        """Keep it for other machines, if nobody invalidates it meanwhile."""
        if self._shared is not None and flight.is_current:
            values = {entry.key: entry_as_bytes(entry)}
            await asyncio.to_thread(partial(self._shared.write, values, ttl_s=self._ttl_s(entry)))
            if not flight.is_current:
                await asyncio.to_thread(_forget_on, self._shared, entry.key)

    def _ttl_s(self, entry: CacheEntry) -> float | None:
        left_s = entry.expires_at - self._clock()
        return left_s if math.isfinite(left_s) else None

    async def _current(self, entry: CacheEntry | None, wanted: _Wanted) -> CacheEntry | None:
        """The entry, with the times of now, if it answers and its files are what they were."""
        if entry is None or not self._answers(entry, wanted):
            return None
        if self._reader.hold_at_a_glance(entry.dependencies):
            return entry
        now = await asyncio.to_thread(self._reader.renewed, entry.dependencies)
        if now is None:
            self._outdated.add(entry.key)
            return None
        return entry if now == entry.dependencies else replace(entry, dependencies=now)

    def _answers(self, entry: CacheEntry, wanted: _Wanted) -> bool:
        if (entry.key, entry.names) != (wanted.key, wanted.names):
            return False
        if not entry.names and entry.built_at < self._trusted_from:
            return False
        try:
            decoded(entry.data, model=wanted.model)
        except ValueError:  # of another class, or of an older version of it
            return False
        return entry.expires_at > self._clock()

    def _heard_of_paths(self, paths: Collection[Path]) -> None:
        """Drop from memory what may have changed; the disk is compared before it serves."""
        changed = [str(path) for path in paths]
        self._outdated.update(
            self._memory.forget_where(
                lambda entry: any(is_touched(n, path) for n in entry.names for path in changed)
            )
        )

    def _heard_of_key(self, key: str) -> None:
        """Drop what another machine invalidated, in any thread.

        Where all may be invalid, nothing that is here so far and depends on no file is served: only that machine can tell.
        """
        self._detach(lambda wanted: wanted.key == key or (not key and not wanted.names))
        self._memory.forget([key])
        if self._disk is not None:
            self._thread.submit(_forget_on, self._disk, row_of(key))
        if not key:
            self._trusted_from = self._clock()

    async def _on_disk(self, action: Callable[[], ValueT]) -> ValueT:
        return await asyncio.get_running_loop().run_in_executor(self._thread, action)


def _disk_in(directory: str | PathLike[str], limit_bytes: int) -> "DiskStore":
    from autogen_context.cache.store import DiskStore  # noqa: PLC0415 - for who has a folder

    return DiskStore(directory, limit_bytes=limit_bytes, keep_open=True)


def _entry(data: bytes | None) -> CacheEntry | None:
    """The entry that was written so; others may have written anything."""
    with suppress(ValueError):
        return None if data is None else entry_from_bytes(data)
    return None


def _forget_on(tier: Tier, name: str) -> None:
    with suppress(StoreUnavailable):  # what cannot be deleted now is not read any more
        tier.forget([name])


def row_of(key: str) -> str:
    """The name of a key's row: no key is too long or too odd for it."""
    return content_digest(key).hex()


def user_directory() -> Path:
    """The folder of this user for what can be built again."""
    caches = os.environ.get("XDG_CACHE_HOME", "")  # empty or relative counts as not set
    folder = Path(caches) if caches.startswith("/") else Path.home() / ".cache"
    return folder / "autogen-context"
