"""How a budget is shared out: the tables of each profile.

Promise: for any task, role and length each profile gives its sections weights, none negative and not all 0, and says
what part of the whole stays free.

The tables are data. ``balanced`` follows the complexity of the task, the role and what was used; ``conservative`` the
kind of query and the length of the conversation; ``strict`` nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from autogen_context.budget.task import Complexity, TaskDefinition
from autogen_context.language.query import QueryKind

Section = Literal[
    "requirements",
    "design",
    "execution_history",
    "project_structure",
    "memory_patterns",
    "system",
    "recent",
    "facts",
    "retrieved",
    "summaries",
    "knowledge",
    "conversation",
    "buffer",
]
Profile = Literal["value", "balanced", "conservative", "strict"]
Role = Literal["assistant", "coder", "planner", "researcher", "reviewer", "tester"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """What each section weighs, and what part of the whole is shared out to none of them.

    Attributes:
        weights: by section, without the buffer.
        free: the buffer's part of the whole, 0..1.
    """

    weights: Mapping[Section, float]
    free: Fraction

    def of(self, sections: tuple[Section, ...]) -> float:
        """What some sections have together, as a fraction of the whole."""
        part = sum(self.weights.get(section, 0) for section in sections)
        return float(1 - self.free) * part / sum(self.weights.values())

    @property
    def fractions(self) -> dict[Section, float]:
        """What each section has, as a fraction of the whole."""
        return {section: self.of((section,)) for section in self.weights}


# Per cent of the whole. With the 5 that each row leaves for a buffer they make 100; the buffer is the reserve of 10.
BALANCED: Mapping[Complexity, Mapping[Section, int]] = {
    "high": {
        "requirements": 25,
        "design": 25,
        "execution_history": 20,
        "project_structure": 15,
        "memory_patterns": 10,
    },
    "medium": {
        "requirements": 20,
        "design": 20,
        "execution_history": 25,
        "project_structure": 20,
        "memory_patterns": 10,
    },
    "low": {
        "requirements": 15,
        "design": 15,
        "execution_history": 30,
        "project_structure": 25,
        "memory_patterns": 10,
    },
}
BALANCED_RESERVE = Fraction(10, 100)

# 1 where a section is not named.
ROLE_WEIGHTS: Mapping[Role, Mapping[Section, float]] = {
    "assistant": {},
    "coder": {"execution_history": 1.2, "project_structure": 1.3, "memory_patterns": 0.8},
    "planner": {"requirements": 1.4, "design": 1.3, "execution_history": 0.7},
    "researcher": {"memory_patterns": 1.5, "design": 0.8, "project_structure": 0.8},
    "reviewer": {"requirements": 1.2, "design": 1.3, "execution_history": 0.8},
    "tester": {"requirements": 1.2, "execution_history": 1.4, "design": 0.8},
}

# Tokens of a window of CONSERVATIVE_TOKENS. ``recent`` is what a conversation of so many messages has at most.
CONSERVATIVE_TOKENS = 12_000
RECENT_TOKENS: tuple[tuple[float, int], ...] = ((6, 2_000), (20, 3_500), (float("inf"), 4_000))
# In this order: what comes first has its whole part, the last one what is left. Facts come before what is retrieved.
CONSERVATIVE: Mapping[QueryKind, Mapping[Section, int]] = {
    "casual": {"system": 4_000, "recent": 4_000, "facts": 1_000},
    "recall": {"system": 5_000, "recent": 4_000, "facts": 1_000, "retrieved": 3_000},
    "summary": {"system": 4_000, "recent": 4_000, "facts": 1_000, "summaries": 2_000},
}

STRICT_TOKENS = 1_500
STRICT: Mapping[Section, int] = {"system": 10, "knowledge": 40, "conversation": 43}
STRICT_MARGIN = Fraction(7, 100)

BALANCED_TOKENS = 8_000  # where nothing is known of the model
DEFAULT_TOKENS: Mapping[Profile, int] = {
    "value": BALANCED_TOKENS,
    "balanced": BALANCED_TOKENS,
    "conservative": CONSERVATIVE_TOKENS,
    "strict": STRICT_TOKENS,
}


def balanced(complexity: Complexity, *, role: Role, factor: Callable[[Section], float]) -> Shares:
    """Shares by complexity, moved by a role and by measured efficiency.

    Both are weights: what one section gains the others lose, and the reserve is not touched.
    """
    by_role = ROLE_WEIGHTS[role]
    weights: dict[Section, float] = {
        section: share * by_role.get(section, 1.0) * factor(section)
        for section, share in BALANCED[complexity].items()
    }
    return Shares(weights=weights, free=BALANCED_RESERVE)


def conservative(task: TaskDefinition, *, messages: int) -> Shares:
    """Shares by the kind of query, for a conversation of so many messages."""
    left = CONSERVATIVE_TOKENS
    weights: dict[Section, float] = {}
    for section, most in CONSERVATIVE[task.query_kind].items():
        wanted = min(most, recent_tokens(messages)) if section == "recent" else most
        weights[section] = min(wanted, left)
        left -= min(wanted, left)
    return Shares(weights=weights, free=Fraction(left, CONSERVATIVE_TOKENS))


def recent_tokens(messages: int) -> int:
    """What the recent part of a conversation of so many messages has at most, in a window of 12,000."""
    return next(tokens for most, tokens in RECENT_TOKENS if messages <= most)


def strict() -> Shares:
    """The same shares for any task."""
    return Shares(weights=dict(STRICT), free=STRICT_MARGIN)
