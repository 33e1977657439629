"""Pieces: what is sent, as data."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from autogen_context.messages.message import Message
from autogen_context.messages.piece import (
    Piece,
    Verbatim,
    Written,
    coalesce,
    messages_of,
)

LENGTH = 8
MESSAGES = [Message(role="user", text=str(i)) for i in range(LENGTH)]
STRETCHES = st.tuples(st.integers(0, LENGTH), st.integers(0, LENGTH)).map(
    lambda ends: Verbatim(start=min(ends), stop=max(ends))
)
WRITTEN = st.builds(
    Written,
    index=st.none() | st.integers(0, LENGTH - 1),
    message=st.builds(Message, role=st.just("user"), text=st.text(max_size=3)),
)
PIECES = st.lists(STRETCHES | WRITTEN, max_size=8)


@given(PIECES)
def test_joining_changes_nothing_that_is_sent(pieces: list[Piece]) -> None:
    """The joined pieces say the same, no two of them can be joined further, and joining again does nothing."""
    joined = coalesce(pieces)
    assert messages_of(joined, MESSAGES) == messages_of(pieces, MESSAGES)
    assert coalesce(joined) == joined
    for one, other in pairwise(joined):
        if isinstance(one, Verbatim) and isinstance(other, Verbatim):
            assert one.stop != other.start
