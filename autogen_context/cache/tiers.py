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
from typing import TypeVar

from autogen_context.cache.disk import CacheDisk
from autogen_context.cache.entry import (
    CacheEntry,
    entry_as_bytes,
    entry_from_bytes,
    value_of,
)
from autogen_context.cache.fingerprint import Fingerprint, FingerprintReader, Reading
from autogen_context.cache.memory import CacheMemory
from autogen_context.cache.shared_tier import SharedTier

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
        require_text(self.key)


def require_text(key: object) -> None:
    """Refuse a key of any other kind."""
    if not isinstance(key, str):
        raise ValueError(f"key={key!r:.80}: give a text")  # noqa: TRY004 - as for every wrong argument


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
        memory: CacheMemory,
        *,
        reader: FingerprintReader,
        clock: Callable[[], float],
        disk: CacheDisk | None,
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
        entry = self.memory.read(wanted.key)
        current = await self._current(entry, wanted)
        if entry and current is None:
            self.memory.forget(lambda held: held is entry)
        elif entry and current and current is not entry:
            self.memory.replace(entry, current)
        return current

    async def on_disk(self, wanted: Wanted, *, is_valid: Callable[[], bool]) -> CacheEntry | None:
        """The entry that the disk has; memory has it then, too, if nobody invalidated it meanwhile."""
        if self.disk is None:
            return None
        entry = await self._in_thread(partial(self.disk.read, wanted.key))
        current = await self._current(entry, wanted)
        if current and current is not entry:
            await self.keep_here(current, is_valid=is_valid)
        elif current and is_valid():
            self.memory.write(current)
        return current

    async def elsewhere(self, wanted: Wanted, reading: Reading) -> CacheEntry | None:
        """The entry that other machines have, if the contents of its files are those of here."""
        data = await self.shared.read(wanted.key) if self.shared else None
        with suppress(ValueError):  # others may have written anything
            entry = entry_from_bytes(data) if data else None
            if entry and _have_same_contents(entry.dependencies, reading.fingerprints):
                now = self._clock()
                own = replace(entry, dependencies=reading.fingerprints, built_at=now)
                return own if self._answers(own, wanted) else None
        return None

    async def keep(self, entry: CacheEntry, *, is_valid: Callable[[], bool]) -> None:
        """Keep an entry in every tier, if nobody invalidates it meanwhile."""
        await self.keep_here(entry, is_valid=is_valid)
        if self.shared is not None and is_valid():
            await self.shared.write(entry.key, entry_as_bytes(entry), ttl_s=self._ttl_s(entry))
            if not is_valid():
                await self.shared.forget(entry.key)

    async def keep_here(self, entry: CacheEntry, *, is_valid: Callable[[], bool]) -> None:
        """Keep an entry in memory and on disk."""
        if is_valid():
            self.memory.write(entry)
            if self.disk is not None:
                write = partial(self.disk.write, entry, ttl_s=self._ttl_s(entry))
                await self._in_thread(write)

    async def keys_of(self, concerns: Callable[[CacheEntry], bool]) -> set[str]:
        """The keys of the entries here that something concerns."""
        keys = set(self.memory.keys_of(concerns))
        if self.disk is not None:
            keys |= set(await self._in_thread(partial(self.disk.keys_of, concerns)))
        return keys

    async def forget(self, keys: Collection[str]) -> None:
        """Drop entries in every tier."""
        self.memory.forget(lambda entry: entry.key in keys)
        if self.disk is not None:
            await self._in_thread(partial(self.disk.forget, keys))
        if self.shared is not None:
            for key in keys:
                await self.shared.forget(key)

    def distrust(self) -> None:
        """Serve nothing that is here so far and depends on no file: it may have been invalidated elsewhere, unheard."""
        self._trusted_from = self._clock()

    def forget_here(self, key: str) -> None:
        """Drop an entry in memory and on disk, since it was invalidated elsewhere; from any thread."""
        self.memory.forget(lambda entry: entry.key == key)
        if self.disk is not None:
            self._thread.submit(self.disk.forget, [key])

    async def aclose(self) -> None:
        """Let go of the file and of the server."""
        if self.disk is not None:
            await self._in_thread(self.disk.close)
        if self.shared is not None:
            await self.shared.aclose()

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


def _have_same_contents(ours: Collection[Fingerprint], theirs: Collection[Fingerprint]) -> bool:
    """Whether contents are known and the same; names and times are another matter on another machine."""
    return [one.content or None for one in ours] == [one.content for one in theirs]
