"""Where a cache keeps bytes by name: in memory, and, by one contract, in a folder, on a server, or in anybody's own."""

import math
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Final, Generic, Protocol, TypeVar, runtime_checkable
from zlib import crc32

from autogen_context.messages.message import content_digest

ValueT = TypeVar("ValueT")

EVERYTHING: Final = ""  # told in place of a name: any of them may be invalid

_CRC_BYTES: Final = 4


class Tier(Protocol):
    """Bytes by name; a ``DiskStore`` and a ``RedisTier`` are one. Called in threads that may wait a little."""

    def read_all(self, names: Iterable[str], /) -> Mapping[str, bytes]:
        """The values under names, as far as they can be had now; never fails for want of its place."""
        ...

    def write(self, values: Mapping[str, bytes], /, *, ttl_s: float | None = None) -> list[str]:
        """Keep values, for so many seconds or as long as there is room; the names that went. Never fails either."""
        ...

    def forget(self, names: Iterable[str], /) -> None:
        """Delete what is under names; not read any more, it raises ``StoreUnavailable`` where it may still be there."""
        ...

    def clear(self) -> None:
        """Delete everything; raises ``StoreUnavailable`` likewise."""
        ...

    def close(self) -> None:
        """Write what waits, and let go of what is open."""
        ...


@runtime_checkable
class TellsNames(Protocol):
    """A tier that can tell what there is in it."""

    def names(self) -> list[str]:
        """The names under which there is something, oldest first, as far as they can be had now."""
        ...


class SharedTier(Tier, Protocol):
    """Where several machines keep one cache."""

    def listen(self, heard: Callable[[str], None], /) -> Callable[[], None]:
        """Have names that were deleted elsewhere told to ``heard``; what is returned ends that.

        ``EVERYTHING`` stands for all names: any of them may have been deleted while nobody could be told. It is told
        each time the connection is made, the first time included. ``heard`` may be called in any thread.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Whose something is, in a store that several share; equal keys mean the same tenant and agent.

    Attributes:
        tenant: the customer, the user, the project: whoever must not see what others have.
        agent: the agent's name.
    """

    tenant: str = ""
    agent: str = ""

    @property
    def key(self) -> str:
        """Stands for the scope where it is written down; tells nobody the names."""
        return content_digest(self.tenant, self.agent).hex()


def sealed(name: str, data: bytes) -> bytes:
    """Data with a checksum over it and the name that it is kept under."""
    return crc32(data, crc32(name.encode())).to_bytes(_CRC_BYTES, "big") + data


def unsealed(name: str, value: bytes) -> bytes | None:
    """The data, if these are the bytes that were sealed under this name."""
    data = value[_CRC_BYTES:]
    return data if sealed(name, data) == value else None


class Memory(Generic[ValueT]):
    """Values by key within limits; what was put or used the longest ago goes first. Any thread may call it.

    What is larger than all room is not kept, and pushes nothing out.
    """

    def __init__(self, *, entries: float = math.inf, limit_bytes: float = math.inf) -> None:
        for name, value in (("entries", entries), ("limit_bytes", limit_bytes)):
            if value < 0:
                raise ValueError(f"{name}={value}: give a number, 0 or more")
        self.held_bytes = 0
        self._limit_bytes = limit_bytes
        self._most_entries = entries
        self._held: OrderedDict[str, tuple[ValueT, int]] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        """How many values there are."""
        return len(self._held)

    def __contains__(self, key: str) -> bool:
        """Whether there is a value; this is no use of it."""
        return key in self._held

    def use(self, key: str) -> ValueT | None:
        """The value under a key, which is the most recently used one then."""
        with self._lock:
            if key in self._held:
                self._held.move_to_end(key)
            return self._held.get(key, (None, 0))[0]

    def look(self, key: str) -> ValueT | None:
        """The value under a key; this is no use of it."""
        return self._held.get(key, (None, 0))[0]

    def items(self) -> list[tuple[str, ValueT]]:
        """All values, those that go first in front."""
        with self._lock:
            return [(key, value) for key, (value, _) in self._held.items()]

    def put(self, key: str, value: ValueT, *, size_bytes: int = 0) -> list[str]:
        """Keep a value in place of the one under its key; the keys that went for want of room, in that order."""
        with self._lock:
            self._remove(key)
            if size_bytes > self._limit_bytes or not self._most_entries:
                return [key]
            self._held[key] = value, size_bytes
            self.held_bytes += size_bytes
            gone: list[str] = []
            while len(self._held) > self._most_entries or self.held_bytes > self._limit_bytes:
                gone.append(next(iter(self._held)))
                self._remove(gone[-1])
            return gone

    def replace(self, key: str, old: ValueT, new: ValueT) -> None:
        """Keep a value of the same size in place of one, if that is still there."""
        with self._lock:
            if key in self._held and self._held[key][0] is old:
                self._held[key] = new, self._held[key][1]

    def forget(self, keys: Iterable[str]) -> None:
        """Drop what is under these keys."""
        with self._lock:
            for key in keys:
                self._remove(key)

    def forget_where(self, concerns: Callable[[ValueT], bool]) -> list[str]:
        """Drop the values that something concerns; their keys."""
        with self._lock:
            keys = [key for key, (value, _) in self._held.items() if concerns(value)]
            for key in keys:
                self._remove(key)
            return keys

    def _remove(self, key: str) -> None:
        _, size_bytes = self._held.pop(key, (None, 0))
        self.held_bytes -= size_bytes
