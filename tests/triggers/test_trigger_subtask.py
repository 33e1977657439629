"""When a subtask is complete: each signal where it holds and where it does not, and laws of all of them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.triggers.claims import Claims
from autogen_context.triggers.decision import NOTHING, Scope, TriggerDecision
from autogen_context.triggers.outcome import FileSort, sort_of
from autogen_context.triggers.subtask import MOST_FILES, SIGNALS, Signal, SignalName, SubtaskTrigger
from autogen_context.triggers.turn import Turn
from support.turns import (
    SESSIONS,
    called,
    edit,
    numbered,
    observed,
    ran_tests,
    read,
    searched,
    shell,
    turn,
    written,
)

LOOK = ("", read("z.py"))
SCRIPT = shell("python demo.py", "42")
BOOKED = called("book_flight", {"id": "7"}, '{"status": "booked"}')
NO_MATCH = edit("a.py", "Error: no match for the text")


def fired(turns: Sequence[Turn], trigger: SubtaskTrigger | None = None) -> list[TriggerDecision]:
    """What is proposed over these turns."""
    decisions = observed((trigger or SubtaskTrigger()).observe, turns)
    return [decision for decision in decisions if decision.fires]


def signals(decisions: Sequence[TriggerDecision]) -> list[str]:
    """The signals of decisions."""
    return [str(decision.details["signal"]) for decision in decisions]


COMPLETE: dict[str, tuple[SignalName, Scope, list[Turn]]] = {
    "tests pass after an edit": (
        "tests_passed",
        Scope(start=0, stop=3, outcomes=(1, 2)),
        numbered(LOOK, ("", edit("a.py")), ("", ran_tests())),
    ),
    "tests pass at the second try": (
        "tests_passed",
        Scope(start=0, stop=4, outcomes=(2, 3)),
        numbered(
            ("", edit("a.py")), ("", ran_tests("1 failed")), ("", edit("a.py")), ("", ran_tests())
        ),
    ),
    "the editor runs the tests": (
        "tests_passed",
        Scope(start=0, stop=2, outcomes=(1,)),
        numbered(LOOK, ("", edit("a.py", "The file was changed.\n\n88 passed. 0 failed."))),
    ),
    "edited and tested in one turn": (
        "tests_passed",
        Scope(start=0, stop=1, outcomes=(0,)),
        numbered(("", edit("a.py"), ran_tests())),
    ),
    "the agent reports": (
        "said_done",
        Scope(start=0, stop=3, outcomes=(1, 2)),
        numbered(LOOK, ("", edit("a.py")), ("I'm done.",)),
    ),
    "the agent reports what it did": (
        "said_done",
        Scope(start=0, stop=2, outcomes=(1,)),
        numbered(("", BOOKED), ("Your flight has been booked. Is there anything else you need?",)),
    ),
    "the agent hands in": (
        "said_done",
        Scope(start=0, stop=2),
        numbered(LOOK, ("", called("finish", {"answer": "42"}, "42"))),
    ),
    "a word to the host": (
        "said_done",
        Scope(start=0, stop=2, outcomes=(1,)),
        numbered(LOOK, ("TERMINATE",)),
    ),
    "done, on the way to something else": (
        "said_done",
        Scope(start=0, stop=2, outcomes=(1,)),
        numbered(LOOK, ("", edit("a.py")), ("Step 1 is done. What about b?", read("b.py"))),
    ),
    "read, changed, run, and called good": (
        "worked_through",
        Scope(start=0, stop=3, outcomes=(1,)),
        numbered(
            LOOK, ("", edit("a.py")), ("", SCRIPT), ("Great! Where is b used?", searched("b"))
        ),
    ),
    "three edits, then a look": (
        "edits_in_a_row",
        Scope(start=0, stop=3, outcomes=(0, 1, 2)),
        numbered(("", edit("a.py")), ("", edit("b.py")), ("", edit("c.py")), LOOK),
    ),
    "on to the pages": (
        "moving_on",
        Scope(start=0, stop=2, outcomes=(1,)),
        numbered(LOOK, ("", edit("a.py")), ("Now I'll update the manual.", edit("manual.md"))),
    ),
    "on, in so many words": (
        "moving_on",
        Scope(start=0, stop=2, outcomes=(1,)),
        numbered(LOOK, ("", edit("a.py")), ("Moving on to the second task.", read("b.py"))),
    ),
    "on, after a run without trouble": (
        "moving_on",
        Scope(start=0, stop=2, outcomes=(0,)),
        numbered(("", edit("a.py")), ("", SCRIPT), ("Now I'll write the other.", edit("b.py"))),
    ),
    "on, to another file": (
        "moving_on",
        Scope(start=0, stop=2, outcomes=(1,)),
        numbered(
            LOOK, ("", edit("a.py")), ("Next, I'll implement the parser.", written("parser.py"))
        ),
    ),
    "on, to a file that is only read (F29)": (
        "moving_on",
        Scope(start=0, stop=2, outcomes=(1,)),
        numbered(LOOK, ("", edit("a.py")), ("Now I'll work on the parser.", read("parser.py"))),
    ),
    "on, when what was changed runs well": (
        "moving_on",
        Scope(start=0, stop=3, outcomes=(1,)),
        numbered(
            ("", read("a.py")),
            ("", edit("a.py")),
            ("", shell("python a.py", "42")),
            ("Now I'll fix b.", edit("b.py")),
        ),
    ),
    "eight turns without a change": (
        "quiet",
        Scope(start=0, stop=2, outcomes=(1,)),
        numbered(LOOK, ("", edit("a.py")), *[LOOK] * 8),
    ),
    "eight turns without a change or a run": (
        "quiet",
        Scope(start=0, stop=3, outcomes=(0,)),
        numbered(("", edit("a.py")), LOOK, ("", SCRIPT), *[LOOK] * 8),
    ),
}
INCOMPLETE: dict[str, list[Turn]] = {
    "tests pass, nothing was changed": numbered(LOOK, ("", ran_tests())),
    "tests pass, the change failed": numbered(LOOK, ("", NO_MATCH), ("", ran_tests())),
    "tests pass, the change has no answer": numbered(("", edit("a.py", None)), ("", ran_tests())),
    "one of ten fails": numbered(("", edit("a.py")), ("", ran_tests("1 FAILED, 9 PASSED"))),
    "tests without a verdict": numbered(("", edit("a.py")), ("", ran_tests("no tests ran"))),
    "tests without an answer": numbered(("", edit("a.py")), ("", ran_tests(None))),
    "no such command": numbered(
        ("", edit("a.py")), ("", ran_tests("bash: pytest: command not found"))
    ),
    "one run of two fails": numbered(("", edit("a.py"), ran_tests(), ran_tests("2 failed"))),
    "tests pass, a change beside them failed": numbered(
        ("", edit("a.py")), ("", NO_MATCH, ran_tests())
    ),
    "not done": numbered(LOOK, ("", edit("a.py")), ("I'm not done.",)),
    "once done": numbered(LOOK, ("", edit("a.py")), ("Once it is done, you may look.",)),
    "done?": numbered(LOOK, ("", edit("a.py")), ("Is it done?",)),
    "somebody else said done": numbered(LOOK, ("", edit("a.py")), ('It printed "all done".',)),
    "done in code": numbered(LOOK, ("", edit("a.py")), ("```\n# the task is done\n```",)),
    "done quoted in a line": numbered(LOOK, ("", edit("a.py")), ("> the task is done",)),
    "a plan": numbered(LOOK, ("", edit("a.py")), ("I have changed a. I'll test it.",)),
    "a report of what was found": numbered(LOOK, ("I have found the place in z.",)),
    "a greeting": numbered(("I'm done.",)),
    "done, while the last run failed": numbered(
        ("", edit("a.py")), ("", ran_tests("1 failed")), ("I'm done.",)
    ),
    "done, but it fails": numbered(
        ("", edit("a.py")), ("The task is done. However, b still fails.", read("b.py"))
    ),
    "done, and tested now": numbered(
        ("", edit("a.py")), ("The task is done.", ran_tests("no tests ran"))
    ),
    "called good, nothing was run": numbered(
        LOOK, ("", edit("a.py")), ("Great! Where is b used?", searched("b"))
    ),
    "run, and not called good": numbered(
        LOOK, ("", edit("a.py")), ("", SCRIPT), ("It still prints 41.", read("a.py"))
    ),
    "only a try was written and run": numbered(
        LOOK, ("", written("demo.py")), ("", SCRIPT), ("Great! Where is b used?", searched("b"))
    ),
    "a script was written and run": numbered(
        LOOK,
        ("", written("tool.py")),
        ("", shell("python tool.py", "42")),
        ("Great! Where is b used?", searched("b")),
    ),
    "two edits, then a look": numbered(("", edit("a.py")), ("", edit("b.py")), LOOK),
    "three edits, one failed": numbered(
        ("", edit("a.py")), ("", NO_MATCH), ("", edit("a.py")), ("", edit("b.py")), LOOK
    ),
    "three edits, and a fourth": numbered(*[("", edit("a.py"))] * 4),
    "three edits, then a run": numbered(*[("", edit("a.py"))] * 3, ("", SCRIPT)),
    "on, to test it": numbered(("", edit("a.py")), ("Now I'll run the tests.", ran_tests(None))),
    "on, to look at another": numbered(
        ("", edit("a.py")), ("Now I'll look at the parser.", read("parser.py"))
    ),
    "on, to look at it": numbered(("", edit("a.py")), ("Now let's look at it.", read("a.py"))),
    "on, in the same work": numbered(("", edit("a.py")), ("Now I'll add b.", edit("a.py"))),
    "on, with the same work beside it": numbered(
        ("", edit("a.py")), ("Now I'll use it in b.", edit("a.py"), edit("b.py"))
    ),
    "on, after a script that was made to try something": numbered(
        ("", written("tool.py")),
        ("", shell("python tool.py", "42")),
        ("", read("tool.py")),
        ("", edit("tool.py")),
        ("", shell("python tool.py", "43")),
        ("Now I'll fix b.", edit("b.py")),
    ),
    "on, with nothing changed": numbered(LOOK, ("Moving on to the next task.", read("b.py"))),
    "seven turns without a change": numbered(("", edit("a.py")), *[LOOK] * 7),
    "no change at all": numbered(*[LOOK] * 20),
    "quiet while a test fails": numbered(
        ("", edit("a.py")), ("", ran_tests("1 failed")), *[LOOK] * 20
    ),
}


@pytest.mark.parametrize("row", COMPLETE.values(), ids=COMPLETE)
def test_complete(row: tuple[SignalName, Scope, list[Turn]]) -> None:
    """The last turn completes the subtask: its scope, and what of it stays."""
    signal, scope, turns = row
    *before, last = observed(SubtaskTrigger().observe, turns)
    assert before == [NOTHING] * len(before)
    assert (last.kind, last.scope, last.confidence) == (
        "subtask",
        scope,
        SIGNALS[signal].confidence,
    )
    assert last.details == {"signal": signal, "level": SIGNALS[signal].level}


@pytest.mark.parametrize("turns", INCOMPLETE.values(), ids=INCOMPLETE)
def test_incomplete(turns: list[Turn]) -> None:
    """Nothing is proposed: traps of words without their sense, and of results that are none."""
    assert fired(turns) == []


@pytest.mark.parametrize("row", COMPLETE.values(), ids=COMPLETE)
def test_each_signal_can_be_left_out(row: tuple[SignalName, Scope, list[Turn]]) -> None:
    """Without its signal, the same turns do not tell it; with a least confidence above it, neither."""
    signal, _, turns = row
    others: dict[SignalName, Signal] = {name: s for name, s in SIGNALS.items() if name != signal}
    assert signal not in signals(fired(turns, SubtaskTrigger(signals=others)))
    above = SIGNALS[signal].confidence + 0.01
    assert signal not in signals(fired(turns, SubtaskTrigger(least_confidence=above)))


def test_numbers_can_be_set() -> None:
    """How many edits and how many quiet turns make a signal, and how sure each one is."""
    turns = numbered(("", edit("a.py")), ("", edit("b.py")), LOOK)
    assert signals(fired(turns, SubtaskTrigger(edits_in_a_row=2))) == ["edits_in_a_row"]
    turns = numbered(("", edit("a.py")), LOOK, LOOK)
    assert signals(fired(turns, SubtaskTrigger(quiet_turns=2))) == ["quiet"]
    sure: dict[SignalName, Signal] = {"quiet": Signal(level="high", confidence=0.99)}
    [decision] = fired(turns, SubtaskTrigger(quiet_turns=2, signals=sure))
    assert (decision.confidence, decision.details["level"]) == (0.99, "high")


NO_SIGNAL = cast("SignalName", "luck")  # what a user may mistype


@pytest.mark.parametrize(
    ("make", "named"),
    [
        pytest.param(lambda: SubtaskTrigger(edits_in_a_row=0), "edits_in_a_row=0", id="edits"),
        pytest.param(lambda: SubtaskTrigger(quiet_turns=0), "quiet_turns=0", id="quiet turns"),
        pytest.param(lambda: SubtaskTrigger(least_confidence=1.5), "confidence=1.5", id="share"),
        pytest.param(
            lambda: SubtaskTrigger(signals={NO_SIGNAL: SIGNALS["quiet"]}), "'luck'", id="signal"
        ),
        pytest.param(lambda: Signal(level="low", confidence=-1), "confidence=-1", id="below 0"),
    ],
)
def test_wrong_settings_are_named(make: Callable[[], object], named: str) -> None:
    """At construction, with the value and the way out."""
    with pytest.raises(ValueError, match=named):
        make()


def test_the_surest_signal_is_told() -> None:
    """A turn that gives several is proposed once, for the best of them."""
    turns = numbered(*[("", edit("a.py"))] * 3, ("The task is done. Moving on.", read("b.py")))
    assert signals(fired(turns)) == ["said_done"]


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


def test_the_newest_version_of_each_file_stays() -> None:
    """Of three changes of a file the last; earlier ones can go."""
    turns = numbered(
        *[("", edit("a.py"))] * 3,
        ("", edit("b.py")),
        ("", ran_tests("1 failed")),
        ("", ran_tests()),
    )
    [decision] = fired(turns)
    assert decision.scope == Scope(start=0, stop=6, outcomes=(2, 3, 5))


@given(SESSIONS)
def test_the_same_turns_give_the_same_decisions(turns: list[Turn]) -> None:
    """No clock, no chance, and nothing shared between triggers."""
    first, second = SubtaskTrigger(), SubtaskTrigger()
    pairs = [(first.observe(each), second.observe(each)) for each in turns]
    assert [one for one, _ in pairs] == [other for _, other in pairs]


@given(SESSIONS)
def test_scopes_follow_each_other(turns: list[Turn]) -> None:
    """They never overlap, lie within the turns seen, and hold what stays in order and once."""
    stop = 0
    for seen, decision in enumerate(observed(SubtaskTrigger().observe, turns)):
        if decision.scope:
            assert stop <= decision.scope.start < decision.scope.stop <= seen + 1
            assert list(decision.scope.outcomes) == sorted(set(decision.scope.outcomes))
            stop = decision.scope.stop


@given(SESSIONS, st.integers(0, 25))
def test_a_truncated_trigger_goes_on(turns: list[Turn], number: int) -> None:
    """Fed again from where it says, it decides what one that saw nothing else decides; nothing is decided again."""
    trigger = SubtaskTrigger()
    decisions = observed(trigger.observe, turns)
    again = trigger.truncate(number)
    assert again <= number
    assert observed(trigger.observe, turns[again:number]) == [NOTHING] * len(turns[again:number])
    assert observed(trigger.observe, turns[number:]) == decisions[number:]


@pytest.mark.parametrize("row", COMPLETE.values(), ids=COMPLETE)
def test_it_can_be_truncated_anywhere(row: tuple[SignalName, Scope, list[Turn]]) -> None:
    """Also at the very turn that completes a subtask, and in the one behind it."""
    _, _, once = row
    turns = [*once, *(replace(each, number=each.number + len(once)) for each in once)]
    for number in range(len(turns) + 1):
        trigger = SubtaskTrigger()
        decisions = observed(trigger.observe, turns)
        again = trigger.truncate(number)
        seen_before = observed(trigger.observe, turns[again:number])
        assert seen_before == [NOTHING] * (number - again)
        assert observed(trigger.observe, turns[number:]) == decisions[number:]


@pytest.mark.parametrize(("others", "fires"), [(MOST_FILES - 1, True), (MOST_FILES, False)])
def test_the_first_files_of_a_subtask_are_known(others: int, fires: bool) -> None:  # noqa: FBT001 - a row's expectation
    """One that was met when they were too many may be a script that was made to try something."""
    turns = numbered(
        *[("", read(f"{number}.py")) for number in range(others)],
        ("", read("a.py")),
        ("", edit("a.py")),
        ("", shell("python a.py", "42")),
        ("Now I'll fix b.", edit("b.py")),
    )
    assert signals(fired(turns)) == ["moving_on"] * fires


def test_what_was_looked_at_counts_for_the_next_subtask() -> None:
    """Quiet turns belong to what comes next: their looks are its reading."""
    turns = numbered(
        ("", edit("a.py")),
        *[LOOK] * 7,
        ("", called("think", {"thought": "b next"}, "")),
        ("", edit("b.py")),
        ("", SCRIPT),
        ("Great! Where is b used?", searched("b")),
    )
    assert signals(fired(turns)) == ["quiet", "worked_through"]


@pytest.mark.parametrize(
    ("text", "done"),
    [
        pytest.param("I'm done.", True, id="plain"),
        pytest.param("THOUGHT: Great! All 31 tests pass.", True, id="tests"),
        pytest.param("1. The fix is complete and tested.", True, id="numbered"),
        pytest.param("Both complaints of the issue are resolved, and the manual says so.", True, id="resolved"),
        pytest.param("The fix now works as expected.", True, id="works"),
        pytest.param("Task completed.", True, id="without a verb"),
        pytest.param("Subtask complete", True, id="without a stop"),
        pytest.param("\u2705 **The parser implementation is complete.**", True, id="with a mark"),
        pytest.param("Step 2 complete.", True, id="numbered"),
        pytest.param("Issue resolved.", True, id="resolved"),
        pytest.param("Completed.", True, id="one word"),
        pytest.param("That completes the task.", True, id="that completes"),
        pytest.param("Finished implementing the feature.", True, id="done implementing"),
        pytest.param("Completed the migration to the new client.", True, id="completed what"),
        pytest.param("Not complete.", False, id="not complete"),
        pytest.param("The implementation is incomplete.", False, id="incomplete"),
        pytest.param("I need to complete the task.", False, id="to complete"),
        pytest.param("Complete the task.", False, id="an order"),
        pytest.param("Mark the task complete.", False, id="a mark to set"),
        pytest.param("Task complete?", False, id="a short question"),
        pytest.param("Once the task is complete, I report.", False, id="once complete"),
        pytest.param("Almost finished.", False, id="almost finished"),
        pytest.param("The API request completed.", False, id="something else completed"),
        pytest.param("Completed 3 of 10.", False, id="a part completed"),
        pytest.param("The function completes the word.", False, id="what it does"),
        pytest.param("Finished reading the file.", False, id="finished reading"),
        pytest.param("The script isn't done.", False, id="is not"),
        pytest.param("All done?", False, id="a question"),
        pytest.param("When everything is done, I will report.", False, id="when"),
        pytest.param("The task should be done by a script.", False, id="should"),
        pytest.param("The task is almost done.", False, id="almost"),
        pytest.param("Let me see whether all tests pass.", False, id="whether"),
        pytest.param("This function works by splitting the text.", False, id="how it works"),
        pytest.param("Done reading the file.", False, id="done reading"),
        pytest.param("The `task is done` message comes from the queue.", False, id="a name"),
    ],
)  # fmt: skip  # a row a sentence
def test_what_counts_as_done(text: str, done: bool) -> None:  # noqa: FBT001 - a column
    """A plain claim; no doubt, condition, plan or description."""
    assert Claims(text).done is done


@pytest.mark.parametrize(
    ("path", "sort"),
    [
        pytest.param("src/loader.py", "code", id="code"),
        pytest.param("src/latest.py", "code", id="no part of a word"),
        pytest.param("tests/test_loader.py", "test", id="a test"),
        pytest.param("tests/data.json", "test", id="among tests"),
        pytest.param("src/Toggle.test.tsx", "test", id="a test beside its code"),
        pytest.param("docs/guide.md", "document", id="a page"),
        pytest.param("CHANGELOG", "document", id="no ending"),
        pytest.param("tests/README.md", "document", id="a page among tests"),
        pytest.param("reproduce_issue.py", "try", id="a try"),
        pytest.param("reproduce/conf.py", "try", id="in a folder of tries"),
        pytest.param("/tmp/fix.patch", "code", id="a patch of code"),  # noqa: S108 - a name
        pytest.param("/tmp/fix.sh", "try", id="a temporary file"),  # noqa: S108 - a name
    ],
)
def test_what_a_file_is_for(path: str, sort: FileSort) -> None:
    """Whole words of its path tell."""
    assert sort_of(path) == sort


def test_a_long_text_costs_no_more() -> None:
    """Beginning and end of what is said are read; what stands between claims nothing."""
    filler = "This is a long thought about nothing. " * 10_000
    assert Claims(f"I'm done. {filler}").done
    assert Claims(f"{filler} I'm done.").done
    assert not Claims(f"{filler} I'm done. {filler}").done


def test_turns_may_start_anywhere() -> None:
    """The first turn seen is the first of the first subtask, whatever its number."""
    trigger = SubtaskTrigger()
    trigger.observe(turn(40, "", edit("a.py")))
    assert trigger.observe(turn(41, "", ran_tests())).scope == Scope(
        start=40, stop=42, outcomes=(40, 41)
    )
