"""Originals in a folder, by scope and handle, for what memory gives up and for later processes.

Promise: what is read is what was written under this scope and handle, or nothing; no scope has what another has. What the
folder gives up is named.
"""

import logging
import math
import os
import struct
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from autogen_context.cache.originals import Entry
from autogen_context.cache.scope import Scope
from autogen_context.cache.store import DiskStore
from autogen_context.messages.message import Message
from autogen_context.messages.saved import messages_as_bytes, messages_from_bytes

_LOGGER = logging.getLogger(__name__)
_FOLDER = "originals"
_EXPIRES = struct.Struct(">d")


class DiskOriginals:
    """The originals of one scope in a folder; an ``OriginalTier``.

    Args:
        directory: the folder; it may be that of a cache, too. What is in it is for its owner alone, in the clear.
        scope: whose originals these are; no other scope can read them.
        limit_bytes: what the originals of all scopes in the folder may have together, as JSON.

    Raises:
        ValueError: ``directory`` is something else than a folder, or the limit is negative.
    """

    def __init__(
        self, directory: str | os.PathLike[str], *, scope: Scope, limit_bytes: int = 1024**3
    ) -> None:
        DiskStore(directory)  # whether it is a folder is told of the name that was given
        self.store = DiskStore(Path(directory) / _FOLDER, limit_bytes=limit_bytes)
        self._scope = scope.key

    def write(self, entries: Iterable[Entry], *, expires_at: float, now: float) -> list[str]:
        """Keep entries; an entry that is there is written anew, and is the newest then.

        Args:
            entries: handles and their messages.
            expires_at: when they are to go, in seconds on the clock of ``now``.
            now: the time.

        Returns:
            The handles of this scope that went for want of room, oldest first; of others their number is logged.
        """
        head = _EXPIRES.pack(expires_at)
        values = {
            self._name(handle): head + messages_as_bytes(messages) for handle, messages in entries
        }
        ttl_s = None if expires_at == math.inf else expires_at - now
        gone = self.store.write(values, ttl_s=ttl_s)
        own = [name for name in gone if name.startswith(self._scope)]
        if len(own) < len(gone):
            numbers = {"limit_bytes": self.store.limit_bytes, "left": len(gone) - len(own)}
            _LOGGER.warning(
                "originals of other agents left the folder, which is full", extra=numbers
            )
        return [_handle(name) for name in own]

    def read(self, handle: str, *, now: float) -> tuple[Message, ...] | None:
        """The messages under a handle, if they are there whole and their time is not over."""
        value = self.store.read(self._name(handle))
        if value is None or len(value) < _EXPIRES.size or not _EXPIRES.unpack_from(value)[0] > now:
            return None
        with suppress(ValueError):  # whoever planted this has reckoned its checksum as well
            return messages_from_bytes(value[_EXPIRES.size :])
        return None

    def held(self, handles: Iterable[str], *, now: float) -> set[str]:  # noqa: ARG002 - the clock of the system decides
        """Which of these have an entry."""
        names = {self._name(handle): handle for handle in handles}
        return {names[name] for name in self.store.held(names)}

    def forget(self, handle: str) -> None:
        """Overwrite what is under a handle.

        Raises:
            StoreUnavailable: the file cannot be written now, so that it may still be there.
        """
        self.store.forget([self._name(handle)])

    def clear(self) -> None:
        """Overwrite all that this scope has.

        Raises:
            StoreUnavailable: the file cannot be written now, so that it may still be there.
        """
        self.store.clear(f"{self._scope}:")

    def _name(self, handle: str) -> str:
        """The handle as it stands in the file; whatever a model asks for can be written so."""
        return f"{self._scope}:{handle.encode('utf-8', 'surrogatepass').hex()}"


def _handle(name: str) -> str:
    return bytes.fromhex(name.partition(":")[2]).decode("utf-8", "surrogatepass")
