"""Promise 8: nothing is added but what is marked."""

import pytest

from autogen_context.messages.message import Message
from autogen_context.messages.piece import Written
from autogen_context.view.invariants import AdditionsMarked, Checked, Sent

PLAIN = Message(role="user", text="p")
OURS = Message(role="user", text="p", own=True)


@pytest.mark.parametrize(
    ("piece", "holds"),
    [
        pytest.param(Written(message=OURS), True, id="a notice"),
        pytest.param(Written(message=PLAIN, index=0), True, id="the host's, rewritten"),
        pytest.param(Written(message=PLAIN), False, id="as if somebody had said it"),
    ],
)
def test_what_counts_as_marked(piece: Written, *, holds: bool) -> None:
    """What is the host's, or says that it is ours."""
    checked = Checked().after([piece], [PLAIN], lambda _: 0)
    assert AdditionsMarked().holds(Sent(0, 0, checked, [piece], 1)) is holds
