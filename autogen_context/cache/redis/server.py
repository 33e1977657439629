"""A Redis server, for everything in a process that is shared through it.

Promise: it is used from any loop, any thread, or none, and needs not be closed: at the end of the process what waits is
written, within the limit.

All connections live in one thread with a loop of its own: tiers, stashes and documents of any number of agents share
them. A turn that is busy does not make the server look slow, and a name that does not resolve, or an answer that comes a
byte at a time, is bounded like any other.
"""

import asyncio
import weakref
from collections.abc import Coroutine
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from typing import Self, TypeVar

from autogen_context.cache.redis.client import RedisLimits, checked_url, shown_url
from autogen_context.cache.redis.line import RedisLine
from autogen_context.cache.redis.loop_thread import LoopThread
from autogen_context.errors import StoreUnavailable

T = TypeVar("T")


class RedisServer:
    """A server, for everything in this process that is shared through it.

    It connects when it is first used, or by ``with``, ``async with`` and ``connect``: who is the first to need an answer
    may get none within his limit otherwise.

    Args:
        url: ``redis://user:password@host:port/database``, ``rediss://`` for TLS, ``unix://`` for a socket.
        limits: what it may cost.

    Raises:
        ValueError: the url is none of these.
        MissingExtra: ``redis`` is not installed.
    """

    def __init__(self, url: str, *, limits: RedisLimits | None = None) -> None:
        self.limits = limits or RedisLimits()
        self.name = shown_url(checked_url(url))
        self.line = RedisLine(url, self.name, self.limits)
        self._thread = LoopThread(f"redis {self.name}")
        self._end = weakref.finalize(self, _hang_up, self._thread, self.line)

    async def awaited(self, work: Coroutine[object, object, T], *, within_s: float) -> T:
        """Have work done in the server's thread, from any loop.

        Args:
            work: what has a limit of its own.
            within_s: that limit; twice as long is waited for a thread that is gone, as after a fork.

        Raises:
            StoreUnavailable: it was not done in time, or the server was closed.
        """
        future = self._submitted(work)
        try:
            async with asyncio.timeout(2 * within_s):
                return await asyncio.wrap_future(future)
        except TimeoutError as error:
            raise self._lost() from error
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            raise self._lost() from None  # the work was cancelled, not who waits for it

    def waited(self, work: Coroutine[object, object, T], *, within_s: float) -> T:
        """The same, from a thread that waits.

        Raises:
            StoreUnavailable: it was not done in time, or the server was closed.
        """
        future = self._submitted(work)
        try:
            return future.result(2 * within_s)
        except (TimeoutError, CancelledError) as error:
            future.cancel()
            raise self._lost() from error

    def start(self, work: Coroutine[object, object, object]) -> None:
        """Have work done in the server's thread, and do not wait; not at all if the server was closed."""
        with suppress(StoreUnavailable):
            self._submitted(work)

    def connect(self) -> None:
        """Wait for the connection, ``patience_s`` at most; that the server is away is no error.

        Raises:
            StoreRefused: it refuses the url.
        """
        with suppress(StoreUnavailable):
            self.waited(self.line.connect(), within_s=self.limits.patience_s)

    def close(self) -> None:
        """Write what waits, for ``patience_s`` at most, and let go of thread and connections."""
        self._end()

    def __enter__(self) -> Self:
        """The server, connected if it is there."""
        self.connect()
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    async def __aenter__(self) -> Self:
        """The same, while the loop goes on."""
        await asyncio.to_thread(self.connect)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close it, while the loop goes on."""
        await asyncio.to_thread(self.close)

    def _submitted(self, work: Coroutine[object, object, T]) -> Future[T]:
        try:
            return self._thread.submit(work)
        except RuntimeError as error:
            raise StoreUnavailable(self.name, reason="it was closed") from error

    def _lost(self) -> StoreUnavailable:
        return StoreUnavailable(self.name, reason="its thread does not answer")


def _hang_up(thread: LoopThread, line: RedisLine) -> None:
    """End a thread with its connections; it knows nothing of the server, which may be collected already."""
    thread.stop(line.flush(), line.aclose(), within_s=2 * line.limits.patience_s)
