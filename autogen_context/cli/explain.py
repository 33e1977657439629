"""``autogen-context explain RUN --turn 41 --message 7``: whether a message is sent at a turn, since when, and why.

Promise: only the event log is read; its control characters are never printed.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from autogen_context.cli import one_of, print_json, print_lines, remark, waiting
from autogen_context.report.bill import because
from autogen_context.report.events import DAMAGED, Run, read_events, runs_of
from autogen_context.report.explained import Explained, KeepingCost, StatedRule, explained

VERBS = {"drop": "left out", "shorten": "shortened", "reduce": "reduced on arrival"}


def show_explanation(
    file: Path, message: int, turn: int | None, run_id: str | None, *, as_json: bool
) -> None:
    """Print the explanation of a message."""
    runs = runs_in(file)
    found = explained(chosen(runs, run_id, file), message=message, turn=turn)
    print_json(found) if as_json else print_lines(*said(found))


def runs_in(file: Path) -> list[Run]:
    """Return the runs of an event log, with a warning about damaged lines."""
    if not file.exists():
        raise ValueError(f"{file}: there is no such file; check the path")
    with waiting("reading the log"):
        events = list(read_events(file))
    if damaged := sum(event["event"] == DAMAGED for event in events):
        remark("warning", f"damaged lines that were skipped in {file}: {damaged:,}")
    return runs_of(events)


def chosen(runs: Sequence[Run], wanted: str | None, file: Path) -> Run:
    """Return the run with an id, an agent's name or a number from 1, or the only run; ``ValueError`` if none matches."""
    runs = [run for run in runs if run.turns]
    if not runs:
        raise ValueError(f"{file}: it has no turns; give the file that was passed as events=")
    if wanted is None and len(runs) == 1:
        return runs[0]
    found = None if wanted is None else one_of(runs, wanted, lambda run: {run.id, run.agent})
    if found is not None:
        return found
    has = ", ".join(f"{run.id} ({run.agent or 'no name'})" for run in runs[-5:])
    raise ValueError(f"--run {wanted}: {file} has {len(runs)} runs; give one, such as {has}")


def said(found: Explained) -> Iterator[str]:
    """Yield the lines of the explanation."""
    last = found.life[-1]
    name = f" of {found.agent}" if found.agent else ""
    what = f"{last['role']}, call of {last['tool']}" if last["tool"] else last["role"]
    several = last["stop"] - last["unit"] > 1
    where = f", in messages {last['unit']} to {last['stop'] - 1}" if several else ""
    yield f"Run {found.run}{name}, turn {found.turn}, message {found.message} ({what}{where})"
    verb = VERBS.get(last["action"], "sent as it came in")
    yield f"{verb} since turn {found.since}: {last['reason'].removeprefix(f'{verb}: ')}"
    if last["score"] is not None:
        cut = "" if last["cut"] is None else f"; the last that stayed had {last['cut']:.3g}"
        yield f"score {last['score']:.3g} a token, place {last['place']} of {last['among']}{cut}"
    if found.keeping:
        yield from cost_of(found.keeping)
    if last["handle"]:
        yield f"the original: recall_context(handle={last['handle']!r})"
    yield from map(rule_in_words, found.rules)
    if found.lost:
        again, tokens = found.lost["again"], found.lost["tokens"]
        yield (
            f"the request of this turn: {again:,} tokens were sent again, {tokens:,} of them no longer cached, since "
            f"{because(found.lost)}"
        )
    yield "history:"
    for each in found.life:
        yield f"- turn {each['turn']}: {each['action']}, {each['after']:,} tokens; {each['reason']}"


def rule_in_words(rule: StatedRule) -> str:
    """Return what became of a rule that the message stated."""
    words = f" {rule.text!r}" if rule.text else ""
    if rule.by is not None:
        return f"it stated a {rule.kind}{words}, which message {rule.by} ended"
    absent = "; this request has not its words" if rule.is_absent else ""
    return f"it stated a {rule.kind}{words}, which is in force{absent}"


def cost_of(cost: KeepingCost) -> Iterator[str]:
    """Yield the lines on the cost of keeping a message."""
    dollars = "" if cost.dollars is None else f", ${cost.dollars:.6f}"
    yield (
        f"whole, it would add {cost.tokens:,} tokens to each request: the price of {cost.uncached:,.0f} uncached ones, "
        f"{cost.cached:,.0f} once cached"
    )
    yield (
        f"in all requests since then ({cost.requests:,}): the price of {cost.total:,.0f} uncached ones{dollars}; this one "
        f"had room for {cost.room_tokens:,} more"
    )
