r"""What programs print line by line: logs, and any output that is nothing more telling.

Promise: tightened, every character that a terminal would show at the end stays; what comes again at once is written once
with a number, the date that most lines of a log begin with is written once, and line numbers lose the blanks before them.
Cut, errors stay before all else, then what is asked for, warnings, what is rare, the first and the last line of each
template; the first of a template says how many more like it are hidden.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from operator import eq, ne

from autogen_context.compressor.arrival.alarms import ERROR, WARNING, alarms_in
from autogen_context.compressor.arrival.lines import (
    BLANK_RANK,
    ERROR_RANK,
    choose,
    fits,
    lines_of,
    most_of,
    ranked,
)
from autogen_context.compressor.arrival.reducer import Reducer, Room, are_enough

LOGGED = re.compile(
    r"\s*(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d"  # 2024-05-14 12:00
    r"|\[?\d\d:\d\d:\d\d\b"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d "  # May 14 12:00:00, as syslog has it
    r"|\S+ \S+ \S+ \[\d\d/[A-Z][a-z]{2}/\d{4}:"  # web servers
    r"|\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\]?[ :|])"
    r"|npm (?:ERR!|WARN|error|warn|http) "
)
LEAST_LOGGED = 4
LOGGED_FRACTION = 0.5  # of the lines
LEAST_LINES = 2  # of an output

TERMINAL_CODE = re.compile(
    r"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[()][0-9A-Za-z])"
)
OVERWRITTEN = re.compile(r"^[^\n]*\r(?!\n|\Z)[^\n]*", re.MULTILINE)

NOTE = re.compile(r"^\[the line above \d+ more times\]\r?$", re.MULTILINE)
WORD = re.compile(r"[A-Za-z]+|[0-9]+")
MANY_BLANK = "\n" * 2_000  # no encoding has a token for more than a hundred
BLANK_RUN = re.compile(r"(?<!\n)\n{2000,}+")
NOTE_TOKENS = 16  # more than any known encoding needs for the note

NUMBERED = "|".join(rf" {{{6 - digits}}}\d{{{digits}}}\t" for digits in range(1, 6))  # by cat -n
NUMBERED_OTHERWISE = re.compile(rf"\n(?!{NUMBERED}|\d{{6,}}\t) *\d+\t")
PADDING = re.compile(r"\n +(?=\d+\t)")

TIME = r"\d\d:\d\d:\d\d"
DATED = re.compile(
    rf"\n(\[?\d{{4}}[-/]\d\d[-/]\d\d[T ]|\[?[A-Z][a-z]{{2}} [ 0-3]\d (?:\d{{4}} )?)(?={TIME})"
)
MERE_TIME = re.compile(f"\n{TIME}")
LEAST_DATED = 20  # lines with one date; below, the note costs about as much
DATE_NOTE = re.compile(r'\["(.{1,24})" stands before each line that begins with a time\]\n')

DIGITS = str.maketrans("", "", "0123456789.,:-")  # what tells no two templates apart
HEX_DIGITS = str.maketrans(dict.fromkeys("0123456789abcdefABCDEF-", "0"))
HEX = re.compile(r"[0-9a-fA-F][0-9a-fA-F-]{6,}")  # hashes, addresses, UUIDs
LEAST_HEX = "0" * 7

WARNING_RANK = 4.0
ERRORS_RANK = 4.5  # of errors that are in most lines, but for the first and last of each template
RARE_RANK = 0.5  # of the first line of a template, and up to 1 more the rarer it is
LAST_RANK = 0.4  # of its last line
EDGE_RANK = 0.2  # of the first and the last line of a run of one template


def tight_output(text: str) -> str:
    """What a terminal would show, with repeated lines written once and line numbers without padding."""
    return without_repeats(without_padding(shown(text)))


def cut(text: str, room: Room) -> str:
    """The lines that matter; the first of each template says how many more like it are hidden."""
    text = tight_output(text)
    if fits(text, room):
        return text
    dated = with_date(text)  # whatever line stays has its own
    lines, templates = lines_of(dated), templates_of(dated)
    short = choose(lines, ranks_of(lines, templates, room), room, templates=templates)
    return short if len(short) <= len(text) else choose([text], [0.0], room)


def shown(text: str) -> str:
    r"""An output as it stands on a screen: colours and what was written over are gone; an end of ``\r\n`` stays one."""
    if "\x1b" in text:
        text = TERMINAL_CODE.sub("", text).replace("\x1b", "")
    if "\r" in text:
        text = OVERWRITTEN.sub(lambda match: last_state(match.group()), text)
    return text


def last_state(line: str) -> str:
    r"""What stands at last of a line in which the cursor went back to its start; its own ``\r`` at the end stays."""
    ending = "\r" if line.endswith("\r") else ""
    seen: list[str] = []
    covered = 0
    for state in reversed(line.removesuffix("\r").split("\r")):
        seen.append(state[covered:])
        covered = max(covered, len(state))
    return "".join(seen) + ending


def without_repeats(text: str) -> str:
    """The same text with each run of one line written once, and a note of how many more there were.

    A text that has such a note stays as it is, and so does what would not save tokens for certain.
    """
    if NOTE.search(text):
        return text
    if MANY_BLANK in text:
        text = BLANK_RUN.sub(lambda run: f"\n\n{note_of(len(run[0]) - 2)}\n", text)
    lines = text.split("\n")
    if any(map(eq, lines, lines[1:])):
        lines = [part for line, run in groupby(lines) for part in once(line, len(list(run)) - 1)]
    return "\n".join(lines)


def once(line: str, more: int) -> list[str]:
    """A line that comes so many times more, and the note of it with the same end of line, or all of them."""
    words = sum(1 for _ in WORD.finditer(line[:400]))  # which share no token
    least_tokens = words or int(not line.isspace() and line[:1] not in {"", "/"})
    if more * least_tokens < NOTE_TOKENS:
        return [line] * (more + 1)
    return [line, note_of(more) + "\r" * line.endswith("\r")]


def note_of(times: int) -> str:
    """What stands below a line that came so many times more."""
    return f"[the line above {times} more times]"


def without_padding(text: str) -> str:
    """The same text with the blanks before its line numbers gone, where all are as ``cat -n`` writes them."""
    if "\t" not in text:
        return text
    lines = f"\n{text}"
    return text if NUMBERED_OTHERWISE.search(lines) else PADDING.sub("\n", lines)[1:]


def without_date(text: str) -> str:
    """The same text with its most frequent date in a note at the top; the text itself where that does not pay."""
    lines = f"\n{text}"
    dates = Counter(DATED.findall(lines))
    if not dates or text.startswith('["') or MERE_TIME.search(lines):
        return text
    date, times = dates.most_common(1)[0]
    if times < LEAST_DATED:
        return text
    rest = re.sub(f"\n{re.escape(date)}(?={TIME})", "\n", lines)
    return f'["{date}" stands before each line that begins with a time]{rest}'


def with_date(text: str) -> str:
    """The text with the date again in each of its lines, where a note says it."""
    note = DATE_NOTE.match(text)
    return re.sub(f"(?m)^(?={TIME})", note[1], text[note.end() :]) if note else text


def templates_of(text: str) -> list[str]:
    """What of each line is the same when a program writes it with other numbers."""
    if LEAST_HEX in text.translate(HEX_DIGITS):
        text = HEX.sub("", text)
    return lines_of(text.translate(DIGITS))


def ranks_of(lines: Sequence[str], templates: Sequence[str], room: Room) -> list[float]:
    """What each line is worth; of errors the first and the last of each template a little more than the others."""
    counts, alarms = Counter(templates), alarms_in(lines)
    last = dict(zip(templates, range(len(lines)), strict=True))
    first = dict(zip(reversed(templates), range(len(lines) - 1, -1, -1), strict=True))
    changes = [False, *map(ne, templates, templates[1:]), False]
    ranks: list[float] = []
    for i, (line, template) in enumerate(zip(lines, templates, strict=True)):
        if not line or line.isspace():
            ranks.append(BLANK_RANK)
        elif first[template] == i:
            rare = RARE_RANK + 1 / counts[template]
            ranks.append(WARNING_RANK if alarms[i] == WARNING else rare)
        else:
            edge = EDGE_RANK * (changes[i] or changes[i + 1])
            ranks.append(LAST_RANK if last[template] == i else edge)
    ranks = ranked(ranks, lines, room)
    telling = alarms.count(ERROR) <= most_of(lines)
    for i, alarm in enumerate(alarms):
        if alarm == ERROR:
            ends = i in (first[templates[i]], last[templates[i]])
            ranks[i] = ERROR_RANK + ends if telling or ends else ERRORS_RANK
    return ranks


LOG = Reducer(
    kind="log",
    recognises=lambda _, lines: are_enough(
        lines, LOGGED.match, share=LOGGED_FRACTION, least=LEAST_LOGGED
    ),
    tighten=lambda text: without_date(tight_output(text)),
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
