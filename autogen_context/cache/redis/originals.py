"""Originals on a Redis server, by scope and handle: what one worker put away, another has by its handle.

Promise: what is read is what was written under this scope and handle, or nothing: a value is JSON with a checksum over
both. A turn waits for no write, and for a read ``timeout_s`` at most. What is past its time is gone; what finds no room
while the server is away is named.
"""

import struct
from collections.abc import Iterable
from contextlib import suppress
from zlib import crc32

from autogen_context.cache.originals import Entry
from autogen_context.cache.redis.server import RedisServer, answers, server_of
from autogen_context.cache.redis.values import RedisValues
from autogen_context.cache.scope import Scope
from autogen_context.errors import StoreRefused, StoreUnavailable
from autogen_context.messages.message import Message
from autogen_context.messages.saved import messages_as_bytes, messages_from_bytes

_HEAD = struct.Struct(">Id")  # checksum, and when its time is over


class RedisOriginals:
    """The originals of one scope, on a server; a ``OriginalTier``.

    An original is kept for seven days at most, and goes earlier where the server has a limit of memory and evicts.

    Args:
        server: where they are, or its url.
        scope: whose originals these are; no other scope can read them.

    Raises:
        ValueError: ``server`` is neither.
        StoreRefused: the server refuses the url, and says so within ``timeout_s``.
    """

    def __init__(self, server: RedisServer | str, *, scope: Scope) -> None:
        self._server = server_of(server)
        self._scope = scope.key
        self._values = RedisValues(self._server, kind="original", scope=scope)
        with suppress(StoreUnavailable):  # it may come yet
            self._server.ask(answers, within_s=self._server.limits.timeout_s)

    def write(self, entries: Iterable[Entry], *, expires_at: float, now: float) -> list[str]:
        """Have entries written soon.

        Args:
            entries: handles and their messages.
            expires_at: when they are to go, in seconds on the clock of ``now``.
            now: the time.

        Returns:
            The handles that went for want of room, or are too large to be shared.
        """
        gone: list[str] = []
        for handle, messages in entries:
            value = self._sealed(handle, messages_as_bytes(messages), expires_at)
            gone += self._values.write(handle, value, ttl_s=expires_at - now)
        return gone

    def read(self, handle: str, *, now: float) -> tuple[Message, ...] | None:
        """The messages under a handle, if they are there whole, in time, and their own time is not over."""
        with suppress(StoreRefused):
            value = self._values.read(handle)
            return None if value is None else self._opened(handle, value, now)
        return None

    def held(self, handles: Iterable[str], *, now: float) -> set[str]:  # noqa: ARG002 - the server's clock decides
        """Which of these are queued or there; none that the server cannot say in time."""
        return self._values.held(handles)

    def forget(self, handle: str) -> None:
        """Delete what is under a handle.

        Raises:
            StoreUnavailable: the server cannot be had now, so that it may still be there.
            StoreRefused: it refuses the url.
        """
        self._values.delete_now(handle)

    def clear(self) -> None:
        """Delete all that this scope has, whoever wrote it.

        Raises:
            StoreUnavailable: the server cannot be had now, so that it may still be there.
            StoreRefused: it refuses the url.
        """
        self._values.delete_now(None)

    def flush(self) -> None:
        """Wait until what was written is on the server.

        Raises:
            StoreUnavailable: it cannot be had now; what waits is written when it is back.
            StoreRefused: it refuses the url.
        """
        self._values.flush()

    def _sealed(self, handle: str, data: bytes, expires_at: float) -> bytes:
        return _HEAD.pack(self._crc(handle, data, expires_at), expires_at) + data

    def _opened(self, handle: str, value: bytes, now: float) -> tuple[Message, ...] | None:
        """What a value holds, if these are the bytes that were written under this scope and handle."""
        if len(value) < _HEAD.size:
            return None
        crc, expires_at = _HEAD.unpack_from(value)
        data = value[_HEAD.size :]
        if crc != self._crc(handle, data, expires_at) or not expires_at > now:
            return None
        with suppress(ValueError):  # whoever wrote this has reckoned its checksum as well
            return messages_from_bytes(data)
        return None

    def _crc(self, handle: str, data: bytes, expires_at: float) -> int:
        name = handle.encode("utf-8", "surrogatepass")
        return crc32(data, crc32(b"%b %b %r" % (self._scope.encode(), name, expires_at)))
