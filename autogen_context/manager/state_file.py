"""A state in a file.

Promise: the file holds a whole state at any time, the old one or the new one, whenever the process or the machine stops;
only its owner can read it. A file that is damaged is refused as a whole. Reading runs nothing.
"""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import get_ident
from zlib import crc32

from pydantic import StrictInt, TypeAdapter, ValidationError

from autogen_context.errors import StateError
from autogen_context.messages.message import Text
from autogen_context.messages.saved import faults

FLAGS = os.O_CREAT | os.O_TRUNC | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What a file holds: a state, and the checksum of its JSON."""

    crc32: StrictInt
    state: dict[Text, object]


CONTENT = TypeAdapter(Content)


def write_state(path: Path, state: Mapping[str, object]) -> None:
    """Put a state into a file, in place of what is there; its folder is made where there is none.

    Raises:
        OSError: the file cannot be written; what was there is there.
    """
    target = Path(os.path.realpath(path))  # a link stays one
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    own = f".{target.name}.{os.getpid()}-{get_ident()}"  # no other writer's; what a dead one left is written over
    temporary = target.with_name(own)
    try:
        with os.fdopen(os.open(temporary, FLAGS, 0o600), "wb") as file:
            file.write(as_bytes(state))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)  # it is gone where all went well
    synchronise(target.parent)


def read_state(path: Path) -> Mapping[str, object]:
    """The state in a file.

    Raises:
        StateError: the file is damaged, or none of ours.
        OSError: it cannot be read.
    """
    content = path.read_bytes()
    try:
        read = CONTENT.validate_python(json.loads(content.decode("utf-8", "surrogatepass")))
    except ValidationError as error:
        reason = faults(error)
        raise StateError(f"{path}: no state was saved in it, or it is damaged: {reason}") from None
    except (ValueError, RecursionError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise StateError(f"{path}: no state was saved in it, or it is damaged: {reason}") from error
    if crc32(json_of(read.state)) != read.crc32:
        raise StateError(f"{path}: the state is damaged: its checksum is another one")
    return read.state


def as_bytes(state: Mapping[str, object]) -> bytes:
    """What a file holds: the state as JSON, with a checksum."""
    data = json_of(state)
    return b'{"crc32":%d,"state":%b}\n' % (crc32(data), data)


def json_of(state: Mapping[str, object]) -> bytes:
    """JSON without escapes beside those that it asks for: of two lone surrogates they would make one character."""
    text = json.dumps(state, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def synchronise(folder: Path) -> None:
    """Have the name of a new file on the disk, where the system can do that for folders."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
