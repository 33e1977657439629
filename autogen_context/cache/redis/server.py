"""A Redis server, for everything in a process that is shared through it.

Promise: each answer is waited for as long as the limit says, and while the server is away nobody waits. One warning says
that it went, one line that it is back. Only a wrong setting, which the server refuses before it has answered once, is an
error of another kind. It needs not be closed: at the end of the process what waits is written, within the limit. A password
stands in no error, no log and no name.
"""

import asyncio
import atexit
import logging
import re
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import partial
from math import inf
from threading import Condition, Event, Thread
from typing import TYPE_CHECKING, Literal, NamedTuple, Self, TypeVar, cast
from urllib.parse import urlsplit

from autogen_context.errors import ContextError, MissingExtra, StoreRefused, StoreUnavailable

if TYPE_CHECKING:
    from redis import Redis

    from autogen_context.cache.redis.tier import RedisTier

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
    """Why there was no answer: refused at the door, forbidden to this user, declined by a server that is well, or away."""

    kind: Literal["refused", "forbidden", "declined", "away"]
    reason: str


class RedisServer:
    """A server, for everything in this process that is shared through it.

    It connects when it is first used, or by ``with``, ``async with`` and ``connect``: who is the first to need an answer
    may get none within his limit otherwise.

    Args:
        url: ``redis://user:password@host:port/database``, ``rediss://`` for TLS, ``unix://`` for a socket.
        limits: what it may cost.

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
        self.unsent: set[RedisTier] = set()
        self._here = self._served = self._overdue = False
        self._fault: Fault | None = None
        self._tries = 0
        self._since_s = self._retry_at_s = 0.0
        self._changed, self._awake = Condition(), Event()
        self._thread: Thread | None = None
        self._at_exit = partial(_close, weakref.ref(self))
        atexit.register(self._at_exit)

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
        return self._answer(self.patient, command)

    def reach(self, within_s: float) -> None:
        """Wait for the first connection; a server that is away is not waited for. Raises what ``ask`` does."""
        if self.closed.is_set():
            raise StoreUnavailable(self.name, reason="it was closed")
        self._run()
        with self._changed:
            if self._overdue and within_s <= self.limits.timeout_s:
                within_s = 0.0
            self._changed.wait_for(lambda: self._here or self._fault is not None, within_s)
            if self._here:
                return
            self._overdue = True
            raise self._error(self._fault or Fault("away", "no connection yet"))

    def soon(self, work: "RedisTier") -> None:
        """Have what waits sent soon."""
        with self._changed:
            self.unsent.add(work)
        if not self.closed.is_set():
            self._run()
        self._awake.set()

    def wait(self, work: "RedisTier", until: Callable[[], bool]) -> bool:
        """Wait until something holds after what waits was sent, ``patience_s`` at most; raises what ``ask`` does."""
        self.reach(self.limits.patience_s)
        self.soon(work)
        with self._changed:
            self._changed.wait_for(lambda: until() or self.away, self.limits.patience_s)
        return until()

    def connect(self) -> None:
        """Wait for the connection, ``patience_s`` at most; only that it refuses the url is an error: ``StoreRefused``."""
        with suppress(StoreUnavailable):
            self.reach(self.limits.patience_s)

    def close(self) -> None:
        """Write what waits, for ``patience_s`` at most, and let go of thread and connections."""
        if self.closed.is_set():
            return
        atexit.unregister(self._at_exit)
        for work in list(self.unsent):
            with suppress(StoreUnavailable, StoreRefused):
                self.wait(work, lambda: not any(map(len, list(self.unsent))))
        self.closed.set()
        self._awake.set()
        if left := sum(map(len, self.unsent)):
            numbers = {"store": self.name, "left": left}
            _LOGGER.warning("a shared store was closed before all was written", extra=numbers)
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

    def step(self) -> float | None:
        """Come back if it is time, and send what waits; after how many seconds there is more to do."""
        if not self._here:
            left_s = self._retry_at_s - time.monotonic()
            if left_s > 0:
                return left_s
            self._knock()
        done = [work.send() for work in list(self.unsent) if self._here]
        with self._changed:
            self.unsent = {work for work in self.unsent if len(work)}
            self._changed.notify_all()
        if not self._here:
            return max(0.0, self._retry_at_s - time.monotonic())
        return None if all(done) else self._pause_s(1)

    def _run(self) -> None:
        """Have the thread at work; a child process has none of those that it was forked from."""
        with self._changed:
            if self._thread is None or not self._thread.is_alive():
                weakref.finalize(self, self._awake.set).atexit = False
                work = weakref.ref(self), self._awake
                self._thread = Thread(target=_keep, args=work, daemon=True, name=self.name)
                self._thread.start()

    def _knock(self) -> None:
        """Connect, for which there is time, and see that it answers as fast as it must."""
        self._tries += 1
        try:
            for client in (self.patient, self._hurried):
                if client.ping() is not True:  # pyright: ignore[reportUnknownMemberType] - its options have no types
                    raise TypeError  # noqa: TRY301 - it is no Redis, however it shows
        except Exception as error:  # noqa: BLE001 - whoever is no Redis may break any part of the client
            self._leave(fault_of(error))
            return
        with self._changed:
            was_away, self.away = self.away, False
            self._here, self._fault, self._overdue = True, None, False
            self._since_s = time.monotonic()
            self._changed.notify_all()
        if was_away:
            _LOGGER.info("the shared store is back", extra={"store": self.name})

    def _pause_s(self, tries: int) -> float:
        """Twice as long after each try, up to the limit; spread, so that not all processes come at once."""
        from redis.backoff import EqualJitterBackoff  # noqa: PLC0415 - optional

        backoff = EqualJitterBackoff(cap=self.limits.retry_max_s, base=self.limits.retry_s)
        return float(backoff.compute(min(tries - 1, 32)))

    def _answer(self, client: "Redis", command: "Callable[[Redis], T]") -> T:
        try:
            answer = command(client)
        except Exception as error:  # as in ``_knock``
            fault = fault_of(error)
            if fault.kind in ("away", "refused") or (
                fault.kind == "forbidden" and not self._served
            ):
                self._leave(fault)
                self._awake.set()
            raise self._error(fault) from error
        self._served = True
        return answer

    def _leave(self, fault: Fault) -> None:
        """Ask no more until it is back; a server that was there for long is tried at once, others later and later."""
        with self._changed:
            now_s = time.monotonic()
            if self._here and now_s - self._since_s > self.limits.retry_max_s:
                self._tries = 0
            self._retry_at_s = now_s + (self._pause_s(self._tries) if self._tries else 0.0)
            known = self._fault.kind if self._fault else None
            self._here, self._fault, self.away = False, fault, True
            self._changed.notify_all()
        if not self.closed.is_set() and (known is None or (fault.kind == "refused" != known)):
            numbers = {"store": self.name, "reason": fault.reason}
            _LOGGER.warning("a shared store is away (%s)", fault.reason, extra=numbers)

    def _error(self, fault: Fault) -> ContextError:
        if fault.kind in ("refused", "forbidden") and not self._served:
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
        ):
            return Fault("refused", "it refuses the user name or the password")
        case known.NoPermissionError():
            return Fault("forbidden", "this user may not do that")
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


def _keep(server: "weakref.ref[RedisServer]", awake: Event) -> None:
    while (found := server()) is not None and not found.closed.is_set():
        awake.clear()
        pause_s = found.step()
        del found
        awake.wait(pause_s)


def _close(server: "weakref.ref[RedisServer]") -> None:
    if (found := server()) is not None:
        found.close()
