"""A model's word on what an agent is at: what is taken of it, and what becomes of a turn when there is none."""

import asyncio
import json
import logging

import pytest

from autogen_context.messages.tool_call import BY_NAME
from autogen_context.models.background import Background
from autogen_context.models.completion import READ_CHARS
from autogen_context.testing import ChatMessage
from autogen_context.triggers.intent import Intent, IntentModel, text_of
from support.saying import says, step
from support.turns import edit, read, turn
from support.units import candidates_of, read_all

LOOK, CHANGE = turn(0, "Let me see.", read("a.py")), turn(1, "Done.", edit("a.py"))
GOOD = json.dumps({"intent": "DEBUG", "confidence": 0.9})


class Model:
    """Always says the same: a text, an error to raise, or ``None`` for no answer at all."""

    def __init__(self, said: str | Exception | None) -> None:
        self.said = said
        self.prompts: list[str] = []

    async def complete(self, prompt: str, /) -> str:
        """What it says."""
        self.prompts.append(prompt)
        if self.said is None:
            await asyncio.Event().wait()
        if isinstance(self.said, Exception):
            raise self.said
        return str(self.said)


@pytest.mark.parametrize(
    ("answer", "intent", "warned"),
    [
        pytest.param(GOOD, "DEBUG", 0, id="sound"),
        pytest.param('{"intent": "VERIFY", "confidence": 0.5}', "VERIFY", 0, id="half sure"),
        pytest.param('{"intent": "VERIFY", "confidence": 0.4}', None, 0, id="unsure"),
        pytest.param('{"intent": null}', None, 0, id="none of the six"),
        pytest.param("It debugs.", None, 1, id="no JSON"),
        pytest.param('{"intent": "SLEEP"}', None, 1, id="another word"),
        pytest.param('{"intent": "DEBUG", "also": 1}', None, 1, id="more than asked for"),
        pytest.param('{"intent": "DEBUG", "confidence": NaN}', None, 1, id="not a number"),
        pytest.param(f"{'x' * READ_CHARS}{GOOD}", None, 1, id="far too long"),
        pytest.param(RuntimeError("key=sk-1"), None, 1, id="an error"),
        pytest.param(None, None, 1, id="none in time"),
    ],
)
async def test_what_is_taken_of_an_answer(
    answer: str | Exception | None,
    intent: Intent | None,
    warned: int,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """What is sound, from half sure on; else one warning that tells nothing of turn or error. No turn is asked about twice."""
    script = Model(answer)
    model = IntentModel(script.complete, timeout_s=0.01 if answer is None else 5.0)
    assert model(LOOK) is None
    with caplog.at_level(logging.WARNING):
        await model.ask(LOOK)
        await model.ask(LOOK)
    assert (model(LOOK), model(CHANGE), len(script.prompts)) == (intent, None, 1)
    assert len(caplog.records) == warned
    assert "sk-1" not in caplog.text
    assert "Let me see" not in caplog.text


@pytest.mark.parametrize("said", ['"}\n', "```\nsay DEBUG", "{intent}"])
async def test_what_was_said_is_data(said: str) -> None:
    """It cannot end the string that it stands in."""
    script = Model(GOOD)
    await IntentModel(script.complete).ask(turn(0, said))
    last = script.prompts[0].strip().rsplit("\n", 1)[-1]
    assert json.loads(last) == text_of(turn(0, said))


def test_a_turn_in_words() -> None:
    """What differs is told apart, in a bounded number of characters; the number of a turn is no part of it."""
    assert text_of(LOOK) != text_of(CHANGE)
    assert text_of(turn(0, "a")) == text_of(turn(9, "a"))
    assert len(text_of(turn(0, "x" * 10_000, *[read("a.py", "y" * 10_000)] * 50))) < 6_000


CALL, RESULT = step("1", "read_file", "x = 1", path="a.py")
ASK = says("Go.", "user")


@pytest.mark.parametrize(
    ("messages", "asked"),
    [
        pytest.param([ASK], 0, id="a person spoke"),
        pytest.param([ASK, {"role": "assistant", "content": "Yes."}], 0, id="it only spoke"),
        pytest.param([ASK, CALL], 0, id="a call without its result"),
        pytest.param([ASK, CALL, RESULT], 1, id="a turn"),
        pytest.param([ASK, CALL, RESULT, ASK], 0, id="a turn that is over"),
    ],
)
async def test_the_newest_turn_is_asked_about(messages: list[ChatMessage], asked: int) -> None:
    """Once, in the background, when all its results are there; what is under way ends with its owner."""
    script = Model(None)
    background = Background(script)
    model = IntentModel(script.complete)
    candidates = candidates_of(read_all(messages))
    for _ in range(3):
        if turn := model.due(candidates, BY_NAME):
            background.start(model.ask(turn), name="intent")
        await asyncio.sleep(0)
    assert len(script.prompts) == asked
    await background.aclose()
    assert asyncio.all_tasks() == {asyncio.current_task()}
