"""A model's advice: what is taken of it, what becomes of a task when there is none, and that no turn waits for it."""

import asyncio
import json
import logging
from itertools import repeat
from threading import Event
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.budget.task import TaskDefinition
from autogen_context.models.background import Background
from autogen_context.models.completion import READ_CHARS, CompletionClient
from autogen_context.prioritizer.advice import (
    FAILED,
    SHOWN_CHARS,
    Advising,
    advised,
    key_of,
    prompt_for,
)
from autogen_context.prioritizer.category import (
    LEAST_MULTIPLIER,
    MOST_MULTIPLIER,
    Category,
    multipliers_of,
)
from autogen_context.testing import Fault, LoopbackServer, Say, ScriptedModel
from support.waiting import put_forward, until

TASK = TaskDefinition(text="Fix the crash in the vault", type="debug", complexity="low")
CATEGORIES = get_args(Category)
GOOD = json.dumps({"multipliers": {"execution": 3, "general": 0.5}, "complexity": "high"})


class Model:
    """Answers by a script: a text, an error to raise, or an event to wait for before a good answer; the last one for ever."""

    def __init__(self, *steps: str | BaseException | asyncio.Event) -> None:
        self.steps = list(steps)
        self.prompts: list[str] = []

    async def complete(self, prompt: str, /) -> str:
        self.prompts.append(prompt)
        step = self.steps.pop(0) if len(self.steps) > 1 else self.steps[0]
        if isinstance(step, asyncio.Event):
            await step.wait()
            return GOOD
        if isinstance(step, BaseException):
            raise step
        return step


@pytest.mark.parametrize("answer", [GOOD, f"```json\n{GOOD}\n```", f"Here:\n{GOOD}\nGood luck!"])
async def test_sound_advice_is_taken(answer: str) -> None:
    """P2: what the model says counts, however it wraps it; what it does not say is by the rules."""
    advice = await advised(TASK, Model(answer).complete)
    assert advice is not None
    assert advice.multipliers == {**multipliers_of("debug"), "execution": 3.0, "general": 0.5}
    refined = advice.applied_to(TASK)
    assert (refined.complexity, refined.reasons) == ("high", ("high: a model's advice",))
    assert advice.applied_to(refined) is refined


NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers()


@given(st.dictionaries(st.sampled_from(CATEGORIES), NUMBERS))
def test_multipliers_are_clamped(proposed: dict[Category, float]) -> None:
    """P2: whatever numbers a model proposes, all seven are within the bounds."""
    said = Model(json.dumps({"multipliers": proposed}))
    advice = asyncio.run(advised(TASK, said.complete))
    assert advice is not None
    for multiplier in advice.multipliers.values():
        assert LEAST_MULTIPLIER <= multiplier <= MOST_MULTIPLIER


GARBAGE = {
    "prose": "I cannot help with that.",
    "broken off": '{"multipliers": {"execution": 2}',
    "not a number": '{"multipliers": {"execution": NaN}}',
    "a text": '{"multipliers": {"execution": "3"}}',
    "unknown category": '{"multipliers": {"secrets": 3}}',
    "something else": '{"execute": "rm -rf /"}',
    "nested": '{"a":' * 5_000 + "1" + "}" * 1_000,
    "far too much": '{"complexity": "low"' + " " * READ_CHARS + "}",
    "no text at all": '{"\ud800": 1}',
}


@pytest.mark.parametrize("answer", GARBAGE.values(), ids=GARBAGE.keys())
async def test_garbage_falls_back_to_the_rules(answer: str) -> None:
    """P2: nothing of an unsound answer is used."""
    assert await advised(TASK, Model(answer).complete) is None


