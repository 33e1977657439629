"""Promise 8: the host's messages stand in their order, each once at most."""

from hypothesis import given
from hypothesis import strategies as st

from autogen_context.messages.message import Message
from autogen_context.messages.piece import Piece, Verbatim, Written
from autogen_context.view.invariants import Checked, OrderKept, Sent

SAID = [Message(role="user", text=str(n)) for n in range(6)]
PIECES = st.one_of(
    st.tuples(st.integers(0, 5), st.integers(1, 3)).map(
        lambda range_: Verbatim(start=range_[0], stop=min(6, range_[0] + range_[1]))
    ),
    st.integers(0, 5).map(lambda at: Written(message=SAID[at], index=at)),
    st.just(Written(message=Message(role="user", text="told", own=True))),
)


@given(st.lists(PIECES, max_size=4))
def test_order_is_that_of_positions(pieces: list[Piece]) -> None:
    """Whatever is not the host's stands anywhere."""
    at = [
        position
        for piece in pieces
        for position in (
            range(piece.start, piece.stop) if isinstance(piece, Verbatim) else [piece.index]
        )
        if position is not None
    ]
    checked = Checked().after(pieces, SAID, lambda _: 0)
    assert OrderKept().holds(Sent(0, 0, checked, pieces, 6)) is (at == sorted(set(at)))
