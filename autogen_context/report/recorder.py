"""Record what each turn of a running conversation costs.

Promise: a message is counted once while it keeps its position, so that recording a turn counts only its new messages.
"""

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, Protocol

from autogen_context.errors import ContextWindowExceeded
from autogen_context.manager.prepared import Prepared
from autogen_context.messages.piece import Written
from autogen_context.report.turns import HOLD, Request, TurnRecord
from autogen_context.view.decision import Decision


class Tariff(Protocol):
    """A provider's prices for input: ``Rates``, or your own."""

    def cached_tokens(self, shared_tokens: int, /) -> int:
        """Return how many tokens of a prefix shared with the previous request are cached."""
        ...

    def cost_tokens(self, tokens: int, cached_tokens: int, /) -> float:
        """Return the price of a request in uncached input tokens."""
        ...


class Recorder:
    """Turns a manager's results into records; ``fixed_tokens`` are those of each request beside its messages."""

    def __init__(
        self, *, count: Callable[[object], int], tariff: Tariff, fixed_tokens: int = 0
    ) -> None:
        self.records: list[TurnRecord] = []
        self._whole = Series(count, tariff, fixed_tokens)
        self._sent = Series(count, tariff, fixed_tokens)
        self._orphans = 0
        self._gone: dict[str, set[int]] = {"dropped": set(), "shortened": set()}

    def record(self, messages: Sequence[object], prepared: Prepared[Any]) -> TurnRecord:
        """Record a turn: the history given to the manager, and what it returned."""
        self.records.append(
            TurnRecord(
                turn=len(self.records) + 1,
                limit_tokens=prepared.certificate.limit_tokens,
                whole=self._whole.bill(messages),
                sent=self._sent.bill(prepared.messages),
                compacted=prepared.compacted,
                happened=self._in_words(prepared),
            )
        )
        return self.records[-1]

    def record_impossible(
        self, messages: Sequence[object], error: ContextWindowExceeded
    ) -> TurnRecord:
        """Record a turn for which the manager raised an error: nothing was sent."""
        self.records.append(
            TurnRecord(
                turn=len(self.records) + 1,
                limit_tokens=error.limit_tokens,
                whole=self._whole.bill(messages),
                sent=None,
                compacted=False,
                happened=f"impossible: needs {error.floor_tokens:,}",
            )
        )
        return self.records[-1]

    def _in_words(self, prepared: Prepared[Any]) -> str:
        """Describe what the turn did."""
        done: list[str] = []
        if prepared.compacted:
            before, self._gone = self._gone, gone_of(prepared.decisions)
            new = {verb: len(at - before[verb]) for verb, at in self._gone.items()}
            said = ", ".join(f"{n:,} {verb}" for verb, n in new.items() if n)
            done.append(f"compacted: {said or 'nothing more dropped'}")
        before_orphans, self._orphans = self._orphans, len(prepared.certificate.orphans)
        if self._orphans > before_orphans:
            verb = "repaired" if prepared.certificate.pairs_closed else "broken"
            done.append(f"{verb} {self._orphans - before_orphans:,}")
        return ", ".join(done) or HOLD


class Series:
    """A series of requests, each billed with the prefix of messages it shares with the previous one as cached."""

    def __init__(self, count: Callable[[object], int], tariff: Tariff, fixed_tokens: int) -> None:
        self._count = count
        self._tariff = tariff
        self._messages: list[object] = []
        self._sums = [fixed_tokens]  # tokens of the first n messages, plus the fixed ones

    def bill(self, messages: Sequence[object]) -> Request:
        """Return the next request with its price."""
        same = shared_messages(self._messages, list(messages))
        shared = self._sums[same] if self._messages else 0
        del self._messages[same:], self._sums[same + 1 :]
        for message in messages[same:]:
            self._messages.append(message)
            self._sums.append(self._sums[-1] + self._count(message))
        cached = self._tariff.cached_tokens(shared)
        return Request(
            messages=len(messages),
            tokens=self._sums[-1],
            cached_tokens=cached,
            cost_tokens=self._tariff.cost_tokens(self._sums[-1], cached),
        )


def shared_messages(before: list[object], now: list[object]) -> int:
    """Return the length of the common prefix of two lists."""
    shorter = min(len(before), len(now))
    if before[:shorter] == now[:shorter]:  # the usual case, much faster than a loop
        return shorter
    return next(i for i, (old, new) in enumerate(zip(before, now, strict=False)) if old != new)


def gone_of(decisions: Sequence[Decision]) -> dict[str, set[int]]:
    """Return the positions of the messages that decisions drop and shorten."""
    dropped = (range(d.start, d.stop) for d in decisions if d.action == "drop")
    pieces = (piece for d in decisions if d.action == "shorten" for piece in d.pieces)
    shortened = {p.index for p in pieces if isinstance(p, Written) and p.index is not None}
    return {"dropped": set(chain.from_iterable(dropped)), "shortened": shortened}
