"""Which turns of a span say what came out of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.triggers.outcome import REMEMBERED, Outcomes
from autogen_context.triggers.turn import Step
from support.turns import called, edit, ran_tests, read, shell, turn, written

FAILURE = "error: no match was found for old_str"
STEPS = [
    *[edit("a.py"), edit("b.py"), written("a.py"), edit("a.py", FAILURE), edit("a.py", None)],
    *[ran_tests(), ran_tests("1 failed"), ran_tests("collecting"), read("a.py"), shell("git log")],
    *[called("get_user", {"id": 1}, "{}"), called("get_order", {"id": 1}, "{}")],
]
ROWS = st.lists(st.lists(st.sampled_from(STEPS), max_size=2), max_size=12)
GET_USER, GET_ORDER = STEPS[-2:]


def outcomes_of(*rows: list[Step]) -> Outcomes:
    """What came out of a turn for each row."""
    outcomes = Outcomes()
    for i, row in enumerate(rows):
        outcomes.add(turn(i, "", *row))
    return outcomes


@given(ROWS, st.integers(0, 12), st.integers(1, 12))
def test_a_span_of_a_span(rows: list[list[Step]], start: int, length: int) -> None:
    """What stays of a span lies in it, in order; what stays of a shorter one with the same end stays of the longer."""
    outcomes = outcomes_of(*rows)
    found = outcomes.within(start, start + length)
    assert list(found) == sorted(set(found))
    assert all(start <= number < min(start + length, len(rows)) for number in found)
    assert {*outcomes.within(start + 1, start + length)} <= {*found}


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        pytest.param([[edit("a.py")], [edit("b.py")], [edit("a.py")]], (1, 2), id="last changes"),
        pytest.param([[edit("a.py"), edit("b.py")], [edit("a.py")]], (0, 1), id="one of two files"),
        pytest.param([[edit("a.py")], [edit("a.py", FAILURE)]], (0,), id="a failed change is none"),
        pytest.param([[edit("a.py")], [edit("a.py", f"a.py\n--- {FAILURE}")]], (0,), id="told in a later line"),
        pytest.param([[edit("a.py")], [edit("a.py", f"a.py: {FAILURE}")]], (1,), id="told within a line"),
        pytest.param([[edit("a.py")], [edit("a.py", None)]], (0,), id="one without an answer"),
        pytest.param([[shell("echo 1 > a.py; python a.py", "Error: x")]], (0,), id="a run that failed wrote before"),
        pytest.param([[ran_tests()], [ran_tests("1 failed")]], (1,), id="newest verdict"),
        pytest.param([[ran_tests()], [ran_tests("collecting")]], (0,), id="no verdict"),
        pytest.param([[GET_USER], [GET_ORDER], [GET_ORDER], [read("a.py")]], (0, 2), id="newest answers of services"),
        pytest.param([[shell("git log", "abc")], [read("a.py")]], (), id="what can be had again"),
    ],
)  # fmt: skip  # a row a case
def test_what_stays(rows: list[list[Step]], expected: tuple[int, ...]) -> None:
    """Last changes, the newest verdict, the newest answer of each service; nothing else."""
    assert outcomes_of(*rows).within(0, len(rows)) == expected


@pytest.mark.parametrize(
    ("outputs", "verdict"),
    [
        pytest.param(["9 passed"], "passed", id="passed"),
        pytest.param(["9 passed", "1 failed, 2 passed"], "failed", id="one of two failed"),
        pytest.param(["1 failed", "9 passed"], "failed", id="the first one failed"),
        pytest.param(["collecting", "9 passed"], "passed", id="one does not tell"),
        pytest.param(["collecting"], None, id="none tells"),
        pytest.param([], None, id="none ran"),
    ],
)
def test_the_verdict_of_a_turn(outputs: list[str], verdict: str | None) -> None:
    """All tests of a turn count together."""
    steps = [ran_tests(output) for output in outputs]
    assert Outcomes().add(turn(0, "", *steps)).verdict == verdict


def test_the_last_change() -> None:
    """The newest turn that changed a file, not before where it is asked for."""
    outcomes = outcomes_of([edit("a.py")], [edit("b.py")], [ran_tests()])
    assert outcomes.last_change(0) == outcomes.last_change(1) == 1
    assert outcomes.last_change(2) is None


@pytest.mark.parametrize("number", [0, 1])
def test_turns_come_in_order(number: int) -> None:
    """One that came before, or again, is refused by name."""
    outcomes = outcomes_of([], [])
    with pytest.raises(ValueError, match=f"turn {number} came after turn 1: give turns in order"):
        outcomes.add(turn(number))


def test_what_is_remembered_is_bounded() -> None:
    """Of more turns than that the oldest ones are let go of."""
    outcomes = outcomes_of(*([edit(f"{i}.py")] for i in range(REMEMBERED + 5)))
    assert outcomes.within(0, REMEMBERED + 5) == tuple(range(5, REMEMBERED + 5))
