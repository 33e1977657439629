"""Originals of what left the window, by handle: in memory, and on disk where there is a file.

Promise: what was put comes back equal while the stash holds it. Memory and file each hold at most their limit; the
oldest entries go first, and how many are in neither any more is reported. What is past its time, or forgotten, is gone.
"""

import logging
import math
import time
from collections.abc import Callable, Iterable, Iterator

from autogen_context.cache.originals.memory import Entry, StashMemory
from autogen_context.cache.originals.tiers import StashTier
from autogen_context.errors import NotStashed
from autogen_context.messages.message import Message

logger = logging.getLogger(__name__)


class Stash:
    """A store of messages with limits.

    Args:
        limit_bytes: what the texts of all entries in memory may have together.
        entries: what is in it from the start, oldest first.
        file: keeps every entry as well, beyond this process: a ``StashFile``, a ``RedisStash``, or ``StashTiers`` of
            both; without it what memory gives up is gone.
        ttl_s: how long an entry is kept after it was put last, in seconds.
        clock: the time in seconds, on one scale for all processes that use the file.

    Attributes:
        evicted: how many originals went for want of room so far, and are neither in memory nor in the file.

    Raises:
        ValueError: ``ttl_s`` is not positive, or ``limit_bytes`` negative.
    """

    def __init__(
        self,
        limit_bytes: int,
        entries: Iterable[Entry] = (),
        *,
        file: StashTier | None = None,
        ttl_s: float = math.inf,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if not ttl_s > 0:
            raise ValueError(f"ttl_s={ttl_s}: give seconds above 0; to keep nothing, give no room")
        self.evicted = 0
        self._memory = StashMemory(limit_bytes)
        self._file = file
        self._ttl_s = ttl_s
        self._clock = clock
        self._known: dict[str, float] = {}  # what was put here and is not lost, with its time
        self.put_all(entries)

    def __contains__(self, handle: str) -> bool:
        """Whether there is an original under a handle, in memory or on disk."""
        return self._found(handle) is not None

    def __iter__(self) -> Iterator[Entry]:
        """The entries in memory, oldest first."""
        self._memory.expire(self._clock())
        return iter(self._memory)

    @property
    def limit_bytes(self) -> int:
        """What the entries in memory may have."""
        return self._memory.limit_bytes

    @property
    def held_bytes(self) -> int:
        """What the entries in memory have."""
        return self._memory.held_bytes

    @property
    def handles(self) -> tuple[str, ...]:
        """What was put here and is held, oldest first.

        What other processes wrote under the same scope is no part of it: that is had by its handle alone. What a damaged
        file lost is found out when it is asked for.
        """
        now = self._clock()
        return tuple(handle for handle, expires_at in self._known.items() if expires_at > now)

    def put(self, handle: str, messages: tuple[Message, ...]) -> None:
        """Keep messages under a handle, as the newest entry, in place of what was there."""
        self.put_all([(handle, messages)])

    def put_text(self, handle: str, text: str) -> None:
        """Keep a text that stands for itself: what a tool returned, before it was reduced."""
        self.put(handle, (Message(role="tool", text=text),))

    def put_all(self, entries: Iterable[Entry]) -> None:
        """Keep many; room is made and reported, and the file opened, once for all of them."""
        new, now = dict(entries), self._clock()
        expires_at = now + self._ttl_s
        self._forget_what_is_over(now)
        for handle in new:
            self._known.pop(handle, None)
            self._known[handle] = expires_at
        gone = self._memory.write(new.items(), expires_at=expires_at)
        if self._file is not None and new:
            gone += self._file.write(new.items(), expires_at=expires_at, now=now)
        self._report(gone, now)

    def get(self, handle: str) -> tuple[Message, ...]:
        """The messages under a handle.

        Raises:
            NotStashed: nothing was put under it, or it was evicted or forgotten, or its time is over.
        """
        found = self._found(handle)
        if found is None:
            raise NotStashed(handle, evicted=self.evicted)
        return found

    def forget(self, handle: str) -> None:
        """Delete what is under a handle, in memory and on disk.

        Raises:
            sqlite3.Error: the file cannot be written now, so that it may still be there.
            OSError: likewise.
            StoreUnavailable: likewise, of a server.
        """
        self._memory.forget(handle)
        self._known.pop(handle, None)
        if self._file is not None:
            self._file.forget(handle)

    def clear(self) -> None:
        """Delete everything; on disk all that the scope of the file has, whoever wrote it.

        Raises:
            sqlite3.Error: the file cannot be written now, so that it may still be there.
            OSError: likewise.
            StoreUnavailable: likewise, of a server.
        """
        self._memory = StashMemory(self.limit_bytes)
        self._known.clear()
        if self._file is not None:
            self._file.clear()

    def _found(self, handle: str) -> tuple[Message, ...] | None:
        now = self._clock()
        found = self._memory.read(handle, now=now)
        return self._file.read(handle, now=now) if found is None and self._file else found

    def _forget_what_is_over(self, now: float) -> None:
        if self._ttl_s < math.inf:
            self._memory.expire(now)
            self._known = {handle: until for handle, until in self._known.items() if until > now}

    def _report(self, gone: Iterable[str], now: float) -> None:
        """Count what one tier gave up and the other has not; one warning for all."""
        left = {handle for handle in gone if handle not in self._memory}
        if left and self._file is not None:
            left -= self._file.held(left, now=now)
        for handle in left:
            self._known.pop(handle, None)
        if left:
            self.evicted += len(left)
            numbers = {"limit_bytes": self.limit_bytes, "left": len(left), "evicted": self.evicted}
            logger.warning("originals left the stash, which is full", extra=numbers)
