"""Where a head stands among what is sent, and that all else stays."""

from collections.abc import Iterable
from itertools import takewhile

from hypothesis import given
from hypothesis import strategies as st

from autogen_context.manager.prepared import placed
from autogen_context.messages.message import Message
from autogen_context.messages.piece import Piece, Verbatim, Written, coalesce
from autogen_context.view.view import as_message

OPENING = "[The project shop"
FRONT = Written(message=as_message(OPENING))


def own(text: str) -> Written:
    """What is told beside the conversation, or a head."""
    return Written(message=as_message(text))


@st.composite
def sendings(draw: st.DrawFn) -> tuple[list[Piece], int]:
    """What is sent of a list, which begins with messages of the system that stay; and how many these are."""
    system, others = draw(st.integers(0, 3)), draw(st.integers(0, 5))
    pieces: list[Piece] = []
    for i in range(system + others):
        if i >= system and draw(st.booleans()):
            pieces.append(own("told"))
        verbatim = Verbatim(start=i, stop=i + 1)
        written = Written(message=Message(role="user", text="less"), index=i)
        gone = [None] if i >= system else []
        piece = draw(st.sampled_from([verbatim, written, *gone]))
        pieces += [piece] if piece else []
    return list(coalesce(pieces)), system


def one_by_one(pieces: Iterable[Piece]) -> list[Piece]:
    """The same, a piece for each message."""
    return [
        each
        for piece in pieces
        for each in (
            [Verbatim(start=i, stop=i + 1) for i in range(piece.start, piece.stop)]
            if isinstance(piece, Verbatim)
            else [piece]
        )
    ]


def position(piece: Piece) -> float:
    """Of the host's message that it stands for; what is our own stands for none."""
    at = piece.start if isinstance(piece, Verbatim) else piece.index
    return float("inf") if at is None else at


@given(sendings())
def test_a_head_stands_behind_the_system_prompt(sending: tuple[list[Piece], int]) -> None:
    """Behind all that is sent of it, whole or shortened, and in front of everything else, which stays."""
    pieces, system = sending
    flat, found = one_by_one(pieces), one_by_one(placed(pieces, FRONT, at=system))
    behind = list(takewhile(lambda piece: position(piece) < system, flat))
    assert found == [*behind, FRONT, *flat[len(behind) :]]
