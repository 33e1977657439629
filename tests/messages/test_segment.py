"""Units: what is kept, shortened or dropped whole; orphans that came in get what they miss."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context import IncrementalContextManager
from autogen_context.messages.message import Message, ToolResult, joined_text
from autogen_context.messages.piece import Piece, Verbatim, Written, messages_of
from autogen_context.messages.segment import NO_CALL, NO_RESULT, extend, pair, repaired, segment
from autogen_context.testing import ChatMessage
from autogen_context.testing.transcripts import broken_transcripts, transcripts
from autogen_context.text.quote import MARK, block
from autogen_context.view.invariants import Checked
from support.counting import Characters
from support.units import asks, read_all, tells

WHOLE = transcripts(max_repeats=2).map(read_all)
BROKEN = broken_transcripts(max_repeats=2).map(read_all)
SAYS = Message(role="user", text="hi")


@given(WHOLE | BROKEN, st.integers(0, 9), st.data())
def test_the_units_are_the_transcript(
    messages: list[Message], start: int, data: st.DataObject
) -> None:
    """Joined in order they give every message once, fed at once or in parts, and what was extended is left as it was."""
    units = segment(messages, start=start)
    assert [message for unit in units for message in unit.messages] == messages
    borders = [start, *[unit.stop for unit in units]]
    assert [(unit.start, unit.stop) for unit in units] == list(pairwise(borders))
    cut = data.draw(st.integers(0, len(messages)))
    first = segment(messages[:cut], start=start)
    before = list(first)
    assert extend(first, messages[cut:], start=start) == units
    assert first == before


@given(WHOLE | BROKEN)
def test_a_broken_unit_says_so(messages: list[Message]) -> None:
    """Every result follows a call of its unit that was open, unless it is marked as faulty."""
    for unit in segment(messages):
        first, *rest = unit.messages
        assert all(message.results for message in rest)
        assert unit.is_stray == bool(first.results)
        answered = [r.call_id for m in unit.messages for r in m.results]
        ids = sorted([*answered, *[c.id for c in unit.unanswered]])
        assert unit.faulty or ids == sorted(c.id for c in first.calls)


PAIRS = {
    "in another order": ("ab", "ba", [1, 0], ""),
    "one still open": ("ab", "b", [1], "a"),
    "unknown id: the oldest open call": ("ab", "bx", [1, 0], ""),
    "one id for both: by position": ("aa", "aa", [0, 1], ""),
    "a result too many": ("a", "ab", [0, None], ""),
    "no call at all": ("", "a", [None], ""),
}


@pytest.mark.parametrize(("calls", "results", "pairs", "left"), PAIRS.values(), ids=PAIRS)
def test_which_call_a_result_answers(
    calls: str, results: str, pairs: list[int | None], left: str
) -> None:
    """The open call with its id, else the oldest open call, else none."""
    asked = tuple(replace(call, name=str(i)) for i, call in enumerate(asks(*calls).calls))
    found, unanswered = pair(asked, tells(*results).results)
    assert [int(c.name) if c else None for c, _ in found] == pairs
    assert [r.call_id for _, r in found] == list(results)
    assert [c.id for c in unanswered] == list(left)


@pytest.mark.parametrize(
    ("messages", "stops", "faulty", "waiting"),
    [
        pytest.param([asks("a"), tells("a"), SAYS], [2, 3], [], "", id="step, then a person"),
        pytest.param([asks("a", "b"), tells("a", "b")], [2], [], "", id="one message for all"),
        pytest.param([asks("a", "b"), tells("a"), SAYS], [2, 3], [], "b", id="never answered"),
        pytest.param([tells("a"), asks("a")], [1, 2], [0], "a", id="result before its call"),
        pytest.param([asks("a"), tells("a"), tells("a")], [2, 3], [1], "", id="answered twice"),
        pytest.param([asks("a"), SAYS, tells("a")], [1, 2, 3], [2], "a", id="interrupted"),
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


def pieces_of(messages: list[Message]) -> list[Piece]:
    """All pieces of a transcript that ends here, repaired."""
    units = segment(messages)
    return [piece for unit in units for piece in repaired(unit, last=unit is units[-1])]


@given(BROKEN)
def test_what_is_repaired_is_whole(messages: list[Message]) -> None:
    """Results name their calls, calls have results, no text is lost, and a second repair leaves all as it is."""
    said = messages_of(pieces_of(messages), messages)
    assert not Checked().after(pieces_of(messages), messages, lambda _: 0).orphans
    text, at = block(joined_text(said)), 0
    for message in messages:
        for each in (message.text, *(result.text for result in message.results)):
            for line in block(each).splitlines():
                at = text.index(line.removeprefix(MARK), at) + len(line) - len(MARK)
    assert messages_of(pieces_of(said), said) == said
    assert all(isinstance(piece, Verbatim) for piece in pieces_of(said))


@given(WHOLE, BROKEN)
def test_a_unit_has_a_piece_for_each_message(whole: list[Message], broken: list[Message]) -> None:
    """In order, each for the message at its place; supplied results come behind; what is whole is left alone."""
    for unit in segment(broken):
        pieces = repaired(unit, last=False)
        places = [p.start if isinstance(p, Verbatim) else p.index for p in pieces]
        supplied = [] if unit.is_stray else [None] * len(unit.unanswered)
        assert places == [*range(unit.start, unit.stop), *supplied]
    assert pieces_of(whole) == [Verbatim(start=i, stop=i + 1) for i in range(len(whole))]


SUPPLIED = ToolResult(call_id="a", text=NO_RESULT, name="f_a")
RENAMED = replace(tells("x").results[0], call_id="a")
BOTH = ToolResult(call_id="a", text=f"of a\n{NO_CALL}\n> of a")
ALL = ToolResult(call_id="a", text=f"of a\n{NO_CALL}\n> of a\n> of a")
FAULTS: dict[str, tuple[list[Message], list[Message]]] = {
    "a call without its result": ([asks("a", "b"), tells("b"), SAYS], [asks("a", "b"), tells("b"), Message(role="tool", results=(SUPPLIED,), own=True), SAYS]),
    "a result under another id": ([asks("a"), tells("x")], [asks("a"), Message(role="tool", results=(RENAMED,))]),
    "two results in one message for one call": ([asks("a"), tells("a", "a")], [asks("a"), Message(role="tool", results=(BOTH,))]),
    "three results in one message for one call": ([asks("a"), tells("a", "a", "a")], [asks("a"), Message(role="tool", results=(ALL,))]),
    "a result without any call": ([SAYS, tells("a", text="beside")], [SAYS, Message(role="user", text=f"{NO_CALL}\n> of a\n> beside", own=True)]),
    "a pending call": ([SAYS, asks("a")], [SAYS, asks("a")]),
}  # fmt: skip


@pytest.mark.parametrize(("messages", "expected"), FAULTS.values(), ids=FAULTS)
def test_what_each_fault_becomes(messages: list[Message], expected: list[Message]) -> None:
    """The rules, one by one; in a faulty unit only the messages with a wrong id are written anew."""
    assert messages_of(pieces_of(messages), messages) == expected
    kinds = [type(piece) for piece in pieces_of([asks("a", "b"), tells("a"), tells("x")])]
    assert kinds == [Verbatim, Verbatim, Written]


FUNCTION = {"name": "f", "arguments": "{}"}
ASKED: ChatMessage = {"role": "assistant", "content": None}
CALLED = ASKED | {"tool_calls": [{"id": "a", "type": "function", "function": FUNCTION}]}
NO_ID = ASKED | {"tool_calls": [{"id": "", "type": "function", "function": FUNCTION}]}
OLDER = ASKED | {"function_call": FUNCTION}
RESULT = {"role": "tool", "tool_call_id": "a", "content": "r"}
OLDER_RESULT = {"role": "function", "name": "f", "content": "r"}
PICTURE = [{"type": "image_url", "image_url": {"url": "data:,"}}]


@pytest.mark.parametrize(
    ("call", "result", "expected"),
    [
        pytest.param(OLDER, RESULT, OLDER_RESULT, id="function_call, tool"),
        pytest.param(OLDER, {"role": "tool", "content": "r"}, OLDER_RESULT, id="without an id"),
        pytest.param(OLDER, OLDER_RESULT, OLDER_RESULT, id="function_call, function"),
        pytest.param(OLDER, OLDER_RESULT | {"tool_call_id": "a"}, OLDER_RESULT, id="with an id"),
        pytest.param(CALLED, OLDER_RESULT, RESULT, id="tool_calls, function"),
        pytest.param(CALLED, {"role": "tool", "content": "r"}, RESULT, id="F34: no id"),
        pytest.param(NO_ID, None, RESULT | {"tool_call_id": "", "content": NO_RESULT}, id="no result, no id"),
        pytest.param(OLDER, RESULT | {"content": PICTURE}, OLDER_RESULT | {"content": "[image left out]"}, id="an image that the other form does not have"),
    ],
)  # fmt: skip
def test_a_result_is_sent_in_the_form_of_its_call(
    call: ChatMessage, result: ChatMessage | None, expected: ChatMessage
) -> None:
    """F23: a ``function_call`` that a tool message answered went out as it came, and providers refuse it."""
    asked, after = [{"role": "user", "content": "hi"}, call], {"role": "user", "content": "go on"}
    manager = IncrementalContextManager(window_tokens=9_000, counter=Characters())
    prepared = manager.prepare_nowait([*asked, *([result] if result else []), after])
    assert prepared.messages == [*asked, expected, after]
    assert prepared.certificate.pairs_closed
