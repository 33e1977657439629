"""Boundaries in the work: where a stretch of it ends, and what of it stays."""

from collections.abc import Collection, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.messages.message import Message, ToolCall, ToolResult
from autogen_context.messages.segment import segment
from autogen_context.messages.tool_call import ToolKinds
from autogen_context.triggers.boundary import (
    BOUNDARIES,
    Boundary,
    SemanticBoundaryDetector,
)
from autogen_context.triggers.decision import NOTHING, TriggerDecision
from autogen_context.triggers.turn import Step, Turn, turn_of
from support.turns import called, edit, ran_tests, read, searched, shell, turn, written

FAILURE = "error: src/a.py: no match was found for old_str"
PASSED, FAILED, UNTOLD = "3 passed in 0.1s", "1 FAILED, 9 PASSED", "collecting ..."
FLIGHTS = [called("search_flight", {"day": day}, "[]") for day in range(5)]

STEPS = st.lists(
    st.sampled_from(
        [
            *[read("src/a.py"), edit("src/a.py"), read("src/b.py"), edit("src/b.py")],
            *[read("lib/c.py"), edit("lib/c.py"), written("new.py"), edit("src/a.py", FAILURE)],
            *[ran_tests(PASSED), ran_tests(FAILED), ran_tests(UNTOLD), ran_tests(None)],
            *[searched("x"), searched("y"), shell("ls"), *FLIGHTS, called("book_flight", {}, "ok")],
        ]
    ),
    max_size=2,
)


def transcript(first: int, turns: list[list[Step]]) -> list[Turn]:
    """A turn for each list of steps, numbered from the first."""
    return [turn(first + i, "", *steps) for i, steps in enumerate(turns)]


TRANSCRIPTS = st.builds(transcript, st.integers(0, 5), st.lists(STEPS, max_size=40))


def numbered(*steps: Step) -> list[Turn]:
    """A turn for each step, from 0."""
    return [turn(i, "", step) for i, step in enumerate(steps)]


def decisions(
    turns: Sequence[Turn], boundaries: Collection[Boundary] = BOUNDARIES, least_turns: int = 4
) -> list[TriggerDecision]:
    """What is said after each turn."""
    detector = SemanticBoundaryDetector(boundaries=boundaries, least_turns=least_turns)
    return [detector.observe(each) for each in turns]


def told(decision: TriggerDecision) -> tuple[object, ...]:
    """Which boundary, from what to what, and the scope with what stays of it."""
    details, scope = decision.details, decision.scope
    assert scope is not None
    span = (scope.start, scope.stop)
    return details["boundary"], details["from"], details["to"], span, scope.outcomes


@given(TRANSCRIPTS, st.integers(1, 9))
def test_scopes_are_spans_of_what_was_seen(turns: list[Turn], least_turns: int) -> None:
    """Each is as long as it must be, begins behind the one before, and ends at the turn seen or before it."""
    behind = turns[0].number if turns else 0
    for seen, decision in zip(turns, decisions(turns, least_turns=least_turns), strict=True):
        assert decision.fires == (decision.scope is not None) == (decision.confidence == 0.8)
        if decision.scope is not None:
            assert decision.kind == "boundary"
            assert behind <= decision.scope.start
            assert decision.scope.stop - decision.scope.start >= least_turns
            assert decision.scope.stop <= seen.number + 1
            assert len(decision.scope.outcomes) < decision.scope.stop - decision.scope.start
            behind = decision.scope.stop


@given(TRANSCRIPTS, st.sets(st.sampled_from(BOUNDARIES)))
def test_only_what_is_looked_for_is_found(turns: list[Turn], chosen: set[Boundary]) -> None:
    """Each kind can be switched off; without any nothing is ever said."""
    said = [decision for decision in decisions(turns, chosen) if decision.fires]
    assert {decision.details["boundary"] for decision in said} <= chosen


