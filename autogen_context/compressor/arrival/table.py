"""Tables: values set apart by commas, tabs or semicolons, and those drawn with bars and rules.

Promise: tightened, a table is as it was. Cut, the header stays above the failed, the wanted, the first and the last rows.
"""

import re
from collections import Counter
from collections.abc import Sequence

from autogen_context.compressor.arrival.lines import (
    ERROR_RANK,
    choose,
    lines_of,
    ranked,
)
from autogen_context.compressor.arrival.reducer import Reducer, Room

SAMPLE_LINES = 60
LEAST_LINES = 3
LEAST_DELIMITERS = 2  # a line
SAME_FRACTION = 0.9  # of the lines that have as many as the header
HEADED_WITHIN = 3  # lines above the header
ODD_FRACTION = 0.2  # of the lines that may look like something else
LONGEST_HEADING = 40  # characters of a column's name
QUOTED = re.compile(r'"[^"]*"')
ODD = re.compile(
    r"^[\s(\[{<#/*@$>-]|[,;{(\[.!?]$|[=(]\s|: |^\W*\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d,\d"
)
HEADING = re.compile(r"\s*\"?[^\W\d][^=(){}<>]*")

BARS = "|│┃║"
RULE = re.compile(rf"(?=.*[+{BARS}┼┬┴╪╬╦╩])(?=.*[-=─━═]{{2}})[ \t\r+=:{BARS}─-╿-]+\Z")
BARRED_FRACTION = 0.6  # of a sample's lines

HEADER_RANK = ERROR_RANK + 2
ENDS_RANK = 1.5


def recognises(text: str, _: Sequence[str]) -> bool:
    """Whether most lines of the beginning stand in a table."""
    lines = first_lines(text)
    if header_in(lines) is not None:
        return True
    barred = sum(1 for line in lines if has_bar(line))
    return barred >= BARRED_FRACTION * max(1, len(lines)) and is_drawn(lines)


def first_lines(text: str) -> list[str]:
    """The first lines that are not blank."""
    lines = text[: SAMPLE_LINES * 100].split("\n")[: SAMPLE_LINES + 1]
    whole = lines if len(lines) <= SAMPLE_LINES and len(text) <= SAMPLE_LINES * 100 else lines[:-1]
    return [line for line in whole if line.strip()]


def cut(text: str, room: Room) -> str:
    """The header, and the rows that matter."""
    lines = lines_of(text)
    ranks = [0.0] * len(lines)
    for i in {0, 1, len(lines) - 1}:
        ranks[min(i, len(lines) - 1)] = ENDS_RANK
    found = ranked(ranks, lines, room, errors=True)
    for i in range(header_lines(lines)):
        found[i] = HEADER_RANK
    return choose(lines, found, room, noun="rows")


def header_lines(lines: Sequence[str]) -> int:
    """How many lines stand above the first row."""
    first = lines[:SAMPLE_LINES]
    header = header_in([line for line in first if line.strip()])
    if header is not None:
        return header + 1
    named = next((i for i, line in enumerate(first) if has_bar(line) and not RULE.match(line)), 0)
    return next((i + 1 for i in range(named, len(first)) if RULE.match(first[i])), 0)


def header_in(lines: Sequence[str]) -> int | None:
    """The position of the line that names the columns; ``None`` where nothing sets these apart."""
    bare = [QUOTED.sub("", line) if '"' in line else line for line in lines]
    for delimiter in "\t,;":
        counts = [line.count(delimiter) for line in bare]
        usual = Counter(counts).most_common(1)[0][0] if counts else 0
        if usual < LEAST_DELIMITERS or usual not in counts[:HEADED_WITHIN]:
            continue
        header = counts.index(usual)
        same = [i for i in range(header, len(lines)) if counts[i] == usual]
        odd = sum(1 for i in same if ODD.search(lines[i].rstrip(delimiter + "\r")))
        enough = max(LEAST_LINES, SAME_FRACTION * (len(lines) - header))
        if len(same) >= enough and odd <= ODD_FRACTION * len(same):
            return header if names_columns(lines[header], delimiter) else None
    return None


def names_columns(line: str, delimiter: str) -> bool:
    """Whether a line names columns: each differently, and shortly."""
    filled = [cell for cell in line.strip().split(delimiter) if cell.strip()]
    return len(set(filled)) == len(filled) > 1 and all(
        len(cell) <= LONGEST_HEADING and HEADING.fullmatch(cell) for cell in filled
    )


def is_drawn(lines: Sequence[str]) -> bool:
    """Whether there is a rule, so that commands joined by bars are no table."""
    return any(map(RULE.match, lines))


def has_bar(line: str) -> bool:
    """Whether a line may be one of a drawn table."""
    return any(bar in line for bar in BARS) or RULE.match(line) is not None


TABLE = Reducer(kind="table", recognises=recognises, cut=cut)
