"""Where definitions begin and end, by the grammar of the language (extra ``code``).

Promise: only a text that its grammar takes without an error is told by it; for all else, and where the grammar is not
installed, there is no answer, and the outline by words and indentation serves.
"""

import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, cast

from autogen_context.compressor.arrival.outline import Span

if TYPE_CHECKING:
    from collections.abc import Callable

    from tree_sitter import Language, Node, Query

LONGEST_CHARS = 100_000  # broken text costs a parser up to 4 microseconds a character
DEEPEST = 12  # nodes around a definition
LEAST_SIGNS = 2

# What a language is told by: the module and the function of its grammar, and what its texts have many of.
SIGNS = {
    (
        "python",
        "language",
    ): r"^[ \t]*(?:def \w+\(.*:|class \w+.*:|from \S+ import |import \w|elif |except\b)",
    ("typescript", "language_typescript"): (
        r"^[ \t]*(?:interface \w|type \w+ =|enum \w|import type )|: (?:string|number|boolean|void)\b"
    ),
    (
        "javascript",
        "language",
    ): r"^[ \t]*(?:const|let|var) |=> |\brequire\(|^[ \t]*(?:async )?function |===",
    (
        "java",
        "language",
    ): r"^[ \t]*(?:package [\w.]+;|import java|public (?:class|static|final|void)|@Override)",
    ("go", "language"): r"^(?:func |package \w+$|type \w+ (?:struct|interface))|:= ",
    (
        "rust",
        "language",
    ): r"^[ \t]*(?:pub )?(?:fn|impl|use|mod|trait)\b.*[;{]|\blet mut |-> Result<",
    ("c_sharp", "language"): r"^[ \t]*(?:using [\w.]+;|namespace [\w.]+)|\{ get; ",
    ("cpp", "language"): r"^[ \t]*(?:#include <\w+>|template ?<|namespace \w+ \{)|\bstd::",
    ("c", "language"): r"^#(?:include|define|ifdef)\b|\bNULL\b|->",
}
TOLD = {grammar: re.compile(signs, re.MULTILINE) for grammar, signs in SIGNS.items()}
DEFINITION = re.compile(
    r"function|method|class|interface|impl|trait|struct|enum|namespace|module|constructor|record"
)


def parsed_outline(text: str) -> list[Span]:
    """The definitions of a source text, in the order of their first lines; none where its grammar has no answer."""
    grammar = grammar_of(text)
    if not grammar or len(text) > LONGEST_CHARS:
        return []
    try:
        from tree_sitter import Parser, QueryCursor  # noqa: PLC0415 - an extra

        language, query = language_of(*grammar)
    except ImportError:
        return []
    root = Parser(language).parse(text.encode(errors="replace")).root_node
    if root.has_error:
        return []
    cursor = QueryCursor(query)
    cursor.set_max_start_depth(DEEPEST)
    found = (match for _, match in cursor.matches(root))
    return nested([(match["whole"][0], match["body"][0]) for match in found])


def grammar_of(text: str) -> tuple[str, str] | None:
    """The grammar whose signs a text has most of; none where there are hardly any."""
    head = text[:20_000]
    counts = {grammar: sum(1 for _ in signs.finditer(head)) for grammar, signs in TOLD.items()}
    best = max(counts, key=counts.__getitem__)
    return best if counts[best] >= LEAST_SIGNS else None


@cache
def language_of(name: str, function: str) -> "tuple[Language, Query]":
    """A language, and the question for what has a body in it."""
    from tree_sitter import Language, Query  # noqa: PLC0415 - an extra

    module = import_module(f"tree_sitter_{name}")
    make = cast("Callable[[], object]", getattr(module, function))  # each grammar's module has it
    language = Language(make())
    return language, Query(language, "(_ body: (_) @body) @whole")


def nested(found: "list[tuple[Node, Node]]") -> list[Span]:
    """Spans of the nodes that are definitions."""
    spans: list[Span] = []
    open_until: list[int] = []
    for start, body, end in sorted(rows(found), key=lambda row: (row[0], -row[2])):
        while open_until and open_until[-1] <= start:
            open_until.pop()
        spans.append(Span(start=start, body=body, end=end, depth=len(open_until)))
        open_until.append(end)
    return spans


def rows(found: "list[tuple[Node, Node]]") -> Iterator[tuple[int, int, int]]:
    """First line, first line of the body, and the line after the last."""
    for whole, body in found:
        if DEFINITION.search(whole.type):
            start, end = whole.start_point.row, whole.end_point.row + 1
            first = body.start_point.row
            inner = first if first > start and body.type == "block" else first + 1
            yield start, min(inner, end), end
