"""Units: what is kept, shortened or dropped whole."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.messages.message import Message, ToolCall, ToolResult
from autogen_context.messages.segment import extend, pair, segment
from autogen_context.testing.transcripts import broken_transcripts, transcripts
from support.units import read_all

FEW = settings(max_examples=50)


WHOLE = transcripts(max_repeats=2).map(read_all)
BROKEN = broken_transcripts(max_repeats=2).map(read_all)


def call(call_id: str, name: str = "f") -> ToolCall:
    """One call."""
    return ToolCall(id=call_id, name=name, arguments="{}")


def result(call_id: str) -> ToolResult:
    """One result."""
    return ToolResult(call_id=call_id, text="done")


def asks(*ids: str) -> Message:
    """A message that calls, an id each."""
    return Message(role="assistant", calls=tuple(map(call, ids)))


def tells(*ids: str) -> Message:
    """A message with a result for each id."""
    return Message(role="tool", results=tuple(map(result, ids)))


SAYS = Message(role="user", text="hi")


@FEW
@given(WHOLE | BROKEN, st.integers(0, 9))
def test_the_units_are_the_transcript(messages: list[Message], start: int) -> None:
    """Joined in order they give every message once, and each starts where the one before stops."""
    units = segment(messages, start=start)
    assert [message for unit in units for message in unit.messages] == messages
    borders = [start, *[unit.stop for unit in units]]
    assert [(unit.start, unit.stop) for unit in units] == list(pairwise(borders))


@FEW
@given(WHOLE | BROKEN, st.data())
def test_feeding_in_parts_changes_nothing(messages: list[Message], data: st.DataObject) -> None:
    """Units that are extended equal those of the whole, and what was extended is left as it was."""
    cut = data.draw(st.integers(0, len(messages)))
    first = segment(messages[:cut], start=2)
    before = list(first)
    assert extend(first, messages[cut:], start=2) == segment(messages, start=2)
    assert first == before


@FEW
@given(WHOLE | BROKEN)
def test_a_broken_unit_says_so(messages: list[Message]) -> None:
    """Every result follows a call of its unit that was open, unless it is marked as faulty, which no unit of a whole one is."""
    for unit in segment(messages):
        first, *rest = unit.messages
        assert all(message.results for message in rest)
        assert unit.is_stray == bool(first.results)
        exact = [r.call_id for m in unit.messages for r in m.results]
        if not unit.faulty:
            assert sorted([*exact, *[c.id for c in unit.unanswered]]) == sorted(
                c.id for c in first.calls
            )


@pytest.mark.parametrize(
    ("calls", "results", "pairs", "left"),
    [
        pytest.param("ab", "ab", [0, 1], "", id="in order"),
        pytest.param("ab", "ba", [1, 0], "", id="in another order"),
        pytest.param("ab", "b", [1], "a", id="one still open"),
        pytest.param("ab", "x", [0], "b", id="unknown id: the oldest open call"),
        pytest.param("ab", "bx", [1, 0], "", id="unknown id: the oldest that is still open"),
        pytest.param("aa", "aa", [0, 1], "", id="one id for both: by position"),
        pytest.param("aa", "a", [0], "a", id="one id for both: one result answers one"),
        pytest.param("a", "ab", [0, None], "", id="a result too many"),
        pytest.param("", "a", [None], "", id="no call at all"),
    ],
)
def test_which_call_a_result_answers(
    calls: str, results: str, pairs: list[int | None], left: str
) -> None:
    """The open call with its id, else the oldest open call, else none."""
    asked = tuple(call(call_id, name=str(i)) for i, call_id in enumerate(calls))
    found, unanswered = pair(asked, tuple(map(result, results)))
    assert [int(c.name) if c else None for c, _ in found] == pairs
    assert [r.call_id for _, r in found] == list(results)
    assert [c.id for c in unanswered] == list(left)


@pytest.mark.parametrize(
    ("messages", "stops", "faulty", "waiting"),
    [
        pytest.param([asks("a"), tells("a"), SAYS], [2, 3], [], "", id="step, then a person"),
        pytest.param([asks("a"), tells("x")], [2], [0], "", id="renumbered"),
        pytest.param([asks("a", "b"), tells("a", "b")], [2], [], "", id="one message for all"),
        pytest.param([asks("a"), tells("a", "b")], [2], [0], "", id="one result too many"),
        pytest.param([asks("a", "b"), tells("a"), SAYS], [2, 3], [], "b", id="never answered"),
        pytest.param([tells("a"), asks("a")], [1, 2], [0], "a", id="result before its call"),
        pytest.param([asks("a"), tells("a"), tells("a")], [2, 3], [1], "", id="answered twice"),
        pytest.param([asks("a"), SAYS, tells("a")], [1, 2, 3], [2], "a", id="interrupted"),
        pytest.param([asks("a", "a"), tells("a"), SAYS], [2, 3], [], "a", id="one id, one result"),
        pytest.param([asks("a", "a"), tells("a"), tells("a")], [3], [], "", id="one id for both"),
        pytest.param([asks("a", "b"), tells("x"), tells("b")], [3], [0], "", id="stays faulty"),
    ],
)
def test_where_a_unit_ends(
    messages: list[Message], stops: list[int], faulty: list[int], waiting: str
) -> None:
    """With the last result of its calls; what comes after all are answered is a unit of its own."""
    units = segment(messages)
    assert [unit.stop for unit in units] == stops
    assert [i for i, unit in enumerate(units) if unit.faulty] == faulty
    assert [c.id for unit in units for c in unit.unanswered] == list(waiting)
