"""One text for equal content: JSON with sorted keys, and the digest of a message that is made of it.

Promise: the digest of a message depends on its content alone: it is the same in every process, on every Python and in every
later release, also when ``Message`` has got further fields, since fields at their defaults are left out. Another way to
write is another ``DIGEST_SCHEME``, which saved states name.
"""

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import Field, fields, is_dataclass
from functools import cache
from hashlib import blake2b
from typing import Any, cast

DIGEST_SCHEME = 2
"""Number of the way in which digests are made; 1 hashed what ``repr`` wrote."""

Fields = Mapping[str, object]
PLAIN = frozenset({str, int, float, bool, type(None)})


def canonical_text(content: object) -> str:
    """Serialise the content of a message, a record or JSON data, to one text; the order of keys does not matter."""
    try:
        return _PLAIN_ENCODER.encode(content)
    except TypeError:  # keys that JSON does not know, or of mixed types
        return _PLAIN_ENCODER.encode(with_written_keys(content))


def canonical(value: object) -> str:
    """Serialise to JSON, equal for equal values; ``ValueError`` for keys that are no strings or a cyclic value."""
    try:
        return _ENCODER.encode(value)
    except TypeError as error:
        raise ValueError(f"a message must be JSON data with strings as keys: {error}") from error


def described(value: object) -> object:
    """Return a stable representation of a value that JSON does not support; an address in memory is no content."""
    if isinstance(value, bytes | bytearray):
        return blake2b(bytes(value), digest_size=16).hexdigest()
    if is_dataclass(value) and not isinstance(value, type):  # without fields at their defaults
        known = defaults_of(cast("Hashable", type(value)))
        return {name: now for name, default in known if (now := getattr(value, name)) != default}
    if isinstance(value, Mapping):
        return dict(cast("Fields", value))
    dump = cast("Callable[..., Fields] | None", getattr(value, "model_dump", None))
    if callable(dump):
        return dump(exclude_none=True)
    kind = type(value)
    if isinstance(value, AbstractSet):
        return sorted(map(canonical, cast("AbstractSet[object]", value)))
    has_words = (kind.__str__, kind.__repr__) != (object.__str__, object.__repr__)
    return f"{kind.__name__}:{value}" if has_words else kind.__name__


@cache
def defaults_of(record: Hashable) -> tuple[tuple[str, object], ...]:
    """Return the names and defaults of a record's fields; ``MISSING`` where there is none."""
    known: Sequence[Field[Any]] = fields(cast("type[Any]", record))
    return tuple((each.name, each.default) for each in known)


def with_written_keys(value: object) -> object:
    """Return JSON data whose objects are lists of type, key and value, in order."""
    if isinstance(value, list | tuple):
        return [with_written_keys(item) for item in cast("Sequence[object]", value)]
    found = value if type(value) in PLAIN else described(value)
    if not isinstance(found, Mapping):
        return found
    items = cast("Mapping[object, object]", found).items()
    rows = [[type(key).__name__, str(key), with_written_keys(item)] for key, item in items]
    return sorted(rows, key=lambda row: row[:2])


_ENCODER = json.JSONEncoder(sort_keys=True, default=described)
# Unescaped: escaped, two lone surrogates would be read as one character.
_PLAIN_ENCODER = json.JSONEncoder(
    sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=described
)
