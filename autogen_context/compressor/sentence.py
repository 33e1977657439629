"""Where sentences end.

Promise: what a line says in several sentences is cut between them, at nothing that only looks like an end (``e.g.``, ``3.5``,
``main.py``). Linear time.
"""

import re
from collections.abc import Iterator

SENTENCE_END = re.compile(  # a character first, then what stands before it: so the search is quick
    r"[.!?](?<![.!?][.!?])[.!?]*+[\"'\u201d\u2019)\]]*+[ \t]++(?=[\"'\u201c\u2018(\[$\u20ac\u00a3]?[A-Z0-9])"
)
WIDE_END = re.compile(r"[\u3002\uff01\uff1f]++(?=[^\s\u3002\uff01\uff1f])")
SHORT_FORM = re.compile(
    r"(?:\b(?:e\.g|i\.e|cf|vs|mr|mrs|ms|dr|prof|approx|fig|sec|st|[a-z])|^\(?\d{1,3})\.[\"')\]]*$",
    re.IGNORECASE,
)
SHORT_FORM_CHARS = 12  # at the end of a sentence that is not one


def sentences_of(line: str) -> Iterator[slice]:
    """Where the sentences of a line stand, without the white space between them."""
    start = 0
    ends = list(ends_of(line))
    if not line.isascii():
        ends = sorted([*ends, *wide_ends_of(line)])
    for end, following in ends:
        if end > start and not SHORT_FORM.search(line[max(start, end - SHORT_FORM_CHARS) : end]):
            yield slice(start, end)
            start = following
    if start < len(line):
        yield slice(start, len(line))


def ends_of(line: str) -> Iterator[tuple[int, int]]:
    """Where a sentence ends, and where the next one begins."""
    for match in SENTENCE_END.finditer(line):
        yield match.start() + len(match.group().rstrip()), match.end()


def wide_ends_of(line: str) -> Iterator[tuple[int, int]]:
    """The same where no space parts sentences."""
    return ((match.end(), match.end()) for match in WIDE_END.finditer(line))
