"""Promise 3: a result follows its call, and a call has its results, or waits for them at the end."""

import pytest

from autogen_context.messages.message import Message
from autogen_context.messages.piece import Verbatim
from autogen_context.view.invariants import Checked, PairsClosed, Sent
from support.units import asks, tells

SAYS = Message(role="user", text="hi")


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
    """A result without its call, or a call that other messages follow before its result; read at once or one by one."""
    checked = Checked()
    for at in range(len(messages)):
        checked = checked.after([Verbatim(start=at, stop=at + 1)], messages, lambda _: 1)
    whole = [Verbatim(start=0, stop=len(messages))] if messages else []
    assert checked == Checked().after(whole, messages, lambda _: 1)
    assert PairsClosed().holds(Sent(0, 0, checked, whole, len(messages))) is (orphans == 0)
    assert (checked.tokens, checked.orphans) == (len(messages), orphans)
    assert [call.id for call in checked.open_calls] == list(still_open)
    assert checked.calls == sum(len(message.calls) for message in messages)
    assert checked.results == sum(len(message.results) for message in messages)
