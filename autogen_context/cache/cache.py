"""Values that are built from files, kept until one of these changes.

Promise: what a caller gets is what its builder would have made of the files after it asked: a changed file is never
served. A cache that fails, its disk or its server too, costs a build and no more. One build serves all who ask for it
at the same time.

A value is kept only if its files were the same before and after it was built, and is compared with them each time it is
asked for.
"""

import math
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self, TypeVar, cast, overload

from autogen_context.cache.dependency import absolute_names, is_touched
from autogen_context.cache.disk import CacheDisk
from autogen_context.cache.entry import value_of
from autogen_context.cache.fingerprint import Compare, FingerprintReader
from autogen_context.cache.memory import CacheMemory
from autogen_context.cache.search import CacheSearch, Order, Outcome, Source
from autogen_context.cache.shared_tier import SharedTier, tier_of
from autogen_context.cache.single_flight import SingleFlight
from autogen_context.cache.stats import CacheStats, TierStats
from autogen_context.cache.tiers import CacheTiers, Wanted

ValueT = TypeVar("ValueT")


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
    """

    entries: int = 100
    memory_bytes: int = 64 * 1024 * 1024
    disk_bytes: int = 1024 * 1024 * 1024
    content_bytes: int = 64 * 1024 * 1024

    def __post_init__(self) -> None:
        """Refuse what means nothing."""
        for name in self.__slots__:
            if getattr(self, name) < 0:
                raise ValueError(f"{name}={getattr(self, name)}: give a number, 0 or more")


class ContextCache:
    """Values by key, in memory, on disk where there is a folder, and on a server where there is one.

    It belongs to one event loop. Nothing is lost if nobody closes it.

    Args:
        directory: keeps values for later processes; made for its owner alone. Values are in it in the clear.
        redis: what other machines share, as a ``RedisTier`` or the url of a server; the tier is closed with the cache.
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
        redis: SharedTier | str | None = None,
        watch: Watch | None = None,
        compare: Compare = "times",
        limits: CacheLimits = CacheLimits(),
        clock: Callable[[], float] = time.time,
    ) -> None:
        shared = tier_of(redis)
        reader = FingerprintReader(
            compare=compare, pattern_contents=shared is not None, limit_bytes=limits.content_bytes
        )
        self._tiers = CacheTiers(
            CacheMemory(entries=limits.entries, limit_bytes=limits.memory_bytes),
            reader=reader,
            clock=clock,
            disk=None
            if directory is None
            else CacheDisk(Path(directory), limit_bytes=limits.disk_bytes),
            shared=shared,
        )
        self._search = CacheSearch(self._tiers, reader=reader, clock=clock)
        self._flights = SingleFlight[Wanted, Outcome]()
        self._answered = Counter[Source]()
        self._invalidated = 0
        self._endings = [watch.listen(self._heard_of_paths)] if watch else []
        self._endings += [shared.listen(self._heard_of_key)] if shared else []

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
        order = Order(builder=builder, ttl_s=ttl_s)
        asked_at = time.monotonic()
        outcome: Outcome | None = None
        # What others began before may be outdated by now; what is begun from now on is not.
        while outcome is None or outcome.as_of < asked_at:
            outcome = await self._remembered(wanted) or await self._flights.join(
                wanted, partial(self._search.find, wanted, order)
            )
        self._answered[outcome.source] += 1
        return cast("ValueT", value_of(outcome.entry, model=model))  # as its builder gives it

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
            builds=self._search.builds,
            invalidations=self._search.invalidations + self._invalidated,
        )

    async def aclose(self) -> None:
        """Wait for builds under way, and let go of watch, file and server."""
        while self._endings:
            self._endings.pop()()
        await self._flights.aclose()
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

    async def _remembered(self, wanted: Wanted) -> Outcome | None:
        entry = await self._tiers.in_memory(wanted)
        return Outcome(entry=entry, source="memory", as_of=math.inf) if entry else None

    def _heard_of_paths(self, paths: Collection[Path]) -> None:
        """Drop from memory what may have changed; the disk is compared before it serves."""
        changed = [str(path) for path in paths]
        self._tiers.outdated.update(
            self._tiers.memory.forget(
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
