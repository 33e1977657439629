"""All triggers together: their order, their switches, the count of turns as the last resort, and laws of each."""

import pickle
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.triggers.boundary import SemanticBoundaryDetector
from autogen_context.triggers.hybrid import SemanticHybridTrigger, StalenessTracker, SubtaskTrigger
from autogen_context.triggers.intent import IntentBasedTrigger, IntentModel
from autogen_context.triggers.turn import (
    NOTHING,
    Scope,
    Step,
    Trigger,
    TriggerDecision,
    Turn,
)
from support.turns import SESSIONS, edit, observed, ran_tests, read, shell, turn

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "triggers.md"
SWITCHES = ("subtasks", "intents", "boundaries", "staleness")
OFF: dict[str, Any] = {**dict.fromkeys(SWITCHES, False), "fallback_turns": 0}
COUNTING: dict[str, Any] = OFF | {"fallback_turns": 10}
SWITCHED = st.fixed_dictionaries(dict.fromkeys(SWITCHES, st.booleans()))
Make = Callable[..., Trigger]
EACH: dict[str, Make] = {
    "hybrid": SemanticHybridTrigger,
    "subtask": SubtaskTrigger,
    "intent": IntentBasedTrigger,
    "boundary": SemanticBoundaryDetector,
    "staleness": lambda: StalenessTracker(max_references=3, threshold=0.4),
}
each_trigger = pytest.mark.parametrize("make", EACH.values(), ids=EACH)


@each_trigger
@settings(max_examples=20)
@given(turns=SESSIONS, first=st.integers(0, 5))
def test_the_same_turns_give_the_same_decisions(make: Make, turns: list[Turn], first: int) -> None:
    """In scopes of what was seen; no clock, no chance, nothing shared; those of one kind never overlap."""
    trigger, again, stop = make(), make(), 0
    for each in turns[first:]:
        decision = trigger.observe(each)
        assert again.observe(each) == decision
        assert decision.fires == (decision.scope is not None) == (decision.confidence > 0)
        if decision.scope is None:
            continue
        assert decision.scope.stop <= each.number + 1
        assert list(decision.scope.outcomes) == sorted(set(decision.scope.outcomes))
        if not isinstance(trigger, SemanticHybridTrigger | StalenessTracker):
            assert stop <= decision.scope.start
            stop = decision.scope.stop
        if isinstance(trigger, SemanticBoundaryDetector | StalenessTracker | SemanticHybridTrigger):
            assert decision.scope.is_enough


@each_trigger
def test_what_is_no_turn_is_refused(make: Make) -> None:
    """With what was given, and how a turn is made."""
    with pytest.raises(ValueError, match=r"turn='read a.py': give a Turn; turn_of"):
        make().observe("read a.py")  # type: ignore[arg-type] # wrong on purpose


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (IntentModel, {"complete": None, "timeout_s": 0}, "timeout_s=0: give a positive number"),
        (StalenessTracker, {"max_age": 0}, "max_age=0: give 1 or more"),
        (StalenessTracker, {"max_references": -1}, "max_references=-1: give 0 or more"),
        (StalenessTracker, {"threshold": float("nan")}, "threshold=nan: give a number in 0..1"),
        (SemanticHybridTrigger, {"staleness_threshold": 2}, "staleness_threshold=2: give a number"),
        (SemanticHybridTrigger, {"fallback_turns": -1}, "fallback_turns=-1: give 0 turns or more"),
        (Scope, {"start": 3, "stop": 3}, "start=3, stop=3: give 0 <= start < stop"),
        (Scope, {"start": 3, "stop": 4, "outcomes": (4,)}, r"\[4\] lie outside the scope"),
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
    for i in range(900):
        trigger.observe(turn(i, "", read(f"src/part_{i:03}.py")))
        if i in {549, 899}:
            sizes.append(len(pickle.dumps(trigger)))
    assert sizes[1] < 1.2 * sizes[0]


class Scripted:
    """A trigger that says what it is told to at some turns."""

    def __init__(self, said: Mapping[int, TriggerDecision]) -> None:
        self.said = said

    def observe(self, turn: Turn, /) -> TriggerDecision:
        """What it is to say of a turn."""
        return self.said.get(turn.number, NOTHING)


def proposal(start: int, stop: int, confidence: float) -> TriggerDecision:
    """What a trigger of one's own proposes."""
    scope = Scope(start=start, stop=stop)
    return TriggerDecision(kind="boundary", scope=scope, confidence=confidence)


def idle(count: int) -> list[Turn]:
    """Turns that mean nothing."""
    return [turn(i, "", shell("ls")) for i in range(count)]


