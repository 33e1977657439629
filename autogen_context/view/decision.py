"""The values of a plan: candidate units with their tokens, the decision on each, and an immutable sequence of decisions.

Promise: values only. A decision names positions in the host's list and contains the pieces sent for them. Extending a
sequence costs time for the new decisions only and shares the rest; units that are still sent are found without scanning
dropped ones.
"""

# ruff: noqa: SLF001 - private attributes of other Decisions

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import chain, islice
from typing import Literal, overload

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema
from typing_extensions import override

from autogen_context.messages.message import Message, Text, handle_of
from autogen_context.messages.piece import Piece, Written, shifted
from autogen_context.messages.segment import Unit, as_it_came

Action = Literal["keep", "repair", "reduce", "shorten", "drop"]


class Why(StrEnum):
    """Why a unit is sent as it is, or is not; the values are the words that tell it."""

    NEW = "new"
    CHANGED = "the host changed it"
    SYSTEM = "must stay: system"
    VOLATILE = "must stay: system; it changes from turn to turn, so nothing behind it is in the provider's cache"
    SPLIT = "must stay: system; what changes of it is sent behind what is stable"
    PINNED = "must stay: pinned"
    MEMORY = "must stay: memory"
    PENDING = "must stay: pending"
    INSTRUCTION = "must stay: instruction"
    NEWEST = "must stay: newest"
    TASK = "must stay: task"
    PERSON = "a person said it"
    MAYBE_PERSON = "a person may have said it"
    RECENT = "recent"
    SCORE = "worth its tokens"
    BLOCKS = "its best blocks are worth their tokens"
    LEFT_OUT = "left out"
    OTHER = ""  # by an earlier release

    @property
    def is_protected(self) -> bool:
        """Whether the unit must stay."""
        return self.startswith("must stay")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A unit with its token count, as the planner sees it."""

    unit: Unit
    tokens: int
    repairs: tuple[Piece, ...] = ()  # sent instead of the messages if the unit arrived incomplete
    handle_key: bytes = field(default=b"", repr=False)
    is_orphan: bool = False  # it arrived incomplete, repaired or not
    stable: tuple[Piece, ...] | None = None  # of a system prompt, what is sent in its place

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """Pieces of the whole unit, repaired if necessary; of a system prompt without what is sent behind."""
        if self.stable is not None:
            return self.stable
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

    It is the same object from turn to turn while nothing is decided anew; what is stored or recorded of a decision goes by that.

    Attributes:
        start: position of its first message in the host's list.
        stop: position after its last message.
        action: keep, repair, reduce (without loss, on arrival), shorten or drop.
        why: the kind of reason.
        tokens_before: tokens of the unit as it arrived.
        tokens_after: tokens of the unit as it is sent.
        pieces: pieces sent for it; for the first dropped unit, a notice.
        handle: key of the original in its store, if the unit was reduced, shortened or dropped.
        before: pieces sent before it: retrieved exchanges, notices. Their tokens count as the unit's.
        before_tokens: their tokens.
        rank: rank in the compaction that selected by score; ``None`` if it was not compared.
        detail: more of the reason, in words.
        reduced_by: names of the user's own reducers that reduced it on arrival.
    """

    start: int
    stop: int
    action: Action
    why: Why
    tokens_before: int
    tokens_after: int
    pieces: tuple[Piece, ...]
    handle: Text = ""
    before: tuple[Piece, ...] = ()
    before_tokens: int = 0
    rank: Rank | None = None
    detail: Text = ""
    reduced_by: tuple[Text, ...] = ()

    @property
    def reason(self) -> str:
        """The reason in words."""
        said = ": ".join(filter(None, (self.why, self.detail)))
        if self.action == "reduce":
            by = f" by {', '.join(self.reduced_by)}" if self.reduced_by else ""
            return f"{said}; reduced on arrival{by}"
        if self.action == "shorten" and self.why.is_protected:
            return f"{said}; shortened to fit"
        return f"{said}; a notice stands here" if self.action == "drop" and self.pieces else said

    @property
    def hides(self) -> bool:
        """True if part of the unit is no longer sent."""
        return self.action in ("shorten", "drop")

    @property
    def sent(self) -> tuple[Piece, ...]:
        """All pieces sent for it, with those before it."""
        return (*self.before, *self.pieces) if self.before else self.pieces

    def then(self, new: "Decision") -> "Decision":
        """Return a new decision on the unit, with what stays when its pieces change: what is sent before it, and its rank."""
        return replace(
            new,
            tokens_after=new.tokens_after + self.before_tokens,
            before=self.before,
            before_tokens=self.before_tokens,
            rank=self.rank,
        )

    def after(self, piece: Piece, tokens: int) -> "Decision":
        """Return the decision with one more piece sent before the unit, of so many tokens."""
        return replace(
            self,
            tokens_after=self.tokens_after + tokens,
            before=(*self.before, piece),
            before_tokens=self.before_tokens + tokens,
        )


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
    """An immutable sequence of decisions, one per unit, oldest first.

    Sequences that go on from one another share a list with all decisions but the newest, of which each knows how many are its
    own. One of those with the same number has the right to add to it; the others copy it.

    Attributes:
        last: the decision on the newest unit; ``None`` if there is none.
        tokens: of all units as they are sent.
        hidden: number of units of which a part is not sent.
    """

    __slots__ = ("_final", "_live", "_right", "_size", "hidden", "last", "tokens")

    def __init__(self, decisions: Iterable[Decision] = ()) -> None:
        made = list(decisions)
        self.tokens = sum(decision.tokens_after for decision in made)
        self.hidden = sum(decision.hides for decision in made)
        self.last = made.pop() if made else None
        self._final, self._size, self._right = made, len(made), [None]
        # Units sent among the first final ones, and the number of these; later ones may all be sent.
        self._live = [i for i, decision in enumerate(made) if decision.sent], len(made)

    @property
    def live(self) -> list[int]:
        """Indices of the units that may be sent, ascending; no piece of any other unit is sent."""
        live, looked = self._live
        return [*live, *range(looked, len(self))]

    @property
    def stop(self) -> int:
        """Number of host messages that the decisions cover."""
        return self.last.stop if self.last else 0

    def unit_at(self, position: int) -> int:
        """Return the index of the unit that has the host's message at a position."""
        return bisect_right(self, position, key=lambda decision: decision.start) - 1

    def hides_message(self, position: int) -> bool:
        """Return True if the host's message at a position is shortened or dropped."""
        return position < self.stop and self[self.unit_at(position)].hides

    def extended(self, decision: Decision) -> "Decisions":
        """Return the sequence with one decision appended."""
        made = self._with(decision)
        made.tokens += decision.tokens_after
        made.hidden += decision.hides
        if self.last is None:
            return made
        try:
            self._right.pop()  # whoever takes it first, in whatever thread, adds to the list
        except IndexError:
            made._final = self._final[: self._size]
        made._final.append(self.last)
        made._size, made._right = self._size + 1, [None]
        return made

    def with_last(self, decision: Decision) -> "Decisions":
        """Return the sequence with the newest decision replaced; raise `IndexError` if it is empty."""
        last, made = self[-1], self._with(decision)
        made.tokens += decision.tokens_after - last.tokens_after
        made.hidden += decision.hides - last.hides
        return made

    def changed(self, changes: Mapping[int, Decision]) -> "Decisions":
        """Return the sequence with the decisions at some indices replaced."""
        if not changes:
            return self
        size, final = self._size, self._final[: self._size]
        made = self._with(changes.get(size, self.last))
        for i, decision in changes.items():
            made.tokens += decision.tokens_after - self[i].tokens_after
            made.hidden += decision.hides - self[i].hides
            if i < size:
                final[i] = decision
        made._final, made._right = final, [None]
        live = sorted({*self.live, *changes} - {size})
        made._live = [i for i in live if final[i].sent], size
        return made

    def until(self, messages: int) -> "Decisions":
        """Return the decisions on units within the host's first ``messages`` messages."""
        units = len(self)
        while units and self[units - 1].stop > messages:
            units -= 1
        return self if units == len(self) else Decisions(self[:units])

    def continues(self, other: "Decisions") -> bool:
        """Return True if this sequence only extends another one's decisions, but for the newest of them."""
        return self._final is other._final and self._size >= other._size

    def final_since(self, other: "Decisions") -> list[Decision] | None:
        """Return the final decisions added since another sequence; ``None`` if this one does not continue it."""
        return self._final[other._size : self._size] if self.continues(other) else None

    @override
    def __len__(self) -> int:
        return self._size + (self.last is not None)

    @overload
    def __getitem__(self, index: int) -> Decision: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Decision, ...]: ...
    @override
    def __getitem__(self, index: int | slice) -> Decision | tuple[Decision, ...]:
        last = self.last
        units = self._size + (last is not None)
        if isinstance(index, slice):
            return tuple([self[i] for i in range(*index.indices(units))])
        at = index + units if index < 0 else index
        if last is None or not 0 <= at < units:
            raise IndexError(f"decision {index} of {units}")
        return last if at == self._size else self._final[at]

    @override
    def __iter__(self) -> Iterator[Decision]:
        return chain(islice(self._final, self._size), () if self.last is None else (self.last,))

    @override
    def __reversed__(self) -> Iterator[Decision]:
        final = (self._final[at] for at in range(self._size - 1, -1, -1))
        return chain(() if self.last is None else (self.last,), final)

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

    def _with(self, last: Decision | None) -> "Decisions":
        """Return a copy with another last decision; the caller corrects its sums."""
        made = Decisions.__new__(Decisions)
        made._final, made._size, made._right = self._final, self._size, self._right
        made._live, made.last = self._live, last
        made.tokens, made.hidden = self.tokens, self.hidden
        return made


def kept(candidate: Candidate, why: Why, detail: str = "") -> Decision:
    """Return the decision to send a unit whole."""
    return Decision(
        start=candidate.unit.start,
        stop=candidate.unit.stop,
        action="repair" if candidate.repairs else "keep",
        why=why,
        detail=detail,
        tokens_before=candidate.tokens,
        tokens_after=candidate.tokens,
        pieces=candidate.pieces,
    )


def replaced(
    candidate: Candidate,
    action: Action,
    why: Why,
    pieces: tuple[Piece, ...] = (),
    tokens: int = 0,
    *,
    detail: str = "",
    rank: Rank | None = None,
) -> Decision:
    """Return the decision to send other pieces, or none, with ``tokens`` in total; the original is kept."""
    return replace(
        kept(candidate, why, detail),
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
