"""A Redis server, for everything in a process that is shared through it.

Promise: nobody waits longer than the limit for a server that is slow, dead, or no Redis; while it is away nobody waits.
One warning says that it went, one line that it is back. Only a wrong setting, which the server refuses before it has
answered once, is an error of another kind. It is used from any loop, any thread, or none, and needs not be closed: at the
end of the process what waits is written, within the limit. A password stands in no error, no log and no name.

Connections, their pool, their limits and the pauses between tries are redis-py's. Who needs an answer has it asked for in
a thread, so that the limit is one for the whole request: those of sockets bound each part of an answer, and no name that
does not resolve. One more thread comes back to a server that went, and writes what waits.
"""

import asyncio
import atexit
import logging
import os
import re
import time
import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import partial
from math import inf
from threading import Condition, Event, Lock, Thread
from typing import TYPE_CHECKING, Literal, Protocol, Self, TypeVar, cast
from urllib.parse import urlsplit

from autogen_context.errors import ContextError, MissingExtra, StoreRefused, StoreUnavailable

if TYPE_CHECKING:
    from redis import Redis

T = TypeVar("T")

_LOGGER = logging.getLogger(__name__)
_SCHEMES = ("redis", "rediss", "unix")
_PLACE = re.compile(r"(\[[\da-fA-F:.]+\]|[\w.-]*)(:\d+)?(/[\w./-]*)?")
_CONNECTIONS = 32  # at once, to one server
_ASKING = 8  # of these, who needs an answer


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


class Unsent(Protocol):
    """Something that has work for the thread of the server."""

    def __len__(self) -> int:
        """How much there is."""
        ...

    def send(self) -> bool:
        """Do what can be done now; ``False`` where it is to be tried again after a pause."""
        ...


