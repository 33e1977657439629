"""A Redis server, for everything in a process that is shared through it.

Promise: each answer is waited for as long as the limit says, and while the server is away nobody waits. Only a wrong setting, which
the server refuses before it has answered once, is an error of another kind. A password stands in no error, no log and no name.
It needs not be closed: what waits is written at the end of the process.
"""

import asyncio
import logging
import os
import re
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, fields
from math import inf
from threading import Event, Lock, Timer
from typing import TYPE_CHECKING, Literal, NamedTuple, Self, TypeVar, cast
from urllib.parse import urlsplit
from weakref import ref

from autogen_context.errors import ContextError, MissingExtra, StoreRefused, StoreUnavailable

if TYPE_CHECKING:
    from redis import Redis

    from autogen_context.cache.redis_tier import RedisTier

T = TypeVar("T")

_LOGGER = logging.getLogger(__name__)
_SCHEMES = ("redis", "rediss", "unix")
_PLACE = re.compile(r"(\[[\da-fA-F:.]+\]|[\w.-]*)(:\d+)?(/[\w./-]*)?")
_CONNECTIONS = 32  # at once, to one server


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


class Fault(NamedTuple):
    """Why there was no answer: refused to this user, declined by a server that is well, or away."""

    kind: Literal["refused", "declined", "away"]
    reason: str


class RedisServer:
    """A server, for everything in this process that is shared through it.

    It connects when it is first used, or by ``with``, ``async with`` and ``connect``: who is the first to need an answer
    may get none within his limit otherwise.

    Args:
        url: ``redis://user:password@host:port/database``, ``rediss://`` for TLS, ``unix://`` for a socket.
        limits: what it may cost.

    Attributes:
        away: whether it did not answer the last time, so that nobody asks it before it was tried in the background.

    Raises:
        ValueError: the url is none of these.
        MissingExtra: ``redis`` is not installed.
    """

    def __init__(self, url: str, *, limits: RedisLimits | None = None) -> None:
        self.limits = limits or RedisLimits()
        self.name = shown_url(url)
        try:
            parts = urlsplit(url)
            known = parts.scheme in _SCHEMES and (parts.port or 1) and (parts.netloc or parts.path)
        except ValueError:  # a port that is no number
            known = False
        if not known:
            raise ValueError(
                f"url={self.name!r}: give redis://user:password@host:port/database, rediss:// for TLS, "
                "or unix:///path/of/the.socket"
            )
        self.away = False
        self.closed = Event()
        self.patient = _client(url, self.limits.patience_s)
        self._hurried = _client(url, self.limits.timeout_s)
        self._unsent: set[RedisTier] = set()
        self._here = self._served = False
        self._fault: Fault | None = None
        self._tries = 0
        self._since_s = 0.0
        self._lock = Lock()
        self._first: Future[None] | None = None  # the first try to connect
        self._worker, self._process = ThreadPoolExecutor(1, "context-redis"), os.getpid()

    def ask(self, command: "Callable[[Redis], T]") -> T:
        """What the server answers within ``timeout_s``.

        Raises:
            StoreUnavailable: it is away, or declines, or was closed.
            StoreRefused: it refuses the url, and has never answered.
        """
        self.reach(self.limits.timeout_s)
        return self._answer(self._hurried, command)

    def tell(self, command: "Callable[[Redis], T]") -> T:
        """The same within ``patience_s``, for threads that nobody waits for."""
        self.reach(self.limits.patience_s)
        return self._answer(self.patient, command)

    def reach(self, within_s: float) -> None:
        """Wait for the first connection; a server that is away is not waited for. Raises what ``ask`` does."""
        if self.closed.is_set():
            raise StoreUnavailable(self.name, reason="it was closed")
        if self._here:
            return
        with self._lock:
            is_forked = self._process != os.getpid()  # nobody tries to come back there
            if self._first is None or is_forked:
                self._first = self._submit()
        if self._first is not None and self._fault is None:
            wait([self._first], within_s)
        if not self._here:
            raise self._error(self._fault or Fault("away", "no connection yet"))

    def soon(self, tier: "RedisTier") -> "Future[None] | None":
        """Have what waits sent soon: when what is returned is done, or when the server is back."""
        with self._lock:
            self._unsent.add(tier)
            return None if self.closed.is_set() or self.away else self._submit()

    def wait(self, tier: "RedisTier") -> None:
        """Wait until what waits was sent, ``patience_s`` at most; raises what ``ask`` does."""
        self.reach(self.limits.patience_s)
        if sent := self.soon(tier):
            wait([sent], self.limits.patience_s)

    def connect(self) -> None:
        """Wait for the connection, ``patience_s`` at most; only that it refuses the url is an error: ``StoreRefused``."""
        with suppress(StoreUnavailable):
            self.reach(self.limits.patience_s)

    def close(self) -> None:
        """Write what waits, for ``patience_s`` at most, and let go of threads and connections."""
        if self.closed.is_set():
            return
        for tier in list(self._unsent):
            with suppress(StoreUnavailable, StoreRefused):
                self.wait(tier)
        self.closed.set()
        if left := sum(tier.waiting for tier in self._unsent):
            numbers = {"store": self.name, "left": left}
            _LOGGER.warning("a shared store was closed before all was written", extra=numbers)
        self._worker.shutdown(cancel_futures=True)
        for client in (self.patient, self._hurried):
            client.connection_pool.disconnect()

    def __enter__(self) -> Self:  # noqa: D105 - connected if it is there
        self.connect()
        return self

    def __exit__(self, *_: object) -> None:  # noqa: D105
        self.close()

    async def __aenter__(self) -> Self:  # noqa: D105 - the same, while the loop goes on
        await asyncio.to_thread(self.connect)
        return self

    async def __aexit__(self, *_: object) -> None:  # noqa: D105
        await asyncio.to_thread(self.close)

    def try_again(self) -> None:
        """See in the background whether it is back."""
        with self._lock:
            self._submit()

    def _submit(self) -> "Future[None] | None":
        if self._process != os.getpid():  # a child has no threads
            self._worker, self._process = ThreadPoolExecutor(1, "context-redis"), os.getpid()
        with suppress(RuntimeError):  # it was closed meanwhile, or the process ends
            return self._worker.submit(self._work)
        return None

    def _work(self) -> None:
        """Connect, for which there is time, see that it answers as fast as it must, and send what waits."""
        if not self._here:
            self._tries += 1
            try:
                for client in (self.patient, self._hurried):
                    if client.ping() is not True:  # pyright: ignore[reportUnknownMemberType] - its options have no types
                        raise TypeError  # noqa: TRY301 - it is no Redis, however it shows
            except Exception as error:  # noqa: BLE001 - whoever is no Redis may break any part of the client
                self._leave(fault_of(error), here=False)
                return
            was_away, self.away = self.away, False
            self._here, self._fault = True, None
            self._since_s = time.monotonic()
            if was_away:
                _LOGGER.info("the shared store is back", extra={"store": self.name})
        for tier in list(self._unsent):
            self._unsent.discard(tier)  # before, so that what comes meanwhile puts it in again
            with suppress(StoreUnavailable, StoreRefused):
                tier.send()
            if tier.waiting:
                self._unsent.add(tier)

    def _answer(self, client: "Redis", command: "Callable[[Redis], T]") -> T:
        try:
            answer = command(client)
        except Exception as error:  # as in ``_work``
            fault = fault_of(error)
            if fault.kind == "away" or (fault.kind == "refused" and not self._served):
                self._leave(fault, here=True)
            raise self._error(fault) from error
        self._served = True
        return answer

    def _leave(self, fault: Fault, *, here: bool) -> None:
        """Ask no more until it is back; a server that was there for long is tried at once, others later and later."""
        with self._lock:
            if self._here is not here:  # another thread was first
                return
            if here and time.monotonic() - self._since_s > self.limits.retry_max_s:
                self._tries = 0
            is_known = self._fault is not None
            self._here, self._fault, self.away = False, fault, True
        if self.closed.is_set():
            return
        if not is_known:
            numbers = {"store": self.name, "reason": fault.reason}
            _LOGGER.warning("a shared store is away (%s)", fault.reason, extra=numbers)
        from redis.backoff import EqualJitterBackoff  # noqa: PLC0415 - optional

        # Spread, so that not all processes come at once.
        backoff = EqualJitterBackoff(cap=self.limits.retry_max_s, base=self.limits.retry_s)
        pause_s = backoff.compute(min(self._tries - 1, 32)) if self._tries else 0.0
        again = Timer(pause_s, _try_again, [ref(self)])
        again.daemon = True
        again.start()

    def _error(self, fault: Fault) -> ContextError:
        if fault.kind == "refused" and not self._served:
            return StoreRefused(self.name)
        return StoreUnavailable(self.name, reason=fault.reason)


