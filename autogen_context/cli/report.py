"""``autogen-context report RUN``: the event log of a run as a page that a browser opens.

Promise: the page is one file that works offline; the log is not changed.
"""

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from autogen_context.cli import printable
from autogen_context.report.events import DAMAGED, Run, read_events, runs_of
from autogen_context.report.page import page_of

if TYPE_CHECKING:
    from argparse import _SubParsersAction  # pyright: ignore[reportPrivateUsage] - it has no public name


def add_parser(subparsers: "_SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``report`` to the command."""
    parser = subparsers.add_parser(
        "report",
        help="a page of what a run sent, what left and what it cost",
        description="Makes a page of an event log (events='run.jsonl'): one HTML file, which works offline.",
    )
    parser.add_argument("log", metavar="RUN", type=Path, help="the event log")
    parser.add_argument(
        "-o", "--output", metavar="PAGE", type=Path, help="the page; left out, RUN with .html"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write the page of a log; the exit code."""
    log: Path = arguments.log
    page: Path = arguments.output or log.with_suffix(".html")
    if page.exists() and page.samefile(log):
        raise ValueError(f"{page}: this is the log itself; name another file with --output")
    events = list(read_events(log))
    damaged = sum(event["event"] == DAMAGED for event in events)
    if damaged:
        sys.stderr.write(f"autogen-context: warning: {damaged:,} damaged lines are left out\n")
    write_page(runs_of(events), title=log.name, page=page)
    return 0


def write_page(runs: Iterable[Run], *, title: str, page: Path) -> None:
    """Write a page, and say where it is."""
    try:
        page.write_text(page_of(runs, title=title), encoding="utf-8")
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{title}: {error}") from error
    sys.stdout.write(f"The page is in {printable(str(page))}\n")
