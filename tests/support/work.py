"""How much is done with a text, in calls of functions, which no machine, load or order of tests changes."""

import sys
from collections.abc import Callable, Iterator, Mapping
from cProfile import Profile
from types import ModuleType
from typing import Protocol, cast

PACKAGE = "autogen_context"
SIZES = (1_500, 6_000)  # characters, one four times the other
MOST_RATIO = 4.5
FREE_CALLS = 2_000  # what a text of any size may cost


def modules() -> Iterator[ModuleType]:
    """The modules of the package that are imported."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == PACKAGE:
            yield module


class Cached(Protocol):
    """A function with ``lru_cache``."""

    def cache_clear(self) -> None: ...
    def cache_parameters(self) -> Mapping[str, object]: ...


def forget_texts() -> None:
    """Empty the caches of texts; what is built once for all texts, without a limit, stays."""
    for module in modules():
        for value in list(vars(module).values()):
            if hasattr(value, "cache_parameters"):
                cached = cast("Cached", value)
                if cached.cache_parameters()["maxsize"]:
                    cached.cache_clear()


def calls_of(way: Callable[[str], object], text: str) -> int:
    """Calls of functions, Python's own included, that a way makes with a text which it meets for the first time."""
    forget_texts()
    profile = Profile(subcalls=False)
    profile.enable()
    try:
        way(text)
    finally:
        profile.disable()
    return sum(row.callcount for row in profile.getstats())


def grown(
    way: Callable[[str], object], made: Callable[[int], str], sizes: tuple[int, int] = SIZES
) -> tuple[int, int]:
    """Calls with a text and with one of four times its size; the grammar that both need is built before."""
    small, large = map(made, sizes)
    way(large)
    return calls_of(way, small), calls_of(way, large)
