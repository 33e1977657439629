"""Where several machines keep one cache: what a cache asks of it.

Promise: no method raises for want of a server; what cannot be had is a miss, what cannot be written is not written.
"""

from collections.abc import Callable
from typing import Protocol


class SharedTier(Protocol):
    """Values by key, behind memory and disk."""

    async def read(self, key: str) -> bytes | None:
        """The value under a key; ``None`` if there is none, or nobody answers in time."""
        ...

    async def write(self, key: str, value: bytes, *, ttl_s: float | None) -> None:
        """Keep a value under a key, for so many seconds; without ``ttl_s`` as long as there is room."""
        ...

    async def forget(self, key: str) -> None:
        """Delete what is under a key, and tell the others that it is invalid."""
        ...

    def listen(self, heard: Callable[[str], None]) -> Callable[[], None]:
        """Have keys that were invalidated elsewhere told to ``heard``; what is returned ends that.

        The empty key stands for all keys: any of them may have been invalidated while nobody could be told. It is told
        each time the connection is made, the first time included. ``heard`` is called in the loop that runs now, or in
        any thread where none runs.
        """
        ...

    async def aclose(self) -> None:
        """Let go of connections and tasks."""
        ...


def tier_of(redis: SharedTier | str | None) -> SharedTier | None:
    """The tier that was given, or one on the server at a url.

    Raises:
        ValueError: it is neither a tier nor a url of a Redis server.
        MissingExtra: ``redis`` is not installed.
    """
    if isinstance(redis, str):
        # Here, since only those who share a cache pay for it.
        from autogen_context.cache.redis.server import RedisServer  # noqa: PLC0415
        from autogen_context.cache.redis.tier import RedisTier  # noqa: PLC0415

        return RedisTier(RedisServer(redis))
    if redis is not None and not hasattr(redis, "listen"):
        raise ValueError(f"redis={redis!r:.80}: give the url of a server, or a RedisTier")
    return redis
