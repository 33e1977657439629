"""Where a head stands among what is sent: behind the system prompt, or in front of a unit.

Promise: pure; all else stays, in its order.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from autogen_context.messages.message import Message
from autogen_context.messages.piece import Piece, Verbatim, Written
from autogen_context.view.decision import Decision


def headed(text: str) -> Message:
    """A text as the message that stands in front: the user's, since that role every chat template takes there."""
    return Message(role="user", text=text, own=True)


def placed(pieces: Sequence[Piece], front: Piece, *, at: int) -> list[Piece]:
    """Pieces with another one in front of the host's message at a position, or of what is sent in its place."""
    for i, piece in enumerate(pieces):
        if isinstance(piece, Verbatim) and piece.start < at < piece.stop:
            parted = (
                Verbatim(start=piece.start, stop=at),
                front,
                Verbatim(start=at, stop=piece.stop),
            )
            return [*pieces[:i], *parted, *pieces[i + 1 :]]
        stop = piece.stop if isinstance(piece, Verbatim) else (piece.index or 0) + 1
        if stop > at or (isinstance(piece, Written) and piece.index is None):
            return [*pieces[:i], front, *pieces[i:]]
    return [*pieces, front]


def without_heads(
    decisions: Iterable[Decision], opening: str, *, count: Callable[[Message], int]
) -> list[Decision]:
    """Decisions without heads in front of their units.

    Args:
        decisions: as they are held.
        opening: what a head begins with.
        count: tokens of a message.
    """

    def is_head(piece: Piece) -> bool:
        return isinstance(piece, Written) and piece.message.text.startswith(opening)

    def without(decision: Decision) -> Decision:
        kept = tuple(piece for piece in decision.before if not is_head(piece))
        gone = [p.message for p in decision.before if isinstance(p, Written) and is_head(p)]
        tokens_after = decision.tokens_after - sum(map(count, gone))
        return replace(decision, before=kept, tokens_after=tokens_after) if gone else decision

    return [without(decision) for decision in decisions]
