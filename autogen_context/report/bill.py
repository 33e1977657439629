"""The bill of a run: the input cost of each turn as sent, with everything sent, and with a sliding window.

Promise: every number comes from the event log. A turn that could not be sent is in no sum, so that all sides of a
comparison cover the same requests. Tokens are the provider's where it reported them: all counts are scaled to its bill.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate, islice, takewhile

from autogen_context.manager import event_schema
from autogen_context.manager.event_schema import ImpossibleEvent, LostEvent, TurnEvent, UnitEvent
from autogen_context.report.events import Run
from autogen_context.tokens.prices import Price, price_of
from autogen_context.tokens.prompt_change import SHORT

HOLD = "hold"
READABLE_ROWS = 40
CUT = {"drop": "dropped", "shorten": "shortened"}
LOST_FRACTION = 0.05  # of the previous request; larger losses of cached tokens are reported
CHANGED = "earlier content changed"
WHY = {
    "forced": "the window was full",
    "pays": "it pays",
    "cold": "the provider's cache had run out",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BilledRequest:
    """The input of one request: tokens, how many are in the prompt cache, and the price."""

    messages: int
    tokens: int
    cached_tokens: int
    cost_tokens: float  # in uncached input tokens
    dollars: float | None  # None if the model's price is unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRecord:
    """One turn: the request as sent, and as it would be with the whole history or a sliding window."""

    turn: int
    limit_tokens: int
    room_tokens: int  # the limit in tokens as counted here; the provider's count may differ
    whole: BilledRequest
    sent: BilledRequest | None  # None if the protected content did not fit
    sliding: BilledRequest | None  # None as well then
    compacted: bool
    happened: str  # in words: "hold", "compacted: 12 dropped, 1 shortened"
    detail: str = ""  # why, and how much of the provider's cache was lost

    @property
    def price_ratio(self) -> float | None:
        """The price as sent divided by that of the whole history; ``None`` if nothing was sent."""
        return ratio(self.sent.cost_tokens, self.whole.cost_tokens) if self.sent else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """The cost of several requests."""

    requests: int
    above_limit: int  # requests that the provider would reject
    most_tokens: int  # in one request
    tokens: int
    cached_tokens: int
    cost_tokens: float
    dollars: float | None  # None if the price of a request is unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """The totals of one conversation or several."""

    turns: int
    impossible: int  # turns that could not be sent
    compactions: int
    limit_tokens: int | None  # None if it differs between turns
    whole: Sum  # impossible turns count only in above_limit and most_tokens
    sent: Sum
    sliding: Sum

    @property
    def price_ratio(self) -> float | None:
        """The price as sent divided by that of sending everything; ``None`` if nothing was sent."""
        return ratio(self.sent.cost_tokens, self.whole.cost_tokens)


def bill_of(run: Run) -> list[TurnRecord]:
    """Return the turns of a run with their cost, at the price recorded in the newest one."""
    price, scale = price_in(run), scale_in(run)
    records = [not_sent(event, price) for event in run.impossible]
    cut = set[tuple[str, int]]()
    # The last request with each list of tools: a provider caches them apart.
    whole_before, sent_before = dict[str, int](), dict[str, int]()
    windows = sliding_window(run, price, scale=scale)
    for (turn, units), sliding in zip(run.states(), windows, strict=True):
        history, cut_before = turn["history"], cut
        whole = round(scale * (history["tokens"] + turn["fixed"]))
        if turn["compacted"]:
            cut = {(unit["action"], at) for at, unit in units.items() if unit["action"] in CUT}
        new = Counter(action for action, _ in cut - cut_before)
        tools, sent = tools_of(turn), turn["sent"]
        happened, detail = in_words(turn, new, sent_before.get(tools, 0))
        shared = min(whole_before.get(tools, 0), whole)
        counted, prefix = round(scale * turn["counted"]), round(scale * sent["prefix"])
        records.append(
            TurnRecord(
                turn=turn["turn"],
                limit_tokens=turn["limit"],
                room_tokens=round(scale * room_in(turn)),
                whole=billed(price, history["messages"], whole, shared),
                sent=billed(price, sent["messages"], counted, prefix),
                sliding=sliding,
                compacted=turn["compacted"],
                happened=happened,
                detail=detail,
            )
        )
        whole_before[tools], sent_before[tools] = whole, turn["counted"]
    return sorted(records, key=lambda record: record.turn)


def price_in(run: Run) -> Price:
    """Return the price recorded in the newest turn; without a turn, that of the model."""
    if not run.turns:
        return price_of(run.impossible[-1]["model"] if run.impossible else "")
    return event_schema.price_in(run.turns[-1])


def scale_in(run: Run) -> float:
    """Return by how much the provider's counts are above ours, over all turns that it billed once, plausibly; 1 if there are none."""
    said = [event for event in run.others if event.get("event") == "usage"]
    times = Counter(event.get("turn") for event in said)
    believed = [each for each in said if each.get("believed") and times[each.get("turn")] == 1]
    counts = {turn["turn"]: turn["counted"] for turn in run.turns}
    known = [each for each in believed if each.get("turn") in counts]
    if 2 * len(known) < max(1, len(said)):  # it counts something else
        return 1.0
    counted = sum(counts[int(str(each["turn"]))] for each in known)
    return sum(int(str(each["prompt"])) for each in known) / counted


