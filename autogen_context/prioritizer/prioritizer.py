"""ContextPrioritizer: what matters for the task at hand, and why.

Promise: one score chooses what stays and is the one that ``explain`` shows. It keeps nothing: the same conversation and the
same need give the same scores.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autogen_context.argument import require_fraction
from autogen_context.budget.task import TaskDefinition
from autogen_context.prioritizer.attention import ContextPart, require_parts
from autogen_context.prioritizer.category import Category, category_of_label, weights_of
from autogen_context.prioritizer.references import References
from autogen_context.prioritizer.relevance import relevances
from autogen_context.prioritizer.score import Need, Scores
from autogen_context.prioritizer.value import AnswerScores, ValueScores

LEAST = 0.2  # of its weight, for a part that shares no word with the task


@dataclass(frozen=True, slots=True, kw_only=True)
class Priority:
    """What a labelled part matters.

    Attributes:
        score: 0..1.
        reasons: where the score comes from, in words, what weighs most first.
    """

    score: float
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrioritizedContext:
    """What matters for a task, in order.

    Attributes:
        task: what it was ranked for.
        priorities: n priorities, in the order of the parts.
        order: n positions, most important first: what is critical, then by score; equals as they came.
    """

    task: TaskDefinition
    priorities: tuple[Priority, ...]
    order: tuple[int, ...]


class ContextPrioritizer:
    """Says what matters: of a conversation for a compaction, of labelled parts for a task.

    Args:
        category_exponent: how much the weight of a unit's category for the task counts in a conversation, 0..1. At 0 what is
            named again decides alone: on recorded runs that keeps more than any weight of categories does.

    Raises:
        ValueError: ``category_exponent`` is not in 0..1.
    """

    def __init__(self, *, category_exponent: float = 0.0) -> None:
        require_fraction("category_exponent", category_exponent, give="0 to 1; 0 is usual")
        self._category_exponent = category_exponent

    def scores(self, conversation: References, need: Need) -> Scores:
        """Score the blocks of a conversation: by what they answer where a person asks for the past, else by what they name."""
        if need.relevance:
            return AnswerScores(conversation, need.relevance)
        return ValueScores(conversation, need, self._categories(need))

    def _categories(self, need: Need) -> Mapping[Category, float]:
        """What the category of a unit counts: as a model advised, and by its weight for the task as far as that was asked for."""
        exponent = self._category_exponent
        if not exponent:
            return need.advised
        weights = weights_of(TaskDefinition.from_text(need.task).type, advised=need.advised)
        greatest = max(weights.values())
        return {category: (weight / greatest) ** exponent for category, weight in weights.items()}

    def prioritize(
        self,
        task: str | TaskDefinition,
        parts: Sequence[ContextPart],
        *,
        advised: Mapping[Category, float] | None = None,
    ) -> PrioritizedContext:
        """Rank labelled parts: the weight of their category for the task, by the words that they share with it.

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
        task = task if isinstance(task, TaskDefinition) else TaskDefinition.from_text(task)
        weights = weights_of(task.type, advised=advised)
        greatest = max(weights.values())
        priorities: list[Priority] = []
        for part, relevance in zip(
            parts, relevances(task.text, [part.text for part in parts]), strict=True
        ):
            category = category_of_label(part.label)
            weight = weights[category] / greatest
            said = [f"{category}: weight {weight:.2f}", f"relevance {relevance:.2f}"]
            reasons = ("critical: comes first", *said) if part.critical else tuple(said)
            score = weight * (LEAST + (1 - LEAST) * relevance)
            priorities.append(Priority(score=score, reasons=reasons))
        order = sorted(
            range(len(parts)), key=lambda i: (not parts[i].critical, -priorities[i].score)
        )
        return PrioritizedContext(task=task, priorities=tuple(priorities), order=tuple(order))
