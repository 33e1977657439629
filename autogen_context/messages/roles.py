"""Give models that insist on it alternating roles, and one system message.

Promise: every text stays, in its order; a call is never parted from its results; what follows later changes nothing
before the last message, so that between compactions the text that was sent is still a prefix of what is sent.

Neighbours of the same role are joined where both are plain text; otherwise a filler of the other role stands between.
Source: the chat templates of Mistral and Gemma, which raise on any other order (read 2026-11).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from autogen_context.messages.message import SYSTEM_ROLES, Message
from autogen_context.messages.piece import Piece, Verbatim, Written, coalesce

FILLER = "[…]"
BETWEEN = "\n\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleRules:
    """What a model insists on.

    Attributes:
        alternate: user and assistant in turn, the user first.
        single_system: one system message, the first.
    """

    alternate: bool = False
    single_system: bool = False

    def apply(self, pieces: Sequence[Piece], messages: Sequence[Message]) -> tuple[Piece, ...]:
        """The pieces as the model takes them; the same pieces where it insists on nothing."""
        if not (self.alternate or self.single_system):
            return tuple(pieces)
        rows = list(rows_of(pieces, messages))
        if self.single_system:
            rows = list(with_one_system(rows))
        if self.alternate:
            rows = list(alternating(rows))
        return coalesce(row.piece for row in rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One message that is sent, and the piece that it comes from."""

    piece: Piece
    message: Message

    @property
    def side(self) -> str:
        """Whose turn it is: results are the user's side, calls and answers the assistant's."""
        return self.message.role if self.message.role in SYSTEM_ROLES else self._speaker

    @property
    def _speaker(self) -> str:
        return "assistant" if self.message.role == "assistant" else "user"

    @property
    def is_plain(self) -> bool:
        """Whether there is nothing in it but text."""
        message = self.message
        return not (message.calls or message.results or message.images or message.extra)


def rows_of(pieces: Iterable[Piece], messages: Sequence[Message]) -> Iterator[Row]:
    """A row for each message."""
    for piece in pieces:
        if isinstance(piece, Written):
            yield Row(piece=piece, message=piece.message)
        else:
            for i in range(piece.start, piece.stop):
                yield Row(piece=Verbatim(start=i, stop=i + 1), message=messages[i])


def with_one_system(rows: Sequence[Row]) -> Iterator[Row]:
    """The leading system messages joined to one; later ones as messages of the user."""
    leading = 0
    while leading < len(rows) and rows[leading].message.role in SYSTEM_ROLES:
        leading += 1
    if leading:
        first, *rest = rows[:leading]
        for row in rest:
            first = joined(first, row)
        yield first
    for row in rows[leading:]:
        is_system = row.message.role in SYSTEM_ROLES
        yield as_written(row, replace(row.message, role="user")) if is_system else row


def alternating(rows: Iterable[Row]) -> Iterator[Row]:
    """The rows with neighbours of one side joined, or parted by a filler."""
    last: Row | None = None
    for row in rows:
        if row.side in SYSTEM_ROLES or within_a_step(last, row):
            yield from [last] if last else []
            last = row
        elif last is not None and last.side == row.side and last.is_plain and row.is_plain:
            last = joined(last, row)
        else:
            yield from [last] if last else []
            yield from fillers(last, row)
            last = row
    yield from [last] if last else []


def within_a_step(last: Row | None, row: Row) -> bool:
    """Whether a row is a result behind its call or behind another result."""
    return last is not None and bool(row.message.results)


def fillers(last: Row | None, row: Row) -> Iterator[Row]:
    """What must stand between two rows so that the sides alternate; the user begins."""
    before = "assistant" if last is None or last.side in SYSTEM_ROLES else last.side
    if row.side == before:
        role = "assistant" if row.side == "user" else "user"
        message = Message(role=role, text=FILLER, own=True)
        yield Row(piece=Written(message=message), message=message)


def joined(first: Row, second: Row) -> Row:
    """Two rows as one message."""
    message = replace(
        first.message,
        text=BETWEEN.join(text for text in (first.message.text, second.message.text) if text),
    )
    return as_written(first, message)


def as_written(row: Row, message: Message) -> Row:
    """A row with another message in the place of the same payload."""
    index = row.piece.index if isinstance(row.piece, Written) else row.piece.start
    return Row(piece=Written(message=message, index=index), message=message)
