"""Where the definitions of a source text begin and end: by the grammar of its language, else by words and indentation.

Promise: every span lies within the text, and spans are in the order of their first lines. Words and indentation serve on
broken code and on parts of files; a grammar (extra ``code``) answers where it is installed.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable

    from tree_sitter import Language, Query

Grammar = tuple[str, str]  # the module of a grammar, and the function that gives it

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
    r"(?:[\w<>\[\],.&*:~?]+\s+)*[\w~$#]+\([^;]*\)[^;={}]*\{\s*(?://.*|/\*.*)?\r?\Z"
)
CLOSERS = (")", "]", "}", "end")
TAB_COLUMNS = 4
LINE_CHARS = 300  # of a line, to look at for a definition
HEAD_LINES = 12  # of a definition that goes over several lines

LONGEST_CHARS = 100_000  # broken text costs a parser up to 4 microseconds a character
DEEPEST = 12  # nodes around a definition
DEFINITION = re.compile(
    r"function|method|class|interface|impl|trait|struct|enum|namespace|module|constructor|record"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A definition, by the positions of its lines."""

    start: int
    body: int  # the first line after its head
    end: int  # the line after its last
    depth: int  # how many definitions it lies in


def outline(lines: Sequence[str]) -> list[Span]:
    """The definitions of a source text whose lines have no numbers."""
    starts = [
        i
        for i, line in enumerate(lines)
        if WORDED.match(line.lstrip()) or ("{" in line and BRACED.match(line[:LINE_CHARS]))
    ]
    ends = ends_of([line.expandtabs(TAB_COLUMNS) for line in lines], starts)
    pairs = zip(starts, ends, strict=True)
    return nested([(start, body_of(lines, start, end), end) for start, end in pairs])


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


def spans_by_grammar(text: str, grammar: Grammar, *, broken_too: bool) -> list[Span]:
    """The definitions of a text, by a grammar; none where it is not installed, or the text is too long or too broken for it."""
    if len(text) > LONGEST_CHARS:
        return []
    try:
        from tree_sitter import Parser, QueryCursor  # noqa: PLC0415 - an extra

        language, query = language_of(*grammar)
    except ImportError:
        return []
    root = Parser(language).parse(text.encode(errors="replace")).root_node
    if root.has_error and not broken_too:
        return []
    cursor = QueryCursor(query)
    cursor.set_max_start_depth(DEEPEST)  # broken text is nested without end, at the square of it
    rows: list[tuple[int, int, int]] = []
    for _, match in cursor.matches(root):
        whole, body = match["whole"][0], match["body"][0]
        if DEFINITION.search(whole.type):
            start, end, first = whole.start_point.row, whole.end_point.row + 1, body.start_point.row
            inner = first if first > start and body.type == "block" else first + 1
            rows.append((start, min(inner, end), end))
    return nested(sorted(rows, key=lambda row: (row[0], -row[2])))


@cache
def language_of(name: str, function: str) -> "tuple[Language, Query]":
    """A language, and the question for what has a body in it."""
    from tree_sitter import Language, Query  # noqa: PLC0415 - an extra

    module = import_module(f"tree_sitter_{name}")
    make = cast("Callable[[], object]", getattr(module, function))  # each grammar's module has it
    language = Language(make())
    return language, Query(language, "(_ body: (_) @body) @whole")


def nested(rows: Sequence[tuple[int, int, int]]) -> list[Span]:
    """Spans of rows in order, each with how many others it lies in."""
    spans: list[Span] = []
    open_until: list[int] = []
    for start, body, end in rows:
        while open_until and open_until[-1] <= start:
            open_until.pop()
        spans.append(Span(start=start, body=body, end=end, depth=len(open_until)))
        open_until.append(end)
    return spans
