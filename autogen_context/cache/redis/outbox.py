"""What waits to be written to a server, and to be deleted there.

Promise: of several orders under a key the last one counts; what was deleted stays deleted for whoever looks here first.
The values together are at most the limit, the oldest go first and are named; a deletion is never dropped: where there are
too many, everything is to be deleted. Any thread may use it.
"""

from collections import OrderedDict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import islice
from threading import Lock

_DELETIONS = 2_000
_AT_ONCE = 200


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Order:
    """What is to be done with a key; it equals itself alone.

    Attributes:
        value: what is to be written; ``None`` if the key is to be deleted.
        ttl_ms: for how long, in milliseconds.
    """

    value: bytes | None = None
    ttl_ms: int = 0


class Outbox:
    """Orders by key: deletions, then writes with the oldest first.

    Args:
        limit_bytes: what the values may have together.
    """

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._held_bytes = 0
        self._orders: OrderedDict[str, Order] = OrderedDict()
        self._deletions = 0
        self._everything: Order | None = None
        self._lock = Lock()

    def __len__(self) -> int:
        """How many orders wait."""
        return len(self._orders) + (self._everything is not None)

    def write(self, key: str, value: bytes, *, ttl_ms: int) -> list[str]:
        """Have a value written; the keys of those that went for want of room, oldest first."""
        with self._lock:
            self._put(key, Order(value=value, ttl_ms=ttl_ms))
            gone: list[str] = []
            while self._held_bytes > self._limit_bytes:
                gone.append(next(key for key, order in self._orders.items() if order.value))
                self._drop(gone[-1])
            return gone

    def delete(self, key: str) -> None:
        """Have a key deleted, in place of a write."""
        with self._lock:
            self._put(key, Order())
            self._orders.move_to_end(key, last=False)
            if self._deletions > _DELETIONS:
                self._everything = Order()
                for each in [key for key, order in self._orders.items() if order.value is None]:
                    self._drop(each)

    def delete_everything(self) -> None:
        """Have all keys deleted, in place of all orders."""
        with self._lock:
            self._orders.clear()
            self._held_bytes = self._deletions = 0
            self._everything = Order()

    def look(self, key: str) -> Order | None:
        """What waits for a key; ``None`` if nothing does, and the server's word counts."""
        with self._lock:
            return self._orders.get(key) or self._everything

    def due(self) -> Mapping[str | None, Order]:
        """What is to be sent next, by key; ``None`` in place of a key stands for every key, and comes first."""
        with self._lock:
            if self._everything is not None:
                return {None: self._everything}
            return dict(islice(self._orders.items(), _AT_ONCE))

    def sent(self, done: Collection[tuple[str | None, Order]]) -> None:
        """Take out what was sent, unless something newer has taken its place."""
        with self._lock:
            for key, order in done:
                if key is None and self._everything is order:
                    self._everything = None
                elif key is not None and self._orders.get(key) is order:
                    self._drop(key)

    def _put(self, key: str, order: Order) -> None:
        self._drop(key)
        self._orders[key] = order
        self._held_bytes += len(order.value or b"")
        self._deletions += order.value is None

    def _drop(self, key: str) -> None:
        order = self._orders.pop(key, None)
        if order is not None:
            self._held_bytes -= len(order.value or b"")
            self._deletions -= order.value is None
