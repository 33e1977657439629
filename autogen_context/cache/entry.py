"""Encoding of values, and of cache entries: a value with its key and the fingerprints of its dependencies.

Promise: decoding returns what was encoded, or raises ``ValueError``. Decoding never executes code: values are JSON, text or
bytes. Each decoded value is a new object, which the caller may change.
"""

import json
from dataclasses import dataclass
from typing import Final

from autogen_context.cache.fingerprint import Fingerprint

_SCHEMA: Final = 4
_OBJECT_BYTES = 200  # approximate overhead of an entry or a fingerprint


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheEntry:
    """An encoded value with its key and dependencies; times are in seconds on the cache's clock, and may be infinite."""

    key: str
    data: bytes
    dependencies: tuple[Fingerprint, ...]
    built_at: float
    expires_at: float

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the dependencies."""
        return tuple(fingerprint.name for fingerprint in self.dependencies)

    @property
    def size_bytes(self) -> int:
        """The approximate size in memory."""
        texts = sum(len(one.name) + len(one.times) for one in self.dependencies)
        return len(self.data) + texts + _OBJECT_BYTES * (1 + len(self.dependencies))


def encoded(value: object) -> bytes:
    """Encode a value, prefixed with its type. Raise ``ValueError`` unless it is str, bytes or JSON data."""
    if isinstance(value, str):
        return b"text\n" + value.encode("utf-8", "surrogatepass")
    if isinstance(value, bytes):
        return b"bytes\n" + value
    try:
        return b"json\n" + json.dumps(value, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        name = type(value).__name__
        raise ValueError(f"{name} cannot be kept ({error}): give str, bytes, JSON") from error


def decoded(data: bytes) -> object:
    """Decode what ``encoded`` returned. Raise ``ValueError`` for other bytes."""
    kind, end, payload = data.partition(b"\n")
    if not end or kind not in {b"bytes", b"text", b"json"}:
        raise ValueError(f"a value of kind {kind!r:.80}")
    if kind == b"bytes":
        return payload
    if kind == b"text":
        return payload.decode("utf-8", "surrogatepass")
    try:
        return json.loads(payload)
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def entry_as_bytes(entry: CacheEntry) -> bytes:
    """Serialize an entry for disk and network: a line of JSON, then the value.

    Uses ``json`` because pydantic rejects the lone surrogates that file names may contain.
    """
    head = [_SCHEMA, entry.key, entry.built_at, entry.expires_at, entry.dependencies]
    return json.dumps(head).encode() + b"\n" + entry.data


def entry_from_bytes(data: bytes) -> CacheEntry:
    """Parse what ``entry_as_bytes`` wrote. Raise ``ValueError`` for other bytes, no value, or another schema version."""
    line, _, value = data.partition(b"\n")
    try:
        decoded(value)
        schema, key, built_at, expires_at, listed = json.loads(line)
        found = tuple(Fingerprint(*texts) for texts in listed)
        times = float(built_at), float(expires_at)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError("no entry of this schema") from error
    texts = [key, *(text for one in found for text in one)]
    if schema != _SCHEMA or not all(isinstance(text, str) for text in texts):
        raise ValueError("no entry of this schema")
    return CacheEntry(
        key=key, data=value, dependencies=found, built_at=times[0], expires_at=times[1]
    )
