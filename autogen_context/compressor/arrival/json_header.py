"""Whether objects are alike enough for a table, and which keys it has.

Promise: the keys stand in an order in which every object has its own, so that the order survives; a table is proposed
only where it is shorter by far than what it replaces.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from autogen_context.compressor.arrival.json_spelling import Tree

LEAST_GAIN = 24  # characters; for less no other form is worth the look
LEAST_GAIN_SHARE = 0.5  # of what the header has
MOST_EMPTY_SHARE = 0.5  # of the places of a table
KEY_CHARS = 3  # quotes and a colon, beside the key
LEAST_INNER = 2  # objects in a column
MOST_INNER = 8  # headers in one another

Objects = Sequence[dict[str, Tree]]
Kinds = Mapping[tuple[str, ...], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The keys of a table.

    Attributes:
        keys: n names, in the order in which every row has its own.
        inner: for each, the keys of the objects in it, if all of them have the same; else ``None``.
    """

    keys: Sequence[str]
    inner: Sequence["Header | None"]


def header_of(values: Sequence[Tree]) -> Header | None:
    """The keys of values that are like objects, if a table of them is shorter; ``None`` if not."""
    if not all_objects(values):
        return None
    kinds = kinds_of(values)
    header = likeness(values, kinds, MOST_INNER)
    if header is None:
        return None
    written = chars_of(header.keys)
    keys = sum(times * chars_of(kind) for kind, times in kinds.items())
    gain = keys - written - empty_places(values, header.keys)
    return header if gain >= max(LEAST_GAIN, LEAST_GAIN_SHARE * written) else None


def chars_of(keys: Iterable[str]) -> int:
    """How long keys are when they are written."""
    return sum(len(key) + KEY_CHARS for key in keys)


def kinds_of(objects: Objects) -> Kinds:
    """How many objects have which keys."""
    return Counter(map(tuple, objects))


def likeness(objects: Objects, kinds: Kinds, depth: int) -> Header | None:
    """The keys of objects, in an order that all of them have; ``None`` where there is none or too much is missing."""
    keys = common_keys(kinds)
    if not keys or empty_places(objects, keys) > MOST_EMPTY_SHARE * len(keys) * len(objects):
        return None
    return Header(keys=keys, inner=[inner_header(objects, key, depth - 1) for key in keys])


def common_keys(kinds: Kinds) -> tuple[str, ...]:
    """The keys of all objects, in an order that none of them breaks; none where there is no such order."""
    if len(kinds) == 1:
        return next(iter(kinds))
    longest = max(kinds, key=len)
    keys = list(longest)
    for kind in kinds:
        if len(keys) > len(longest) / MOST_EMPTY_SHARE:
            return ()
        keys = merged(keys, kind)
    return tuple(keys) if all(in_order(kind, keys) for kind in kinds) else ()


def merged(keys: Sequence[str], kind: Iterable[str]) -> list[str]:
    """Keys with those of one more object among them, each new one behind the one that it follows there."""
    found, place = list(keys), 0
    known = set(keys)
    for key in kind:
        if key in known:
            place = found.index(key) + 1
        else:
            found.insert(place, key)
            place += 1
    return found


def in_order(some: Iterable[str], keys: Iterable[str]) -> bool:
    """Whether some keys stand among others in the same order."""
    rest = iter(keys)
    return all(key in rest for key in some)


def empty_places(objects: Objects, keys: Sequence[str]) -> int:
    """How many places of a table stay empty."""
    return len(keys) * len(objects) - sum(map(len, objects))


def inner_header(objects: Objects, key: str, depth: int) -> Header | None:
    """The keys of the objects in a column, where all of it are like objects, nulls aside."""
    if not depth or not isinstance(objects[0].get(key), dict | None):
        return None
    values = [value for row in objects if (value := row.get(key)) is not None]
    if len(values) < LEAST_INNER or not all_objects(values):
        return None
    return likeness(values, kinds_of(values), depth)


def all_objects(values: Sequence[Tree]) -> TypeGuard[Objects]:
    """Whether all are objects that have something in them."""
    return set(map(type, values)) == {dict} and all(values)
