"""Choose the turns of a long conversation that a person reads.

Promise: every turn in which something happened is chosen, and the first and the last.
"""

from collections.abc import Sequence

from autogen_context.report.turns import HOLD, TurnRecord

READABLE_ROWS = 40


def sampled(records: Sequence[TurnRecord], *, every: int | None = None) -> list[TurnRecord]:
    """The turns to show.

    Args:
        records: n turns.
        every: of the turns in which nothing happened, show each so many-th; left out, so many that there are about
            ``READABLE_ROWS`` in all.

    Returns:
        Some of them, same order.

    Raises:
        ValueError: ``every`` is below 1.
    """
    if every is not None and every < 1:
        raise ValueError(f"every={every}: show each turn with 1, each tenth with 10")
    held = [record for record in records if record.happened == HOLD]
    step = every or fitting_step(len(held), READABLE_ROWS - (len(records) - len(held)))
    chosen = {record.turn for record in [*held[::step], *records[-1:]]}
    return [r for r in records if r.happened != HOLD or r.turn in chosen]


def fitting_step(turns: int, rows: int) -> int:
    """The smallest step that leaves no more turns than rows; one row stays where there is no room."""
    return max(1, -(-turns // max(1, rows)))
