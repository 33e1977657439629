"""What works in the background of turns, each of which may have an event loop of its own."""

import asyncio
import gc
from collections.abc import Iterator
from contextlib import suppress
from threading import enumerate as threads

import pytest

from autogen_context.models.background import Background, is_cut_off


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


def test_what_another_loop_is_at_never_comes_to_an_end(loop: asyncio.AbstractEventLoop) -> None:
    """Where it stopped without a word, which nobody is told; what it has done, or this loop is at, is not cut off."""
    working = loop.run_until_complete(begun(loop.create_task(never())))
    done = loop.run_until_complete(begun(loop.create_task(ended())))

    async def turn() -> tuple[bool, ...]:
        here = asyncio.create_task(never())
        under_way = is_cut_off(here)
        here.cancel()
        await asyncio.gather(here, return_exceptions=True)
        return is_cut_off(working), is_cut_off(done), under_way, is_cut_off(here)

    assert asyncio.run(turn()) == (True, False, False, True)


class Owner:
    """Whoever has work done."""


async def stubborn(over: asyncio.Event) -> None:
    """Work that goes on whatever it is told, until it is over."""
    while not over.is_set():
        with suppress(asyncio.CancelledError):  # what this is about
            await over.wait()


async def test_work_ends_with_its_owner() -> None:
    """F17: when it is dropped, without a word."""
    owners = [Owner() for _ in range(20)]
    for number in range(len(owners)):
        Background(owners[number]).start(never(), name="work")
    await asyncio.sleep(0)
    assert len(asyncio.all_tasks()) == 21
    owners.clear()
    gc.collect()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.mark.parametrize("is_closed", [True, False], ids=["closed", "dropped"])
def test_work_of_synchronous_code_ends_with_its_owner(*, is_closed: bool) -> None:
    """It has a thread of its own, which goes with it."""
    owner = Owner()
    background = Background(owner)
    background.start_anywhere(never(), name="work of nobody")
    (thread,) = (each for each in threads() if each.name == "work of nobody")
    if is_closed:
        asyncio.run(background.aclose())
    del owner
    gc.collect()
    thread.join()


async def test_closing_takes_no_longer_than_it_may() -> None:
    """F17: whatever the work does with its cancellation; twice is once."""
    owner = Owner()
    background = Background(owner)
    over = asyncio.Event()
    working = [background.start(work, name="work") for work in (stubborn(over), never())]
    await asyncio.sleep(0)
    await background.aclose(timeout_s=0.1)
    await background.aclose(timeout_s=0.1)
    assert [task.cancelled() for task in working] == [False, True]
    assert not working[0].done()
    over.set()
    await working[0]


def test_closing_leaves_the_work_of_other_loops_to_them(loop: asyncio.AbstractEventLoop) -> None:
    """It is told to end, and closing does not wait for it."""
    owner = Owner()
    background = Background(owner)

    async def start() -> asyncio.Task[None]:
        return await begun(background.start(never(), name="work"))

    working = loop.run_until_complete(start())
    asyncio.run(background.aclose())
    loop.run_until_complete(asyncio.wait([working]))
    assert working.cancelled()
    loop.create_task(never())  # what the fixture ends
