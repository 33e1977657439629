"""Which lines tell of something that went wrong.

Promise: told by whole words that loggers, compilers and test runners use, and by names like ``ValueError``; a count of
none (``0 failed``, ``no errors``) is no alarm. Time grows with the text.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from string import ascii_lowercase, ascii_uppercase

from autogen_context.compressor.arrival.wanted import starts_of

ERROR = 2
WARNING = 1

LEVELS = {
    "error": ERROR,
    "exception": ERROR,
    "traceback": ERROR,
    "fail": ERROR,
    "fatal": ERROR,
    "panic": ERROR,
    "critical": ERROR,
    "denied": ERROR,
    "refused": ERROR,
    "abort": ERROR,
    "timed out": ERROR,
    "not found": ERROR,
    "no such": ERROR,
    "warn": WARNING,
    "deprecat": WARNING,
}
ENDINGS = frozenset(
    ["", "s", "ed", "ing", "ure", "ures", "ked", "ning", "nings", "ned", "ion", "ions"]
)
NAME_ENDINGS = frozenset({"", "s", "ing", "ure"})  # of what has letters before, like KeyError
LETTERS = re.compile(r"[A-Za-z]{0,9}")
NONE_BEFORE = re.compile(r"(?:\b0|\b[Nn]o|\b[Ww]ithout)[ =:]+\Z")
NONE_ENDS, AFTER_NONE = frozenset("0ot"), " =:"  # of words that say none, and behind them
NONE_CHARS = 12  # before a word, to look at for a count of none
NONE_AFTER = re.compile(r"s?[ =:]+0\b")
SMALL = str.maketrans(ascii_uppercase, ascii_lowercase)


def alarms_in(lines: Sequence[str]) -> list[int]:
    """How bad what each line tells of is.

    Args:
        lines: n lines, without their ends.

    Returns:
        n numbers: 2 for an error, 1 for a warning, else 0.
    """
    text = "\n".join(lines)
    low = text.lower()
    if len(low) != len(text):  # some letters grow; places must be the same in both
        low = text.translate(SMALL)
    starts = starts_of(lines)
    levels = [0] * len(lines)
    for stem, level in LEVELS.items():
        for i in lines_telling(stem, text, low, starts):
            levels[i] = max(levels[i], level)
    return levels


def lines_telling(stem: str, text: str, low: str, starts: Sequence[int]) -> Iterator[int]:
    """The positions of the lines in which a stem is an alarm, each once."""
    at = low.find(stem)
    while at >= 0:
        end = at + len(stem)
        if tells(text, at, end):
            i = bisect_right(starts, at) - 1
            yield i
            end = starts[i + 1]
        at = low.find(stem, end)


def tells(text: str, at: int, end: int) -> bool:
    """Whether a stem at a place is a word of its own, or ends a name in capitals, and counts something."""
    after = LETTERS.match(text, end)
    ending = after.group().lower() if after else ""
    inside = at > 0 and text[at - 1].isalpha()
    if ending not in (NAME_ENDINGS if inside else ENDINGS) or (inside and not text[at].isupper()):
        return False
    before = text[max(0, at - NONE_CHARS) : at]
    may_be_none = before.rstrip(AFTER_NONE)[-1:] in NONE_ENDS
    none = (may_be_none and NONE_BEFORE.search(before)) or NONE_AFTER.match(text, end)
    return not none
