"""A text of people, as pieces: its beginning first, then the first words of each section, then the rest.

Promise: pure, linear. Sentences, items and blocks are whole; badges, images and rulers are no pieces.
"""

import re
from collections.abc import Iterator, Sequence

from autogen_context.compressor.passage import Passage, passages_of
from autogen_context.project.extract import NEVER, Document, Piece

MOST_CHARS = 60_000  # of a text, from its beginning
MOST_PIECE_CHARS = 1_200  # of one piece; what is longer is data
WORTHLESS = re.compile(
    r"\s*(?:\[?!\[|</?[a-zA-Z!][^>]*>\s*$|<!--|[=\-*_~|: ]{3,}$|\[[^\]]+\]: ?\S+$)"
)
OPENING_PIECES = 4  # of a document, without its heading
LAST = 3  # turn of what is shown, not said
TABLE_ROW = "|"
FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


def document_of(name: str, text: str, *, turn: int = 0) -> Document:
    """A text in pieces.

    Args:
        name: of its file.
        text: what it says; Markdown or plain.
        turn: of its first pieces; a document of less weight begins later.
    """
    body = FRONT_MATTER.sub("", text[:MOST_CHARS])
    if len(text) > MOST_CHARS:
        body = body.rpartition("\n")[0]
    passages = [each for each in passages_of(body) if is_worth(each)]
    return Document(name=name, pieces=tuple(pieces_of(passages, turn)))


def is_worth(passage: Passage) -> bool:
    """Whether a passage says something to a reader."""
    return len(passage.text) <= MOST_PIECE_CHARS and not WORTHLESS.match(passage.text)


def pieces_of(passages: Sequence[Passage], first_turn: int) -> Iterator[Piece]:
    """The passages with their turns."""
    heading, spoken, said = -1, 0, 0
    for at, passage in enumerate(passages):
        if passage.kind == "heading":
            heading, said = at, 0
            yield Piece(text=passage.text, turn=first_turn if at == 0 else NEVER)
            continue
        turn = 0 if spoken < OPENING_PIECES else 1 if said == 0 else 2
        turn = LAST if passage.kind == "block" else turn
        goes_on = at > 0 and follows(passages[at - 1], passage)
        spoken, said = spoken + 1, said + 1
        yield Piece(
            text=passage.lead + passage.text,
            turn=first_turn + turn,
            under=heading,
            goes_on=goes_on,
        )


def follows(before: Passage, passage: Passage) -> bool:
    """Whether a sentence stands in the paragraph of the one before."""
    together = before.section == passage.section and before.kind in {"sentence", "item"}
    return together and passage.kind == "sentence" and not passage.text.startswith(TABLE_ROW)
