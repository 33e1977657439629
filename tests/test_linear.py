"""Each way of a text through the package is linear, whatever the text is."""

from collections.abc import Callable

import pytest
from text_paths import INPUTS, PATHS, STATING

from support.work import FREE_CALLS, MOST_RATIO, grown

WAYS_OF_STATEMENTS = [name for name in PATHS if name.startswith(("ledger: ", "recall: facts"))]


def superlinear(way: Callable[[str], object], names: list[str]) -> dict[str, tuple[int, int]]:
    """The texts of which four times as much costs more than ``MOST_RATIO`` times as many calls."""
    found = {name: grown(way, INPUTS[name]) for name in names}
    return {
        name: (small, large)
        for name, (small, large) in found.items()
        if large - FREE_CALLS > MOST_RATIO * small
    }


@pytest.mark.parametrize("name", WAYS_OF_STATEMENTS)
def test_statements_cost_what_they_are_long(name: str) -> None:
    """One subject, one rule, withdrawals, corrections, in one text or a message each: four times as many, four times the calls."""
    assert superlinear(PATHS[name], list(STATING)) == {}
