"""Logs, and what else programs write line by line while they run.

Promise: ``tighten`` keeps what a terminal would show; a line that comes again at once is written once with a number, the
date that most lines begin with is written once. ``cut`` keeps every alarm once, then what is asked for, then what is
rare, then the first and the last of what comes often.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import ne

from autogen_context.compressor.arrival.alarms import ERROR, alarms_in
from autogen_context.compressor.arrival.dates import without_dates
from autogen_context.compressor.arrival.lines import choose, fits
from autogen_context.compressor.arrival.reducer import Room
from autogen_context.compressor.arrival.repeats import without_repeats
from autogen_context.compressor.arrival.sample import are_enough, sample_of
from autogen_context.compressor.arrival.terminal import shown
from autogen_context.compressor.arrival.wanted import raised, wanted_in

LEAST_LINES = 4
LOGGED_SHARE = 0.5  # of the lines

LOGGED = re.compile(
    r"\s*(?:\x1b\[[0-9;]*m)*"
    r"(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d"  # 2024-05-14 12:00
    r"|\[?\d\d:\d\d:\d\d\b"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d "  # May 14 12:00:00, as syslog has it
    r"|\S+ \S+ \S+ \[\d\d/[A-Z][a-z]{2}/\d{4}:"  # web servers
    r"|\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\]?[ :|])"
    r"|npm (?:ERR!|WARN|error|warn|http) "
)
NUMBERS = str.maketrans("", "", "0123456789.,:-")  # what tells no two templates apart
HEX_SIGNS = str.maketrans(dict.fromkeys("0123456789abcdefABCDEF-", "0"))
HEX = re.compile(r"[0-9a-fA-F][0-9a-fA-F-]{6,}")  # hashes, addresses, UUIDs
HEX_LEAST = "0" * 7

ALARM_RANK = 4.0
WARNING_RANK = 3.5
WANTED_RANK = 2.0
RARE_RANK = 0.5  # and up to 1 more
EDGE_RANK = 0.2  # of the first and the last line of a run of one template
BLANK_RANK = -1.0


@dataclass(frozen=True, slots=True)
class Log:
    """Lines with times or levels."""

    kind: str = "log"

    def recognises(self, text: str, /) -> bool:
        """Whether half of the lines begin with a time or a level."""
        lines = sample_of(text)
        return len(lines) >= LEAST_LINES and are_enough(lines, LOGGED.match, share=LOGGED_SHARE)

    def tighten(self, text: str, /) -> str:
        """What a terminal would show, with repeated lines and the common date written once."""
        return without_dates(without_repeats(shown(text)))

    def cut(self, text: str, room: Room, /) -> str:
        """Alarms, what is asked for, what is rare, the first and the last of the rest."""
        return choose_logged(self.tighten(text), room)


def choose_logged(text: str, room: Room) -> str:
    """The lines that matter; behind an alarm, how many more like it there are."""
    if fits(text, room):
        return text
    lines, templates = text.split("\n"), templates_of(text)
    counts = Counter(templates)
    ranks = ranks_of(lines, templates, counts, room)
    result = choose(list(with_numbers(lines, templates, counts, ranks)), ranks, room)
    return result if len(result) <= len(text) else choose(lines, ranks, room)


def templates_of(text: str) -> list[str]:
    """What of each line is the same when a program writes it with other numbers."""
    if HEX_LEAST in text.translate(HEX_SIGNS):
        text = HEX.sub("", text)
    return text.translate(NUMBERS).split("\n")


def ranks_of(
    lines: Sequence[str], templates: Sequence[str], counts: Mapping[str, int], room: Room
) -> list[float]:
    """What each line is worth."""
    alarms = alarms_in(lines)
    ranks = [EDGE_RANK * edge for edge in edges_in(templates)]
    for template, i in firsts(templates).items():
        ranks[i] = RARE_RANK + 1 / counts[template]
        if alarms[i]:
            ranks[i] = ALARM_RANK if alarms[i] == ERROR else WARNING_RANK
    said = [
        rank if line and not line.isspace() else BLANK_RANK
        for line, rank in zip(lines, ranks, strict=True)
    ]
    return raised(said, wanted_in(lines, room.wanted), to=WANTED_RANK)


def edges_in(templates: Sequence[str]) -> Iterator[bool]:
    """Whether each line is the first or the last of a run of one template, the ends of the text aside."""
    changes = [False, *map(ne, templates, templates[1:]), False]
    return (before or after for before, after in pairwise(changes))


def firsts(templates: Sequence[str]) -> dict[str, int]:
    """Where each template comes first."""
    return dict(zip(reversed(templates), range(len(templates) - 1, -1, -1), strict=True))


def with_numbers(
    lines: Sequence[str],
    templates: Sequence[str],
    counts: Mapping[str, int],
    ranks: Sequence[float],
) -> Iterator[str]:
    """The lines; behind the alarm that stands for many, how many more there are."""
    for line, template, rank in zip(lines, templates, ranks, strict=True):
        more = counts[template] - 1 if rank >= WARNING_RANK else 0
        yield f"{line} [… {more} more like this …]" if more else line
