"""An event loop in a thread of its own, for connections that callers of any kind share.

Promise: whoever hands in work never waits in the loop of another; the thread begins with the first work, ends when it is
stopped, and keeps no process alive.
"""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import Future
from threading import Lock, Thread, current_thread
from typing import TypeVar

T = TypeVar("T")

_ASKED_AGAIN_S = 0.05  # a client may swallow a cancellation that meets a time limit of its own


class LoopThread:
    """A loop that runs whatever threads hand in.

    Args:
        name: of the thread.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: Thread | None = None
        self._stopped = False
        self._lock = Lock()

    def submit(self, work: Coroutine[object, object, T]) -> Future[T]:
        """Run this; whoever cancels what is returned cancels it.

        Raises:
            RuntimeError: the thread was stopped.
        """
        with self._lock:
            if self._stopped:
                work.close()
                raise RuntimeError(f"{self._name} is closed")
            return asyncio.run_coroutine_threadsafe(work, self._started())

    def stop(
        self,
        first: Coroutine[object, object, object],
        last: Coroutine[object, object, object],
        *,
        within_s: float,
    ) -> None:
        """Do something first, cancel what still runs, do something last, and end the thread.

        Each of the two may take so long at most, and so may what is cancelled after each.
        """
        with self._lock:
            loop, thread, self._stopped = self._loop, self._thread, True
        if loop is None or thread is None or not thread.is_alive():
            first.close()
            last.close()
            return
        done = asyncio.run_coroutine_threadsafe(_ended(first, last, within_s), loop)
        done.add_done_callback(lambda _: loop.call_soon_threadsafe(loop.stop))
        if (
            thread is not current_thread()
        ):  # the last reference to an owner may go in its own thread
            thread.join()

    def _started(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = Thread(target=_run, args=(self._loop,), name=self._name, daemon=True)
            self._thread.start()
        return self._loop


def _run(loop: asyncio.AbstractEventLoop) -> None:
    """A thread's life; it holds the loop alone, so that its owner can be collected."""
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.close()


async def _ended(
    first: Coroutine[object, object, object],
    last: Coroutine[object, object, object],
    within_s: float,
) -> None:
    await asyncio.wait({asyncio.create_task(first)}, timeout=within_s)
    await _cancelled(within_s)
    await asyncio.wait({asyncio.create_task(last)}, timeout=within_s)
    await _cancelled(within_s)


async def _cancelled(within_s: float) -> None:
    """End all tasks but this one; who swallows that is told again, and left behind when the time is over."""
    loop = asyncio.get_running_loop()
    until_s = loop.time() + within_s
    while (rest := asyncio.all_tasks() - {asyncio.current_task()}) and loop.time() < until_s:
        for task in rest:
            task.cancel()
        await asyncio.wait(rest, timeout=_ASKED_AGAIN_S)
