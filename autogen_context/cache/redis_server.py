"""The connection to a Redis server, shared by all tiers of a process that use it.

Promise: each answer is waited for at most its timeout, and not at all while the server is known to be away. Failures raise
``StoreUnavailable``; only credentials rejected before the first answer raise ``StoreRefused``. Errors, logs and names never
contain a password. Closing is optional: pending writes are sent at the end of the process.
"""

import asyncio
import logging
import re
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, fields
from math import inf
from random import SystemRandom
from threading import Event, Lock, Timer
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, Self, TypeVar, cast
from urllib.parse import urlsplit
from weakref import ref

from autogen_context.argument import require_kind
from autogen_context.cache.seal import KEY_VARIABLE, store_key
from autogen_context.errors import ContextError, MissingExtra, StoreRefused, StoreUnavailable
from autogen_context.forks import when_forked

if TYPE_CHECKING:
    from redis import Redis

T = TypeVar("T")

_LOGGER = logging.getLogger(__name__)
_SCHEMES = ("redis", "rediss", "unix")
_PLACE = re.compile(r"(\[[\da-fA-F:.]+\]|[\w.-]*)(:\d+)?(/[\w./-]*)?")
_CONNECTIONS = 32  # per server


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisLimits:
    """Timeouts and size limits for a server; times in seconds.

    Attributes:
        timeout_s: the timeout of a read, which a caller waits for.
        patience_s: the timeout of background work: connecting and writing.
        retry_s: the base delay before reconnecting; it doubles with each failed attempt.
        retry_max_s: the longest delay between two attempts.
        pulse_s: how long a subscription may be silent before it sends a ping.
        value_bytes: the largest value that is written.
        waiting_bytes: the total size of pending writes of a tier while the server is away or slow.

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
        """Raise ``ValueError`` unless every limit is positive and finite."""
        for field in fields(self):
            value = cast("float", getattr(self, field.name))  # all are numbers
            if not 0 < value < inf:
                raise ValueError(f"{field.name}={value}: give a number above 0")


class ServerFault(NamedTuple):
    """Why a call failed: credentials refused, command declined by a healthy server, or server away."""

    kind: Literal["refused", "declined", "away"]
    reason: str


class Sender(Protocol):
    """What has writes and deletions that wait for a server, such as a ``RedisTier``."""

    @property
    def waiting(self) -> int:
        """How many wait."""
        ...

    def send(self) -> None:
        """Send them. Raises as ``RedisServer.ask``."""
        ...


class RedisServer:
    """A connection to a Redis server, shared by the tiers of this process.

    It connects at the first use, or earlier by ``with``, ``async with`` or ``connect``.

    Args:
        url: ``redis://user:password@host:port/database``, ``rediss://`` for TLS, ``unix://`` for a socket.
        limits: timeouts and size limits.
        key: seals what is written, so that nobody without it can write what is read here; the same for all who share, at least
            16 random characters. Default: ``AUTOGEN_CONTEXT_STORE_KEY``.

    Raises:
        ValueError: the url has none of these forms, or the key is too short to be a secret.
        MissingExtra: ``redis`` is not installed.
    """

    def __init__(
        self, url: str, *, limits: RedisLimits | None = None, key: str | bytes | None = None
    ) -> None:
        self.limits = limits or RedisLimits()
        self.key = store_key(key)
        self.name = shown_url(url)
        try:
            parts = urlsplit(url)
            known = parts.scheme in _SCHEMES and (parts.port or 1) and (parts.netloc or parts.path)
        except ValueError:  # the port is not a number
            known = False
        if not known:
            raise ValueError(
                f"url={self.name!r}: give redis://user:password@host:port/database, rediss:// for TLS, "
                "or unix:///path/of/the.socket"
            )
        self.closed = Event()
        self.patient = _client(url, self.limits.patience_s)
        self._hurried = _client(url, self.limits.timeout_s)
        self._unsent: set[Sender] = set()  # with pending writes, and being served soon
        self._fault: ServerFault | None = None  # why it is away
        self._served = self._has_warned = False
        self._tries, self._since_s = 0, time.monotonic()  # to reconnect, and the last success
        self._begin_anew()
        when_forked(self._begin_anew)

    def _begin_anew(self) -> None:
        self._lock, self._worker = Lock(), ThreadPoolExecutor(1, "context-redis")
        self._unsent.clear()  # by the parent, which has the thread
        self._fault = None

    @property
    def away(self) -> bool:
        """True after a failure, until a reconnect in the background succeeds; calls fail at once meanwhile."""
        return self._fault is not None

    def ask(self, command: "Callable[[Redis], T]") -> T:
        """Run a command with ``timeout_s`` and return its result.

        Raises:
            StoreUnavailable: the server is away, declined the command, or was closed.
            StoreRefused: the server rejects the credentials and has never answered.
        """
        return self._answer(self._hurried, command)

    def tell(self, command: "Callable[[Redis], T]") -> T:
        """Run a command like ``ask``, but with ``patience_s``, for background threads."""
        return self._answer(self.patient, command)

    def soon(self, tier: Sender) -> None:
        """Have a tier's pending writes sent in the background."""
        if tier not in self._unsent:
            self._unsent.add(tier)
            self.submit()

    def wait(self, tier: Sender) -> None:
        """Send a tier's pending writes, waiting at most ``patience_s``. Raises as ``ask``."""
        self._check()
        self._unsent.add(tier)
        if sent := self.submit():
            wait([sent], self.limits.patience_s)

    def submit(self) -> "Future[None] | None":
        """Reconnect if the server is away, and send what is pending, in the background."""
        with suppress(RuntimeError):  # closed meanwhile, or the process is exiting
            return self._worker.submit(self._work)
        return None

    def warn_of_no_key(self) -> None:
        """Say once that what needs a key is not shared."""
        if not self._has_warned:
            self._has_warned = True
            numbers = {"store": self.name}
            _LOGGER.warning(
                "a store without a key shares only values built from files that both sides have, since anybody who can write to "
                "it could say anything: give all who share the same RedisServer(..., key=) or %s",
                KEY_VARIABLE,
                extra=numbers,
            )

    def connect(self) -> None:
        """Wait at most ``patience_s`` for the connection. Raises only ``StoreRefused``, for rejected credentials."""
        with suppress(StoreUnavailable):
            self.tell(_pinged)

    def close(self) -> None:
        """Send pending writes, which takes ``patience_s`` at most, and release threads and connections."""
        if self.closed.is_set():
            return
        self._worker.shutdown()  # waits for what is being sent
        self.closed.set()
        if left := sum(tier.waiting for tier in self._unsent):
            numbers = {"store": self.name, "left": left}
            _LOGGER.warning(
                "a shared store was closed before everything was written", extra=numbers
            )
        for client in (self.patient, self._hurried):
            client.connection_pool.disconnect()

    def __enter__(self) -> Self:  # noqa: D105 - connected if available
        self.connect()
        return self

    def __exit__(self, *_: object) -> None:  # noqa: D105
        self.close()

    async def __aenter__(self) -> Self:  # noqa: D105 - without blocking the event loop
        await asyncio.to_thread(self.connect)
        return self

    async def __aexit__(self, *_: object) -> None:  # noqa: D105
        await asyncio.to_thread(self.close)

    def _check(self) -> None:
        """Raise unless a command may be sent."""
        if self.closed.is_set():
            raise StoreUnavailable(self.name, reason="it was closed")
        if (fault := self._fault) is not None:  # read once: another thread may reconnect
            raise self._error(fault)

    def _work(self) -> None:
        if self._fault is not None:
            try:
                for client in (self.patient, self._hurried):  # a slow server stays away
                    _pinged(client)
            except Exception as error:  # noqa: BLE001 - a server that is not Redis may break any part of the client
                self._try_later(fault_of(error))
                return
            self._fault, self._since_s = None, time.monotonic()
            _LOGGER.info("the shared store is back", extra={"store": self.name})
        for tier in list(self._unsent):
            self._unsent.discard(tier)  # before sending, so that a write meanwhile adds it again
            with suppress(StoreUnavailable, StoreRefused):
                tier.send()
            if tier.waiting:
                self._unsent.add(tier)

    def _answer(self, client: "Redis", command: "Callable[[Redis], T]") -> T:
        self._check()
        try:
            answer = command(client)
        except Exception as error:  # as in ``_work``
            fault = fault_of(error)
            if fault.kind == "away" or (fault.kind == "refused" and not self._served):
                self._leave(fault)
            raise self._error(fault) from error
        self._served = True
        return answer

    def _leave(self, fault: ServerFault) -> None:
        """Mark the server as away; reconnect at once after a long connection, else with backoff."""
        with self._lock:
            if self._fault is not None:  # another thread was first
                return
            self._fault = fault
        if time.monotonic() - self._since_s > self.limits.retry_max_s:
            self._tries = 0
        numbers = {"store": self.name, "reason": fault.reason}
        _LOGGER.warning("a shared store is away (%s)", fault.reason, extra=numbers)
        self._try_later(fault)

    def _try_later(self, fault: ServerFault) -> None:
        jitter = SystemRandom().uniform(0.5, 1.0)  # so that not all processes reconnect at once
        longest_s = self.limits.retry_s * 2 ** min(self._tries - 1, 32) if self._tries else 0.0
        pause_s = jitter * min(longest_s, self.limits.retry_max_s)
        self._fault, self._tries = fault, self._tries + 1
        if not self.closed.is_set():
            again = Timer(pause_s, _try_again, [ref(self)])
            again.daemon = True
            again.start()

    def _error(self, fault: ServerFault) -> ContextError:
        if fault.kind == "refused" and not self._served:
            return StoreRefused(self.name)
        return StoreUnavailable(self.name, reason=fault.reason)


