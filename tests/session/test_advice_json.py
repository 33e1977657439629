"""A model's advice as JSON data, and back."""

import json
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.budget.task import Complexity
from autogen_context.messages.record import Record
from autogen_context.prioritizer.advice import Advice
from autogen_context.prioritizer.category import (
    LEAST_MULTIPLIER,
    MOST_MULTIPLIER,
    Category,
)
from autogen_context.session.advice_json import dump_advice, load_advice

CATEGORIES: tuple[Category, ...] = get_args(Category)
MULTIPLIERS = st.floats(LEAST_MULTIPLIER, MOST_MULTIPLIER)
ADVICE = st.builds(
    Advice,
    multipliers=st.fixed_dictionaries(dict.fromkeys(CATEGORIES, MULTIPLIERS)),
    complexity=st.sampled_from(get_args(Complexity)),
    source=st.just("model"),
)
EVEN: dict[str, object] = dict.fromkeys(CATEGORIES, 1.0)


@given(ADVICE)
def test_what_is_read_equals_what_was_written(advice: Advice) -> None:
    """Through JSON text, up to the bounds of a multiplier."""
    data = json.loads(json.dumps(dump_advice(advice)))
    assert load_advice(Record(data)) == advice


@pytest.mark.parametrize(
    ("multipliers", "complexity", "error"),
    [
        pytest.param({"general": 1.0}, "low", KeyError, id="categories are missing"),
        pytest.param(EVEN | {"secrets": 1.0}, "low", ValueError, id="one too many"),
        pytest.param(EVEN | {"general": 4.01}, "low", ValueError, id="too much"),
        pytest.param(EVEN | {"general": 0.24}, "low", ValueError, id="too little"),
        pytest.param(EVEN | {"general": "1"}, "low", TypeError, id="a text"),
        pytest.param(EVEN, "enormous", ValueError, id="no complexity"),
        pytest.param("high", "low", TypeError, id="no multipliers"),
    ],
)
def test_damaged_advice_is_refused(
    multipliers: object, complexity: str, error: type[Exception]
) -> None:
    """Where all else of it is sound."""
    with pytest.raises(error):
        load_advice(Record({"multipliers": multipliers, "complexity": complexity}))
