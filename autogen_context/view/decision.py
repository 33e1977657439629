"""The values of a plan: candidate units with their tokens, the decision on each, and an immutable sequence of decisions.

Promise: values only. A decision names positions in the host's list and contains the pieces sent for them. Extending a
sequence costs time for the new decisions only and shares the rest; units that are still sent are found without scanning
dropped ones.
"""

# ruff: noqa: SLF001 - private attributes of other Decisions

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Literal, overload

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema
from typing_extensions import override

from autogen_context.messages.message import Message, Text, handle_of
from autogen_context.messages.piece import Piece, Verbatim, Written, shifted
from autogen_context.messages.segment import Unit, as_it_came

Action = Literal["keep", "repair", "reduce", "shorten", "drop"]
CHUNK = 64  # decisions per shared chunk


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A unit with its token count, as the planner sees it."""

    unit: Unit
    tokens: int
    repairs: tuple[Piece, ...] = ()  # sent instead of the messages if the unit arrived incomplete
    handle_key: bytes = field(default=b"", repr=False)

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """Pieces of the whole unit, repaired if necessary."""
        return self.repairs or as_it_came(self.unit)

    @property
    def said(self) -> Sequence[Message]:
        """The same as ``pieces``, as messages."""
        return said_by(self.repairs, self.unit) if self.repairs else self.unit.messages


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank:
    """Rank of a unit in a compaction that selected by score.

    Attributes:
        score: score per token of its best part, as compared.
        place: rank by that score, 1 for the highest.
        among: number of units compared.
    """

    score: float
    place: int
    among: int

    @override
    def __str__(self) -> str:
        """Return the rank in words."""
        return f"{self.score:.3g} a token, place {self.place} of {self.among}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The decision on a unit, with its reason.

    Attributes:
        start: position of its first message in the host's list.
        stop: position after its last message.
        action: keep, repair, reduce (without loss, on arrival), shorten or drop.
        reason: the reason in words.
        tokens_before: tokens of the unit as it arrived.
        tokens_after: tokens of the unit as it is sent.
        pieces: pieces sent for it; for the first dropped unit, a notice.
        handle: key of the original in its store, if the unit was reduced, shortened or dropped.
        before: pieces sent before it: retrieved exchanges, notices. Their tokens count as the unit's.
        rank: rank in the compaction that selected by score; ``None`` if it was not compared.
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
        """True if part of the unit is no longer sent."""
        return self.action in ("shorten", "drop")

    @property
    def sent(self) -> tuple[Piece, ...]:
        """All pieces sent for it, with those before it."""
        return (*self.before, *self.pieces) if self.before else self.pieces


def moved(decision: Decision, by: int) -> Decision:
    """Return the decision on a unit that stands so many messages further on in the host's list."""
    if not by:
        return decision
    return replace(
        decision,
        start=decision.start + by,
        stop=decision.stop + by,
        pieces=tuple([shifted(piece, by) for piece in decision.pieces]),
        before=tuple([shifted(piece, by) for piece in decision.before]),
    )


