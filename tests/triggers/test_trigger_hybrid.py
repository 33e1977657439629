"""All triggers together: their order, their switches, and the count of turns as the last resort."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.triggers.hybrid import SemanticHybridTrigger
from autogen_context.triggers.turn import (
    NOTHING,
    Scope,
    Step,
    TriggerDecision,
    TriggerSettings,
    Turn,
)
from support.turns import called, edit, ran_tests, read, searched, shell, turn, written

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "triggers.md"
OFF = TriggerSettings(
    subtasks=False, intents=False, boundaries=False, staleness=False, fallback_turns=0
)
PASSED, FAILED = "3 passed in 0.1s", "1 failed, 9 passed"

SAID = st.sampled_from(
    ["", "I look at src/a.py.", "All done: it works now.", "Now I'll fix the next one."]
)
STEPS = st.lists(
    st.sampled_from(
        [
            *[read("src/a.py"), edit("src/a.py"), read("lib/c.py"), edit("lib/c.py")],
            *[ran_tests(PASSED), ran_tests(FAILED), ran_tests(None), searched("x"), shell("ls")],
            *[written("notes.md"), called("get_order", {"id": 1}, "paid"), called("think", {}, "")],
        ]
    ),
    max_size=2,
)
TRANSCRIPTS = st.lists(st.tuples(SAID, STEPS), max_size=40).map(
    lambda rows: [turn(i, said, *steps) for i, (said, steps) in enumerate(rows)]
)
SETTINGS = st.builds(
    TriggerSettings,
    subtasks=st.booleans(),
    intents=st.booleans(),
    boundaries=st.booleans(),
    staleness=st.booleans(),
    staleness_threshold=st.sampled_from([0.3, 0.7]),
    fallback_turns=st.sampled_from([0, 3, 10]),
)


class Scripted:
    """A trigger that says what it is told to at some turns, and notes which turns it saw."""

    def __init__(self, said: Mapping[int, TriggerDecision]) -> None:
        self.said = said
        self.seen: list[int] = []

    def observe(self, turn: Turn, /) -> TriggerDecision:
        """What it is to say of a turn."""
        self.seen.append(turn.number)
        return self.said.get(turn.number, NOTHING)


def proposal(
    start: int, stop: int, confidence: float = 0.8, outcomes: tuple[int, ...] = ()
) -> TriggerDecision:
    """What a trigger of one's own proposes."""
    scope = Scope(start=start, stop=stop, outcomes=outcomes)
    return TriggerDecision(kind="boundary", scope=scope, confidence=confidence)


def observed(hybrid: SemanticHybridTrigger, turns: Sequence[Turn]) -> list[TriggerDecision]:
    """What is said after each turn."""
    return [hybrid.observe(each) for each in turns]


def idle(count: int) -> list[Turn]:
    """Turns that mean nothing."""
    return [turn(i, "", shell("ls")) for i in range(count)]


@given(TRANSCRIPTS, SETTINGS)
def test_scopes_are_worth_it(turns: list[Turn], settings: TriggerSettings) -> None:
    """Four turns or more of those seen, of which some do not stay; details can be printed."""
    for seen, decision in zip(turns, observed(SemanticHybridTrigger(settings), turns), strict=True):
        assert decision.fires == (decision.scope is not None)
        if decision.scope is not None:
            length = decision.scope.stop - decision.scope.start
            assert length >= 4
            assert len(decision.scope.outcomes) < length
            assert decision.scope.stop <= seen.number + 1
            assert 0 < decision.confidence <= 1
            assert decision.details


@given(TRANSCRIPTS, SETTINGS, st.integers(1, 12))
def test_the_count_begins_anew(turns: list[Turn], settings: TriggerSettings, count: int) -> None:
    """Trap of the original, which fires at every turn after M: before it fires there are M turns without a proposal."""
    hybrid = SemanticHybridTrigger(replace(settings, fallback_turns=count))
    waited, behind = 0, 0
    for decision in observed(hybrid, turns):
        waited += 1
        if decision.scope is not None:
            assert decision.kind != "turn_count" or waited >= count
            assert decision.kind != "turn_count" or decision.scope.start >= behind
            waited, behind = 0, max(behind, decision.scope.stop)


CODE = [read("src/a.py"), edit("src/a.py"), read("src/a.py"), ran_tests(PASSED)]
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
def test_each_can_be_switched(steps: list[Step], alone: Mapping[str, bool], kind: str) -> None:
    """It is what fires where it alone is on, with the confidence that is its own."""
    confidences = {"intent": 0.85, "boundary": 0.80, "staleness": 0.70, "turn_count": 0.50}
    turns = [turn(i, "", step) for i, step in enumerate(steps)]
    settings = replace(OFF, **alone)
    fired = [each for each in observed(SemanticHybridTrigger(settings), turns) if each.fires]
    assert {each.kind for each in fired} == {kind}
    assert fired[0].confidence == confidences.get(kind, fired[0].confidence)
    assert not any(each.fires for each in observed(SemanticHybridTrigger(OFF), turns))


def test_the_fallback_fires_once_in_so_many_turns() -> None:
    """It proposes what no proposal had, but for the newest three turns."""
    said = observed(SemanticHybridTrigger(replace(OFF, fallback_turns=10)), idle(35))
    fired = {i: decision.scope for i, decision in enumerate(said) if decision.fires}
    assert fired == {
        9: Scope(start=0, stop=7),
        19: Scope(start=7, stop=17),
        29: Scope(start=17, stop=27),
    }


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        pytest.param(0.8, 0.9, 1, id="the surer"),
        pytest.param(0.9, 0.8, 0, id="the surer, given first"),
        pytest.param(0.8, 0.8, 0, id="of equals the first"),
    ],
)
def test_the_surest_is_followed(first: float, second: float, expected: int) -> None:
    """The other is told."""
    both = (proposal(0, 9, first, (1, 2)), proposal(2, 8, second, (2, 5)))
    more = [Scripted({9: each}) for each in both]
    *_, said = observed(SemanticHybridTrigger(OFF, more=more), idle(10))
    assert said.scope is not None
    assert (said.scope.start, said.scope.stop) == ((0, 9), (2, 8))[expected]
    assert said.details["also"] == f"boundary {(second, first)[expected]:.2f}"


def test_meaning_goes_before_staleness_before_counting() -> None:
    """Whatever their confidences; what is not followed is told."""
    turns = [turn(i, "", step) for i, step in enumerate(OTHER_FILES)]
    settings = replace(OFF, staleness=True, fallback_turns=10)
    stale = observed(SemanticHybridTrigger(settings), turns)
    at = next(i for i, decision in enumerate(stale) if decision.kind == "staleness")
    own = Scripted({at: proposal(1, 6, 0.1)})
    said = observed(SemanticHybridTrigger(settings, more=[own]), turns)[at]
    assert (said.kind, said.confidence) == ("boundary", 0.1)
    assert said.details["also"] == "staleness 0.70"
    counted = {i for i, decision in enumerate(stale) if decision.kind == "turn_count"}
    assert min(counted) == 9


def test_the_guide_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """Its Python runs as one program, and prints what it says."""
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
    exec(compile("\n".join(blocks), str(GUIDE), "exec"), {"__name__": "guide"})  # noqa: S102 - our own text
    printed = capsys.readouterr().out
    assert printed
    assert printed in GUIDE.read_text("utf-8")
