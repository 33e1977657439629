"""The values in a text: what a later message can only name if it is still there.

Promise: linear time; the same text gives the same values.

A value is an identifier, a path, a dotted name, an address, a date, a number or a plain word; of a compound one its
parts are values as well. What has a digit, an underscore, a slash, a dot, an @, a dash or a capital within is
*telling*: it names one thing. A plain word hardly ever does.
"""

import re
from functools import lru_cache

RUN = re.compile(r"\w[\w./@-]*")
CONNECTORS = "./@-"
PART = re.compile(r"\w+")
LEAST = 3  # characters; shorter values are everywhere
MOST = 120  # characters; longer ones are data, not names
TELLING = re.compile(r"[/_\d@.-]|[a-z][A-Z]")
LETTERS = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    "a" * 26 + "A" * 26 + "9" * 10,
)
SAME = re.compile("(?<=a)a+|(?<=A)A+|(?<=9)9+")
REMEMBERED = 20_000  # short runs, and values: a conversation names the same things again and again

NOTHING: frozenset[str] = frozenset()


def values_of(text: str) -> frozenset[str]:
    """The distinct values of a text."""
    runs = set(RUN.findall(text))
    return NOTHING.union(*[known(run) if len(run) <= MOST else values_in(run) for run in runs])


def values_in(run: str) -> tuple[str, ...]:
    """The values of a text without spaces."""
    if run.isidentifier() or run.isdecimal():
        found = [run]
    else:
        found = [run.rstrip(CONNECTORS), *PART.findall(run)]
    return tuple(value for value in found if LEAST <= len(value) <= MOST)


known = lru_cache(maxsize=REMEMBERED)(values_in)


@lru_cache(maxsize=REMEMBERED)
def is_telling(value: str) -> bool:
    """Whether a value names one thing, as plain words do not."""
    return TELLING.search(value) is not None


@lru_cache(maxsize=REMEMBERED)
def shape_of(value: str) -> str:
    """What telling values of one kind have in common: ``HAT170`` and ``HAT021`` are both ``A9``; empty for a plain word."""
    return SAME.sub("", value.translate(LETTERS)) if is_telling(value) else ""