@given(TRANSCRIPTS)
def test_changes_and_verdicts_stay(turns: list[Turn]) -> None:
    """In a scope the last change of each file stays, and the newest run of tests that told something."""
    for decision in decisions(turns):
        if decision.scope is None:
            continue
        scope = decision.scope
        inside = [each for each in turns if scope.start <= each.number < scope.stop]
        changed = {
            path: each.number for each in inside for step in each.steps for path in changed_by(step)
        }
        tested = [each.number for each in inside if any(map(tells, each.steps))]
        assert {*changed.values(), *tested[-1:]} <= {*scope.outcomes}


def changed_by(step: Step) -> tuple[str, ...]:
    """The files that a step of this page changed."""
    return () if step.observation in (None, FAILURE) else step.action.writes


def tells(step: Step) -> bool:
    """Whether a step of this page is a run of tests that told whether they passed."""
    return step.action.kind == "test" and step.observation in (PASSED, FAILED)


ORDERS = [
    called(name, {"id": 7}, "{}")
    for name in ("get_order", "list_order_items", "search_order", "get_order_history")
]
PAGE, LIBRARY = read("docs/api.md"), read("lib/client.py")
LIBRARY_ON = shell("sed -n 90,120p lib/client.py")
A, B, C = read("src/a.py"), read("src/b.py"), read("lib/c.py")
EDIT_A, EDIT_B, EDIT_C = edit("src/a.py"), edit("src/b.py"), edit("lib/c.py")
TO_B = ("file", "src/a.py", "src/b.py", (0, 4), (2,))
TO_LIB = ("module", "src", "lib", (0, 4), (2,))


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        pytest.param([A, A, EDIT_A, A, B, EDIT_B], TO_B, id="file: changed, then another file"),
        pytest.param([A] * 6 + [B, B], ("file", "src/a.py", "src/b.py", (0, 6), ()), id="file: read for long"),
        pytest.param([A, A, EDIT_A, A, B, A], None, id="file: a glance at another"),
        pytest.param([A, A, EDIT_A, A, B, A, B], None, id="file: two glances"),
        pytest.param([A, A, B, B, EDIT_A, A, B, B], None, id="file: back to one of before"),
        pytest.param([A] * 5 + [B, B], None, id="file: only looked around"),
        pytest.param([A, A, edit("src/a.py"), B, B], None, id="file: three turns"),
        pytest.param([A, EDIT_A, EDIT_A, *[shell("cat > t.py <<E\nE\npython t.py")] * 3], None, id="file: scratch files of runs"),
        pytest.param([EDIT_A, B, EDIT_B, B, C, C], ("module", "src", "lib", (0, 4), (0, 2)), id="module: behind two short spans"),
        pytest.param([A, A, EDIT_A, A, C, EDIT_C], TO_LIB, id="module: another folder"),
        pytest.param([A, A, EDIT_A, A, C, B], TO_B, id="module: only one of two turns"),
        pytest.param([A, A, EDIT_A, A, C, A], None, id="module: a glance"),
        pytest.param([A, EDIT_A, A, ran_tests(PASSED)], ("test", "work", "tests passed", (0, 4), (1, 3)), id="test: passed"),
        pytest.param([A, A, EDIT_A, A, EDIT_B, A, ran_tests("FAILED (errors=1)")], ("test", "work", "tests failed", (0, 4), (2,)), id="test: failed, without the last change"),
        pytest.param([A, B, A, ran_tests(FAILED)], ("test", "work", "tests failed", (0, 4), (3,)), id="test: failed, nothing changed"),
        pytest.param([A, A, A, EDIT_A, ran_tests(FAILED)], None, id="test: failed, three turns before the change"),
        pytest.param([EDIT_A, A, A, A, ran_tests(FAILED)], None, id="test: failed, nothing before the change"),
        pytest.param([A, EDIT_A, A, ran_tests(UNTOLD)], None, id="test: no verdict"),
        pytest.param([A, EDIT_A, A, ran_tests(None)], None, id="test: no answer yet"),
        pytest.param([A, EDIT_A, A, shell("python a.py", PASSED)], None, id="test: not a test"),
        pytest.param([EDIT_A, A, ran_tests(PASSED)], None, id="test: three turns"),
        pytest.param([*FLIGHTS, called("book_flight", {}, "ok")], ("api", "5 look-ups", "use of book_flight", (0, 5), (2, 3, 4)), id="api: tools"),
        pytest.param([*ORDERS, called("cancel_order", {}, "ok")], ("api", "4 look-ups", "use of cancel_order", (0, 4), (1, 2, 3)), id="api: tools that each answer"),
        pytest.param([*ORDERS[:3], called("cancel_order", {}, "ok")], None, id="api: three turns"),
        pytest.param([PAGE, searched("send"), LIBRARY, LIBRARY_ON, EDIT_A], ("api", "4 look-ups", "use of src/a.py", (0, 4), (0, 2, 3)), id="api: a library"),
        pytest.param([PAGE, searched("send"), LIBRARY, LIBRARY_ON, edit("lib/client.py")], None, id="api: a change of what was looked up"),
        pytest.param([PAGE, searched("send"), LIBRARY, LIBRARY_ON, written("try_it.py")], None, id="api: only tried"),
        pytest.param([PAGE, shell("python x.py", "7"), searched("send"), LIBRARY, LIBRARY_ON, EDIT_A], None, id="api: something was done before"),
        pytest.param([PAGE, PAGE, LIBRARY, LIBRARY, EDIT_A], None, id="api: two look-ups of a library"),
        pytest.param([A, read("src/b.py"), searched("x"), *[shell(f"sed -n {i},99p src/a.py") for i in (1, 2)], EDIT_A], ("api", "3 look-ups", "use of src/a.py", (0, 5), (0, 1, 3, 4)), id="api: a file"),
        pytest.param([*FLIGHTS, called("book_hotel", {}, "ok")], None, id="api: use of something else"),
        pytest.param([FLIGHTS[0]] * 4 + [called("book_flight", {}, "ok")], None, id="api: the same looked up again"),
        pytest.param([*FLIGHTS[:2], *[shell("sleep 1")] * 3, called("book_flight", {}, "ok")], None, id="api: looked up twice"),
        pytest.param([*FLIGHTS, called("think", {}, "ok")], None, id="api: not used"),
    ],
)  # fmt: skip  # a row a case
def test_boundaries(steps: list[Step], expected: tuple[object, ...] | None) -> None:
    """The last turn tells a boundary, or nothing does; none of the turns before does."""
    *before, last = decisions(numbered(*steps))
    assert before == [NOTHING] * len(before)
    assert last == NOTHING if expected is None else told(last) == expected


