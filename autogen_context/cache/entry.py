"""An entry of a cache, and how it is written down.

Promise: what is read is an entry that was written, whole, or ``ValueError``. Reading runs nothing: an entry is JSON and
the bytes of its value. A value that is read is a new object each time, which its reader may change.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, cast, get_args
from zlib import crc32

from pydantic import BaseModel

from autogen_context.cache.fingerprint import Fingerprint

Kind = Literal["text", "bytes", "json", "model"]

SCHEMA: Final = b"autogen-context cache 1\n"

_CRC_BYTES = 4
_LENGTH_BYTES = 4
_OBJECT_BYTES = 200  # what an entry or a fingerprint costs beside its texts, roughly


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheEntry:
    """A value under a key, with what it was built from.

    Attributes:
        key: its name in the cache.
        kind: how ``payload`` is read.
        payload: the value as bytes.
        dependencies: what it was built from, in the order in which the caller named it.
        built_at: when it was built, or got from elsewhere, in seconds on the clock of the cache.
        expires_at: when its time is over, in seconds on the clock of the cache; infinite if never.
    """

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


def payload_of(value: object, *, model: type[object] | None) -> tuple[Kind, bytes]:
    """How a value is written.

    Raises:
        ValueError: it is neither a text, bytes, JSON, nor an object of the model.
    """
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
            f"the builder gave {type(value).__name__}, which cannot be kept ({error}): "
            "give str, bytes, JSON, or a pydantic model and its class as model="
        ) from error


def value_of(entry: CacheEntry, *, model: type[object] | None) -> object:
    """The value of an entry.

    Raises:
        ValueError: it is no object of the model, or does not read as what it is said to be.
    """
    if (entry.kind == "model") != (model is not None):
        raise ValueError(f"the entry is of kind {entry.kind!r}, and asked for as {model}")
    if model is not None and issubclass(model, BaseModel):
        return model.model_validate_json(entry.payload)
    if entry.kind == "text":
        return entry.payload.decode("utf-8", "surrogatepass")
    try:
        return entry.payload if entry.kind == "bytes" else json.loads(entry.payload)
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def entry_as_bytes(entry: CacheEntry) -> bytes:
    """An entry with its checksum, for disk and network."""
    header = {
        "key": entry.key,
        "kind": entry.kind,
        "built_at": entry.built_at,
        "expires_at": entry.expires_at,
        "dependencies": [[one.name, one.times, one.content] for one in entry.dependencies],
    }
    head = json.dumps(header).encode()
    body = len(head).to_bytes(_LENGTH_BYTES, "big") + head + entry.payload
    return SCHEMA + crc32(body).to_bytes(_CRC_BYTES, "big") + body


def entry_from_bytes(data: bytes) -> CacheEntry:
    """Read what ``entry_as_bytes`` wrote.

    Raises:
        ValueError: these are other bytes, or of another schema.
    """
    start = len(SCHEMA) + _CRC_BYTES
    crc, body = data[len(SCHEMA) : start], data[start:]
    if not data.startswith(SCHEMA) or crc32(body).to_bytes(_CRC_BYTES, "big") != crc:
        raise ValueError("no entry of this schema, or a damaged one")
    end = _LENGTH_BYTES + int.from_bytes(body[:_LENGTH_BYTES], "big")
    try:
        return _entry(json.loads(body[_LENGTH_BYTES:end]), body[end:])
    except (KeyError, TypeError, RecursionError) as error:  # a forger has reckoned the checksum
        raise ValueError("an entry with another header") from error


def _entry(header: Mapping[str, object], payload: bytes) -> CacheEntry:
    kind = header["kind"]
    if kind not in get_args(Kind):
        raise TypeError
    return CacheEntry(
        key=_texts([header["key"]])[0],
        kind=cast("Kind", kind),  # one of its words, as was just asked
        payload=payload,
        dependencies=tuple(map(_fingerprint, _list(header["dependencies"]))),
        built_at=_time(header["built_at"]),
        expires_at=_time(header["expires_at"]),
    )


def _time(value: object) -> float:
    if not isinstance(value, int | float):
        raise TypeError
    return float(value)


def _fingerprint(value: object) -> Fingerprint:
    name, times, content = _texts(value)
    return Fingerprint(name=name, times=times, content=content)


def _texts(value: object) -> list[str]:
    texts = [text for text in _list(value) if isinstance(text, str)]
    if len(texts) != len(_list(value)):
        raise TypeError
    return texts


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError
    return cast("list[object]", value)  # a list of JSON holds anything
