"""The values in a text: what a later message can only name if it is still there.

Promise: linear time; the same text gives the same values.

A value is an identifier, a path, a dotted name, an address, a date, a number or a plain word; of a compound one its
parts are values as well. What has a digit, an underscore, a slash, a dot, an @, a dash or a capital within is
*telling*: it names one thing. A plain word hardly ever does.
"""

import re

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
RUNS = re.compile(r"([aA9])\1+")


def values_of(text: str) -> frozenset[str]:
    """The distinct values of a text."""
    values: set[str] = set()
    for run in set(RUN.findall(text)):
        if run.isidentifier() or run.isdecimal():
            values.add(run)
        else:
            values.add(run.rstrip(CONNECTORS))
            values.update(PART.findall(run))
    return frozenset(value for value in values if LEAST <= len(value) <= MOST)


def is_telling(value: str) -> bool:
    """Whether a value names one thing, as plain words do not."""
    return TELLING.search(value) is not None


def shape_of(value: str) -> str:
    """What values of one kind have in common: ``HAT170`` and ``HAT021`` are both ``A9``."""
    return RUNS.sub(r"\1", value.translate(LETTERS))
