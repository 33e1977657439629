"""Values that are built from files, kept until one of these changes.

Promise: what a caller gets is what its builder would have made of the files after it asked: a changed file is never
served. A cache that fails, its disk or its server too, costs a build and no more. One build serves all who ask for it
at the same time.

A value is kept only if its files were the same before and after it was built, and is compared with them each time it is
asked for.
"""

import asyncio
import math
import os
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from inspect import isawaitable, iscoroutinefunction
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Protocol, Self, TypeVar, cast, overload

from autogen_context.cache.dependency import absolute_names, is_touched
from autogen_context.cache.entry import CacheEntry, payload_of, value_of
from autogen_context.cache.fingerprint import Compare, FingerprintReader, Reading
from autogen_context.cache.memory import Memory
from autogen_context.cache.single_flight import Flight, SingleFlight
from autogen_context.cache.stats import CacheStats, TierStats
from autogen_context.cache.tier import SharedTier
from autogen_context.cache.tiers import CacheTiers, Wanted
from autogen_context.cache.values import Values

if TYPE_CHECKING:
    from autogen_context.cache.store import DiskStore

ValueT = TypeVar("ValueT")
Source = Literal["memory", "disk", "shared", "built"]

_MOST_WAITS = 2
_LONGEST_WAIT_S = (
    0.05  # a tick of most file systems has passed; one of two seconds is not waited for
)


class Watch(Protocol):
    """What tells of changed paths."""

    def listen(self, heard: Callable[[Collection[Path]], None]) -> Callable[[], None]:
        """Have changed paths told to ``heard``, in any thread; what is returned ends that."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheLimits:
    """How much a cache may take.

    Attributes:
        entries: values in memory.
        memory_bytes: what these may take together.
        disk_bytes: about what the file may have.
        content_bytes: of a larger file not the content is compared, only what the system says of it.
        kind_bytes: what the values of one kind that are remembered by content may take in memory; each kind has as
            much on disk as ``disk_bytes``.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    """An entry for those who asked.

    Attributes:
        entry: the value, with what it was built from.
        source: where it is from.
        as_of: a moment at which its files were what it was built from, or after which it was built; by the monotonic
            clock, in seconds. Who asked later may not have it.
    """

    entry: CacheEntry
    source: Source
    as_of: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Order:
    """What is to be done where a value is not there."""

    builder: Callable[[], object]
    ttl_s: float | None

    def __post_init__(self) -> None:
        """Refuse what builds nothing."""
        if not callable(self.builder):
            raise ValueError(f"builder={self.builder!r:.80}: give a function that makes the value")  # noqa: TRY004 - as for every wrong argument
        if self.ttl_s is not None and not self.ttl_s > 0:
            raise ValueError(f"ttl_s={self.ttl_s}: give seconds above 0, or None")


