"""The values in a text, found in linear time: what a later message can only repeat while it is in the window.

A value is an identifier, path, dotted name, address, date, number or plain word, and each part of a compound one. Values
with a digit, punctuation or an inner capital are *distinctive*, as they name one particular thing.
"""

import re

from autogen_context.text.memo import remembered, remembering
from autogen_context.text.work import NAME_CHARS, ends_of

RUN = re.compile(r"\w[\w./@-]*")
CONNECTORS = "./@-"
PART = re.compile(r"\w+")
LEAST = 3  # characters; shorter values are ignored
VALUE_RUN = re.compile(rf"\w[\w./@-]{{{LEAST - 1},}}+")  # shorter runs hold no value
ASCII_RUN = re.compile(VALUE_RUN.pattern, re.ASCII)  # the same for ASCII text, faster
MOST = 120  # characters; longer runs are data, not names
DISTINCTIVE = re.compile(r"[/_\d@.-]|[a-z][A-Z]")
LETTERS = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", "a" * 26 + "A" * 26 + "9" * 10
)
SAME = re.compile("(?<=a)a+|(?<=A)A+|(?<=9)9+")
REMEMBERED = 20_000  # cache entries: a conversation repeats its names

NOTHING: frozenset[str] = frozenset()


def values_of(text: str) -> frozenset[str]:
    """Return the distinct values of a text; of a long one, of its ends."""
    text = ends_of(text, NAME_CHARS)
    runs = set((ASCII_RUN if text.isascii() else VALUE_RUN).findall(text))
    longest = max(map(len, runs), default=0)
    known = remembering(values_in, REMEMBERED) if longest <= MOST else values_in
    return NOTHING.union(*map(known, runs))


def values_in(run: str) -> tuple[str, ...]:
    """Return the values of a run of text without spaces."""
    if run.isidentifier() or run.isdecimal():
        found = [run]
    else:
        found = [run.rstrip(CONNECTORS), *PART.findall(run)]
    return tuple(value for value in found if LEAST <= len(value) <= MOST)


def is_distinctive(value: str) -> bool:
    """Whether a value names one particular thing, unlike a plain word."""
    return DISTINCTIVE.search(value) is not None


@remembered(REMEMBERED)
def shape_of(value: str) -> str:
    """Return the pattern of a distinctive value: ``HAT170`` and ``HAT021`` are both ``A9``; empty for a plain word."""
    return SAME.sub("", value.translate(LETTERS)) if is_distinctive(value) else ""
