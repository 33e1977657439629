"""Stack traces of Python, JavaScript, Java, Go, Rust and C#, alone or inside other output.

Promise: ``tighten`` keeps what a terminal would show, repeated lines written once with a number. ``cut`` keeps each error
message and the head of each trace first, then the frames of the user's own code, then what is around; the frames of
libraries and runtimes go first.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autogen_context.compressor.arrival.alarms import ERROR, alarms_in
from autogen_context.compressor.arrival.lines import choose
from autogen_context.compressor.arrival.numbering import without_padding
from autogen_context.compressor.arrival.reducer import Room
from autogen_context.compressor.arrival.repeats import without_repeats
from autogen_context.compressor.arrival.sample import are_enough, sample_of
from autogen_context.compressor.arrival.terminal import shown
from autogen_context.compressor.arrival.wanted import raised, wanted_in

LINE_CHARS = 300  # of a line, to look at
LEAST_FRAMES = 2
FRAME_SHARE = 0.2  # of the lines

FRAME = re.compile(
    r'\s+File "[^"\n]+", line \d+'  # Python
    r"|\s+at (?:async )?\S.*[(:]\S*:\d+(?::\d+)?\)?\s*$"  # JavaScript, Rust
    r"|\s+at [\w$.<>/]+\((?:[\w$]+\.\w+(?::\d+)?|Native Method|Unknown Source)\)"  # Java
    r"|\s+at [\w.<>`\[\], ]+\([^)\n]*\)(?: in .*:line \d+)?\s*$"  # C#
    r"|\t/?\S+\.go:\d+"  # Go
    r"|\s+\d+: +(?:0x[0-9a-f]+ - )?[\w<{]\S*::\S+"  # Rust
    r"|\s+\.\.\. \d+ (?:more|common frames omitted)"
)
PARTS = re.compile(
    r"(?P<message>(?:E +)?[A-Za-z_][\w.$]*(?:Error|Exception|Exit|Interrupt|Warning|Failure|Fault)\b)"
    r"|(?P<head>\s*(?:Traceback \(most recent call last\)|Caused by: |During handling of the above"
    r"|The above exception was|goroutine \d+ \[|panic: |thread '.*' panicked at|Unhandled [Ee]xception"
    r"|Exception in thread |stack backtrace:|---> |--- End of inner exception|Suppressed: ))"
    r"|(?P<blank>\s*[~^]*\s*\Z)"
)
RANKS = {"message": 4.0, "head": 3.5, "blank": -1.0}
FOREIGN = re.compile(
    r"site-packages|dist-packages|/lib/python\d|<frozen |node_modules|node:|\(internal/"
    r"|\bat (?:java|javax|jdk|sun|com\.sun|scala|kotlin|org\.(?:springframework|apache|junit|gradle|hibernate))[./]"
    r"|/usr/(?:local/)?(?:lib/)?go/|/go/pkg/mod/|runtime[./]|/rustc/|\.cargo/|(?:core|std|alloc|tokio)::"
    r"|\bat (?:System|Microsoft)\."
)

WANTED_RANK = 3.0
OWN_RANK = 2.5
OTHER_RANK = 1.0
FOREIGN_RANK = 0.0


@dataclass(frozen=True, slots=True)
class Trace:
    """Frames of calls, and the error that came of them."""

    kind: str = "trace"

    def recognises(self, text: str, /) -> bool:
        """Whether a good part of the lines are frames."""
        return are_enough(sample_of(text), FRAME.match, share=FRAME_SHARE, least=LEAST_FRAMES)

    def tighten(self, text: str, /) -> str:
        """What a terminal would show, with repeated lines written once."""
        return without_repeats(without_padding(shown(text)))

    def cut(self, text: str, room: Room, /) -> str:
        """Errors, heads and the user's own frames."""
        lines = self.tighten(text).split("\n")
        return choose(lines, ranks_of(lines, room), room)


def ranks_of(lines: Sequence[str], room: Room) -> list[float]:
    """What each line is worth."""
    ranks = [
        max(rank, RANKS["message"] * (alarm == ERROR and rank > FOREIGN_RANK))
        for rank, alarm in zip(frame_ranks(lines), alarms_in(lines), strict=True)
    ]
    return raised(ranks, wanted_in(lines, room.wanted), to=WANTED_RANK)


def frame_ranks(lines: Sequence[str]) -> Iterator[float]:
    """What each line is worth as a part of a trace; the source lines below a frame are worth what it is."""
    rank, depth = OTHER_RANK, 0
    for whole in lines:
        line = whole[:LINE_CHARS]
        if line[:1].isspace() and FRAME.match(line):
            rank, depth = (FOREIGN_RANK if FOREIGN.search(line) else OWN_RANK), indent_of(line)
            yield rank
        elif (part := PARTS.match(line)) and part.lastgroup:
            yield RANKS[part.lastgroup]
        else:
            rank = rank if indent_of(line) > depth else OTHER_RANK
            yield rank


def indent_of(line: str) -> int:
    """How many blanks a line begins with."""
    return len(line) - len(line.lstrip())
