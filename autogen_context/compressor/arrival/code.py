r"""Source code, with line numbers before it or not.

Promise: tightened, no character of the code changes, since agents edit by exact text: only the blanks before line numbers
go. Cut, a skeleton stays: imports, heads of definitions and the first lines of what documents them; the whole body of a
definition that is asked for by name; and lines that have what is asked for, with the heads they lie under.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from autogen_context.compressor.arrival.lines import (
    BLANK_RANK,
    WANTED_RANK,
    Reducer,
    Room,
    choose,
    wanted_in,
)
from autogen_context.compressor.arrival.outline import Span, holders, outline
from autogen_context.compressor.arrival.output import without_padding

NUMBER = re.compile(r" *(\d{1,7})(?:\t|[:|│] ?|-(?!\d))")
NUMBERS = re.compile(rf"\n{NUMBER.pattern}")
KEYWORD = re.compile(
    r"\s*(?:(?:from\s+[\w.]+\s+)?import\s+[\w{*\"'(.]|(?:async\s+)?def \w+|class \w+.*[:{]\s*\Z|#include [<\"]|#define \w"
    r"|package [\w.]+;?\s*\Z|using [\w.]+;|(?:export |public |private |protected |static |async )+\S|return\b.*|@\w+"
    r"|function\*? ?\w*\(|(?:const|let|var) [\w{\[].* = |func [\w(]|fn \w|pub |impl\b|struct \w|elif .*:\s*\Z"
    r"|(?:if|for|while|switch|with|try|else|except|finally)\b.*[:{]\s*\Z|raise \w|assert |throw |self\.\w+ = |} else|type \w+ )"
)
ENDINGS = (*";{}()[],:=", " pass", " break", '"""', "*/", "=>")
IMPORTED = re.compile(
    r"(?:from\s+\S+\s+)?import\b|#include|using |package |use |require|(?:const|let|var) .*require\("
)
DOCUMENTING = re.compile(r"[rRbuf]*\"\"\"|[rRbuf]*'''|/\*\*|///|//!|#|//|\*")
LEAVING = ("return", "raise", "throw", "yield", "panic!")

LEAST_LINES = 5
CODE_FRACTION = 0.5  # of the lines that have keywords or end as statements do
KEYWORD_FRACTION = 0.15
NUMBERED_FRACTION = 0.5
ASKED_FOR = 0.5  # how much of what is wanted a head must have for its body to stay whole

BODY_RANK = 3.0  # of what is asked for by name
HEAD_RANK = 2.0
DEEPER = 0.1  # less for each definition around it
DOCUMENT_RANK = 1.5  # of the first line behind a head


def recognises(_: str, lines: Sequence[str]) -> bool:
    """Whether its lines are numbered, or look like statements."""
    size = len(lines)
    if size < LEAST_LINES or are_numbered(lines):
        return size >= LEAST_LINES
    bare = NUMBERS.sub("\n", "\n".join(("", *lines)))[1:].split("\n")
    others = [line for line in bare if not KEYWORD.match(line)]
    words = size - len(others)
    if words < KEYWORD_FRACTION * size:
        return False
    ended = sum(1 for line in others if line.rstrip().endswith(ENDINGS))
    return words + ended >= CODE_FRACTION * size


def are_numbered(lines: Sequence[str]) -> bool:
    """Whether most lines begin with numbers that grow from line to line."""
    found = [int(match[1]) for match in map(NUMBER.match, lines) if match]
    growing = sum(1 for one, next_one in pairwise(found) if one < next_one)
    return growing >= LEAST_LINES and growing >= NUMBERED_FRACTION * len(lines)


def cut(text: str, room: Room) -> str:
    """The skeleton, and what is asked for: a definition that is named keeps its body, one with something wanted its head."""
    lines = without_padding(text).split("\n")
    bare = NUMBERS.sub("\n", "\n".join(("", *lines)))[1:].split("\n")
    spans = outline(bare)
    wanted = wanted_in(bare, room.wanted)
    ranks = list(skeleton(bare, spans))
    for span in spans:
        asked = max(wanted[span.start : span.body], default=0)
        if asked >= ASKED_FOR:
            for i in range(span.body, span.end):
                ranks[i] = max(ranks[i], BODY_RANK)
        if asked or any(wanted[span.body : span.end]):
            ranks[span.start : span.body] = [WANTED_RANK] * (span.body - span.start)
    for i, share in enumerate(wanted):
        ranks[i] = WANTED_RANK + share if share else ranks[i]
    return choose(lines, ranks, room)


def skeleton(lines: Sequence[str], spans: Sequence[Span]) -> Iterator[float]:
    """What each line is worth when nothing is asked for."""
    for i, (line, span) in enumerate(zip(lines, holders(spans, len(lines)), strict=True)):
        inner = line.lstrip()
        if not inner:
            yield BLANK_RANK
        elif span is None:
            yield 1.2 if IMPORTED.match(inner) else 1.0
        elif i < span.body:
            yield HEAD_RANK - DEEPER * span.depth
        elif i == span.body and DOCUMENTING.match(inner):
            yield DOCUMENT_RANK - DEEPER * span.depth
        else:
            yield 0.5 if inner.startswith(LEAVING) else 0.3


CODE = Reducer(kind="code", recognises=recognises, tighten=without_padding, cut=cut)
