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
from support.counting import Characters
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
    return cache, IncrementalContextManager(
        window_tokens=3_000, counter=Characters(), project=project
    )


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


@pytest.mark.parametrize("asks", [True, False])
async def test_it_can_be_closed_while_it_is_asked(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, *, asks: bool
) -> None:
    """And nothing is left under way in the loop."""
    monkeypatch.setattr("autogen_context.project.provider.LONGEST_WAIT_S", 0.1)
    builds, keeper = slow(shop.root)
    if asks:
        keeper.prepare_nowait([SYSTEM, {"role": "user", "content": "Go."}])
    await keeper.aclose()
    builds.go.set()
    assert asyncio.all_tasks() == {asyncio.current_task()}


def test_a_late_question_of_an_earlier_loop_is_used_by_the_next(shop: Shop) -> None:
    """The head stays the one that was sent, and that a file of it has changed is told beside it."""
    builds, keeper = slow(shop.root)
    messages: Transcript = [SYSTEM, {"role": "user", "content": "Go."}]
    builds.go.set()
    before = asyncio.run(keeper.prepare(messages))
    builds.go.clear()
    shop.write("shop/price.py", priced(OTHERS[0]))
    keeper.prepare_nowait(messages)
    builds.go.set()
    messages += talk(1)
    after = asyncio.run(keeper.prepare(messages))
    assert after.messages[: len(before.messages)] == before.messages
    assert "shop/price.py now defines:" in str(after.messages[-2]["content"])


async def test_a_project_that_fails_costs_its_context_alone(
    shop: Shop, caplog: pytest.LogCaptureFixture
) -> None:
    """And one warning."""

    def fails(text: str) -> int:
        raise OSError(text[:9])

    project = ProjectContext(shop.root, count=fails)
    keeper = IncrementalContextManager(window_tokens=900, counter=Characters(), project=project)
    plain = IncrementalContextManager(window_tokens=900, counter=Characters())
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