class ContextCache:
    """Values by key, in memory, on disk where there is a folder, and on a server where there is one.

    It belongs to one event loop. Nothing is lost if nobody closes it.

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
        limits: CacheLimits = CacheLimits(),
        clock: Callable[[], float] = time.time,
    ) -> None:
        tier = _tier_of(shared)
        self._reader = FingerprintReader(
            compare=compare, pattern_contents=tier is not None, limit_bytes=limits.content_bytes
        )
        self._tiers = CacheTiers(
            Memory(entries=limits.entries, limit_bytes=limits.memory_bytes),
            reader=self._reader,
            clock=clock,
            disk=None if directory is None else _disk_of(directory, limits.disk_bytes),
            shared=tier,
        )
        self._values = Values(
            memory_bytes=limits.kind_bytes,
            folder=None if directory is None else Path(directory),
            disk_bytes=limits.disk_bytes,
            shared=tier,
        )
        self._clock = clock
        self._flights = SingleFlight[Wanted, _Outcome]()
        self._answered = Counter[Source]()
        self._builds = 0
        self._invalidated = 0
        self._endings = [watch.listen(self._heard_of_paths)] if watch is not None else []
        self._endings += [tier.listen(_in_its_loop(self._heard_of_key))] if tier is not None else []

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
        wanted = Wanted(key=key, names=absolute_names(depends_on), model=model)
        order = _Order(builder=builder, ttl_s=ttl_s)
        asked_at = time.monotonic()
        outcome: _Outcome | None = None
        # What others began before may be outdated by now; what is begun from now on is not.
        while outcome is None or outcome.as_of < asked_at:
            outcome = await self._remembered(wanted) or await self._flights.join(
                wanted, partial(self._find, wanted, order)
            )
        self._answered[outcome.source] += 1
        return cast("ValueT", value_of(outcome.entry, model=model))  # as its builder gives it

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
        reading = self._values.warm(kind, keys)
        if reading is not None:
            await asyncio.wrap_future(reading)

    async def clear(self) -> None:
        """Forget all that is kept here, what was built from files and what was remembered; a server keeps the latter."""
        self._flights.detach(lambda _: True)
        await self._tiers.forget(await self._tiers.keys_of(lambda _: True))
        await asyncio.wrap_future(self._values.clear())

    async def invalidate(self, what: str | PathLike[str]) -> None:
        """Drop the entry under a key, or with a ``Path`` every entry that depends on it or on something below.

        Who asks once this is done gets no value that was built before.
        """
        if isinstance(what, str):
            keys = {what}
            self._flights.detach(lambda wanted: wanted.key == what)
        else:
            path = absolute_names([what])[0]
            self._flights.detach(lambda wanted: _touches(wanted.names, path))
            keys = await self._tiers.keys_of(lambda entry: _touches(entry.names, path))
        self._invalidated += len(keys)
        await self._tiers.forget(keys)

    def stats(self) -> CacheStats:
        """What it did so far; print it."""
        memory, disk = self._tiers.memory, self._tiers.disk
        return CacheStats(
            memory=TierStats(
                hits=self._answered["memory"], bytes=memory.held_bytes, entries=len(memory)
            ),
            disk=TierStats(hits=self._answered["disk"], bytes=disk.held_bytes if disk else 0),
            shared=TierStats(hits=self._answered["shared"]),
            misses=self._answered["built"],
            builds=self._builds,
            invalidations=self._invalidated,
            remembered=self._values.hits,
            not_remembered=self._values.misses,
        )

    async def aclose(self) -> None:
        """Wait for builds under way, and let go of watch, file and server."""
        while self._endings:
            self._endings.pop()()
        await self._flights.aclose()
        await asyncio.wrap_future(self._values.flushed())
        await self._tiers.aclose()

    async def __aenter__(self) -> Self:
        """It is ready as it is."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close it."""
        await self.aclose()

    async def _remembered(self, wanted: Wanted) -> _Outcome | None:
        entry = await self._tiers.in_memory(wanted)
        return _Outcome(entry=entry, source="memory", as_of=math.inf) if entry else None

    async def _find(self, wanted: Wanted, order: _Order, flight: Flight) -> _Outcome:
        """The value from disk, from elsewhere, or from its builder, and as of when it is right.

        It is kept if nothing that it depends on changed while it was built, not even there and back, and as long as the
        flight is current.
        """
        as_of = time.monotonic()
        entry = await self._tiers.on_disk(wanted, flight)
        if entry:
            return self._outcome(entry, "disk", as_of)
        as_of, reading = await self._settled(wanted)
        proves = reading.settles_in_s <= 0
        entry = await self._tiers.elsewhere(wanted, reading)
        if entry:
            if proves:
                await self._tiers.keep_here(entry, flight)
            return self._outcome(entry, "shared", as_of)
        entry = await self._built(wanted, order, reading)
        checked_at = time.monotonic()
        if proves and await asyncio.to_thread(self._reader.mark, wanted.names) == reading.mark:
            as_of = checked_at
            await self._tiers.keep(entry, flight)
        return self._outcome(entry, "built", as_of)

    def _outcome(self, entry: CacheEntry, source: Source, as_of: float) -> _Outcome:
        self._invalidated += source == "built" and entry.key in self._tiers.outdated
        self._tiers.outdated.discard(entry.key)
        return _Outcome(entry=entry, source=source, as_of=as_of if entry.names else math.inf)

    async def _settled(self, wanted: Wanted) -> tuple[float, Reading]:
        """When the files were looked at, and what they were; a tick later, if they were written within the last one."""
        waits = 0
        while True:
            as_of = time.monotonic()
            reading = await asyncio.to_thread(self._reader.read, wanted.names)
            if waits == _MOST_WAITS or not 0 < reading.settles_in_s <= _LONGEST_WAIT_S:
                return as_of, reading
            await asyncio.sleep(reading.settles_in_s)
            waits += 1

    async def _built(self, wanted: Wanted, order: _Order, reading: Reading) -> CacheEntry:
        self._builds += 1
        kind, payload = payload_of(await _called(order.builder), model=wanted.model)
        built_at = self._clock()
        return CacheEntry(
            key=wanted.key,
            kind=kind,
            payload=payload,
            dependencies=reading.fingerprints,
            built_at=built_at,
            expires_at=math.inf if order.ttl_s is None else built_at + order.ttl_s,
        )

    def _heard_of_paths(self, paths: Collection[Path]) -> None:
        """Drop from memory what may have changed; the disk is compared before it serves."""
        changed = [str(path) for path in paths]
        self._tiers.outdated.update(
            self._tiers.memory.forget_where(
                lambda entry: any(_touches(entry.names, path) for path in changed)
            )
        )

    def _heard_of_key(self, key: str) -> None:
        """Drop what another machine invalidated; files are compared here, but of other values only it can tell."""
        self._flights.detach(lambda wanted: wanted.key == key or (not key and not wanted.names))
        self._tiers.forget_here(key)
        if not key:
            self._tiers.distrust()


