"""A value as bytes, and an entry of a cache, which is one under a key with what it was built from.

Promise: what is read is what was written, or ``ValueError``. Reading runs nothing: it is JSON, text or bytes. A value that is
read is a new object each time, which its reader may change.
"""

import json
from dataclasses import dataclass
from typing import Final, Literal, get_args

from pydantic import BaseModel

from autogen_context.cache.fingerprint import Fingerprint

Kind = Literal["text", "bytes", "json", "model"]

_SCHEMA: Final = 3
_OBJECT_BYTES = 200  # what an entry or a fingerprint costs beside its texts, roughly


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheEntry:
    """A value under a key, with what it was built from; times are in seconds on the clock of the cache, or infinite."""

    key: str
    kind: Kind
    payload: bytes
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
        return len(self.payload) + texts + _OBJECT_BYTES * (1 + len(self.dependencies))


def payload_of(value: object, *, model: type[object] | None = None) -> tuple[Kind, bytes]:
    """How a value is written; ``ValueError`` if it is neither text, bytes, JSON, nor an object of the model."""
    if model is not None:
        if not isinstance(value, model) or not isinstance(value, BaseModel):
            raise ValueError(f"the builder gave {type(value).__name__}, no {model.__name__}")
        return "model", value.model_dump_json().encode()
    if isinstance(value, str):
        return "text", value.encode("utf-8", "surrogatepass")
    if isinstance(value, bytes):
        return "bytes", value
    try:
        return "json", json.dumps(value, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(
            f"{type(value).__name__} cannot be kept ({error}): "
            "give str, bytes, JSON, or a pydantic model and its class as model="
        ) from error


def value_in(kind: str, payload: bytes, *, model: type[object] | None = None) -> object:
    """The value that was written so; ``ValueError`` if it is none, or no object of the model."""
    if (kind == "model") != (model is not None) or kind not in get_args(Kind):
        raise ValueError(f"the value is of kind {kind!r}, and asked for as {model}")
    if model is not None and issubclass(model, BaseModel):
        return model.model_validate_json(payload)
    if kind == "text":
        return payload.decode("utf-8", "surrogatepass")
    try:
        return payload if kind == "bytes" else json.loads(payload)
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def encoded(value: object) -> bytes:
    """A value with its kind in front; raises what ``payload_of`` does."""
    kind, payload = payload_of(value)
    return kind.encode() + b"\n" + payload


def decoded(data: bytes) -> object:
    """What ``encoded`` wrote; ``ValueError`` if these are other bytes."""
    kind, _, payload = data.partition(b"\n")
    return value_in(kind.decode("ascii", "replace"), payload)


def entry_as_bytes(entry: CacheEntry) -> bytes:
    """An entry for disk and network: a line of JSON, then its payload.

    ``json`` and not pydantic, which refuses the lone surrogates that names of files may have.
    """
    times = entry.built_at, entry.expires_at
    head = [_SCHEMA, entry.key, entry.kind, *times, [list(one) for one in entry.dependencies]]
    return json.dumps(head).encode() + b"\n" + entry.payload


def entry_from_bytes(data: bytes) -> CacheEntry:
    """Read what ``entry_as_bytes`` wrote; ``ValueError`` if these are other bytes, or of another schema."""
    line, _, payload = data.partition(b"\n")
    try:
        schema, key, kind, built_at, expires_at, listed = json.loads(line)
        dependencies = tuple(Fingerprint(*texts) for texts in listed)
        texts = [key, *(text for one in dependencies for text in one)]
        is_sound = schema == _SCHEMA and kind in get_args(Kind)
        is_sound &= all(isinstance(text, str) for text in texts)
        is_sound &= isinstance(built_at, int | float) and isinstance(expires_at, int | float)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError("no entry of this schema") from error
    if not is_sound:
        raise ValueError("no entry of this schema")
    return CacheEntry(
        key=key,
        kind=kind,
        payload=payload,
        dependencies=dependencies,
        built_at=built_at,
        expires_at=expires_at,
    )
