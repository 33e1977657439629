"""The seven categories of context, and what each weighs for a type of task.

Promise: a weight for each category, above 0, for any task type and any multipliers.

Base weights say what matters in general; multipliers say what matters for this kind of task. Both are data.
"""

from collections.abc import Mapping
from typing import Literal

from autogen_context.budget.task import TaskType

Category = Literal[
    "requirements", "related", "design", "structure", "memory", "execution", "general"
]

# What the task at hand requires; the history of related tasks; design decisions; the project's structure; patterns from
# memory; what was executed and came out; anything else.
BASE_WEIGHTS: Mapping[Category, float] = {
    "requirements": 1.0,
    "related": 0.9,
    "design": 0.8,
    "structure": 0.7,
    "memory": 0.6,
    "execution": 0.5,
    "general": 0.3,
}

LEAST_MULTIPLIER = 0.25
MOST_MULTIPLIER = 4.0

# 1 where a category is not named.
TYPE_MULTIPLIERS: Mapping[TaskType, Mapping[Category, float]] = {
    "debug": {"execution": 1.8, "related": 1.1, "design": 0.8, "general": 0.7},
    "implement": {"requirements": 1.2, "design": 1.2, "structure": 1.2, "memory": 0.8, "general": 0.7},
    "explore": {"structure": 1.5, "memory": 1.1, "requirements": 0.9},
    "verify": {"requirements": 1.2, "execution": 1.6, "design": 0.8, "memory": 0.8, "general": 0.7},
    "document": {"design": 1.4, "structure": 1.2, "execution": 0.6},
    "refactor": {"design": 1.4, "structure": 1.4, "memory": 0.8, "general": 0.7},
    "chat": {"memory": 1.5, "general": 1.5, "design": 0.6, "structure": 0.5, "execution": 0.5},
}  # fmt: skip  # a row a type


def multipliers_of(task_type: TaskType) -> dict[Category, float]:
    """The multiplier of each category for a type of task, by the rules."""
    named = TYPE_MULTIPLIERS[task_type]
    return {category: named.get(category, 1.0) for category in BASE_WEIGHTS}


def weights_of(
    task_type: TaskType, *, advised: Mapping[Category, float] | None = None
) -> dict[Category, float]:
    """The weight of each category for a task.

    Args:
        task_type: what is to be done.
        advised: multipliers that take the place of the rules' where they are given; clamped.

    Returns:
        Base weight times multiplier, for all seven.
    """
    multipliers = multipliers_of(task_type) | dict(advised or {})
    return {
        category: base * clamped(multipliers[category]) for category, base in BASE_WEIGHTS.items()
    }


def clamped(multiplier: float) -> float:
    """The multiplier within its bounds."""
    return min(MOST_MULTIPLIER, max(LEAST_MULTIPLIER, multiplier))
