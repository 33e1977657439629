"""A project beside a conversation: one that comes late, fails, or whose folder is gone; and who asks it."""

import asyncio
import logging
import shutil
from pathlib import Path
from threading import Event

import pytest
from typing_extensions import override

from autogen_context import IncrementalContextManager, Prepared, ProjectContext
from autogen_context.cache.cache import ContextCache
from autogen_context.testing import ChatMessage
from support import keeping
from support.shop import (
    OTHERS,
    SYSTEM,
    Shop,
    Transcript,
    heads_in,
    is_own,
    priced,
    talk,
)
from support.waiting import LONGEST_S, wait_until


class Slow(ContextCache):
    """Answers, in a thread, when it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.go = Event()

    @override
    def remembered(self, kind: str, key: str, /) -> object:
        """What is kept, late."""
        self.go.wait(LONGEST_S)  # a test that failed lets nobody go
        return super().remembered(kind, key)


def slow(root: Path) -> tuple[Slow, IncrementalContextManager]:
    """A project that waits, and a manager of it."""
    cache = Slow()
    project = ProjectContext(root, cache=cache)
    return cache, keeping.manager(3_000, project=project)


def test_a_head_that_comes_late_waits_at_the_tail(shop: Shop) -> None:
    """Without a loop it is read in a thread; it stands before what was the newest, until a compaction puts it in front."""
    builds, keeper = slow(shop.root)
    messages: Transcript = [SYSTEM, {"role": "user", "content": "Go."}]
    assert not any(map(is_own, keeper.prepare_nowait(messages).messages))
    builds.go.set()
    turns: list[Prepared[ChatMessage]] = []
    rest = talk(400, words=0)

    def has_come() -> bool:
        messages.append(next(rest))
        turns.append(keeper.prepare_nowait(messages))
        return bool(heads_in(turns[-1].messages))

    wait_until(has_come, pause_s=0.05)
    came = turns[-1].messages
    assert [is_own(m) for m in came[-2:]] == [True, False]
    for more in talk(40):
        messages.append(more)
        after = keeper.prepare_nowait(messages)
        assert len(heads_in(after.messages)) == 1
        if after.compacted:
            assert is_own(after.messages[1])
            return
        assert after.messages[: len(came)] == came
    raise AssertionError


@pytest.mark.parametrize("asked", ["nobody", "a thread", "this loop"])
async def test_whoever_asked_it_can_be_closed(
    shop: Shop, asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nothing is left under way."""
    monkeypatch.setattr("autogen_context.project.provider.LONGEST_WAIT_S", 0.1)
    builds, keeper = slow(shop.root)
    messages: Transcript = [SYSTEM, {"role": "user", "content": "Go."}]
    if asked == "a thread":
        await asyncio.to_thread(keeper.prepare_nowait, messages)
    if asked == "this loop":
        keeper.prepare_nowait(messages)
        await asyncio.sleep(0.05)
    await keeper.aclose()
    builds.go.set()
    assert asyncio.all_tasks() == {asyncio.current_task()}


def test_a_question_that_a_loop_took_along_costs_no_head(shop: Shop) -> None:
    """It stays the one that was sent, and that a file of it has changed is told beside it."""
    builds, keeper = slow(shop.root)
    messages: Transcript = [SYSTEM, {"role": "user", "content": "Go."}]

    async def asked() -> None:
        keeper.prepare_nowait(messages)
        await asyncio.sleep(0.05)

    builds.go.set()
    before = asyncio.run(keeper.prepare(messages))
    builds.go.clear()
    shop.write("shop/price.py", priced(OTHERS[0]))
    loop = asyncio.new_event_loop()
    loop.run_until_complete(asked())
    (asking,) = asyncio.all_tasks(loop)
    builds.go.set()
    messages += talk(1)
    after = asyncio.run(keeper.prepare(messages))
    assert after.messages[: len(before.messages)] == before.messages
    assert "shop/price.py now defines:" in str(after.messages[-2]["content"])
    loop.run_until_complete(asking)
    loop.close()


async def test_a_project_that_fails_costs_its_context_alone(
    shop: Shop, caplog: pytest.LogCaptureFixture
) -> None:
    """And one warning."""

    def fails(text: str) -> int:
        raise OSError(text[:9])

    project = ProjectContext(shop.root, count=fails)
    keeper = keeping.manager(900, project=project)
    plain = keeping.manager(900)
    messages: Transcript = [SYSTEM, {"role": "user", "content": "Go."}]
    for more in talk(8):
        messages.append(more)
        assert (await keeper.prepare(messages)).messages == plain.prepare_nowait(messages).messages
    warnings = [
        r for r in caplog.records if r.levelno >= logging.WARNING and "provider" in r.message
    ]
    assert [r.message for r in warnings] == ["a context provider failed; its notices are skipped"]


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
