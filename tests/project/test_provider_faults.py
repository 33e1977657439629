"""A project beside a conversation: one that fails, or whose folder is gone."""

import logging
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from typing_extensions import override

from autogen_context import IncrementalContextManager, Prepared, ProjectContext
from autogen_context.manager.change import ContextChange
from autogen_context.project.index import Builder, Kept
from autogen_context.testing import ChatMessage
from support.counting import Characters
from support.shop import SYSTEM, Deaf, Shop, Transcript, heads_in, talk


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
        r for r in caplog.records if r.levelno >= logging.WARNING and "provider" in r.message
    ]
    assert [r.message for r in warnings] == ["a context provider failed; what it knows is not told"]


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


async def nearly_full(
    keeper: IncrementalContextManager,
    messages: Transcript,
    rest: Iterator[ChatMessage],
    *,
    window_tokens: int,
) -> Prepared[ChatMessage]:
    """The turn at which so much was said that another head is written, and no compaction is due."""
    turn = await keeper.prepare(messages)
    while turn.certificate.counted_tokens < 0.85 * window_tokens:
        messages.append(next(rest))
        turn = await keeper.prepare(messages)
    return turn


async def test_the_head_of_a_folder_that_went_yields(shop: Shop) -> None:
    """At the next compaction it is gone as well, before anything else has to be shortened for it."""
    keeper = shop.manager(1_500)
    messages: Transcript = [SYSTEM, {"role": "user", "content": "Go."}]
    assert heads_in((await keeper.prepare(messages)).messages)
    shutil.rmtree(shop.root)
    rest = talk(40, words=10)
    turn = await nearly_full(keeper, messages, rest, window_tokens=1_500)
    assert not turn.compacted  # and all is told, so that another head was written: an empty one
    messages.append({"role": "user", "content": "x " * 2_350})
    after = await keeper.prepare(messages)
    assert not heads_in(after.messages)
    assert after.messages[-1] == messages[-1]


async def test_a_late_head_of_a_folder_that_went_does_not_come_back(shop: Shop) -> None:
    """It stood in front of a unit in the version that is gone back to; since then its folder has nothing to tell."""
    keeper = shop.manager(3_000)
    messages: Transcript = [SYSTEM, {"role": "user", "content": "Go."}]
    keeper.prepare_nowait(messages)
    messages += talk(1)
    assert heads_in((await keeper.prepare(messages)).messages)
    version = await keeper.apply_changes([ContextChange.decision_recorded("Prices are cents.")])
    shutil.rmtree(shop.root)
    rest = talk(60, words=8)
    turn = await nearly_full(keeper, messages, rest, window_tokens=3_000)
    assert not turn.compacted
    keeper.roll_back(version.version)
    assert not heads_in((await keeper.prepare(messages)).messages)
