"""What pytest, unittest, jest, go test and their like print.

Promise: ``tighten`` keeps what a terminal would show, repeated lines written once with a number, line numbers without
padding. ``cut`` keeps the outcome and each failure's name and message first, then the user's own code around it, then the
rest; frames of libraries and what passed go first.
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
from autogen_context.compressor.arrival.trace import LINE_CHARS, frame_ranks
from autogen_context.compressor.arrival.wanted import raised, wanted_in

TOLD = re.compile(
    r"=+ .*\b(?:test (?:session|process) starts|FAILURES|ERRORS|passed|failed|short test summary)\b"
    r"|(?:FAILED|PASSED|ERROR|SKIPPED|XFAIL) \S+(?:::|\.py(?: - |\s*\Z))"
    r"|\S+::\S+ (?:PASSED|FAILED|SKIPPED|ERROR|XFAIL|XPASS)"
    r"|Ran \d+ tests? in |FAILED \((?:failures|errors)=|OK(?: \([\w=, ]+\))?\s*\Z"
    r"|\S+(?: \(\S+\))? \.\.\. (?:ok|FAIL|ERROR|skipped)|(?:FAIL|ERROR): \S+ \("
    r"|\s*(?:--- (?:FAIL|PASS|SKIP): |=== (?:RUN|PAUSE|CONT)  |(?:ok|FAIL)  ?\t)"
    r"|\s*[✓✔✕✗\xd7●] |(?:PASS|FAIL) \S+\.(?:js|ts|jsx|tsx)\b|Tests?: +\d+ |Test Suites: "
    r"|test \S+ \.\.\. (?:ok|FAILED|ignored)|test result: |\d+ passed\. \d+ failed\.|\* (?:FAILED|ERROR) "
    r"|_{5,} .* _{5,}\Z|Running \d+ tests? in |\S+\.py[ \[].*(?:\[ *\d+%\]|\[OK\]|\[FAIL\])\s*\Z"
)
PARTS = re.compile(
    r"(?P<outcome>=+ .*\b(?:passed|failed|errors?|finished)\b.*=|Ran \d+ test|FAILED|OK\b|Tests?: +\d|Test Suites: "
    r"|test result: |\d+ passed|FAIL\b(?!:)|ok  ?\t)"
    r"|(?P<message>E   |>  )"
    r"|(?P<name>_{3,} .* _{3,}|(?:FAIL|ERROR): |\s*--- FAIL|\s*[✕✗\xd7●] |-{3,} \S.* -{3,}|\* (?:FAILED|ERROR) )"
    r"|(?P<passed>\s*[✓✔] |[.sxFE]+(?: +\[ *\d+%\])?\s*\Z|\S+::\S+ PASSED|\S+(?: \S+)? \.\.\. ok\b"
    r"|\s*(?:--- PASS|=== RUN)|\S+\[\d+\] \.+ +\[OK\])"
)
RANKS = {"outcome": 4.0, "message": 3.5, "name": 2.5, "passed": 0.0}

LEAST_TOLD = 2
WANTED_RANK = 3.0


@dataclass(frozen=True, slots=True)
class RunOfTests:
    """Tests, and what came of them."""

    kind: str = "tests"

    def recognises(self, text: str, /) -> bool:
        """Whether there are lines that only test runners write."""
        return are_enough(sample_of(text), TOLD.match, least=LEAST_TOLD)

    def tighten(self, text: str, /) -> str:
        """What a terminal would show, with repeated lines written once."""
        return without_repeats(without_padding(shown(text)))

    def cut(self, text: str, room: Room, /) -> str:
        """Outcome, failures, what is asked for; what passed goes first."""
        lines = self.tighten(text).split("\n")
        ranks = raised(ranks_of(lines), wanted_in(lines, room.wanted), to=WANTED_RANK)
        return choose(lines, ranks, room)


def ranks_of(lines: Sequence[str]) -> Iterator[float]:
    """What each line is worth."""
    for line, alarm, rank in zip(lines, alarms_in(lines), frame_ranks(lines), strict=True):
        part = PARTS.match(line[:LINE_CHARS])
        if part and part.lastgroup:
            yield RANKS[part.lastgroup]
        else:
            yield RANKS["message"] if alarm == ERROR and rank > 0 else rank