@pytest.mark.parametrize(
    ("off", "expected"),
    [
        pytest.param("module", ("file", "src/a.py", "lib/c.py", (0, 4), (2,)), id="module"),
        pytest.param("file", TO_LIB, id="file"),
    ],
)
def test_a_module_is_left_with_its_file(off: Boundary, expected: tuple[object, ...]) -> None:
    """Where modules are not looked for, their files are; and the other way round."""
    kinds = set(BOUNDARIES) - {off}
    assert told(decisions(numbered(A, A, EDIT_A, A, C, EDIT_C), boundaries=kinds)[-1]) == expected


@pytest.mark.parametrize(
    "first", [searched("x"), shell("ls"), EDIT_A, ran_tests(UNTOLD)], ids=["search", "run", "write", "test"]
)  # fmt: skip
def test_the_first_action_may_be_anything(first: Step) -> None:
    """Trap of the original: without a read at first its current file has no value."""
    *_, last = decisions(numbered(first, A, EDIT_A, A, B, B))
    assert told(last) == ("file", "src/a.py", "src/b.py", (0, 4), (2,))


def test_places_are_turns() -> None:
    """Trap of the original: it counts boundaries, so that its spans are a few long and none is ever proposed."""
    work = [A, EDIT_A, A, A, A, ran_tests(PASSED)]
    said = decisions([turn(7 + i, "", step) for i, step in enumerate(work * 3)])
    spans = [(d.scope.start, d.scope.stop) for d in said if d.scope is not None]
    assert spans == [(7, 13), (13, 19), (19, 25)]


