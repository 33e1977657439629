r"""What programs print line by line: logs, and any output that is nothing more telling.

Promise: tightened, every character that a terminal would show at the end stays; what comes again at once is written once with a
number. Cut, errors stay before all else, then what is asked for, warnings, what is rare, both ends of each template.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from operator import eq

from autogen_context.compressor.arrival.lines import (
    BLANK_RANK,
    ERROR_RANK,
    Reducer,
    Room,
    are_enough,
    choose,
    lines_of,
    most_of,
    ranked,
)
from autogen_context.compressor.shorten import is_error_line

LOGGED = re.compile(
    r"\s*(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d"  # 2024-05-14 12:00
    r"|\[?\d\d:\d\d:\d\d\b"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d "  # May 14 12:00:00, as syslog has it
    r"|\S+ \S+ \S+ \[\d\d/[A-Z][a-z]{2}/\d{4}:"  # web servers
    r"|\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\]?[ :|])"
)
LEAST_LOGGED = 4
LOGGED_FRACTION = 0.5  # of the lines
LEAST_LINES = 2  # of an output

TERMINAL_CODE = re.compile(
    r"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[()][0-9A-Za-z])"
)
OVERWRITTEN = re.compile(r"^[^\n]*\r(?!\n|\Z)[^\n]*", re.MULTILINE)
LEAST_REPEATED = 80  # characters of lines that come again, for a note to pay
MANY_TIMES = 2_000  # a line comes again, blank ones as well; no encoding has a token for a hundred

NUMBERED = "|".join(rf" {{{6 - digits}}}\d{{{digits}}}\t" for digits in range(1, 6))  # by cat -n
NUMBERED_OTHERWISE = re.compile(rf"\n(?!{NUMBERED}|\d{{6,}}\t) *\d+\t")
PADDING = re.compile(r"\n +(?=\d+\t)")

VARYING = re.compile(r"[0-9a-fA-F][0-9a-fA-F-]{6,}|[0-9.,:-]+")  # what tells no two templates apart
WARNING = re.compile(r"(?i:\b(?:warn(?:ing|ings|ed)?|deprecat\w*)\b)|[a-z]Warning\b")
WARNING_RANK = 4.0
ERRORS_RANK = 4.5  # of errors that are in most lines, but for the first and last of each template
RARE_RANK = 0.5  # of the first line of a template, and up to 1 more the rarer it is
LAST_RANK = 0.4  # of its last line


def tight_output(text: str) -> str:
    """What a terminal would show, with repeated lines written once and line numbers without padding."""
    return without_repeats(without_padding(shown(text)))


def cut(text: str, room: Room) -> str:
    """The lines that matter; the first of each template says how many more like it are hidden."""
    lines = lines_of(tight_output(text))
    templates = [VARYING.sub("", line) for line in lines]
    return choose(lines, ranks_of(lines, templates, room), room, templates=templates)


def shown(text: str) -> str:
    r"""An output as it stands on a screen: colours and what was written over are gone; an end of ``\r\n`` stays one."""

    def last_state(match: re.Match[str]) -> str:
        line = match.group()
        seen, covered = "", 0
        for state in reversed(line.removesuffix("\r").split("\r")):
            seen += state[covered:]
            covered = max(covered, len(state))
        return f"{seen}\r" if line.endswith("\r") else seen

    if "\x1b" in text:
        text = TERMINAL_CODE.sub("", text).replace("\x1b", "")
    return OVERWRITTEN.sub(last_state, text) if "\r" in text else text


def without_repeats(text: str) -> str:
    """The text with lines that come several times at once written once, with a note of how often."""
    lines = text.split("\n")
    if not any(map(eq, lines, lines[1:])):
        return text
    parts: list[str] = []
    for line, run in groupby(lines):
        more = len(list(run)) - 1
        pays = more * len(line.strip()) >= LEAST_REPEATED or more >= MANY_TIMES
        parts += [line, note_of(more) + "\r" * line.endswith("\r")] if pays else [line] * (more + 1)
    return "\n".join(parts)


def note_of(times: int) -> str:
    """What stands below a line that came so many times more."""
    return f"[the line above {times} more times]"


def without_padding(text: str) -> str:
    """The same text with the blanks before its line numbers gone, where all are as ``cat -n`` writes them."""
    if "\t" not in text:
        return text
    lines = f"\n{text}"
    return text if NUMBERED_OTHERWISE.search(lines) else PADDING.sub("\n", lines)[1:]


def ranks_of(lines: Sequence[str], templates: Sequence[str], room: Room) -> list[float]:
    """What each line is worth; of errors the first and the last of each template a little more than the others."""
    counts = Counter(templates)
    last = {template: i for i, template in enumerate(templates)}
    first = {template: i for i, template in reversed([*enumerate(templates)])}
    ranks: list[float] = []
    for i, (line, template) in enumerate(zip(lines, templates, strict=True)):
        if not line or line.isspace():
            ranks.append(BLANK_RANK)
        elif first[template] == i:
            rare = RARE_RANK + 1 / counts[template]
            ranks.append(WARNING_RANK if WARNING.search(line) else rare)
        else:
            ranks.append(LAST_RANK if last[template] == i else 0.0)
    ranks = ranked(ranks, lines, room)
    errors = [i for i, line in enumerate(lines) if is_error_line(line)]
    telling = len(errors) <= most_of(lines)
    for i in errors:
        ends = i in (first[templates[i]], last[templates[i]])
        ranks[i] = ERROR_RANK + ends if telling or ends else ERRORS_RANK
    return ranks


LOG = Reducer(
    kind="log",
    recognises=lambda _, lines: are_enough(
        lines, LOGGED.match, share=LOGGED_FRACTION, least=LEAST_LOGGED
    ),
    tighten=tight_output,
    cut=cut,
)
OUTPUT = Reducer(
    kind="output",
    recognises=lambda text, lines: (
        len(lines) >= LEAST_LINES and "\0" not in text and "\ufffd" not in text
    ),
    tighten=tight_output,
    cut=cut,
)
