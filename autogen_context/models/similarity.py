"""Cosine similarity of vectors, with the same results with and without numpy, one at a time or in batches."""

from array import array
from collections.abc import Sequence
from importlib.util import find_spec
from math import hypot, isfinite
from operator import mul

DIGITS = 6  # further digits depend on the order of summation
HAS_NUMPY = find_spec("numpy") is not None


def unit_vector(values: Sequence[float]) -> Sequence[float]:
    """Return the unit vector as read-only 32-bit floats; zeros stay zeros."""
    length = hypot(*values)
    if not values or not isfinite(length):
        raise ValueError("a vector needs at least one number, and all of them finite")
    scaled = array("f", (value / length for value in values) if length else values)
    return memoryview(scaled).toreadonly()


def similarities(query: Sequence[float], vectors: Sequence[Sequence[float]]) -> list[float]:
    """Return the cosine of ``query`` with each vector, rounded to six digits; all must be unit vectors."""
    if any(len(vector) != len(query) for vector in vectors):
        raise ValueError(f"vectors: compare those of one model; the query has {len(query)} numbers")
    if not HAS_NUMPY:
        numbers = list(query)
        return [round(sum(map(mul, numbers, vector)), DIGITS) for vector in vectors]
    import numpy as np  # noqa: PLC0415 - optional, and slow to import

    rows = np.asarray(vectors, dtype=np.float64).reshape(len(vectors), len(query))
    products = rows @ np.asarray(query, dtype=np.float64)
    return [round(float(product), DIGITS) for product in products]
