"""The values in a text: what a later message can only name if it is still there; found in linear time.

A value is an identifier, a path, a dotted name, an address, a date, a number or a plain word, and each part of a compound
one. What has a digit, a mark or a capital within is *telling*: it names one thing. A plain word hardly ever does.
"""

import re
from functools import lru_cache

RUN = re.compile(r"\w[\w./@-]*")
CONNECTORS = "./@-"
PART = re.compile(r"\w+")
LEAST = 3  # characters; shorter values are everywhere
VALUE_RUN = re.compile(rf"\w[\w./@-]{{{LEAST - 1},}}+")  # of shorter ones nothing is a value
ASCII_RUN = re.compile(VALUE_RUN.pattern, re.ASCII)  # the same in such a text, in less time
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
    runs = set((ASCII_RUN if text.isascii() else VALUE_RUN).findall(text))
    longest = max(map(len, runs), default=0)
    return NOTHING.union(*map(known if longest <= MOST else values_in, runs))


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
