"""Where the definitions of a source text begin and end, told by their words and their indentation.

Promise: it works on broken code and on parts of files, for all languages that indent what belongs to a definition; every
span lies within the text, and spans are in the order of their first lines.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MODIFIERS = """
export default declare public private protected internal static final abstract sealed override virtual async readonly
pub unsafe extern inline const synchronized partial open suspend
"""
DEFINING = """
def class function interface enum namespace fn struct trait impl mod func fun module record object protocol extension
"""
BEGINNINGS = frozenset(  # of a definition, two letters
    word[:2] for word in f"{MODIFIERS} {DEFINING} type const let var".split()
)
WORDED = re.compile(
    rf"(?:(?:{'|'.join(MODIFIERS.split())}|pub\([^)]*\))\s+)*"
    rf"(?:(?:{'|'.join(DEFINING.split())})\b[ <(*]"
    r"|type\s+\w+.*[{=]|(?:const|let|var)\s+\w+.*(?:=>|\bfunction\b))"
)
BRACED = re.compile(  # name(…) {
    r"\s*(?!(?:if|for|while|switch|catch|return|else|do|with|using|lock|elif|except|throw|new|await)\b)"
    r"(?:[\w<>\[\],.&*:~?]+\s+)*[\w~$#]+\([^;]*\)[^;={}]*\{\s*(?://.*|/\*.*)?\r?\Z"
)
CLOSERS = (")", "]", "}", "end")
TAB_COLUMNS = 4
LINE_CHARS = 300  # of a line, to look at for a definition
HEAD_LINES = 12  # of a definition that goes over several lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A definition.

    Attributes:
        start: its first line.
        body: the first line after its head.
        end: the line after its last.
        depth: how many definitions it lies in.
    """

    start: int
    body: int
    end: int
    depth: int


def outline(lines: Sequence[str]) -> list[Span]:
    """The definitions of a source text, in the order of their first lines.

    Args:
        lines: the text's lines, without line numbers.
    """
    starts = [i for i, line in enumerate(lines) if defines(line)]
    ends = ends_of([line.expandtabs(TAB_COLUMNS) for line in lines], starts)
    spans: list[Span] = []
    open_until: list[int] = []
    for start, end in zip(starts, ends, strict=True):
        while open_until and open_until[-1] <= start:
            open_until.pop()
        spans.append(
            Span(start=start, body=body_of(lines, start, end), end=end, depth=len(open_until))
        )
        open_until.append(end)
    return spans


def defines(line: str) -> bool:
    """Whether a definition begins with a line."""
    inner = line.lstrip()
    return (inner[:2] in BEGINNINGS and WORDED.match(inner) is not None) or (
        "{" in line and BRACED.match(line[:LINE_CHARS]) is not None
    )


def ends_of(lines: Sequence[str], starts: Sequence[int]) -> list[int]:
    """For each definition the line after its last: where a line stands no deeper than its first, closers aside."""
    ends: dict[int, int] = {}
    waiting: list[tuple[int, int]] = []  # indentation and first line, ever deeper
    beginning = set(starts)
    last = 0  # the line after the last one that is not blank
    for i, line in enumerate(lines):
        inner = line.lstrip()
        if not inner:
            continue
        indent = len(line) - len(inner)
        closes = inner.startswith(CLOSERS)
        while waiting and (indent < waiting[-1][0] or (indent == waiting[-1][0] and not closes)):
            ends[waiting.pop()[1]] = last
        last = i + 1
        if i in beginning:
            waiting.append((indent, i))
    ends.update({start: last for _, start in waiting})
    return [ends[start] for start in starts]


def body_of(lines: Sequence[str], start: int, end: int) -> int:
    """The first line after a head: behind the line that ends in a colon, a brace or an arrow."""
    for i in range(start, min(end, start + HEAD_LINES)):
        if lines[i].rstrip().endswith((":", "{", "=>", ";", "}")):
            return i + 1
    return min(start + 1, end)


def holders(spans: Sequence[Span], lines: int) -> Iterator[Span | None]:
    """For each line the innermost definition that holds it."""
    waiting = list(reversed(spans))
    inside: list[Span] = []
    for i in range(lines):
        while inside and inside[-1].end <= i:
            inside.pop()
        while waiting and waiting[-1].start <= i:
            inside.append(waiting.pop())
        yield inside[-1] if inside else None
