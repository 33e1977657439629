"""A project beside a conversation: one that comes late, fails, is gone or hangs."""

import asyncio
import logging
import shutil
from collections.abc import Sequence
from pathlib import Path
from threading import Event

import pytest
from typing_extensions import override

from autogen_context import IncrementalContextManager, Prepared, ProjectContext
from autogen_context.errors import BudgetImpossible
from autogen_context.project.builds import Builder, Kept
from autogen_context.testing import ChatMessage
from support.counting import Characters
from support.hearing import wait_until
from support.shop import SYSTEM, Deaf, Outcome, Shop, Transcript, heads_in, is_own, talk


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """A project."""
    return Shop(tmp_path)


class Slow(Kept):
    """Builds nothing before it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.go = Event()

    @override
    async def get_or_build(self, key: str, builder: Builder, *, depends_on: Sequence[Path]) -> str:
        """What is built, late."""
        await asyncio.to_thread(self.go.wait)
        return await super().get_or_build(key, builder, depends_on=depends_on)


def slow(root: Path) -> tuple[Slow, IncrementalContextManager]:
    """A project that waits, and a manager of it."""
    builds = Slow()
    project = ProjectContext(root, cache=builds, watch=Deaf())
    return builds, IncrementalContextManager(
        window_tokens=3_000, counter=Characters(), project=project
    )


def late(builds: Slow, keeper: IncrementalContextManager, messages: Transcript) -> None:
    """A head that comes after the first turn stands before the newest message, and in front after a compaction."""
    assert not any(map(is_own, keeper.prepare_nowait(messages).messages))
    builds.go.set()


def checked_late(keeper: IncrementalContextManager, messages: Transcript, turn: Outcome) -> None:
    """It stands before what was the newest, where it stays, until a compaction puts it in front."""
    assert not isinstance(turn, BudgetImpossible)
    assert [is_own(m) for m in turn.messages[-2:]] == [True, False]
    for more in talk(40):
        messages.append(more)
        after = keeper.prepare_nowait(messages)
        assert len(heads_in(after.messages)) == 1
        if after.compacted:
            assert is_own(after.messages[1])
            return
        assert after.messages[: len(turn.messages)] == turn.messages
    raise AssertionError


async def test_a_head_that_comes_late_waits_at_the_tail(shop: Shop) -> None:
    """In a loop: a turn that does not wait takes what is there."""
    builds, keeper = slow(shop.root)
    messages: Transcript = [SYSTEM, {"role": "user", "content": "Go."}]
    late(builds, keeper, messages)
    rest, turn = talk(400, words=0), keeper.prepare_nowait(messages)
    while not heads_in(turn.messages):
        await asyncio.sleep(0.05)
        messages.append(next(rest))
        turn = keeper.prepare_nowait(messages)
    checked_late(keeper, messages, turn)
    await keeper.aclose()


def test_without_a_loop_it_is_read_in_a_thread(shop: Shop) -> None:
    """For hosts whose hooks are plain functions."""
    builds, keeper = slow(shop.root)
    messages: Transcript = [SYSTEM, {"role": "user", "content": "Go."}]
    late(builds, keeper, messages)
    turns: list[Prepared[ChatMessage]] = []
    rest = talk(400, words=0)

    def has_come() -> bool:
        messages.append(next(rest))
        turns.append(keeper.prepare_nowait(messages))
        return bool(heads_in(turns[-1].messages))

    wait_until(has_come, "a head", pause_s=0.05)
    checked_late(keeper, messages, turns[-1])


class Broken(Kept):
    """Fails."""

    @override
    async def get_or_build(self, key: str, builder: Builder, *, depends_on: Sequence[Path]) -> str:
        """Nothing."""
        raise OSError("the disk is full")


async def test_a_project_that_fails_costs_its_context_alone(
    shop: Shop, caplog: pytest.LogCaptureFixture
) -> None:
    """And one warning."""
    project = ProjectContext(shop.root, cache=Broken(), watch=Deaf())
    keeper = IncrementalContextManager(window_tokens=900, counter=Characters(), project=project)
    plain = IncrementalContextManager(window_tokens=900, counter=Characters())
    messages: Transcript = [SYSTEM, {"role": "user", "content": "Go."}]
    for more in talk(8):
        messages.append(more)
        assert (await keeper.prepare(messages)).messages == plain.prepare_nowait(messages).messages
    warnings = [
        r for r in caplog.records if r.levelno >= logging.WARNING and "project" in r.message
    ]
    assert [r.message for r in warnings] == ["what the project is like is not told"]


async def test_a_folder_that_went_is_told(shop: Shop) -> None:
    """What was sent stays; nothing fails."""
    keeper = shop.manager()
    messages: Transcript = [SYSTEM, {"role": "user", "content": "Go."}]
    before = await keeper.prepare(messages)
    shutil.rmtree(shop.root)
    messages += talk(1)
    after = await keeper.prepare(messages)
    assert after.messages[:3] == before.messages
    assert "shop/price.py is gone." in str(after.messages[-2]["content"])


@pytest.mark.parametrize("waits", [True, False])
async def test_a_folder_that_went_before_it_was_read_costs_its_context_alone(
    shop: Shop, *, waits: bool
) -> None:
    """So does one that went before a branch of the conversation asked for it."""
    keeper, before = shop.manager(), shop.manager()
    messages: Transcript = [SYSTEM, {"role": "user", "content": "Go."}]
    await before.prepare(messages)
    branch = before.branch()
    shutil.rmtree(shop.root)
    turn = await keeper.prepare(messages) if waits else keeper.prepare_nowait(messages)
    assert turn.messages == messages
    assert heads_in((await branch.prepare(messages)).messages)


async def test_who_is_cancelled_loses_nothing(shop: Shop) -> None:
    """The next turn has the head."""
    builds, keeper = slow(shop.root)
    messages: Transcript = [SYSTEM, {"role": "user", "content": "Go."}]
    turn = asyncio.create_task(keeper.prepare(messages))
    await asyncio.sleep(0.05)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    builds.go.set()
    assert heads_in((await keeper.prepare(messages)).messages)


@pytest.mark.parametrize("is_closed", [True, False])
def test_each_turn_may_have_a_loop_of_its_own(shop: Shop, *, is_closed: bool) -> None:
    """A loop that stops takes its question along; the next one asks anew, and waits for nobody else's."""
    builds, keeper = slow(shop.root)
    messages: Transcript = [SYSTEM, {"role": "user", "content": "Go."}]

    async def asked() -> None:
        keeper.prepare_nowait(messages)
        await asyncio.sleep(0.05)

    loops = [asyncio.new_event_loop() for _ in range(2)]
    loops[0].set_exception_handler(lambda *_: None)  # what it left behind is what this is about
    loops[0].run_until_complete(asked())
    (asking,) = asyncio.all_tasks(loops[0])
    if is_closed:
        loops[0].close()
    builds.go.set()
    messages += talk(1)
    turn = loops[1].run_until_complete(keeper.prepare(messages))
    assert heads_in(turn.messages)
    if not is_closed:
        loops[0].run_until_complete(asking)
    messages += talk(1)
    after = loops[1].run_until_complete(keeper.prepare(messages))
    assert after.messages[: len(turn.messages)] == turn.messages
    for loop in loops:
        loop.close()
