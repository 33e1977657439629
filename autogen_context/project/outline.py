"""An outline: pieces of text that stand under each other, chosen by rank within a room; no piece is ever cut."""

from collections.abc import Sequence
from dataclasses import dataclass

from autogen_context.text.fit import CountText, fit

MOST_MISSES = 40  # pieces without room in a row behind which no more are looked at


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A line or block of lines, included whole, and only with the pieces that it stands under."""

    text: str
    rank: float | None = None  # lower ones are included first; None: only with a piece below it
    under: int = -1  # index of the piece that it stands under; -1 if it has none


def chosen(pieces: Sequence[Piece], *, room_tokens: int, count: CountText) -> tuple[list[int], int]:
    """Return the indices of the pieces of lowest rank that fit, in order, and the tokens of their lines."""

    def cost(at: int) -> int:
        return sum(count(f"{line}\n") for line in pieces[at].text.split("\n"))

    ranks = {at: each.rank for at, each in enumerate(pieces) if each.rank is not None}
    found = fit(
        ranks,
        room_tokens,
        cost=cost,
        score=lambda at: -ranks[at],
        needs=lambda at: [pieces[at].under] if pieces[at].under >= 0 else (),
        most_misses=MOST_MISSES,
    )
    return sorted(found.kept), room_tokens - found.left
