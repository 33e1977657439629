"""How much is done with a text, in calls of functions, which no machine, load or order of tests changes."""

from collections.abc import Callable
from cProfile import Profile

from autogen_context.text.memo import Memo

CHARS = 2_500  # of the first text
MOST_CHARS = 40_000  # of a text of which four times as much is tried; beyond, every limit and cache is used up
MOST_RATIO = 4.5


def calls_of(way: Callable[[str], object], text: str) -> int:
    """Calls of functions, Python's own included, that a way makes with a text which it meets for the first time."""
    profile = Profile(subcalls=False)
    with Memo().in_use():
        profile.enable()
        try:
            way(text)
        finally:
            profile.disable()
    return sum(row.callcount for row in profile.getstats())


def is_linear(way: Callable[[str], object], made: Callable[[int], str]) -> bool:
    """Whether four times the text costs at most ``MOST_RATIO`` times the calls, at the latest of larger ones.

    A small text may fit, where the larger one does not. The grammar that both need is built before.
    """
    chars = CHARS
    way(made(chars))
    before, after = calls_of(way, made(chars)), calls_of(way, made(4 * chars))
    while after > MOST_RATIO * before and chars < MOST_CHARS:
        chars *= 4
        before, after = after, calls_of(way, made(4 * chars))
    return after <= MOST_RATIO * before