def not_sent(event: ImpossibleEvent, price: Price) -> TurnRecord:
    """Return the record of a turn that could not be sent."""
    tokens = event["history"]["tokens"] + event["parts"].get("tools and format", 0)
    return TurnRecord(
        turn=event["turn"],
        limit_tokens=event["limit"],
        room_tokens=event["limit"],
        whole=billed(price, event["history"]["messages"], tokens, 0),
        sent=None,
        sliding=None,
        compacted=False,
        happened=f"impossible: needs {event['needed']:,}",
    )


def room_in(turn: TurnEvent) -> int:
    """Return a turn's limit in tokens as counted here."""
    bound = turn["bound"].tokens
    return -(-turn["limit"] * turn["counted"] // bound) if bound else turn["limit"]


def billed(price: Price, messages: int, tokens: int, shared_tokens: int) -> BilledRequest:
    """Return a request with its price; its first ``shared_tokens`` are those of an earlier one."""
    cached = price.cached_tokens(shared_tokens)
    cost = price.cost_tokens(tokens, cached)
    return BilledRequest(
        messages=messages,
        tokens=tokens,
        cached_tokens=cached,
        cost_tokens=cost,
        dollars=price.dollars(cost),
    )


def in_words(turn: TurnEvent, new: Mapping[str, int], before_tokens: int) -> tuple[str, str]:
    """Describe what a turn did to ``new`` units, and why; ``before_tokens`` is the size of the previous request."""
    lost, estimate = before_tokens - turn["sent"]["prefix"], turn["estimate"]
    new_units = (unit for unit in turn["units"] if turn["since"] <= unit["unit"])
    repaired = sum(unit["action"] == "repair" for unit in new_units)
    done = [f"repaired {repaired:,}"] if repaired else []
    if turn["compacted"]:
        reason = estimate.why if estimate else ""
        is_cold = estimate is not None and estimate.price.is_cold
        why = "cold" if is_cold and reason != "forced" else reason
        said = ", ".join(f"{new[act]:,} {CUT[act]}" for act in CUT if new[act])
        done.insert(0, f"compacted: {said or 'nothing more dropped'}")
        since = f"since {WHY.get(why, why)}, " if why else ""
        return ", ".join(done), f"{since}{lost:,} tokens no longer cached"
    if recorded := turn.get("lost"):
        done.append(f"{recorded['again']:,} tokens no longer cached")
        return ", ".join(done), f"since {because(recorded)}"
    if lost > LOST_FRACTION * before_tokens:
        done.append(f"{lost:,} tokens no longer cached")
        return ", ".join(done), f"since {CHANGED}"
    return ", ".join(done) or HOLD, ""


def because(lost: LostEvent) -> str:
    """Say what broke the prefix of a request, and where."""
    said = next((words for cause, words in SHORT.items() if cause == lost["cause"]), CHANGED)
    return f"{said} ({lost['where']})" if lost["where"] else said


def sliding_window(run: Run, price: Price, *, scale: float = 1.0) -> Iterator[BilledRequest]:
    """Yield each turn's request if only the system prompt and the newest units that fit were sent; ``scale`` as of the bill."""
    # By tools, the last request: its tokens, and the first message of its window.
    before = dict[str, tuple[int, int]]()
    for turn, units in run.states():
        head = list(takewhile(lambda each: each["section"] == "system", units.values()))
        fixed = turn["fixed"] + sum(each["before"] for each in head)
        tokens, begins = turn["fixed"] + turn["history"]["tokens"], 0
        messages = turn["history"]["messages"]
        if tokens > room_in(turn):
            window = newest(list(units.values())[len(head) :], room_in(turn) - fixed)
            tokens = fixed + sum(each["before"] for each in window)
            begins = window[-1]["unit"] if window else -1
            messages = sum(each["stop"] - each["unit"] for each in [*head, *window])
        sent, began = before.get(tools_of(turn), (0, -1))
        shared = min(sent if begins == began else fixed, tokens) if sent else 0
        yield billed(price, messages, round(scale * tokens), round(scale * shared))
        before[tools_of(turn)] = tokens, begins


def tools_of(turn: TurnEvent) -> str:
    """Return what tells the tools of a request from those of others; logs of earlier releases have only their tokens."""
    return turn.get("tools", str(turn["fixed"]))


def newest(units: Sequence[UnitEvent], room_tokens: int) -> list[UnitEvent]:
    """Return the newest units that fit, newest first; the newest one is always included."""
    sums = accumulate(unit["before"] for unit in reversed(units))
    fitting = sum(1 for _ in takewhile(lambda tokens: tokens <= room_tokens, sums))
    return list(islice(reversed(units), max(1, fitting)))


def totals_of(records: Sequence[TurnRecord]) -> Totals:
    """Return the totals of turns, of one conversation or several."""
    limits = {record.limit_tokens for record in records}
    return Totals(
        turns=len(records),
        impossible=sum(record.sent is None for record in records),
        compactions=sum(record.compacted for record in records),
        limit_tokens=limits.pop() if len(limits) == 1 else None,
        whole=summed([(record, record.whole) for record in records]),
        sent=summed([(record, record.sent) for record in records]),
        sliding=summed([(record, record.sliding) for record in records]),
    )


def summed(requests: Sequence[tuple[TurnRecord, BilledRequest | None]]) -> Sum:
    """Add up the requests of turns; what an impossible turn would cost is left out."""
    made = [request for record, request in requests if request and record.sent]
    sizes = [(record.room_tokens, request.tokens) for record, request in requests if request]
    dollars = [request.dollars for request in made if request.dollars is not None]
    return Sum(
        requests=len(made),
        above_limit=sum(tokens > room for room, tokens in sizes),
        most_tokens=max((tokens for _, tokens in sizes), default=0),
        tokens=sum(request.tokens for request in made),
        cached_tokens=sum(request.cached_tokens for request in made),
        cost_tokens=sum(request.cost_tokens for request in made),
        dollars=sum(dollars) if made and len(dollars) == len(made) else None,
    )


def sampled(records: Sequence[TurnRecord], *, every: int | None = None) -> list[TurnRecord]:
    """Select turns to show: the last, all in which something happened, and every ``every``-th of the others.

    By default, ``every`` is chosen so that about ``READABLE_ROWS`` turns are shown. ``ValueError`` if it is below 1.
    """
    if every is not None and every < 1:
        raise ValueError(f"every={every}: show each turn with 1, each tenth with 10")
    holds = [record for record in records if record.happened == HOLD]
    rows = max(1, READABLE_ROWS - (len(records) - len(holds)))
    step = every or max(1, -(-len(holds) // rows))
    chosen = {record.turn for record in [*holds[::step], *records[-1:]]}
    return [r for r in records if r.happened != HOLD or r.turn in chosen]


def as_facts(counted: TurnRecord | Totals) -> dict[str, object]:
    """Return a turn or totals as JSON data."""
    return {**asdict(counted), "price_ratio": counted.price_ratio}


def ratio(part: float, whole: float) -> float | None:
    """Return ``part / whole``, or ``None`` if ``whole`` is 0."""
    return part / whole if whole else None
