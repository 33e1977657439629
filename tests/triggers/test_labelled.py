"""Intents and completed subtasks, measured on sessions that were labelled by hand before the rules were tuned."""

import json
from collections import Counter
from functools import lru_cache
from pathlib import Path

import pytest
from pydantic import BaseModel, Field

from autogen_context.triggers.hybrid import SubtaskTrigger
from autogen_context.triggers.intent import AT_FIRST, Intent, intent_of
from autogen_context.triggers.turn import Turn
from support.turns import called, turn

SESSIONS = Path(__file__).with_name("trigger_turns.json")
NEAR = 1  # turns between where a subtask ends by the label and by the trigger


class Labelled(BaseModel):
    """A turn, and what a developer would say of it."""

    says: str
    calls: list[tuple[str, dict[str, object], str]]
    intent: Intent | None
    ends: bool = False


class Session(BaseModel):
    """What an agent did, turn by turn."""

    untouched: bool
    labelled: list[Labelled] = Field(alias="turns")

    @property
    def turns(self) -> list[Turn]:
        """Its turns as triggers see them."""
        return [
            turn(number, each.says, *(called(*call) for call in each.calls))
            for number, each in enumerate(self.labelled)
        ]


@lru_cache(2)
def sessions(*, untouched: bool) -> tuple[Session, ...]:
    """The sessions that were looked at while the rules were tuned, or the others."""
    read = [Session.model_validate(each) for each in json.loads(SESSIONS.read_text())["sessions"]]
    return tuple(each for each in read if each.untouched is untouched)


@pytest.mark.parametrize(
    ("untouched", "least_accuracy", "least_f1"),
    [
        pytest.param(False, 0.90, 0.78, id="tuned on"),
        pytest.param(True, 0.85, 0.80, id="untouched"),
    ],
)
def test_intents_are_told(untouched: bool, least_accuracy: float, least_f1: float) -> None:  # noqa: FBT001 - a column
    """At least as often as this, and with this F1 averaged over the intents and none."""
    pairs = Counter[tuple[Intent | None, Intent | None]]()
    for session in sessions(untouched=untouched):
        work = AT_FIRST
        for each, row in zip(session.turns, session.labelled, strict=True):
            pairs[row.intent, intent_of(each, work)] += 1
            work = work.after(each)
    names: set[Intent | None] = {name for pair in pairs for name in pair}
    assert len(names) == 7
    assert pairs.total() >= 75
    assert sum(pairs[name, name] for name in names) / pairs.total() >= least_accuracy
    f1 = [
        2 * pairs[name, name] / sum(n * pair.count(name) for pair, n in pairs.items())
        for name in names
    ]
    assert sum(f1) / len(f1) >= least_f1


@pytest.mark.parametrize(
    ("untouched", "least_recall"),
    [pytest.param(False, 0.85, id="tuned on"), pytest.param(True, 0.80, id="untouched")],
)
def test_completions_are_told(untouched: bool, least_recall: float) -> None:  # noqa: FBT001 - a column
    """95 of a hundred that are told are right, each label counted once, and at least so many are told."""
    right = told = labelled = 0
    for session in sessions(untouched=untouched):
        trigger = SubtaskTrigger()
        scopes = [trigger.observe(each).scope for each in session.turns]
        left = [number for number, each in enumerate(session.labelled) if each.ends]
        labelled += len(left)
        for end in (scope.stop - 1 for scope in scopes if scope):
            told += 1
            near = min(left, key=lambda label: abs(label - end), default=-9)
            if abs(near - end) <= NEAR:
                left.remove(near)
                right += 1
    assert right / told >= 0.95
    assert right / labelled >= least_recall
