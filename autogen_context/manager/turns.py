"""Whose turn it is on one conversation: calls are taken one at a time, from any number of tasks, event loops and threads.

Promise: a turn belongs to the thread that does its work, from the first line to the last: nothing is awaited in it, so whoever
waits for it waits for work alone. No event loop waits for a turn in another thread, unless a synchronous call asks it to.
"""

import asyncio
from collections.abc import Callable
from threading import RLock
from typing import TypeVar

from autogen_context.forks import when_forked
from autogen_context.models.completion import Places

ResultT = TypeVar("ResultT")


class Turns:
    """The turns of one conversation; ``lock`` is held by the thread that has its turn."""

    def __init__(self) -> None:
        self._begin_anew()
        when_forked(self._begin_anew)

    def _begin_anew(self) -> None:
        self.lock = RLock()
        # One call of each event loop at a time; the others wait there, in their order.
        self._places = Places(1)

    async def take(
        self, work: Callable[[], ResultT], *, quick: Callable[[], ResultT | None] = lambda: None
    ) -> ResultT:
        """Return what ``work`` returns in a turn of its own, which has a thread of its own.

        ``quick`` is tried first, in this event loop, if no turn is under way; it returns ``None`` if the work is more than a
        loop should wait for. Work in a thread is done to its end, even if the caller is cancelled.
        """
        async with self._places.here():
            if (result := self.if_free(quick)) is not None:
                return result
            return await asyncio.to_thread(self._taken, work)

    def if_free(self, work: Callable[[], ResultT]) -> ResultT | None:
        """Return what ``work`` returns in a turn of its own; ``None`` if one is under way in another thread."""
        lock = self.lock
        if not lock.acquire(blocking=False):
            return None
        try:
            return work()
        finally:
            lock.release()

    def _taken(self, work: Callable[[], ResultT]) -> ResultT:
        with self.lock:
            return work()