class RedisServer:
    """A server, for everything in this process that is shared through it.

    It connects when it is first used, or by ``with``, ``async with`` and ``connect``: who is the first to need an answer
    may get none within his limit otherwise.

    Args:
        url: ``redis://user:password@host:port/database``, ``rediss://`` for TLS, ``unix://`` for a socket.
        limits: what it may cost.

    Attributes:
        away: whether it was found to be away; until it was asked for the first time it is not.
        unsent: what has work for the thread of the server.

    Raises:
        ValueError: the url is none of these.
        MissingExtra: ``redis`` is not installed.
    """

    def __init__(self, url: str, *, limits: RedisLimits | None = None) -> None:
        self.limits = limits or RedisLimits()
        self.name = shown_url(checked_url(url))
        self.unsent: set[Unsent] = set()
        self.away = False
        self.closed = Event()
        self.client = _client(url, self.limits.patience_s)
        self._backoff = _backoff(self.limits)
        self._begin()
        self._at_exit = partial(_close, weakref.ref(self))
        atexit.register(self._at_exit)

    def ask(self, command: "Callable[[Redis], T]", *, within_s: float) -> T:
        """What the server answers.

        Raises:
            StoreUnavailable: it is away, or does not answer in time, or declines, or was closed.
            StoreRefused: it refuses the url, and has never answered.
        """
        self.run()
        if self.closed.is_set():
            raise StoreUnavailable(self.name, reason="it was closed")
        if self._fault is not None and not self.here.is_set():
            raise self._error(self._fault)
        if self._overdue and within_s <= self.limits.timeout_s and not self.here.is_set():
            raise StoreUnavailable(self.name, reason="no connection yet")
        visit = self._visits
        try:
            asked = self._asking.submit(self._asked, command, time.monotonic() + within_s)
        except RuntimeError as error:
            raise StoreUnavailable(self.name, reason="it was closed") from error
        with suppress(TimeoutError):
            return asked.result(within_s)
        return self._late(asked, visit)

    def answer(self, command: "Callable[[Redis], T]") -> T:
        """The same in this thread, within what sockets may take; for threads that nobody waits for."""
        if not self.here.is_set():
            raise self._error(self._fault or Fault(kind="away", reason="no connection yet"))
        visit = self._visits
        try:
            answer = command(self.client)
        except Exception as error:  # whoever is no Redis may break any part of the client
            raise self._faulty(fault_of(error), visit) from error
        self._served = True
        return answer

    def soon(self, work: Unsent) -> None:
        """Have what waits sent soon."""
        self.run()
        with self._lock:
            self.unsent.add(work)
        self._awake.set()

    def wait(self, work: Unsent, until: Callable[[], bool]) -> bool:
        """Wait until something holds after what waits was tried, ``patience_s`` at most; whether it does.

        Raises:
            StoreUnavailable: the server cannot be had now.
            StoreRefused: it refuses the url.
        """
        self.ask(answers, within_s=self.limits.patience_s)
        self.soon(work)
        self._wait(until)
        return until()

    def pause_s(self, tries: int) -> float:
        """Twice as long after each try, up to the limit; spread, so that not all processes come at once."""
        return self._backoff(tries)

    def connect(self) -> None:
        """Wait for the connection, ``patience_s`` at most; that the server is away is no error.

        Raises:
            StoreRefused: it refuses the url.
        """
        with suppress(StoreUnavailable):
            self.ask(answers, within_s=self.limits.patience_s)

    def close(self) -> None:
        """Write what waits, for ``patience_s`` at most, and let go of threads and connections."""
        if self.closed.is_set():
            return
        atexit.unregister(self._at_exit)
        if self._waiting():
            self._tried.wait(self.limits.patience_s)
            self._awake.set()
            self._wait(lambda: not self._waiting())
        self.closed.set()
        self._tried.set()
        self._awake.set()
        if left := self._waiting():
            numbers = {"store": self.name, "left": left}
            _LOGGER.warning("a shared store was closed before all was written", extra=numbers)
        self._asking.shutdown(wait=False, cancel_futures=True)
        self.client.connection_pool.disconnect()

    def __enter__(self) -> Self:
        """The server, connected if it is there."""
        self.connect()
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    async def __aenter__(self) -> Self:
        """The same, while the loop goes on."""
        await asyncio.to_thread(self.connect)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close it, while the loop goes on."""
        await asyncio.to_thread(self.close)

    def _begin(self) -> None:
        """As it is before it was used; so is a child process, which has none of the threads that it was forked from."""
        self._pid = os.getpid()
        self._lock, self._passed = Lock(), Condition()
        self.here, self._tried, self._awake = Event(), Event(), Event()
        self._asking = ThreadPoolExecutor(_ASKING, thread_name_prefix=f"redis {self.name}")
        self._thread: Thread | None = None
        self._fault: Fault | None = None
        self._overdue = self._served = False
        self._tries: int = 0
        self._visits: int = 0
        self._since_s = self._retry_at_s = 0.0

    def run(self) -> None:
        """Have the thread of the server at work."""
        if os.getpid() != self._pid:
            self._begin()
        with self._lock:
            if self._thread is None and not self.closed.is_set():
                weakref.finalize(self, self._awake.set).atexit = False
                work = weakref.ref(self), self._awake
                self._thread = Thread(target=_keep, args=work, daemon=True, name=self.name)
                self._thread.start()

    def _wait(self, until: Callable[[], bool]) -> None:
        with self._passed:
            self._passed.wait_for(lambda: until() or self.away, self.limits.patience_s)

    def _waiting(self) -> int:
        return sum(len(each) for each in list(self.unsent))

    def step(self) -> float | None:
        """Come back if it is time, and send what waits; after how many seconds there is more to do."""
        if not self.here.is_set():
            left_s = self._retry_at_s - time.monotonic()
            if left_s > 0:
                return left_s
            self._try_again()
        done = [self._send(work) for work in list(self.unsent) if self.here.is_set()]
        with self._passed:
            self._passed.notify_all()
        if not self.here.is_set():
            return max(0.0, self._retry_at_s - time.monotonic())
        return None if all(done) else self.pause_s(1)

    def _send(self, work: Unsent) -> bool:
        """Have work done; it waits here until there is none left, and who has more says so after that."""
        done = work.send()
        with self._lock:
            if not len(work):
                self.unsent.discard(work)
        return done

    def _try_again(self) -> None:
        """Connect, for which there is time, and see that it answers as fast as it must."""
        self._tries += 1
        try:
            self._knock()
        except Exception as error:  # noqa: BLE001 - as in ``answer``
            self._leave(fault_of(error))
        else:
            self._arrive()
        self._tried.set()

    def _knock(self) -> None:
        if answers(self.client) is not True:
            raise TypeError
        begun_s = time.monotonic()
        answers(self.client)
        if time.monotonic() - begun_s > self.limits.timeout_s:
            raise TimeoutError

    def _asked(self, command: "Callable[[Redis], T]", until_s: float) -> T:
        """Ask once the server was tried for the first time."""
        if not self.here.is_set() and self._fault is None:
            self._tried.wait(max(0.0, until_s - time.monotonic()))
        return self.answer(command)

    def _late(self, asked: "Future[T]", visit: int) -> T:
        """What came in the last moment; nobody else waits for a server that is so slow."""
        if asked.done() and not asked.cancelled():
            return asked.result()
        asked.cancel()
        if self.closed.is_set():
            raise StoreUnavailable(self.name, reason="it was closed")
        if self.here.is_set():
            raise self._faulty(Fault(kind="away", reason="no answer in time"), visit)
        self._overdue = True
        raise StoreUnavailable(self.name, reason="no connection yet")

    def _arrive(self) -> None:
        with self._lock:
            was_away, self.away = self.away, False
            self._visits += 1
            self._since_s = time.monotonic()
            self._fault, self._overdue = None, False
            self.here.set()
        if was_away:
            _LOGGER.info("the shared store is back", extra={"store": self.name})

    def _faulty(self, fault: Fault, visit: int) -> ContextError:
        """The error to raise for a fault; what was asked before the server went says nothing of it now."""
        at_fault = fault.kind in ("away", "refused") or not self._served
        if fault.kind != "declined" and at_fault and visit == self._visits:
            self._leave(fault)
            self._awake.set()
        return self._error(fault)

    def _leave(self, fault: Fault) -> None:
        """Ask no more until it is back; a server that was there for long is tried at once, others later and later."""
        with self._lock:
            now_s = time.monotonic()
            if self.here.is_set() and now_s - self._since_s > self.limits.retry_max_s:
                self._tries = 0
            self._retry_at_s = now_s + (self.pause_s(self._tries) if self._tries else 0.0)
            self.here.clear()
            known = self._fault.kind if self._fault else None
            self._fault, self.away = fault, True
        if not self.closed.is_set() and (known is None or (fault.kind == "refused" != known)):
            numbers = {"store": self.name, "reason": fault.reason}
            _LOGGER.warning("a shared store is away (%s)", fault.reason, extra=numbers)

    def _error(self, fault: Fault) -> ContextError:
        if fault.kind in ("refused", "forbidden") and not self._served:
            return StoreRefused(self.name)
        return StoreUnavailable(self.name, reason=fault.reason)


def answers(redis: "Redis") -> object:
    """What a server says when it is asked whether it is there."""
    return redis.ping()  # pyright: ignore[reportUnknownMemberType] - its options have no types


def server_of(server: RedisServer | str) -> RedisServer:
    """The server that was given, or the one at a url.

    Raises:
        ValueError: it is neither.
        MissingExtra: ``redis`` is not installed.
    """
    if isinstance(server, str):
        return RedisServer(server)
    if not isinstance(server, RedisServer):  # pyright: ignore[reportUnnecessaryIsInstance] - nobody need check types
        raise ValueError(f"server={server!r:.80}: give a RedisServer, or the url of one")  # noqa: TRY004 - as for every wrong argument
    return server


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
        code = str(error).partition(" ")[0]  # in capitals; anything else may be text of a value
        shown = code if code.isupper() else type(error).__name__
        return Fault(kind="declined", reason=f"it declines ({shown})")
    if isinstance(error, TimeoutError | exceptions.TimeoutError):
        return Fault(kind="away", reason="no answer in time")
    if isinstance(error, OSError | exceptions.ConnectionError):
        return Fault(kind="away", reason="no connection")
    return Fault(kind="away", reason=f"no answer of a Redis server ({type(error).__name__})")


def _client(url: str, patience_s: float) -> "Redis":
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
        timeout=patience_s,
        socket_timeout=patience_s,
        socket_connect_timeout=patience_s,
        retry=Retry(NoBackoff(), 0),
        protocol=2,
    )
    return Redis.from_pool(pool)


def _backoff(limits: RedisLimits) -> Callable[[int], float]:
    """Pauses in seconds, by how often it was tried."""
    from redis.backoff import EqualJitterBackoff  # noqa: PLC0415 - optional

    backoff = EqualJitterBackoff(cap=limits.retry_max_s, base=limits.retry_s)
    return lambda tries: float(backoff.compute(min(tries - 1, 32)))


def _keep(server: "weakref.ref[RedisServer]", awake: Event) -> None:
    """The life of the thread of a server; it ends with it."""
    while (found := server()) is not None and not found.closed.is_set():
        awake.clear()
        try:
            pause_s = found.step()
        except Exception:  # the next one wants its turn
            _LOGGER.exception("a shared store's writer failed")
            pause_s = 1.0
        del found
        awake.wait(pause_s)


def _close(server: "weakref.ref[RedisServer]") -> None:
    """Close a server at the end of the process, if it is there still."""
    found = server()
    if found is not None:
        found.close()
