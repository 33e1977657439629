"""Originals beyond a process, by scope and handle: in a folder for later processes, on a server for other workers.

Promise: what is read is what was written under this scope and handle, or nothing: a value has a checksum over both, and is
JSON. No scope has what another has. What a place gives up is named.
"""

import logging
import math
import os
import struct
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

from typing_extensions import override

from autogen_context.cache.originals import Entry
from autogen_context.cache.store import DiskStore
from autogen_context.cache.tier import Scope, Tier
from autogen_context.errors import StoreRefused, StoreUnavailable
from autogen_context.messages.message import Message
from autogen_context.messages.saved import messages_as_bytes, messages_from_bytes

if TYPE_CHECKING:
    from autogen_context.cache.redis.server import RedisServer

_LOGGER = logging.getLogger(__name__)
_FOLDER = "originals"
_HEAD = struct.Struct(">Id")  # checksum, and when its time is over


class KeptOriginals:
    """The originals of one scope in a tier; an ``OriginalTier``.

    Args:
        tier: where they are kept.
        scope: whose originals these are; no other scope can read them.
    """

    def __init__(self, tier: Tier, *, scope: Scope) -> None:
        self._tier = tier
        self.prefix = f"{scope.key}:"

    def write(self, entries: Iterable[Entry], *, expires_at: float, now: float) -> list[str]:
        """Keep entries; an entry that is there is written anew, and is the newest then.

        Args:
            entries: handles and their messages.
            expires_at: when they are to go, in seconds on the clock of ``now``.
            now: the time.

        Returns:
            The handles of this scope that went for want of room, oldest first; of others their number is logged.
        """
        values: dict[str, bytes] = {}
        for handle, messages in entries:
            name, data = self._name(handle), messages_as_bytes(messages)
            values[name] = _HEAD.pack(_crc(name, data, expires_at), expires_at) + data
        ttl_s = None if expires_at == math.inf else expires_at - now
        gone = self._tier.write(values, ttl_s=ttl_s)
        own = [name for name in gone if name.startswith(self.prefix)]
        if len(own) < len(gone):
            numbers = {"left": len(gone) - len(own)}
            _LOGGER.warning(
                "originals of other agents left the folder, which is full", extra=numbers
            )
        return [self._handle(name) for name in own]

    def read(self, handle: str, *, now: float) -> tuple[Message, ...] | None:
        """The messages under a handle, if they are there whole, in time, and their own time is not over."""
        name = self._name(handle)
        with suppress(
            StoreRefused, ValueError
        ):  # whoever planted it has reckoned its checksum as well
            value = self._tier.read_all([name]).get(name, b"")
            if len(value) < _HEAD.size:
                return None
            (crc, expires_at), data = _HEAD.unpack_from(value), value[_HEAD.size :]
            if crc == _crc(name, data, expires_at) and expires_at > now:
                return messages_from_bytes(data)
        return None

    def held(self, handles: Iterable[str], *, now: float) -> set[str]:  # noqa: ARG002 - the clock of the place decides
        """Which of these have an entry, as far as can be said in time."""
        return {self._handle(name) for name in self._tier.held(map(self._name, handles))}

    def forget(self, handle: str) -> None:
        """Delete what is under a handle; in a file it is overwritten.

        Raises:
            StoreUnavailable: the place cannot be had now, so that it may still be there.
            StoreRefused: a server refuses the url.
        """
        self._tier.forget([self._name(handle)])

    def clear(self) -> None:
        """Delete all that this scope has, whoever wrote it; raises what ``forget`` does."""
        self._tier.clear()

    def _name(self, handle: str) -> str:
        """The handle as it stands in the place; whatever a model asks for can be written so."""
        return self.prefix + handle.encode("utf-8", "surrogatepass").hex()

    def _handle(self, name: str) -> str:
        return bytes.fromhex(name.removeprefix(self.prefix)).decode("utf-8", "surrogatepass")


class DiskOriginals(KeptOriginals):
    """The originals of one scope in a folder.

    Args:
        directory: the folder; it may be that of a cache, too. What is in it is for its owner alone, in the clear.
        scope: whose originals these are.
        limit_bytes: what the originals of all scopes in the folder may have together, as JSON.

    Raises:
        ValueError: ``directory`` is something else than a folder, or the limit is negative.
    """

    def __init__(
        self, directory: str | os.PathLike[str], *, scope: Scope, limit_bytes: int = 1024**3
    ) -> None:
        DiskStore(directory)  # whether it is a folder is told of the name that was given
        self.store = DiskStore(Path(directory) / _FOLDER, limit_bytes=limit_bytes)
        super().__init__(self.store, scope=scope)

    @override
    def clear(self) -> None:
        self.store.clear(self.prefix)


class RedisOriginals(KeptOriginals):
    """The originals of one scope on a server: what one worker put away, another has by its handle.

    A turn waits for no write, and for a read ``timeout_s`` at most. An original is kept for seven days at most, and goes
    earlier where the server has a limit of memory and evicts.

    Args:
        server: where they are, or its url.
        scope: whose originals these are.

    Raises:
        ValueError: ``server`` is neither.
        StoreRefused: the server refuses the url, and says so within ``timeout_s``.
    """

    def __init__(self, server: "RedisServer | str", *, scope: Scope) -> None:
        from autogen_context.cache.redis.server import answers, server_of  # noqa: PLC0415 - optional
        from autogen_context.cache.redis.tier import RedisTier  # noqa: PLC0415 - as above

        line = server_of(server)
        self._shared = RedisTier(line, tenant=scope.tenant, agent=scope.agent, kind="original")
        super().__init__(self._shared, scope=scope)
        with suppress(StoreUnavailable):  # it may come yet
            line.ask(answers, within_s=line.limits.timeout_s)

    def flush(self) -> None:
        """Wait until what was written is on the server.

        Raises:
            StoreUnavailable: it cannot be had now; what waits is written when it is back.
            StoreRefused: it refuses the url.
        """
        self._shared.flush()


def _crc(name: str, data: bytes, expires_at: float) -> int:
    return crc32(data, crc32(b"%b %r" % (name.encode(), expires_at)))
