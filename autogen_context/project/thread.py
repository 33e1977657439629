"""Work in threads that keep neither an event loop nor the process waiting: a disk may take its time, or hang."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

ResultT = TypeVar("ResultT")


def in_thread(work: Callable[[], ResultT]) -> "Future[ResultT]":
    """Start work in a thread of its own, and return its result to come; it cannot be cancelled."""
    future: Future[ResultT] = Future()
    future.set_running_or_notify_cancel()

    def run() -> None:
        try:
            future.set_result(work())
        except Exception as error:  # noqa: BLE001 - raised by whoever asks for the result
            future.set_exception(error)

    Thread(target=run, daemon=True).start()
    return future


async def wait_for(future: "Future[ResultT]", timeout_s: float | None) -> None:
    """Wait until the work has ended, or the time is over, if there is one."""
    waiting = asyncio.wrap_future(future)
    waiting.add_done_callback(lambda done: done.exception())  # it is raised from ``future``
    await asyncio.wait([waiting], timeout=timeout_s)
