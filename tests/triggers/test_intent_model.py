"""A model's word on what an agent is at: what is taken of it, and what becomes of a turn when there is none."""

import asyncio
import json
import logging
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.triggers.intent import IntentBasedTrigger
from autogen_context.triggers.intent_model import READ_CHARS, IntentModel, prompt_for, read, told
from support.turns import edit, turn
from support.turns import read as reading

LOOK = turn(0, "Let me see.", reading("a.py"))
CHANGE = turn(1, "Done.", edit("a.py"))
GOOD = json.dumps({"intent": "DEBUG", "confidence": 0.9})


class Model:
    """Answers by a script: a text, an error to raise, or an event to wait for before the answer."""

    def __init__(self, *steps: str | BaseException | asyncio.Event) -> None:
        self.steps = list(steps)
        self.prompts: list[str] = []

    async def complete(self, prompt: str, /) -> str:
        """The next answer."""
        self.prompts.append(prompt)
        step = self.steps.pop(0)
        if isinstance(step, asyncio.Event):
            await step.wait()
            return GOOD
        if isinstance(step, BaseException):
            raise step
        return step


async def test_a_sound_answer_is_taken() -> None:
    """Before it was asked for there is none; afterwards it is there without waiting."""
    model = IntentModel(Model(GOOD).complete)
    assert model(LOOK) is None
    assert await model.ask(LOOK) == "DEBUG"
    assert model(LOOK) == "DEBUG"
    assert model(CHANGE) is None


async def test_a_trigger_looks_it_up() -> None:
    """What the model said decides; where it said nothing, the rules do."""
    model = IntentModel(Model(json.dumps({"intent": "EXPLORE"}), "{").complete)
    for each in (LOOK, CHANGE):
        await model.ask(each)
    trigger = IntentBasedTrigger(known=model)
    assert not trigger.observe(LOOK).fires
    assert trigger.observe(CHANGE).details == {"from": "EXPLORE", "to": "IMPLEMENT", "by": "rules"}


async def test_a_turn_is_asked_about_once() -> None:
    """Also where several ask at the same time."""
    ready = asyncio.Event()
    script = Model(ready)
    model = IntentModel(script.complete)
    asking = [asyncio.create_task(model.ask(LOOK)) for _ in range(3)]
    await asyncio.sleep(0)
    ready.set()
    assert await asyncio.gather(*asking) == ["DEBUG"] * 3
    assert await model.ask(LOOK) == "DEBUG"
    assert len(script.prompts) == 1


async def test_the_next_one_asks_when_the_first_was_cancelled() -> None:
    """Cancellation passes through, and who waits is not left waiting."""
    script = Model(asyncio.Event(), GOOD)
    model = IntentModel(script.complete)
    first, second = (asyncio.create_task(model.ask(LOOK)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert await second == "DEBUG"


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param("", id="nothing"),
        pytest.param("It debugs.", id="no JSON"),
        pytest.param('{"intent": "SLEEP"}', id="none of the six"),
        pytest.param('{"intent": "DEBUG", "also": 1}', id="more than asked for"),
        pytest.param('{"intent": "DEBUG", "confidence": "high"}', id="no number"),
        pytest.param('{"intent": "DEBUG", "confidence": NaN}', id="not a number"),
        pytest.param(f"{'x' * READ_CHARS}{GOOD}", id="far too long"),
        pytest.param(RuntimeError("key=sk-1"), id="an error"),
    ],
)
async def test_an_unsound_answer_is_none(
    answer: str | BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    """The rules decide; one warning that tells nothing of turn or error; it is not asked again."""
    script = Model(answer)
    model = IntentModel(script.complete)
    with caplog.at_level(logging.WARNING):
        assert await model.ask(LOOK) is None
        assert await model.ask(LOOK) is None
    assert model(LOOK) is None
    [record] = caplog.records
    assert "sk-1" not in caplog.text
    assert "Let me see" not in record.getMessage()


async def test_a_model_that_hangs_delays_a_turn_once(caplog: pytest.LogCaptureFixture) -> None:
    """No answer within the time limit is no answer."""
    model = IntentModel(Model(asyncio.Event()).complete, timeout_s=0.01)
    with caplog.at_level(logging.WARNING):
        assert await model.ask(LOOK) is None
        assert await model.ask(LOOK) is None
    assert len(caplog.records) == 1


async def test_the_oldest_answer_goes_first() -> None:
    """What is remembered is bounded."""
    model = IntentModel(Model(GOOD, GOOD).complete, entries=1)
    await model.ask(LOOK)
    await model.ask(CHANGE)
    assert (model(LOOK), model(CHANGE)) == (None, "DEBUG")


@pytest.mark.parametrize(
    ("confidence", "taken"),
    [
        pytest.param(0.9, True, id="sure"),
        pytest.param(0.5, True, id="as sure as it must be"),
        pytest.param(0.4, False, id="not sure"),
        pytest.param(7.0, True, id="more than sure"),
        pytest.param(-7.0, False, id="less than unsure"),
    ],
)
def test_an_unsure_answer_is_none(confidence: float, taken: bool) -> None:  # noqa: FBT001 - a column
    """A confidence is taken within 0..1."""
    answer = json.dumps({"intent": "VERIFY", "confidence": confidence})
    assert read(answer) == ("VERIFY" if taken else None)
    assert read(answer, 1.0) == ("VERIFY" if confidence >= 1 else None)
    assert read('{"intent": null}') is None


@given(st.text("`x\n", max_size=30))
def test_the_fence_holds(text: str) -> None:
    """What was said cannot close it."""
    prompt = prompt_for(told(turn(0, text)))
    fence = prompt.rstrip().rsplit("\n", 1)[-1]
    assert set(fence) == {"`"}
    assert prompt.count(fence) == 2


def test_a_turn_in_words() -> None:
    """What differs is told apart, in a bounded number of characters; the number of a turn is no part of it."""
    assert told(LOOK) != told(CHANGE)
    assert told(turn(0, "a")) == told(turn(9, "a"))
    assert len(told(turn(0, "x" * 10_000, *[reading("a.py", "y" * 10_000)] * 50))) < 6_000


@pytest.mark.parametrize(
    ("make", "named"),
    [
        pytest.param(lambda: IntentModel(Model().complete, timeout_s=0), "timeout_s=0", id="time"),
        pytest.param(lambda: IntentModel(Model().complete, entries=0), "entries=0", id="entries"),
        pytest.param(
            lambda: IntentModel(Model().complete, least_confidence=2), "confidence=2", id="share"
        ),
    ],
)
def test_wrong_settings_are_named(make: Callable[[], object], named: str) -> None:
    """At construction, with the value and the way out."""
    with pytest.raises(ValueError, match=named):
        make()
