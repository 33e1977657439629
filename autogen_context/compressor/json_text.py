"""Reducer for JSON: a whole text, JSON lines, or blocks inside other text.

Promise: tightening keeps the spelling and order of every string, number and key. Cutting first turns lists of like objects
into tables, ``{"columns":[...],"rows":[...]}``, then keeps keys and the failed, wanted, first two and last rows of lists.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from json import JSONDecodeError, JSONDecoder
from typing import NamedTuple, TypeAlias, cast

from pydantic_core import to_json

from autogen_context.compressor.lines import (
    ERROR_RANK,
    Reducer,
    Room,
    choose,
    ranked,
    shortened,
)
from autogen_context.prioritizer.blocks import finite

Tree: TypeAlias = "dict[str, Tree] | list[Tree] | str | int | float | bool | None"
Rows: TypeAlias = list[tuple[str, float]]

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
LONGEST_STRING = 200
SHORT_STRING = 160
HEADER_RANK = ERROR_RANK + 2
ENDS_RANK = 2.0
DEEPER = 0.1  # subtracted per enclosing container

OPENING = re.compile(
    r"^[\[{](?=\s*(?:[\"{\[\]}]|-?\d[\d.eE+-]*\s*[,\]]|true\b|false\b|null\b|\Z))", re.MULTILINE
)
REST_OF_LINE = re.compile(r"[ \t\r]*(?=\n|\Z)")
BETWEEN_BLANKS = re.compile(r'(?:[^" \t\r\n]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")+')
BETWEEN_PARTS = re.compile(r"(?<=[}\]],)[ \t]*(?=[{\[\"])")
LONG_STRING = re.compile(rf'"((?:[^"\\]|\\.){{{LONGEST_STRING},}}+)"')

READ = JSONDecoder().raw_decode
CONTAINERS = (dict, list)


class Value(NamedTuple):
    """A JSON value in a text, with like objects as tables; ``tree`` is ``None`` if re-serializing would change a value."""

    start: int
    end: int
    tree: Tree


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
    values = [*values_in(text, read)]
    return with_written(text, values, [written(text, value) for value in values])


def written(text: str, value: Value) -> str:
    """Return a value of a text without whitespace between its tokens."""
    if value.tree is not None:
        return to_json(value.tree).decode()
    return "".join(BETWEEN_BLANKS.findall(text, value.start, value.end))


def with_written(text: str, values: Sequence[Value], lines: Sequence[str]) -> str:
    """Replace each value by its line; return the text unchanged if that is no shorter."""
    parts: list[str] = []
    at = 0
    for value, line in zip(values, lines, strict=True):
        parts += (text[at : value.start], line)
        at = value.end
    short = "".join((*parts, text[at:]))
    return short if len(short) < len(text) else text


def values_in(text: str, read: Callable[[str, int], tuple[Tree, int]]) -> Iterator[Value]:
    """Yield the values that fill whole lines, except short ones inside other text, each with what ``read`` gives."""
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
            tree, end = read(text, start)
        except (JSONDecodeError, RecursionError):
            continue
        if rest := REST_OF_LINE.match(text, end):
            at, failed = end, failed - 1
            stop = rest.end()
            if stop - start >= LEAST_BLOCK or (start == first and not text[stop:].strip(BLANKS)):
                yield Value(start, stop, tree)


def read(text: str, start: int) -> tuple[None, int]:
    """Find the end of the value at a position.

    Raises ``ValueError`` if there is none and ``RecursionError`` if it is nested too deep.
    """
    tree, end = READ(text, start)
    check_depth(text, start, end, tree)
    return None, end


def read_tables(text: str, start: int) -> tuple[Tree, int]:
    """Parse the value at a position; like ``read``, but with its tree (see ``Value``)."""
    if text[-1:] not in {"}", "]", "\n"}:  # probably broken: detected in half the time
        READ(text, start)
    tree: Tree
    try:
        tree, end = READ_TABLES(text, start)
        block = text[start:end]
        block.encode()  # raises for a lone surrogate
    except JSONDecodeError:
        raise
    except ValueError:
        return read(text, start)
    if '"columns"' in block or "\\ud" in block or "\\uD" in block:
        return read(text, start)
    check_depth(text, start, end, tree)
    return table_of(tree) if isinstance(tree, list) else tree, end


def check_depth(text: str, start: int, end: int, tree: Tree) -> None:
    """Raise ``RecursionError`` if the nesting exceeds ``MOST_DEPTH``, so that parsing does not depend on the stack depth."""
    if text.count("{", start, end) + text.count("[", start, end) <= MOST_DEPTH:
        return
    level = [tree]
    for _ in range(MOST_DEPTH):
        parts = chain.from_iterable(
            each.values() if isinstance(each, dict) else cast("list[Tree]", each) for each in level
        )
        level = [part for part in parts if isinstance(part, CONTAINERS)]
        if not level:
            return
    raise RecursionError("nested deeper than anybody reads")


def distinct(pairs: Sequence[tuple[str, Tree]]) -> dict[str, Tree]:
    """Return the fields of an object, lists in them as tables; raise ``ValueError`` for a duplicate key."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("an object has a key twice")
    for key, part in pairs if list in map(type, fields.values()) else ():
        if isinstance(part, list) and part and isinstance(part[0], CONTAINERS):
            fields[key] = table_of(part)
    return fields


