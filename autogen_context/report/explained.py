"""Explain a message at a turn, from the event log: whether it is there, since when, why, and what keeping it would cost.

Promise: only what the log says, in its numbers; no message text is needed for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from autogen_context.manager.events import TurnEvent, UnitEvent
from autogen_context.report.events import Run

MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What became of a message at a turn; ``cut`` is the score of the last unit that stayed then."""

    turn: int
    action: str
    reason: str
    tokens: int  # that are sent of its unit from then on
    score: float | None
    place: int | None
    among: int | None
    cut: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepingCost:
    """What a message's unit would add to requests if it were whole: tokens, and their price in uncached input tokens.

    Attributes:
        tokens: to each request.
        uncached: the price of that where the provider has not cached it; ``cached``: where it has.
        requests: how many there were since it is not whole.
        total: what they would have cost more, the first uncached and the others cached.
        dollars: the same in dollars, where the price of the model is known.
        room_tokens: what the request of this turn had left below its limit.
    """

    tokens: int
    uncached: float
    cached: float
    requests: int
    total: float
    dollars: float | None
    room_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """A message at a turn.

    Attributes:
        start: position of the first message of its unit, which is decided on as a whole; ``stop``: behind the last.
        is_there: whether anything of it is sent.
        is_whole: whether nothing of it is left out.
        since: the turn from which on it is as it is.
        handle: under which its original can be asked back; may be empty.
        life: what became of it up to this turn, oldest first; the last entry says why it is as it is.
        keeping: what it would cost to have it whole; ``None`` where it is.
    """

    run: str
    agent: str
    turn: int
    message: int
    start: int
    stop: int
    role: str
    tool: str
    is_there: bool
    is_whole: bool
    since: int
    handle: str
    life: Sequence[Change]
    keeping: KeepingCost | None


def explained(run: Run, *, message: int, turn: int | None = None) -> Explained:
    """What had become of a message at a turn, and why.

    Args:
        run: of ``runs_of(read_events(path))``.
        message: its position in the host's list, from 0.
        turn: from 1; the last one where left out.

    Raises:
        ValueError: the run has no such turn, or its history no such message then.
    """
    now, units = run.at(run.turns[-1]["turn"] if turn is None and run.turns else turn or 0)
    unit = next((u for u in units.values() if u["unit"] <= message < u["stop"]), None)
    if unit is None:
        has = f"0 to {now['history']['messages'] - 1}" if now["history"]["messages"] else "none"
        raise ValueError(f"message={message}: at turn {now['turn']} the history has {has}")
    life = life_of(run, message, until=now["turn"])
    done = takewhile(lambda change: change.action == unit["action"], reversed(life))
    since = min(change.turn for change in done)
    whole = unit["action"] in {"keep", "repair"}
    requests = sum(since <= each["turn"] <= now["turn"] for each in run.turns)
    return Explained(
        run=run.id,
        agent=run.agent,
        turn=now["turn"],
        message=message,
        start=unit["unit"],
        stop=unit["stop"],
        role=unit["role"],
        tool=unit["tool"],
        is_there=unit["action"] != "drop",
        is_whole=whole,
        since=since,
        handle=unit["handle"],
        life=life,
        keeping=None if whole else keeping(unit, now, requests),
    )


def life_of(run: Run, message: int, *, until: int) -> Sequence[Change]:
    """What became of the message at a place up to a turn: each change, oldest first."""
    life: list[Change] = []
    last: UnitEvent | None = None
    for turn in run.turns:
        if turn["turn"] > until:
            break
        unit = next((u for u in turn["units"] if u["unit"] <= message < u["stop"]), None)
        if unit is not None and unit != last:
            life.append(change_of(turn, unit))
            last = unit
    return life


def change_of(turn: TurnEvent, unit: UnitEvent) -> Change:
    """What an event says of a unit."""
    return Change(
        turn=turn["turn"],
        action=unit["action"],
        reason=unit["reason"],
        tokens=unit["after"],
        score=unit["score"],
        place=unit["place"],
        among=unit["among"],
        cut=turn["cut"] if unit["score"] is not None else None,
    )


def keeping(unit: UnitEvent, now: TurnEvent, requests: int) -> KeepingCost:
    """What it would cost to have a unit whole in so many requests."""
    price = now["price"]
    tokens = max(0, unit["before"] - unit["after"])
    total = tokens * (price["write"] + max(0, requests - 1) * price["cached"])
    dollars = None if price["dollars"] is None else total * price["dollars"] / MILLION
    return KeepingCost(
        tokens=tokens,
        uncached=tokens * price["write"],
        cached=tokens * price["cached"],
        requests=requests,
        total=total,
        dollars=dollars,
        room_tokens=now["limit"] - now["bound"]["tokens"],
    )