def server_of(server: RedisServer | str) -> RedisServer:
    """The server that was given, or the one at a url; ``ValueError`` if it is neither."""
    if isinstance(server, str):
        return RedisServer(server)
    if not isinstance(server, RedisServer):  # pyright: ignore[reportUnnecessaryIsInstance] - nobody need check types
        raise ValueError(f"server={server!r:.80}: give a RedisServer, or the url of one")  # noqa: TRY004 - as for every wrong argument
    return server


def shown_url(url: str) -> str:
    """A url without user name, password and options; where it is not clear what is what, as little as that."""
    scheme, _, rest = url.partition("://")
    before, _, place = rest.rpartition("@")
    place = place.partition("?")[0]
    clear = scheme in _SCHEMES and "?" not in before and _PLACE.fullmatch(place)
    return f"{scheme}://{place}" if clear else "…"


def fault_of(error: Exception) -> Fault:
    """What an error says about the server; no text of the server beyond the code of its error."""
    from redis import exceptions as known  # noqa: PLC0415 - optional, and loaded with the client

    match error:
        case (
            known.AuthenticationError()
            | known.AuthenticationWrongNumberOfArgsError()
            | known.AuthorizationError()
            | known.NoPermissionError()
        ):
            return Fault("refused", "it refuses the user name, the password or the rights")
        case known.ResponseError() | known.DataError():
            code = str(error).partition(" ")[0]  # in capitals; anything else may be text of a value
            shown = code if code.isupper() else type(error).__name__
            return Fault("declined", f"it declines ({shown})")
        case TimeoutError() | known.TimeoutError():
            return Fault("away", "no answer in time")
        case OSError() | known.ConnectionError():
            return Fault("away", "no connection")
        case _:
            return Fault("away", f"no answer of a Redis server ({type(error).__name__})")


def _client(url: str, timeout_s: float) -> "Redis":
    """A client that tries nothing twice: a write whose answer was lost may have been done."""
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


def _try_again(server: "ref[RedisServer]") -> None:
    if (found := server()) is not None:
        found.try_again()
