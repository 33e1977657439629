"""What broke the prefix of the requests of a run: of its events, and of the bills and times in them.

Promise: as the doctor says it of requests in a file, without a text, since a log has none. What the bytes do not explain is named
only where a bill says that it was not cached.
"""

from collections.abc import Iterator, Sequence

from autogen_context.manager.event_schema import TurnEvent, price_in
from autogen_context.report.bill import because
from autogen_context.report.bill import price_in as price_of_run
from autogen_context.report.events import Run
from autogen_context.tokens.prefix import LEAST_BILLED, PrefixBreak
from autogen_context.tokens.prices import Price
from autogen_context.tokens.prompt_change import SHORT, Cause


def breaks_in(runs: Sequence[Run]) -> list[PrefixBreak]:
    """Return what broke prefixes in the runs of a log, each a conversation, in the order of the runs."""
    return [each for number, run in enumerate(runs, 1) for each in breaks_of(run, number)]


def breaks_of(run: Run, conversation: int = 1) -> Iterator[PrefixBreak]:
    """Yield what broke the prefix of which turn of a run."""
    bills = {e.get("turn"): e.get("cached") for e in run.others if e.get("event") == "usage"}
    last = dict[str, float]()  # when each list of tools was last sent
    price = price_of_run(run)
    for turn in run.turns:
        tools, billed = turn.get("tools", ""), bills.get(turn["turn"])
        cached = billed if isinstance(billed, int) else None
        idle_s = turn["at"] - last.get(tools, turn["at"])
        last[tools] = turn["at"]
        if lost := turn.get("lost"):
            yield found(
                turn,
                conversation,
                cause=cause_of(lost["cause"]),
                evidence=because(lost),
                lost=lost["tokens"],
                again=lost["again"],
            )
        else:
            yield from uncached(turn, conversation, cached=cached, idle_s=idle_s, price=price)


def cause_of(name: str) -> Cause:
    """Return the cause of this name; one that a newer release names is an edit."""
    known: list[Cause] = [cause for cause in SHORT if cause == name]
    return known[0] if known else "message edited"


def uncached(
    turn: TurnEvent, conversation: int, *, cached: int | None, idle_s: float, price: Price
) -> Iterator[PrefixBreak]:
    """Yield why a prefix that was sent again byte for byte was not cached: time, or what only the bill knows."""
    should = price.cached_tokens(turn["sent"]["prefix"])
    if not should or (cached is not None and cached >= LEAST_BILLED * should):
        return
    lost, again = should - (cached or 0), turn["sent"]["prefix"]
    if price.is_cold(idle_s=idle_s):
        ttl = price.cache_ttl_s
        said = f"{idle_s:,.0f} s passed since the last request, and the provider keeps a prefix for {ttl:,.0f} s"
        yield found(turn, conversation, cause="expired", evidence=said, lost=lost, again=again)
    elif cached is not None:
        said = f"of the {should:,} tokens that should be cached the bill says {cached:,}"
        yield found(turn, conversation, cause="not cached", evidence=said, lost=lost, again=again)


def found(
    turn: TurnEvent, conversation: int, *, cause: Cause, evidence: str, lost: int, again: int
) -> PrefixBreak:
    """Return a finding at the price of a turn."""
    price, tokens = price_in(turn), max(lost, turn["counted"])
    cost = price.cost_tokens(tokens, 0) - price.cost_tokens(tokens, lost)
    return PrefixBreak(
        number=turn["turn"],
        turn=turn["turn"],
        conversation=conversation,
        cause=cause,
        evidence=evidence,
        lost_tokens=lost,
        again_tokens=again,
        cost_tokens=cost,
        dollars=price.dollars(cost),
    )
