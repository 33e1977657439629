"""What works in the background of turns, each of which may have an event loop of its own."""

import asyncio
from collections.abc import Iterator

import pytest

from autogen_context.models.background import is_cut_off


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    """The loop of an earlier turn."""
    loop = asyncio.new_event_loop()
    yield loop
    for task in (left := asyncio.all_tasks(loop)):
        task.cancel()
    loop.run_until_complete(asyncio.wait(left))
    loop.close()


async def ended() -> None:
    """Work that is done."""


async def begun(work: asyncio.Task[None]) -> asyncio.Task[None]:
    """Work as it is when its turn is over."""
    await asyncio.sleep(0)
    return work


async def never() -> None:
    """Work that takes until somebody breaks it off."""
    await asyncio.Event().wait()


async def test_what_this_loop_is_at_is_not_cut_off() -> None:
    """Nor what is done; what was cancelled is."""
    working, done = asyncio.create_task(never()), asyncio.create_task(ended())
    await asyncio.sleep(0)
    assert not is_cut_off(working)
    assert not is_cut_off(done)
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    assert is_cut_off(working)


def test_what_another_loop_is_at_never_comes_to_an_end(loop: asyncio.AbstractEventLoop) -> None:
    """Where it stopped without a word, which nobody is told; what it has done counts as done."""
    working = loop.run_until_complete(begun(loop.create_task(never())))
    done = loop.run_until_complete(begun(loop.create_task(ended())))

    async def turn() -> tuple[bool, bool]:
        return is_cut_off(working), is_cut_off(done)

    assert asyncio.run(turn()) == (True, False)
