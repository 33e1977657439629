"""A model's advice: what is taken of it, what becomes of a task when there is none, and that no turn waits for it."""

import asyncio
import json
import logging
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.budget.task import TaskDefinition
from autogen_context.models.background import Background
from autogen_context.models.completion import READ_CHARS
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
from support.waiting import LONGEST_S, until

TASK = TaskDefinition(text="Fix the crash in the vault", type="debug", complexity="low")
CATEGORIES = get_args(Category)
GOOD = json.dumps({"multipliers": {"execution": 3, "general": 0.5}, "complexity": "high"})


class Model:
    """Answers by a script: a text, an error to raise, or an event to wait for before a good answer; the last one for ever."""

    def __init__(self, *steps: str | BaseException | asyncio.Event) -> None:
        self.steps = list(steps)
        self.prompts: list[str] = []
        self.held = 0  # answers that wait

    async def complete(self, prompt: str, /) -> str:
        self.prompts.append(prompt)
        step = self.steps.pop(0) if len(self.steps) > 1 else self.steps[0]
        if isinstance(step, asyncio.Event):
            self.held += 1
            try:
                await step.wait()
            finally:
                self.held -= 1
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
FAULTS: dict[str, tuple[str | BaseException | asyncio.Event, str]] = {
    **{name: (answer, "") for name, answer in GARBAGE.items()},
    "an error": (RuntimeError("vault: sk-secret"), "RuntimeError"),
    "the task": (TASK.text, "ValidationError"),
    "silence": (asyncio.Event(), "no answer in time"),
}


@pytest.mark.parametrize(("step", "reason"), FAULTS.values(), ids=FAULTS.keys())
async def test_failures_fall_back_to_the_rules(
    step: str | BaseException | asyncio.Event, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    """P2, E4: one warning, always of the same text, with the kind of failure; nothing of the task nor of what the model said."""
    limit_s = 0.01 if isinstance(step, asyncio.Event) else LONGEST_S
    assert await advised(TASK, Model(step).complete, timeout_s=limit_s) is None
    assert [(each.levelno, each.msg) for each in caplog.records] == [(logging.WARNING, FAILED)]
    assert getattr(caplog.records[0], "reason", "") == (reason or "ValidationError")
    assert caplog.messages == [FAILED % (reason or "ValidationError")]
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
    assert all(part in huge for part in ("\nbegin xxx", "xxx end\n"))


# ---- in the background of turns


async def ask(advising: Advising, model: Model, *texts: str) -> None:
    """Ask, and let the background work until it is done or waits for the model."""
    for text in texts:
        advising.ask(text)
        await until(lambda: len(asyncio.all_tasks()) == 1 + model.held)


async def test_a_conversation_asks_about_each_task_once() -> None:
    """Another task takes the place of the last; what failed is not asked again, and late advice on an earlier one is dropped."""
    ready = asyncio.Event()
    model = Model(GOOD, RuntimeError(), ready, GOOD)
    advising = Advising(model.complete, {}, Background(model))
    await ask(advising, model, "a", "a", "b", "b")
    assert len(model.prompts) == 2
    assert list(advising.known) == [key_of("a")]
    await ask(advising, model, "old", "new")
    ready.set()
    await ask(advising, model, "new")
    assert len(model.prompts) == 4
    assert list(advising.known) == [key_of("new")]


def test_a_loop_that_ended_is_no_answer() -> None:
    """A host with a loop for each turn: what was cut off is asked again in the next one."""
    model = Model(asyncio.Event(), GOOD)
    advising = Advising(model.complete, {}, Background(model))
    asyncio.run(ask(advising, model, "a"))
    assert not advising.known
    asyncio.run(ask(advising, model, "a"))
    assert list(advising.known) == [key_of("a")]
