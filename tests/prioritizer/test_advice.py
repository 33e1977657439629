"""A model's advice: what is taken of it, and what becomes of a turn when there is none."""

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
from autogen_context.models.completion import CompletionClient
from autogen_context.prioritizer.advice import (
    READ_CHARS,
    SHOWN_CHARS,
    Advisor,
    by_rules,
    prompt_for,
    read,
)
from autogen_context.prioritizer.category import LEAST_MULTIPLIER, MOST_MULTIPLIER, Category
from autogen_context.testing import Fault, LoopbackServer, Say, ScriptedModel
from support.waiting import put_forward, until

TASK = TaskDefinition(text="Fix the crash in the vault", type="debug", complexity="low")
CATEGORIES = get_args(Category)
GOOD = json.dumps({"multipliers": {"execution": 3, "general": 0.5}, "complexity": "high"})


class Model:
    """Answers by a script: a text, an error to raise, or an event to wait for before the answer."""

    def __init__(self, *steps: str | BaseException | asyncio.Event) -> None:
        self.steps = list(steps)
        self.prompts: list[str] = []

    async def complete(self, prompt: str, /) -> str:
        self.prompts.append(prompt)
        step = self.steps.pop(0)
        if isinstance(step, asyncio.Event):
            await step.wait()
            return GOOD
        if isinstance(step, BaseException):
            raise step
        return step


def others(count: int) -> list[TaskDefinition]:
    """Tasks that differ."""
    return [TaskDefinition(text=str(number)) for number in range(count)]


async def test_sound_advice_is_taken() -> None:
    """What the model says counts; what it does not say is by the rules."""
    advice = await Advisor(Model(GOOD).complete).advise(TASK)
    assert (advice.source, advice.complexity, advice.reason) == ("model", "high", "")
    expected = {**by_rules(TASK).multipliers, "execution": 3.0, "general": 0.5}
    assert advice.multipliers == expected
    assert list(advice.multipliers) == list(CATEGORIES)


def test_advice_applies_to_a_task() -> None:
    """The complexity is refined, with the reason; advice that agrees leaves the task as it is."""
    refined = read(GOOD, TASK).applied_to(TASK)
    assert (refined.complexity, refined.reasons) == ("high", ("high: a model's advice",))
    assert (refined.text, refined.type) == (TASK.text, TASK.type)
    assert by_rules(TASK).applied_to(TASK) is TASK


@given(
    st.dictionaries(
        st.sampled_from(CATEGORIES),
        st.floats(allow_nan=False, allow_infinity=False) | st.integers(),
    )
)
def test_multipliers_are_clamped(proposed: dict[Category, float]) -> None:
    """Whatever numbers a model proposes, all seven are within the bounds."""
    advice = read(json.dumps({"multipliers": proposed}), TASK)
    assert set(advice.multipliers) == set(CATEGORIES)
    for multiplier in advice.multipliers.values():
        assert LEAST_MULTIPLIER <= multiplier <= MOST_MULTIPLIER


@given(st.text())
async def test_no_answer_breaks_a_turn(answer: str) -> None:
    """Any text is sound advice, or the rules are used and it is said why."""
    advice = await Advisor(Model("{" + answer).complete).advise(TASK)
    assert advice.source == "model" or advice == by_rules(TASK, advice.reason)
    assert bool(advice.reason) == (advice.source == "rules")


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(GOOD, id="plain"),
        pytest.param(f"```json\n{GOOD}\n```", id="fenced"),
        pytest.param(f"Here you are:\n{GOOD}\nGood luck!", id="with prose"),
    ],
)
def test_the_object_is_found(answer: str) -> None:
    """Models like to wrap what they are asked for."""
    assert read(answer, TASK).multipliers["execution"] == 3


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param("", id="nothing"),
        pytest.param("I cannot help with that.", id="prose"),
        pytest.param("} {", id="the wrong way round"),
        pytest.param('{"multipliers": {"execution": 2}', id="broken off"),
        pytest.param('{"multipliers": {"execution": NaN}}', id="not a number"),
        pytest.param('{"multipliers": {"execution": Infinity}}', id="infinite"),
        pytest.param('{"multipliers": {"execution": "3"}}', id="a text"),
        pytest.param('{"multipliers": {"execution": true}}', id="a truth"),
        pytest.param('{"multipliers": {"secrets": 3}}', id="unknown category"),
        pytest.param('{"complexity": "extreme"}', id="unknown complexity"),
        pytest.param('{"multipliers": [3]}', id="a list"),
        pytest.param('{"execute": "rm -rf /"}', id="something else"),
        pytest.param('{"a":' * 5_000 + "1" + "}" * 1_000, id="nested"),
        pytest.param('{"complexity": "low"' + " " * READ_CHARS + "}", id="far too much"),
        pytest.param('{"\ud800": 1}', id="no text at all"),
    ],
)
async def test_garbage_falls_back_to_the_rules(answer: str) -> None:
    """Nothing of an unsound answer is used."""
    advice = await Advisor(Model(answer).complete).advise(TASK)
    assert advice == by_rules(TASK, advice.reason)
    assert advice.reason


