"""When a subtask is complete: each signal where it holds and where it does not, and laws of all of them."""

from collections.abc import Sequence

import pytest

from autogen_context.triggers.hybrid import SIGNALS, SignalName, SubtaskTrigger
from autogen_context.triggers.turn import NOTHING, Scope, TriggerDecision, Turn
from support.turns import called, edit, numbered, observed, ran_tests, read, searched, shell

LOOK = ("", read("z.py"))
SCRIPT = shell("python demo.py", "42")
BOOKED = called("book_flight", {"id": "7"}, '{"status": "booked"}')
NO_MATCH = edit("a.py", "Error: no match for the text")


def fired(turns: Sequence[Turn]) -> list[TriggerDecision]:
    """What is proposed over these turns."""
    decisions = observed(SubtaskTrigger().observe, turns)
    return [decision for decision in decisions if decision.fires]


COMPLETE: dict[str, tuple[SignalName, Scope, list[Turn]]] = {
    "tests pass after an edit": ("tests_passed", Scope(start=0, stop=3, outcomes=(1, 2)), numbered(LOOK, ("", edit("a.py")), ("", ran_tests()))),
    "edited and tested in one turn": ("tests_passed", Scope(start=0, stop=1, outcomes=(0,)), numbered(("", edit("a.py"), ran_tests()))),
    "the agent reports what it did": ("said_done", Scope(start=0, stop=2, outcomes=(1,)), numbered(("", BOOKED), ("Your flight has been booked. Is there anything else you need?",))),
    "the agent hands in": ("said_done", Scope(start=0, stop=2), numbered(LOOK, ("", called("finish", {"answer": "42"}, "42")))),
    "done, on the way to something else": ("said_done", Scope(start=0, stop=2, outcomes=(1,)), numbered(LOOK, ("", edit("a.py")), ("Step 1 is done. What about b?", read("b.py")))),
    "read, changed, run, and called good": ("worked_through", Scope(start=0, stop=3, outcomes=(1,)), numbered(LOOK, ("", edit("a.py")), ("", SCRIPT), ("Great! Where is b used?", searched("b")))),
    "three edits, then a look": ("edits_in_a_row", Scope(start=0, stop=3, outcomes=(0, 1, 2)), numbered(("", edit("a.py")), ("", edit("b.py")), ("", edit("c.py")), LOOK)),
    "on to the pages": ("moving_on", Scope(start=0, stop=2, outcomes=(1,)), numbered(LOOK, ("", edit("a.py")), ("Now I'll update the manual.", edit("manual.md")))),
    "on, to a file that is only read (F29)": ("moving_on", Scope(start=0, stop=2, outcomes=(1,)), numbered(LOOK, ("", edit("a.py")), ("Now I'll work on the parser.", read("parser.py")))),
    "eight turns without a change": ("quiet", Scope(start=0, stop=2, outcomes=(1,)), numbered(LOOK, ("", edit("a.py")), *[LOOK] * 8)),
}  # fmt: skip  # a row a case
INCOMPLETE: dict[str, list[Turn]] = {
    "tests pass, nothing was changed": numbered(LOOK, ("", ran_tests())),
    "tests pass, the change failed": numbered(LOOK, ("", NO_MATCH), ("", ran_tests())),
    "one of ten fails": numbered(("", edit("a.py")), ("", ran_tests("1 FAILED, 9 PASSED"))),
    "done in code": numbered(LOOK, ("", edit("a.py")), ("```\n# the task is done\n```",)),
    "a greeting": numbered(("I'm done.",)),
    "done, while the last run failed": numbered(("", edit("a.py")), ("", ran_tests("1 failed")), ("I'm done.",)),
    "three edits, and a fourth": numbered(*[("", edit("a.py"))] * 4),
    "on, to test it": numbered(("", edit("a.py")), ("Now I'll run the tests.", ran_tests(None))),
    "on, to look at another": numbered(("", edit("a.py")), ("Now I'll look at the parser.", read("parser.py"))),
    "no change at all": numbered(*[LOOK] * 20),
    "quiet while a test fails": numbered(("", edit("a.py")), ("", ran_tests("1 failed")), *[LOOK] * 20),
}  # fmt: skip  # a row a case


@pytest.mark.parametrize("row", COMPLETE.values(), ids=COMPLETE)
def test_complete(row: tuple[SignalName, Scope, list[Turn]]) -> None:
    """The last turn completes the subtask: its scope, and what of it stays."""
    signal, scope, turns = row
    *before, last = observed(SubtaskTrigger().observe, turns)
    assert before == [NOTHING] * len(before)
    assert (last.kind, last.scope, last.confidence) == ("subtask", scope, SIGNALS[signal])
    assert last.details["signal"] == signal


@pytest.mark.parametrize("turns", INCOMPLETE.values(), ids=INCOMPLETE)
def test_incomplete(turns: list[Turn]) -> None:
    """Nothing is proposed: traps of words without their sense, and of results that are none."""
    assert fired(turns) == []


def test_the_surest_signal_is_told() -> None:
    """A turn that gives several is proposed once, for the best of them."""
    turns = numbered(*[("", edit("a.py"))] * 3, ("The task is done. Moving on.", read("b.py")))
    assert [decision.details["signal"] for decision in fired(turns)] == ["said_done"]


def test_a_turn_may_end_a_subtask_and_begin_the_next() -> None:
    """What it changes belongs to the next."""
    done = ("Step 1 is done. Now b.", edit("b.py"))
    turns = numbered(LOOK, ("", edit("a.py")), done, ("", ran_tests()))
    assert [each.details["signal"] for each in fired(turns)] == ["said_done", "tests_passed"]


def test_a_signal_is_not_told_again() -> None:
    """Tests that go on passing complete no further subtask; a new change does."""
    turns = numbered(
        ("", edit("a.py")), *[("", ran_tests())] * 5, ("", edit("a.py")), ("", ran_tests())
    )
    scopes = [decision.scope for decision in fired(turns)]
    assert scopes == [
        Scope(start=0, stop=2, outcomes=(0, 1)),
        Scope(start=2, stop=8, outcomes=(6, 7)),
    ]
