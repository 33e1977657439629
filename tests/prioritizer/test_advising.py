"""A model is asked for advice on a task in the background of turns; nothing ever waits for it."""

import asyncio
from typing import Literal

from autogen_context.budget.task import TaskDefinition
from autogen_context.models.background import Background
from autogen_context.prioritizer.advice import Advice, by_rules
from autogen_context.prioritizer.advising import Advising, key_of


class Answers:
    """Advises as it was told; notes what it was asked."""

    def __init__(self, source: Literal["model", "rules"] = "model") -> None:
        self.asked: list[str] = []
        self.source: Literal["model", "rules"] = source
        self.wait: asyncio.Event | None = None

    async def advise(self, task: TaskDefinition, /) -> Advice:
        """What matters for a task."""
        self.asked.append(task.text)
        if self.wait is not None:
            await self.wait.wait()
        rules = by_rules(task)
        return Advice(
            multipliers=rules.multipliers, complexity=rules.complexity, source=self.source
        )


async def test_a_task_is_asked_about_once() -> None:
    """While it is under way, and after; another task takes its place."""
    answers = Answers()
    advising = Advising(answers, {}, Background(answers))
    for text in ("a", "a", "b", "b"):
        advising.ask(text)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    assert answers.asked == ["a", "b"]
    assert list(advising.known) == [key_of("b")]


async def test_advice_by_rules_is_not_kept() -> None:
    """The rules need no advice; and a model that failed is not asked again for the same task."""
    answers = Answers("rules")
    advising = Advising(answers, {}, Background(answers))
    for _ in range(3):
        advising.ask("a")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    assert answers.asked == ["a"]
    assert not advising.known


async def test_late_advice_on_an_earlier_task_is_dropped() -> None:
    """What comes when there is a newer task says nothing on it."""
    answers = Answers()
    answers.wait = asyncio.Event()
    advising = Advising(answers, {}, Background(answers))
    advising.ask("old")
    await asyncio.sleep(0)
    advising.ask("new")
    answers.wait.set()
    for _ in range(4):
        await asyncio.sleep(0)
    assert list(advising.known) == [key_of("new")]


async def cut_off(advising: Advising, answers: Answers) -> None:
    """Ask in a loop that ends before there is an answer."""
    answers.wait = asyncio.Event()
    advising.ask("a")
    await asyncio.sleep(0)


def test_a_loop_that_ended_is_no_answer() -> None:
    """A host with a loop for each turn: what was cut off is asked again in the next one."""
    answers = Answers()
    advising = Advising(answers, {}, Background(answers))

    async def goes_on() -> None:
        answers.wait = None
        advising.ask("a")
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    asyncio.run(cut_off(advising, answers))
    asyncio.run(goes_on())
    assert answers.asked == ["a", "a"]
    assert list(advising.known) == [key_of("a")]
