"""What a plan is made of: units with their cost, and what became of them.

Promise: values only. A decision names positions in the host's list and holds what is sent for them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from typing_extensions import override

from autogen_context.messages.message import Message, Text, content_digest
from autogen_context.messages.piece import Piece, Written
from autogen_context.messages.segment import Unit, as_it_came

Action = Literal["keep", "repair", "reduce", "shorten", "drop"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A unit as the plan sees it."""

    unit: Unit
    tokens: int
    repairs: tuple[Piece, ...] = ()  # what is sent in its place, where it came in broken

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """What is sent of it as long as nothing is left out."""
        return self.repairs or as_it_came(self.unit)

    @property
    def said(self) -> list[Message]:
        """The same as messages."""
        messages = self.unit.messages
        if not self.repairs:
            return list(messages)
        return [
            piece.message if isinstance(piece, Written) else messages[piece.start - self.unit.start]
            for piece in self.repairs
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank:
    """How a unit stood when a compaction chose by score.

    Attributes:
        score: of its best part, for each token, as it was compared.
        place: by that score, 1 for the highest.
        among: how many units stood for choice.
    """

    score: float
    place: int
    among: int

    @override
    def __str__(self) -> str:
        """In words."""
        return f"{self.score:.3g} a token, place {self.place} of {self.among}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What became of a unit, and why.

    Attributes:
        start: position of its first message in the host's list.
        stop: position after its last message.
        action: keep, repair, reduce (without loss, on arrival), shorten or drop.
        reason: why, in words.
        tokens_before: what the unit cost as it came in.
        tokens_after: what it costs now.
        pieces: what is sent for it; for the first of the dropped, a notice.
        handle: the key of the original in its store, where it was reduced, shortened or dropped.
        before: what is sent in front of it: earlier exchanges that it asks for, notices. Its tokens count as the unit's.
        rank: how it stood when a compaction chose by score; ``None`` where it was not compared.
    """

    start: int
    stop: int
    action: Action
    reason: Text
    tokens_before: int
    tokens_after: int
    pieces: tuple[Piece, ...]
    handle: Text = ""
    before: tuple[Piece, ...] = ()
    rank: Rank | None = None

    @property
    def hides(self) -> bool:
        """Whether something of it is out of sight."""
        return self.action in ("shorten", "drop")

    @property
    def sent(self) -> tuple[Piece, ...]:
        """All that is sent for it."""
        return (*self.before, *self.pieces) if self.before else self.pieces


def kept(candidate: Candidate, reason: str) -> Decision:
    """The decision to leave a unit as it is."""
    return Decision(
        start=candidate.unit.start,
        stop=candidate.unit.stop,
        action="repair" if candidate.repairs else "keep",
        reason=reason,
        tokens_before=candidate.tokens,
        tokens_after=candidate.tokens,
        pieces=candidate.pieces,
    )


def replaced(
    candidate: Candidate, action: Action, reason: str, pieces: tuple[Piece, ...], tokens: int
) -> Decision:
    """The decision to send other pieces, ``tokens`` in all, for a unit, or none; its original is kept."""
    return Decision(
        start=candidate.unit.start,
        stop=candidate.unit.stop,
        action=action,
        reason=reason,
        tokens_before=candidate.tokens,
        tokens_after=tokens,
        pieces=pieces,
        handle=handle_of(candidate.unit),
    )


def handle_of(unit: Unit) -> str:
    """The key under which a unit's original is kept: it depends on the content alone."""
    return content_digest(repr(unit.messages))[:6].hex()


def tokens_of(decisions: Mapping[int, Decision]) -> int:
    """What the units have together after these decisions."""
    return sum(decision.tokens_after for decision in decisions.values())
