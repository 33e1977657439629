r"""Reducer for source code, with or without line numbers, and an outline of its definitions.

Promise: tightening changes no character of the code, since agents edit by exact text; it removes only the padding of line
numbers. Cutting keeps a skeleton, definitions that are asked for by name, and wanted lines with the heads above them.
Definitions are recognised by keywords and indentation, so parts of files work too.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from autogen_context.compressor.lines import (
    BLANK_RANK,
    WANTED_RANK,
    Reducer,
    TextLimit,
    choose,
    wanted_in,
)
from autogen_context.text.passage import Passage

NUMBER = re.compile(r" *(\d{1,7})(?:\t|[:|│] ?|-(?!\d))")
NUMBERS = re.compile(rf"\n{NUMBER.pattern}")
NUMBERED = "|".join(rf" {{{6 - digits}}}\d{{{digits}}}\t" for digits in range(1, 6))  # by cat -n
NUMBERED_OTHERWISE = re.compile(rf"\n(?!{NUMBERED}|\d{{6,}}\t) *\d+\t")
PADDING = re.compile(r"\n +(?=\d+\t)")
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
CODE_FRACTION = 0.5  # of the lines, with a keyword or a statement's ending
KEYWORD_FRACTION = 0.15
NUMBERED_FRACTION = 0.5
ASKED_FOR = 0.5  # wanted score of a head from which its body is kept whole

BODY_RANK = 3.0  # of a body that is asked for by name
HEAD_RANK = 2.0  # of the first line of a definition
DEEPER = 0.1  # subtracted per enclosing definition
DOCUMENT_RANK = 1.5  # of the first line after a head

MODIFIERS = """
export default declare public private protected internal static final abstract sealed override virtual async readonly
pub unsafe extern inline const synchronized partial open suspend
"""
DEFINING = """
def class function interface enum namespace fn struct trait impl mod func fun module record object protocol extension
"""
WORDED = re.compile(
    rf"(?:(?:{'|'.join(MODIFIERS.split())}|pub\([^)]*\))\s+)*"
    rf"(?:(?:{'|'.join(DEFINING.split())})\b[ <(*]"
    r"|type\s+\w+.*[{=]|(?:const|let|var)\s+\w+.*(?:=>|\bfunction\b))"
)
BRACED = re.compile(  # name(…) {
    r"\s*(?!(?:if|for|while|switch|catch|return|else|do|with|using|lock|elif|except|throw|new|await)\b)"
    r"(?:[\w<>\[\],.&*:~?]+\s+)*[\w~$#]+ ?\([^;]*\)[^;={}]*\{\s*(?://.*|/\*.*)?\r?\Z"
)
CLOSERS = (")", "]", "}", "end")
TAB_COLUMNS = 4  # of indentation
LINE_CHARS = 300  # of a line that are searched for a definition
HEAD_LINES = 12  # at most, of a head that spans several lines


class LineSpan(NamedTuple):
    """The line range of a definition."""

    start: int
    body: int  # the first line after its head
    end: int  # the line after its last line
    depth: int  # number of enclosing definitions


def recognises(_: str, lines: Sequence[str]) -> bool:
    """Return True if the lines start with increasing numbers or look like statements."""
    size = len(lines)
    if size < LEAST_LINES:
        return False
    numbers = [int(match[1]) for match in map(NUMBER.match, lines) if match]
    growing = sum(1 for one, next_one in pairwise(numbers) if one < next_one)
    if growing >= LEAST_LINES and growing >= NUMBERED_FRACTION * size:
        return True
    bare = NUMBERS.sub("\n", "\n".join(("", *lines)))[1:].split("\n")
    others = [line for line in bare if not KEYWORD.match(line)]
    words = size - len(others)
    if words < KEYWORD_FRACTION * size:
        return False
    ended = sum(1 for line in others if line.rstrip().endswith(ENDINGS))
    return words + ended >= CODE_FRACTION * size


def without_padding(text: str) -> str:
    """Return the text without the padding of its line numbers, if all have the format of ``cat -n``."""
    if "\t" not in text:
        return text
    lines = f"\n{text}"
    return text if NUMBERED_OTHERWISE.search(lines) else PADDING.sub("\n", lines)[1:]


def cut(text: str, room: TextLimit) -> str:
    """Return the skeleton and what is wanted: a named definition keeps its body, one that contains a wanted line its head."""
    lines = without_padding(text).split("\n")
    bare = NUMBERS.sub("\n", "\n".join(("", *lines)))[1:].split("\n")
    spans = outline(bare)
    wanted = wanted_in(bare, room.wanted)
    ranks: list[float] = []
    for i, (line, span) in enumerate(zip(bare, holders(spans, len(bare)), strict=True)):
        inner = line.lstrip()
        if not inner:
            ranks.append(BLANK_RANK)
        elif span is None:
            ranks.append(1.2 if IMPORTED.match(inner) else 1.0)
        elif i < span.body:
            ranks.append(HEAD_RANK - DEEPER * span.depth)
        elif i == span.body and DOCUMENTING.match(inner):
            ranks.append(DOCUMENT_RANK - DEEPER * span.depth)
        else:
            ranks.append(0.5 if inner.startswith(LEAVING) else 0.3)
    for span in spans:
        asked = max(wanted[span.start : span.body], default=0)
        if asked >= ASKED_FOR:
            for i in range(span.body, span.end):
                ranks[i] = max(ranks[i], BODY_RANK)
        if asked or any(wanted[span.body : span.end]):
            ranks[span.start : span.body] = [WANTED_RANK] * (span.body - span.start)
    for i, share in enumerate(wanted):
        ranks[i] = WANTED_RANK + share if share else ranks[i]
    return choose([*map(Passage, lines, ranks)], room)


CODE = Reducer("code", recognises, cut, without_padding)


def outline(lines: Sequence[str]) -> list[LineSpan]:
    """Return the definitions of a source text without line numbers, by keywords and indentation.

    A definition ends before a line indented no deeper than its first, except closers; its body follows the head's last line.
    """
    spans: list[LineSpan] = []
    waiting: list[tuple[int, int]] = []  # open definitions: indentation (increasing) and first line
    last = 0  # the line after the last non-blank one

    def end() -> None:
        start = waiting.pop()[1]
        head = range(start, min(last, start + HEAD_LINES))
        ends = (i + 1 for i in head if lines[i].rstrip().endswith((":", "{", "=>", ";", "}")))
        spans.append(LineSpan(start, next(ends, start + 1), last, depth=len(waiting)))

    for i, line in enumerate(lines):
        inner = line.lstrip()
        if not inner:
            continue
        indent = len(line[: len(line) - len(inner)].expandtabs(TAB_COLUMNS))
        closes = inner.startswith(CLOSERS)
        while waiting and (indent < waiting[-1][0] or (indent == waiting[-1][0] and not closes)):
            end()
        last = i + 1
        if WORDED.match(inner) or ("{" in line and BRACED.match(line[:LINE_CHARS])):
            waiting.append((indent, i))
    while waiting:
        end()
    return sorted(spans)


def holders(spans: Sequence[LineSpan], lines: int) -> list[LineSpan | None]:
    """Return, for each line, the innermost definition that contains it."""
    found: list[LineSpan | None] = [None] * lines
    for span in spans:
        found[span.start : span.end] = [span] * (span.end - span.start)
    return found
