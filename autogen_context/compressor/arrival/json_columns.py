"""Like objects of JSON as a table: the keys once, then the values of each object.

Promise: lossless. ``[{"a":1,"b":"x"},{"a":2},…]`` becomes ``[columns "a","b":`` and rows ``[1,"x"],`` ``[2,]``; an object
of like objects becomes ``{columns …:`` and rows ``"key":[…]``. No JSON begins so, hence it cannot be mistaken for any. A
place left empty is a key that the object did not have, and where values are objects with the same keys themselves, these
stand in brackets behind the column's name: ``"seats"("economy","business")`` and ``[12,3]``.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from autogen_context.compressor.arrival.json_header import (
    Header,
    Objects,
    empty_places,
    header_of,
)
from autogen_context.compressor.arrival.json_spelling import Spelling, Tree

MOST_DEPTH = 60  # of containers in containers; far from what the stack allows, so that no caller's depth matters
CONTAINERS = frozenset({dict, list})
LEAST_ROWS = 2
LEAST_FIELDS = 3  # of an object that is a table
NOT_THERE = ""


def tightened(trees: Sequence[Tree], spelling: Spelling) -> str:
    """JSON values as short as can be, as the spelling has them; several ones on a line each.

    Raises:
        RecursionError: they are nested too deep.
    """
    if len(trees) == 1:
        return spelling.written(columnar(trees[0], spelling, rows_apart=True))
    title, rows = columnar_lines(trees, spelling)
    return "\n".join((*title, *written_apart(rows, spelling)))


def written_apart(rows: Sequence[Tree], spelling: Spelling) -> list[str]:
    """Each value as it is written, all at one go."""
    fresh = spelling.fresh
    encoded = spelling.written([part for row in rows for part in (fresh, row)])
    return encoded[1:-1].removeprefix(f'"{fresh}",').split(f',"{fresh}",')


def columnar_lines(trees: Sequence[Tree], spelling: Spelling) -> tuple[list[str], list[Tree]]:
    """Values that were a line each: a title and rows where they are alike, else no title and each for itself."""
    header = header_of(trees) if len(trees) > LEAST_ROWS else None
    if header is None:
        return [], [columnar(tree, spelling) for tree in trees]
    title = f"{len(trees)} lines of columns {names_of(header, spelling.name)}:"
    return [title], rows_of(objects_of(trees), header, spelling, MOST_DEPTH - 1)


def columnar(
    tree: Tree, spelling: Spelling, *, rows_apart: bool = False, depth: int = MOST_DEPTH
) -> Tree:
    """The same value with each table in it written as one, where that is shorter.

    Args:
        tree: what was read.
        spelling: what read it and will write it.
        rows_apart: each row of a table begins a line, but for tables inside tables.
        depth: how many containers may be in one another.

    Raises:
        RecursionError: it has more.
    """
    if not isinstance(tree, dict | list):
        return tree
    if not depth:
        raise RecursionError(f"JSON with more than {MOST_DEPTH} containers in one another")
    values = tree if isinstance(tree, list) else list(tree.values())
    if CONTAINERS.isdisjoint(map(type, values)):
        return tree
    least = LEAST_ROWS if isinstance(tree, list) else LEAST_FIELDS
    header = header_of(values) if len(values) >= least else None
    if header is None:
        inner = [columnar(v, spelling, rows_apart=rows_apart, depth=depth - 1) for v in values]
        return inner if isinstance(tree, list) else dict(zip(tree, inner, strict=True))
    rows = rows_of(objects_of(values), header, spelling, depth - 1)
    return table(tree, title_of(header, spelling), rows, spelling.fresh if rows_apart else "")


def table(tree: list[Tree] | dict[str, Tree], title: str, rows: Sequence[Tree], fresh: str) -> Tree:
    """A list or an object with a title before its rows, and what begins a line before each of them."""
    if isinstance(tree, dict):
        keys = (f"{fresh}{key}" for key in tree)
        return {title: True, **dict(zip(keys, rows, strict=True))}
    return [title, *(part for row in rows for part in (fresh, row))] if fresh else [title, *rows]


def objects_of(values: Sequence[Tree]) -> Objects:
    """Values that have a header, hence are objects."""
    return cast("Objects", values)  # header_of has looked at each


def rows_of(objects: Objects, header: Header, spelling: Spelling, depth: int) -> list[Tree]:
    """The values of each object, in the order of the header."""
    cells = columns_of(objects, header.keys, spelling)
    columns = [
        column_of(those, inner, spelling, depth)
        for those, inner in zip(cells, header.inner, strict=True)
    ]
    return list(map(list, zip(*columns, strict=True)))


def columns_of(
    objects: Objects, keys: Sequence[str], spelling: Spelling
) -> Iterable[Sequence[Tree]]:
    """What the objects have under each key; where one has no such key, a place left empty."""
    if not empty_places(objects, keys):
        return zip(*(row.values() for row in objects), strict=True)  # all in this order
    empty = spelling.bare(NOT_THERE)
    return ([row.get(key, empty) for row in objects] for key in keys)


def column_of(
    cells: Sequence[Tree], inner: Header | None, spelling: Spelling, depth: int
) -> Sequence[Tree]:
    """The cells of one column, objects among them as rows of their own or as what they are."""
    if CONTAINERS.isdisjoint(map(type, cells)):
        return cells
    if not depth:
        raise RecursionError(f"JSON with more than {MOST_DEPTH} containers in one another")
    if inner is None:
        is_flat = CONTAINERS.isdisjoint(map(type, parts_of(cells)))
        return cells if is_flat else [columnar(cell, spelling, depth=depth) for cell in cells]
    objects = [cell for cell in cells if isinstance(cell, dict)]
    rows = iter(rows_of(objects, inner, spelling, depth - 1))
    return [next(rows) if isinstance(cell, dict) else cell for cell in cells]


def parts_of(values: Iterable[Tree]) -> Iterator[Tree]:
    """What is in the containers among some values."""
    for value in values:
        if isinstance(value, list):
            yield from value
        elif isinstance(value, dict):
            yield from value.values()


def title_of(header: Header, spelling: Spelling) -> str:
    """What stands before the rows: a string to the writer, which leaves its quotes out."""
    return f"{spelling.bar}columns {names_of(header, spelling.name)}:{spelling.name}"


def names_of(header: Header, quote: str) -> str:
    """The keys in quotes, those of inner objects in brackets."""
    return ",".join(
        f"{quote}{key}{quote}" + (f"({names_of(inner, quote)})" if inner else "")
        for key, inner in zip(header.keys, header.inner, strict=True)
    )
