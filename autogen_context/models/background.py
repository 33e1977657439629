"""Background tasks of turns, which may run in different event loops.

Promise: no task outlives its owner: when the owner is closed or garbage-collected, its tasks are cancelled.
"""

import asyncio
import weakref
from collections.abc import Coroutine, Iterable
from contextlib import suppress
from threading import Thread
from typing import Any

CLOSE_S = 1.0  # how long closing waits for cancelled tasks


class Background:
    """The tasks of one owner; they must not hold a reference to it."""

    def __init__(self, owner: object) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        weakref.finalize(owner, cancel, self._tasks)

    def start(self, work: Coroutine[Any, Any, None], *, name: str) -> asyncio.Task[None]:
        """Start a task; needs a running event loop."""
        task = asyncio.create_task(work, name=name)
        self._keep(task)
        return task

    def start_anywhere(self, work: Coroutine[Any, Any, None], *, name: str) -> None:
        """Start a task in the running event loop or, in synchronous code, in a thread with a loop of its own."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            loop = asyncio.new_event_loop()
            task = loop.create_task(work, name=name)
            self._keep(task)
            Thread(target=run, args=(loop, task), name=name, daemon=True).start()
        else:
            self.start(work, name=name)

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def aclose(self, timeout_s: float = CLOSE_S) -> None:
        """Cancel all tasks and wait for them up to ``timeout_s``; tasks that ignore cancellation are left alone."""
        here = asyncio.get_running_loop()
        tasks = set(self._tasks)
        cancel(tasks)
        if ours := {task for task in tasks if task.get_loop() is here and not task.done()}:
            await asyncio.wait(ours, timeout=timeout_s)
        self._tasks -= tasks


def run(loop: asyncio.AbstractEventLoop, task: asyncio.Task[None]) -> None:
    """Run a loop until its task has ended."""
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(whole(task))


async def whole(task: asyncio.Task[None]) -> None:
    """Wait for a task, however it ends."""
    await asyncio.wait([task])


def cancel(tasks: Iterable[asyncio.Task[None]]) -> None:
    """Cancel tasks, each in its own event loop; tasks of a closed loop have ended."""
    for task in list(tasks):
        loop = task.get_loop()
        if not task.done():
            with suppress(RuntimeError):  # it is closed
                loop.call_soon_threadsafe(task.cancel)


def is_cut_off(task: asyncio.Task[None]) -> bool:
    """Whether a task was cancelled, or is unfinished in an event loop that does not run."""
    return task.cancelled() or not (task.done() or task.get_loop().is_running())


async def wait_for(tasks: Iterable[asyncio.Task[Any]], *, timeout_s: float | None = None) -> None:
    """Wait until tasks have ended, whichever running event loops they are of, up to ``timeout_s`` if that is given."""
    here = asyncio.get_running_loop()
    waiting = [
        task if task.get_loop() is here else ending(task)
        for task in tasks
        if task.get_loop().is_running()
    ]
    if waiting:
        await asyncio.wait(waiting, timeout=timeout_s)


def ending(task: asyncio.Task[Any]) -> asyncio.Future[None]:
    """Return a future of the running event loop that is done when a task of another one has ended."""
    here, loop = asyncio.get_running_loop(), task.get_loop()
    ended = here.create_future()

    def end() -> None:
        if not ended.done():
            ended.set_result(None)

    def tell(_: object) -> None:
        with suppress(RuntimeError):  # nobody waits: that loop is closed
            here.call_soon_threadsafe(end)

    try:
        loop.call_soon_threadsafe(task.add_done_callback, tell)
    except RuntimeError:  # its loop was closed meanwhile, and the task with it
        end()
    return ended
