"""What became of the units of a conversation, as an immutable sequence that shares what it has with those before it.

Promise: nobody who reads it can change it. A longer one costs what is new in it, a shorter one what it leaves out, and what is
sent of them is found without a look at those that left.
"""

# ruff: noqa: SLF001 - of others of its kind

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import overload

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema
from typing_extensions import override

from autogen_context.view.decision import Decision


class Decisions(Sequence[Decision]):
    """One decision for each unit, oldest first."""

    __slots__ = ("_live", "_live_stop", "_settled", "_settled_units", "hidden", "last", "tokens")

    def __init__(self, decisions: Iterable[Decision] = ()) -> None:
        settled = list(decisions)
        self.tokens = sum(decision.tokens_after for decision in settled)
        self.hidden = sum(decision.hides for decision in settled)
        self.last = settled.pop() if settled else None  # the decision on the newest unit
        self._settled = settled  # shared with others, and only ever appended to; of these the first n are its own
        self._settled_units = len(settled)
        # Of the first so many units those of which something is sent; of the others something is.
        self._live = tuple(i for i, decision in enumerate(settled) if decision.sent)
        self._live_stop = len(settled)

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
        settled = self._settled
        if len(settled) != self._settled_units:  # another went on from here
            settled = settled[: self._settled_units]
        settled.append(self.last)
        return self._with(
            settled,
            self._settled_units + 1,
            decision,
            tokens=self.tokens + decision.tokens_after,
            hidden=self.hidden + decision.hides,
        )

    def changed(self, changes: Mapping[int, Decision]) -> "Decisions":
        """These with others on some units, by position."""
        if not changes:
            return self
        settled = [*self]
        tokens, hidden = self.tokens, self.hidden
        for i, decision in changes.items():
            tokens += decision.tokens_after - settled[i].tokens_after
            hidden += decision.hides - settled[i].hides
            settled[i] = decision
        last = settled.pop()
        made = self._with(settled, len(settled), last, tokens=tokens, hidden=hidden)
        live = sorted({*self.live, *changes} - {len(settled)})
        made._live, made._live_stop = tuple(i for i in live if settled[i].sent), len(settled)
        return made

    def with_last(self, decision: Decision) -> "Decisions":
        """These with another decision on the newest unit."""
        if self.last is None:
            raise IndexError("there is no unit yet")
        return self._with(
            self._settled,
            self._settled_units,
            decision,
            tokens=self.tokens + decision.tokens_after - self.last.tokens_after,
            hidden=self.hidden + decision.hides - self.last.hides,
        )

    def until(self, messages: int) -> "Decisions":
        """Those on the host's first messages alone."""
        units = len(self)
        while units and self[units - 1].stop > messages:
            units -= 1
        if units == len(self):
            return self
        if not units:
            return Decisions()
        gone = [self[i] for i in range(units, len(self))]
        return self._with(
            self._settled,
            units - 1,
            self[units - 1],
            tokens=self.tokens - sum(decision.tokens_after for decision in gone),
            hidden=self.hidden - sum(decision.hides for decision in gone),
        )

    def continues(self, other: "Decisions") -> bool:
        """Whether it has the settled decisions of another one, seen without a look at them."""
        is_shared = self._settled is other._settled
        return is_shared and len(self) >= len(other)

    @override
    def __len__(self) -> int:
        return self._settled_units + (self.last is not None)

    @overload
    def __getitem__(self, index: int) -> Decision: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Decision, ...]: ...
    @override
    def __getitem__(self, index: int | slice) -> Decision | tuple[Decision, ...]:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step == 1 and stop <= self._settled_units:
                return tuple(self._settled[start:stop])
            return tuple(self[i] for i in range(start, stop, step))
        at = index + len(self) if index < 0 else index
        if 0 <= at < self._settled_units:
            return self._settled[at]
        if at == self._settled_units and self.last is not None:
            return self.last
        raise IndexError(f"decision {index} of {len(self)}")

    @override
    def __iter__(self) -> Iterator[Decision]:
        last = () if self.last is None else (self.last,)
        return iter((*self._settled[: self._settled_units], *last))

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Decisions) and tuple(self) == tuple(other)

    @override
    def __hash__(self) -> int:
        return hash((len(self), self.tokens, self.last))

    @override
    def __repr__(self) -> str:
        return f"Decisions({list(self)!r})"

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

    def _with(
        self, settled: list[Decision], units: int, last: Decision, *, tokens: int, hidden: int
    ) -> "Decisions":
        made = Decisions.__new__(Decisions)
        made._settled, made._settled_units, made.last = settled, units, last
        made.tokens, made.hidden = tokens, hidden
        made._live, made._live_stop = self._live, self._live_stop
        if units < made._live_stop:
            made._live, made._live_stop = tuple(i for i in made._live if i < units), units
        return made
