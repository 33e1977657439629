"""Values of a cache that several processes and machines share, on a Redis server.

Promise: what ``SharedTier`` promises, within the limits of the server: a read waits for ``timeout_s`` at most, a write not
at all. What one deletes, all others hear of; what one tenant has, no other reads, whatever the keys are.
"""

import logging
import math
from asyncio import CancelledError, Task, create_task
from collections.abc import Callable
from contextlib import suppress

from autogen_context.cache.redis.hearing import Hearing, in_its_loop
from autogen_context.cache.redis.server import RedisServer
from autogen_context.cache.redis.values import EVERYTHING, RedisValues
from autogen_context.cache.scope import Scope
from autogen_context.errors import StoreRefused, StoreUnavailable

_LOGGER = logging.getLogger(__name__)


class RedisTier:
    """The cache of a tenant, on a server; a ``SharedTier``.

    A value is kept for seven days at most. What is checked of it is its caller's: whoever may write to the server may
    write anything.

    Args:
        server: where it is.
        tenant: whose cache this is; all agents of a tenant share it.
    """

    def __init__(self, server: RedisServer | str, *, tenant: str = "") -> None:
        server = RedisServer(server) if isinstance(server, str) else server
        scope = Scope(tenant=tenant)
        self._server = server
        self._values = RedisValues(server.line, kind="cache", scope=scope, announce=self._announced)
        self._hearing = Hearing(server.line, self._values.namespace)
        self._task: Task[None] | None = None

    async def read(self, key: str) -> bytes | None:
        """The value under a key; ``None`` if there is none, or nobody answers in time.

        Raises:
            StoreRefused: the server refuses the url, and has never answered.
        """
        limit_s = self._server.limits.timeout_s
        with suppress(StoreUnavailable):
            return await self._server.awaited(self._values.read(key), within_s=limit_s)
        return None

    async def write(self, key: str, value: bytes, *, ttl_s: float | None) -> None:
        """Have a value written soon; what finds no room because the server is away goes, with a warning."""
        gone = self._values.write(key, value, ttl_s=math.inf if ttl_s is None else ttl_s)
        if gone:
            _LOGGER.warning("values are not shared", extra={"left": len(gone)})
        self._server.start(self._values.send())

    async def forget(self, key: str) -> None:
        """Delete what is under a key, and tell the others; where the server is away, as soon as it is back."""
        limit_s = self._server.limits.timeout_s
        with suppress(StoreUnavailable):
            await self._server.awaited(self._values.delete(key), within_s=limit_s)

    def listen(self, heard: Callable[[str], None]) -> Callable[[], None]:
        """Have keys that others deleted told to ``heard``, in the loop that runs now; what is returned ends that.

        The empty key stands for all: it is told each time the line to the server was made, and the first time, if that
        takes no longer than ``timeout_s``, before this returns, so that nothing is under way yet.
        """
        listener = in_its_loop(heard)
        limit_s = self._server.limits.timeout_s
        with suppress(StoreUnavailable):
            if self._server.waited(self._begin(listener), within_s=limit_s):
                heard(EVERYTHING)
        return lambda: self._server.start(self._end(listener))

    async def aclose(self) -> None:
        """Write what waits if the server is there, and hear no more; the server stays open."""
        patience_s = self._server.limits.patience_s
        with suppress(StoreUnavailable, StoreRefused):
            await self._server.awaited(self._close(), within_s=patience_s)

    def _announced(self, keys: tuple[str, ...]) -> bytes:
        return self._hearing.announced(keys)

    async def _begin(self, listener: Callable[[str], None]) -> bool:
        """Whether news are heard now; a listener that comes earlier is told when they are."""
        if self._task is None:
            self._task = create_task(self._hearing.run(), name="redis news")
        is_up = await self._hearing.is_up(within_s=self._server.limits.timeout_s)
        self._hearing.listeners.append(listener)
        return is_up

    async def _end(self, listener: Callable[[str], None]) -> None:
        if listener in self._hearing.listeners:
            self._hearing.listeners.remove(listener)

    async def _close(self) -> None:
        self._hearing.listeners.clear()
        if self._task is not None:
            self._task.cancel()
            with suppress(CancelledError):
                await self._task
            self._task = None
        await self._values.flush()
