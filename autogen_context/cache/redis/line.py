"""A Redis server that may be away: whether it is there, and how it is asked.

Promise: nobody waits longer than the limit for a server that is slow, dead, or no Redis; while it is away nobody waits.
One warning says that it went, one line that it is back. Only a wrong setting, which the server refuses before it has
answered once, is an error of another kind.
"""

import asyncio
import logging
import os
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Protocol, TypeVar
from weakref import WeakSet

from autogen_context.cache.redis.client import Fault, RedisClient, RedisLimits, fault_of
from autogen_context.errors import ContextError, StoreRefused, StoreUnavailable
from autogen_context.messages.message import content_digest

T = TypeVar("T")

_LOGGER = logging.getLogger(__name__)


class Declined(StoreUnavailable):
    """The store is well, and will not do this."""


class Unsent(Protocol):
    """Something with work that must be done before the connections go."""

    def __len__(self) -> int:
        """How much there is."""
        ...

    async def flush(self) -> None:
        """Do it, however long it takes; raises where it cannot be done now."""
        ...


class RedisLine:
    """The server as its own thread knows it.

    Attributes:
        away: whether it was found to be away; until it was asked for the first time it is not.
        unsent: what has work that must be done before the connections go.
    """

    def __init__(self, url: str, name: str, limits: RedisLimits) -> None:
        self.name = name
        self.limits = limits
        self.unsent: WeakSet[Unsent] = WeakSet()
        self._client = RedisClient(url, limits)
        self._here = asyncio.Event()
        self._tried = asyncio.Event()
        self._overdue = False
        self.away = False
        self._served = False
        self._fault: Fault | None = None
        self._coming: asyncio.Task[None] | None = None
        self._tries = 0
        self._since_s = 0.0
        self._visits = 0

    async def ask(self, command: Callable[[RedisClient], Awaitable[T]], *, within_s: float) -> T:
        """What the server answers.

        Raises:
            StoreUnavailable: it is away, or does not answer in time, or declines.
            StoreRefused: it refuses the url, and has never answered.
        """
        until_s = asyncio.get_running_loop().time() + within_s
        await self._contact(until_s, hurried=within_s <= self.limits.timeout_s)
        visit = self._visits
        try:
            async with asyncio.timeout_at(until_s):
                answer = await command(self._client)
        except Exception as error:  # whoever is no Redis may break any part of the client
            raise self._faulty(fault_of(error), visit) from error
        self._served = True
        return answer

    async def until_here(self) -> RedisClient:
        """Wait until the server is there, however long that is."""
        self._come()
        await self._here.wait()
        return self._client

    async def flush(self) -> None:
        """Send what waits if the server is there; say what was left."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self.limits.patience_s):
                flushed = [each.flush() for each in list(self.unsent)]
                await asyncio.gather(*flushed, return_exceptions=True)
        if left := sum(len(each) for each in self.unsent):
            numbers = {"store": self.name, "left": left}
            _LOGGER.warning("a shared store was closed before all was written", extra=numbers)

    async def aclose(self) -> None:
        """Close all connections; nothing else may run by then that would make new ones."""
        await self._client.aclose()

    async def connect(self) -> None:
        """Wait for the first try, ``patience_s`` at most, if there was none.

        Raises:
            StoreUnavailable: it is away, for now.
            StoreRefused: it refuses the url.
        """
        until_s = asyncio.get_running_loop().time() + self.limits.patience_s
        await self._contact(until_s, hurried=False)

    async def _contact(self, until_s: float, *, hurried: bool) -> None:
        """Pass if the server is there; while it is tried for the first time, only one of those in a hurry waits."""
        if self._here.is_set():
            return
        self._come()
        try:
            async with asyncio.timeout_at(0.0 if hurried and self._overdue else until_s):
                await self._tried.wait()
        except TimeoutError as error:
            self._overdue = True
            raise StoreUnavailable(self.name, reason="no connection yet") from error
        if self._fault is not None:
            raise self._error(self._fault)

    def _come(self) -> None:
        if not self._here.is_set() and (self._coming is None or self._coming.done()):
            self._coming = asyncio.create_task(self._try_until_here(), name="redis comes back")

    async def _try_until_here(self) -> None:
        while not self._here.is_set():
            await asyncio.sleep(self._pause_s())
            self._tries += 1
            try:
                await self._knock()
            except Exception as error:  # noqa: BLE001 - as in ``ask``
                self._leave(fault_of(error))
            else:
                self._arrive()
            self._tried.set()

    async def _knock(self) -> None:
        """Connect, for which there is time, and see that it answers as fast as it must."""
        async with asyncio.timeout(self.limits.patience_s):
            await self._client.ask("PING")
        async with asyncio.timeout(self.limits.timeout_s):
            await self._client.ask("PING")

    def _pause_s(self) -> float:
        """How long to wait before the next try; nothing before the first one."""
        if not self._tries:
            return 0.0
        return pause_s(self._tries, self.limits)

    def _arrive(self) -> None:
        self._here.set()
        self._visits += 1
        self._since_s = asyncio.get_running_loop().time()
        if self.away:
            _LOGGER.info("the shared store is back", extra={"store": self.name})
        self.away = False
        self._fault = None

    def _faulty(self, fault: Fault, visit: int) -> ContextError:
        """The error to raise for a fault; what was asked before the server went says nothing of it now."""
        at_fault = fault.kind in ("away", "refused") or not self._served
        if fault.kind != "declined" and at_fault and visit == self._visits:
            self._leave(fault)
        return self._error(fault)

    def _leave(self, fault: Fault) -> None:
        """Ask no more until it is back; a server that was there for long is tried at once, others later and later."""
        if self._here.is_set():
            here_s = asyncio.get_running_loop().time() - self._since_s
            self._tries = 0 if here_s > self.limits.retry_max_s else self._tries
        self._here.clear()
        known = self._fault.kind if self._fault else None
        self._fault = fault
        if known is None or (fault.kind == "refused" != known):
            numbers = {"store": self.name, "reason": fault.reason}
            _LOGGER.warning("a shared store is away (%s)", fault.reason, extra=numbers)
        self.away = True
        self._come()

    def _error(self, fault: Fault) -> ContextError:
        if fault.kind in ("refused", "forbidden") and not self._served:
            return StoreRefused(self.name)
        error = Declined if fault.kind in ("declined", "forbidden") else StoreUnavailable
        return error(self.name, reason=fault.reason)


def pause_s(tries: int, limits: RedisLimits) -> float:
    """Twice as long after each try, up to the limit; spread, so that not all processes come at once."""
    longest = min(limits.retry_max_s, limits.retry_s * (1 << min(tries - 1, 16)))
    drawn = content_digest(socket.gethostname(), str(os.getpid()), str(tries))[0]
    return longest * (0.5 + drawn / 510)
