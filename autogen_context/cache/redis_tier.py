"""A tier on a Redis server, shared by several machines: values by name, and notifications of deletions.

Promise: the contract of ``SharedTier``, within the limits of the server. A read returns what somebody with the key wrote under
this name of this namespace, or nothing, whatever stands on the server. Namespaces are isolated. A name deleted while the server is away is no longer read here,
and is deleted when the server is back; all other machines are notified.
"""

import json
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from hmac import compare_digest
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Literal, NamedTuple, cast
from uuid import uuid4

from autogen_context.cache.redis_server import RedisServer, fault_of, server_of
from autogen_context.cache.seal import DIGEST_BYTES, SEAL_BYTES, Seal, store_key
from autogen_context.cache.tier import EVERYTHING, Scope
from autogen_context.errors import StoreRefused, StoreUnavailable
from autogen_context.forks import when_forked
from autogen_context.messages.message import content_digest

if TYPE_CHECKING:
    from redis import Redis
    from redis.client import PubSub

LONGEST_TTL_S = 7 * 24 * 3600.0
LONGEST_MEMORY_S = 10 * 366 * 24 * 3600.0

_LOGGER = logging.getLogger(__name__)
_AT_ONCE = 200  # orders per batch
_SCANNED = 1_000  # keys per SCAN step
_MOST_NAMES = 20_000  # listed; the newest
_MOST_NAME_CHARS = 4_000
_LONGEST_NOTICE = 1_000_000  # in bytes


class _Order(NamedTuple):
    """A pending operation on a key: write a value, or delete the key if there is none or the value's time is over."""

    value: bytes | None = None
    until_ms: int = 0  # since 1970

    def value_at(self, now_ms: int) -> bytes | None:
        return self.value if now_ms < self.until_ms else None


class _Orders:
    """Pending orders by name, oldest first, with the total size of their values. Changed under the lock of its tier."""

    def __init__(self) -> None:
        self.by_name: dict[str, _Order] = {}
        self.value_bytes = 0
        self._sizes = OrderedDict[str, int]()  # by name; a dict would be searched for its first one

    def put(self, name: str, order: _Order) -> None:
        """Add an order as the newest, in place of the one under its name."""
        self.drop(name)
        self.by_name[name] = order
        if order.value is not None:
            self._sizes[name] = len(order.value)
            self.value_bytes += self._sizes[name]

    def drop(self, name: str) -> None:
        """Drop the order under a name, if there is one."""
        self.by_name.pop(name, None)
        self.value_bytes -= self._sizes.pop(name, 0)

    def drop_oldest_value(self) -> str:
        """Drop the oldest order with a value. Returns its name."""
        name = next(iter(self._sizes))
        self.drop(name)
        return name


