"""A connection to Redis: what is said to the server, and what its answers mean.

Promise: a password stands in no error, no log and no name. Nothing is tried twice: who asks decides what a fault means.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, fields
from math import inf
from typing import Literal, Protocol, cast
from urllib.parse import urlsplit

from autogen_context.errors import MissingExtra

Command = tuple[str | bytes | int, ...]

_SCHEMES = ("redis", "rediss", "unix")
_PLACE = re.compile(r"(\[[\da-fA-F:.]+\]|[\w.-]*)(:\d+)?(/[\w./-]*)?")
_CONNECTIONS = 16  # at once, to one server


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisLimits:
    """What a server may cost.

    Attributes:
        timeout_s: how long whoever needs an answer waits for it, in seconds.
        patience_s: how long what nobody waits for may take (connecting, a write), in seconds.
        retry_s: after how many seconds a server that is away is tried a second time; then twice as many, and so on.
        retry_max_s: the most seconds between two tries.
        pulse_s: after how many seconds of silence whoever listens for news asks whether the line still stands.
        value_bytes: the most that one value may have.
        waiting_bytes: what may wait to be written while the server is away or slow, in all.

    Raises:
        ValueError: one of them is not a positive number.
    """

    timeout_s: float = 0.05
    patience_s: float = 2.0
    retry_s: float = 0.5
    retry_max_s: float = 30.0
    pulse_s: float = 5.0
    value_bytes: int = 8 * 1024 * 1024
    waiting_bytes: int = 64 * 1024 * 1024

    def __post_init__(self) -> None:
        """See that each is a number that something fits into."""
        for field in fields(self):
            value = cast("float", getattr(self, field.name))  # all are numbers
            if not 0 < value < inf:
                raise ValueError(f"{field.name}={value}: give a number above 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Why there was no answer.

    Attributes:
        kind: ``refused`` at the door (the password), ``forbidden`` to this user, ``declined`` by a server that is well, or
            ``away``.
        reason: in words of ours; no text of the server beyond the code of its error.
    """

    kind: Literal["refused", "forbidden", "declined", "away"]
    reason: str


class RedisClient:
    """Connections to one server, for one event loop.

    Args:
        url: as ``checked_url`` let it pass.
        limits: of these ``patience_s`` is for connecting and each part of an answer, ``pulse_s`` for news.

    Raises:
        MissingExtra: ``redis`` is not installed.
    """

    def __init__(self, url: str, limits: RedisLimits) -> None:
        self._redis = _redis(url, limits.patience_s)
        self._pulse_s = limits.pulse_s

    async def ask(self, *command: str | bytes | int) -> object:
        """The answer to a command."""
        return await self._redis.execute_command(*command)

    async def ask_all(self, commands: Sequence[Command]) -> list[object]:
        """The answers to commands that are sent together."""
        async with self._redis.pipeline(transaction=False) as pipeline:
            for command in commands:
                pipeline.execute_command(*command)
            return await pipeline.execute()

    async def messages(self, channel: str) -> AsyncGenerator[bytes | None]:
        """What is published from now on; first ``None``, once the server has said that it will tell us.

        Raises:
            TimeoutError: the server is silent, even when it is asked.
        """
        async with self._redis.pubsub() as subscription:
            await subscription.subscribe(channel)
            asked = False
            while True:
                told = await subscription.get_message(timeout=self._pulse_s)
                if told is None and asked:
                    raise TimeoutError
                if told is None:
                    await subscription.ping()
                elif told["type"] == "subscribe":
                    yield None
                elif told["type"] == "message":
                    yield cast("bytes", told["data"])  # answers are not decoded
                asked = told is None

    async def aclose(self) -> None:
        """Close all connections."""
        await self._redis.aclose()


def _redis(url: str, patience_s: float) -> "_Redis":
    try:
        from redis.asyncio import BlockingConnectionPool, Redis  # noqa: PLC0415 - optional
        from redis.asyncio.retry import Retry  # noqa: PLC0415
        from redis.backoff import NoBackoff  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("redis", needed_for="a store on a Redis server") from error
    pool = BlockingConnectionPool.from_url(  # pyright: ignore[reportUnknownMemberType] - its options have no types
        url,
        max_connections=_CONNECTIONS,
        timeout=patience_s,
        socket_timeout=patience_s,
        socket_connect_timeout=patience_s,
        retry=Retry(NoBackoff(), 0),
        protocol=2,
    )
    return cast("_Redis", Redis.from_pool(pool))  # it says less of its types than we use


class _Redis(Protocol):
    """What is used of ``redis.asyncio.Redis``."""

    def execute_command(self, *command: str | bytes | int) -> Awaitable[object]: ...

    def pipeline(self, *, transaction: bool) -> "_Pipeline": ...

    def pubsub(self) -> "_Subscription": ...

    async def aclose(self) -> None: ...


class _Pipeline(AbstractAsyncContextManager["_Pipeline"], Protocol):
    """What is used of ``redis.asyncio.client.Pipeline``."""

    def execute_command(self, *command: str | bytes | int) -> object: ...

    async def execute(self) -> list[object]: ...


class _Subscription(AbstractAsyncContextManager["_Subscription"], Protocol):
    """What is used of ``redis.asyncio.client.PubSub``."""

    async def subscribe(self, channel: str) -> None: ...

    async def get_message(self, *, timeout: float) -> Mapping[str, object] | None: ...  # noqa: ASYNC109 - theirs

    async def ping(self) -> object: ...


def checked_url(url: str) -> str:
    """The url, if it is one of a Redis server.

    Raises:
        ValueError: it is not; says so without its password.
    """
    try:
        parts = urlsplit(url)
        known = parts.scheme in _SCHEMES and (parts.port or 1) and bool(parts.netloc or parts.path)
    except ValueError:  # a port that is no number; the message shows the url
        known = False
    if not known:
        raise ValueError(
            f"url={shown_url(url)!r}: give redis://user:password@host:port/database, rediss:// for TLS, "
            "or unix:///path/of/the.socket"
        )
    return url


def shown_url(url: str) -> str:
    """A url without user name, password and options, for people; where it is not clear what is what, as little as that."""
    scheme, _, rest = url.partition("://")
    before, _, place = rest.rpartition("@")
    place = place.partition("?")[0]
    clear = scheme in _SCHEMES and "?" not in before and _PLACE.fullmatch(place)
    return f"{scheme}://{place}" if clear else "…"


def fault_of(error: Exception) -> Fault:
    """What an error says about the server."""
    from redis import exceptions  # noqa: PLC0415 - optional, and loaded with the client

    at_the_door = (
        exceptions.AuthenticationError,
        exceptions.AuthenticationWrongNumberOfArgsError,
        exceptions.AuthorizationError,
    )
    if isinstance(error, at_the_door):
        return Fault(kind="refused", reason="it refuses the user name or the password")
    if isinstance(error, exceptions.NoPermissionError):
        return Fault(kind="forbidden", reason="this user may not do that")
    if isinstance(error, exceptions.ResponseError | exceptions.DataError):
        code = str(error).partition(" ")[0] if type(error) is exceptions.ResponseError else ""
        return Fault(kind="declined", reason=f"it declines ({code or type(error).__name__})")
    if isinstance(error, TimeoutError | asyncio.TimeoutError | exceptions.TimeoutError):
        return Fault(kind="away", reason="no answer in time")
    if isinstance(error, OSError | exceptions.ConnectionError):
        return Fault(kind="away", reason="no connection")
    return Fault(kind="away", reason=f"no answer of a Redis server ({type(error).__name__})")
