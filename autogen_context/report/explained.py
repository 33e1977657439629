"""Explain a message at a turn from the event log: whether it is sent, since when, why, and the cost of keeping it.

Promise: only facts and numbers of the log; no message text is needed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from autogen_context.manager.event_schema import (
    LostEvent,
    RuleEvent,
    TurnEvent,
    UnitEvent,
    price_in,
)
from autogen_context.report.events import Run

Named = tuple[str, str]
"""Kind and text of a rule."""


class Change(UnitEvent):
    """A change to a message's unit at a turn; ``cut`` is the lowest score that was kept then."""

    turn: int
    cut: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepingCost:
    """The extra cost of sending a message's unit in full; prices are in uncached input tokens."""

    tokens: int  # added to each request
    uncached: float  # their price if they are not in the prompt cache
    cached: float  # if they are
    requests: int  # since the current action
    total: float  # the added price of these requests, the first uncached and the others cached
    dollars: float | None  # the same, if the price of the model is known
    room_tokens: int  # free below the limit in this turn's request


@dataclass(frozen=True, slots=True)
class StatedRule:
    """A rule, limit or preference that a message stated."""

    kind: str
    text: str  # empty unless the log records text
    by: int | None = None  # the message that ended it
    is_absent: bool = False  # in force, and not word for word in this turn's request


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """A message at a turn."""

    run: str
    agent: str
    turn: int
    message: int
    is_there: bool  # any part of it is sent
    is_whole: bool
    since: int  # the turn of the current action
    life: Sequence[Change]  # of its unit, which is decided on as a whole, oldest first
    keeping: KeepingCost | None  # of sending it in full; None if it is
    lost: LostEvent | None = None  # what this turn's request lost of the provider's cache, and why
    rules: Sequence[StatedRule] = ()  # that it stated, up to this turn


def explained(run: Run, *, message: int, turn: int | None = None) -> Explained:
    """Explain the state of a message (its position in the host's list, from 0) at a turn (from 1; by default the last one).

    Raises:
        ValueError: the run has no such turn, or the history no such message at that turn.
    """
    now, units = run.at(run.turns[-1]["turn"] if turn is None and run.turns else turn or 0)
    unit = next((u for u in units.values() if u["unit"] <= message < u["stop"]), None)
    if unit is None:
        has = f"0 to {now['history']['messages'] - 1}" if now["history"]["messages"] else "none"
        raise ValueError(f"message={message}: at turn {now['turn']} the history has {has}")
    life = life_of(run, message, until=now["turn"])
    done = takewhile(lambda change: change["action"] == unit["action"], reversed(life))
    since = min(change["turn"] for change in done)
    is_whole = unit["action"] in {"keep", "repair"}
    requests = sum(since <= each["turn"] <= now["turn"] for each in run.turns)
    return Explained(
        run=run.id,
        agent=run.agent,
        turn=now["turn"],
        message=message,
        is_there=unit["action"] != "drop",
        is_whole=is_whole,
        since=since,
        life=life,
        keeping=None if is_whole else keeping(unit, now, requests),
        lost=now.get("lost"),
        rules=rules_of(run, message, until=now["turn"]),
    )


def life_of(run: Run, message: int, *, until: int) -> list[Change]:
    """Return the changes to a message up to and including a turn, oldest first."""
    life: list[Change] = []
    last: UnitEvent | None = None
    for turn in takewhile(lambda turn: turn["turn"] <= until, run.turns):
        unit = next((u for u in turn["units"] if u["unit"] <= message < u["stop"]), None)
        if unit is not None and unit != last:
            cut = None if unit["score"] is None else turn["cut"]
            life.append({**unit, "turn": turn["turn"], "cut": cut})
            last = unit
    return life


def rules_of(run: Run, message: int, *, until: int) -> list[StatedRule]:
    """Return the rules that a message stated up to and including a turn, those in force first.

    Without their texts those of one kind cannot be told apart, and their numbers are right all the same.
    """
    in_force, ended, absent = list[Named](), list[tuple[Named, int]](), list[Named]()
    for turn in takewhile(lambda turn: turn["turn"] <= until, run.turns):
        changed = turn.get("rules")
        absent = named(changed["absent"], message) if changed else []
        if changed is None:
            continue
        in_force, ended = ([], []) if changed["anew"] else (in_force, ended)
        in_force += named(changed["stated"], message)
        for each in changed["ended"]:
            for rule in named([each], message):
                ended.append((rule, each["by"]))
                in_force = without_one(in_force, rule)
    found: list[StatedRule] = []
    for rule in in_force:
        found.append(StatedRule(*rule, is_absent=rule in absent))
        absent = without_one(absent, rule)
    return found + [StatedRule(*rule, by=by) for rule, by in ended]


def named(rules: Iterable[RuleEvent], message: int) -> list[Named]:
    """Return the kind and the text of those rules that a message stated."""
    return [(rule["kind"], rule.get("text", "")) for rule in rules if rule["message"] == message]


def without_one(rules: Sequence[Named], rule: Named) -> list[Named]:
    """Return rules without the first that is this one."""
    at = rules.index(rule) if rule in rules else len(rules)
    return [*rules[:at], *rules[at + 1 :]]


def keeping(unit: UnitEvent, now: TurnEvent, requests: int) -> KeepingCost:
    """Return the cost of sending a unit in full in this many requests."""
    price, tokens = price_in(now), max(0, unit["before"] - unit["after"])
    sent = now["counted"]
    uncached = price.cost_tokens(sent + tokens, 0) - price.cost_tokens(sent, 0)
    cached = price.cost_tokens(tokens, tokens)
    total = uncached + max(0, requests - 1) * cached
    return KeepingCost(
        tokens=tokens,
        uncached=uncached,
        cached=cached,
        requests=requests,
        total=total,
        dollars=price.dollars(total),
        room_tokens=now["limit"] - now["bound"].tokens,
    )
