"""Wait for what comes about elsewhere: in a thread, a process, a server."""

import asyncio
import time
from collections.abc import Awaitable, Callable

LONGEST_S = 60.0  # a machine may be slow; what does not come about at all fails the test


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    until_s = time.monotonic() + LONGEST_S
    while not holds():
        assert time.monotonic() < until_s, "it does not come about"
        time.sleep(0.01)


async def until(holds: Callable[[], bool | Awaitable[bool]]) -> None:
    """The same, in a loop that goes on meanwhile."""
    async with asyncio.timeout(LONGEST_S):
        while True:
            held = holds()
            if held if isinstance(held, bool) else await held:
                return
            await asyncio.sleep(0.01)
