"""Unified diffs, as ``diff -u``, ``git diff`` and ``git show`` write them.

Promise: ``tighten`` leaves a diff as it is, since it may be applied. ``cut`` keeps the files and hunks first, then the
changed lines, then what is around them; lock files and what is generated go before all else.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autogen_context.compressor.arrival.lines import choose
from autogen_context.compressor.arrival.reducer import Room
from autogen_context.compressor.arrival.repeats import lines_in
from autogen_context.compressor.arrival.sample import are_enough, sample_of
from autogen_context.compressor.arrival.wanted import raised, wanted_in

FILE = re.compile(
    r"diff --git |diff -|Index: |--- \S|\+\+\+ \S|rename |new file|deleted file|Binary files "
)
HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@")
BODY = re.compile(r"[ +\-\\]|@@|diff |index |--- |\+\+\+ |new |deleted |rename |similarity ")
GENERATED = re.compile(
    r"(?:package-lock|npm-shrinkwrap)\.json|(?:yarn|poetry|Cargo|Gemfile|composer|uv|Pipfile|pnpm-lock)\.(?:lock|yaml)"
    r"|go\.sum|\.min\.(?:js|css)|\.(?:map|snap|svg|pb\.go)\b|_pb2\.py|/(?:dist|build|vendor|node_modules)/"
)
BODY_SHARE = 0.5  # of the lines

FILE_RANK = 4.0
HUNK_RANK = 3.0
CHANGED_RANK = 2.0
WANTED_RANK = 2.5
CONTEXT_RANK = 0.5
GENERATED_RANK = -1.0


@dataclass(frozen=True, slots=True)
class Diff:
    """Changed lines of files."""

    kind: str = "diff"

    def recognises(self, text: str, /) -> bool:
        """Whether there are a hunk and a file, and most lines belong to such."""
        lines = sample_of(text)
        if not any(map(HUNK.match, lines)):
            return False
        files = any(line.startswith(("+++ ", "--- ", "diff ")) for line in lines)
        return files and are_enough(lines, BODY.match, share=BODY_SHARE)

    def tighten(self, text: str, /) -> str:
        """The diff itself."""
        return text

    def cut(self, text: str, room: Room, /) -> str:
        """Files, hunks, changed lines; what is asked for before what is not."""
        lines = lines_in(self.tighten(text))
        ranks = raised(diff_ranks(lines), wanted_in(lines, room.wanted), to=WANTED_RANK)
        return choose(lines, ranks, room)


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
