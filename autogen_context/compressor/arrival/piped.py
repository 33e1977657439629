"""Tables drawn with bars and rules: Markdown, psql, mysql and those with lines of boxes.

Promise: only blanks next to bars and the length of rules change, so every cell has the same text; a row with an escaped
bar in it stays as it is. A table has a rule, so that commands joined by bars are none.
"""

import re
from collections.abc import Iterator, Sequence

BARS = "|│┃║"
RULE_CHARS = f" \t\r+-=:{BARS}─━═┼├┤┌┐└┘┬┴╞╪╡╔╗╚╝╠╣╦╩╬"
JOINTS = f"+{BARS}┼┬┴╪╬╦╩"
STROKES = re.compile(r"-{2}|={2}|─{2}|━{2}|═{2}")
BAR = re.compile(f"[{BARS}]")
JOINT = re.compile(f"[{JOINTS}]")
BLANKS = re.compile(r" {2,}")
LONG_RULE = re.compile(r"([-=─━═])\1{3,}")


def is_rule(line: str) -> bool:
    """Whether a line is drawn, and parts columns."""
    return (
        not line.strip(RULE_CHARS)
        and STROKES.search(line) is not None
        and any(joint in line for joint in JOINTS)
    )


def tables_in(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where tables begin and end: lines with bars, one below the other, with a rule among them and another line."""
    if not any(map(is_rule, lines)):
        return
    start = 0
    for i, barred in enumerate([*map(has_bar, lines), False]):
        if barred:
            continue
        if i - start > 1 and 0 < sum(map(is_rule, lines[start:i])) < i - start:
            yield start, i
        start = i + 1


def has_bar(line: str) -> bool:
    """Whether a line may be one of a table."""
    return JOINT.search(line) is not None and (BAR.search(line) is not None or is_rule(line))


def header_lines(lines: Sequence[str]) -> int:
    """How many lines of a table come before its first row: to the first rule below a line with text."""
    below = False
    for i, line in enumerate(lines):
        if below and is_rule(line):
            return i + 1
        below = below or not is_rule(line)
    return 0


def narrow(line: str) -> str:
    r"""A line of a table with one blank beside a bar and short rules; with ``\|`` in it, the line itself."""
    if "\\|" in line:
        return line
    return LONG_RULE.sub(r"\1\1\1", line) if is_rule(line) else unpadded(line)


def unpadded(line: str) -> str:
    """One blank for several at the start of a row and beside its bars, none at its end."""
    ending = "\r" if line.endswith("\r") else ""
    return BLANKS.sub(narrowed, line.rstrip(" \t\r")) + ending


def narrowed(match: re.Match[str]) -> str:
    """One blank for those beside a bar."""
    row, (start, end) = match.string, match.span()
    return " " if not start or row[start - 1] in BARS or row[end] in BARS else match.group()