async def test_failures_are_told_without_a_word_of_the_task(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """One warning, always the same, with the kind of failure; neither the task nor what the model said."""
    model = Model(RuntimeError("vault: sk-secret"), TASK.text, asyncio.Event())
    advisor = Advisor(model.complete, timeout_s=0.05)
    tasks = [TASK, *others(2)]
    reasons = [(await advisor.advise(task)).reason for task in tasks]
    assert reasons == ["RuntimeError", "ValueError", "no answer in time"]
    told = [(record.levelno, record.getMessage()) for record in caplog.records]
    assert told == [(logging.WARNING, "a model gave no advice; the rules are used")] * 3
    assert [getattr(record, "reason", "") for record in caplog.records] == reasons
    assert "vault" not in caplog.text


async def test_a_task_is_asked_about_once() -> None:
    """Advice is remembered, a failure too: a model that hangs delays a task once."""
    model = Model(GOOD, RuntimeError())
    advisor = Advisor(model.complete)
    tasks = [TASK, *others(1)]
    first = [await advisor.advise(task) for task in tasks]
    assert [await advisor.advise(task) for task in tasks] == first
    assert len(model.prompts) == 2


async def test_the_type_and_the_complexity_make_another_task() -> None:
    """The same words in another light are asked about again."""
    model = Model(GOOD, GOOD, GOOD)
    advisor = Advisor(model.complete)
    for task_type in ("debug", "chat"):
        await advisor.advise(TaskDefinition(text="x", type=task_type))
    await advisor.advise(TaskDefinition(text="x", type="chat", complexity="high"))
    assert len(model.prompts) == 3


async def test_memory_is_bounded() -> None:
    """The task that was asked for longest ago goes first."""
    model = Model(*[GOOD] * 5)
    advisor = Advisor(model.complete, entries=2)
    a, b, c = others(3)
    for task in (a, b, a, c, a):
        await advisor.advise(task)
    assert len(model.prompts) == 3
    await advisor.advise(b)
    assert len(model.prompts) == 4


async def test_concurrent_callers_share_one_question() -> None:
    """However many ask at once."""
    ready = asyncio.Event()
    model = Model(ready)
    advisor = Advisor(model.complete)
    asking = [asyncio.create_task(advisor.advise(TASK)) for _ in range(5)]
    await asyncio.sleep(0)
    ready.set()
    answers = await asyncio.gather(*asking)
    assert len(model.prompts) == 1
    assert all(answer is answers[0] for answer in answers)


async def test_cancellation_passes_through_and_the_others_go_on() -> None:
    """Who is cancelled leaves; the next one asks in its place, and nothing is remembered of it."""
    never, ready = asyncio.Event(), asyncio.Event()
    model = Model(never, ready)
    advisor = Advisor(model.complete)
    first, second, third = (asyncio.create_task(advisor.advise(TASK)) for _ in range(3))
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    ready.set()
    assert {(await each).source for each in (second, third)} == {"model"}
    assert len(model.prompts) == 2


async def test_a_cancelled_waiter_does_not_disturb_the_one_who_asks() -> None:
    """It leaves alone."""
    ready = asyncio.Event()
    advisor = Advisor(Model(ready).complete)
    first, second = (asyncio.create_task(advisor.advise(TASK)) for _ in range(2))
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.sleep(0)
    ready.set()
    assert (await first).source == "model"
    assert second.cancelled()


@given(st.text(alphabet="`ab\n{}%"))
def test_the_task_cannot_leave_its_fence(text: str) -> None:
    """The fence is longer than any run of backticks in the text, and the text stands in it unchanged."""
    prompt = prompt_for(TaskDefinition(text=text))
    fence = prompt.rstrip("\n").rsplit("\n", 1)[1]
    assert set(fence) == {"`"}
    assert fence not in text
    assert prompt.endswith(f"\n{fence}\n{text}\n{fence}\n")


def test_the_prompt_names_everything_it_asks_for() -> None:
    """All categories, the bounds, and what the rules said."""
    prompt = prompt_for(TASK)
    assert all(f'"{category}": 1.0' in prompt for category in CATEGORIES)
    assert all(f"\n{category}: " in prompt for category in CATEGORIES)
    assert 'type "debug" and of low complexity' in prompt
    assert "from 0.25 (hardly matters) over 1 (as usual) to 4.0 (matters most)" in prompt


def test_a_huge_task_is_shown_in_part() -> None:
    """Its beginning and its end."""
    prompt = prompt_for(TaskDefinition(text="begin " + "x" * 1_000_000 + " end"))
    assert len(prompt) < SHOWN_CHARS + 2_000
    assert "\nbegin xxx" in prompt
    assert "\n[…]\nxxx" in prompt
    assert "xxx end\n" in prompt


def test_wrong_arguments() -> None:
    """Said at construction."""
    with pytest.raises(ValueError, match="timeout_s=0: give a positive number of seconds"):
        Advisor(Model().complete, timeout_s=0)
    with pytest.raises(ValueError, match="entries=0: give 1 or more"):
        Advisor(Model().complete, entries=0)


@pytest.mark.parametrize(
    "fault",
    [Fault.slow(30), Fault.error(500), Fault.garbage(), Fault.drop(), Fault.empty("content")],
    ids=lambda fault: fault.kind,
)
async def test_with_a_real_client_and_a_failing_server(
    fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever an endpoint does, a task has its advice; the next one has the model's again."""
    arrived = Event()

    def count(text: str) -> int:
        arrived.set()
        return len(text)

    model = ScriptedModel(repeat(Say(GOOD)), count=count)
    with LoopbackServer(model, faults={1: fault}) as server:
        client = CompletionClient("m", base_url=server.base_url, retries=0, timeout_s=90.0)
        advisor = Advisor(client.complete, timeout_s=60.0)
        asking = asyncio.create_task(advisor.advise(TASK))
        if fault.kind == "slow":
            await until(arrived.is_set)
            put_forward(monkeypatch, 61)
        assert (await asking).source == "rules"
        assert (await advisor.advise(*others(1))).source == "model"