def _touches(names: Iterable[str], path: str) -> bool:
    return any(is_touched(name, path) for name in names)


async def _called(builder: Callable[[], object]) -> object:
    """What a builder gives; one that is no coroutine function may block, so it has a thread."""
    made = builder() if iscoroutinefunction(builder) else await asyncio.to_thread(builder)
    return await made if isawaitable(made) else made


def _disk_of(directory: str | PathLike[str], limit_bytes: int) -> "DiskStore":
    """The store in a folder."""
    from autogen_context.cache.store import DiskStore  # noqa: PLC0415 - for who has a folder

    return DiskStore(directory, limit_bytes=limit_bytes, keep_open=True)


def _in_its_loop(heard: Callable[[str], None]) -> Callable[[str], None]:
    """The same, called in the loop that runs now; where none runs, in whichever thread tells."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return heard

    def hand_over(name: str) -> None:
        if asyncio._get_running_loop() is loop:  # noqa: SLF001 - the same without an error
            heard(name)
            return
        with suppress(RuntimeError):  # the loop is closed: nobody is there to be told
            loop.call_soon_threadsafe(heard, name)

    return hand_over


def _tier_of(shared: SharedTier | str | None) -> SharedTier | None:
    """The tier that was given, or one on the server at a url."""
    if isinstance(shared, str):
        # Here, since only those who share a cache pay for it.
        from autogen_context.cache.redis.tier import RedisTier  # noqa: PLC0415

        return RedisTier(shared)
    if shared is not None and not hasattr(shared, "listen"):
        raise ValueError(f"shared={shared!r:.80}: give the url of a server, or a RedisTier")
    return shared


def user_directory() -> Path:
    """The folder of this user for what can be built again."""
    caches = os.environ.get("XDG_CACHE_HOME", "")  # empty or relative counts as not set
    folder = Path(caches) if caches.startswith("/") else Path.home() / ".cache"
    return folder / "autogen-context"
