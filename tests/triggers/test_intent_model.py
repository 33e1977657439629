"""A model's word on what an agent is at: what is taken of it, and what becomes of a turn when there is none."""

import asyncio
import json
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.messages.tool_call import BY_NAME
from autogen_context.models.background import Background
from autogen_context.testing import ChatMessage
from autogen_context.triggers.intent import (
    READ_CHARS,
    IntentBasedTrigger,
    IntentModel,
    Intents,
    prompt_for,
    read,
    told,
)
from support.turns import edit, turn
from support.turns import read as reading
from support.units import candidates_of, read_all

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


def test_an_unsure_answer_is_none() -> None:
    """From half on it is taken."""
    told = [read(f'{{"intent": "VERIFY", "confidence": {sure}}}') for sure in (0.4, 0.5, 7.0)]
    assert told == [None, "VERIFY", "VERIFY"]
    assert read('{"intent": null}') is None


def call(path: str, tool: str = "read_file") -> ChatMessage:
    """A message that calls a tool."""
    function = {"name": tool, "arguments": f'{{"path": "{path}"}}'}
    calls = [{"id": path, "type": "function", "function": function}]
    return {"role": "assistant", "content": "", "tool_calls": calls}


def result(path: str) -> ChatMessage:
    """What it returned."""
    return {"role": "tool", "tool_call_id": path, "content": "x = 1"}


ASK: list[ChatMessage] = [{"role": "user", "content": "Go."}]


@pytest.mark.parametrize(
    ("messages", "asked"),
    [
        pytest.param(ASK, 0, id="a person spoke"),
        pytest.param([*ASK, {"role": "assistant", "content": "Yes."}], 0, id="it only spoke"),
        pytest.param([*ASK, call("a.py")], 0, id="a call without its result"),
        pytest.param([*ASK, call("a.py"), result("a.py")], 1, id="a turn"),
        pytest.param([*ASK, call("a.py"), result("a.py"), *ASK], 0, id="a turn that is over"),
    ],
)
async def test_the_newest_turn_is_asked_about(messages: list[ChatMessage], asked: int) -> None:
    """Once, in the background, when all its results are there."""
    script = Model(GOOD)
    intents = Intents(IntentModel(script.complete), BY_NAME, Background(script))
    candidates = candidates_of(read_all(messages))
    for _ in range(3):
        intents.ask(candidates)
        await asyncio.sleep(0)
    assert len(script.prompts) == asked


async def test_what_is_under_way_ends_with_its_owner() -> None:
    """It is cancelled, and nothing is kept of it."""
    script = Model(asyncio.Event())
    model, background = IntentModel(script.complete), Background(script)
    Intents(model, BY_NAME, background).ask(candidates_of(read_all([call("a.py"), result("a.py")])))
    await asyncio.sleep(0)
    await background.aclose()
    assert len(script.prompts) == 1
    assert model(LOOK) is None
