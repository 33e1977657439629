"""Embeddings without a model: unit vectors by feature hashing, so that texts with common words are usually similar."""

import base64
import math
import re
import struct
from hashlib import blake2b

from autogen_context.testing.wire import ApiError, CountTokens, Json, JsonObject

DIMENSIONS = 256  # of a vector
MOST_DIMENSIONS = 4096  # that a request may ask for
WORD = re.compile(r"\w+")


def embed(text: str, *, dimensions: int = DIMENSIONS) -> list[float]:
    """Return a unit vector; each word's hash selects a dimension and a sign to add."""
    vector = [0.0] * dimensions
    for word in WORD.findall(text.lower()) or [text]:
        digest = blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        vector[int.from_bytes(digest[1:]) % dimensions] += 1.0 if digest[0] % 2 else -1.0
    length = math.hypot(*vector)
    return [value / length for value in vector] if length else [1.0, *vector[1:]]


def embeddings(request: JsonObject, *, count: CountTokens) -> dict[str, Json]:
    """Return the response to an embeddings request; raise ``ApiError`` if it is invalid."""
    texts, dimensions = _texts(request.get("input")), request.get("dimensions") or DIMENSIONS
    if not isinstance(dimensions, int) or not 1 <= dimensions <= MOST_DIMENSIONS:
        must = f"Must be from 1 to {MOST_DIMENSIONS}."
        raise ApiError(f"Invalid value for 'dimensions' = {dimensions}. {must}", param="dimensions")
    rows: list[Json] = []
    for index, text in enumerate(texts):
        vector = embed(text, dimensions=dimensions)
        written: Json = [*vector]
        if request.get("encoding_format") == "base64":  # little-endian 32-bit floats
            written = base64.b64encode(struct.pack(f"<{dimensions}f", *vector)).decode()
        rows.append({"object": "embedding", "index": index, "embedding": written})
    tokens = sum(count(text) for text in texts)
    model = request.get("model", "scripted-model")
    usage: Json = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "model": model, "data": rows, "usage": usage}


def _texts(given: Json) -> list[str]:
    """Return the input as texts; token ids are treated as words, since they cannot be decoded here."""
    if isinstance(given, list) and any(isinstance(item, int) for item in given):
        given = [given]
    rows = given if isinstance(given, list) else [given]
    texts = [" ".join(map(str, row)) if isinstance(row, list) else row for row in rows]
    readable = [text for text in texts if isinstance(text, str) and text]
    if not texts or len(readable) < len(texts):
        raise ApiError("'$.input' is invalid. Please check the API reference.", param="input")
    return readable