async def test_failures_are_told_without_a_word_of_the_task(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """One warning, always the same, with the kind of failure; neither the task nor what the model said."""
    model = Model(RuntimeError("vault: sk-secret"), TASK.text, asyncio.Event())
    for _ in range(3):
        assert await advised(TASK, model.complete, timeout_s=0.01) is None
    told = [(record.levelno, record.getMessage()) for record in caplog.records]
    assert told == [(logging.WARNING, FAILED)] * 3
    reasons = ["RuntimeError", "ValidationError", "no answer in time"]
    assert [getattr(record, "reason", "") for record in caplog.records] == reasons
    assert "vault" not in caplog.text


@given(st.text(alphabet="`ab\n{}%"))
def test_the_task_cannot_leave_its_fence(text: str) -> None:
    """The fence is longer than any run of backticks in the text, and the text stands in it unchanged."""
    prompt = prompt_for(TaskDefinition(text=text))
    fence = prompt.rstrip("\n").rsplit("\n", 1)[1]
    assert set(fence) == {"`"}
    assert fence not in text
    assert prompt.endswith(f"\n{fence}\n{text}\n{fence}\n")


def test_what_a_prompt_holds() -> None:
    """All categories, the bounds, what the rules said; of a huge task its beginning and its end."""
    prompt = prompt_for(TASK)
    assert all(f'"{category}": 1.0' in prompt for category in CATEGORIES)
    assert all(f"\n{category}: " in prompt for category in CATEGORIES)
    assert 'type "debug" and of low complexity' in prompt
    assert "from 0.25 (hardly matters) over 1 (as usual) to 4.0 (matters most)" in prompt
    huge = prompt_for(TaskDefinition(text="begin " + "x" * 1_000_000 + " end"))
    assert len(huge) < SHOWN_CHARS + 2_000
    assert "\nbegin xxx" in huge
    assert "xxx end\n" in huge


@pytest.mark.parametrize("fault", [Fault.slow(30), Fault.error(500)], ids=lambda each: each.kind)
async def test_with_a_real_client_and_a_failing_server(
    fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever an endpoint does costs one advice; the next one is there again."""
    arrived = Event()

    def count(text: str) -> int:
        arrived.set()
        return len(text)

    model = ScriptedModel(repeat(Say(GOOD)), count=count)
    with LoopbackServer(model, faults={1: fault}) as server:
        client = CompletionClient("m", base_url=server.base_url, retries=0, timeout_s=90.0)
        asking = asyncio.create_task(advised(TASK, client.complete, timeout_s=60.0))
        if fault.kind == "slow":
            await until(arrived.is_set)
            put_forward(monkeypatch, 61)
        assert await asking is None
        assert await advised(TASK, client.complete) is not None


# ---- in the background of turns


async def ask(advising: Advising, *texts: str) -> None:
    """Ask, and let the background work."""
    for text in texts:
        advising.ask(text)
        for _ in range(4):
            await asyncio.sleep(0)


async def test_a_conversation_asks_about_each_task_once() -> None:
    """Another task takes the place of the last; what failed is not asked again, and the rules need no advice."""
    model = Model(GOOD, GOOD, RuntimeError())
    advising = Advising(model.complete, {}, Background(model))
    await ask(advising, "a", "a", "b", "b")
    assert len(model.prompts) == 2
    assert list(advising.known) == [key_of("b")]
    await ask(advising, "c", "c")
    assert len(model.prompts) == 3
    assert list(advising.known) == [key_of("b")]


async def test_late_advice_on_an_earlier_task_is_dropped() -> None:
    """What comes when there is a newer task says nothing on it."""
    ready = asyncio.Event()
    model = Model(ready, GOOD)
    advising = Advising(model.complete, {}, Background(model))
    await ask(advising, "old", "new")
    assert list(advising.known) == [key_of("new")]
    ready.set()
    for _ in range(8):
        await asyncio.sleep(0)
    assert list(advising.known) == [key_of("new")]


def test_a_loop_that_ended_is_no_answer() -> None:
    """A host with a loop for each turn: what was cut off is asked again in the next one."""
    model = Model(asyncio.Event(), GOOD)
    advising = Advising(model.complete, {}, Background(model))
    asyncio.run(ask(advising, "a"))
    assert not advising.known
    asyncio.run(ask(advising, "a"))
    assert list(advising.known) == [key_of("a")]
