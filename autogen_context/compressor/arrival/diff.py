"""Unified diffs, as ``diff -u``, ``git diff`` and ``git show`` write them.

Promise: tightened, a diff is as it was, since it may be applied. Cut, the files and hunks stay first, then what is asked
for, the changed lines, what is around them; lock files and what is generated go before all else.
"""

import re
from collections.abc import Iterator, Sequence

from autogen_context.compressor.arrival.lines import WANTED_RANK, cutting
from autogen_context.compressor.arrival.reducer import Reducer, are_enough

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
    files = any(line.startswith(("+++ ", "--- ", "diff ")) for line in lines)
    return (
        files and any(map(HUNK.match, lines)) and are_enough(lines, BODY.match, share=BODY_FRACTION)
    )


def diff_ranks(lines: Sequence[str]) -> Iterator[float]:
    """What each line is worth as a part of a diff."""
    context, changed = CONTEXT_RANK, CHANGED_RANK
    for line in lines:
        first = line[:1]
        if first == " ":
            yield context
        elif first in "+-" and line[1:3] not in ("++", "--"):
            yield changed
        elif FILE.match(line):
            is_generated = GENERATED.search(line) is not None
            context = GENERATED_RANK if is_generated else CONTEXT_RANK
            changed = GENERATED_RANK if is_generated else CHANGED_RANK
            yield FILE_RANK
        else:
            yield HUNK_RANK if first == "@" and context > 0 and HUNK.match(line) else context


DIFF = Reducer(kind="diff", recognises=recognises, cut=cutting(diff_ranks))
