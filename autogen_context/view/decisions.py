"""What became of the units of a conversation, as an immutable sequence that shares what it has with those before it.

Promise: nobody who reads it can change it. A longer one costs what is new in it, a shorter one what it leaves out, and what is
sent of them is found without a look at those that left.
"""

# ruff: noqa: SLF001 - of others of its kind

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import overload

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema
from typing_extensions import override

from autogen_context.view.decision import Decision

CHUNK = 64  # decisions that are shared together


class Decisions(Sequence[Decision]):
    """One decision for each unit, oldest first."""

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
        self._units = len(settled)  # before that one
        stop = self._units - self._units % CHUNK
        self._full = tuple(tuple(settled[at : at + CHUNK]) for at in range(0, stop, CHUNK))
        self._open = settled[stop:]  # shared with others, and only ever appended to
        self._line = object()  # one for all that only went on from here
        # Of the first so many units those of which something is sent; of the others something is.
        self._live = tuple(i for i, decision in enumerate(settled) if decision.sent)
        self._live_stop = self._units

    @property
    def live(self) -> list[int]:
        """Positions of the units of which something may be sent, ascending; of all others nothing is."""
        return [*self._live, *range(self._live_stop, len(self))]

    @property
    def stop(self) -> int:
        """How many of the host's messages are decided on."""
        return self.last.stop if self.last else 0

    def extended(self, decision: Decision) -> "Decisions":
        """These and one more."""
        if self.last is None:
            return Decisions([decision])
        made, own = self._made(), self._units % CHUNK
        made.last = decision
        made.tokens += decision.tokens_after
        made.hidden += decision.hides
        if len(self._open) != own:  # another went on from here
            made._open, made._line = self._open[:own], object()
        made._open.append(self.last)
        made._units += 1
        if len(made._open) == CHUNK:
            made._full, made._open = (*self._full, tuple(made._open)), []
        return made

    def changed(self, changes: Mapping[int, Decision]) -> "Decisions":
        """These with others on some units, by position."""
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
        """These with another decision on the newest unit."""
        if self.last is None:
            raise IndexError("there is no unit yet")
        made = self._made()
        made.last = decision
        made.tokens += decision.tokens_after - self.last.tokens_after
        made.hidden += decision.hides - self.last.hides
        return made

    def until(self, messages: int) -> "Decisions":
        """Those on the host's first messages alone."""
        units = len(self)
        while units and self[units - 1].stop > messages:
            units -= 1
        return self if units == len(self) else Decisions(self[:units])

    def continues(self, other: "Decisions") -> bool:
        """Whether it has the settled decisions of another one, seen without a look at them."""
        return self._line is other._line and self._units >= other._units

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
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Decisions) and tuple(self) == tuple(other)

    @override
    def __hash__(self) -> int:
        return hash((len(self), self.tokens, self.last))

    @classmethod
    def __get_pydantic_core_schema__(
        cls, _source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Saved as the list of its decisions."""
        return core_schema.no_info_after_validator_function(
            cls,
            handler(tuple[Decision, ...]),
            serialization=core_schema.plain_serializer_function_ser_schema(
                tuple, return_schema=handler(tuple[Decision, ...])
            ),
        )

    def _made(self) -> "Decisions":
        """Another one of the same."""
        made = Decisions.__new__(Decisions)
        made._full, made._open, made._units = self._full, self._open, self._units
        made._line, made._live, made._live_stop = self._line, self._live, self._live_stop
        made.last, made.tokens, made.hidden = self.last, self.tokens, self.hidden
        return made
