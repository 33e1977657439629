"""The preamble: what stands behind the system prompt and is no message of the host's, such as a project's context.

Promise: pure. A preamble yields to what must stay, by whole parts: its first part says what it is, and nothing stands without
it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from autogen_context.messages.message import Message, Text
from autogen_context.messages.piece import Piece, Verbatim, Written
from autogen_context.view.decision import Decision
from autogen_context.view.decisions import Decisions
from autogen_context.view.notice import Notice

BETWEEN = "\n\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What is to stand behind the system prompt.

    Attributes:
        parts: the first says what it is, and nothing stands without it; of the others some may be left out.
        most_tokens: what it may have.
    """

    parts: tuple[Text, ...] = ()
    most_tokens: int = 0

    def fitted(self, room_tokens: int, *, count: Callable[[Message], int]) -> str:
        """The first part and as many of the others as have room; empty where no other has."""
        taken: list[str] = []
        for part in self.parts:
            if count(as_message(BETWEEN.join([*taken, part]))) <= room_tokens:
                taken.append(part)
            elif not taken:
                return ""
        return BETWEEN.join(taken) if len(taken) > 1 else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preamble:
    """What stands behind the system prompt, and what is to stand there next.

    Attributes:
        text: what stands there; empty where nothing does.
        head: the newest one.
        is_placed: whether the text is of it.
        is_told: whether it stands in front of a unit instead, since it came too late.
        since: what is no longer as it says.
    """

    text: Text = ""
    head: Head = field(default_factory=Head)
    is_placed: bool = False
    is_told: bool = False
    since: tuple[Notice, ...] = ()

    @property
    def is_offered(self) -> bool:
        """Whether there is a head, or one that is to go: a folder that is gone has nothing to tell."""
        return bool(self.head.parts or self.text)

    @property
    def waits(self) -> bool:
        """Whether there is a head that has no place yet."""
        return bool(self.head.parts) and not self.is_placed


def as_message(text: str) -> Message:
    """A text as the message that stands in front: the user's, since that role every chat template takes there."""
    return Message(role="user", text=text, own=True)


def placed(pieces: Sequence[Piece], preamble: Piece, *, at: int) -> tuple[Piece, ...]:
    """Pieces with another one in front of the host's message at a position, or of what is sent in its place."""
    for i, piece in enumerate(pieces):
        if isinstance(piece, Verbatim) and piece.start < at < piece.stop:
            parted = (
                Verbatim(start=piece.start, stop=at),
                preamble,
                Verbatim(start=at, stop=piece.stop),
            )
            return (*pieces[:i], *parted, *pieces[i + 1 :])
        stop = piece.stop if isinstance(piece, Verbatim) else (piece.index or 0) + 1
        if stop > at or (isinstance(piece, Written) and piece.index is None):
            return (*pieces[:i], preamble, *pieces[i:])
    return (*pieces, preamble)


def without_heads(
    decisions: Decisions, opening: str, *, count: Callable[[Message], int]
) -> Decisions:
    """Decisions without heads in front of their units."""

    def is_head(piece: Piece) -> bool:
        return isinstance(piece, Written) and piece.message.text.startswith(opening)

    def without(decision: Decision) -> Decision:
        gone = [p.message for p in decision.before if isinstance(p, Written) and is_head(p)]
        if not gone:
            return decision
        kept = tuple(piece for piece in decision.before if not is_head(piece))
        return replace(
            decision, before=kept, tokens_after=decision.tokens_after - sum(map(count, gone))
        )

    return Decisions(map(without, decisions))
