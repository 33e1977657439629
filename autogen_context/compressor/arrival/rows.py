"""Rows of data: which of them matter, and those that fit.

Promise: what has something wanted stays before the first and the last rows, these before rows that tell of an error, and
these before the rest. Time grows with the text.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from autogen_context.compressor.arrival.alarms import ERROR, alarms_in
from autogen_context.compressor.arrival.lines import choose
from autogen_context.compressor.arrival.reducer import Room
from autogen_context.compressor.arrival.wanted import (
    EVERYWHERE_LINES,
    EVERYWHERE_SHARE,
    raised,
    wanted_in,
)

WANTED_RANK = 2.0  # and up to half more for the best
ENDS_RANK = 1.5
ERROR_RANK = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Lines of one kind of content, ranked.

    Attributes:
        lines: n lines, without their ends.
        ranks: n numbers; a higher one stays before a lower one.
        noun: what a mark calls many of them.
    """

    lines: Sequence[str]
    ranks: Sequence[float]
    noun: str = "rows"

    def gap(self, rows: int) -> str:
        """What stands where so many of them were."""
        return f"[… {rows:,} {self.noun if rows > 1 else self.noun.removesuffix('s')} …]"


def kept(rows: Rows, text: str, room: Room) -> str:
    """The rows that fit, in their order, with marks; never more characters than the text that they were made of."""
    found = choose(rows.lines, rows.ranks, room, gap=rows.gap)
    return found if len(found) <= len(text) else choose([text], [0.0], room)


def ranks_of(lines: Sequence[str], wanted: Collection[str], *, ends: bool = True) -> list[float]:
    """A rank for each row of one table or list.

    Args:
        lines: n rows.
        wanted: lower-case words, identifiers and paths.
        ends: the first two rows and the last one have a rank for that.
    """
    ranks = [0.0] * len(lines)
    for i in errors_in(lines):
        ranks[i] = ERROR_RANK
    for i in {0, min(1, len(lines) - 1), len(lines) - 1} if lines and ends else ():
        ranks[i] = max(ranks[i], ENDS_RANK)
    return raised(ranks, wanted_in(lines, wanted), to=WANTED_RANK)


def errors_in(lines: Sequence[str]) -> list[int]:
    """The positions of rows that tell of an error; none where so many do that it tells nothing."""
    found = [i for i, level in enumerate(alarms_in(lines)) if level == ERROR]
    most = max(EVERYWHERE_LINES, int(EVERYWHERE_SHARE * len(lines)))
    return found if len(found) <= most else []
