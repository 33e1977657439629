"""Values that several processes and machines share, on a Redis server: read within a limit, written behind.

Promise: what ``SharedTier`` promises, within the limits of the server. What is read is what was written last under this
name of this namespace, by anyone, or nothing. No name of one namespace is one of another, whatever stands in it. What was
deleted while the server was away is deleted when it is back, and is not served before; all others hear of it.
"""

import logging
import math
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, cast

from autogen_context.cache.redis.news import News
from autogen_context.cache.redis.outbox import Order, Outbox
from autogen_context.cache.redis.server import RedisServer, fault_of, server_of
from autogen_context.cache.tier import EVERYTHING, Scope
from autogen_context.errors import StoreRefused, StoreUnavailable
from autogen_context.messages.message import content_digest

if TYPE_CHECKING:
    from redis import Redis
    from redis.client import Pipeline

LONGEST_TTL_S = 7 * 24 * 3600.0

_LOGGER = logging.getLogger(__name__)
_MARK = b"1"  # before each value, so that an empty one differs from none; the number is that of the layout
_TRIES = 3  # for a batch, of a server that goes each time
_SCANNED = 1_000  # keys that the server looks at in one step


class RedisTier:
    """What one namespace of a server has; a ``SharedTier``.

    A value is kept for seven days at most. What is checked of it is its caller's: whoever may write to the server may
    write anything.

    Args:
        server: where it is, or its url.
        tenant: whose values these are; all agents of a tenant share them.
        agent: where they are those of one agent alone.
        kind: what they are, in letters: a cache's and an original's keys never meet.

    Raises:
        ValueError: ``server`` is neither.
    """

    def __init__(
        self, server: RedisServer | str, *, tenant: str = "", agent: str = "", kind: str = "cache"
    ) -> None:
        self._server = server_of(server)
        self.namespace = namespace_of(kind, Scope(tenant=tenant, agent=agent))
        self._outbox = Outbox(self._server.limits.waiting_bytes)
        self._news = News(self._server, self.namespace)
        self._tries = 0

    def __len__(self) -> int:
        """How much waits to be sent."""
        return len(self._outbox)

    def read_all(self, names: Iterable[str]) -> dict[str, bytes]:
        """The values under names, as far as they are there, and the server says so in time.

        Raises:
            StoreRefused: the server refuses the url, and has never answered.
        """
        waiting = {name: self._outbox.look(name) for name in names}
        asked = [name for name, order in waiting.items() if order is None]
        longest = self._server.limits.value_bytes + len(_MARK)  # planted ones cost no memory here

        def get(pipeline: "Pipeline") -> None:
            for name in asked:
                pipeline.getrange(self._key(name), 0, longest)

        found = zip(asked, self._asked(get) if asked else [], strict=False)
        values = {name: self._value(data) for name, data in found}
        values |= {name: order.value for name, order in waiting.items() if order is not None}
        return {name: value for name, value in values.items() if value is not None}

    def held(self, names: Iterable[str]) -> set[str]:
        """Which of these wait to be written, or are there; none that the server cannot say in time."""
        waiting = {name: self._outbox.look(name) for name in names}
        asked = [name for name, order in waiting.items() if order is None]

        def exist(pipeline: "Pipeline") -> None:
            for name in asked:
                pipeline.exists(self._key(name))

        here = {name for name, order in waiting.items() if order and order.value is not None}
        try:
            found = self._asked(exist) if asked else []
        except StoreRefused:
            return here
        return here | {name for name, there in zip(asked, found, strict=False) if there}

    def write(self, values: Mapping[str, bytes], *, ttl_s: float | None = None) -> list[str]:
        """Have values written soon, for so many seconds at most.

        Returns:
            The names that went for want of room while the server is away, and of those that are too large to be shared.
        """
        gone: list[str] = []
        ttl_ms = max(1, int(min(math.inf if ttl_s is None else ttl_s, LONGEST_TTL_S) * 1_000))
        limit_bytes = self._server.limits.value_bytes
        for name, value in values.items():
            if len(value) > limit_bytes:
                numbers = {"bytes": len(value), "limit_bytes": limit_bytes}
                _LOGGER.warning("a value is too large to be shared", extra=numbers)
                gone.append(name)
            else:
                gone += self._outbox.write(name, value, ttl_ms=ttl_ms)
        self._server.soon(self)
        return gone

    def forget(self, names: Iterable[str]) -> None:
        """Delete what is under names, and tell the others; it is not read any more from here on.

        Raises:
            StoreUnavailable: the server cannot be had now, so that it may still be there; it is deleted when it is back.
            StoreRefused: it refuses the url.
        """
        orders = list(names)
        for name in orders:
            self._outbox.delete(name)
        self._done(lambda: not any(map(self._is_deleted, orders)))

    def clear(self) -> None:
        """Delete all that the namespace has, whoever wrote it; raises what ``forget`` does."""
        self._outbox.delete_everything()
        self._done(lambda: not self._is_deleted(EVERYTHING))

    def flush(self) -> None:
        """Wait until what was written is on the server.

        Raises:
            StoreUnavailable: it cannot be had now; what waits is written when it is back.
            StoreRefused: it refuses the url.
        """
        if len(self._outbox) and not self._server.wait(self, lambda: not len(self._outbox)):
            raise StoreUnavailable(self._server.name, reason="no answer in time")

    def listen(self, heard: Callable[[str], None]) -> Callable[[], None]:
        """Have names that others deleted told to ``heard``, in a thread; what is returned ends that.

        The empty name stands for all: it is told each time the line to the server was made, and the first time, if that
        takes no longer than ``timeout_s``, before this returns, so that nothing is under way yet.
        """
        return self._news.listen(heard)

    def close(self) -> None:
        """Write what waits if the server is there, and hear no more; the server stays open."""
        self._news.end()
        try:
            self.flush()
        except (StoreUnavailable, StoreRefused) as error:
            _LOGGER.debug("not all is written yet: %s", error)

    def send(self) -> bool:
        """Work off what waits while the server is there; ``False`` where it declines to delete something."""
        while due := self._outbox.due():
            try:
                declined = self._server.answer(partial(self._sent, due=due))
            except (StoreUnavailable, StoreRefused) as error:
                self._tries += 1
                if self._tries >= _TRIES:  # perhaps it goes because of what is written
                    self._give_up(due, error)
                    self._tries = 0
                return False
            self._tries = 0
            if declined:
                return False
        return True

    def _sent(self, redis: "Redis", due: Mapping[str | None, Order]) -> bool:
        """Send a batch, and tell the others what was deleted; whether something is declined that must be tried again."""
        names = [name for name in due if name is not None]
        deleted = [name for name in names if due[name].value is None]
        with redis.pipeline(transaction=False) as pipeline:  # pyright: ignore[reportUnknownMemberType] - its options have no types
            for name in names:
                value, ttl_ms = due[name].value, due[name].ttl_ms
                if value is None:
                    pipeline.unlink(self._key(name))
                else:
                    pipeline.set(self._key(name), _MARK + value, px=ttl_ms)
            said = dict(zip(names, pipeline.execute(raise_on_error=False), strict=True))
        if None in due:
            self._delete_everything(redis)
        if deleted or None in due:
            told = self._news.announced(tuple(deleted) or (EVERYTHING,))
            redis.publish(self.namespace, told)  # pyright: ignore[reportUnknownMemberType] - its options have no types
        failed = {name: error for name, error in said.items() if isinstance(error, Exception)}
        for error in failed.values():
            _LOGGER.warning("something was not written: %s", fault_of(error).reason)
        self._outbox.sent(
            [each for each in due.items() if each[0] not in failed or each[1].value is not None]
        )
        return any(due[name].value is None for name in failed)

    def _delete_everything(self, redis: "Redis") -> None:
        """There is nothing in a namespace that a pattern would read."""
        found = redis.scan_iter(f"{self.namespace}:*", count=_SCANNED)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - it has no types
        keys = list(cast("Iterable[bytes]", found))
        for start in range(0, len(keys), _SCANNED):
            redis.unlink(*keys[start : start + _SCANNED])

    def _give_up(self, due: Mapping[str | None, Order], error: Exception) -> None:
        """Leave out writes that cannot be had through; deletions are tried again."""
        _LOGGER.warning("something was not written: %s", error)
        self._outbox.sent([each for each in due.items() if each[1].value is not None])

    def _is_deleted(self, name: str) -> bool:
        """Whether the deletion of a name waits."""
        order = self._outbox.look(name)
        return order is not None and order.value is None

    def _done(self, is_done: Callable[[], bool]) -> None:
        if not self._server.wait(self, is_done):
            raise StoreUnavailable(
                self._server.name, reason="it has not deleted what it was told to"
            )

    def _asked(self, fill: "Callable[[Pipeline], None]") -> list[object]:
        """What the server answers to several commands, in time; nothing otherwise."""

        def execute(redis: "Redis") -> list[object]:
            with redis.pipeline(transaction=False) as pipeline:  # pyright: ignore[reportUnknownMemberType] - its options have no types
                fill(pipeline)
                return pipeline.execute()

        try:
            return self._server.ask(execute, within_s=self._server.limits.timeout_s)
        except StoreUnavailable:
            return []

    def _value(self, found: object) -> bytes | None:
        if not isinstance(found, bytes) or not found.startswith(_MARK):
            return None
        value = found.removeprefix(_MARK)
        return value if len(value) <= self._server.limits.value_bytes else None

    def _key(self, name: str) -> str:
        return f"{self.namespace}:{content_digest(name).hex()}"


def namespace_of(kind: str, scope: Scope) -> str:
    """The beginning of all keys of a kind and scope, without a name in the clear; also the channel of their news."""
    return f"autogen-context:1:{kind}:{scope.key}"
