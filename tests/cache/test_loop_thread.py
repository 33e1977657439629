"""A loop in a thread of its own ends when it is stopped, whatever still runs in it."""

import asyncio
import gc
from threading import Event

import pytest

from autogen_context.cache.redis.loop_thread import LoopThread


async def nothing() -> None:
    """No work before the end."""


async def stubborn(begun: Event, swallows: int) -> None:
    """Work without an end that lets so many cancellations pass."""
    for _ in range(swallows):
        begun.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            continue
    begun.set()
    await asyncio.sleep(60)


@pytest.mark.parametrize("swallows", [0, 1, 3])
def test_who_swallows_a_cancellation_is_told_again(swallows: int) -> None:
    """As a client does whose own time limit runs out in the same moment."""
    thread, begun = LoopThread("test"), Event()
    future = thread.submit(stubborn(begun, swallows))
    assert begun.wait(10)
    thread.stop(nothing(), nothing(), within_s=10)
    assert future.cancelled()
    with pytest.raises(RuntimeError, match="test is closed"):
        thread.submit(nothing())


def test_who_never_ends_is_left_behind(caplog: pytest.LogCaptureFixture) -> None:
    """After the time that stopping may take; asyncio says so."""
    thread, begun = LoopThread("test"), Event()
    future = thread.submit(stubborn(begun, 10_000))
    assert begun.wait(10)
    thread.stop(nothing(), nothing(), within_s=0.2)
    assert not future.done()
    del future, thread
    gc.collect()
    assert "Task was destroyed but it is pending" in caplog.text
