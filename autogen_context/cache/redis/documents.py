"""JSON by name on a Redis server, with a version: facts, and the state of a conversation.

Promise: two writers lose no update: whoever writes says which version he read, and is refused if it is not the newest.
No version comes twice under a name, though the server lose its data or the document be deleted in between.
"""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, cast

from autogen_context.cache.redis.server import RedisServer, server_of
from autogen_context.cache.redis.tier import namespace_of
from autogen_context.cache.tier import Scope
from autogen_context.errors import StateError, WriteConflict
from autogen_context.messages.message import content_digest

if TYPE_CHECKING:
    from redis import Redis

T = TypeVar("T")

NEW = 0  # the version of what is not there
# A version is the server's time in microseconds, and above the one before: a server that comes back empty does not
# count from one again, where a writer of before would take another's version for the one that he read.
_WRITE = """
    local found = tonumber(redis.call('HGET', KEYS[1], 'version') or '0')
    if found ~= tonumber(ARGV[1]) then return {0, string.format('%.0f', found or -1)} end
    local now = redis.call('TIME')
    local version = string.format('%.0f', math.max(found + 1, now[1] * 1000000 + now[2]))
    redis.call('HSET', KEYS[1], 'version', version, 'json', ARGV[2])
    return {1, version}
"""
_DELETE = """
    local found = tonumber(redis.call('HGET', KEYS[1], 'version') or '0')
    if found ~= tonumber(ARGV[1]) then return {0, string.format('%.0f', found or -1)} end
    redis.call('DEL', KEYS[1])
    return {1, '0'}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A value as it was read.

    Attributes:
        value: JSON data.
        version: to be named when it is written anew.
    """

    value: object
    version: int


class RedisDocuments:
    """The documents of one scope, on a server.

    What is asked here is waited for, ``patience_s`` at most, and errors are told: nobody can go on without his state as
    if it had been kept.

    Args:
        server: where they are, or its url.
        scope: whose documents these are; no other scope can read them.

    Raises:
        ValueError: ``server`` is neither.
    """

    def __init__(self, server: RedisServer | str, *, scope: Scope) -> None:
        self._server = server_of(server)
        self._namespace = namespace_of("document", scope)

    async def read(self, name: str) -> Document | None:
        """The document of a name; ``None`` if there is none.

        Raises:
            StoreUnavailable: the server cannot be had now.
            StoreRefused: it refuses the url.
            StateError: what is there is no document.
        """
        found = await self._ask("HMGET", self._key(name), "version", "json")
        version, text = cast("tuple[bytes | None, bytes | None]", found)
        if version is None and text is None:
            return None
        try:
            value = cast("object", json.loads((text or b"").decode("utf-8", "surrogatepass")))
            return Document(value=value, version=int(version or b""))
        except (ValueError, RecursionError) as error:
            raise StateError(
                f"the document {name!r} on {self._server.name} is damaged ({type(error).__name__}); "
                "delete it with expected_version=None and write it anew"
            ) from error

    async def write(self, name: str, value: object, *, expected_version: int) -> int:
        """Put a value in the place of a version; 0 where there is none yet.

        Returns:
            The version that it has now.

        Raises:
            WriteConflict: that version is not there (any more).
            ValueError: the value is no JSON data, or larger than a value may be.
            StoreUnavailable: the server cannot be had now; it may have written all the same.
            StoreRefused: it refuses the url.
        """
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        data = text.encode("utf-8", "surrogatepass")
        if len(data) > self._server.limits.value_bytes:
            raise ValueError(
                f"the document {name!r} has {len(data)} bytes and the limit is {self._server.limits.value_bytes}; "
                "raise value_bytes of the server's limits, or keep less in it"
            )
        return await self._replace(name, _WRITE, expected_version, data)

    async def update(self, name: str, change: Callable[[object], T]) -> T:
        """Change a document, again and again until nobody else wrote in between.

        Args:
            name: of the document.
            change: from the value that is there, or ``None``, to the one that is to be there; may be called many times.

        Returns:
            The value that is there now.

        Raises:
            Exception: as ``read`` and ``write`` raise, but for conflicts.
        """
        while True:
            found = await self.read(name) or Document(value=None, version=NEW)
            changed = change(found.value)
            try:
                await self.write(name, changed, expected_version=found.version)
            except WriteConflict:
                continue
            return changed

    async def delete(self, name: str, *, expected_version: int | None) -> None:
        """Delete a version of a document; without one whatever is there, be it damaged.

        Raises:
            WriteConflict: that version is not there (any more).
            StoreUnavailable: the server cannot be had now, so that it may still be there.
            StoreRefused: it refuses the url.
        """
        if expected_version is None:
            await self._ask("DEL", self._key(name))
        else:
            await self._replace(name, _DELETE, expected_version)

    async def _replace(self, name: str, script: str, expected_version: int, *data: bytes) -> int:
        """Run a script that names what it found, where this is not the version that was expected."""
        answer = await self._ask("EVAL", script, 1, self._key(name), expected_version, *data)
        done, version = cast("tuple[int, bytes]", answer)
        if not done:
            raise WriteConflict(name, expected_version=expected_version, version=int(version))
        return int(version)

    async def _ask(self, *command: str | bytes | int) -> object:
        def execute(redis: "Redis") -> object:
            return redis.execute_command(*command)  # type: ignore[no-untyped-call]  # theirs

        return await asyncio.to_thread(
            self._server.ask, execute, within_s=self._server.limits.patience_s
        )

    def _key(self, name: str) -> str:
        return f"{self._namespace}:{content_digest(name).hex()}"
