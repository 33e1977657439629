"""Wait for what comes about elsewhere: in a thread, a process, a server."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from tempfile import TemporaryFile

import pytest

LONGEST_S = 60.0  # a machine may be slow; what does not come about at all fails the test


def wait_until(holds: Callable[[], object], *, pause_s: float = 0.01) -> None:
    """Wait until something holds; it is asked after each pause."""
    until_s = time.monotonic() + LONGEST_S
    while not holds():
        assert time.monotonic() < until_s, "it does not come about"
        time.sleep(pause_s)


def tick() -> None:
    """Wait until what is written from now on has another time than what was written before.

    Linux before 6.13 stamps files by a clock that ticks every few milliseconds.
    """
    with TemporaryFile() as probe:
        before = os.fstat(probe.fileno()).st_mtime_ns

        def has_ticked() -> bool:
            os.utime(probe.fileno())
            return os.fstat(probe.fileno()).st_mtime_ns > before

        wait_until(has_ticked)


def put_forward(patch: pytest.MonkeyPatch, seconds: float) -> None:
    """Put the clock of the running loop forward: time limits are over, and nobody waits for them."""
    loop = asyncio.get_running_loop()
    patch.setattr(loop, "time", lambda: time.monotonic() + seconds)


async def until(holds: Callable[[], bool | Awaitable[bool]]) -> None:
    """The same, in a loop that goes on meanwhile."""
    async with asyncio.timeout(LONGEST_S):
        while True:
            held = holds()
            if held if isinstance(held, bool) else await held:
                return
            await asyncio.sleep(0.01)
