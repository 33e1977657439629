"""Whether lines are values set apart by commas, tabs or semicolons.

Promise: told by a few lines; what has as many commas a line by chance (code, logs, prose, numbered lines) is refused.
"""

import re
from collections import Counter
from collections.abc import Sequence

DELIMITERS = "\t,;"
LEAST_LINES = 3
LEAST_DELIMITERS = 2  # a line
SAME_SHARE = 0.9  # of the lines that have as many as the header
HEADED_WITHIN = 3  # lines above the header
ODD_SHARE = 0.2  # of the lines that may look like something else
LONGEST_HEADING = 40  # characters of a column's name
QUOTED = re.compile(r'"[^"]*"')
ODD = re.compile(
    r"^[\s(\[{<#/*@$>-]|[,;{(\[.!?]$|[=(]\s|: |^\W*\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d,\d"
)
HEADING = re.compile(r"\s*\"?[^\W\d][^=(){}<>]*")


def header_in(lines: Sequence[str]) -> int | None:
    """The position of the line that names the columns; ``None`` where lines are no such table."""
    bare = [QUOTED.sub("", line) if '"' in line else line for line in lines]
    first = bare[:HEADED_WITHIN]
    for delimiter in DELIMITERS:
        if all(line.count(delimiter) < LEAST_DELIMITERS for line in first):
            continue
        counts = [line.count(delimiter) for line in bare]
        found = header_by(lines, counts, delimiter)
        if found is not None:
            return found
    return None


def header_by(lines: Sequence[str], counts: Sequence[int], delimiter: str) -> int | None:
    """The header, if lines are set apart by one delimiter."""
    usual = Counter(counts).most_common(1)[0][0]
    if usual < LEAST_DELIMITERS or usual not in counts[:HEADED_WITHIN]:
        return None
    header = counts.index(usual)
    rows = range(header, len(lines))
    same = [i for i in rows if counts[i] == usual]
    odd = sum(1 for i in same if ODD.search(lines[i].rstrip(delimiter + "\r")))
    if len(same) < max(LEAST_LINES, SAME_SHARE * len(rows)) or odd > ODD_SHARE * len(same):
        return None
    return header if names(lines[header], delimiter) else None


def names(line: str, delimiter: str) -> bool:
    """Whether a line names columns: each differently, and shortly."""
    cells = line.strip().split(delimiter)
    filled = [cell for cell in cells if cell.strip()]
    return len(set(filled)) == len(filled) > 1 and all(
        len(cell) <= LONGEST_HEADING and HEADING.fullmatch(cell) for cell in filled
    )
