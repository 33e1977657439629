"""Laws that hold for every trigger, and the settings that each refuses."""

import pickle
import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.triggers.boundary import SemanticBoundaryDetector
from autogen_context.triggers.hybrid import (
    SemanticHybridTrigger,
    StalenessTracker,
)
from autogen_context.triggers.intent import IntentBasedTrigger, IntentModel
from autogen_context.triggers.subtask import SubtaskTrigger
from autogen_context.triggers.turn import Trigger, TriggerDecision, TriggerSettings, Turn
from support.turns import SESSIONS, edit, read, turn

Make = Callable[..., Trigger]
EACH: dict[str, Make] = {
    "hybrid": SemanticHybridTrigger,
    "subtask": SubtaskTrigger,
    "intent": IntentBasedTrigger,
    "boundary": SemanticBoundaryDetector,
    "staleness": lambda: StalenessTracker(max_references=3, threshold=0.4),
}
each_trigger = pytest.mark.parametrize("make", EACH.values(), ids=EACH)


def observed(trigger: Trigger, turns: Sequence[Turn]) -> list[TriggerDecision]:
    """What is said after each turn."""
    return [trigger.observe(each) for each in turns]


@each_trigger
@settings(max_examples=25)
@given(turns=SESSIONS, first=st.integers(0, 5))
def test_the_same_turns_give_the_same_decisions(make: Make, turns: list[Turn], first: int) -> None:
    """No clock, no chance, nothing shared between triggers; what comes later changes nothing before."""
    said = observed(make(), turns[first:])
    again, half = make(), first + len(turns[first:]) // 2
    assert observed(again, turns[first:half]) == said[: half - first]
    assert observed(again, turns[half:]) == said[half - first :]


@each_trigger
@settings(max_examples=25)
@given(turns=SESSIONS)
def test_scopes_lie_within_what_was_seen(make: Make, turns: list[Turn]) -> None:
    """With what stays in order and once; those of subtasks, phases, stretches and counts never overlap."""
    stop = 0
    trigger = make()
    for seen, decision in enumerate(observed(trigger, turns)):
        assert decision.fires == (decision.scope is not None) == (decision.confidence > 0)
        if decision.scope is None:
            continue
        assert decision.scope.stop <= seen + 1
        assert list(decision.scope.outcomes) == sorted(set(decision.scope.outcomes))
        if not isinstance(trigger, SemanticHybridTrigger | StalenessTracker):
            assert stop <= decision.scope.start
            stop = decision.scope.stop


@pytest.mark.parametrize("given", [{"action": "read a.py"}, None, "read a.py"], ids=repr)
@each_trigger
def test_what_is_no_turn_is_refused(make: Make, given: object) -> None:
    """With what was given, and how a turn is made."""
    trigger = make()
    with pytest.raises(ValueError, match=rf"turn={re.escape(repr(given))}: give a Turn; turn_of"):
        trigger.observe(given)  # type: ignore[arg-type] # wrong on purpose
    assert not trigger.observe(turn(0, "Hello.")).fires


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (IntentModel, {"complete": None, "timeout_s": 0}, "timeout_s=0: give a positive number"),
        (IntentBasedTrigger, {"confidence": 1.5}, "confidence=1.5: give a number in 0..1"),
        (SemanticBoundaryDetector, {"confidence": float("nan")}, "confidence=nan: give a number"),
        (StalenessTracker, {"max_age": 0}, "max_age=0: give 1 or more"),
        (StalenessTracker, {"max_references": -1}, "max_references=-1: give 0 or more"),
        (StalenessTracker, {"threshold": 1.1}, "threshold=1.1: give a number in 0..1"),
        (StalenessTracker, {"confidence": -0.1}, "confidence=-0.1: give a number in 0..1"),
        (TriggerSettings, {"staleness_threshold": 2}, "staleness_threshold=2: give a number"),
        (TriggerSettings, {"fallback_turns": -1}, "fallback_turns=-1: give 0 or more"),
    ],
)
def test_what_cannot_be_is_refused(
    make: Callable[..., object], arguments: dict[str, Any], message: str
) -> None:
    """At construction, with its name, its value and the way out."""
    with pytest.raises(ValueError, match=message):
        make(**arguments)


def test_what_is_remembered_is_bounded() -> None:
    """By all triggers together, however many turns and files there were."""
    trigger, sizes = SemanticHybridTrigger(), list[int]()
    for i in range(2_000):
        path = f"src/part_{i}.py"
        trigger.observe(turn(i, f"Look at name_{i}.", read(path), edit(path)))
        if i in {999, 1_999}:
            sizes.append(len(pickle.dumps(trigger)))
    assert sizes[1] < 1.5 * sizes[0]
