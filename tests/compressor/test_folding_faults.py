"""Whatever a model does that is to summarise, turns come as without it, and nothing is left behind."""

import asyncio
import json
import logging

import pytest

from support.waiting import until
from support.working import (
    lived_through,
    manager,
    run,
    summarised,
    turns_of,
)


class Failing:
    """A model that goes wrong in one way after the other."""

    ANSWERS = (
        RuntimeError("HTTP 500"),
        "",
        "I cannot help with that.",
    )

    def __init__(self) -> None:
        self.asked = 0

    async def __call__(self, text: str, target_tokens: int, /) -> str:
        """The next answer."""
        answer = self.ANSWERS[self.asked % len(self.ANSWERS)]
        self.asked += 1
        if isinstance(answer, Exception):
            raise answer
        return answer


async def test_a_model_that_fails_costs_its_summaries(caplog: pytest.LogCaptureFixture) -> None:
    """What is sent is what is sent without one; the history is untouched; each failure is one warning."""
    model, messages = Failing(), run(80)
    kept = json.dumps(messages)
    one, alone = manager(model, summary_timeout_s=30.0), manager()
    for stop in turns_of(messages):
        turn = await one.prepare(messages[:stop])
        assert turn == alone.prepare_nowait(messages[:stop])
    await summarised()
    assert json.dumps(messages) == kept
    warned = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(warned) == model.asked > len(Failing.ANSWERS)
    await one.aclose()


class Hanging:
    """A model that never answers; it tells what it was asked, and how many calls are under way."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.under_way = 0
        self.started = asyncio.Event()

    async def __call__(self, text: str, target_tokens: int, /) -> str:
        """No answer."""
        self.texts.append(text)
        self.under_way += 1
        self.started.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.under_way -= 1
        return text[:target_tokens]


@pytest.mark.parametrize("timeout_s", [0.0, 0.01])
async def test_a_model_that_hangs_holds_nothing_up(timeout_s: float) -> None:
    """Every turn comes, as without the model; what is under way ends with the manager."""
    model, messages = Hanging(), run(60)
    async with manager(model, summary_timeout_s=timeout_s) as keeper:
        turn = await lived_through(keeper, messages)
        await until(lambda: bool(model.texts))
        assert model.under_way == len(model.texts)
    assert model.under_way == 0
    assert turn == await lived_through(manager(), messages)


async def test_a_turn_that_waits_can_be_cancelled() -> None:
    """And the next one comes."""
    model, messages = Hanging(), run(60)
    keeper = manager(model, summary_timeout_s=30.0)
    turn = asyncio.create_task(keeper.prepare(messages))
    await model.started.wait()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert keeper.prepare_nowait(messages) == manager().prepare_nowait(messages)
    await keeper.aclose()
    assert model.under_way == 0
