"""Columns that blanks set apart: what ``ps``, ``df``, ``kubectl get`` and ``ls -l`` print.

Promise: one blank is left between columns only where each row has a word in every column but the last, in the place that
its heading has, so that words still tell columns; the last column stays to the character. All rows of a table or none.
"""

import re
from collections.abc import Iterator, Sequence

LEAST_COLUMNS = 3
LEAST_LINES = 3
NUMBER = re.compile(r"[\d.,:%+-]+")
LISTED = re.compile(  # as ls -l has it; the name, whatever blanks are in it, is not touched
    r"([-dlbcps][-rwxsStT]{9}[.+@]?) +(\d+) +(\S+) +(\S+) +(\d+) +([A-Z][a-z]{2}) +(\d+) +(\d+:?\d+)(?= )"
)

LISTED_KINDS = frozenset("-dlbcps")

Spans = Sequence[tuple[int, int]]


def tables_in(lines: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Where tables begin and end, and how many columns they have."""
    start = 0
    for i, line in enumerate([*lines, ""]):
        if line and not line.isspace():
            continue
        columns = columns_of(lines[start:i]) if i - start >= LEAST_LINES else 0
        if columns:
            yield start, i, columns
        start = i + 1


def columns_of(lines: Sequence[str]) -> int:
    """How many columns some lines have, the first of them the heading; 0 where they are no table."""
    if "  " not in lines[1] or not is_heading(lines[0]):
        return 0
    columns = min(len(line.split()) for line in lines)
    if columns < LEAST_COLUMNS:
        return 0
    inner = re.compile(r"\s*+" + r"\s++".join([r"(\S++)"] * (columns - 1)))
    heading, *rows = (match.regs[1:] for line in lines if (match := inner.match(line)))
    return columns if all(below(row, heading) for row in rows) else 0


def is_heading(line: str) -> bool:
    """Whether a line could name columns: none of its words is a number."""
    return not any(NUMBER.fullmatch(word) for word in line.split())


def below(spans: Spans, heading: Spans) -> bool:
    """Whether each word begins or ends where its heading does."""
    for (start, end), (above_start, above_end) in zip(spans, heading, strict=True):
        if start != above_start and end != above_end:
            return False
    return True


def narrow(line: str, columns: int) -> str:
    """A row with one blank before each of its columns."""
    return " ".join(line.split(None, columns - 1))


def narrow_listed(line: str) -> str:
    """A line of ``ls -l`` with one blank between its columns; another line as it is."""
    listed = LISTED.match(line) if line[:1] in LISTED_KINDS else None
    return " ".join((*listed.groups(), line[listed.end() + 1 :])) if listed else line