@settings(max_examples=40)
@given(SESSIONS, SWITCHED, st.integers(1, 12))
def test_the_count_begins_anew(turns: list[Turn], switched: dict[str, Any], count: int) -> None:
    """Trap of the original, which fires at every turn after M: before it fires there are M turns without a proposal (T5)."""
    hybrid = SemanticHybridTrigger(**switched, fallback_turns=count)
    waited, behind = 0, 0
    for decision in observed(hybrid.observe, turns):
        waited += 1
        if decision.scope is not None:
            assert decision.scope.is_enough
            assert decision.details
            assert decision.kind != "turn_count" or waited >= count
            assert decision.kind != "turn_count" or decision.scope.start >= behind
            waited, behind = 0, max(behind, decision.scope.stop)


CODE = [read("src/a.py"), edit("src/a.py"), read("src/a.py"), ran_tests()]
OTHER_FILES = [read(f"lib/part_{i}.py", "part") for i in range(30)]


@pytest.mark.parametrize(
    ("steps", "alone", "kind"),
    [
        pytest.param(CODE, {"subtasks": True}, "subtask", id="subtask"),
        pytest.param([*[read("a.py")] * 5, edit("a.py"), edit("a.py")], {"intents": True}, "intent", id="intent"),
        pytest.param(CODE, {"boundaries": True}, "boundary", id="boundary"),
        pytest.param(OTHER_FILES, {"staleness": True}, "staleness", id="staleness"),
        pytest.param([shell("ls")] * 10, {"fallback_turns": 10}, "turn_count", id="turn count"),
    ],
)  # fmt: skip  # a row a trigger
def test_each_can_be_switched(steps: list[Step], alone: dict[str, Any], kind: str) -> None:
    """It is what fires where it alone is on, with the confidence that is its own (T5)."""
    confidences = {"intent": 0.85, "boundary": 0.80, "staleness": 0.70, "turn_count": 0.50}
    turns = [turn(i, "", step) for i, step in enumerate(steps)]
    hybrid, off = SemanticHybridTrigger(**OFF | alone), SemanticHybridTrigger(**OFF)
    fired = [each for each in observed(hybrid.observe, turns) if each.fires]
    assert {each.kind for each in fired} == {kind}
    assert fired[0].confidence == confidences.get(kind, fired[0].confidence)
    assert not any(each.fires for each in observed(off.observe, turns))


def test_the_fallback_fires_once_in_so_many_turns() -> None:
    """It proposes what no proposal had, but for the newest three turns."""
    hybrid = SemanticHybridTrigger(**COUNTING)
    fired = {i: d.scope for i, d in enumerate(observed(hybrid.observe, idle(25))) if d.fires}
    assert fired == {9: Scope(start=0, stop=7), 19: Scope(start=7, stop=17)}


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        pytest.param(0.8, 0.9, (2, 8), id="the surer"),
        pytest.param(0.9, 0.8, (0, 9), id="the surer, given first"),
        pytest.param(0.8, 0.8, (0, 9), id="of equals the first"),
    ],
)
def test_the_surest_is_followed(first: float, second: float, expected: tuple[int, int]) -> None:
    """Of those that read a meaning."""
    more = [Scripted({9: each}) for each in (proposal(0, 9, first), proposal(2, 8, second))]
    *_, said = observed(SemanticHybridTrigger(**OFF, more=more).observe, idle(10))
    assert said.scope == Scope(start=expected[0], stop=expected[1])


def test_meaning_goes_before_staleness_before_counting() -> None:
    """Whatever their confidences (T5)."""
    turns = [turn(i, "", step) for i, step in enumerate(OTHER_FILES)]
    given: dict[str, Any] = {**COUNTING, "staleness": True}
    stale = observed(SemanticHybridTrigger(**given).observe, turns)
    at = next(i for i, decision in enumerate(stale) if decision.kind == "staleness")
    own = Scripted({at: proposal(1, 6, 0.1)})
    said = observed(SemanticHybridTrigger(**given, more=[own]).observe, turns)[at]
    assert (said.kind, said.confidence) == ("boundary", 0.1)
    assert next(i for i, d in enumerate(stale) if d.kind == "turn_count") == 9


def test_the_guide_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """Its Python runs as one program, and prints what it says."""
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
    exec(compile("\n".join(blocks), str(GUIDE), "exec"), {"__name__": "guide"})  # noqa: S102 - our own text
    printed = capsys.readouterr().out
    assert f"```\n{printed}```" in GUIDE.read_text("utf-8")
