"""What broke the prefix of the requests of a run: of its events, and of the bills and times in them.

Promise: as the doctor says it of requests in a file, without a text, since a log has none. What the bytes do not explain is named
only where a bill says that it was not cached. A run that goes on where another one ended is found by the digest of what it sends.
"""

from collections.abc import Iterator, Mapping, Sequence

from autogen_context.manager.event_schema import LostEvent, TurnEvent, price_in
from autogen_context.report.bill import because
from autogen_context.report.events import Run
from autogen_context.tokens.prefix import LEAST_BILLED, PrefixBreak, idle_in_words
from autogen_context.tokens.prompt_change import SHORT, Cause


def breaks_in(runs: Sequence[Run]) -> list[PrefixBreak]:
    """Return what broke prefixes in the runs of a log, each a conversation, in the order of the runs."""
    found, ends = list[PrefixBreak](), dict[str, TurnEvent]()
    for number, run in enumerate(runs, 1):
        found += breaks_of(run, number, ends)
        ends |= {digest: turn for turn in run.turns if (digest := turn.get("digest"))}
    return found


def breaks_of(
    run: Run, conversation: int = 1, ends: Mapping[str, TurnEvent] | None = None
) -> Iterator[PrefixBreak]:
    """Yield what broke the prefix of which turn of a run; ``ends`` are turns of earlier runs, by the digest of what they sent."""
    bills = {e.get("turn"): e.get("cached") for e in run.others if e.get("event") == "usage"}
    last = dict[str, float]()  # when each list of tools was last sent
    for turn in run.turns:
        tools, billed = turn.get("tools", ""), bills.get(turn["turn"])
        cached = billed if isinstance(billed, int) else None
        idle_s = turn["at"] - last.get(tools, turn["at"])
        last[tools] = turn["at"]
        if lost := turn.get("lost"):
            yield changed(turn, conversation, lost)
        elif (earlier := end_of(turn, ends or {})) is not None:
            yield from taken_over(turn, conversation, earlier, cached=cached)
        else:
            yield from uncached(turn, conversation, cached=cached, idle_s=idle_s)


def end_of(turn: TurnEvent, ends: Mapping[str, TurnEvent]) -> TurnEvent | None:
    """Return the turn of an earlier run from whose request the first one of a run goes on, if there is one."""
    begins = reversed(turn.get("begins", [])[1:])  # the system prompt alone is no conversation
    return next((ends[digest] for digest in begins if digest in ends), None)


def changed(turn: TurnEvent, conversation: int, lost: LostEvent) -> PrefixBreak:
    """Return what the event says."""
    known: list[Cause] = [cause for cause in SHORT if cause == lost["cause"]]
    cause = known[0] if known else "message edited"
    tokens, again = lost["tokens"], lost["again"]
    return found(turn, conversation, cause, because(lost), lost=tokens, again=again)


def taken_over(
    turn: TurnEvent, conversation: int, earlier: TurnEvent, *, cached: int | None
) -> Iterator[PrefixBreak]:
    """Yield why the first request of a run has nothing of the earlier one's in the cache."""
    idle_s = turn["at"] - earlier["at"]
    if turn["model"] == earlier["model"]:
        prefix = turn["fixed"] + earlier["sent"]["tokens"]
        yield from uncached(turn, conversation, cached=cached, idle_s=idle_s, prefix=prefix)
        return
    again = min(turn["counted"], earlier["counted"])
    should = price_in(turn).cached_tokens(again)
    if cached is not None and should and cached >= LEAST_BILLED * should:
        return
    said = f"{turn['model']!r} is asked, and {earlier['model']!r} had the conversation in its cache"
    lost = should - (cached or 0)
    yield found(turn, conversation, "model", said, lost=lost, again=again)


def uncached(
    turn: TurnEvent,
    conversation: int,
    *,
    cached: int | None,
    idle_s: float,
    prefix: int | None = None,
) -> Iterator[PrefixBreak]:
    """Yield why a prefix that was sent again byte for byte was not cached: time, or what only the bill knows."""
    again, price = turn["sent"]["prefix"] if prefix is None else prefix, price_in(turn)
    should = price.cached_tokens(again)
    if not should or (cached is not None and cached >= LEAST_BILLED * should):
        return
    lost = should - (cached or 0)
    if price.is_cold(idle_s=idle_s):
        said = idle_in_words(idle_s, price.cache_ttl_s)
        yield found(turn, conversation, "expired", said, lost=lost, again=again)
    elif cached is not None:
        said = f"of the {should:,} tokens that should be cached the bill says {cached:,}"
        yield found(turn, conversation, "not cached", said, lost=lost, again=again)


def found(
    turn: TurnEvent, conversation: int, cause: Cause, evidence: str, *, lost: int, again: int
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
