"""A value as bytes, and an entry of a cache, which is one under a key with what it was built from.

Promise: what is read is what was written, or ``ValueError``. Reading runs nothing: it is JSON, text or bytes. A value that is
read is a new object each time, which its reader may change.
"""

import json
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel

from autogen_context.cache.fingerprint import Fingerprint

_SCHEMA: Final = 4
_OBJECT_BYTES = 200  # what an entry or a fingerprint costs beside its texts, roughly


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheEntry:
    """An encoded value under a key, with what it was built from; times are seconds on the clock of the cache, or infinite."""

    key: str
    data: bytes
    dependencies: tuple[Fingerprint, ...]
    built_at: float
    expires_at: float

    @property
    def names(self) -> tuple[str, ...]:
        """The names of what it was built from."""
        return tuple(fingerprint.name for fingerprint in self.dependencies)

    @property
    def size_bytes(self) -> int:
        """What it takes in memory, roughly."""
        texts = sum(len(one.name) + len(one.times) for one in self.dependencies)
        return len(self.data) + texts + _OBJECT_BYTES * (1 + len(self.dependencies))


def encoded(value: object, *, model: type[object] | None = None) -> bytes:
    """A value behind its kind; ``ValueError`` if it is neither text, bytes, JSON, nor an object of the model."""
    if model is not None:
        if not isinstance(value, model) or not isinstance(value, BaseModel):
            raise ValueError(f"the builder gave {type(value).__name__}, no {model.__name__}")
        return b"model\n" + value.model_dump_json().encode()
    if isinstance(value, str):
        return b"text\n" + value.encode("utf-8", "surrogatepass")
    if isinstance(value, bytes):
        return b"bytes\n" + value
    try:
        return b"json\n" + json.dumps(value, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(
            f"{type(value).__name__} cannot be kept ({error}): "
            "give str, bytes, JSON, or a pydantic model and its class as model="
        ) from error


def decoded(data: bytes, *, model: type[object] | None = None) -> object:
    """The value that was encoded so; ``ValueError`` if it is none, or no object of the model."""
    kind, _, payload = data.partition(b"\n")
    if model is not None and kind == b"model" and issubclass(model, BaseModel):
        return model.model_validate_json(payload)
    if model is not None or kind not in {b"text", b"bytes", b"json"}:
        raise ValueError(f"the value is of kind {kind!r:.80}, and asked for as {model}")
    if kind == b"text":
        return payload.decode("utf-8", "surrogatepass")
    try:
        return payload if kind == b"bytes" else json.loads(payload)
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def entry_as_bytes(entry: CacheEntry) -> bytes:
    """An entry for disk and network: a line of JSON, then its value.

    ``json`` and not pydantic, which refuses the lone surrogates that names of files may have.
    """
    head = [_SCHEMA, entry.key, entry.built_at, entry.expires_at, entry.dependencies]
    return json.dumps(head).encode() + b"\n" + entry.data


def entry_from_bytes(data: bytes) -> CacheEntry:
    """Read what ``entry_as_bytes`` wrote; ``ValueError`` if these are other bytes, or of another schema."""
    line, _, value = data.partition(b"\n")
    try:
        schema, key, built_at, expires_at, listed = json.loads(line)
        found = tuple(Fingerprint(*texts) for texts in listed)
        texts = [key, *(text for one in found for text in one)]
        is_sound = schema == _SCHEMA and all(isinstance(text, str) for text in texts)
        is_sound &= isinstance(built_at, int | float) and isinstance(expires_at, int | float)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError("no entry of this schema") from error
    if not is_sound:
        raise ValueError("no entry of this schema")
    return CacheEntry(
        key=key, data=value, dependencies=found, built_at=built_at, expires_at=expires_at
    )
