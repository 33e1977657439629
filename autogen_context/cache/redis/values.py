"""Bytes by key, in a namespace of their own on a server: read within a limit, written behind.

Promise: what is read is what was written last under this key of this namespace, by anyone, or nothing. No key of one
namespace is a key of another, whatever stands in it. Nothing here raises for want of a server. What was deleted while the
server was away is deleted when it is back, and is not served before.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from functools import partial
from typing import cast

from autogen_context.cache.redis.client import Command, RedisClient
from autogen_context.cache.redis.line import Declined, RedisLine, pause_s
from autogen_context.cache.redis.outbox import Deletion, Outbox, Write
from autogen_context.cache.scope import Scope
from autogen_context.errors import StoreRefused, StoreUnavailable
from autogen_context.messages.message import content_digest

LONGEST_TTL_S = 7 * 24 * 3600.0
EVERYTHING = ""  # told in place of a key: any of them may be invalid

_LOGGER = logging.getLogger(__name__)
_MARK = b"1"  # before each value, so that an empty one differs from none; the number is that of the layout
_TRIES = 3  # for one write, of a server that goes each time
_SCANNED = 1_000  # keys that the server looks at in one step


class RedisValues:
    """What one namespace of a server has.

    Args:
        line: the server; all coroutines here run in its loop, ``write`` and ``look`` in any thread.
        kind: what these values are, in letters: a tier's and a stash's keys never meet.
        scope: whose they are.
        announce: turns what was deleted into a message for the others; without it nobody is told.
    """

    def __init__(
        self,
        line: RedisLine,
        *,
        kind: str,
        scope: Scope,
        announce: Callable[[tuple[str, ...]], bytes] | None = None,
    ) -> None:
        self.namespace = namespace_of(kind, scope)
        self._line = line
        self._announce = announce
        self._outbox = Outbox(line.limits.waiting_bytes)
        self._sending: asyncio.Task[None] | None = None
        line.unsent.add(self)

    def write(self, key: str, value: bytes, *, ttl_s: float) -> list[str]:
        """Queue a value; the keys that went for want of room, this one if it is larger than a value may be.

        What was queued is sent by ``send``.
        """
        if len(value) > self._line.limits.value_bytes:
            numbers = {"bytes": len(value), "limit_bytes": self._line.limits.value_bytes}
            _LOGGER.warning("a value is too large to be shared", extra=numbers)
            return [key]
        ttl_ms = max(1, int(min(ttl_s, LONGEST_TTL_S) * 1_000))
        return self._outbox.write(Write(key=key, value=value, ttl_ms=ttl_ms))

    async def send(self) -> None:
        """See to it that what is queued is being sent."""
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._send_all(), name="redis writes")

    def __len__(self) -> int:
        """How much is queued."""
        return len(self._outbox)

    async def flush(self) -> None:
        """Wait until nothing is queued any more, however long that takes.

        Raises:
            StoreUnavailable: the server cannot be had now; what is queued is written when it is back.
            StoreRefused: it refuses the url.
        """
        if len(self._outbox):
            limit_s = self._line.limits.patience_s
            await self._line.ask(lambda redis: redis.ask("PING"), within_s=limit_s)
            await self.send()
        if self._sending is not None:
            await asyncio.wait({self._sending})

    async def read(self, key: str) -> bytes | None:
        """The value under a key.

        Raises:
            StoreRefused: the server refuses the url, and has never answered.
        """
        waiting = self._outbox.look(key)
        if waiting is not None:
            return None if waiting == "deleted" else waiting
        limits = self._line.limits
        command = ("GETRANGE", self._key(key), 0, limits.value_bytes + len(_MARK))
        try:
            found = await self._line.ask(
                lambda redis: redis.ask(*command), within_s=limits.timeout_s
            )
        except StoreUnavailable:
            return None
        if not isinstance(found, bytes) or not found.startswith(_MARK):
            return None
        value = found.removeprefix(_MARK)
        return value if len(value) <= limits.value_bytes else None

    async def held(self, keys: Iterable[str]) -> set[str]:
        """Which of these are queued, or there; none that the server cannot say in time."""
        listed = list(keys)
        waiting = {key for key in listed if isinstance(self._outbox.look(key), bytes)}
        asked = [key for key in listed if key not in waiting]
        commands: list[Command] = [("EXISTS", self._key(key)) for key in asked]
        limit_s = self._line.limits.timeout_s
        try:
            found = await self._line.ask(lambda redis: redis.ask_all(commands), within_s=limit_s)
        except (StoreUnavailable, StoreRefused):
            return waiting
        return waiting | {key for key, there in zip(asked, found, strict=True) if there}

    async def delete(self, key: str) -> None:
        """Delete a key; where the server is away it is done when it is back, and not served until then."""
        self._outbox.delete(key)
        await self.send()
        if self._sending is not None and not self._line.away:
            await asyncio.wait({self._sending}, timeout=self._line.limits.timeout_s)

    async def delete_now(self, key: str | None) -> None:
        """Delete a key, or all that the namespace has, and do not come back before it is done.

        Raises:
            StoreUnavailable: the server cannot be had now, so that it may still be there; it is tried again later.
            StoreRefused: the server refuses the url, and has never answered.
        """
        if key is None:
            self._outbox.delete_everything()
        else:
            self._outbox.delete(key)
        limits = self._line.limits
        await self._line.ask(lambda redis: redis.ask("PING"), within_s=limits.timeout_s)
        await self.send()
        if self._sending is not None:
            await asyncio.wait({self._sending}, timeout=limits.patience_s)
        if self._outbox.deletes(key):
            raise StoreUnavailable(self._line.name, reason="it has not deleted what it was told to")

    async def _send_all(self) -> None:
        """Work off the outbox, for as long as there is something in it."""
        tries = 0
        while len(self._outbox):
            await self._line.until_here()
            due = self._outbox.due()
            if due is None:
                return
            tries += 1
            try:
                limit_s = self._line.limits.patience_s
                await self._line.ask(partial(self._put, due=due), within_s=limit_s)
            except (Declined, StoreRefused) as error:
                self._give_up(due, error)
                await asyncio.sleep(pause_s(tries, self._line.limits))
            except StoreUnavailable as error:
                if tries >= _TRIES:
                    self._give_up(due, error)
            else:
                tries = 0
                self._outbox.sent(due)

    def _give_up(self, due: Write | Deletion, error: StoreUnavailable | StoreRefused) -> None:
        """Leave out a write that cannot be had through; a deletion is tried again."""
        _LOGGER.warning("something was not written: %s", error, extra={"store": self._line.name})
        if isinstance(due, Write):
            self._outbox.sent(due)

    async def _put(self, redis: RedisClient, *, due: Write | Deletion) -> None:
        """Do what is due, and tell the others what was deleted."""
        if isinstance(due, Write):
            await redis.ask("SET", self._key(due.key), _MARK + due.value, "PX", due.ttl_ms)
            return
        if due.keys:
            await redis.ask("UNLINK", *map(self._key, due.keys))
        else:
            await self._unlink_all(redis)
        if self._announce is not None:
            told = self._announce(due.keys or (EVERYTHING,))
            await redis.ask("PUBLISH", self.namespace, told)

    async def _unlink_all(self, redis: RedisClient) -> None:
        """Delete what begins as the keys of this namespace do; there is nothing in it that a pattern would read."""
        cursor, pattern = 0, f"{self.namespace}:*"
        while True:
            step = await redis.ask("SCAN", cursor, "MATCH", pattern, "COUNT", _SCANNED)
            cursor, keys = cast("tuple[int, list[bytes]]", step)  # what the client makes of it
            if keys:
                await redis.ask("UNLINK", *keys)
            if not cursor:
                return

    def _key(self, key: str) -> str:
        return f"{self.namespace}:{content_digest(key).hex()}"


def namespace_of(kind: str, scope: Scope) -> str:
    """The beginning of all keys of a kind and scope, without a name in the clear; also the channel of their news."""
    return f"autogen-context:1:{kind}:{scope.key}"
