"""What each category weighs."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.budget.task import TaskType
from autogen_context.prioritizer.category import (
    BASE_WEIGHTS,
    LEAST_MULTIPLIER,
    MOST_MULTIPLIER,
    Category,
    multipliers_of,
    weights_of,
)

TYPES = st.sampled_from(get_args(TaskType))
CATEGORIES = st.sampled_from(get_args(Category))


def test_base_weights() -> None:
    """What the task requires weighs most, what is general least."""
    assert list(BASE_WEIGHTS.values()) == [1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.3]
    assert tuple(BASE_WEIGHTS) == get_args(Category)


@given(TYPES, st.dictionaries(CATEGORIES, st.floats(allow_nan=False)))
def test_every_category_has_a_weight_within_bounds(
    task_type: TaskType, advised: dict[Category, float]
) -> None:
    """Whatever is advised."""
    for category, weight in weights_of(task_type, advised=advised).items():
        multiplier = weight / BASE_WEIGHTS[category]
        assert LEAST_MULTIPLIER - 1e-9 <= multiplier <= MOST_MULTIPLIER + 1e-9


@given(TYPES, CATEGORIES, st.floats(0.3, 3))
def test_advice_takes_the_place_of_the_rules(
    task_type: TaskType, category: Category, multiplier: float
) -> None:
    """Where it is given; the rest stays by the rules."""
    ruled, advised = weights_of(task_type), weights_of(task_type, advised={category: multiplier})
    assert advised[category] == BASE_WEIGHTS[category] * multiplier
    assert all(advised[other] == ruled[other] for other in ruled if other != category)


@pytest.mark.parametrize(
    ("task_type", "category"),
    [
        ("debug", "execution"),
        ("explore", "structure"),
        ("verify", "execution"),
        ("document", "design"),
        ("refactor", "structure"),
        ("implement", "requirements"),
        ("chat", "memory"),
    ],
)
def test_each_type_raises_what_it_works_with(task_type: TaskType, category: Category) -> None:
    """And the rules stay within the bounds of advice."""
    multipliers = multipliers_of(task_type)
    assert multipliers[category] == max(multipliers.values()) > 1
    assert min(multipliers.values()) >= LEAST_MULTIPLIER
