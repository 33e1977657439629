"""A certificate is computed from what is sent, and what was checked is not checked again."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.manager.prepared import Certifier
from autogen_context.messages.message import Message, ToolCall, ToolResult
from autogen_context.messages.piece import Piece, Verbatim, Written, coalesce, messages_of
from autogen_context.tokens.measure import Count
from autogen_context.view.certificate import (
    Certificate,
    Checked,
)


def asks(*ids: str) -> Message:
    """A message that calls, an id each."""
    calls = tuple(ToolCall(id=i, name="f", arguments="{}") for i in ids)
    return Message(role="assistant", calls=calls)


def tells(*ids: str) -> Message:
    """A message with a result for each id."""
    return Message(role="tool", results=tuple(ToolResult(call_id=i, text="r") for i in ids))


SAYS = Message(role="user", text="hi")
IDS = st.lists(st.sampled_from("ab"), min_size=1, max_size=2)
MESSAGES = st.lists(
    st.builds(Message, role=st.just("user"), text=st.text(max_size=3))
    | IDS.map(lambda ids: asks(*ids))
    | IDS.map(lambda ids: tells(*ids)),
    max_size=10,
)


class Counted:
    """A token a message and one for each character; it remembers what it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, message: Message) -> int:
        self.asked += 1
        return 1 + len(message.text)


@st.composite
def growing(draw: st.DrawFn) -> tuple[list[Message], list[list[Piece]]]:
    """A list of messages, and turns: most go on where the last one ended, some choose anew."""
    messages = draw(MESSAGES.filter(bool))
    turns: list[list[Piece]] = [[]]
    for _ in range(draw(st.integers(1, 5))):
        kept = turns[-1] if draw(st.booleans()) else turns[-1][: draw(st.integers(0, 3))]
        last = kept[-1] if kept else None
        start = last.stop if isinstance(last, Verbatim) else 0
        stop = draw(st.integers(start, len(messages)))
        new: list[Piece] = [Verbatim(start=start, stop=stop)]
        if draw(st.booleans()):
            new.append(Written(message=draw(st.sampled_from(messages)), index=0))
        turns.append(list(coalesce([*kept, *new])))
    return messages, turns


@settings(max_examples=80)
@given(growing())
def test_a_check_that_goes_on_finds_what_a_whole_one_finds(
    drawn: tuple[list[Message], list[list[Piece]]],
) -> None:
    """At every turn, whatever the turns before were."""
    messages, turns = drawn
    certifier = Certifier(Counted())
    for pieces in turns:
        whole = Checked().after(messages_of(pieces, messages), Counted())
        assert certifier.check(pieces, messages) == whole


@given(MESSAGES, st.integers(0, 9))
def test_only_what_is_new_is_counted(messages: list[Message], first: int) -> None:
    """A list that grew costs what it grew by; one that is the same costs nothing."""
    count = Counted()
    certifier = Certifier(count)
    cut = min(first, len(messages))
    certifier.check([Verbatim(start=0, stop=cut)], messages)
    certifier.check([Verbatim(start=0, stop=len(messages))], messages)
    certifier.check([Verbatim(start=0, stop=len(messages))], messages)
    assert count.asked == len(messages)


@pytest.mark.parametrize(
    ("messages", "orphans", "still_open"),
    [
        pytest.param([], 0, "", id="nothing"),
        pytest.param([SAYS, asks("a"), tells("a"), SAYS], 0, "", id="closed"),
        pytest.param([asks("a", "b"), tells("b"), tells("a")], 0, "", id="in any order"),
        pytest.param([asks("a")], 0, "a", id="pending"),
        pytest.param([asks("a", "b"), tells("a")], 0, "b", id="one pending"),
        pytest.param([asks("a", "b"), tells("a"), SAYS], 1, "", id="never answered"),
        pytest.param([asks("a", "b"), asks("c")], 2, "c", id="two never answered"),
        pytest.param([tells("a")], 1, "", id="no call"),
        pytest.param([asks("a"), tells("x")], 1, "", id="another id"),
        pytest.param([asks("a"), tells("a", "a")], 1, "", id="answered twice"),
        pytest.param([asks("a"), SAYS, tells("a")], 2, "", id="interrupted"),
        pytest.param([asks("a", "a"), tells("a")], 0, "a", id="one of two with one id"),
        pytest.param([asks("a", "a"), tells("a"), SAYS], 1, "", id="the other never answered"),
    ],
)
def test_what_an_orphan_is(messages: list[Message], orphans: int, still_open: str) -> None:
    """A result without its call, or a call that other messages follow before its result."""
    checked = Checked().after(messages, Counted())
    assert checked.orphans == orphans
    assert [call.id for call in checked.open_calls] == list(still_open)
    assert checked.calls == sum(len(message.calls) for message in messages)
    assert checked.results == sum(len(message.results) for message in messages)


@pytest.mark.parametrize(("bound", "fits"), [(99, True), (100, True), (101, False)])
def test_it_fits_up_to_the_limit(bound: int, *, fits: bool) -> None:
    """By the bound, not by the count."""
    certificate = Certificate(
        limit_tokens=100,
        bound=Count(tokens=bound, source="tokenizer"),
        counted_tokens=50,
        pairs_closed=True,
        pins_present=True,
        newest_present=True,
    )
    assert certificate.fits is fits