def test_a_verdict_counts_for_its_own_turn() -> None:
    """Trap of the original: it credits the result of a test to the test before."""
    work = [A, A, A, ran_tests(FAILED), EDIT_A, A, A, ran_tests(PASSED)]
    said = decisions(numbered(*work))
    assert [i for i, decision in enumerate(said) if decision.fires] == [3, 7]
    assert told(said[3]) == ("test", "work", "tests failed", (0, 4), (3,))
    assert told(said[7]) == ("test", "work", "tests passed", (4, 8), (4, 7))


@pytest.mark.parametrize(("least_turns", "fires"), [(3, True), (4, False)])
def test_short_spans_go_on(least_turns: int, fires: bool) -> None:  # noqa: FBT001 - a row's expectation
    """Three turns are not proposed unless they are asked for; the next boundary takes them along."""
    turns = numbered(A, EDIT_A, ran_tests(PASSED), A, EDIT_A, ran_tests(PASSED))
    said = decisions(turns, least_turns=least_turns)
    assert said[2].fires is fires
    assert said[-1].scope is not None
    assert said[-1].scope.start == (3 if fires else 0)


def test_the_first_that_holds_is_told() -> None:
    """A verdict goes before a use in the same turn."""
    both = turn(5, "", called("book_flight", {}, "ok"), ran_tests(PASSED))
    *_, last = decisions([*numbered(*FLIGHTS), both])
    assert last.details["boundary"] == "test"


def test_a_span_knows_its_own_files() -> None:
    """Back at a file of the span before is a move as well."""
    work = [A, EDIT_A, A, ran_tests(PASSED), B, EDIT_B, B, B, A, EDIT_A]
    *_, last = decisions(numbered(*work))
    assert told(last) == ("file", "src/b.py", "src/a.py", (4, 8), (5,))


def test_a_span_knows_its_own_look_ups() -> None:
    """Those of the span before count no more."""
    idle = [shell("sleep 1")] * 3
    work = [*FLIGHTS[:2], A, ran_tests(PASSED), FLIGHTS[2], *idle, called("book_flight", {}, "ok")]
    said = decisions(numbered(*work))
    assert [i for i, decision in enumerate(said) if decision.fires] == [3]


def test_a_failed_change_is_none() -> None:
    """What a change that failed would have written is no outcome."""
    *_, last = decisions(numbered(EDIT_A, A, edit("src/a.py", FAILURE), ran_tests(PASSED)))
    assert told(last)[-1] == (0, 3)


def test_tools_of_your_own() -> None:
    """What a tool does may be told by its name alone, in the registry of names."""
    kinds = ToolKinds(named={"zap": "test", "grok": "write"})
    names = ["grok", "look", "look", "zap"]
    turns = [own_turn(i, name, kinds) for i, name in enumerate(names)]
    assert decisions(turns)[-1].details["to"] == "tests passed"
    unnamed = [own_turn(i, name, ToolKinds()) for i, name in enumerate(names)]
    assert not decisions(unnamed)[-1].fires


def own_turn(number: int, name: str, kinds: ToolKinds) -> Turn:
    """A turn with one call of a tool, as a host sends it."""
    call = ToolCall(id="1", name=name, arguments="{}")
    result = Message(role="tool", results=(ToolResult(call_id="1", text=PASSED),))
    (unit,) = segment([Message(role="assistant", calls=(call,)), result])
    return turn_of(unit, number, kinds=kinds)


@pytest.mark.parametrize(
    "glance", [[B], [B, A], [searched("x"), B]], ids=["once", "and back", "and a search"]
)
def test_a_glance_hides_no_module(glance: list[Step]) -> None:
    """F29: a look at a second file of the module before the work moves to another module."""
    *_, last = decisions(numbered(A, A, EDIT_A, A, *glance, C, EDIT_C))
    assert (last.details["boundary"], last.details["to"]) == ("module", "lib")
    assert last.scope is not None
    assert last.scope.stop == 4 + len(glance)
