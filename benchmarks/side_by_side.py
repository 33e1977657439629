"""Time alternatives in turn, and show what was found as a table.

Promise: each round runs every alternative, so a machine that is busy for a while is busy for all of them; what a run
needs is made ready outside the time.

Times are CPU time of this process. Nothing that is measured here waits, so on an idle machine this is the time that
passes; on a busy one it leaves out what others do in between.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from statistics import median
from time import process_time
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)

Run = Callable[[], object]
MakeReady = Callable[[], Run]
"""Makes one run ready; each call gives another run."""

ROUND_S = 0.005  # runs that are shorter than this are repeated in a round,
MOST_RUNS = 10  # so many times at most


def medians(alternatives: Mapping[Key, MakeReady], *, rounds: int) -> dict[Key, float]:
    """Time the alternatives round by round.

    Args:
        alternatives: what to time.
        rounds: how often each one has its turn.

    Returns:
        For each alternative the median of its runs, in seconds.
    """
    times: dict[Key, list[float]] = {key: [] for key in alternatives}
    for _ in range(rounds):
        for key, make_ready in alternatives.items():
            times[key] += one_round(make_ready)
    return {key: median(taken) for key, taken in times.items()}


def one_round(make_ready: MakeReady) -> list[float]:
    """The times of the runs of one alternative in one round, in seconds."""
    times: list[float] = []
    while len(times) < MOST_RUNS and sum(times) < ROUND_S:
        times.append(seconds(make_ready()))
    return times


def seconds(run: Run) -> float:
    """What one run takes."""
    started = process_time()
    run()
    return process_time() - started


def table(*rows: Sequence[str]) -> str:
    """Rows of cells in aligned columns, the first column to the left; the first row is the head."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(aligned(row, widths) for row in rows)


def aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    """One row of a table."""
    first, *rest = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
    return "  ".join([first.lstrip().ljust(widths[0]), *rest])


def ms(taken_s: float) -> str:
    """A time in milliseconds, as a cell."""
    return f"{taken_s * 1e3:,.2f} ms"


def times(ratio: float) -> str:
    """A ratio, as a cell."""
    return f"{ratio:,.1f}x" if ratio >= 10 else f"{ratio:.2f}x"
