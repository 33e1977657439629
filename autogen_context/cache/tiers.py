"""Where the entries of a cache are: memory first, then disk, then other machines.

Promise: an entry is handed out only if it is what is wanted, its time is not over, and its files were compared after it
was asked for. No tier raises.
"""

import asyncio
import math
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from autogen_context.cache.entry import CacheEntry, entry_as_bytes, entry_from_bytes, value_of
from autogen_context.cache.fingerprint import Fingerprint, FingerprintReader, Reading
from autogen_context.cache.memory import Memory
from autogen_context.cache.single_flight import Flight
from autogen_context.cache.tier import SharedTier, Tier
from autogen_context.cache.values import row_of
from autogen_context.errors import StoreUnavailable

if TYPE_CHECKING:
    from autogen_context.cache.store import DiskStore

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a caller asks for.

    Attributes:
        key: the name of the value.
        names: what it depends on, absolute.
        model: the pydantic class to read it as; ``None`` if it is text, bytes or JSON.
    """

    key: str
    names: tuple[str, ...]
    model: type[object] | None

    def __post_init__(self) -> None:
        """Refuse a key that is no text."""
        if not isinstance(self.key, str):  # pyright: ignore[reportUnnecessaryIsInstance] - nobody need check types
            raise ValueError(f"key={self.key!r:.80}: give a text")  # noqa: TRY004 - as for every wrong argument


class CacheTiers:
    """Memory, and disk and a server where there are any.

    Args:
        memory: the entries used last.
        reader: compares entries with the files.
        clock: the time in seconds, on one scale for all who share entries.
        disk: what this machine keeps; it is used in a thread of its own.
        shared: what several machines keep.

    Attributes:
        outdated: the keys of entries whose files were found changed, or heard of.
    """

    def __init__(
        self,
        memory: Memory[CacheEntry],
        *,
        reader: FingerprintReader,
        clock: Callable[[], float],
        disk: "DiskStore | None",
        shared: SharedTier | None,
    ) -> None:
        self.memory = memory
        self.disk = disk
        self.shared = shared
        self.outdated: set[str] = set()
        self._reader = reader
        self._clock = clock
        self._trusted_from = -math.inf
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="context-cache")

    async def in_memory(self, wanted: Wanted) -> CacheEntry | None:
        """The entry that memory has."""
        entry = self.memory.use(wanted.key)
        current = await self._current(entry, wanted)
        if entry and current is None:
            self.memory.forget_where(lambda held: held is entry)
        elif entry and current and current is not entry:
            self.memory.replace(wanted.key, entry, current)
        return current

    async def on_disk(self, wanted: Wanted, flight: Flight) -> CacheEntry | None:
        """The entry that the disk has; memory has it then, too, if nobody invalidated it meanwhile."""
        if self.disk is None:
            return None
        data = await self._in_thread(partial(self.disk.read, row_of(wanted.key)))
        entry = _entry(data)
        current = await self._current(entry, wanted)
        if current and current is not entry:
            await self.keep_here(current, flight)
        elif current and flight.is_current:
            self._remember(current)
        return current

    async def elsewhere(self, wanted: Wanted, reading: Reading) -> CacheEntry | None:
        """The entry that other machines have, if the contents of its files are those of here."""
        if self.shared is None:
            return None
        found = await asyncio.to_thread(self.shared.read_all, [wanted.key])
        entry = _entry(found.get(wanted.key))
        if entry and _have_same_contents(entry.dependencies, reading.fingerprints):
            own = replace(entry, dependencies=reading.fingerprints, built_at=self._clock())
            return own if self._answers(own, wanted) else None
        return None

    async def keep(self, entry: CacheEntry, flight: Flight) -> None:
        """Keep an entry in every tier, if nobody invalidates it meanwhile."""
        await self.keep_here(entry, flight)
        if self.shared is not None and flight.is_current:
            values = {entry.key: entry_as_bytes(entry)}
            await asyncio.to_thread(partial(self.shared.write, values, ttl_s=self._ttl_s(entry)))
            if not flight.is_current:
                await asyncio.to_thread(_forget_on, self.shared, [entry.key])

    async def keep_here(self, entry: CacheEntry, flight: Flight) -> None:
        """Keep an entry in memory and on disk."""
        if flight.is_current:
            self._remember(entry)
            if self.disk is not None:
                rows = {row_of(entry.key): entry_as_bytes(entry)}
                await self._in_thread(partial(self.disk.write, rows, ttl_s=self._ttl_s(entry)))

    async def keys_of(self, concerns: Callable[[CacheEntry], bool]) -> set[str]:
        """The keys of the entries here that something concerns."""
        found = {entry.key for _, entry in self.memory.items() if concerns(entry)}
        if self.disk is not None:
            found |= set(await self._in_thread(partial(_keys_on, self.disk, concerns)))
        return found

    async def forget(self, keys: Collection[str]) -> None:
        """Drop entries in every tier."""
        self.memory.forget(keys)
        if self.disk is not None:
            await self._in_thread(partial(_forget_on, self.disk, list(map(row_of, keys))))
        if self.shared is not None:
            await asyncio.to_thread(_forget_on, self.shared, keys)

    def distrust(self) -> None:
        """Serve nothing that is here so far and depends on no file: it may have been invalidated elsewhere, unheard."""
        self._trusted_from = self._clock()

    def forget_here(self, key: str) -> None:
        """Drop an entry in memory and on disk, since it was invalidated elsewhere; from any thread."""
        self.memory.forget([key])
        if self.disk is not None:
            self._thread.submit(_forget_on, self.disk, [row_of(key)])

    async def aclose(self) -> None:
        """Let go of the file and of the server."""
        if self.disk is not None:
            await self._in_thread(self.disk.close)
        if self.shared is not None:
            await asyncio.to_thread(self.shared.close)

    def _remember(self, entry: CacheEntry) -> None:
        self.memory.put(entry.key, entry, size_bytes=entry.size_bytes)

    async def _current(self, entry: CacheEntry | None, wanted: Wanted) -> CacheEntry | None:
        """The entry, with the times of now, if it answers and its files are what they were."""
        if entry is None or not self._answers(entry, wanted):
            return None
        if self._reader.hold_at_a_glance(entry.dependencies):
            return entry
        now = await asyncio.to_thread(self._reader.renewed, entry.dependencies)
        if now is None:
            self.outdated.add(entry.key)
            return None
        return entry if now == entry.dependencies else replace(entry, dependencies=now)

    def _answers(self, entry: CacheEntry, wanted: Wanted) -> bool:
        """Whether an entry is what is wanted, and reads."""
        if (entry.key, entry.names) != (wanted.key, wanted.names):
            return False
        if not entry.names and entry.built_at < self._trusted_from:
            return False
        try:
            value_of(entry, model=wanted.model)
        except ValueError:  # of another class, or of an older version of it
            return False
        return entry.expires_at > self._clock()

    def _ttl_s(self, entry: CacheEntry) -> float | None:
        left_s = entry.expires_at - self._clock()
        return left_s if math.isfinite(left_s) else None

    async def _in_thread(self, action: Callable[[], ResultT]) -> ResultT:
        return await asyncio.get_running_loop().run_in_executor(self._thread, action)


def _entry(data: bytes | None) -> CacheEntry | None:
    """The entry that was written so; others may have written anything."""
    with suppress(ValueError):
        return None if data is None else entry_from_bytes(data)
    return None


def _keys_on(disk: "DiskStore", concerns: Callable[[CacheEntry], bool]) -> list[str]:
    """The keys on disk that something concerns; where they cannot be read they are compared before they are served."""
    with suppress(StoreUnavailable):
        entries = [_entry(data) for _, data in disk.items()]
        return [entry.key for entry in entries if entry and concerns(entry)]
    return []


def _forget_on(tier: Tier, names: Collection[str]) -> None:
    """Delete names; what cannot be deleted now is not read any more."""
    with suppress(StoreUnavailable):
        tier.forget(names)


def _have_same_contents(ours: Collection[Fingerprint], theirs: Collection[Fingerprint]) -> bool:
    """Whether contents are known and the same; names and times are another matter on another machine."""
    return [one.content or None for one in ours] == [one.content for one in theirs]
