"""The values of a plan: candidate units with their tokens, the decision on each, and an immutable sequence of decisions.

Promise: values only. A decision names positions in the host's list and contains the pieces sent for them. Extending a
sequence costs time for the new decisions only and shares the rest; units that are still sent are found without scanning
dropped ones.
"""

# ruff: noqa: SLF001 - private attributes of other Decisions

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal, overload

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema
from typing_extensions import override

from autogen_context.messages.message import Message, Text, content_digest
from autogen_context.messages.piece import Piece, Verbatim, Written
from autogen_context.messages.segment import Unit, as_it_came

Action = Literal["keep", "repair", "reduce", "shorten", "drop"]
CHUNK = 64  # decisions per shared chunk


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A unit with its token count, as the planner sees it."""

    unit: Unit
    tokens: int
    repairs: tuple[Piece, ...] = ()  # sent instead of the messages if the unit arrived incomplete

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


class Decisions(Sequence[Decision]):
    """An immutable sequence of decisions, one per unit, oldest first."""

    __slots__ = (
        "_full",
        "_line",
        "_live",
        "_live_stop",
        "_open",
        "_units",
        "hidden",
        "last",
        "tokens",
    )

    def __init__(self, decisions: Iterable[Decision] = ()) -> None:
        settled = list(decisions)
        self.tokens = sum(decision.tokens_after for decision in settled)
        self.hidden = sum(decision.hides for decision in settled)
        self.last = settled.pop() if settled else None  # the decision on the newest unit
        self._units = len(settled)  # without the newest
        stop = self._units - self._units % CHUNK
        self._full = tuple(tuple(settled[at : at + CHUNK]) for at in range(0, stop, CHUNK))
        self._open = settled[stop:]  # shared with other sequences; append only
        self._line = object()  # identity shared by all sequences that only extend this one
        # Units sent, among the first ``_live_stop``; later units may all be sent.
        self._live = tuple(i for i, decision in enumerate(settled) if decision.sent)
        self._live_stop = self._units

    @property
    def live(self) -> list[int]:
        """Indices of the units that may be sent, ascending; no piece of any other unit is sent."""
        return [*self._live, *range(self._live_stop, len(self))]

    @property
    def stop(self) -> int:
        """Number of host messages that the decisions cover."""
        return self.last.stop if self.last else 0

    def extended(self, decision: Decision) -> "Decisions":
        """Return the sequence with one decision appended."""
        if self.last is None:
            return Decisions([decision])
        made, own = self._made(), self._units % CHUNK
        made.last = decision
        made.tokens += decision.tokens_after
        made.hidden += decision.hides
        if len(self._open) != own:  # another sequence has extended the shared chunk
            made._open, made._line = self._open[:own], object()
        made._open.append(self.last)
        made._units += 1
        if len(made._open) == CHUNK:
            made._full, made._open = (*self._full, tuple(made._open)), []
        return made

    def changed(self, changes: Mapping[int, Decision]) -> "Decisions":
        """Return the sequence with the decisions at some indices replaced."""
        if not changes:
            return self
        made = self._made()
        chunks = [*self._full, self._open[: self._units % CHUNK]]
        copies: dict[int, list[Decision]] = {}
        for i, decision in changes.items():
            before = self[i]
            made.tokens += decision.tokens_after - before.tokens_after
            made.hidden += decision.hides - before.hides
            if i == self._units:
                made.last = decision
                continue
            chunk = i // CHUNK
            if chunk not in copies:
                copies[chunk] = list(chunks[chunk])
            copies[chunk][i % CHUNK] = decision
        for chunk, copy in copies.items():
            chunks[chunk] = copy
        made._full, made._open = tuple(map(tuple, chunks[:-1])), list(chunks[-1])
        made._line, made._live_stop = object(), self._units
        live = sorted({*self.live, *changes} - {self._units})
        made._live = tuple(i for i in live if made[i].sent)
        return made

    def with_last(self, decision: Decision) -> "Decisions":
        """Return the sequence with the newest decision replaced; raise `IndexError` if it is empty."""
        if self.last is None:
            raise IndexError("there is no unit yet")
        made = self._made()
        made.last = decision
        made.tokens += decision.tokens_after - self.last.tokens_after
        made.hidden += decision.hides - self.last.hides
        return made

    def until(self, messages: int) -> "Decisions":
        """Return the decisions on units within the host's first ``messages`` messages."""
        units = len(self)
        while units and self[units - 1].stop > messages:
            units -= 1
        return self if units == len(self) else Decisions(self[:units])

    def continues(self, other: "Decisions") -> bool:
        """Return True if this sequence only extends another one's settled decisions; takes constant time."""
        return self._line is other._line and self._units >= other._units

    def settled_since(self, other: "Decisions") -> list[Decision] | None:
        """Return the settled decisions added since another sequence; ``None`` if this one does not continue it."""
        if not self.continues(other):
            return None
        start, full = other._units, len(self._full) * CHUNK
        if start >= full:
            return self._open[start - full : self._units - full]
        return [self[i] for i in range(start, self._units)]

    @override
    def __len__(self) -> int:
        return self._units + (self.last is not None)

    @overload
    def __getitem__(self, index: int) -> Decision: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Decision, ...]: ...
    @override
    def __getitem__(self, index: int | slice) -> Decision | tuple[Decision, ...]:
        if isinstance(index, slice):
            return tuple([self[i] for i in range(*index.indices(len(self)))])
        at = index + len(self) if index < 0 else index
        if 0 <= at < self._units:
            chunk = at // CHUNK
            return (
                self._full[chunk][at % CHUNK] if chunk < len(self._full) else self._open[at % CHUNK]
            )
        if at == self._units and self.last is not None:
            return self.last
        raise IndexError(f"decision {index} of {len(self)}")

    @override
    def __iter__(self) -> Iterator[Decision]:
        newest = self._open[: self._units % CHUNK]
        return chain(*self._full, newest, () if self.last is None else (self.last,))

    @override
    def __reversed__(self) -> Iterator[Decision]:
        if self.last is not None:
            yield self.last
        yield from reversed(self._open[: self._units % CHUNK])
        for chunk in reversed(self._full):
            yield from reversed(chunk)

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
        return core_schema.no_info_after_validator_function(
            cls,
            handler(tuple[Decision, ...]),
            serialization=core_schema.plain_serializer_function_ser_schema(
                tuple, return_schema=handler(tuple[Decision, ...])
            ),
        )

    def _made(self) -> "Decisions":
        """Return a shallow copy."""
        made = Decisions.__new__(Decisions)
        made._full, made._open, made._units = self._full, self._open, self._units
        made._line, made._live, made._live_stop = self._line, self._live, self._live_stop
        made.last, made.tokens, made.hidden = self.last, self.tokens, self.hidden
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
    return Decision(
        start=candidate.unit.start,
        stop=candidate.unit.stop,
        action=action,
        reason=reason,
        tokens_before=candidate.tokens,
        tokens_after=tokens,
        pieces=pieces,
        handle=handle_of(candidate.unit),
        rank=rank,
    )


def said_by(pieces: Iterable[Piece], unit: Unit) -> list[Message]:
    """Return the messages of a unit's pieces, of which there is one per message."""
    return [
        piece.message if isinstance(piece, Written) else unit.messages[piece.start - unit.start]
        for piece in pieces
    ]


def handle_of(unit: Unit) -> str:
    """Return the key of a unit's original, which depends only on its content."""
    return content_digest(repr(unit.messages))[:6].hex()


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
