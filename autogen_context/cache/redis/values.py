"""Bytes by key, in a namespace of their own on a server: read within a limit, written behind.

Promise: what is read is what was written last under this key of this namespace, by anyone, or nothing. No key of one
namespace is a key of another, whatever stands in it. Nothing here raises for want of a server but where it says so. What
was deleted while the server was away is deleted when it is back, and is not served before.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, cast

from autogen_context.cache.redis.outbox import Deletion, Outbox, Write
from autogen_context.cache.redis.server import Declined, RedisServer, answers
from autogen_context.cache.scope import Scope
from autogen_context.errors import StoreRefused, StoreUnavailable
from autogen_context.messages.message import content_digest

if TYPE_CHECKING:
    from redis import Redis

LONGEST_TTL_S = 7 * 24 * 3600.0
EVERYTHING = ""  # told in place of a key: any of them may be invalid

_LOGGER = logging.getLogger(__name__)
_MARK = b"1"  # before each value, so that an empty one differs from none; the number is that of the layout
_TRIES = 3  # for one write, of a server that goes each time
_SCANNED = 1_000  # keys that the server looks at in one step


class RedisValues:
    """What one namespace of a server has.

    Args:
        server: where it is.
        kind: what these values are, in letters: a cache's and an original's keys never meet.
        scope: whose they are.
        announce: turns what was deleted into a message for the others; without it nobody is told.
    """

    def __init__(
        self,
        server: RedisServer,
        *,
        kind: str,
        scope: Scope,
        announce: Callable[[tuple[str, ...]], bytes] | None = None,
    ) -> None:
        self.namespace = namespace_of(kind, scope)
        self._server = server
        self._announce = announce
        self._outbox = Outbox(server.limits.waiting_bytes)
        self._tries = 0
        server.unsent.add(self)

    def __len__(self) -> int:
        """How much is queued."""
        return len(self._outbox)

    def write(self, key: str, value: bytes, *, ttl_s: float) -> list[str]:
        """Queue a value; the keys that went for want of room, this one if it is larger than a value may be."""
        if len(value) > self._server.limits.value_bytes:
            numbers = {"bytes": len(value), "limit_bytes": self._server.limits.value_bytes}
            _LOGGER.warning("a value is too large to be shared", extra=numbers)
            return [key]
        ttl_ms = max(1, int(min(ttl_s, LONGEST_TTL_S) * 1_000))
        gone = self._outbox.write(Write(key=key, value=value, ttl_ms=ttl_ms))
        self._server.soon(self)
        return gone

    def read(self, key: str) -> bytes | None:
        """The value under a key; ``None`` also where nobody answers in time.

        Raises:
            StoreRefused: the server refuses the url, and has never answered.
        """
        waiting = self._outbox.look(key)
        if waiting is not None:
            return None if waiting == "deleted" else waiting
        try:
            found = self._server.ask(self._get(key), within_s=self._server.limits.timeout_s)
        except StoreUnavailable:
            return None
        return self._value(found)

    async def read_async(self, key: str) -> bytes | None:
        """The same, while the loop goes on."""
        waiting = self._outbox.look(key)
        if waiting is not None:
            return None if waiting == "deleted" else waiting
        limit_s = self._server.limits.timeout_s
        try:
            found = await self._server.ask_async(self._get(key), within_s=limit_s)
        except StoreUnavailable:
            return None
        return self._value(found)

    def held(self, keys: Iterable[str]) -> set[str]:
        """Which of these are queued, or there; none that the server cannot say in time."""
        listed = list(keys)
        waiting = {key for key in listed if isinstance(self._outbox.look(key), bytes)}
        asked = [key for key in listed if key not in waiting]

        def exist(redis: "Redis") -> list[object]:
            with redis.pipeline(transaction=False) as pipeline:  # pyright: ignore[reportUnknownMemberType] - its options have no types
                for key in asked:
                    pipeline.exists(self._key(key))
                return pipeline.execute()

        try:
            found = self._server.ask(exist, within_s=self._server.limits.timeout_s) if asked else []
        except (StoreUnavailable, StoreRefused):
            return waiting
        return waiting | {key for key, there in zip(asked, found, strict=True) if there}

    async def delete(self, key: str) -> None:
        """Delete a key; where the server is away it is done when it is back, and not served until then."""
        self._outbox.delete(key)
        self._server.soon(self)
        if self._server.is_here():
            sent = asyncio.wrap_future(self._server.sent())
            await asyncio.wait({sent}, timeout=self._server.limits.timeout_s)

    def delete_now(self, key: str | None) -> None:
        """Delete a key, or all that the namespace has, and do not come back before it is done.

        Raises:
            StoreUnavailable: the server cannot be had now, so that it may still be there; it is tried again later.
            StoreRefused: the server refuses the url, and has never answered.
        """
        if key is None:
            self._outbox.delete_everything()
        else:
            self._outbox.delete(key)
        self.flush(quietly=True)
        if self._outbox.deletes(key):
            raise StoreUnavailable(
                self._server.name, reason="it has not deleted what it was told to"
            )

    def flush(self, *, quietly: bool = False) -> None:
        """Wait until what is queued was sent, ``patience_s`` at most.

        Raises:
            StoreUnavailable: the server cannot be had now; what is queued is written when it is back.
            StoreRefused: it refuses the url.
        """
        limit_s = self._server.limits.patience_s
        if len(self._outbox):
            self._server.ask(answers, within_s=limit_s)
            self._server.soon(self)
            try:
                self._server.sent().result(limit_s)
            except TimeoutError as error:
                if not quietly:
                    raise StoreUnavailable(self._server.name, reason="no answer in time") from error

    def send_all(self) -> None:
        """Work off the outbox while the server is there; it has this called again when it is back."""
        while (due := self._outbox.due()) is not None and self._server.is_here():
            try:
                self._server.ask_here(partial(self._put, due=due))
            except (Declined, StoreRefused) as error:
                self._give_up(due, error)
                if isinstance(due, Deletion):
                    self._tries += 1
                    self._server.later(self, tries=self._tries)
                    return
            except StoreUnavailable as error:
                self._tries += 1
                if self._tries >= _TRIES:
                    self._give_up(due, error)
                    self._tries = 0
            else:
                self._tries = 0
                self._outbox.sent(due)

    def _give_up(self, due: Write | Deletion, error: StoreUnavailable | StoreRefused) -> None:
        """Leave out a write that cannot be had through; a deletion is tried again."""
        _LOGGER.warning("something was not written: %s", error, extra={"store": self._server.name})
        if isinstance(due, Write):
            self._outbox.sent(due)

    def _put(self, redis: "Redis", *, due: Write | Deletion) -> None:
        """Do what is due, and tell the others what was deleted."""
        if isinstance(due, Write):
            redis.set(self._key(due.key), _MARK + due.value, px=due.ttl_ms)
            return
        keys: Iterable[str | bytes] = map(self._key, due.keys)
        if not due.keys:  # there is nothing in a namespace that a pattern would read
            found = redis.scan_iter(f"{self.namespace}:*", count=_SCANNED)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - it has no types
            keys = cast("Iterable[bytes]", found)
        listed = list(keys)
        for start in range(0, len(listed), _SCANNED):
            redis.unlink(*listed[start : start + _SCANNED])
        if self._announce is not None:
            told = self._announce(due.keys or (EVERYTHING,))
            redis.publish(self.namespace, told)  # pyright: ignore[reportUnknownMemberType] - its options have no types

    def _get(self, key: str) -> "Callable[[Redis], object]":
        """Read one byte more than a value may have: what was planted costs no memory here."""
        longest = self._server.limits.value_bytes + len(_MARK)
        return lambda redis: redis.getrange(self._key(key), 0, longest)

    def _value(self, found: object) -> bytes | None:
        if not isinstance(found, bytes) or not found.startswith(_MARK):
            return None
        value = found.removeprefix(_MARK)
        return value if len(value) <= self._server.limits.value_bytes else None

    def _key(self, key: str) -> str:
        return f"{self.namespace}:{content_digest(key).hex()}"


def namespace_of(kind: str, scope: Scope) -> str:
    """The beginning of all keys of a kind and scope, without a name in the clear; also the channel of their news."""
    return f"autogen-context:1:{kind}:{scope.key}"
