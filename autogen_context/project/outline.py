"""An outline: pieces of text that stand under each other, chosen by rank within a room; no piece is ever cut."""

from collections.abc import Sequence
from dataclasses import dataclass

from autogen_context.text.fit import CountText

MOST_MISSES = 40  # consecutive pieces without room before stopping


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A line or block of lines, included whole, and only with the pieces that it stands under."""

    text: str
    rank: float | None = (
        None  # lower ranks are included first; ``None``: only with a piece below it
    )
    under: int = -1  # index of the piece that it stands under; -1 if it has none


def chosen(pieces: Sequence[Piece], *, room_tokens: int, count: CountText) -> tuple[list[int], int]:
    """Return the indices of the pieces of lowest rank that fit, in order, and the tokens of their lines."""
    order = sorted((each.rank, at) for at, each in enumerate(pieces) if each.rank is not None)
    taken: set[int] = set()
    left, misses = room_tokens, 0
    for _, each in order:
        needed, at = list[int](), each
        while at >= 0 and at not in taken:
            needed.append(at)
            at = pieces[at].under
        lines = (line for at in needed for line in pieces[at].text.split("\n"))
        cost = sum(count(f"{line}\n") for line in lines)
        if cost <= left:
            left, misses = left - cost, 0
            taken.update(needed)
        elif (misses := misses + 1) > MOST_MISSES:
            break
    return sorted(taken), room_tokens - left
