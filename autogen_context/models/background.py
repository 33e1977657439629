"""Work in the background of turns, each of which may have an event loop of its own.

Promise: what never came to an end is known as such, so that it is begun again.
"""

import asyncio


def is_cut_off(task: asyncio.Task[None]) -> bool:
    """Whether a task never came to an end: it was cancelled, or its loop is over, where the host has one for each turn."""
    return task.cancelled() or not (task.done() or task.get_loop() is asyncio.get_running_loop())
