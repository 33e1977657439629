"""Embeddings without a model: a vector that follows from the words of a text.

Promise: the same text always has the same vector, each vector has length 1, and texts that share words are nearer to
each other than texts that share none, as a rule.
"""

import base64
import math
import re
import struct
from collections.abc import Sequence
from hashlib import blake2b

from autogen_context.testing.shapes import CountTokens, Json, JsonObject
from autogen_context.testing.wire import ApiError

_DIMENSIONS = 256
_MOST_DIMENSIONS = 4096
_WORD = re.compile(r"\w+")


def embed(text: str, *, dimensions: int = _DIMENSIONS) -> list[float]:
    """A vector of length 1: each word adds to one place, up or down, by its hash."""
    vector = [0.0] * dimensions
    for word in _WORD.findall(text.lower()) or [text]:
        digest = blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        vector[int.from_bytes(digest[1:]) % dimensions] += 1.0 if digest[0] % 2 else -1.0
    length = math.hypot(*vector)
    return [value / length for value in vector] if length else [1.0, *vector[1:]]


def embeddings(request: JsonObject, *, count: CountTokens) -> dict[str, Json]:
    """The answer to an embeddings request.

    Args:
        request: ``input`` a text, a list of texts, or tokens; ``dimensions`` and ``encoding_format`` as OpenAI has them.
        count: tokens of a text.

    Raises:
        ApiError: the input is missing or empty, or the dimensions are none.
    """
    texts = _texts(request.get("input"))
    dimensions = _dimensions(request.get("dimensions"))
    packed = request.get("encoding_format") == "base64"
    tokens = sum(count(text) for text in texts)
    return {
        "object": "list",
        "model": request.get("model", "scripted-model"),
        "data": [
            _row(index, embed(text, dimensions=dimensions), packed=packed)
            for index, text in enumerate(texts)
        ],
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


def _row(index: int, vector: Sequence[float], *, packed: bool) -> dict[str, Json]:
    return {
        "object": "embedding",
        "index": index,
        "embedding": _base64(vector) if packed else list(vector),
    }


def _base64(vector: Sequence[float]) -> str:
    """Little-endian 32-bit floats, as OpenAI's client asks for them unless it is told otherwise."""
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


def _texts(given: Json) -> list[str]:
    """The input as texts; tokens stand for words, since nothing here can read them."""
    if isinstance(given, list) and any(isinstance(item, int) for item in given):
        given = [given]
    rows = given if isinstance(given, list) else [given]
    texts = [" ".join(map(str, row)) if isinstance(row, list) else row for row in rows]
    readable = [text for text in texts if isinstance(text, str) and text]
    if not texts or len(readable) < len(texts):
        raise ApiError("'$.input' is invalid. Please check the API reference.", param="input")
    return readable


def _dimensions(given: Json) -> int:
    if given is None:
        return _DIMENSIONS
    if isinstance(given, int) and 1 <= given <= _MOST_DIMENSIONS:
        return given
    text = f"Invalid value for 'dimensions' = {given}. Must be from 1 to {_MOST_DIMENSIONS}."
    raise ApiError(text, param="dimensions")
