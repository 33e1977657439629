"""Pieces of a request: ranges of the host's messages, and rewritten messages; role rules of strict chat templates.

Promise: pieces refer to the host's messages by position and hold none of its objects. With role rules every text is kept in
order, calls stay with their results, and later messages change nothing before the last message.
Source of the rules: the chat templates of Mistral and Gemma, which raise on any other order (read 2026-11).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, takewhile
from operator import is_

from autogen_context.messages.message import MODEL_ROLES, SYSTEM_ROLES, Message

FILLER = "[…]"
BETWEEN = "\n\n"
LINES_ABOVE = " lines as above …]"  # ends the mark of lines that an earlier message has


@dataclass(frozen=True, slots=True, kw_only=True)
class Verbatim:
    """The host's messages from ``start`` to before ``stop``, unchanged."""

    start: int
    stop: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A rewritten message: the host's message at ``index`` with other texts, or without index one of the engine."""

    message: Message
    index: int | None = None


Piece = Verbatim | Written


def coalesce(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    """Merge adjacent ranges."""
    found: list[Piece] = []
    for piece in pieces:
        last = found[-1] if found else None
        if isinstance(piece, Verbatim) and isinstance(last, Verbatim) and last.stop == piece.start:
            found[-1] = Verbatim(start=last.start, stop=piece.stop)
        else:
            found.append(piece)
    return tuple(found)


def messages_of(pieces: Iterable[Piece], messages: Sequence[Message]) -> list[Message]:
    """Return the messages of the pieces."""
    said: list[Message] = []
    for piece in pieces:
        if isinstance(piece, Verbatim):
            said.extend(messages[piece.start : piece.stop])
        else:
            said.append(piece.message)
    return said


def index_of(piece: Piece) -> int | None:
    """Return the position of the host's message that a piece represents, or ``None``."""
    return piece.start if isinstance(piece, Verbatim) else piece.index


def shifted(piece: Piece, by: int) -> Piece:
    """Return the piece of messages that stand so many positions further on."""
    if isinstance(piece, Verbatim):
        return Verbatim(start=piece.start + by, stop=piece.stop + by)
    return piece if piece.index is None else replace(piece, index=piece.index + by)


def same_prefix(known: Sequence[object], given: Sequence[object]) -> int:
    """Return the length of the common prefix by identity."""
    if all(map(is_, known, given)):  # the usual case, twice as fast
        return min(len(known), len(given))
    return sum(1 for _ in takewhile(bool, map(is_, known, given)))


def equal_prefix(known: tuple[object, ...], given: tuple[object, ...]) -> int:
    """Return the length of the common prefix by equality; fastest if only the end differs."""
    most = min(len(known), len(given))
    step = 1
    while step < most and known[: most - step] != given[: most - step]:
        most, step = most - step, 2 * step
    at = max(0, most - step)
    while at < most and known[at] == given[at]:
        at += 1
    return at


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleRules:
    """Rules of a chat template: alternating user and assistant, user first; a single system message at the front."""

    alternate: bool = False
    single_system: bool = False

    def apply(self, pieces: Sequence[Piece], messages: Sequence[Message]) -> tuple[Piece, ...]:
        """Apply the rules: join plain neighbours of one role, separate others by a filler message."""
        if not (self.alternate or self.single_system):
            return tuple(pieces)
        rows: Iterable[Written] = chain.from_iterable(
            [piece]
            if isinstance(piece, Written)
            else (Written(message=messages[i], index=i) for i in range(piece.start, piece.stop))
            for piece in pieces
        )
        if self.single_system:
            rows = with_one_system(list(rows))
        if self.alternate:
            rows = alternating(rows)
        return coalesce(
            row
            if row.index is None or row.message is not messages[row.index]
            else Verbatim(start=row.index, stop=row.index + 1)
            for row in rows
        )


def with_one_system(rows: Sequence[Written]) -> Iterator[Written]:
    """Join the leading system messages; later ones become user messages."""
    leading = list(takewhile(lambda row: row.message.role in SYSTEM_ROLES, rows))
    if leading:
        yield joined(leading)
    for row in rows[len(leading) :]:
        is_system = row.message.role in SYSTEM_ROLES
        yield replace(row, message=replace(row.message, role="user")) if is_system else row


def alternating(rows: Iterable[Written]) -> Iterator[Written]:
    """Join or separate neighbours of the same side, and begin with the user."""
    run: list[Written] = []  # neighbours that become one
    for row in rows:
        side, before = side_of(row.message), "assistant"
        in_step = run and row.message.results  # follows its call, or another result
        if run:
            before = side_of(run[0].message)
            if side == before and is_plain(run[0].message) and is_plain(row.message):
                run.append(row)
                continue
            yield joined(run)
            before = "assistant" if before == "system" else before
        if side == before and not in_step:
            role = "assistant" if before == "user" else "user"
            yield Written(message=Message(role=role, text=FILLER, own=True))
        run = [row]
    if run:
        yield joined(run)


def side_of(message: Message) -> str:
    """Return the side of a message: tool results count as user, calls and answers as assistant."""
    if message.role in SYSTEM_ROLES:
        return "system"
    return "assistant" if message.role in MODEL_ROLES else "user"


def is_plain(message: Message) -> bool:
    """Whether a message may be joined with others: text only, and no system message."""
    is_more = message.calls or message.results or message.images or message.extra
    return not is_more and message.role not in SYSTEM_ROLES


def joined(rows: Sequence[Written]) -> Written:
    """Join messages, at least one, in the place of the first; the same object if it is alone."""
    first, *others = rows
    if not others:
        return first
    text = BETWEEN.join(filter(None, (row.message.text for row in rows)))
    return replace(first, message=replace(first.message, text=text))
