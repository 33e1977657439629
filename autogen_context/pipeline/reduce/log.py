"""Logs, and what else programs write line by line while they run.

Promise: ``tighten`` keeps what a terminal would show; a line that comes again at once is written once with a number, the
date that most lines begin with is written once. ``cut`` keeps every alarm once, then what is asked for, then what is
rare, then the first and the last of what comes often.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autogen_context.pipeline.reduce.alarms import ERROR, alarms_in
from autogen_context.pipeline.reduce.dates import without_dates
from autogen_context.pipeline.reduce.lines import choose
from autogen_context.pipeline.reduce.reducer import Room
from autogen_context.pipeline.reduce.repeats import without_repeats
from autogen_context.pipeline.reduce.sample import sample_of
from autogen_context.pipeline.reduce.terminal import shown
from autogen_context.pipeline.reduce.wanted import raised, wanted_in

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
VARIABLE = re.compile(r"0x[0-9a-fA-F]+|\b(?=[a-f]*\d)[0-9a-f][0-9a-f-]{6,}\b|\d+(?:[.,:]\d+)*")

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
        logged = sum(1 for line in lines if LOGGED.match(line))
        return len(lines) >= LEAST_LINES and logged >= LOGGED_SHARE * len(lines)

    def tighten(self, text: str, /) -> str:
        """What a terminal would show, with repeated lines and the common date written once."""
        return without_dates(without_repeats(shown(text)))

    def cut(self, text: str, room: Room, /) -> str:
        """Alarms, what is asked for, what is rare, the first and the last of the rest."""
        return choose_logged(self.tighten(text), room)


def choose_logged(text: str, room: Room) -> str:
    """The lines that matter; behind an alarm, how many more like it there are."""
    if room.count(text) <= room.tokens:
        return text
    lines = text.split("\n")
    templates = VARIABLE.sub("#", text).split("\n")
    ranks = ranks_of(lines, templates, room)
    result = choose(list(with_numbers(lines, templates, ranks)), ranks, room)
    return result if len(result) <= len(text) else choose(lines, ranks, room)


def ranks_of(lines: Sequence[str], templates: Sequence[str], room: Room) -> list[float]:
    """What each line is worth."""
    counts = Counter(templates)
    alarms = alarms_in(lines)
    seen: set[str] = set()
    ranks: list[float] = []
    for i, template in enumerate(templates):
        rank = EDGE_RANK * at_edge(templates, i)
        if template not in seen:
            rank = RARE_RANK + 1 / counts[template]
            seen.add(template)
            if alarms[i]:
                rank = ALARM_RANK if alarms[i] == ERROR else WARNING_RANK
        ranks.append(rank if lines[i].strip() else BLANK_RANK)
    return raised(ranks, wanted_in(lines, room.wanted), to=WANTED_RANK)


def at_edge(templates: Sequence[str], i: int) -> bool:
    """Whether a line is the first or the last of a run of one template."""
    around = templates[max(0, i - 1) : i + 2]
    return any(template != templates[i] for template in around)


def with_numbers(
    lines: Sequence[str], templates: Sequence[str], ranks: Sequence[float]
) -> Iterator[str]:
    """The lines; behind the alarm that stands for many, how many more there are."""
    counts = Counter(templates)
    for line, template, rank in zip(lines, templates, ranks, strict=True):
        more = counts[template] - 1
        yield f"{line} [… {more} more like this …]" if more and rank >= WARNING_RANK else line
