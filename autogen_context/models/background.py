"""Work in the background of turns, each of which may have an event loop of its own.

Promise: no task outlives its owner: when that is closed, dropped or collected, its tasks are cancelled.
"""

import asyncio
import weakref
from collections.abc import Coroutine, Iterable
from typing import Any

CLOSE_S = 1.0  # that closing waits for tasks that were cancelled


class Background:
    """The tasks of one owner; nothing that they run may hold on to it."""

    def __init__(self, owner: object) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        weakref.finalize(owner, cancel, self._tasks)

    def start(self, work: Coroutine[Any, Any, None], *, name: str) -> asyncio.Task[None]:
        """Begin some work; needs a running event loop."""
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def aclose(self, timeout_s: float = CLOSE_S) -> None:
        """Cancel what is under way, and wait for it as long as it may take; what goes on after that is left alone."""
        here = asyncio.get_running_loop()
        tasks = set(self._tasks)
        cancel(tasks)
        if ours := {task for task in tasks if task.get_loop() is here and not task.done()}:
            await asyncio.wait(ours, timeout=timeout_s)
        self._tasks -= tasks


def cancel(tasks: Iterable[asyncio.Task[None]]) -> None:
    """Cancel tasks, each in its own event loop; one whose loop is closed has ended with it."""
    for task in list(tasks):
        loop = task.get_loop()
        if not (task.done() or loop.is_closed()):
            loop.call_soon_threadsafe(task.cancel)


def is_cut_off(task: asyncio.Task[None]) -> bool:
    """Whether a task never came to an end: it was cancelled, or its loop is over, where the host has one for each turn."""
    return task.cancelled() or not (task.done() or task.get_loop() is asyncio.get_running_loop())
