"""Write a model's advice as JSON data, and read it back.

Promise: what is read equals what was written; multipliers of categories that do not exist, or out of their bounds, and a
complexity that does not exist are refused.
"""

from collections.abc import Mapping
from typing import cast, get_args

from autogen_context.budget.task import Complexity
from autogen_context.messages.record import Record
from autogen_context.prioritizer.advice import Advice
from autogen_context.prioritizer.category import BASE_WEIGHTS, Category, clamped


def dump_advice(advice: Advice) -> dict[str, object]:
    """Advice as JSON data."""
    return {"multipliers": dict(advice.multipliers), "complexity": advice.complexity}


def load_advice(data: Record) -> Advice:
    """Advice from JSON data.

    Raises:
        ValueError: a category, a multiplier or the complexity is none.
        TypeError: a multiplier is no number.
        KeyError: there is no multiplier of a category.
    """
    given, complexity = data.record("multipliers"), data.text("complexity")
    multipliers = {category: given.number(category) for category in BASE_WEIGHTS}
    if set(given.fields) != set(BASE_WEIGHTS) or complexity not in get_args(Complexity):
        raise ValueError("advice on what does not exist")
    if any(clamped(multiplier) != multiplier for multiplier in multipliers.values()):
        raise ValueError("advice beyond its bounds")
    return Advice(
        multipliers=cast("Mapping[Category, float]", multipliers),
        complexity=cast("Complexity", complexity),  # it is one of them
        source="model",
    )
