"""What the turns of a conversation cost, as they were sent and as they would have been without a plan.

Promise: values and sums only. A turn that could not be sent is in neither sum, so that both sides of a comparison
stand for the same requests.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

HOLD = "hold"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The input of one request.

    Attributes:
        messages: how many it has.
        tokens: what they and the tools count.
        cached_tokens: of these, what the provider has from the request before.
        cost_tokens: its price, in uncached input tokens.
    """

    messages: int
    tokens: int
    cached_tokens: int
    cost_tokens: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRecord:
    """One turn.

    Attributes:
        turn: its number, from 1.
        limit_tokens: what its request may have, in tokens.
        whole: the request with the whole history.
        sent: the request that was made; ``None`` where what must stay did not fit.
        compacted: whether the history was cut in this turn.
        happened: the same in words: ``"hold"``, ``"compacted: 12 dropped, 1 shortened"``.
    """

    turn: int
    limit_tokens: int
    whole: Request
    sent: Request | None
    compacted: bool
    happened: str

    @property
    def price_ratio(self) -> float | None:
        """The price of what was sent, as a share of the price of the whole; ``None`` where nothing was sent."""
        return ratio(self.sent.cost_tokens, self.whole.cost_tokens) if self.sent else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """What a series of requests cost.

    Attributes:
        requests: how many.
        above_limit: of these, how many have more tokens than their limit, and would be rejected.
        most_tokens: in one request.
        tokens: of all.
        cached_tokens: of these, what the provider had.
        cost_tokens: the price, in uncached input tokens.
        dollars: the price; ``None`` where the model's is not known.
    """

    requests: int
    above_limit: int
    most_tokens: int
    tokens: int
    cached_tokens: int
    cost_tokens: float
    dollars: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What a conversation came to, or several.

    Attributes:
        turns: how many, those that could not be sent included.
        impossible: of these, how many could not be sent.
        compactions: how many turns cut the history.
        limit_tokens: of every request; ``None`` where they differ or there is none.
        whole: sending everything; in ``above_limit`` and ``most_tokens`` with the impossible turns, otherwise without.
        sent: what was sent.
    """

    turns: int
    impossible: int
    compactions: int
    limit_tokens: int | None
    whole: Sum
    sent: Sum

    @property
    def price_ratio(self) -> float | None:
        """The price of what was sent, as a share of the price of everything; ``None`` where nothing was sent."""
        return ratio(self.sent.cost_tokens, self.whole.cost_tokens)


def totals_of(records: Sequence[TurnRecord], *, input_per_million: float | None = None) -> Totals:
    """Add up the turns of one conversation.

    Args:
        records: n turns.
        input_per_million: dollars for a million uncached input tokens, where known.

    Returns:
        Their sums.
    """
    made = [(record, record.sent) for record in records if record.sent is not None]
    everything = [(record, record.whole) for record in records]
    answered = [(record, record.whole) for record, _ in made]
    return Totals(
        turns=len(records),
        impossible=len(records) - len(made),
        compactions=sum(record.compacted for record in records),
        limit_tokens=single(record.limit_tokens for record in records),
        whole=added(answered, tested=everything, input_per_million=input_per_million),
        sent=added(made, tested=made, input_per_million=input_per_million),
    )


def merged(totals: Sequence[Totals]) -> Totals:
    """Add up conversations; dollars only where they are known for each."""
    return Totals(
        turns=sum(t.turns for t in totals),
        impossible=sum(t.impossible for t in totals),
        compactions=sum(t.compactions for t in totals),
        limit_tokens=single(t.limit_tokens for t in totals if t.turns),
        whole=merged_sum([t.whole for t in totals]),
        sent=merged_sum([t.sent for t in totals]),
    )


def record_facts(record: TurnRecord) -> dict[str, object]:
    """A turn as JSON data."""
    return {**asdict(record), "price_ratio": record.price_ratio}


def totals_facts(totals: Totals) -> dict[str, object]:
    """Totals as JSON data."""
    return {**asdict(totals), "price_ratio": totals.price_ratio}


Requests = Sequence[tuple[TurnRecord, Request]]


def added(requests: Requests, *, tested: Requests, input_per_million: float | None) -> Sum:
    """The sum of requests; the largest one and those above the limit are sought among ``tested``."""
    cost = sum(request.cost_tokens for _, request in requests)
    return Sum(
        requests=len(requests),
        above_limit=sum(request.tokens > record.limit_tokens for record, request in tested),
        most_tokens=max((request.tokens for _, request in tested), default=0),
        tokens=sum(request.tokens for _, request in requests),
        cached_tokens=sum(request.cached_tokens for _, request in requests),
        cost_tokens=cost,
        dollars=None if input_per_million is None else cost * input_per_million / 1_000_000,
    )


def merged_sum(sums: Sequence[Sum]) -> Sum:
    """The sum of sums."""
    known = [s.dollars for s in sums if s.dollars is not None]
    return Sum(
        requests=sum(s.requests for s in sums),
        above_limit=sum(s.above_limit for s in sums),
        most_tokens=max((s.most_tokens for s in sums), default=0),
        tokens=sum(s.tokens for s in sums),
        cached_tokens=sum(s.cached_tokens for s in sums),
        cost_tokens=sum(s.cost_tokens for s in sums),
        dollars=sum(known) if len(known) == len(sums) else None,
    )


def single(values: Iterable[int | None]) -> int | None:
    """The one value that all have."""
    found = set(values)
    return found.pop() if len(found) == 1 else None


def ratio(part: float, whole: float) -> float | None:
    """A share; ``None`` where there is nothing to compare with."""
    return part / whole if whole else None
