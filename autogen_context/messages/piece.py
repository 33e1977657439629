"""What is sent: stretches of the host's own messages, and messages written anew; in the roles that a strict model takes.

Promise: pieces name the host's messages by position and hold none of its objects. With role rules every text stays, in its
order, a call is never parted from its results, and what follows later changes nothing before the last message.
Source of the rules: the chat templates of Mistral and Gemma, which raise on any other order (read 2026-11).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from operator import is_
from typing import NamedTuple

from autogen_context.messages.message import SYSTEM_ROLES, Message

FILLER = "[…]"
BETWEEN = "\n\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verbatim:
    """The host's messages from ``start`` up to but not including ``stop``, as they are."""

    start: int
    stop: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A message written anew: the host's message at ``index`` with other texts, or, without index, one of our own."""

    message: Message
    index: int | None = None


Piece = Verbatim | Written


def coalesce(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    """The same pieces with neighbouring stretches joined: as many pieces as there are interruptions."""
    joined: list[Piece] = []
    for piece in pieces:
        last = joined[-1] if joined else None
        if isinstance(piece, Verbatim) and isinstance(last, Verbatim) and last.stop == piece.start:
            joined[-1] = Verbatim(start=last.start, stop=piece.stop)
        else:
            joined.append(piece)
    return tuple(joined)


def messages_of(pieces: Iterable[Piece], messages: Sequence[Message]) -> list[Message]:
    """What the pieces say, as messages."""
    said: list[Message] = []
    for piece in pieces:
        if isinstance(piece, Verbatim):
            said.extend(messages[piece.start : piece.stop])
        else:
            said.append(piece.message)
    return said


def index_of(piece: Piece) -> int | None:
    """Which of the host's messages a piece stands for."""
    return piece.start if isinstance(piece, Verbatim) else piece.index


def same_at_front(known: Sequence[object], given: Sequence[object]) -> int:
    """How many objects at the front of both lists are the same ones."""
    if all(map(is_, known, given)):  # the usual case, and twice as fast
        return min(len(known), len(given))
    return sum(1 for _ in takewhile(bool, map(is_, known, given)))


def still_there(known: Sequence[object], now: Sequence[object]) -> int:
    """How many of the values that are known are still at the front: all where all are equal, else those that are the same."""
    if now[: len(known)] == known:  # the usual case, and four times as fast
        return len(known)
    return same_at_front(known, now)


def equal_at_front(known: tuple[object, ...], given: tuple[object, ...]) -> int:
    """How many values at the front of both tuples are equal; quickest where that is all but a few."""
    most = min(len(known), len(given))
    step = 1
    while step < most and known[: most - step] != given[: most - step]:
        most, step = most - step, 2 * step
    least = max(0, most - step)
    return next((at for at in range(least, most) if known[at] != given[at]), most)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleRules:
    """What a model insists on: user and assistant in turn, the user first; one system message, the first."""

    alternate: bool = False
    single_system: bool = False

    def apply(self, pieces: Sequence[Piece], messages: Sequence[Message]) -> tuple[Piece, ...]:
        """The pieces as the model takes them: plain neighbours joined, others parted by a filler; the same without rules."""
        if not (self.alternate or self.single_system):
            return tuple(pieces)
        rows: list[Row] = []
        for piece in pieces:
            if isinstance(piece, Written):
                rows.append(Row(piece, piece.message))
            else:
                places = range(piece.start, piece.stop)
                rows += (Row(Verbatim(start=i, stop=i + 1), messages[i]) for i in places)
        if self.single_system:
            rows = list(with_one_system(rows))
        if self.alternate:
            rows = list(alternating(rows))
        return coalesce(row.piece for row in rows)


class Row(NamedTuple):
    """One message that is sent, and the piece that it comes from."""

    piece: Piece
    message: Message

    @property
    def side(self) -> str:
        """Whose turn it is: results are the user's side, calls and answers the assistant's."""
        role = self.message.role
        return role if role in SYSTEM_ROLES or role == "assistant" else "user"

    @property
    def is_plain(self) -> bool:
        """Whether there is nothing in it but text."""
        message = self.message
        return not (message.calls or message.results or message.images or message.extra)

    def as_written(self, message: Message) -> "Row":
        """The row with another message in the place of the same payload."""
        return Row(Written(message=message, index=index_of(self.piece)), message)

    def joined(self, other: "Row") -> "Row":
        """Two rows as one message."""
        texts = (self.message.text, other.message.text)
        return self.as_written(replace(self.message, text=BETWEEN.join(filter(None, texts))))


def with_one_system(rows: Sequence[Row]) -> Iterator[Row]:
    """The leading system messages joined to one; later ones as messages of the user."""
    leading = len(list(takewhile(lambda row: row.message.role in SYSTEM_ROLES, rows)))
    if leading:
        first = rows[0]
        for row in rows[1:leading]:
            first = first.joined(row)
        yield first
    for row in rows[leading:]:
        is_system = row.message.role in SYSTEM_ROLES
        yield row.as_written(replace(row.message, role="user")) if is_system else row


def alternating(rows: Iterable[Row]) -> Iterator[Row]:
    """The rows with neighbours of one side joined, or parted by a filler; the user begins."""
    last: Row | None = None
    for row in rows:
        in_step = last is not None and bool(
            row.message.results
        )  # behind its call, or another result
        if last is not None:
            same = last.side == row.side not in SYSTEM_ROLES
            if same and last.is_plain and row.is_plain and not in_step:
                last = last.joined(row)
                continue
            yield last
        before = "assistant" if last is None or last.side in SYSTEM_ROLES else last.side
        if row.side == before and not in_step:
            role = "assistant" if before == "user" else "user"
            filler = Message(role=role, text=FILLER, own=True)
            yield Row(Written(message=filler), filler)
        last = row
    if last is not None:
        yield last
