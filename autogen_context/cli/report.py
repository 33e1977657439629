"""``autogen-context report RUN``: render the event log of a run as an HTML page.

Promise: the page is one file that works offline; the log is not changed.
"""

import sys
from collections.abc import Iterable
from pathlib import Path

from autogen_context.cli import print_json, print_lines, waiting
from autogen_context.cli.explain import runs_in
from autogen_context.report.events import Run
from autogen_context.report.follow import follow
from autogen_context.report.page import page_of


def make_report(log: Path, output: Path | None, *, as_json: bool) -> None:
    """Write the page of a log, and print its path."""
    page = output or log.with_suffix(".html")
    if page.exists() and page.samefile(log):
        raise ValueError(f"{page}: this is the log itself; name another file with --output")
    runs = runs_in(log)
    write_page(runs, title=log.name, page=page)
    if as_json:
        of = [{"id": run.id, "agent": run.agent, "turns": len(run.turns)} for run in runs]
        print_json({"page": page, "runs": of})
    else:
        print_lines(f"The page is in {page}")


def serve_report(log: Path, port: int, *, as_json: bool) -> None:
    """Serve the page of a log until Ctrl-C, and print its URL."""

    def begun(url: str) -> None:
        if as_json:
            print_json({"url": url})
        else:
            print_lines(f"The page is at {url}", "It follows the run; Ctrl-C ends it.")
        sys.stdout.flush()

    follow(log, begun=begun, port=port)


def write_page(runs: Iterable[Run], *, title: str, page: Path) -> None:
    """Write the page of runs; ``ValueError`` if there is no turn or a number is invalid."""
    try:
        with waiting("making the page"):
            page.write_text(page_of(runs, title=title), encoding="utf-8")
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{title}: {error}") from error
