"""Record what each turn of a conversation costs, while it goes on.

Promise: a message is counted once for as long as it stays where it is, so that a turn costs what is new in it.

What the provider has cached is the start that a request shares with the one before it. It is compared message by
message: a message that differs in its last word counts as wholly new.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

from autogen_context.errors import ContextWindowExceeded
from autogen_context.messages.piece import Written
from autogen_context.report.turns import HOLD, Request, TurnRecord
from autogen_context.view.certificate import Certificate
from autogen_context.view.decision import Decision


class Tariff(Protocol):
    """What a provider charges for input."""

    def cached_tokens(self, shared_tokens: int, /) -> int:
        """Tokens that it has cached of a prefix shared with the request before."""
        ...

    def cost_tokens(self, tokens: int, cached_tokens: int, /) -> float:
        """The price of a request, in uncached input tokens."""
        ...


class PreparedTurn(Protocol):
    """What the manager returns for a turn."""

    @property
    def messages(self) -> Sequence[object]:
        """The list to send."""
        ...

    @property
    def certificate(self) -> Certificate:
        """What holds for it."""
        ...

    @property
    def decisions(self) -> Sequence[Decision]:
        """What became of each unit."""
        ...

    @property
    def compacted(self) -> bool:
        """Whether the history was cut in this turn."""
        ...


class Recorder:
    """Turns what a manager returns into records, turn by turn.

    Args:
        count: tokens of one of the host's messages.
        tariff: what the provider charges.
        fixed_tokens: what every request has beside its messages (tools, what the format adds), in tokens.
    """

    def __init__(
        self, *, count: Callable[[object], int], tariff: Tariff, fixed_tokens: int = 0
    ) -> None:
        self.records: list[TurnRecord] = []
        self._whole = Series(count, tariff, fixed_tokens)
        self._sent = Series(count, tariff, fixed_tokens)
        self._orphans = 0
        self._gone = Gone()

    def record(self, messages: Sequence[object], prepared: PreparedTurn) -> TurnRecord:
        """Record a turn.

        Args:
            messages: the history that was handed to the manager.
            prepared: what the manager returned for it.
        """
        return self._add(
            limit_tokens=prepared.certificate.limit_tokens,
            whole=self._whole.bill(messages),
            sent=self._sent.bill(prepared.messages),
            compacted=prepared.compacted,
            happened=self._in_words(prepared),
        )

    def record_impossible(
        self, messages: Sequence[object], error: ContextWindowExceeded
    ) -> TurnRecord:
        """Record a turn for which the manager raised an error: nothing was sent."""
        return self._add(
            limit_tokens=error.limit_tokens,
            whole=self._whole.bill(messages),
            sent=None,
            compacted=False,
            happened=f"impossible: needs {error.floor_tokens:,}",
        )

    def _in_words(self, prepared: PreparedTurn) -> str:
        """What the turn did."""
        done: list[str] = []
        if prepared.compacted:
            before, self._gone = self._gone, gone_of(prepared.decisions)
            done.append(f"compacted: {self._gone.beyond(before)}")
        before_orphans, self._orphans = self._orphans, len(prepared.certificate.orphans)
        if self._orphans > before_orphans:
            verb = "repaired" if prepared.certificate.pairs_closed else "broken"
            done.append(f"{verb} {self._orphans - before_orphans:,}")
        return ", ".join(done) or HOLD

    def _add(
        self,
        *,
        limit_tokens: int,
        whole: Request,
        sent: Request | None,
        compacted: bool,
        happened: str,
    ) -> TurnRecord:
        record = TurnRecord(
            turn=len(self.records) + 1,
            limit_tokens=limit_tokens,
            whole=whole,
            sent=sent,
            compacted=compacted,
            happened=happened,
        )
        self.records.append(record)
        return record


class Series:
    """Requests one after the other, each billed with what it shares with the one before."""

    def __init__(self, count: Callable[[object], int], tariff: Tariff, fixed_tokens: int) -> None:
        self._count = count
        self._tariff = tariff
        self._fixed = fixed_tokens
        self._messages: list[object] = []
        self._sums = [fixed_tokens]  # of the first n messages, and what stands before them

    def bill(self, messages: Sequence[object]) -> Request:
        """The next request."""
        is_first = not self._messages
        same = shared_messages(self._messages, list(messages))
        shared = 0 if is_first else self._sums[same]
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
    """How many messages two lists begin with in common."""
    shorter = min(len(before), len(now))
    if before[:shorter] == now[:shorter]:  # nearly always, and much faster than a loop
        return shorter
    return next(i for i, (old, new) in enumerate(zip(before, now, strict=False)) if old != new)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """Positions of the messages that a compaction dropped, and of those that it shortened."""

    dropped: frozenset[int] = frozenset()
    shortened: frozenset[int] = frozenset()

    def beyond(self, before: "Gone") -> str:
        """What is gone that was not gone before, in words."""
        counts = {
            "dropped": len(self.dropped - before.dropped),
            "shortened": len(self.shortened - before.shortened),
        }
        return (
            ", ".join(f"{n:,} {verb}" for verb, n in counts.items() if n) or "nothing more dropped"
        )


def gone_of(decisions: Sequence[Decision]) -> Gone:
    """What these decisions take away."""
    dropped = (range(d.start, d.stop) for d in decisions if d.action == "drop")
    pieces = (piece for d in decisions if d.action == "shorten" for piece in d.pieces)
    return Gone(
        dropped=frozenset(chain.from_iterable(dropped)),
        shortened=frozenset(
            p.index for p in pieces if isinstance(p, Written) and p.index is not None
        ),
    )
