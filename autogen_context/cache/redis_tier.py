"""What several machines share through a Redis server: values by name, and the news of what was deleted.

Promise: what a ``SharedTier`` promises, within the limits of the server. What is read is what was written last under this
name of this namespace, by anyone, or nothing. No name of one namespace is one of another. What was deleted while the server was
away is not read any more, and deleted when it is back; all others hear of it.
"""

import json
import logging
import math
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, NamedTuple, cast
from uuid import uuid4

from autogen_context.cache.redis_server import RedisServer, fault_of, server_of
from autogen_context.cache.tier import EVERYTHING, Scope, sealed, unsealed
from autogen_context.errors import ContextError, StoreRefused, StoreUnavailable
from autogen_context.messages.message import content_digest

if TYPE_CHECKING:
    from redis import Redis
    from redis.client import PubSub

LONGEST_TTL_S = 7 * 24 * 3600.0

_LOGGER = logging.getLogger(__name__)
_AT_ONCE = 200  # orders
_SCANNED = 1_000  # keys that the server looks at in one step
_SEAL_BYTES = 4


class _Order(NamedTuple):
    """What is to be done with a key: a value to be written for so long, or, without one, a deletion."""

    value: bytes | None = None
    ttl_ms: int = 0


class RedisTier:
    """What one namespace of a server has; a ``SharedTier``. A value is kept for seven days at most.

    Args:
        server: where it is, or its url.
        tenant: whose values these are; all agents of a tenant share them.
        agent: where they are those of one agent alone.
        kind: what they are, in letters: a cache's and an original's keys never meet.
        lists_names: whether the names stand on the server as well, in the clear, so that ``names`` can tell them.
    """

    def __init__(
        self,
        server: RedisServer | str,
        *,
        tenant: str = "",
        agent: str = "",
        kind: str = "cache",
        lists_names: bool = False,
    ) -> None:
        self._server = server_of(server)
        scope = Scope(tenant=tenant, agent=agent)
        # The beginning of all keys, without a name in the clear; also the channel of their news.
        self.namespace = f"autogen-context:1:{kind}:{scope.key}"
        self._list = f"{self.namespace}:names" if lists_names else ""  # by when they run out
        self._orders: dict[str, _Order] = {}  # that wait to be sent, the oldest first
        self._is_due = False  # the server knows that some wait
        self._lock, self._sending = Lock(), Lock()
        self._news = _News(self._server, self.namespace)

    @property
    def waiting(self) -> int:
        """How much waits to be sent."""
        return len(self._orders)

    def read_all(self, names: Iterable[str]) -> dict[str, bytes]:
        """The values under names, as far as they are there, and the server says so in time.

        Raises:
            StoreRefused: the server refuses the url, and has never answered.
        """
        waiting = {name: self._orders.get(name) for name in names}
        asked = [name for name, order in waiting.items() if order is None]
        longest = self._server.limits.value_bytes + _SEAL_BYTES  # planted ones cost no memory here

        def get(redis: "Redis") -> list[object]:
            with redis.pipeline(transaction=False) as pipeline:  # pyright: ignore[reportUnknownMemberType] - its options have no types
                for name in asked:
                    pipeline.getrange(self._key(name), 0, longest)
                return pipeline.execute()

        values = {name: order.value for name, order in waiting.items() if order is not None}
        if asked:
            with suppress(StoreUnavailable):
                for name, data in zip(asked, self._server.ask(get), strict=True):
                    values[name] = unsealed(self._key(name), cast("bytes", data))
        return {name: value for name, value in values.items() if value is not None}

    def names(self) -> list[str]:
        """The names of what was written, by anyone, and is not past its time; none while the server is away."""
        if not self._list:
            return []
        with suppress(StoreUnavailable, StoreRefused):
            found = self._server.ask(
                lambda redis: redis.zrangebyscore(self._list, time.time_ns() // 10**6, "+inf")  # pyright: ignore[reportUnknownMemberType] - as above
            )
            return [name.decode() for name in cast("list[bytes]", found)]
        return []

    def write(self, values: Mapping[str, bytes], *, ttl_s: float | None = None) -> list[str]:
        """Have values written soon; the names that went for want of room meanwhile, and of what is too large to be shared."""
        gone: list[str] = []
        ttl_ms = max(1, int(min(math.inf if ttl_s is None else ttl_s, LONGEST_TTL_S) * 1_000))
        limits = self._server.limits
        with self._lock:
            for name, value in values.items():
                self._orders.pop(name, None)
                self._orders[name] = _Order(value, ttl_ms)
                if len(value) > limits.value_bytes:
                    numbers = {"bytes": len(value), "limit_bytes": limits.value_bytes}
                    _LOGGER.warning("a value is too large to be shared", extra=numbers)
                    gone.append(name)
                    self._orders[name] = _Order()  # what is there is not what was written last
            writes = {name: len(o.value) for name, o in self._orders.items() if o.value is not None}
            excess = sum(writes.values()) - limits.waiting_bytes
            for name, size_bytes in writes.items():
                if excess <= 0:
                    break
                gone.append(name)
                del self._orders[name]
                excess -= size_bytes
            is_known, self._is_due = self._is_due, True
        if not is_known:
            self._server.soon(self)
        return gone

    def forget(self, names: Iterable[str]) -> None:
        """Delete what is under names, and tell the others; it is not read any more from here on.

        Raises:
            StoreUnavailable: it may still be there; it is deleted when the server is back.
            StoreRefused: the server refuses the url.
        """
        deletion, names = _Order(), list(names)
        with self._lock:
            self._orders |= dict.fromkeys(names, deletion)
            self._is_due = True
        self._server.wait(self)
        if any(self._orders.get(name) is deletion for name in names):
            reason = "it has not deleted what it was told to"
            raise StoreUnavailable(self._server.name, reason=reason)

    def clear(self) -> None:
        """Delete all that the namespace has, whoever wrote it; raises what ``forget`` does, and then it may all be there."""

        def delete(redis: "Redis") -> None:
            # There is nothing in a namespace that a pattern would read.
            found = redis.scan_iter(f"{self.namespace}:*", count=_SCANNED)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - it has no types
            keys = list(cast("Iterable[bytes]", found))
            for start in range(0, len(keys), _SCANNED):
                redis.unlink(*keys[start : start + _SCANNED])
            self._news.tell(redis, [EVERYTHING])

        with self._lock:
            self._orders.clear()
        with self._sending:
            self._server.tell(delete)

    def flush(self) -> None:
        """Wait until what was written is on the server; raises what ``forget`` does."""
        if self.waiting:
            self._server.wait(self)
            if self.waiting:
                raise StoreUnavailable(self._server.name, reason="no answer in time")

    def listen(self, heard: Callable[[str], None]) -> Callable[[], None]:
        """Have names that others deleted told to ``heard``, in a thread; what is returned ends that.

        That all may be invalid is told before this returns, if the line stands within ``timeout_s``.
        """
        return self._news.listen(heard)

    def close(self) -> None:
        """Write what waits if the server is there, and hear no more; the server stays open."""
        self._news.end()
        try:
            self.flush()
        except (StoreUnavailable, StoreRefused) as error:
            _LOGGER.debug("not all is written yet: %s", error)

    def send(self) -> None:
        """Send what waits, in the thread of the server; what was declined to be deleted waits on. Raises what ``ask`` does."""
        with self._lock:
            self._is_due = False
            orders = list(self._orders.items())
        for start in range(0, len(orders), _AT_ONCE):
            with self._sending:
                batch = orders[start : start + _AT_ONCE]
                due = {name: order for name, order in batch if self._orders.get(name) is order}
                done = self._server.tell(partial(self._sent, due=due)) if due else []
            with self._lock:  # unless something newer has taken its place
                for name in done:
                    if self._orders.get(name) is due[name]:
                        del self._orders[name]

    def _sent(self, redis: "Redis", due: Mapping[str, _Order]) -> list[str]:
        """Send orders, and tell the others of deletions; what is done with: all but declined deletions."""
        with redis.pipeline(transaction=False) as pipeline:  # pyright: ignore[reportUnknownMemberType] - its options have no types
            for name, order in due.items():
                key = self._key(name)
                if order.value is None:
                    pipeline.unlink(key)
                else:
                    pipeline.set(key, sealed(key, order.value), px=order.ttl_ms)
            said = dict(zip(due, pipeline.execute(raise_on_error=False), strict=True))
        if self._list:
            self._listed(redis, due)
        if deleted := [name for name, order in due.items() if order.value is None]:
            self._news.tell(redis, deleted)
        failed = {name: error for name, error in said.items() if isinstance(error, Exception)}
        for error in failed.values():
            _LOGGER.warning("something was not written: %s", fault_of(error).reason)
        return [n for n, order in due.items() if n not in failed or order.value is not None]

    def _listed(self, redis: "Redis", due: Mapping[str, _Order]) -> None:
        """Have the list of names say what was done, and nothing that is past its time."""
        now_ms = time.time_ns() // 10**6
        until = {n: now_ms + each.ttl_ms for n, each in due.items() if each.value is not None}
        with redis.pipeline(transaction=False) as pipeline:  # pyright: ignore[reportUnknownMemberType] - as above
            pipeline.zrem(self._list, *due)
            if until:
                pipeline.zadd(self._list, until)
            pipeline.zremrangebyscore(self._list, 0, now_ms)
            pipeline.pexpire(self._list, int(LONGEST_TTL_S * 1_000))
            pipeline.execute(raise_on_error=False)

    def _key(self, name: str) -> str:
        return f"{self.namespace}:{content_digest(name).hex()}"


class _News:
    """What others say on a channel was deleted, heard in a thread from the first listener on; own deletions are not told."""

    def __init__(self, server: RedisServer, channel: str) -> None:
        self._server = server
        self._channel = channel
        self._listeners: list[Callable[[str], None]] = []
        self._lock = Lock()
        self._up, self._ended = Event(), Event()
        self._thread: Thread | None = None
        self._warned = False
        self._own = uuid4().hex  # tells apart who speaks; decides nothing

    def tell(self, redis: "Redis", keys: list[str]) -> None:
        """Tell the others that these keys are invalid."""
        text = json.dumps([self._own, *keys], ensure_ascii=False)
        redis.publish(self._channel, text.encode("utf-8", "surrogatepass"))  # pyright: ignore[reportUnknownMemberType] - its options have no types

    def listen(self, heard: Callable[[str], None]) -> Callable[[], None]:
        """Have keys told; that all may be invalid is told first, if the line stands within ``timeout_s``."""
        if self._thread is None and not self._server.closed.is_set():
            self._ended = Event()
            self._thread = Thread(target=self._run, args=(self._ended,), daemon=True)
            self._thread.start()
        if not self._server.away:
            self._up.wait(self._server.limits.timeout_s)
        with self._lock:
            is_up = self._up.is_set()
            self._listeners.append(heard)
        if is_up:
            heard(EVERYTHING)

        def leave() -> None:
            with self._lock, suppress(ValueError):
                self._listeners.remove(heard)

        return leave

    def end(self) -> None:
        """Hear no more; the thread ends when the line is silent, or is cut."""
        self._listeners.clear()
        self._ended.set()
        self._thread = None

    def _run(self, ended: Event) -> None:
        while not ended.is_set() and not self._server.closed.is_set():
            try:
                self._server.reach(self._server.limits.patience_s)
                with self._server.patient.pubsub() as line:  # type: ignore[no-untyped-call]  # theirs
                    self._hear(line, ended)
            except ContextError as error:
                _LOGGER.debug("no news for now: %s", error)
            except Exception as error:  # noqa: BLE001 - a line may break in any way, and is made again
                fault = fault_of(error)
                if fault.kind != "away" and not self._warned and not ended.is_set():
                    _LOGGER.warning("a shared store tells no news (%s)", fault.reason)
                    self._warned = True
            self._up.clear()
            ended.wait(self._server.limits.retry_s)

    def _hear(self, line: "PubSub", ended: Event) -> None:
        """Hear until the line breaks; redis-py's own thread tells neither of new lines nor of silent ones."""
        line.subscribe(self._channel)
        asked = False
        while not ended.is_set() and not self._server.closed.is_set():
            pulse_s = self._server.limits.pulse_s
            told = cast("Mapping[str, object] | None", line.get_message(timeout=pulse_s))
            if told is None and asked:
                raise TimeoutError
            if told is None:
                line.ping()
            elif told["type"] == "subscribe":
                with self._lock:
                    self._up.set()
                self._pass_on([EVERYTHING])
            elif told["type"] == "message":
                self._pass_on(self._keys_in(cast("bytes", told["data"])))  # answers are not decoded
            asked = told is None

    def _pass_on(self, keys: list[str]) -> None:
        with self._lock:
            listeners = list(self._listeners)
        for key in keys:
            for heard in listeners:
                heard(key)

    def _keys_in(self, message: bytes) -> list[str]:
        """The keys of a message of others; none if it is ours, or no such message."""
        with suppress(ValueError, RecursionError, TypeError):
            sender, *keys = cast(
                "list[object]", json.loads(message.decode("utf-8", "surrogatepass"))
            )
            if sender != self._own:
                return [key for key in keys if isinstance(key, str)]
        return []
