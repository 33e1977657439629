"""Reducer for JSON: a whole text, JSON lines, or blocks inside other text.

Promise: tightening keeps the spelling and order of every string, number and key. Cutting first turns lists of like objects
into tables, ``{"columns":[...],"rows":[...]}``, then keeps keys and the failed, wanted, first two and last rows of lists.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from json import JSONDecodeError, JSONDecoder
from operator import is_
from typing import NamedTuple, TypeAlias, cast

from pydantic_core import to_json

from autogen_context.compressor.lines import (
    ERROR_RANK,
    Reducer,
    TextLimit,
    choose,
    ranked,
    shortened,
)
from autogen_context.text.passage import Passage

Tree: TypeAlias = "dict[str, Tree] | list[Tree] | str | int | float | bool | None"
Rows: TypeAlias = list[Passage]

BLANKS = " \t\r\n"
MOST_DEPTH = 40  # nested containers; deeper JSON is not parsed
SAMPLE_CHARS = 4_000
SAMPLED_CHARS = 1_000  # of prose before the JSON
LEAST_FRACTION = 0.5  # of the sample that must be JSON
LEAST_BLOCK = 80  # characters of JSON inside other text; shorter pieces are ambiguous
FAILURES = 20  # false starts after which the search ends
LEAST_ROWS = 3  # for a table
LEAST_SAVED = 40  # characters of keys that a table must save
PART_CHARS = 300  # a larger part is split into several lines
LONGEST_STRING = 200  # characters that are shown whole
SHORT_STRING = 160  # characters that stay of a longer one
HEADER_RANK = ERROR_RANK + 2
ENDS_RANK = 2.0  # of the first and the last entry
DEEPER = 0.1  # subtracted per enclosing container

OPENING = re.compile(
    r"^[\[{](?=\s*(?:[\"{\[\]}]|-?\d[\d.eE+-]*\s*[,\]]|true\b|false\b|null\b|\Z))", re.MULTILINE
)
REST_OF_LINE = re.compile(r"[ \t\r]*(?=\n|\Z)")
BETWEEN_PARTS = re.compile(r"(?<=[}\]],)[ \t]*(?=[{\[\"])")
LONG_STRING = re.compile(rf'"((?:[^"\\]|\\.){{{LONGEST_STRING},}}+)"')

READ = JSONDecoder().raw_decode
CONTAINERS = (dict, list)
ESCAPED = re.compile(r"\\u(?:[dD]|0022|003)")  # half a character, or a sign of JSON


class JsonValue(NamedTuple):
    """A JSON value in a text, without whitespace as ``line``; with ``rows``, its parts, like objects are tables in both."""

    start: int
    end: int
    line: str
    rows: Sequence[Passage] = ()


def recognises(text: str, _: Sequence[str]) -> bool:
    """Return True if most of a sample is JSON or JSON lines, possibly after a few other lines."""
    sample = text.lstrip(BLANKS)[:SAMPLE_CHARS]
    for opening in islice(OPENING.finditer(sample, 0, SAMPLED_CHARS), 5):
        start = end = opening.start()
        try:
            while end < len(sample) and (end == start or OPENING.match(sample, end)):
                _, end = READ(sample, end)
                end = len(sample) - len(sample[end:].lstrip(BLANKS))
        except JSONDecodeError as error:
            end = len(sample) if error.msg.startswith("Unterminated") else error.pos
        except RecursionError:
            end = start
        if end - start >= LEAST_FRACTION * len(sample) > 0:
            return True
    return False


def minified(text: str) -> str:
    """Remove whitespace between JSON tokens; unchanged if no shorter."""
    return with_lines(text, [*values_in(text, read)])


def with_lines(text: str, values: Sequence[JsonValue]) -> str:
    """Replace each value by its line; return the text unchanged if that is no shorter."""
    parts: list[str] = []
    at = 0
    for value in values:
        parts += (text[at : value.start], value.line)
        at = value.end
    short = "".join((*parts, text[at:]))
    return short if len(short) < len(text) else text


def values_in(text: str, read: Callable[[str, int], JsonValue]) -> Iterator[JsonValue]:
    """Yield the values that fill whole lines, except short ones inside other text."""
    failed = at = 0
    first = len(text) - len(text.lstrip(BLANKS))
    is_whole = text[first : first + 1] in {"{", "["}
    while failed < FAILURES:
        opening = OPENING.search(text, at)
        start = first if is_whole else opening.start() if opening else -1
        if start < 0:
            return
        is_whole, at = False, start + 1
        failed += 1
        try:
            value = read(text, start)
        except (JSONDecodeError, RecursionError):
            continue
        if rest := REST_OF_LINE.match(text, value.end):
            at, failed, stop = value.end, failed - 1, rest.end()
            if stop - start >= LEAST_BLOCK or (start == first and not text[stop:].strip(BLANKS)):
                yield value if stop == at else value._replace(end=stop)


def read(text: str, start: int) -> JsonValue:
    """Find the value at a position; raise ``ValueError`` if there is none and ``RecursionError`` if it is nested too deep."""
    tree, end = READ(text, start)
    if text.count("{", start, end) + text.count("[", start, end) > MOST_DEPTH:
        check_depth(tree)
    return JsonValue(start, end, without_blanks(text[start:end]))


def without_blanks(valid: str) -> str:
    """Remove the whitespace between the tokens of valid JSON, which has no control characters in strings."""
    hidden = valid.replace("\\\\", "\0").replace('\\"', "\1") if "\\" in valid else valid
    parts = hidden.split('"')  # every second one is a string
    parts[::2] = "".join('"'.join(parts[::2]).split()).split('"')
    line = '"'.join(parts)
    return line if hidden is valid else line.replace("\1", '\\"').replace("\0", "\\\\")


def read_tables(text: str, start: int) -> JsonValue:
    """Parse the value at a position; without its rows if a part would not come back from ``line`` as it was."""
    tree: Tree
    tree, end = READ(text, start)
    try:
        line = to_json(tree).decode()
    except ValueError:  # a lone surrogate, or nested too deep
        return read(text, start)
    # Else an object may have a key twice.
    is_whole = line.count('":') == text.count('":', start, end)
    if not is_whole or "Infinity" in line or "NaN" in line:
        return read(text, start)
    rows: Rows = []
    lay_out(tree if len(line) <= PART_CHARS else with_tables(tree), ENDS_RANK, rows)
    return JsonValue(start, end, "".join([row.text for row in rows]), rows)


def check_depth(tree: Tree) -> None:
    """Raise ``RecursionError`` if the nesting exceeds ``MOST_DEPTH``, so that parsing does not depend on the stack depth."""
    level = [tree]
    for _ in range(MOST_DEPTH):
        parts = chain.from_iterable(
            each.values() if isinstance(each, dict) else cast("list[Tree]", each) for each in level
        )
        level = [part for part in parts if isinstance(part, CONTAINERS)]
        if not level:
            return
    raise RecursionError("nested deeper than anybody reads")


def with_tables(tree: Tree) -> Tree:
    """Return a value with its lists of like objects as tables, except those in other lists; the same if there is none."""
    if isinstance(tree, list):
        return table_of(tree)
    parts = tree.items() if isinstance(tree, dict) else ()
    changed = {key: part for key, old in parts if (part := with_tables(old)) is not old}
    return {**cast("dict[str, Tree]", tree), **changed} if changed else tree


def table_of(items: list[Tree]) -> Tree:
    """Return the same values, with objects that share their keys as a table if that is smaller."""
    if list in map(type, items):
        parts = [table_of(item) if isinstance(item, list) else item for item in items]
        return items if all(map(is_, parts, items)) else parts
    rows = [item for item in items if isinstance(item, dict)]
    keys = list(rows[0]) if len(rows) == len(items) >= LEAST_ROWS else []
    saved = (len(rows) - 1) * sum(len(key) + len('"":') for key in keys)
    if saved < LEAST_SAVED or not all(list(row) == keys for row in rows):
        return items
    return {"columns": [*keys], "rows": [list(row.values()) for row in rows]}


def line_of(tree: Tree) -> str:
    """Return a value on one line; empty if it is a container that is too long for one."""
    if not isinstance(tree, CONTAINERS):
        return to_json(tree).decode()
    line = to_json(tree).decode() if len(tree) <= PART_CHARS // 2 else ""
    return line if len(line) <= PART_CHARS else ""


def lay_out(
    tree: Tree, rank: float, rows: Rows, *, before: str = "", after: str = "", depth: int = 0
) -> None:
    """Append a value to ``rows`` as ranked lines: one for each part that is short enough."""
    if line := line_of(tree):
        rows.append(Passage(f"{before}{line}{after}", rank))
        return
    keyed = isinstance(tree, dict)
    parts = (
        list(tree.items())
        if isinstance(tree, dict)
        else [("", part) for part in cast("list[Tree]", tree)]
    )
    rows.append(Passage(f"{before}{'{' if keyed else '['}", rank))
    last = len(parts) - 1
    for i, (key, part) in enumerate(parts):
        own_rank = HEADER_RANK if key == "columns" else ENDS_RANK - DEEPER * depth
        part_rank = own_rank if (i < 2 or i == last) and rank > 0 else 0.0  # noqa: PLR2004 - the first two
        name, comma = f"{to_json(key).decode()}:" if keyed else "", "," * (i < last)
        if line := line_of(part):
            rows.append(Passage(f"{name}{line}{comma}", part_rank))
        else:
            lay_out(part, part_rank, rows, before=name, after=comma, depth=depth + 1)
    rows.append(Passage(f"{'}' if keyed else ']'}{after}", rank))


def cut(text: str, room: TextLimit) -> str:
    """Return the keys and the rows that matter; long values are shortened."""
    is_ambiguous = '"columns"' in text or ESCAPED.search(text)
    values = [*values_in(text, read if is_ambiguous else read_tables)]
    tight = with_lines(text, values)
    if room.count(tight) <= room.tokens:
        return tight
    rows: Rows = []
    at = 0
    for start, end, _, parts in values:
        if parts:
            if between := text[at:start].strip(BLANKS):
                rows += around(between, is_first=not rows)
            rows += parts
            at = end
    rows += around(text[at:].strip(BLANKS), is_first=not rows)
    lines = [
        LONG_STRING.sub(lambda long: f'"{shortened(long[1], SHORT_STRING, room.wanted)}"', line)
        if len(line) > LONGEST_STRING
        else line
        for line in (row.text for row in rows)
    ]
    ranks = ranked((row.rank for row in rows), lines, room, errors=True)
    short = choose([*map(Passage, lines, ranks)], room, noun="rows")
    return short if len(short) <= len(text) else choose([Passage(text)], room)


def around(text: str, *, is_first: bool) -> Rows:
    """Split text that is not valid JSON into lines, broken JSON at its parts."""
    lines = BETWEEN_PARTS.sub("\n", text).split("\n") if text else []
    ranks = [ENDS_RANK * is_first, *(0.0 for _ in lines)]
    return [*map(Passage, lines, ranks)]


JSON = Reducer("json", recognises, cut, minified)
