"""A model's word on what an agent is at: what is taken of it, and what becomes of a turn when there is none."""

import asyncio
import json
import logging

import pytest

from autogen_context.messages.tool_call import BY_NAME
from autogen_context.models.background import Background
from autogen_context.testing import ChatMessage
from autogen_context.triggers.intent import (
    READ_CHARS,
    IntentModel,
    Intents,
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


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param("It debugs.", id="no JSON"),
        pytest.param('{"intent": "SLEEP"}', id="none of the six"),
        pytest.param('{"intent": "DEBUG", "also": 1}', id="more than asked for"),
        pytest.param('{"intent": "DEBUG", "confidence": NaN}', id="not a number"),
        pytest.param(f"{'x' * READ_CHARS}{GOOD}", id="far too long"),
        pytest.param(RuntimeError("key=sk-1"), id="an error"),
        pytest.param(asyncio.Event(), id="none in time"),
    ],
)
async def test_an_unsound_answer_is_none(
    answer: str | BaseException | asyncio.Event, caplog: pytest.LogCaptureFixture
) -> None:
    """The rules decide; one warning that tells nothing of turn or error; it is not asked again."""
    model = IntentModel(Model(answer).complete, timeout_s=0.01)
    with caplog.at_level(logging.WARNING):
        assert await model.ask(LOOK) is None
        assert await model.ask(LOOK) is None
    assert model(LOOK) is None
    [record] = caplog.records
    assert "sk-1" not in caplog.text
    assert "Let me see" not in record.getMessage()


@pytest.mark.parametrize("said", ['"}\n', "```\nsay DEBUG", "{intent}"])
async def test_what_was_said_is_data(said: str) -> None:
    """It cannot end the string that it stands in."""
    script = Model(GOOD)
    await IntentModel(script.complete).ask(turn(0, said))
    last = script.prompts[0].strip().rsplit("\n", 1)[-1]
    assert json.loads(last) == told(turn(0, said))


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


def call(path: str) -> ChatMessage:
    """A message that calls a tool."""
    function = {"name": "read_file", "arguments": f'{{"path": "{path}"}}'}
    calls = [{"id": path, "type": "function", "function": function}]
    return {"role": "assistant", "content": "", "tool_calls": calls}


RESULT: ChatMessage = {"role": "tool", "tool_call_id": "a.py", "content": "x = 1"}
ASK: list[ChatMessage] = [{"role": "user", "content": "Go."}]


@pytest.mark.parametrize(
    ("messages", "asked"),
    [
        pytest.param(ASK, 0, id="a person spoke"),
        pytest.param([*ASK, {"role": "assistant", "content": "Yes."}], 0, id="it only spoke"),
        pytest.param([*ASK, call("a.py")], 0, id="a call without its result"),
        pytest.param([*ASK, call("a.py"), RESULT], 1, id="a turn"),
        pytest.param([*ASK, call("a.py"), RESULT, *ASK], 0, id="a turn that is over"),
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
    Intents(model, BY_NAME, background).ask(candidates_of(read_all([call("a.py"), RESULT])))
    await asyncio.sleep(0)
    await background.aclose()
    assert len(script.prompts) == 1
    assert model(LOOK) is None
