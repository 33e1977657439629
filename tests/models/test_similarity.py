"""Cosines, whoever computes them."""

from collections.abc import Sequence
from math import inf, nan, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.models import similarity as module
from autogen_context.models.similarity import similarities, unit_vector

NUMBERS = st.floats(-1e6, 1e6).filter(lambda number: number == 0 or abs(number) > 1e-6)
VECTORS = st.integers(1, 8).flatmap(
    lambda width: st.lists(
        st.lists(NUMBERS, min_size=width, max_size=width).filter(any), min_size=1, max_size=6
    )
)


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    """By the definition."""
    product = sum(x * y for x, y in zip(a, b, strict=True))
    return product / sqrt(sum(x * x for x in a)) / sqrt(sum(y * y for y in b))


@given(VECTORS)
def test_it_is_the_cosine(vectors: list[list[float]]) -> None:
    """Within -1..1, 1 with itself, and the same with numpy and without, alone and among others."""
    units = [unit_vector(vector) for vector in vectors]
    found = similarities(units[0], units)
    assert found == pytest.approx([cosine(vectors[0], vector) for vector in vectors], abs=2e-6)
    assert found[0] == pytest.approx(1, abs=1e-6)
    assert all(-1 <= near <= 1 for near in found)
    assert [similarities(units[0], [unit])[0] for unit in units] == found
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "HAS_NUMPY", False)
        assert similarities(units[0], units) == found
    assert similarities(units[0], []) == []


@pytest.mark.parametrize("values", [[], [nan], [1, inf], [-inf]], ids=str)
def test_what_is_no_vector(values: list[float]) -> None:
    """It is refused before it is compared with anything, and so are vectors of two models."""
    with pytest.raises(ValueError, match="finite"):
        unit_vector(values)
    with pytest.raises(ValueError, match="the query has 2 numbers"):
        similarities(unit_vector([1, 2]), [unit_vector([1, 2, 3])])