def server_of(server: RedisServer | str) -> RedisServer:
    """Return the given server, or a new one for a url. Raise ``ValueError`` for anything else."""
    if isinstance(server, str):
        return RedisServer(server)
    require_kind("server", server, RedisServer, give="a RedisServer, or the url of one")
    return server


def shown_url(url: str) -> str:
    """Return a url without user name, password and options; ``…`` if it cannot be parsed safely."""
    scheme, _, rest = url.partition("://")
    before, _, place = rest.rpartition("@")
    place = place.partition("?")[0]
    clear = scheme in _SCHEMES and "?" not in before and _PLACE.fullmatch(place)
    return f"{scheme}://{place}" if clear else "…"


def fault_of(error: Exception) -> ServerFault:
    """Classify an exception; of the server's own text, only the error code is used."""
    from redis import exceptions as known  # noqa: PLC0415 - optional, and loaded with the client

    match error:
        case (
            known.AuthenticationError()
            | known.AuthenticationWrongNumberOfArgsError()
            | known.AuthorizationError()
            | known.NoPermissionError()
        ):
            return ServerFault(
                "refused", "it rejects the user name, the password or the permissions"
            )
        case known.ResponseError() | known.DataError():
            code = str(error).partition(" ")[0]  # in capitals; other text may contain a value
            shown = code if code.isupper() else type(error).__name__
            return ServerFault("declined", f"it rejected a command ({shown})")
        case TimeoutError() | known.TimeoutError():
            return ServerFault("away", "no answer in time")
        case OSError() | known.ConnectionError():
            return ServerFault("away", "no connection")
        case _:
            return ServerFault("away", f"not a Redis server ({type(error).__name__})")


def _client(url: str, timeout_s: float) -> "Redis":
    """Return a client that never retries: a write whose answer was lost may have been executed."""
    try:
        from redis import BlockingConnectionPool, Redis  # noqa: PLC0415 - optional
        from redis.backoff import NoBackoff  # noqa: PLC0415
        from redis.retry import Retry  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("redis", needed_for="a store on a Redis server") from error
    pool = BlockingConnectionPool.from_url(  # pyright: ignore[reportUnknownMemberType] - its options have no types
        url,
        max_connections=_CONNECTIONS,
        timeout=timeout_s,
        socket_timeout=timeout_s,
        socket_connect_timeout=timeout_s,
        retry=Retry(NoBackoff(), 0),
        protocol=2,
    )
    return Redis.from_pool(pool)


def _pinged(redis: "Redis") -> None:
    if redis.ping() is not True:  # pyright: ignore[reportUnknownMemberType] - its options have no types
        raise TypeError("not a Redis server")


def _try_again(server: "ref[RedisServer]") -> None:
    if (found := server()) is not None:
        found.submit()
