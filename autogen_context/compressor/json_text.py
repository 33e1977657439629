"""JSON: whole, in lines, or as blocks inside other text.

Promise: minified, every string, number and key is spelled as it was, in the same order. Tightened, like objects are a table
besides, ``{"columns":[...],"rows":[...]}``. Cut, keys stay and the failed, the wanted, the first two and the last rows of lists.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from json import JSONDecodeError, JSONDecoder, JSONEncoder
from math import isfinite
from typing import TypeAlias, cast

from autogen_context.compressor.lines import (
    ERROR_RANK,
    Reducer,
    Room,
    choose,
    ranked,
    shortened,
)

Tree: TypeAlias = "dict[str, Tree] | list[Tree] | str | int | float | bool | None"

BLANKS = " \t\r\n"
MOST_DEPTH = 40  # containers in one another; what has more is no data that anybody reads
SAMPLE_CHARS = 4_000
SAMPLED_CHARS = 1_000  # of prose before the JSON
LEAST_FRACTION = 0.5  # of the sample that is JSON
LEAST_BLOCK = 80  # characters of JSON inside other text; shorter pieces may be anything
FAILURES = 20  # places that look like JSON and are none; then no more are tried
LEAST_ROWS = 3  # of a table
LEAST_SAVED = 40  # characters of keys, for a table
PART_CHARS = 300  # a larger part is written in several lines
LONGEST_STRING = 200
SHORT_STRING = 160
HEADER_RANK = ERROR_RANK + 2
ENDS_RANK = 2.0
DEEPER = 0.1  # less for each container around it

OPENING = re.compile(
    r"^[\[{](?=\s*(?:[\"{\[\]}]|-?\d[\d.eE+-]*\s*[,\]]|true\b|false\b|null\b|\Z))", re.MULTILINE
)
REST_OF_LINE = re.compile(r"[ \t\r]*(?=\n|\Z)")
STRING_OR_BLANKS = re.compile(r'("[^"\\]*(?:\\.[^"\\]*)*")|[ \t\r\n]+')
BETWEEN_PARTS = re.compile(r"(?<=[}\]],)[ \t]*(?=[{\[\"])")
LONG_STRING = re.compile(rf'"((?:[^"\\]|\\.){{{LONGEST_STRING},}}+)"')

READ = JSONDecoder().raw_decode
WRITE = JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
WRITE_ASCII = JSONEncoder(separators=(",", ":")).encode


def recognises(text: str, _: Sequence[str]) -> bool:
    """Whether the text begins as JSON or JSON lines, or with a few lines and then such, for most of a sample."""
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


def minified(text: str, *, columns: bool = False) -> str:
    """The text with no blanks between the parts of JSON in it, each key beside its value; the text itself if no shorter.

    With ``columns``, like objects are tables where that is smaller.
    """
    places = blocks_of(text)
    return written_in(text, [(a, b, read(text[a:b]) if columns else None) for a, b in places])


def written_in(text: str, blocks: Sequence[tuple[int, int, Tree]]) -> str:
    """The text with the JSON in it written without blanks, as the value that stands with its place, if any."""
    parts: list[str] = []
    at = 0
    for start, end, tree in blocks:
        block = text[start:end]
        short = "" if tree is None else (WRITE_ASCII if block.isascii() else WRITE)(tree)
        parts += (text[at:start], short or "".join(filter(None, STRING_OR_BLANKS.split(block))))
        at = end
    short = "".join((*parts, text[at:]))
    return short if len(short) < len(text) else text


def blocks_of(text: str) -> Iterator[tuple[int, int]]:
    """Where each value begins and ends that begins and ends with a line, but for short ones inside other text.

    The blanks around a whole text are part of it.
    """
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
        with suppress(JSONDecodeError, RecursionError):
            tree, end = READ(text, start)
            rest = REST_OF_LINE.match(text, end)
            if rest and is_shallow(tree):
                at, failed = end, failed - 1
                stop = rest.end()
                if stop - start >= LEAST_BLOCK or not (text[:start] + text[stop:]).strip(BLANKS):
                    yield start, stop


def is_shallow(tree: Tree) -> bool:
    """Whether few containers are in one another, so that it can be read however deep the stack is."""
    level = [tree]
    for _ in range(MOST_DEPTH):
        parts: list[Tree] = []
        for each in level:
            parts += each.values() if isinstance(each, dict) else cast("list[Tree]", each)
        level = [part for part in parts if isinstance(part, dict | list)]
        if not level:
            return True
    return False


def read(block: str) -> Tree:
    """The value of a block, like objects as tables; ``None`` where writing it anew would not give the same values."""
    if '"columns"' in block or "\\ud" in block or "\\uD" in block:
        return None
    try:
        value: Tree = READ_TABLES(block)
    except (ValueError, RecursionError):
        return None
    return table_of(value) if isinstance(value, list) else value


def distinct(pairs: Sequence[tuple[str, Tree]]) -> dict[str, Tree]:
    """The fields of an object; an error where it has a key twice."""
    fields = {k: table_of(v) if isinstance(v, list) else v for k, v in pairs}
    if len(fields) < len(pairs):
        raise ValueError("an object has a key twice")
    return fields


def finite(number: str) -> float:
    """A number; an error where it is too large for JSON."""
    if not isfinite(found := float(number)):
        raise ValueError("a number is too large")
    return found


READ_TABLES = JSONDecoder(
    object_pairs_hook=distinct, parse_float=finite, parse_constant=finite
).decode


def table_of(items: Sequence[Tree]) -> Tree:
    """The same values, objects with the same keys as a table where that is smaller."""
    rows = [table_of(item) if isinstance(item, list) else item for item in items]
    keys = list(rows[0]) if rows and isinstance(rows[0], dict) else []
    saved = (len(rows) - 1) * sum(len(key) + len('"":') for key in keys)
    if len(rows) < LEAST_ROWS or saved < LEAST_SAVED:
        return rows
    if not all(isinstance(row, dict) and list(row) == keys for row in rows):
        return rows
    values: list[Tree] = [list(row.values()) for row in rows if isinstance(row, dict)]
    return {"columns": [*keys], "rows": values}


def laid_out(
    tree: Tree, rank: float, *, before: str = "", after: str = "", depth: int = 0
) -> Iterator[tuple[str, float]]:
    """A value in lines with their ranks: a line for each part that is short enough."""
    if not isinstance(tree, dict | list) or len(tree) <= PART_CHARS // 2:  # else it is longer
        line = WRITE(tree)
        if len(line) <= PART_CHARS or not isinstance(tree, dict | list):
            yield f"{before}{line}{after}", rank
            return
    keyed = isinstance(tree, dict)
    rows = list(tree.items()) if isinstance(tree, dict) else [("", part) for part in tree]
    yield f"{before}{'{' if keyed else '['}", rank
    for i, (key, part) in enumerate(rows):
        told = HEADER_RANK if key == "columns" else ENDS_RANK - DEEPER * depth
        name, comma = f"{WRITE(key)}:" if keyed else "", "," * (i < len(rows) - 1)
        is_end = i < 2 or i == len(rows) - 1  # noqa: PLR2004 - the first two
        part_rank = told if is_end and rank > 0 else 0.0
        yield from laid_out(part, part_rank, before=name, after=comma, depth=depth + 1)
    yield f"{'}' if keyed else ']'}{after}", rank


def cut(text: str, room: Room) -> str:
    """Keys and the rows that matter; long values are shortened."""
    blocks = [(start, end, read(text[start:end])) for start, end in blocks_of(text)]
    tight = written_in(text, blocks)
    if room.count(tight) <= room.tokens:
        return tight
    rows: list[tuple[str, float]] = []
    at = 0
    for start, end, tree in blocks:
        if tree is not None:
            rows += around(text[at:start], is_first=not rows)
            rows += laid_out(tree, ENDS_RANK)
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


def around(text: str, *, is_first: bool) -> list[tuple[str, float]]:
    """What is no JSON, or JSON that is broken, in a line for each of its parts."""
    text = text.strip(BLANKS)
    lines = BETWEEN_PARTS.sub("\n", text).split("\n") if text else []
    return [(line, ENDS_RANK if is_first and i == 0 else 0.0) for i, line in enumerate(lines)]


JSON = Reducer("json", recognises, cut, partial(minified, columns=True))
