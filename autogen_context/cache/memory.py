"""Values in memory, within limits.

Promise: never more values, nor more bytes, than the limits say; what was put or used the longest ago goes first, however
often it was used before. What is larger than all room is not kept, and pushes nothing out. Any thread may call it.
"""

import math
from collections import OrderedDict
from collections.abc import Callable, Iterable
from threading import Lock
from typing import Generic, TypeVar

ValueT = TypeVar("ValueT")


class Memory(Generic[ValueT]):
    """Values by key, the least recently used first.

    Args:
        entries: how many there may be.
        limit_bytes: what they may take together.

    Attributes:
        held_bytes: what they take.

    Raises:
        ValueError: a limit is negative.
    """

    def __init__(self, *, entries: float = math.inf, limit_bytes: float = math.inf) -> None:
        for name, value in (("entries", entries), ("limit_bytes", limit_bytes)):
            if value < 0:
                raise ValueError(f"{name}={value}: give a number, 0 or more")
        self.limit_bytes = limit_bytes
        self.held_bytes = 0
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
            if size_bytes > self.limit_bytes or not self._most_entries:
                return [key]
            self._held[key] = value, size_bytes
            self.held_bytes += size_bytes
            gone: list[str] = []
            while len(self._held) > self._most_entries or self.held_bytes > self.limit_bytes:
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
