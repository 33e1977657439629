"""Lines that come again and again are written once, with how often they came.

Promise: lossless: the line above such a note, so many times more, is what stood there; a text that has such a note
already stays as it is. What would not save tokens for certain stays as well.
"""

import re
from collections.abc import Iterator
from itertools import groupby

NOTE = re.compile(r"^\[the line above \d+ more times\]\r?$", re.MULTILINE)
WORD = re.compile(r"[A-Za-z]+|[0-9]+")
NOTE_TOKENS = 16  # more than any known encoding needs for the note


def without_repeats(text: str) -> str:
    """The same text with each run of one line written once, and a note of how many more there were."""
    if NOTE.search(text):
        return text
    return "\n".join(line for run in runs(text) for line in run)


def runs(text: str) -> Iterator[list[str]]:
    """Each run of equal lines, as it is to be written."""
    for line, group in groupby(text.split("\n")):
        times = sum(1 for _ in group) - 1
        yield (
            noted(line, times)
            if times and times * least_tokens(line) >= NOTE_TOKENS
            else [line] * (times + 1)
        )


def noted(line: str, times: int) -> list[str]:
    """A line, and the note that it came so many times more, with the same end of line."""
    note = f"[the line above {times} more times]"
    return [line, note + "\r" * line.endswith("\r")]


def least_tokens(line: str) -> int:
    """How many tokens a line has at least: words and numbers never share one, and only blanks and slashes join lines."""
    words = sum(1 for _ in WORD.finditer(line[:400]))
    return words or int(not line.isspace() and line[:1] not in {"", "/"})
