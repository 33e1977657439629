"""Whether the task gets done: families of tasks with managers of context beside each other, as a table and a picture.

Each run is a real agent with a real client on a loopback server that refuses what is too large and bills with a prompt cache; a
scripted policy, which sees nothing but its request, plays the model (``tasks/``). Runs that stand in the file of ``--out`` already
are not made again.

    python benchmarks/task_table.py [--families rules edits] [--seeds 20] [--windows 4000 12000] [--managers ours sliding]
                                    [--hosts] [--out runs.jsonl] [--picture runs.svg] [--workers 2] [--extra-tools 120]
"""

import argparse
import asyncio
import json
import logging
import sys
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from itertools import product
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from tasks.client import uncopied
from tasks.families import FAMILIES
from tasks.managers import EVERYTHING, MANAGERS, ON_HOSTS
from tasks.report import as_text, picture
from tasks.run import Outcome, run

WINDOWS = (4_000, 12_000, 32_000)


class Wanted(NamedTuple):
    """A run; a window of 0 is none."""

    family: str
    seed: int
    window: int  # tokens
    manager: str
    host: str = ""
    extra_tools: int = 0


def made(wanted: Wanted) -> Outcome:
    """Run one task."""
    logging.disable()
    warnings.simplefilter("ignore")
    managers = ON_HOSTS if wanted.host else MANAGERS
    manager = managers[wanted.host or wanted.manager]
    task = FAMILIES[wanted.family](wanted.seed)
    with uncopied():
        return asyncio.run(run(task, manager, wanted.window, extra_tools=wanted.extra_tools))


def wanted_of(asked: argparse.Namespace) -> Iterator[Wanted]:
    """The runs that are asked for; with an unlimited window each task is worked once."""
    seeds: Sequence[int] = range(asked.first, asked.first + asked.seeds)
    families: Sequence[str] = asked.families
    for seed, family in product(seeds, families):
        for name in asked.managers:
            windows = (0,) if name == EVERYTHING.name else asked.windows
            for window in windows:
                hosts = ON_HOSTS if asked.hosts and name == "ours" else ("",)
                for host in hosts:
                    yield Wanted(family, seed, window, name, host, asked.extra_tools)


def key_of(outcome: Outcome, *, by_host: bool) -> Wanted:
    """The run that an outcome is of."""
    host = outcome.host if by_host and outcome.manager == "ours" else ""
    return Wanted(
        outcome.family, outcome.seed, outcome.window, outcome.manager, host, outcome.extra_tools
    )


def outcomes(asked: argparse.Namespace) -> list[Outcome]:
    """The outcomes of all runs, those of the file first; each is written as soon as it is there."""
    path = Path(asked.out) if asked.out else None
    lines = path.read_text("utf-8").splitlines() if path and path.exists() else []
    known = {
        key_of(o, by_host=asked.hosts): o for o in (Outcome(**json.loads(line)) for line in lines)
    }
    wanted = list(wanted_of(asked))
    left = [each for each in wanted if each not in known]
    started = monotonic()
    with ProcessPoolExecutor(asked.workers) as pool:
        runs = {pool.submit(made, each): each for each in left}
        for done, future in enumerate(as_completed(runs), start=1):
            try:
                outcome = known[runs[future]] = future.result()
            except Exception as error:
                error.add_note(f"the run was {runs[future]}")
                pool.shutdown(cancel_futures=True)  # what is in the file stays there
                raise
            if path:
                with path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(outcome)) + "\n")
            if sys.stderr.isatty():
                print(f"\r{done} of {len(left)}", end="", file=sys.stderr, flush=True)
    print(f"{len(left)} runs in {(monotonic() - started) / 60:.1f} minutes", file=sys.stderr)
    return [known[each] for each in wanted]


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--families", nargs="+", choices=[*FAMILIES], default=[*FAMILIES])
    parser.add_argument("--managers", nargs="+", choices=[*MANAGERS], default=[*MANAGERS])
    parser.add_argument("--windows", nargs="+", type=int, default=WINDOWS)
    parser.add_argument("--seeds", type=int, default=20, help="how many tasks of each family")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--hosts", action="store_true", help="ours on each of four hosts")
    parser.add_argument(
        "--extra-tools", type=int, default=0, help="so many that no task needs, at most 120"
    )
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", help="a file of outcomes, a JSON line each, which is continued")
    parser.add_argument("--picture", help="an SVG file to write")
    return parser.parse_args(given)


def main() -> None:
    """Run, and show the table."""
    asked = arguments()
    found = outcomes(asked)
    print(as_text(found))
    if asked.picture:
        Path(asked.picture).write_text(picture(found), encoding="utf-8")


if __name__ == "__main__":
    main()
