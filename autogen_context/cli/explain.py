"""``autogen-context explain RUN --turn 41 --message 7``: whether a message is there at a turn, since when, and why.

Promise: it reads the event log and nothing else; nothing of what is in it moves the cursor.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from autogen_context.cli import printable
from autogen_context.report.events import DAMAGED, Run, read_events, runs_of
from autogen_context.report.explained import Change, Explained, KeepingCost, explained

if TYPE_CHECKING:
    from argparse import _SubParsersAction  # pyright: ignore[reportPrivateUsage] - it has no public name

VERBS = {"drop": "left out", "shorten": "shortened", "reduce": "reduced on arrival"}


def add_parser(subparsers: "_SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``explain`` to the command."""
    parser = subparsers.add_parser(
        "explain",
        help="why a message was sent at a turn, or was not",
        description="Reads the event log that an agent wrote (events='run.jsonl'): whether a message is in the request of a "
        "turn, since when, why, what its score was, and what keeping it would have cost.",
    )
    add = parser.add_argument
    add("file", type=Path, metavar="RUN", help="the event log")
    add("--message", type=int, required=True, metavar="N", help="its place in the list, from 0")
    add("--turn", type=int, metavar="N", help="from 1; left out, the last one")
    add("--run", dest="wanted", metavar="ID", help="of several: its id, number, or agent")
    add("--json", action="store_true", help="as JSON, for programs")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Explain a message; the exit code."""
    file: Path = arguments.file
    events = list(read_events(file))
    if damaged := sum(event["event"] == DAMAGED for event in events):
        note = f"autogen-context: warning: damaged lines that were skipped in {file}: {damaged:,}"
        sys.stderr.write(f"{printable(note)}\n")
    found = explained(
        chosen(runs_of(events), arguments.wanted, file),
        message=arguments.message,
        turn=arguments.turn,
    )
    if arguments.json:
        as_json = TypeAdapter(Explained).dump_json(found, indent=2, ensure_ascii=True)
        sys.stdout.write(f"{as_json.decode()}\n")
    else:
        sys.stdout.writelines(f"{printable(line)}\n" for line in said(found))
    return 0


def chosen(runs: Sequence[Run], wanted: str | None, file: Path) -> Run:
    """The run with an id, a number from 1 or an agent's name, or the only one."""
    runs = [run for run in runs if run.turns]
    if not runs:
        raise ValueError(f"{file}: no turn is in it; give a file that events= named")
    named = [run for run in runs if wanted in {run.id, run.agent}]
    if wanted is None and len(runs) == 1:
        return runs[0]
    if wanted is not None and named:
        return named[-1]
    if wanted is not None and wanted.isdecimal() and 1 <= int(wanted) <= len(runs):
        return runs[int(wanted) - 1]
    has = ", ".join(f"{run.id} ({run.agent or 'no name'})" for run in runs[-5:])
    raise ValueError(f"--run {wanted}: {file} has {len(runs)} runs; give one, such as {has}")


def said(found: Explained) -> Iterator[str]:
    """The explanation, line by line."""
    last = found.life[-1]
    name = f" of {found.agent}" if found.agent else ""
    what = f"{found.role}, call of {found.tool}" if found.tool else found.role
    where = (
        f", in messages {found.start} to {found.stop - 1}" if found.stop - found.start > 1 else ""
    )
    yield f"Run {found.run}{name}, turn {found.turn}, message {found.message} ({what}{where})"
    verb = VERBS.get(last.action, "sent as it came in")
    yield f"{verb} since turn {found.since}: {last.reason.removeprefix(f'{verb}: ')}"
    if last.score is not None:
        cut = "" if last.cut is None else f"; the last that stayed had {last.cut:.3g}"
        yield f"score {last.score:.3g} a token, place {last.place} of {last.among}{cut}"
    if found.keeping:
        yield from cost_of(found.keeping)
    if found.handle:
        yield f"the original: recall_context(handle={found.handle!r})"
    yield "its life:"
    yield from map(line_of, found.life)


def cost_of(cost: KeepingCost) -> Iterator[str]:
    """What keeping it would cost."""
    dollars = "" if cost.dollars is None else f", ${cost.dollars:.6f}"
    yield (
        f"whole, it would add {cost.tokens:,} tokens to each request: the price of {cost.uncached:,.0f} uncached ones, "
        f"{cost.cached:,.0f} once cached"
    )
    yield (
        f"in all requests since then ({cost.requests:,}): the price of {cost.total:,.0f} uncached ones{dollars}; this one "
        f"had room for {cost.room_tokens:,} more"
    )


def line_of(change: Change) -> str:
    """One line of its life."""
    return f"- turn {change.turn}: {change.action}, {change.tokens:,} tokens; {change.reason}"
