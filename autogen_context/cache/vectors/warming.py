"""Work that is done ahead of need, in the background.

Promise: one task works off one bounded queue; when its owner stops it, nothing is left.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from threading import Lock

from autogen_context.errors import ContextError

_LOGGER = logging.getLogger(__name__)
_WAITING_TEXTS = 4_096
_BATCH_TEXTS = 64  # between batches a turn has its chance


class Warming:
    """A queue of texts, and the task that hands them on.

    Args:
        prepare: what is done with a batch of texts; where it raises ``ContextError``, the queue is emptied.
    """

    def __init__(self, prepare: Callable[[list[str]], Awaitable[object]]) -> None:
        self._prepare = prepare
        self._waiting: dict[str, None] = {}
        self._lock = Lock()
        self._due = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.create_task(self._run(), name="warming")

    def add(self, texts: Iterable[str]) -> None:
        """Queue texts, from any thread; those beyond the room of the queue are left out."""
        with self._lock:
            for text in texts:
                if len(self._waiting) < _WAITING_TEXTS:
                    self._waiting[text] = None
        with suppress(RuntimeError):  # the loop is closed: nothing is prepared any more
            self._loop.call_soon_threadsafe(self._due.set)

    async def stop(self) -> None:
        """End the task, and wait until it has ended."""
        self._task.cancel()
        await asyncio.wait({self._task})

    async def _run(self) -> None:
        while await self._due.wait():
            self._due.clear()
            while batch := self._next():
                await self._try(batch)

    def _next(self) -> list[str]:
        with self._lock:
            batch = list(self._waiting)[:_BATCH_TEXTS]
            for text in batch:
                del self._waiting[text]
            return batch

    async def _try(self, batch: list[str]) -> None:
        try:
            await self._prepare(batch)
        except ContextError as error:
            with self._lock:
                left_out = len(batch) + len(self._waiting)
                self._waiting.clear()
            _LOGGER.warning(
                "warming failed (%s); what waits is left out",
                type(error).__name__,
                extra={"left_out": left_out},
            )
