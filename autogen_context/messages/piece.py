"""What is sent: stretches of the host's own messages, and messages that were written anew.

Promise: pieces are data. They name the host's messages by position and hold none of its objects, so the same pieces
over an equal list give an equal result.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from autogen_context.messages.message import Message


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
