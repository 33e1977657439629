"""Rank what there is for a task: how much each unit or part matters, and why.

Promise: scores are in 0..1. More relevance, recency or references never lowers one; what is superseded stands below what
supersedes it; the same input gives the same order. Each score is made of few numbers, which its reasons name:

    score = weight · (0.2 + 0.8 · evidence) · 0.9 if stale · 0.25 if superseded
    evidence = 0.40 relevance + 0.20 recency + 0.25 references + 0.10 error + 0.05 decision

The weight is that of the category for this type of task, of the greatest of the seven; references count r / (r + 2).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nextafter

from autogen_context.budget.task import TaskDefinition
from autogen_context.prioritizer.attention import ContextPart, require_parts
from autogen_context.prioritizer.category import (
    Category,
    category_of_label,
    is_decision,
    weights_of,
)
from autogen_context.prioritizer.relevance import relevances

LEAST = 0.2  # of its weight, for what nothing speaks for
RELEVANCE = 0.40
RECENCY = 0.20
REFERENCES = 0.25
ERROR = 0.10
DECISION = 0.05
HALF_REFERENCES = 2  # so many later messages make half of what references can
STALE = 0.9
SUPERSEDED = 0.25
LEAST_SAID = 0.005  # less is 0.00 in words


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """What is known of a unit or part.

    Attributes:
        category: which of the seven it belongs to.
        relevance: to what is being done, 0..1.
        recency: 1 for the newest, towards 0 for the oldest.
        references: how many later messages use a value that it introduced.
        error: whether it tells of an error.
        decision: whether it states a decision.
        stale: whether a file that it shows was changed since.
        superseded_by: the position of the later one that shows all that it shows.
        critical: whether it comes first, whatever it scores.
        remark: why it is stale or superseded, in words.

    Raises:
        ValueError: a number is out of its range.
    """

    category: Category = "general"
    relevance: float = 0.0
    recency: float = 0.0
    references: int = 0
    error: bool = False
    decision: bool = False
    stale: bool = False
    superseded_by: int | None = None
    critical: bool = False
    remark: str = ""

    def __post_init__(self) -> None:
        """Check the numbers."""
        if not 0 <= self.relevance <= 1:
            raise ValueError(f"relevance={self.relevance}: give a number in 0..1")
        if not 0 <= self.recency <= 1:
            raise ValueError(f"recency={self.recency}: give a number in 0..1")
        if self.references < 0:
            raise ValueError(f"references={self.references}: give a count, 0 or more")

    def evidence(self) -> float:
        """What speaks for it, 0..1, but for its category."""
        return (
            RELEVANCE * self.relevance
            + RECENCY * self.recency
            + REFERENCES * self.references / (self.references + HALF_REFERENCES)
            + ERROR * self.error
            + DECISION * self.decision
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Priority:
    """What a unit or part matters.

    Attributes:
        score: 0..1.
        weight: of its category for the task, of the greatest of the seven.
        signals: what the score was made of.
    """

    score: float
    weight: float
    signals: Signals

    @property
    def reasons(self) -> tuple[str, ...]:
        """Where the score comes from, in words."""
        return tuple(reasons_of(self.signals, self.weight))


@dataclass(frozen=True, slots=True, kw_only=True)
class PrioritizedContext:
    """What matters for a task, in order.

    Attributes:
        task: what it was ranked for.
        priorities: n priorities, in the order of what was ranked.
        order: n positions, most important first: what is critical, then by score; equals as they came.
    """

    task: TaskDefinition
    priorities: tuple[Priority, ...]
    order: tuple[int, ...]


class ContextPrioritizer:
    """Ranks units and parts for a task. It keeps nothing."""

    def prioritize(
        self,
        task: str | TaskDefinition,
        parts: Sequence[ContextPart],
        *,
        advised: Mapping[Category, float] | None = None,
    ) -> PrioritizedContext:
        """Rank labelled parts by their labels and by the words that they share with the task.

        Args:
            task: what is to be done.
            parts: n parts, in any order.
            advised: multipliers of categories, in place of the rules' for the type of task.

        Returns:
            n priorities, and the order.

        Raises:
            ValueError: one of the parts is none.
        """
        require_parts(parts)
        task = defined(task)
        found = relevances(task.text, [part.text for part in parts])
        signals = [of_part(part, score) for part, score in zip(parts, found, strict=True)]
        return self.rank(task, signals, advised=advised)

    def rank(
        self,
        task: str | TaskDefinition,
        signals: Sequence[Signals],
        *,
        advised: Mapping[Category, float] | None = None,
    ) -> PrioritizedContext:
        """Rank what is known by its signals.

        Args:
            task: what is to be done.
            signals: n values, oldest first.
            advised: multipliers of categories, in place of the rules' for the type of task.

        Returns:
            n priorities, and the order.

        Raises:
            ValueError: something is superseded by what is not later.
        """
        task = defined(task)
        weights = weights_of(task.type, advised=advised)
        greatest = max(weights.values())
        shares: dict[Category, float] = {
            category: weight / greatest for category, weight in weights.items()
        }
        priorities = priorities_of(signals, shares)
        order = sorted(range(len(signals)), key=lambda i: rank_of(priorities[i]))
        return PrioritizedContext(task=task, priorities=priorities, order=tuple(order))


def defined(task: str | TaskDefinition) -> TaskDefinition:
    """The task, judged by its words where only these are given."""
    return task if isinstance(task, TaskDefinition) else TaskDefinition.from_text(task)


def of_part(part: ContextPart, relevance: float) -> Signals:
    """What is known of a labelled part."""
    return Signals(
        category=category_of_label(part.label),
        relevance=relevance,
        decision=is_decision(part.text),
        critical=part.critical,
    )


def priorities_of(
    signals: Sequence[Signals], weights: Mapping[Category, float]
) -> tuple[Priority, ...]:
    """The priority of each; from the newest on, since none may reach what supersedes it."""
    scores = [0.0] * len(signals)
    for i in range(len(signals) - 1, -1, -1):
        known = signals[i]
        scores[i] = score_of(known, weights[known.category])
        newer = known.superseded_by
        if newer is not None:
            if not i < newer < len(signals):
                raise ValueError(
                    f"superseded_by={newer}: give a position in {i + 1}..{len(signals) - 1}, or None"
                )
            scores[i] = min(scores[i], nextafter(scores[newer], 0.0))
    return tuple(
        Priority(score=score, weight=weights[known.category], signals=known)
        for score, known in zip(scores, signals, strict=True)
    )


def score_of(signals: Signals, weight: float) -> float:
    """The score by what is known of one alone."""
    score = weight * (LEAST + (1 - LEAST) * signals.evidence())
    if signals.stale:
        score *= STALE
    return score if signals.superseded_by is None else score * SUPERSEDED


def rank_of(priority: Priority) -> tuple[bool, float]:
    """What to sort by, the most important first."""
    return not priority.signals.critical, -priority.score


def reasons_of(signals: Signals, weight: float) -> list[str]:
    """Where a score comes from, in words with numbers, what weighs most first."""
    count = signals.references
    said = {
        "critical: comes first": signals.critical,
        f"{signals.category}: weight {weight:.2f}": True,
        f"relevance {signals.relevance:.2f}": signals.relevance >= LEAST_SAID,
        f"used again by {count} later message{'s' * (count > 1)}": count > 0,
        f"recency {signals.recency:.2f}": signals.recency >= LEAST_SAID,
        "tells of an error": signals.error,
        "states a decision": signals.decision,
        f"superseded: {signals.remark or 'shown again later'}": signals.superseded_by is not None,
        f"stale: {signals.remark or 'changed since'}": signals.stale
        and signals.superseded_by is None,
    }
    return [reason for reason, holds in said.items() if holds]
