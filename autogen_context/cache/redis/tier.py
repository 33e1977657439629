"""Values of a cache that several processes and machines share, on a Redis server.

Promise: what ``SharedTier`` promises, within the limits of the server: a read waits for ``timeout_s`` at most, a write not
at all. What one deletes, all others hear of; what one tenant has, no other reads, whatever the keys are.
"""

import asyncio
import logging
import math
from collections.abc import Callable
from contextlib import suppress

from autogen_context.cache.redis.news import News
from autogen_context.cache.redis.server import RedisServer, server_of
from autogen_context.cache.redis.values import RedisValues
from autogen_context.cache.scope import Scope
from autogen_context.errors import StoreRefused, StoreUnavailable

_LOGGER = logging.getLogger(__name__)


class RedisTier:
    """The cache of a tenant, on a server; a ``SharedTier``.

    A value is kept for seven days at most. What is checked of it is its caller's: whoever may write to the server may
    write anything.

    Args:
        server: where it is, or its url.
        tenant: whose cache this is; all agents of a tenant share it.

    Raises:
        ValueError: ``server`` is neither.
    """

    def __init__(self, server: RedisServer | str, *, tenant: str = "") -> None:
        self._server = server_of(server)
        self._values = RedisValues(
            self._server, kind="cache", scope=Scope(tenant=tenant), announce=self._announced
        )
        self._news = News(self._server, self._values.namespace)

    async def read(self, key: str) -> bytes | None:
        """The value under a key; ``None`` if there is none, or nobody answers in time.

        Raises:
            StoreRefused: the server refuses the url, and has never answered.
        """
        return await self._values.read_async(key)

    async def write(self, key: str, value: bytes, *, ttl_s: float | None) -> None:
        """Have a value written soon; what finds no room because the server is away goes, with a warning."""
        gone = self._values.write(key, value, ttl_s=math.inf if ttl_s is None else ttl_s)
        if gone:
            _LOGGER.warning("values are not shared", extra={"left": len(gone)})

    async def forget(self, key: str) -> None:
        """Delete what is under a key, and tell the others; where the server is away, as soon as it is back."""
        await self._values.delete(key)

    def listen(self, heard: Callable[[str], None]) -> Callable[[], None]:
        """Have keys that others deleted told to ``heard``, in the loop that runs now; what is returned ends that.

        The empty key stands for all: it is told each time the line to the server was made, and the first time, if that
        takes no longer than ``timeout_s``, before this returns, so that nothing is under way yet.
        """
        return self._news.listen(heard)

    async def aclose(self) -> None:
        """Write what waits if the server is there, and hear no more; the server stays open."""
        self._news.end()
        with suppress(StoreUnavailable, StoreRefused):
            await asyncio.to_thread(self._values.flush)

    def _announced(self, keys: tuple[str, ...]) -> bytes:
        return self._news.announced(keys)