class RedisTier:
    """A ``SharedTier`` in one namespace of a server. A value expires after seven days at most, one of a person's memory after ten years.

    Args:
        server: the server, or its url.
        tenant: the owner of the values, which all agents of the tenant share.
        agent: restricts the values to one agent of the tenant.
        conversation: restricts them to one conversation of the agent.
        kind: what the values are; those of one kind are apart from those of another. The names of originals and of a person's
            memory are also stored on the server, unencrypted, so that ``names`` can list them.
        key: seals the values; default: that of the server.

    Attributes:
        is_authenticated: whether there is a key. Without one anybody who can write to the server can write what is read here:
            originals, and what is remembered by content, are not read then, and values built from files only if they name
            files that are here with the same content.

    Raises:
        ValueError: the key is too short to be a secret.
    """

    def __init__(
        self,
        server: RedisServer | str,
        *,
        tenant: str = "",
        agent: str = "",
        conversation: str = "",
        kind: Literal["cache", "original", "memory"] = "cache",
        key: str | bytes | None = None,
    ) -> None:
        self._server = server_of(server)
        self._given = tenant, kind, key
        scope = Scope(tenant=tenant, agent=agent, conversation=conversation)
        # The prefix of all keys, which reveals no tenant or agent; also the channel for deletions.
        self.namespace = f"autogen-context:2:{kind}:{scope.key}"
        self._seal = Seal(self._server.key if key is None else store_key(key), place=self.namespace)
        self.is_authenticated = self._seal.is_keyed
        if not self.is_authenticated:
            self._server.warn_of_no_key()
        # The names, in a sorted set by expiry.
        self._list = "" if kind == "cache" else f"{self.namespace}:names"
        self._longest_s = LONGEST_MEMORY_S if kind == "memory" else LONGEST_TTL_S
        self._begin_anew()
        when_forked(self._begin_anew)
        self._own = uuid4().hex  # sender id, to skip own notices
        self._endings: list[Event] = []  # of the threads that listen

    def _begin_anew(self) -> None:
        self._lock, self._sending = Lock(), Lock()
        # Pending, oldest first. Those of before a fork are the parent's: sent again, they would replace newer values.
        self._orders = _Orders()

    @property
    def waiting(self) -> int:
        """The number of pending writes and deletions."""
        return len(self._orders.by_name)

    def read_all(self, names: Iterable[str]) -> dict[str, bytes]:
        """Return the values that exist under names, if the server answers in time; pending writes are included.

        Raises:
            StoreRefused: the server rejects the credentials and has never answered.
        """
        now_ms = _now_ms()
        waiting = {name: self._orders.by_name.get(name) for name in names}
        asked = [name for name, order in waiting.items() if order is None]
        longest = self._server.limits.value_bytes + SEAL_BYTES  # caps foreign values

        def get(redis: "Redis") -> list[object]:
            with redis.pipeline(transaction=False) as pipeline:  # pyright: ignore[reportUnknownMemberType] - its options have no types
                for name in asked:
                    pipeline.getrange(self._key(name), 0, longest)
                rows = pipeline.execute(raise_on_error=False)
            if rows and all(isinstance(row, Exception) for row in rows):
                raise cast("Exception", rows[0])  # it is no matter of a row
            return rows

        values = {n: order.value_at(now_ms) for n, order in waiting.items() if order is not None}
        if asked:
            with suppress(StoreUnavailable):
                rows = zip(asked, self._server.ask(get), strict=False)
                values |= {name: self._opened(name, row) for name, row in rows}
        return {name: value for name, value in values.items() if value is not None}

    def _opened(self, name: str, row: object) -> bytes | None:
        """Return a value; ``None`` if nothing, something damaged, or no text at all stands under its key."""
        return self._seal.opened(self._key(name), row) if isinstance(row, bytes) else None

    def names(self) -> list[str]:
        """Return the names that were written with the key and have not expired, pending writes included: the newest 20,000.

        Raises:
            StoreUnavailable: the server is away, or these values are not listed on it: only the names of originals and memories are.
            StoreRefused: the server rejects the credentials and has never answered.
        """
        if not self._list:
            reason = "names of cached values are not kept, so they cannot be listed; clear() deletes the whole namespace"
            raise StoreUnavailable(self._server.name, reason=reason)

        now_ms = _now_ms()

        def listed(redis: "Redis") -> object:
            return redis.zrevrangebyscore(self._list, "+inf", now_ms, start=0, num=_MOST_NAMES)  # pyright: ignore[reportUnknownMemberType] - as above

        with self._lock:
            orders = dict(self._orders.by_name)
        found = self._server.ask(listed)
        members = cast("list[object]", found if isinstance(found, list) else [])
        there = (name for each in reversed(members) if (name := self._name_in(each)))
        waiting = [n for n, order in orders.items() if order.value_at(now_ms) is not None]
        return [*(name for name in there if name not in orders), *waiting]

    def _member(self, name: str) -> bytes:
        """Return what stands in the list for a name: the name, and a digest that nobody else can make."""
        data = name.encode("utf-8", "surrogatepass")
        return self._seal.digest("name", data).hex().encode() + data

    def _name_in(self, member: object) -> str:
        """Return the name that a member of the list stands for; empty if it was not written with the key."""
        if not isinstance(member, bytes) or len(member) > _MOST_NAME_CHARS:
            return ""
        with suppress(ValueError):
            name = member[2 * DIGEST_BYTES :].decode("utf-8", "surrogatepass")
            return name if compare_digest(member, self._member(name)) else ""
        return ""

    def write(self, values: Mapping[str, bytes], *, ttl_s: float | None = None) -> list[str]:
        """Queue values for writing. Returns the names of values that are too large or were dropped from the full queue."""
        gone: list[str] = []
        longest_s = self._longest_s if ttl_s is None else min(ttl_s, self._longest_s)
        until_ms = _now_ms() + max(1, int(longest_s * 1_000))
        limits = self._server.limits
        with self._lock:
            for name, value in values.items():
                order = _Order(value, until_ms)
                if len(value) > limits.value_bytes:
                    numbers = {"bytes": len(value), "limit_bytes": limits.value_bytes}
                    _LOGGER.warning("a value is too large to be shared", extra=numbers)
                    gone.append(name)
                    order = _Order()  # the value on the server is stale
                self._orders.put(name, order)
            while self._orders.value_bytes > limits.waiting_bytes:
                gone.append(self._orders.drop_oldest_value())
        self._server.soon(self)
        return gone

    def forget(self, names: Iterable[str]) -> None:
        """Delete names and notify the other machines; from now on they are no longer read here.

        Raises:
            StoreUnavailable: the data may still be on the server; it is deleted when the server is back.
            StoreRefused: the server rejects the credentials.
        """
        deletion, names = _Order(), list(names)
        with self._lock:
            for name in names:
                self._orders.put(name, deletion)
        self._server.wait(self)
        if any(self._orders.by_name.get(name) is deletion for name in names):
            reason = "it declined a deletion"
            raise StoreUnavailable(self._server.name, reason=reason)

    def clear(self) -> None:
        """Delete the whole namespace, whoever wrote it. Raises what ``forget`` does; then everything may still be there."""

        def delete(redis: "Redis") -> None:
            # A namespace contains no wildcard characters.
            found = redis.scan_iter(f"{self.namespace}:*", count=_SCANNED)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - it has no types
            keys = list(cast("Iterable[bytes]", found))
            for start in range(0, len(keys), _SCANNED):
                redis.unlink(*keys[start : start + _SCANNED])
            self._tell(redis, [EVERYTHING])

        with self._lock:
            self._orders = _Orders()
        with self._sending:
            self._server.tell(delete)

    def flush(self) -> None:
        """Wait until pending writes are on the server. Raises what ``forget`` does."""
        if self.waiting:
            self._server.wait(self)
            if self.waiting:
                raise StoreUnavailable(self._server.name, reason="no answer in time")

    def listen(self, heard: Callable[[str], None]) -> Callable[[], None]:
        """Call ``heard``, in a thread, with names that others deleted. Returns a function that unsubscribes.

        ``EVERYTHING`` is sent before this returns if the subscription is up within ``timeout_s``.
        """
        up, ended = Event(), Event()
        self._endings.append(ended)
        Thread(target=self._hear, args=(heard, up, ended), daemon=True).start()
        if not self._server.away:
            up.wait(self._server.limits.timeout_s)
        return ended.set

    def close(self) -> None:
        """Send pending writes if the server is available, and stop listening; the server stays open."""
        for ended in self._endings:
            ended.set()
        try:
            self.flush()
        except (StoreUnavailable, StoreRefused) as error:
            _LOGGER.debug("not all is written yet: %s", error)

    def send(self) -> None:
        """Send pending operations; called in the server's thread. Declined deletions stay pending. Raises as ``ask``."""
        with self._lock:
            orders = list(self._orders.by_name.items())
        for start in range(0, len(orders), _AT_ONCE):
            with self._sending:
                batch = orders[start : start + _AT_ONCE]
                waiting = self._orders.by_name
                due = {name: order for name, order in batch if waiting.get(name) is order}
                done = self._server.tell(partial(self._sent, due=due)) if due else []
            with self._lock:  # unless a newer order has replaced it
                for name in done:
                    if self._orders.by_name.get(name) is due[name]:
                        self._orders.drop(name)

    def _sent(self, redis: "Redis", due: Mapping[str, _Order]) -> list[str]:
        """Send orders and notify others of deletions. Returns the names that are done: all but declined deletions."""
        now_ms = _now_ms()
        values = {name: order.value_at(now_ms) for name, order in due.items()}
        with redis.pipeline(transaction=False) as pipeline:  # pyright: ignore[reportUnknownMemberType] - its options have no types
            for name, order in due.items():
                key = self._key(name)
                if (value := values[name]) is None:
                    pipeline.unlink(key)
                else:
                    ttl_ms = order.until_ms - now_ms
                    sealed = self._seal.closed(key, value, ttl_s=ttl_ms / 1_000)
                    pipeline.set(key, sealed, px=ttl_ms)
            until: dict[bytes, int] = {}
            if self._list:
                kept = [name for name, value in values.items() if value is not None]
                until |= {self._member(name): due[name].until_ms for name in kept}
                pipeline.zrem(self._list, *map(self._member, due))
                if until:
                    pipeline.zadd(self._list, until)
                pipeline.zremrangebyscore(self._list, 0, now_ms)
                pipeline.pexpire(self._list, int(self._longest_s * 1_000))
            answers = pipeline.execute(raise_on_error=False)
        said = dict(zip(due, answers, strict=False))
        if self._list and any(str(each).startswith("WRONGTYPE") for each in answers[len(due) :]):
            redis.unlink(self._list)  # it is no list of names
            if until:
                redis.zadd(self._list, until)  # pyright: ignore[reportUnknownMemberType] - as above
        if deleted := [name for name, value in values.items() if value is None]:
            self._tell(redis, deleted)
        failed = {name: error for name, error in said.items() if isinstance(error, Exception)}
        for error in failed.values():
            _LOGGER.warning(
                "a value was not written to the shared store: %s", fault_of(error).reason
            )
        return [name for name in due if name not in failed or values[name] is not None]

    def _tell(self, redis: "Redis", names: list[str]) -> None:
        """Notify the others that these names are deleted."""
        text = json.dumps([self._own, *names], ensure_ascii=False)
        redis.publish(self.namespace, text.encode("utf-8", "surrogatepass"))  # pyright: ignore[reportUnknownMemberType] - its options have no types

    def _key(self, name: str) -> str:
        return f"{self.namespace}:{content_digest(name).hex()}"

    def _hear(self, heard: Callable[[str], None], up: Event, ended: Event) -> None:
        """Pass on what others deleted, in a thread, until ``ended`` or the server is closed; reconnect when cut off."""
        server, warned = self._server, False
        while not ended.is_set() and not server.closed.is_set():
            try:
                if not server.away:
                    with server.patient.pubsub() as line:  # type: ignore[no-untyped-call]  # theirs
                        for name in self._news(line, ended):
                            heard(name)
                            up.set()
            except Exception as error:  # noqa: BLE001 - a connection may fail in any way
                fault = fault_of(error)
                if fault.kind != "away" and not warned and not server.closed.is_set():
                    _LOGGER.warning("a shared store sends no invalidations (%s)", fault.reason)
                    warned = True
            ended.wait(server.limits.retry_s)

    def _news(self, line: "PubSub", ended: Event) -> Iterator[str]:
        """Yield deleted names until the connection fails; redis-py's own thread reports neither reconnects nor silence."""
        line.subscribe(self.namespace)
        is_asked = False
        while not ended.is_set() and not self._server.closed.is_set():
            pulse_s = self._server.limits.pulse_s
            heard = cast("Mapping[str, object] | None", line.get_message(timeout=pulse_s))
            if heard is None and is_asked:
                raise TimeoutError
            if heard is None:
                line.ping()
            elif heard["type"] == "subscribe":
                yield EVERYTHING
            elif heard["type"] == "message" and not ended.is_set():
                yield from self._names_in(cast("bytes", heard["data"]))  # not decoded
            is_asked = heard is None

    def _names_in(self, notice: bytes) -> list[str]:
        """Return the names in a notice from others; empty if it is an own or malformed one."""
        if len(notice) > _LONGEST_NOTICE:
            return [EVERYTHING]
        with suppress(ValueError, RecursionError, TypeError):
            text = notice.decode("utf-8", "surrogatepass")
            sender, *names = cast("list[object]", json.loads(text))
            return [name for name in names if isinstance(name, str) and sender != self._own]
        return []


def _now_ms() -> int:
    return time.time_ns() // 10**6
