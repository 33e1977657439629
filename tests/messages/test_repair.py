"""Orphans that came in get what they miss."""

from dataclasses import replace

import pytest
from hypothesis import given, settings

from autogen_context import IncrementalContextManager
from autogen_context.messages.message import Message, ToolCall, ToolResult, joined_text
from autogen_context.messages.openai_chat import OpenAIChat
from autogen_context.messages.piece import Piece, Verbatim, Written, messages_of
from autogen_context.messages.segment import NO_CALL, NO_RESULT, repaired, segment
from autogen_context.testing import ChatMessage
from autogen_context.testing.transcripts import broken_transcripts, transcripts
from autogen_context.view.certificate import Checked
from support.counting import Characters

FEW = settings(max_examples=50)


def read_all(payloads: list[ChatMessage]) -> list[Message]:
    """The messages that can be read."""
    return [OpenAIChat().read(payload) for payload in payloads if payload.get("role")]


WHOLE = transcripts(max_repeats=2).map(read_all)
BROKEN = broken_transcripts(max_repeats=2).map(read_all)


def pieces_of(messages: list[Message]) -> list[Piece]:
    """All pieces of a transcript that ends here."""
    units = segment(messages)
    return [piece for unit in units for piece in repaired(unit, last=unit is units[-1])]


def asks(*ids: str) -> Message:
    """A message that calls, an id each."""
    calls = tuple(ToolCall(id=i, name=f"f_{i}", arguments="{}") for i in ids)
    return Message(role="assistant", calls=calls)


def told(call_id: str, text: str = "done") -> ToolResult:
    """One result."""
    return ToolResult(call_id=call_id, text=text)


def tells(*results: ToolResult, text: str = "") -> Message:
    """A message with these results."""
    return Message(role="tool", results=results, text=text)


SAYS = Message(role="user", text="hi")


@FEW
@given(BROKEN)
def test_nothing_is_left_open(messages: list[Message]) -> None:
    """After repair every result names its call, and every call but those at the end has its result."""
    said = messages_of(pieces_of(messages), messages)
    assert not Checked().after(said, lambda _: 0).orphans


@FEW
@given(BROKEN)
def test_no_text_is_lost(messages: list[Message]) -> None:
    """Each text of the broken transcript is in the repaired one, in its order."""
    said, at = joined_text(messages_of(pieces_of(messages), messages)), 0
    for message in messages:
        for text in (message.text, *(result.text for result in message.results)):
            at = said.index(text, at) + len(text)


@FEW
@given(BROKEN)
def test_what_was_repaired_needs_no_repair(messages: list[Message]) -> None:
    """A second repair leaves all as it is."""
    said = messages_of(pieces_of(messages), messages)
    assert messages_of(pieces_of(said), said) == said
    assert all(isinstance(piece, Verbatim) for piece in pieces_of(said))


@FEW
@given(WHOLE)
def test_what_is_whole_is_left_alone(messages: list[Message]) -> None:
    """A transcript without faults, pending calls at its end included, comes out message by message."""
    assert pieces_of(messages) == [Verbatim(start=i, stop=i + 1) for i in range(len(messages))]


@FEW
@given(BROKEN)
def test_a_unit_has_a_piece_for_each_message(messages: list[Message]) -> None:
    """In order, each for the message at its place; results that were supplied come behind and are our own."""
    for unit in segment(messages):
        pieces = repaired(unit, last=False)
        places = [p.start if isinstance(p, Verbatim) else p.index for p in pieces]
        supplied = [] if unit.is_stray else [None] * len(unit.unanswered)
        assert places == [*range(unit.start, unit.stop), *supplied]


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        pytest.param(
            [asks("a", "b"), tells(told("b")), SAYS],
            [
                asks("a", "b"),
                tells(told("b")),
                replace(tells(ToolResult(call_id="a", text=NO_RESULT, name="f_a")), own=True),
                SAYS,
            ],
            id="a call without its result",
        ),
        pytest.param(
            [asks("a"), tells(told("x"))],
            [asks("a"), tells(told("a"))],
            id="a result under another id",
        ),
        pytest.param(
            [asks("a"), tells(told("a", "one"), told("a", "two"))],
            [asks("a"), tells(told("a", f"one\n{NO_CALL}\ntwo"))],
            id="two results in one message for one call",
        ),
        pytest.param(
            [SAYS, tells(told("a", "one"), text="said beside")],
            [SAYS, Message(role="user", text=f"{NO_CALL}\none\nsaid beside", own=True)],
            id="a result without any call",
        ),
        pytest.param([SAYS, asks("a")], [SAYS, asks("a")], id="a pending call"),
    ],
)
def test_what_each_fault_becomes(messages: list[Message], expected: list[Message]) -> None:
    """The rules, one by one."""
    assert messages_of(pieces_of(messages), messages) == expected


CALLED = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
}
OLDER = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
RESULT = {"role": "tool", "tool_call_id": "a", "content": "r"}
OLDER_RESULT = {"role": "function", "name": "f", "content": "r"}


@pytest.mark.parametrize(
    ("call", "result", "expected"),
    [
        pytest.param(OLDER, RESULT, OLDER_RESULT, id="function_call, tool"),
        pytest.param(OLDER, {"role": "tool", "content": "r"}, OLDER_RESULT, id="without an id"),
        pytest.param(OLDER, OLDER_RESULT, OLDER_RESULT, id="function_call, function"),
        pytest.param(OLDER, OLDER_RESULT | {"tool_call_id": "a"}, OLDER_RESULT, id="with an id"),
        pytest.param(CALLED, OLDER_RESULT, RESULT, id="tool_calls, function"),
        pytest.param(CALLED, {"role": "tool", "content": "r"}, RESULT, id="F34: no id"),
        pytest.param(
            OLDER,
            RESULT | {"content": [{"type": "image_url", "image_url": {"url": "data:,"}}]},
            OLDER_RESULT | {"content": "[image left out]"},
            id="an image that the other form does not have",
        ),
    ],
)
def test_a_result_is_sent_in_the_form_of_its_call(
    call: ChatMessage, result: ChatMessage, expected: ChatMessage
) -> None:
    """F23: a ``function_call`` that a tool message answered went out as it came, and providers refuse it."""
    given = [{"role": "user", "content": "hi"}, call, result, {"role": "user", "content": "go on"}]
    manager = IncrementalContextManager(window_tokens=9_000, counter=Characters())
    prepared = manager.prepare_nowait(given)
    assert prepared.messages == [*given[:2], expected, given[3]]
    assert prepared.certificate.pairs_closed


def test_a_result_under_the_right_id_is_left_alone() -> None:
    """In a faulty unit only the messages with a wrong id are written anew."""
    messages = [asks("a", "b"), tells(told("a")), tells(told("x"))]
    kinds = [type(piece) for piece in pieces_of(messages)]
    assert kinds == [Verbatim, Verbatim, Written]
