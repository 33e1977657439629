"""What is saved as JSON data, and read back: frozen records through pydantic.

Promise: what is read equals what was written, whatever the texts hold. What is damaged or of another release is refused
with the names of the fields; no value is shown, since it may be what somebody said. Reading runs nothing.
"""

import json
from collections.abc import Hashable, Mapping, Sequence
from functools import cache
from typing import TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from autogen_context.errors import StateError
from autogen_context.messages.message import Message

Shape = TypeVar("Shape")
Messages = tuple[Message, ...]


@cache
def adapter_of(shape: Hashable) -> TypeAdapter[object]:
    """Writes and reads a type, which is given as what can be remembered; made once."""
    return TypeAdapter(cast("type[object]", shape))


def saved(record: object) -> dict[str, object]:
    """A record as JSON data, without fields that have their defaults."""
    adapter = adapter_of(cast("Hashable", type(record)))
    data = adapter.dump_python(record, mode="json", exclude_defaults=True)
    return cast("dict[str, object]", data)  # a record is an object


def read_saved(
    shape: type[Shape], data: object, *, what: str, schema: int, source: str = "to_json()"
) -> Shape:
    """The data of ``what`` (in words: ``"facts"``) as ``source`` gave it, in its shape; ``StateError`` where it is damaged."""
    if not isinstance(data, Mapping):
        raise damaged(what, f"expected an object, got {type(data).__name__}", source)
    found = cast("Mapping[str, object]", data).get("schema", schema)
    if isinstance(found, int) and found != schema:
        raise StateError(
            f"the saved {what} {'are' if what.endswith('s') else 'is'} of schema {found} and this release reads {schema}; "
            "load with the release that saved, or start without"
        )
    try:
        return cast("Shape", adapter_of(cast("Hashable", shape)).validate_python(data))
    except ValidationError as error:
        raise damaged(what, faults(error), source) from None  # pydantic's own text shows the values
    except RecursionError:
        raise damaged(what, "it is nested too deep", source) from None


def damaged(what: str, why: str, source: str) -> StateError:
    """The error of data that cannot be read."""
    verb = "are" if what.endswith("s") else "is"
    return StateError(f"the saved {what} {verb} damaged: {why}; give what {source} returned")


def faults(error: ValidationError) -> str:
    """Each field that is missing or wrong, by its place in the data."""
    told: list[str] = []
    for each in error.errors(include_url=False, include_context=False, include_input=False):
        place = f"'{'.'.join(map(str, each['loc']))}'" if each["loc"] else "all"
        told.append(place + (" is missing" if each["type"] == "missing" else f": {each['msg']}"))
    return "; ".join(told)


def messages_as_bytes(messages: Sequence[Message]) -> bytes:
    """JSON of messages; no escapes beside those that JSON asks for, so that it is about as long as the texts."""
    data = [saved(message) for message in messages]
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def messages_from_bytes(data: bytes) -> tuple[Message, ...]:
    """The messages that were written so; a ``ValueError`` where these are no such bytes."""
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
