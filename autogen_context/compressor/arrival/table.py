"""Tables: values set apart by commas, tabs or semicolons, and those drawn with bars and rules.

Promise: tightened, a table is as it was. Cut, the header stays above the failed, the wanted, the first and the last rows.
"""

import re
from collections import Counter
from collections.abc import Sequence

from autogen_context.compressor.arrival.lines import ERROR_RANK, choose, lines_of, ranked
from autogen_context.compressor.arrival.reducer import Reducer, Room

SAMPLE_LINES = 60
SAMPLE_CHARS = 6_000
LEAST_LINES = 3
LEAST_DELIMITERS = 2  # a line
SAME_FRACTION = 0.9  # of the lines that have as many as the header
HEADED_WITHIN = 3  # lines above the header
ODD_FRACTION = 0.2  # of the lines that may look like something else
QUOTED = re.compile(r'"[^"]*"')
ODD = re.compile(
    r"^[\s(\[{<#/*@$>-]|[,;{(\[.!?]$|[=(]\s|: |^\W*\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d,\d"
)
HEADING = re.compile(r"\s*\"?[^\W\d][^=(){}<>]{0,38}")

BAR = re.compile("[|│┃║]")
RULE = re.compile(r"(?=.*[+|│┃║┼┬┴╪╬╦╩])(?=.*[-=─━═]{2})[ \t\r+=:|│┃║─-╿-]+\Z")
BARRED_FRACTION = 0.6  # of a sample's lines

HEADER_RANK = ERROR_RANK + 2
ENDS_RANK = 1.5


def recognises(text: str, _: Sequence[str]) -> bool:
    """Whether most lines of the beginning stand in a table; commands joined by bars have no rule, and are none."""
    whole, _end, broken = text[:SAMPLE_CHARS].rpartition("\n")
    lines = [line for line in whole.split("\n")[:SAMPLE_LINES] if line.strip()]
    lines += [broken] if broken.strip() and len(text) <= SAMPLE_CHARS else []
    barred = sum(1 for line in lines if BAR.search(line) or RULE.match(line))
    is_drawn = barred >= BARRED_FRACTION * len(lines) and any(map(RULE.match, lines))
    return is_drawn or header_in(lines) is not None


def cut(text: str, room: Room) -> str:
    """The header, and the rows that matter."""
    lines = lines_of(text)
    ranks = [0.0] * len(lines)
    ranks[:2] = [ENDS_RANK] * len(ranks[:2])
    ranks[-1] = ENDS_RANK
    found = ranked(ranks, lines, room, errors=True)
    above = header_lines(lines[:SAMPLE_LINES])
    found[:above] = [HEADER_RANK] * above
    return choose(lines, found, room, noun="rows")


def header_lines(lines: Sequence[str]) -> int:
    """How many lines stand above the first row."""
    header = header_in([line for line in lines if line.strip()])
    if header is not None:
        return header + 1
    rules = [i for i, line in enumerate(lines) if RULE.match(line)]
    named = (i for i, line in enumerate(lines) if BAR.search(line) and i not in rules)
    first = next(named, 0)
    return next((i + 1 for i in rules if i >= first), 0)


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
            names = [name for name in lines[header].strip().split(delimiter) if name.strip()]
            told = len(set(names)) == len(names) > 1 and all(map(HEADING.fullmatch, names))
            return header if told else None
    return None


TABLE = Reducer(kind="table", recognises=recognises, cut=cut)
