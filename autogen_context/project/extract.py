"""Take the best whole pieces of some documents, as many as have room.

Promise: pure; pieces are never cut; what is taken fits the room with the lines that name its documents; the order is that of
the documents. Nothing stands without what it stands under.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field

CountText = Callable[[str], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """What is taken whole, or not.

    Attributes:
        text: a sentence, an item, a heading, a block.
        turn: pieces of turn 0 come first, then those of turn 1; ``NEVER`` comes for others alone.
        under: which piece of the document it stands under, by its place; -1 where it stands alone.
        goes_on: whether it goes on in the line of the piece before, where that is taken too.
    """

    text: str
    turn: int = 0
    under: int = -1
    goes_on: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A text in pieces.

    Attributes:
        name: of the file, or whatever it is.
        pieces: in its order.
    """

    name: str
    pieces: tuple[Piece, ...]


NEVER = -1  # the turn of a piece that is taken only for what stands under it
WORD = re.compile(r"[A-Za-z_][\w.\-/]{2,}")

Extracts = Mapping[str, tuple[str, ...]]  # lines, by the names of their documents


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What was taken of some documents.

    Attributes:
        lines: of each document of which anything was taken.
        tokens: what was reckoned for them.
    """

    lines: Extracts = field(default_factory=dict[str, tuple[str, ...]])
    tokens: int = 0


def documents_as_json(documents: Iterable[Document]) -> str:
    """Documents as text, for a cache."""
    return json.dumps(
        [[each.name, [astuple(piece) for piece in each.pieces]] for each in documents]
    )


def documents_from_json(text: str) -> tuple[Document, ...]:
    """What was written by ``documents_as_json``.

    Raises:
        ValueError: it was not.
    """
    try:
        return tuple(
            Document(
                name=name,
                pieces=tuple(
                    Piece(text=said, turn=turn, under=under, goes_on=goes_on)
                    for said, turn, under, goes_on in pieces
                ),
            )
            for name, pieces in json.loads(text)
        )
    except TypeError as error:
        raise ValueError("these are no documents") from error


def extracts(
    documents: Sequence[Document],
    *,
    room_tokens: int,
    count: CountText,
    words: frozenset[str] = frozenset(),
) -> Selection:
    """What of some documents has room.

    Args:
        documents: the more important first.
        room_tokens: what all lines may have, each with its end, in tokens.
        count: tokens of a text.
        words: what is asked for, in lower case; a piece that has one of them comes a turn earlier.

    """
    order = sorted(
        (turn_of(piece, words), i, at)
        for i, document in enumerate(documents)
        for at, piece in enumerate(document.pieces)
        if piece.turn != NEVER
    )
    taken: dict[int, set[int]] = {}
    left = room_tokens
    for _, i, at in order:
        already = taken.get(i, set())
        needed = {at, *above(documents[i].pieces, at)} - already
        texts = [documents[i].pieces[each].text for each in sorted(needed)]
        texts += [] if already else [documents[i].name]
        cost = sum(count(f"{line}\n") for text in texts for line in text.split("\n"))
        if cost <= left:
            left -= cost
            taken.setdefault(i, set()).update(needed)
    found = {documents[i].name: tuple(lines(documents[i], taken[i])) for i in sorted(taken)}
    return Selection(lines=found, tokens=room_tokens - left)


def turn_of(piece: Piece, words: frozenset[str]) -> int:
    """When a piece is taken; one with a word that is asked for a turn earlier."""
    if not piece.turn or not words:
        return piece.turn
    asked = any(word.lower() in words for word in WORD.findall(piece.text))
    return piece.turn - asked


def above(pieces: Sequence[Piece], at: int) -> set[int]:
    """The pieces under which one stands."""
    found: set[int] = set()
    at = pieces[at].under
    while at >= 0:
        found.add(at)
        at = pieces[at].under
    return found


def lines(document: Document, taken: set[int]) -> list[str]:
    """The pieces taken, as lines; a gap within a paragraph is marked."""
    found: list[str] = []
    last = -1
    for at in sorted(taken):
        piece = document.pieces[at]
        joins = piece.goes_on and found and same_paragraph(document.pieces, last, at)
        if joins:
            found[-1] += f" {piece.text}" if last == at - 1 else f" … {piece.text}"
        else:
            found += piece.text.split("\n")
        last = at
    return found


def same_paragraph(pieces: Sequence[Piece], before: int, at: int) -> bool:
    """Whether all pieces behind one up to another go on in its line."""
    return all(pieces[each].goes_on for each in range(before + 1, at + 1))
