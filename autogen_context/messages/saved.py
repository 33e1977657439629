"""Save frozen records as JSON data and load them, by pydantic.

Promise: a loaded record equals the saved one, whatever its texts contain. Damaged data, or data of another release, is
refused with the names of the fields; values are never shown, since they may be private. Loading runs no code.
"""

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cache
from typing import TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from autogen_context.errors import StateError
from autogen_context.messages.message import Message

Shape = TypeVar("Shape")
Messages = tuple[Message, ...]
Fields = Mapping[str, object]
Migration = Callable[[Fields], Fields]
"""Brings data of one schema into the form of the next."""


@cache
def adapter_of(shape: Hashable) -> TypeAdapter[object]:
    """Return the cached ``TypeAdapter`` of a type."""
    return TypeAdapter(cast("type[object]", shape))


def saved(record: object) -> dict[str, object]:
    """Return a record as JSON data, without fields at their defaults."""
    adapter = adapter_of(cast("Hashable", type(record)))
    data = adapter.dump_python(record, mode="json", by_alias=True, exclude_defaults=True)
    return cast("dict[str, object]", data)  # a record is an object


def read_saved(
    shape: type[Shape], data: object, *, what: str, schema: int, source: str = "to_json()"
) -> Shape:
    """Load data as ``shape``; ``what`` and ``source`` name it in the ``StateError`` raised if it is damaged."""
    migrated(data, {}, what=what, schema=schema, source=source)
    try:
        return cast("Shape", adapter_of(cast("Hashable", shape)).validate_python(data))
    except ValidationError as error:
        raise damaged(what, faults(error), source) from None  # pydantic's own text shows the values
    except RecursionError:
        raise damaged(what, "it is nested too deep", source) from None


def migrated(
    data: object, migrations: Mapping[int, Migration], *, what: str, schema: int, source: str
) -> Fields:
    """Return data in the form of ``schema``, by the migration of each schema before it; names as of ``read_saved``."""
    if not isinstance(data, Mapping):
        raise damaged(what, f"expected an object, got {type(data).__name__}", source)
    now = cast("Fields", data)
    found = now.get("schema", schema)
    if not isinstance(found, int) or found == schema:
        return now
    if found not in migrations:
        oldest = min(migrations, default=schema)
        reads = f"{oldest} to {schema}" if oldest < schema else f"{schema}"
        raise StateError(
            f"the saved {what} {'are' if what.endswith('s') else 'is'} of schema {found} and this release reads {reads}; "
            "load with the release that saved, or start without"
        )
    later = {**migrations[found](now), "schema": found + 1}
    return migrated(later, migrations, what=what, schema=schema, source=source)


def damaged(what: str, why: str, source: str) -> StateError:
    """Return the error for data that cannot be read."""
    verb = "are" if what.endswith("s") else "is"
    return StateError(f"the saved {what} {verb} damaged: {why}; give what {source} returned")


def faults(error: ValidationError) -> str:
    """List the missing and invalid fields by their path."""
    found: list[str] = []
    for each in error.errors(include_url=False, include_context=False, include_input=False):
        place = f"'{'.'.join(map(str, each['loc']))}'" if each["loc"] else "all"
        found.append(place + (" is missing" if each["type"] == "missing" else f": {each['msg']}"))
    return "; ".join(found)


def messages_as_bytes(messages: Sequence[Message]) -> bytes:
    """Serialise messages to JSON, with as few escapes as possible."""
    data = [saved(message) for message in messages]
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def messages_from_bytes(data: bytes) -> tuple[Message, ...]:
    """Load messages from ``messages_as_bytes``; ``ValueError`` for other bytes."""
    try:
        listed = json.loads(data.decode("utf-8", "surrogatepass"))
        messages = cast("Messages", adapter_of(cast("Hashable", Messages)).validate_python(listed))
    except ValidationError as error:
        raise ValueError(f"no messages: {faults(error)}") from None
    except RecursionError as error:
        raise ValueError("no messages: nested too deep") from error
    if [saved(message) for message in messages] != listed:
        raise ValueError("no messages: a value is not as it was written")
    return messages
