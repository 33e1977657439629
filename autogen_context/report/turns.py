"""Input cost per turn and in total, as sent and with the whole history sent.

Promise: values and sums only. A turn that could not be sent is in neither sum, so that both sides of a comparison cover
the same requests.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

HOLD = "hold"
READABLE_ROWS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The input of one request: tokens, how many are in the prompt cache, and the price in uncached tokens."""

    messages: int
    tokens: int
    cached_tokens: int
    cost_tokens: float


NOTHING = Request(messages=0, tokens=0, cached_tokens=0, cost_tokens=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRecord:
    """One turn, numbered from 1: the request with the whole history, and the request as sent."""

    turn: int
    limit_tokens: int
    whole: Request
    sent: Request | None  # None if the protected content did not fit
    compacted: bool
    happened: str  # in words: "hold", "compacted: 12 dropped, 1 shortened"

    @property
    def price_ratio(self) -> float | None:
        """The price as sent divided by that of the whole history; ``None`` if nothing was sent."""
        return ratio(self.sent.cost_tokens, self.whole.cost_tokens) if self.sent else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """The cost of several requests; ``dollars`` is ``None`` if the model's price is unknown."""

    requests: int
    above_limit: int  # requests that the provider would reject
    most_tokens: int  # in one request
    tokens: int
    cached_tokens: int
    cost_tokens: float
    dollars: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """The totals of one conversation or several."""

    turns: int
    impossible: int  # turns that could not be sent
    compactions: int
    limit_tokens: int | None  # None if it differs between turns
    whole: Sum  # impossible turns count only in above_limit and most_tokens
    sent: Sum

    @property
    def price_ratio(self) -> float | None:
        """The price as sent divided by that of sending everything; ``None`` if nothing was sent."""
        return ratio(self.sent.cost_tokens, self.whole.cost_tokens)


def totals_of(records: Iterable[TurnRecord], *, input_per_million: float | None = None) -> Totals:
    """Return the totals of one conversation, in dollars too if ``input_per_million`` is given."""
    return merged([totals_of_turn(record, input_per_million) for record in records])


def totals_of_turn(record: TurnRecord, input_per_million: float | None) -> Totals:
    """Return the totals of one turn."""
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
    """Add up totals; dollars are known only if every part that sent something knows them."""
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
    """Add up sums."""
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
    """Select turns to show: the last, all in which something happened, and every ``every``-th of the others.

    By default, ``every`` is chosen so that about ``READABLE_ROWS`` turns are shown. ``ValueError`` if it is below 1.
    """
    if every is not None and every < 1:
        raise ValueError(f"every={every}: show each turn with 1, each tenth with 10")
    held = [record for record in records if record.happened == HOLD]
    rows = max(1, READABLE_ROWS - (len(records) - len(held)))
    step = every or max(1, -(-len(held) // rows))
    chosen = {record.turn for record in [*held[::step], *records[-1:]]}
    return [r for r in records if r.happened != HOLD or r.turn in chosen]


def as_facts(counted: TurnRecord | Totals) -> dict[str, object]:
    """Return a turn or totals as JSON data."""
    return {**asdict(counted), "price_ratio": counted.price_ratio}


def ratio(part: float, whole: float) -> float | None:
    """Return ``part / whole``, or ``None`` if ``whole`` is 0."""
    return part / whole if whole else None
