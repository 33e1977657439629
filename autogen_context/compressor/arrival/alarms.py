"""Which lines tell of something that went wrong.

Promise: told by whole words that loggers, compilers and test runners use, and by names like ``ValueError``; a count of
none (``0 failed``, ``no errors``) is no alarm. Time grows with the text.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from string import ascii_lowercase, ascii_uppercase

ERROR = 2
WARNING = 1

ERROR_STEMS = (
    "error exception traceback fail fatal panic critical denied refused abort".split()  # noqa: SIM905 - reads as the list it is
)
LEVELS = {
    **dict.fromkeys([*ERROR_STEMS, "timed out", "not found", "no such"], ERROR),
    **dict.fromkeys(["warn", "deprecat"], WARNING),
}
ENDINGS = frozenset(
    ["", "s", "ed", "ing", "ure", "ures", "ked", "ning", "nings", "ned", "ion", "ions"]
)
NAME_ENDINGS = frozenset({"", "s", "ing", "ure"})  # of what has letters before, like KeyError
LETTERS = re.compile(r"[A-Za-z]{0,9}")
NONE_BEFORE = re.compile(r"(?:\b0|\b[Nn]o|\b[Ww]ithout)[ =:]+\Z")
NONE_AFTER = re.compile(r"s?[ =:]+0\b")
NONE_CHARS = 12  # before a word, to look at for a count of none
SMALL = str.maketrans(ascii_uppercase, ascii_lowercase)


def alarms_in(lines: Sequence[str]) -> list[int]:
    """How bad what each of n lines tells of is: 2 for an error, 1 for a warning, else 0."""
    text = "\n".join(lines)
    low = text.lower()
    if len(low) != len(text):  # some letters grow; places must be the same in both
        low = text.translate(SMALL)
    starts = starts_of(lines)
    levels = [0] * len(lines)
    for stem, level in LEVELS.items():
        at = low.find(stem)
        while at >= 0:
            end = at + len(stem)
            if tells(text, at, end):
                i = bisect_right(starts, at) - 1
                levels[i] = max(levels[i], level)
                end = starts[i + 1]
            at = low.find(stem, end)
    return levels


def starts_of(lines: Sequence[str]) -> list[int]:
    """Where each line begins once they are joined, and where a further one would."""
    return [0, *accumulate(map((1).__add__, map(len, lines)))]


def tells(text: str, at: int, end: int) -> bool:
    """Whether a stem at a place is a word of its own, or ends a name in capitals, and counts something."""
    after = LETTERS.match(text, end)
    ending = after.group().lower() if after else ""
    inside = at > 0 and text[at - 1].isalpha()
    if ending not in (NAME_ENDINGS if inside else ENDINGS) or (inside and not text[at].isupper()):
        return False
    none = NONE_BEFORE.search(text[max(0, at - NONE_CHARS) : at]) or NONE_AFTER.match(text, end)
    return not none
