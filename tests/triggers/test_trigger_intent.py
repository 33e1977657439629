"""What an agent is at, when that changes, and which phase that ends."""

from collections.abc import Sequence
from itertools import permutations
from typing import get_args

import pytest

from autogen_context.triggers.intent import (
    TRANSITIONS,
    Intent,
    IntentBasedTrigger,
    Standing,
    intent_of,
)
from autogen_context.triggers.turn import NOTHING, Scope, TriggerDecision, Turn
from support.turns import called, edit, numbered, observed, ran_tests, read, shell, turn, written

INTENTS: tuple[Intent, ...] = get_args(Intent)
RAISED = "Traceback (most recent call last):\nValueError: x"
LOOK = ("", read("z.py"))
FAIL = ("", shell("python reproduce.py", RAISED))

ALONE: dict[str, tuple[Intent | None, Turn]] = {
    "reads": ("EXPLORE", turn(0, "Let me look at the loader.", read("loader.py"))),
    "reads for a fault": ("DEBUG", turn(0, "Why does it raise here?", read("loader.py"))),
    "writes a try": ("DEBUG", turn(0, "", written("reproduce_issue.py"))),
    "edits": ("IMPLEMENT", turn(0, "I'll add the parameter.", edit("loader.py"))),
    "books": ("IMPLEMENT", turn(0, "", called("book_flight", {"id": "7"}, "booked"))),
    "tests": ("VERIFY", turn(0, "", ran_tests())),
    "tests to verify, and they fail": ("VERIFY", turn(0, "Let me verify it.", ran_tests("1 failed"))),
    "writes tests": ("VERIFY", turn(0, "", written("tests/test_loader.py"))),
    "writes a page": ("DOCUMENT", turn(0, "", written("docs/loader.md"))),
    "writes a docstring": ("DOCUMENT", turn(0, "I'll add a docstring.", edit("loader.py"))),
    "reads a page to write it": ("DOCUMENT", turn(0, "Now the manual.", read("manual.md"))),
    "extracts": ("REFACTOR", turn(0, "Let me extract this into a helper.", edit("loader.py"))),
    "speaks": (None, turn(0, "I have fixed the bug and tested it.")),
    "hands in": (None, turn(0, "Fixed.", called("submit", {}, ""))),
}  # fmt: skip  # a row a case
CHANGED = Standing(changed=True)
FAILING = Standing(failing=True)
BROKEN = Standing(changed=True, failing=True, broken=True)
STANDING: dict[str, tuple[Intent, Standing, Turn]] = {
    "edits after a failure": ("IMPLEMENT", FAILING, turn(1, "", edit("a.py"))),
    "runs after a failure": ("DEBUG", FAILING, turn(1, "", shell("python x.py", "7"))),
    "tests pass after a failure": ("VERIFY", FAILING, turn(1, "", ran_tests())),
    "edits what it broke": ("DEBUG", BROKEN, turn(1, "", edit("a.py"))),
    "runs what it changed": ("VERIFY", CHANGED, turn(1, "", shell("python x.py", "7"))),
    "tries what it changed": ("VERIFY", CHANGED, turn(1, "", written("try_it.py"))),
    "looks whether it is right": ("VERIFY", CHANGED, turn(1, "Let me verify it.", read("a.py"))),
}  # fmt: skip  # a row a case


def fired(
    turns: Sequence[Turn], trigger: IntentBasedTrigger | None = None
) -> list[TriggerDecision]:
    """What is proposed over these turns."""
    decisions = observed((trigger or IntentBasedTrigger()).observe, turns)
    return [decision for decision in decisions if decision.fires]


def told(decisions: Sequence[TriggerDecision]) -> list[str]:
    """The transitions of decisions."""
    return [f"{decision.details['from']} {decision.details['to']}" for decision in decisions]


@pytest.mark.parametrize("row", ALONE.values(), ids=ALONE)
def test_intent_of_a_turn_alone(row: tuple[Intent | None, Turn]) -> None:
    """What is said and done tells; words alone do not, where nothing is done."""
    assert intent_of(row[1]) == row[0]


@pytest.mark.parametrize("row", STANDING.values(), ids=STANDING)
def test_intent_by_what_went_before(row: tuple[Intent, Standing, Turn]) -> None:
    """The same deed is another after a failure, or after a change."""
    assert intent_of(row[2], row[1]) == row[0]


