"""What the turns of a conversation cost, as they were sent and as they would have been without a plan.

Promise: values and sums only. A turn that could not be sent is in neither sum, so that both sides of a comparison
stand for the same requests.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

HOLD = "hold"
READABLE_ROWS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The input of one request: tokens, those that the provider has cached, and the price in uncached ones."""

    messages: int
    tokens: int
    cached_tokens: int
    cost_tokens: float


NOTHING = Request(messages=0, tokens=0, cached_tokens=0, cost_tokens=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRecord:
    """One turn, from 1 on: its request with the whole history, and as it was sent."""

    turn: int
    limit_tokens: int
    whole: Request
    sent: Request | None  # None where what must stay did not fit
    compacted: bool
    happened: str  # in words: "hold", "compacted: 12 dropped, 1 shortened"

    @property
    def price_ratio(self) -> float | None:
        """The price of what was sent by that of the whole; ``None`` where nothing was sent."""
        return ratio(self.sent.cost_tokens, self.whole.cost_tokens) if self.sent else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """What a series of requests cost; ``dollars`` is ``None`` where the model's price is not known."""

    requests: int
    above_limit: int  # of these, what would be rejected
    most_tokens: int  # in one request
    tokens: int
    cached_tokens: int
    cost_tokens: float
    dollars: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What a conversation came to, or several."""

    turns: int
    impossible: int  # of these, what could not be sent
    compactions: int
    limit_tokens: int | None  # of every request, where it is the same
    whole: (
        Sum  # in ``above_limit`` and ``most_tokens`` with the impossible turns, otherwise without
    )
    sent: Sum

    @property
    def price_ratio(self) -> float | None:
        """The price of what was sent by that of everything; ``None`` where nothing was sent."""
        return ratio(self.sent.cost_tokens, self.whole.cost_tokens)


def totals_of(records: Iterable[TurnRecord], *, input_per_million: float | None = None) -> Totals:
    """The sums of one conversation; dollars where those for a million uncached input tokens are given."""
    return merged([totals_of_turn(record, input_per_million) for record in records])


def totals_of_turn(record: TurnRecord, input_per_million: float | None) -> Totals:
    """One turn as totals."""
    is_sent = record.sent is not None

    def summed(request: Request | None) -> Sum:
        counted = request if request and is_sent else NOTHING
        cost = counted.cost_tokens
        return Sum(
            requests=int(is_sent),
            above_limit=int(request is not None and request.tokens > record.limit_tokens),
            most_tokens=request.tokens if request else 0,
            tokens=counted.tokens,
            cached_tokens=counted.cached_tokens,
            cost_tokens=cost,
            dollars=None if input_per_million is None else cost * input_per_million / 1_000_000,
        )

    return Totals(
        turns=1,
        impossible=int(not is_sent),
        compactions=int(record.compacted),
        limit_tokens=record.limit_tokens,
        whole=summed(record.whole),
        sent=summed(record.sent),
    )


def merged(totals: Sequence[Totals]) -> Totals:
    """The sums of several; dollars only where they are known for each that sent something."""
    limits = {each.limit_tokens for each in totals if each.turns}
    return Totals(
        turns=sum(each.turns for each in totals),
        impossible=sum(each.impossible for each in totals),
        compactions=sum(each.compactions for each in totals),
        limit_tokens=limits.pop() if len(limits) == 1 else None,
        whole=merged_sum([each.whole for each in totals]),
        sent=merged_sum([each.sent for each in totals]),
    )


def merged_sum(sums: Sequence[Sum]) -> Sum:
    """The sum of sums."""
    made = [each for each in sums if each.requests]
    known = [each.dollars for each in made if each.dollars is not None]
    return Sum(
        requests=sum(each.requests for each in sums),
        above_limit=sum(each.above_limit for each in sums),
        most_tokens=max((each.most_tokens for each in sums), default=0),
        tokens=sum(each.tokens for each in sums),
        cached_tokens=sum(each.cached_tokens for each in sums),
        cost_tokens=sum(each.cost_tokens for each in sums),
        dollars=sum(known) if made and len(known) == len(made) else None,
    )


def sampled(records: Sequence[TurnRecord], *, every: int | None = None) -> list[TurnRecord]:
    """The turns that a person reads: all in which something happened, the first and the last, of the others each so many-th.

    ``every`` left out, so many that there are about ``READABLE_ROWS`` in all.
    """
    if every is not None and every < 1:
        raise ValueError(f"every={every}: show each turn with 1, each tenth with 10")
    held = [record for record in records if record.happened == HOLD]
    rows = max(1, READABLE_ROWS - (len(records) - len(held)))
    step = every or max(1, -(-len(held) // rows))
    chosen = {record.turn for record in [*held[::step], *records[-1:]]}
    return [r for r in records if r.happened != HOLD or r.turn in chosen]


def as_facts(counted: TurnRecord | Totals) -> dict[str, object]:
    """A turn or totals as JSON data."""
    return {**asdict(counted), "price_ratio": counted.price_ratio}


def ratio(part: float, whole: float) -> float | None:
    """A share; ``None`` where there is nothing to compare with."""
    return part / whole if whole else None
