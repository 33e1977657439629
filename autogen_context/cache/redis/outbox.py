"""What waits to be written to a server, and to be deleted there.

Promise: of several writes under a key the last one counts; what was deleted stays deleted for whoever looks here first.
The values together are at most the limit, the oldest go first and are named; a deletion is never dropped: where there are
too many, everything is to be deleted. Any thread may use it.
"""

from collections import OrderedDict
from dataclasses import dataclass
from itertools import islice
from threading import Lock
from typing import Literal

_DELETIONS = 2_000
_AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Write:
    """A value that is to be kept; it equals itself alone.

    Attributes:
        ttl_ms: for how long, in milliseconds.
    """

    key: str
    value: bytes
    ttl_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletion:
    """Keys that are to be deleted.

    Attributes:
        keys: which; none means every key.
        until: the number of the last order that this does; who deletes again while it is on its way orders anew.
    """

    keys: tuple[str, ...]
    until: int


class Outbox:
    """Writes and deletions, in the order in which they are due: deletions first.

    Args:
        limit_bytes: what the values may have together.
    """

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._held_bytes = 0
        self._writes: OrderedDict[str, Write] = OrderedDict()
        self._deletions: dict[str, int] = {}  # key -> number of the order
        self._everything = 0  # the number of that order; 0: none
        self._orders = 0
        self._lock = Lock()

    def __len__(self) -> int:
        """How many writes and deletions wait."""
        return len(self._writes) + len(self._deletions) + bool(self._everything)

    def write(self, write: Write) -> list[str]:
        """Add a write as the newest; the keys of those that went for want of room, oldest first."""
        with self._lock:
            self._drop(write.key)
            self._writes[write.key] = write
            self._held_bytes += len(write.value)
            gone: list[str] = []
            while self._held_bytes > self._limit_bytes:
                gone.append(next(iter(self._writes)))
                self._drop(gone[-1])
            return gone

    def delete(self, key: str) -> None:
        """Add a deletion, in place of a write."""
        with self._lock:
            self._drop(key)
            self._orders += 1
            self._deletions[key] = self._orders
            if len(self._deletions) > _DELETIONS:
                self._deletions.clear()
                self._everything = self._orders

    def delete_everything(self) -> None:
        """Add a deletion of all keys, in place of all writes."""
        with self._lock:
            self._writes.clear()
            self._held_bytes = 0
            self._orders += 1
            self._everything = self._orders

    def deletes(self, key: str | None) -> bool:
        """Whether the deletion of a key waits, or that of everything."""
        with self._lock:
            return self._everything > 0 or key in self._deletions

    def look(self, key: str) -> bytes | Literal["deleted"] | None:
        """What waits for a key; ``None`` if nothing does, and the server's word counts."""
        with self._lock:
            if key in self._writes:
                return self._writes[key].value
            return "deleted" if self._everything or key in self._deletions else None

    def due(self) -> Write | Deletion | None:
        """What is to be sent next."""
        with self._lock:
            if self._everything:
                return Deletion(keys=(), until=self._orders)
            if self._deletions:
                return Deletion(keys=tuple(islice(self._deletions, _AT_ONCE)), until=self._orders)
            return next(iter(self._writes.values()), None)

    def sent(self, done: Write | Deletion) -> None:
        """Take out what was sent, unless something newer has taken its place."""
        with self._lock:
            if isinstance(done, Deletion):
                if not done.keys and self._everything <= done.until:
                    self._everything = 0
                for key in done.keys:
                    if self._deletions.get(key, 0) <= done.until:
                        self._deletions.pop(key, None)
            elif self._writes.get(done.key) is done:
                self._drop(done.key)

    def _drop(self, key: str) -> None:
        if key in self._writes:
            self._held_bytes -= len(self._writes.pop(key).value)
