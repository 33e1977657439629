"""Unified diffs, as ``diff -u``, ``git diff`` and ``git show`` write them.

Promise: tightened, a diff is as it was, since it may be applied. Cut, the files and hunks stay first, then what is asked
for, the changed lines, what is around them; lock files and what is generated go before all else.
"""

import re
from collections.abc import Iterator, Sequence

from autogen_context.compressor.arrival.lines import WANTED_RANK, choose, lines_of, ranked
from autogen_context.compressor.arrival.reducer import Reducer, Room, are_enough

FILE = re.compile(
    r"diff --git |diff -|Index: |--- \S|\+\+\+ \S|rename |new file|deleted file|Binary files "
)
HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@")
BODY = re.compile(r"[ +\-\\]|@@|diff |index |--- |\+\+\+ |new |deleted |rename |similarity ")
GENERATED = re.compile(
    r"(?:package-lock|npm-shrinkwrap)\.json|(?:yarn|poetry|Cargo|Gemfile|composer|uv|Pipfile|pnpm-lock)\.(?:lock|yaml)"
    r"|go\.sum|\.min\.(?:js|css)|\.(?:map|snap|svg|pb\.go)\b|_pb2\.py|/(?:dist|build|vendor|node_modules)/"
)
BODY_FRACTION = 0.5  # of the lines

FILE_RANK = WANTED_RANK + 1
HUNK_RANK = 3.0
CHANGED_RANK = 2.0
CONTEXT_RANK = 0.5
GENERATED_RANK = -1.0


def recognises(_: str, lines: Sequence[str]) -> bool:
    """Whether there are a hunk and a file, and most lines belong to such."""
    if not any(map(HUNK.match, lines)):
        return False
    files = any(line.startswith(("+++ ", "--- ", "diff ")) for line in lines)
    return files and are_enough(lines, BODY.match, share=BODY_FRACTION)


def cut(text: str, room: Room) -> str:
    """Files, what is asked for, hunks, changed lines."""
    lines = lines_of(text)
    return choose(lines, ranked(diff_ranks(lines), lines, room), room)


def diff_ranks(lines: Sequence[str]) -> Iterator[float]:
    """What each line is worth as a part of a diff."""
    generated = False
    for line in lines:
        if FILE.match(line):
            generated = bool(GENERATED.search(line))
            yield FILE_RANK
        elif generated:
            yield GENERATED_RANK
        elif HUNK.match(line):
            yield HUNK_RANK
        else:
            yield CHANGED_RANK if line[:1] in {"+", "-"} else CONTEXT_RANK


DIFF = Reducer(kind="diff", recognises=recognises, cut=cut)
