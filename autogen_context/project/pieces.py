"""Texts of people in whole pieces, and the best of them that have room: beginnings first, then the first words of each section.

Promise: pure, linear. Pieces are sentences, items, headings and blocks; none is ever cut, and none stands without what it
stands under. What is taken fits the room with the lines that name its documents, in the order of the documents.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from autogen_context.compressor.passage import Passage, passages_of

CountText = Callable[[str], int]
Extracts = Mapping[str, tuple[str, ...]]  # lines, by the names of their documents

MOST_CHARS = 60_000  # of a text, from its beginning
MOST_PIECE_CHARS = 1_200  # of one piece; what is longer is data
OPENING_PIECES = 4  # of a document, without its heading
SHOWN = 3  # turn of what is shown, not said
NEVER = -1  # the turn of a piece that is taken only for what stands under it
TABLE_ROW = "|"
WORTHLESS = re.compile(
    r"\s*(?:\[?!\[|</?[a-zA-Z!][^>]*>\s*$|<!--|[=\-*_~|: ]{3,}$|\[[^\]]+\]: ?\S+$)"
)
FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
WORD = re.compile(r"[A-Za-z_][\w.\-/]{2,}")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What was taken of some documents.

    Attributes:
        lines: of each document of which anything was taken.
        tokens: what was reckoned for them.
    """

    lines: Extracts = field(default_factory=dict[str, tuple[str, ...]])
    tokens: int = 0


def document_of(name: str, text: str, *, turn: int = 0) -> Document:
    """A text, Markdown or plain, in pieces.

    Args:
        name: of its file.
        text: what it says.
        turn: of its first pieces; a document of less weight begins later.
    """
    body = FRONT_MATTER.sub("", text[:MOST_CHARS])
    if len(text) > MOST_CHARS:
        body = body.rpartition("\n")[0]
    return Document(name=name, pieces=tuple(pieces_of(worthy(body), turn)))


def worthy(text: str) -> list[Passage]:
    """The passages of a text that say something to a reader: no badge, image or ruler, no data."""
    passages = (each for each in passages_of(text) if len(each.text) <= MOST_PIECE_CHARS)
    return [each for each in passages if not WORTHLESS.match(each.text)]


def pieces_of(passages: Sequence[Passage], first_turn: int) -> Iterator[Piece]:
    """The passages with their turns."""
    heading, spoken, said = -1, 0, 0
    for at, passage in enumerate(passages):
        if passage.kind == "heading":
            heading, said = at, 0
            yield Piece(text=passage.text, turn=first_turn if at == 0 else NEVER)
            continue
        turn = 0 if spoken < OPENING_PIECES else 1 if said == 0 else 2
        turn = first_turn + (SHOWN if passage.kind == "block" else turn)
        goes_on = at > 0 and follows(passages[at - 1], passage)
        spoken, said = spoken + 1, said + 1
        yield Piece(text=passage.lead + passage.text, turn=turn, under=heading, goes_on=goes_on)


def follows(before: Passage, passage: Passage) -> bool:
    """Whether a sentence stands in the paragraph of the one before."""
    together = before.section == passage.section and before.kind in {"sentence", "item"}
    return together and passage.kind == "sentence" and not passage.text.startswith(TABLE_ROW)


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
        pieces, already = documents[i].pieces, taken.get(i, set())
        needed = {at, *above(pieces, at)} - already
        texts = [pieces[each].text for each in needed] + ([] if already else [documents[i].name])
        cost = sum(count(f"{line}\n") for text in texts for line in text.split("\n"))
        if cost <= left:
            left -= cost
            taken.setdefault(i, set()).update(needed)
    found = {documents[i].name: tuple(lines_of(documents[i], taken[i])) for i in sorted(taken)}
    return Selection(lines=found, tokens=room_tokens - left)


def turn_of(piece: Piece, words: frozenset[str]) -> int:
    """When a piece is taken; one with a word that is asked for a turn earlier."""
    asked = piece.turn and words and not words.isdisjoint(WORD.findall(piece.text.lower()))
    return piece.turn - bool(asked)


def above(pieces: Sequence[Piece], at: int) -> Iterator[int]:
    """The pieces under which one stands."""
    while (at := pieces[at].under) >= 0:
        yield at


def lines_of(document: Document, taken: set[int]) -> list[str]:
    """The pieces taken, as lines; a gap within a paragraph is marked."""
    found: list[str] = []
    last = -1
    for at in sorted(taken):
        between = document.pieces[last + 1 : at + 1]
        if found and all(piece.goes_on for piece in between):
            found[-1] += f"{' ' if len(between) == 1 else ' … '}{document.pieces[at].text}"
        else:
            found += document.pieces[at].text.split("\n")
        last = at
    return found
