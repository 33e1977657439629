"""How a cache gets what memory does not have: from disk, from elsewhere, or from the builder.

Promise: every outcome says as of when it is right. A value is kept only if nothing that it depends on changed while it was
built, not even there and back.
"""

import asyncio
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from inspect import isawaitable, iscoroutinefunction
from typing import Literal

from autogen_context.cache.entry import CacheEntry, payload_of
from autogen_context.cache.fingerprint import FingerprintReader, Reading
from autogen_context.cache.single_flight import Flight
from autogen_context.cache.tiers import CacheTiers, Wanted

Source = Literal["memory", "disk", "shared", "built"]

_MOST_WAITS = 2
_LONGEST_WAIT_S = (
    0.05  # a tick of most file systems has passed by then; one of two seconds is not waited for
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
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
class Order:
    """What is to be done where a value is not there.

    Attributes:
        builder: makes the value.
        ttl_s: how long it is kept, in seconds; ``None`` for ever.
    """

    builder: Callable[[], object]
    ttl_s: float | None

    def __post_init__(self) -> None:
        """Refuse what builds nothing."""
        if not callable(self.builder):
            raise ValueError(f"builder={self.builder!r:.80}: give a function that makes the value")  # noqa: TRY004 - as for every wrong argument
        if self.ttl_s is not None and not self.ttl_s > 0:
            raise ValueError(f"ttl_s={self.ttl_s}: give seconds above 0, or None")


class CacheSearch:
    """Looks in the tiers behind memory, and builds.

    Args:
        tiers: where entries are kept.
        reader: takes the fingerprints of files.
        clock: the time in seconds, by which entries expire.

    Attributes:
        builds: how often a builder was called.
        invalidations: how often it was since the value's files had changed.
    """

    def __init__(
        self, tiers: CacheTiers, *, reader: FingerprintReader, clock: Callable[[], float]
    ) -> None:
        self.builds = 0
        self.invalidations = 0
        self._tiers = tiers
        self._reader = reader
        self._clock = clock

    async def find(self, wanted: Wanted, order: Order, flight: Flight) -> Outcome:
        """The value, and as of when it is right; it is kept as long as the flight is current.

        Raises:
            ValueError: the builder gave what cannot be kept.
            Exception: what the builder raised.
        """
        as_of = time.monotonic()
        entry = await self._tiers.on_disk(wanted, is_valid=lambda: flight.is_current)
        if entry:
            return self._outcome(entry, "disk", as_of)
        as_of, reading = await self._settled(wanted)
        entry = await self._tiers.elsewhere(wanted, reading)
        if entry:
            if reading.settles_in_s <= 0:
                await self._tiers.keep_here(entry, is_valid=lambda: flight.is_current)
            return self._outcome(entry, "shared", as_of)
        entry = await self._built(wanted, order, reading)
        checked_at = time.monotonic()
        if reading.settles_in_s <= 0 and await self._is_unchanged(wanted, reading):
            as_of = checked_at
            await self._tiers.keep(entry, is_valid=lambda: flight.is_current)
        return self._outcome(entry, "built", as_of)

    def _outcome(self, entry: CacheEntry, source: Source, as_of: float) -> Outcome:
        self.invalidations += source == "built" and entry.key in self._tiers.outdated
        self._tiers.outdated.discard(entry.key)
        return Outcome(entry=entry, source=source, as_of=as_of if entry.names else math.inf)

    async def _settled(self, wanted: Wanted) -> tuple[float, Reading]:
        """When the files were looked at, and what they were; a tick later, if they were written within the last one."""
        as_of, reading = await self._read(wanted)
        for _ in range(_MOST_WAITS):
            if not 0 < reading.settles_in_s <= _LONGEST_WAIT_S:
                break
            await asyncio.sleep(reading.settles_in_s)
            as_of, reading = await self._read(wanted)
        return as_of, reading

    async def _read(self, wanted: Wanted) -> tuple[float, Reading]:
        return time.monotonic(), await asyncio.to_thread(self._reader.read, wanted.names)

    async def _is_unchanged(self, wanted: Wanted, reading: Reading) -> bool:
        return await asyncio.to_thread(self._reader.mark, wanted.names) == reading.mark

    async def _built(self, wanted: Wanted, order: Order, reading: Reading) -> CacheEntry:
        self.builds += 1
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


async def _called(builder: Callable[[], object]) -> object:
    """What a builder gives; one that is no coroutine function may block, so it has a thread."""
    made = builder() if iscoroutinefunction(builder) else await asyncio.to_thread(builder)
    return await made if isawaitable(made) else made