class Decisions(Sequence[Decision]):
    """An immutable sequence of decisions, one per unit, oldest first; sequences share their chunks."""

    __slots__ = ("_full", "_line", "_live", "_live_stop", "_open", "hidden", "last", "tokens")

    def __init__(self, decisions: Iterable[Decision] = ()) -> None:
        made = tuple(decisions)
        self.tokens = sum(decision.tokens_after for decision in made)
        self.hidden = sum(decision.hides for decision in made)
        chunks = [made[at : at + CHUNK] for at in range(0, len(made), CHUNK)] or [()]
        self._full, self._open = tuple(chunks[:-1]), chunks[-1]
        self.last = made[-1] if made else None  # the decision on the newest unit
        self._line = object()  # identity shared by all sequences that only extend this one
        # Units sent, among the first ``_live_stop``; later units may all be sent.
        self._live_stop = max(0, len(made) - 1)
        self._live = tuple(i for i in range(self._live_stop) if made[i].sent)

    @property
    def live(self) -> list[int]:
        """Indices of the units that may be sent, ascending; no piece of any other unit is sent."""
        return [*self._live, *range(self._live_stop, len(self))]

    @property
    def stop(self) -> int:
        """Number of host messages that the decisions cover."""
        return self.last.stop if self.last else 0

    def unit_at(self, position: int) -> int:
        """Return the index of the unit that has the host's message at a position."""
        return bisect_right(self, position, key=lambda decision: decision.start) - 1

    def extended(self, decision: Decision) -> "Decisions":
        """Return the sequence with one decision appended."""
        if len(self._open) < CHUNK:
            made = self._with(self._full, (*self._open, decision))
        else:
            made = self._with((*self._full, self._open), (decision,))
        made.tokens += decision.tokens_after
        made.hidden += decision.hides
        return made

    def with_last(self, decision: Decision) -> "Decisions":
        """Return the sequence with the newest decision replaced; raise `IndexError` if it is empty."""
        last, made = self[-1], self._with(self._full, (*self._open[:-1], decision))
        made.tokens += decision.tokens_after - last.tokens_after
        made.hidden += decision.hides - last.hides
        return made

    def changed(self, changes: Mapping[int, Decision]) -> "Decisions":
        """Return the sequence with the decisions at some indices replaced."""
        if not changes:
            return self
        chunks = [*self._full, self._open]
        copies = {i // CHUNK: list(chunks[i // CHUNK]) for i in changes}
        for i, decision in changes.items():
            copies[i // CHUNK][i % CHUNK] = decision
        for at, copy in copies.items():
            chunks[at] = tuple(copy)
        made = self._with(tuple(chunks[:-1]), chunks[-1])
        for i, decision in changes.items():
            made.tokens += decision.tokens_after - self[i].tokens_after
            made.hidden += decision.hides - self[i].hides
        made._line, made._live_stop = object(), len(self) - 1
        live = sorted({*self.live, *changes} - {made._live_stop})
        made._live = tuple(i for i in live if made[i].sent)
        return made

    def until(self, messages: int) -> "Decisions":
        """Return the decisions on units within the host's first ``messages`` messages."""
        units = len(self)
        while units and self[units - 1].stop > messages:
            units -= 1
        return self if units == len(self) else Decisions(self[:units])

    def continues(self, other: "Decisions") -> bool:
        """Return True if this sequence only extends another one's decisions, but for the newest of them."""
        full, settled = len(other._full), other._open[:-1]
        if self._line is not other._line:
            return False
        if (len(self._full), len(self._open)) < (full, len(other._open)):
            return False
        if full and self._full[full - 1] is not other._full[full - 1]:
            return False  # both extend a third one, each in its own way
        chunk = self._full[full] if full < len(self._full) else self._open
        return chunk[: len(settled)] == settled

    def settled_since(self, other: "Decisions") -> list[Decision] | None:
        """Return the settled decisions added since another sequence; ``None`` if this one does not continue it."""
        if not self.continues(other):
            return None
        chunks = chain(*self._full[len(other._full) :], self._open)
        return list(chunks)[max(0, len(other._open) - 1) : -1]

    @override
    def __len__(self) -> int:
        return CHUNK * len(self._full) + len(self._open)

    @overload
    def __getitem__(self, index: int) -> Decision: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Decision, ...]: ...
    @override
    def __getitem__(self, index: int | slice) -> Decision | tuple[Decision, ...]:
        units = CHUNK * len(self._full) + len(self._open)
        if isinstance(index, slice):
            return tuple([self[i] for i in range(*index.indices(units))])
        at = index + units if index < 0 else index
        if not 0 <= at < units:
            raise IndexError(f"decision {index} of {units}")
        chunk = at // CHUNK
        return (self._full[chunk] if chunk < len(self._full) else self._open)[at % CHUNK]

    @override
    def __iter__(self) -> Iterator[Decision]:
        return chain(*self._full, self._open)

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Decisions) and tuple(self) == tuple(other)

    @override
    def __hash__(self) -> int:
        return hash((len(self), self.tokens, self.last))

    @classmethod
    def __get_pydantic_core_schema__(
        cls, _source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Serialize as the list of decisions."""
        decisions = handler(tuple[Decision, ...])
        return core_schema.no_info_after_validator_function(
            cls,
            decisions,
            serialization=core_schema.plain_serializer_function_ser_schema(
                tuple, return_schema=decisions
            ),
        )

    def _with(
        self, full: tuple[tuple[Decision, ...], ...], newest: tuple[Decision, ...]
    ) -> "Decisions":
        """Return a copy with other chunks; the caller corrects its sums."""
        made = Decisions.__new__(Decisions)
        made._full, made._open, made.last, made._line = full, newest, newest[-1], self._line
        made._live, made._live_stop = self._live, self._live_stop
        made.tokens, made.hidden = self.tokens, self.hidden
        return made


def kept(candidate: Candidate, reason: str) -> Decision:
    """Return the decision to send a unit whole."""
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
    candidate: Candidate,
    action: Action,
    reason: str,
    pieces: tuple[Piece, ...],
    tokens: int,
    rank: Rank | None = None,
) -> Decision:
    """Return the decision to send other pieces, or none, with ``tokens`` in total; the original is kept."""
    return replace(
        kept(candidate, reason),
        action=action,
        pieces=pieces,
        tokens_after=tokens,
        handle=handle_of(candidate.unit.messages, key=candidate.handle_key),
        rank=rank,
    )


def said_by(pieces: Iterable[Piece], unit: Unit) -> list[Message]:
    """Return the messages of a unit's pieces, of which there is one per message."""
    return [
        piece.message if isinstance(piece, Written) else unit.messages[piece.start - unit.start]
        for piece in pieces
    ]


def tokens_of(decisions: Mapping[int, Decision]) -> int:
    """Return the total tokens after these decisions."""
    return sum(decision.tokens_after for decision in decisions.values())


def faults_of_decisions(decisions: Iterable[Decision], *, known: int) -> Iterator[str]:
    """Yield faults: gaps, units out of order or beyond ``known`` messages, messages sent twice or of another unit."""
    stop = 0
    for decision in decisions:
        if decision.start != stop or decision.stop <= stop:
            yield f"the unit at {decision.start} to {decision.stop} stands behind {stop}"
        next_position = decision.start
        for piece in decision.pieces:
            if isinstance(piece, Verbatim):
                first, behind = piece.start, piece.stop
            elif piece.index is not None:
                first, behind = piece.index, piece.index + 1
            else:
                continue
            if not next_position <= first < behind <= decision.stop:
                yield f"the unit at {decision.start} sends a message of others, twice, or out of order"
            next_position = behind
        stop = decision.stop
    if stop > known:
        yield f"{stop} messages are decided, and there are {known}"
