"""JSON data as hosts hand it over: dicts, lists, and the objects of client libraries.

Promise: a copy shares no object that can change, and equal values have equal text, whatever the order of their keys.

A client object is what has ``model_dump``, as pydantic's models do.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import cast

from autogen_context.messages.message import content_digest

PLAIN = frozenset({str, int, float, bool, type(None)})


def fields_of(payload: object, what: str = "a message") -> Mapping[str, object]:
    """The fields of a dict or client object.

    Raises:
        ValueError: it is neither.
    """
    if isinstance(payload, dict):
        return cast("dict[str, object]", payload)  # JSON objects have string keys
    dumped = object_fields(payload)
    if dumped is None:
        raise ValueError(f"{what} must be a dict or a client object, got {type(payload).__name__}")
    return dumped


def part_fields(part: object) -> Mapping[str, object]:
    """The fields of a content part; none if it is no object."""
    if isinstance(part, dict):
        return cast("dict[str, object]", part)  # JSON objects have string keys
    return object_fields(part) or {}


def object_fields(value: object) -> Mapping[str, object] | None:
    """The fields of a mapping or client object; ``None`` if it is neither."""
    if isinstance(value, Mapping):
        return cast("Mapping[str, object]", value)  # JSON objects have string keys
    dump = cast("Callable[..., Mapping[str, object]] | None", getattr(value, "model_dump", None))
    return dump(exclude_none=True) if callable(dump) else None


def copied(value: object) -> object:
    """A deep copy; what is no dict, list or client object is shared."""
    if isinstance(value, dict):
        return copied_fields(cast("dict[str, object]", value))  # JSON objects have string keys
    if type(value) in PLAIN:
        return value
    if isinstance(value, list | tuple):
        return [copied(item) for item in cast("Sequence[object]", value)]
    fields = object_fields(value)
    return value if fields is None else copied_fields(fields)


def copied_fields(fields: Mapping[str, object]) -> dict[str, object]:
    """A deep copy as a dict."""
    return {k: item if type(item) in PLAIN else copied(item) for k, item in fields.items()}


def digest_of(fields: Mapping[str, object]) -> bytes:
    """16 bytes that are equal for equal values; the usual message, strings alone, is not written as JSON for it."""
    if all(type(key) is type(value) is str for key, value in fields.items()):
        return content_digest(repr(sorted(fields.items())))
    try:
        return content_digest(canonical(fields))
    except ValueError:  # keys of two types have no order; deep inside they are not refused
        return content_digest(repr(fields))


def canonical(value: object) -> str:
    """JSON text; what JSON does not know is written by its type and text.

    Raises:
        ValueError: a key is no string, or the value holds itself.
    """
    try:
        return _ENCODER.encode(value)
    except TypeError as error:
        raise ValueError(f"a message must be JSON data with strings as keys: {error}") from error


def described(value: object) -> object:
    """A stable stand-in for a value that JSON does not know."""
    if isinstance(value, bytes | bytearray):
        return content_digest(bytes(value)).hex()
    fields = object_fields(value)
    return dict(fields) if fields is not None else f"{type(value).__name__}:{value}"


_ENCODER = json.JSONEncoder(sort_keys=True, default=described)
