r"""Source code, with line numbers before it or not.

Promise: ``tighten`` changes no character of the code, since agents edit by exact text: only the blanks before line
numbers go. ``cut`` keeps a skeleton: imports, heads of definitions and the first lines of what documents them; the whole
body of a definition that is asked for by name; and lines that have what is asked for, with the heads they lie under.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from autogen_context.compressor.arrival.grammar import parsed_outline
from autogen_context.compressor.arrival.lines import choose
from autogen_context.compressor.arrival.numbering import without_padding
from autogen_context.compressor.arrival.outline import Span, holders, outline
from autogen_context.compressor.arrival.reducer import Room
from autogen_context.compressor.arrival.repeats import lines_in
from autogen_context.compressor.arrival.sample import sample_of
from autogen_context.compressor.arrival.wanted import wanted_in

NUMBER = re.compile(r" *(\d{1,7})(?:\t|[:|│] ?|-(?!\d))")
NUMBERS = re.compile(rf"\n{NUMBER.pattern}")
KEYWORD = re.compile(
    r"\s*(?:(?:from\s+[\w.]+\s+)?import\s+[\w{*\"'(.]|(?:async\s+)?def \w+|class \w+.*[:{]\s*\Z|#include [<\"]|#define \w"
    r"|package [\w.]+;?\s*\Z|using [\w.]+;|(?:export |public |private |protected |static |async )+\S|return\b.*|@\w+"
    r"|function\*? ?\w*\(|(?:const|let|var) [\w{\[].* = |func [\w(]|fn \w|pub |impl\b|struct \w|elif .*:\s*\Z"
    r"|(?:if|for|while|switch|with|try|else|except|finally)\b.*[:{]\s*\Z|raise \w|assert |throw |self\.\w+ = |} else|type \w+ )"
)
ENDINGS = (*";{}()[],:=", " pass", " break", '"""', "*/", "=>")
PARTS = re.compile(
    r"\s*(?:(?P<blank>\Z)|(?P<leaving>(?:return|raise|throw|yield|panic!)\b)"
    r"|(?P<imported>(?:from\s+\S+\s+)?import\b|#include|using |package |use |require|(?:const|let|var) .*require\()"
    r"|(?P<documenting>[rRbuf]*\"\"\"|[rRbuf]*'''|/\*\*|///|//!|#|//|\*))"
)
BEGINNINGS = frozenset(  # of what PARTS names, two characters, but for comments of one sign
    {"re", "ra", "th", "yi", "pa", "fr", "im", "us", "co", "le", "va", '""', "''", "/*", "//"}
    | {one + other for one in "rRbuf" for other in "rRbuf\"'"}
)

LEAST_LINES = 5
CODE_SHARE = 0.5  # of the lines that have keywords or end as statements do
KEYWORD_SHARE = 0.15
NUMBERED_SHARE = 0.5
ASKED_FOR = 0.5  # how much of what is wanted a head must have for its body to stay whole

WANTED_RANK = 4.0  # and up to 1 more; the heads above it as well
BODY_RANK = 3.0  # of what is asked for by name
HEAD_RANK = 2.0
DEEPER = 0.1  # less for each definition around it
DOCUMENT_RANK = 1.5  # of the first line behind a head
IMPORT_RANK = 1.2
OUTSIDE_RANK = 1.0  # of any definition
LEAVING_RANK = 0.5
INSIDE_RANK = 0.3
BLANK_RANK = -1.0


@dataclass(frozen=True, slots=True)
class Code:
    """Source text."""

    kind: str = "code"

    def recognises(self, text: str, /) -> bool:
        """Whether its lines are numbered, or look like statements."""
        lines = sample_of(text)
        size = len(lines)
        if size < LEAST_LINES or are_numbered(lines):
            return size >= LEAST_LINES
        bare = NUMBERS.sub("\n", "\n".join(("", *lines)))[1:].split("\n")
        others = [line for line in bare if not KEYWORD.match(line)]
        words = size - len(others)
        if words < KEYWORD_SHARE * size:
            return False
        ended = sum(1 for line in others if line.rstrip().endswith(ENDINGS))
        return words + ended >= CODE_SHARE * size

    def tighten(self, text: str, /) -> str:
        """The code itself; its line numbers without the blanks before them."""
        return without_padding(text)

    def cut(self, text: str, room: Room, /) -> str:
        """The skeleton, and what is asked for."""
        lines = lines_in(self.tighten(text))
        return choose(lines, ranks_of(lines, room), room)


def are_numbered(lines: Sequence[str]) -> bool:
    """Whether most lines begin with numbers that grow from line to line."""
    found = [int(match[1]) for match in map(NUMBER.match, lines) if match]
    growing = sum(1 for one, next_one in pairwise(found) if one < next_one)
    return growing >= LEAST_LINES and growing >= NUMBERED_SHARE * len(lines)


def ranks_of(lines: Sequence[str], room: Room) -> list[float]:
    """What each line is worth."""
    text = NUMBERS.sub("\n", "\n".join(("", *lines)))[1:]
    bare = text.split("\n")
    spans = parsed_outline(text) or outline(bare)
    wanted = wanted_in(bare, room.wanted)
    ranks = list(skeleton(bare, spans))
    for span in spans:
        raise_for(span, ranks, wanted)
    return [
        WANTED_RANK + share if share else rank for rank, share in zip(ranks, wanted, strict=True)
    ]


def raise_for(span: Span, ranks: list[float], wanted: Sequence[float]) -> None:
    """A definition whose head is asked for keeps its body; one with something wanted inside keeps its head."""
    asked = max(wanted[span.start : span.body])
    if asked >= ASKED_FOR:
        for i in range(span.body, span.end):
            ranks[i] = max(ranks[i], BODY_RANK)
    if asked or any(wanted[span.body : span.end]):
        for i in range(span.start, span.body):
            ranks[i] = WANTED_RANK


def skeleton(lines: Sequence[str], spans: Sequence[Span]) -> Iterator[float]:
    """What each line is worth when nothing is asked for."""
    for i, (line, span) in enumerate(zip(lines, holders(spans, len(lines)), strict=True)):
        part = part_of(line)
        if part == "blank":
            yield BLANK_RANK
        elif part == "imported":
            yield IMPORT_RANK
        elif span is None:
            yield OUTSIDE_RANK
        elif i < span.body:
            yield HEAD_RANK - DEEPER * span.depth
        elif i == span.body and part == "documenting":
            yield DOCUMENT_RANK - DEEPER * span.depth
        else:
            yield LEAVING_RANK if part == "leaving" else INSIDE_RANK


def part_of(line: str) -> str | None:
    """The name of what a line is in ``PARTS``; ``None`` for any other."""
    inner = line.lstrip()
    if inner and inner[:2] not in BEGINNINGS and inner[0] not in "#*":
        return None  # as most lines are
    found = PARTS.match(inner)
    return found.lastgroup if found else None
