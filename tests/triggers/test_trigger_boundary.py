"""Boundaries in the work: where a stretch of it ends, and what of it stays."""

from collections.abc import Sequence

import pytest

from autogen_context.messages.message import Message, ToolCall, ToolResult
from autogen_context.messages.segment import segment
from autogen_context.messages.tool_call import ToolKinds
from autogen_context.triggers.boundary import SemanticBoundaryDetector
from autogen_context.triggers.turn import NOTHING, Step, TriggerDecision, Turn, turn_of
from support.turns import called, edit, observed, ran_tests, read, searched, shell, turn, written

PASSED, FAILED, UNTOLD = "3 passed in 0.1s", "1 FAILED, 9 PASSED", "collecting ..."
FLIGHTS = [called("search_flight", {"day": day}, "[]") for day in range(5)]


def numbered(*steps: Step) -> list[Turn]:
    """A turn for each step, from 0."""
    return [turn(i, "", step) for i, step in enumerate(steps)]


def decisions(turns: Sequence[Turn]) -> list[TriggerDecision]:
    """What is said after each turn."""
    return observed(SemanticBoundaryDetector().observe, turns)


def told(decision: TriggerDecision) -> tuple[object, ...]:
    """Which boundary, from what to what, and the scope with what stays of it."""
    details, scope = decision.details, decision.scope
    assert scope is not None
    span = (scope.start, scope.stop)
    return details["boundary"], details["from"], details["to"], span, scope.outcomes


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
        pytest.param([A, A, B, B, EDIT_A, A, B, B], None, id="file: back to one of before"),
        pytest.param([A, A, EDIT_A, A, C, EDIT_C], TO_LIB, id="module: another folder"),
        pytest.param([A, A, EDIT_A, A, C, B], TO_B, id="module: only one of two turns"),
        pytest.param([A, EDIT_A, A, ran_tests(PASSED)], ("test", "work", "tests passed", (0, 4), (1, 3)), id="test: passed"),
        pytest.param([A, A, EDIT_A, A, EDIT_B, A, ran_tests("FAILED (errors=1)")], ("test", "work", "tests failed", (0, 4), (2,)), id="test: failed, without the last change"),
        pytest.param([A, A, A, EDIT_A, ran_tests(FAILED)], None, id="test: failed, three turns before the change"),
        pytest.param([A, EDIT_A, A, ran_tests(UNTOLD)], None, id="test: no verdict"),
        pytest.param([*FLIGHTS, called("book_flight", {}, "ok")], ("api", "5 look-ups", "their use", (0, 5), (2, 3, 4)), id="api: tools"),
        pytest.param([PAGE, searched("send"), LIBRARY, LIBRARY_ON, written("try_it.py")], None, id="api: only tried"),
        pytest.param([A, read("src/b.py"), searched("x"), *[shell(f"sed -n {i},99p src/a.py") for i in (1, 2)], EDIT_A], ("api", "5 look-ups", "their use", (0, 5), (2, 3, 4)), id="api: a file"),
        pytest.param([FLIGHTS[0]] * 4 + [called("book_flight", {}, "ok")], None, id="api: the same looked up again"),
    ],
)  # fmt: skip  # a row a case
def test_boundaries(steps: list[Step], expected: tuple[object, ...] | None) -> None:
    """The last turn tells a boundary, or nothing does; none of the turns before does."""
    *before, last = decisions(numbered(*steps))
    assert before == [NOTHING] * len(before)
    assert last == NOTHING if expected is None else told(last) == expected


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
