"""Work that several callers want at once is done once.

Promise: who is cancelled takes nothing from the others; with the last of them the work is cancelled too, and has ended
when they have. Nobody joins work that was detached. It belongs to one event loop.
"""

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

KeyT = TypeVar("KeyT", bound=Hashable)
ResultT = TypeVar("ResultT")


@dataclass(slots=True)
class Flight:
    """Work under way.

    Attributes:
        is_current: whether new callers join it; its result may be kept only then.
    """

    is_current: bool = True
    waiting: int = 0


class SingleFlight(Generic[KeyT, ResultT]):
    """Work under way, by key."""

    def __init__(self) -> None:
        self._flights: dict[KeyT, tuple[Flight, asyncio.Task[ResultT]]] = {}

    async def join(
        self, key: KeyT, start: Callable[[Flight], Coroutine[object, object, ResultT]]
    ) -> ResultT:
        """The result of the work that is under way under a key, or of ``start`` if there is none."""
        flight, task = self._flights.get(key) or self._start(key, start)
        if task.done():  # it is about to be cleared away
            flight, task = self._start(key, start)
        flight.waiting += 1
        try:
            return await asyncio.shield(task)
        finally:
            flight.waiting -= 1
            if not flight.waiting and not task.done():
                self._detach(key, flight)
                task.cancel()
                await asyncio.wait({task})

    def detach(self, concerns: Callable[[KeyT], bool]) -> None:
        """Let those who wait have their results, and nobody else."""
        for key, (flight, _) in list(self._flights.items()):
            if concerns(key):
                self._detach(key, flight)

    async def aclose(self) -> None:
        """Wait for all work that is under way."""
        if tasks := [task for _, task in self._flights.values()]:
            await asyncio.wait(tasks)

    def _start(
        self, key: KeyT, start: Callable[[Flight], Coroutine[object, object, ResultT]]
    ) -> tuple[Flight, asyncio.Task[ResultT]]:
        flight = Flight()
        task = asyncio.create_task(start(flight))
        self._flights[key] = flight, task
        task.add_done_callback(lambda _: self._detach(key, flight))
        return flight, task

    def _detach(self, key: KeyT, flight: Flight) -> None:
        flight.is_current = False
        if key in self._flights and self._flights[key][0] is flight:
            del self._flights[key]
