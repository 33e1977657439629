"""Runs of tests, and stack traces of Python, JavaScript, Java, Go, Rust and C#, alone or inside other output.

Promise: tightened as any output. Cut, the error messages and the outcome stay before all else, then what is asked for,
the heads of traces and the names of what failed, the frames of the user's own code, what is around; frames of libraries and
what passed go first.
"""

import re
from collections.abc import Iterator, Sequence

from autogen_context.compressor.arrival.lines import (
    BLANK_RANK,
    ERROR_RANK,
    choose,
    lines_of,
    ranked,
)
from autogen_context.compressor.arrival.output import tight_output
from autogen_context.compressor.arrival.reducer import Reducer, Room, are_enough

LINE_CHARS = 300  # of a line, to look at
LEAST_FRAMES = 2
FRAME_FRACTION = 0.2  # of the lines
LEAST_TOLD = 2  # lines that only test runners write

FRAME = re.compile(
    r'\s+File "[^"\n]+", line \d+'  # Python
    r"|\s+at (?:async )?\S.*[(:]\S*:\d+(?::\d+)?\)?\s*$"  # JavaScript, Rust
    r"|\s+at [\w$.<>/]+\((?:[\w$]+\.\w+(?::\d+)?|Native Method|Unknown Source)\)"  # Java
    r"|\s+at [\w.<>`\[\], ]+\([^)\n]*\)(?: in .*:line \d+)?\s*$"  # C#
    r"|\t/?\S+\.go:\d+"  # Go
    r"|\s+\d+: +(?:0x[0-9a-f]+ - )?[\w<{]\S*::\S+"  # Rust
    r"|\s+\.\.\. \d+ (?:more|common frames omitted)"
)
FOREIGN = re.compile(
    r"site-packages|dist-packages|/lib/python\d|<frozen |node_modules|node:|\(internal/"
    r"|\bat (?:java|javax|jdk|sun|com\.sun|scala|kotlin|org\.(?:springframework|apache|junit|gradle|hibernate))[./]"
    r"|/usr/(?:local/)?(?:lib/)?go/|/go/pkg/mod/|runtime[./]|/rustc/|\.cargo/|(?:core|std|alloc|tokio)::"
    r"|\bat (?:System|Microsoft)\."
)
TOLD = re.compile(
    r"=+ .*\b(?:test (?:session|process) starts|FAILURES|ERRORS|passed|failed|short test summary)\b"
    r"|(?:FAILED|PASSED|ERROR|SKIPPED|XFAIL) \S+(?:::|\.py(?: - |\s*\Z))"
    r"|\S+::\S+ (?:PASSED|FAILED|SKIPPED|ERROR|XFAIL|XPASS)"
    r"|Ran \d+ tests? in |FAILED \((?:failures|errors)=|OK(?: \([\w=, ]+\))?\s*\Z"
    r"|\S+(?: \(\S+\))? \.\.\. (?:ok|FAIL|ERROR|skipped)|(?:FAIL|ERROR): \S+ \("
    r"|\s*(?:--- (?:FAIL|PASS|SKIP): |=== (?:RUN|PAUSE|CONT)  |(?:ok|FAIL)  ?\t)"
    r"|\s*[✓✔✕✗\xd7●] |(?:PASS|FAIL) \S+\.(?:js|ts|jsx|tsx)\b|Tests?: +\d+ |Test Suites: "
    r"|test \S+ \.\.\. (?:ok|FAILED|ignored)|test result: |\d+ passed\. \d+ failed\.|_{5,} .* _{5,}\Z"
)
PARTS = re.compile(
    r"(?P<outcome>=+ .*\b(?:passed|failed|errors?|finished)\b.*=|Ran \d+ test|FAILED|OK\b|Tests?: +\d|Test Suites: "
    r"|test result: |\d+ passed|FAIL\b(?!:)|ok  ?\t|(?:E   |>  ))"
    r"|(?P<message>(?:E +)?[A-Za-z_][\w.$]*(?:Error|Exception|Exit|Interrupt|Warning|Failure|Fault)\b)"
    r"|(?P<head>\s*(?:Traceback \(most recent call last\)|Caused by: |During handling of the above"
    r"|The above exception was|goroutine \d+ \[|panic: |thread '.*' panicked at|Unhandled [Ee]xception"
    r"|Exception in thread |stack backtrace:|---> |--- End of inner exception|Suppressed: )"
    r"|_{3,} .* _{3,}|(?:FAIL|ERROR): |\s*--- FAIL|\s*[✕✗\xd7●] |-{3,} \S.* -{3,})"
    r"|(?P<passed>\s*[✓✔] |[.sxFE]+(?: +\[ *\d+%\])?\s*\Z|\S+::\S+ PASSED|\S+(?: \S+)? \.\.\. ok\b"
    r"|\s*(?:--- PASS|=== RUN))"
    r"|(?P<blank>\s*[~^]*\s*\Z)"
)
RANKS = {"outcome": 6.0, "message": 6.0, "head": 4.0, "passed": 0.0, "blank": BLANK_RANK}
OWN_RANK = 3.0
OTHER_RANK = 1.0
FOREIGN_RANK = 0.0


def recognises(_: str, lines: Sequence[str]) -> bool:
    """Whether a test runner wrote some lines, or many are frames."""
    return are_enough(lines, TOLD.match, least=LEAST_TOLD) or are_enough(
        lines, FRAME.match, share=FRAME_FRACTION, least=LEAST_FRAMES
    )


def cut(text: str, room: Room) -> str:
    """Errors, outcome, heads and the user's own frames."""
    lines = lines_of(tight_output(text))
    ranks = list(frame_ranks(lines))
    found = ranked(ranks, lines, room, errors=True)
    for i, rank in enumerate(ranks):
        if rank == FOREIGN_RANK and found[i] == ERROR_RANK:
            found[i] = FOREIGN_RANK  # a library's function that is called so
    return choose(lines, found, room)


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


TRACE = Reducer(kind="trace", recognises=recognises, tighten=tight_output, cut=cut)
