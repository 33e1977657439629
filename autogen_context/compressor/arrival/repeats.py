"""Lines that come again and again are written once, with how often they came.

Promise: lossless: the line above such a note, so many times more, is what stood there; a text that has such a note
already stays as it is. What would not save tokens for certain stays as well.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import eq

NOTE = re.compile(r"^\[the line above \d+ more times\]\r?$", re.MULTILINE)
WORD = re.compile(r"[A-Za-z]+|[0-9]+")
NOTE_TOKENS = 16  # more than any known encoding needs for the note
MANY_BLANK = "\n" * 2_000  # no encoding has a token for more than a hundred
BLANK_RUN = re.compile(r"(?<!\n)\n{2000,}+")


def without_repeats(text: str) -> str:
    """The same text with each run of one line written once, and a note of how many more there were."""
    if NOTE.search(text):
        return text
    lines = lines_in(text)
    if any(map(eq, lines, lines[1:])):
        lines = [line for run in runs(lines) for line in run]
    return "\n".join(lines)


def lines_in(text: str) -> list[str]:
    """The lines of a text; of thousands of blank ones on end the first, and a note of how many more there were."""
    if MANY_BLANK in text:
        text = BLANK_RUN.sub(lambda run: f"\n\n{note_of(len(run[0]) - 2)}\n", text)
    return text.split("\n")


def runs(lines: Sequence[str]) -> Iterator[list[str]]:
    """Each run of equal lines, as it is to be written."""
    for line, group in groupby(lines):
        run = list(group)
        times = len(run) - 1
        yield noted(line, times) if times and times * least_tokens(line) >= NOTE_TOKENS else run


def noted(line: str, times: int) -> list[str]:
    """A line, and the note that it came so many times more, with the same end of line."""
    return [line, note_of(times) + "\r" * line.endswith("\r")]


def note_of(times: int) -> str:
    """What stands below a line that came so many times more."""
    return f"[the line above {times} more times]"


def least_tokens(line: str) -> int:
    """How many tokens a line has at least: words and numbers never share one, and only blanks and slashes join lines."""
    words = sum(1 for _ in WORD.finditer(line[:400]))
    return words or int(not line.isspace() and line[:1] not in {"", "/"})