READ_TABLES = JSONDecoder(
    object_pairs_hook=distinct, parse_float=finite, parse_constant=finite
).raw_decode


def table_of(items: list[Tree]) -> Tree:
    """Return the same values, with objects that share their keys as a table if that is smaller."""
    if list in map(type, items):
        return [table_of(item) if isinstance(item, list) else item for item in items]
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
        rows.append((f"{before}{line}{after}", rank))
        return
    keyed = isinstance(tree, dict)
    parts = (
        list(tree.items())
        if isinstance(tree, dict)
        else [("", part) for part in cast("list[Tree]", tree)]
    )
    rows.append((f"{before}{'{' if keyed else '['}", rank))
    last = len(parts) - 1
    for i, (key, part) in enumerate(parts):
        told = HEADER_RANK if key == "columns" else ENDS_RANK - DEEPER * depth
        part_rank = told if (i < 2 or i == last) and rank > 0 else 0.0  # noqa: PLR2004 - the first two
        name, comma = f"{to_json(key).decode()}:" if keyed else "", "," * (i < last)
        if line := line_of(part):
            rows.append((f"{name}{line}{comma}", part_rank))
        else:
            lay_out(part, part_rank, rows, before=name, after=comma, depth=depth + 1)
    rows.append((f"{'}' if keyed else ']'}{after}", rank))


def cut(text: str, room: Room) -> str:
    """Return the keys and the rows that matter; long values are shortened."""
    values = [*values_in(text, read_tables)]
    whole = [written(text, value) for value in values]
    tight = with_written(text, values, whole)
    if room.count(tight) <= room.tokens:
        return tight
    rows: Rows = []
    at = 0
    for (start, end, tree), line in zip(values, whole, strict=True):
        if tree is not None:
            rows += around(text[at:start], is_first=not rows)
            if len(line) <= PART_CHARS:
                rows.append((line, ENDS_RANK))
            else:
                lay_out(tree, ENDS_RANK, rows)
            at = end
    rows += around(text[at:], is_first=not rows)
    lines = [
        LONG_STRING.sub(lambda long: f'"{shortened(long[1], SHORT_STRING, room.wanted)}"', line)
        if len(line) > LONGEST_STRING
        else line
        for line, _ in rows
    ]
    ranks = ranked([rank for _, rank in rows], lines, room, errors=True)
    short = choose(lines, ranks, room, noun="rows")
    return short if len(short) <= len(text) else choose([text], [0.0], room)


def around(text: str, *, is_first: bool) -> Rows:
    """Split text that is not valid JSON into lines, broken JSON at its parts."""
    text = text.strip(BLANKS)
    lines = BETWEEN_PARTS.sub("\n", text).split("\n") if text else []
    return [(line, ENDS_RANK if is_first and i == 0 else 0.0) for i, line in enumerate(lines)]


JSON = Reducer("json", recognises, cut, minified)