MADE: dict[str, tuple[str, Scope, list[Turn]]] = {
    "explored, then changed": ("EXPLORE IMPLEMENT", Scope(start=0, stop=3), numbered(LOOK, ("", read("a.py")), LOOK, ("", edit("a.py")))),
    "debugged, then verified": ("DEBUG VERIFY", Scope(start=1, stop=5, outcomes=(1, 4)), numbered(("", edit("a.py")), ("", ran_tests("1 failed")), LOOK, LOOK, ("", edit("a.py")), ("", ran_tests()))),
    "debugged and repaired, then verified": ("DEBUG VERIFY", Scope(start=0, stop=4, outcomes=(0, 3)), numbered(("", ran_tests("1 failed")), LOOK, LOOK, ("", edit("a.py")), ("", ran_tests()))),
    "repaired at the second try, then verified": ("DEBUG VERIFY", Scope(start=0, stop=6, outcomes=(2, 3, 5)), numbered(("", ran_tests("1 failed")), LOOK, ("", edit("a.py")), ("", ran_tests("1 failed")), LOOK, ("", edit("b.py")), ("", ran_tests()))),
    "implemented, then verified": ("IMPLEMENT VERIFY", Scope(start=0, stop=2, outcomes=(0, 1)), numbered(("", edit("a.py")), ("", edit("b.py")), ("", ran_tests()))),
    "implemented, then documented": ("IMPLEMENT DOCUMENT", Scope(start=0, stop=2, outcomes=(1,)), numbered(("", edit("a.py")), ("", edit("a.py")), ("", edit("manual.md")))),
}  # fmt: skip  # a row a case
UNMADE: dict[str, list[Turn]] = {
    "a glance while implementing": numbered(("", edit("a.py")), LOOK, ("", edit("a.py")), LOOK, ("", edit("a.py"))),
    "tests pass behind changes that failed": numbered(*[("", edit("a.py", "Error: no match"))] * 2, ("", ran_tests())),
    "tried out, and a fault is looked for": numbered(("", edit("a.py")), ("", shell("python x.py", "7")), ("Why does it print 7?", read("a.py"))),
    "tests pass, nothing was debugged or changed": numbered(LOOK, LOOK, ("", ran_tests())),
    "repaired and tried out, and changed again": numbered(("", edit("a.py")), ("", ran_tests("1 failed")), LOOK, ("", edit("a.py")), ("", shell("python x.py", "7")), ("", edit("b.py"))),
    "documented what was only explored": numbered(LOOK, LOOK, ("", edit("manual.md"))),
}  # fmt: skip  # a row a case


@pytest.mark.parametrize("row", MADE.values(), ids=MADE)
def test_transitions_that_count(row: tuple[str, Scope, list[Turn]]) -> None:
    """The last turn makes the transition; the scope is the whole phase before it, with what stays."""
    transition, scope, turns = row
    *before, last = observed(IntentBasedTrigger().observe, turns)
    assert before == [NOTHING] * len(before)
    assert (last.kind, last.scope, last.confidence) == ("intent", scope, 0.85)
    assert (*told([last]), last.details["by"]) == (transition, "rules")


@pytest.mark.parametrize("turns", UNMADE.values(), ids=UNMADE)
def test_transitions_that_do_not_count(turns: list[Turn]) -> None:
    """Nothing is proposed."""
    assert fired(turns) == []


BY_SAYING: dict[str, Intent] = {intent[:2].lower(): intent for intent in INTENTS}


def by_letter(each: Turn, /) -> Intent | None:
    """A model that reads the intent off what is said."""
    return BY_SAYING.get(each.reasoning)


@pytest.mark.parametrize("pair", [*permutations(BY_SAYING, 2)], ids=" ".join)
def test_those_of_the_table_fire_and_no_others(pair: tuple[str, str]) -> None:
    """Of the thirty pairs of intents, four (T2)."""
    steps = (edit("a.py"),)
    turns = [turn(n, pair[n // 2], *steps) for n in range(3)]
    fires = bool(fired(turns, IntentBasedTrigger(known=by_letter)))
    assert fires is (BY_SAYING[pair[1]] in TRANSITIONS.get(BY_SAYING[pair[0]], ()))


def test_the_new_intent_is_recorded() -> None:
    """Trap of forgetting it after a transition: the next turns of the new phase fire nothing, the next phase does."""
    change, check = ("", edit("a.py")), ("", ran_tests())
    turns = numbered(*[LOOK] * 2, *[change] * 3, *[check] * 2, *[LOOK] * 2, change)
    trigger = IntentBasedTrigger()
    decisions = fired(turns, trigger)
    assert told(decisions) == ["EXPLORE IMPLEMENT", "IMPLEMENT VERIFY", "EXPLORE IMPLEMENT"]
    assert trigger.intent == "IMPLEMENT"


def test_the_scope_is_the_whole_phase() -> None:
    """Trap of the wrong start: from the first turn of the phase to the last before the new intent, glances included."""
    changed = numbered(*[LOOK] * 4, ("", edit("a.py")), LOOK, ("I see.",), ("", edit("b.py")))
    turns = [*changed, turn(8, "", read("z.py")), turn(9, "", ran_tests())]
    scopes = [decision.scope for decision in fired(turns)]
    assert scopes == [Scope(start=0, stop=4), Scope(start=4, stop=9, outcomes=(4, 7))]


def test_a_model_decides_where_it_answered() -> None:
    """And the rules where it did not; the decision tells which."""
    turns = [turn(0, "", read("a.py")), turn(1, "", read("a.py")), turn(2, "im", edit("a.md"))]
    [decision] = fired(turns, IntentBasedTrigger(known=by_letter))
    assert (told([decision]), decision.details["by"]) == (["EXPLORE IMPLEMENT"], "model")
    assert fired(turns) == []  # by rules, a page is written
