"""Why a message is sent as it is, or is not: the decision on its unit, with the score that decided."""

from dataclasses import dataclass, fields
from typing import NamedTuple

from autogen_context.view.decision import Decision

NOT_COMPARED = "it was not compared with others"


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation(Decision):
    """A decision with the score that decided.

    Attributes:
        score: score per token of its best block; 0 if the decision was not by score.
        reasons: its rank, and the origin of the score in words, as of the compaction that decided.
    """

    score: float
    reasons: tuple[str, ...]


class Reasoned(NamedTuple):
    """A decision by score, and the origin of the score in words."""

    decision: Decision
    reasons: tuple[str, ...]


def explained(decision: Decision, known: Reasoned | None) -> Explanation:
    """Explain a decision; ``known`` is what the last compaction found of its unit, ``None`` if it was not compared."""
    rank, values = (
        decision.rank,
        {each.name: getattr(decision, each.name) for each in fields(Decision)},
    )
    if rank is None:
        return Explanation(**values, score=0.0, reasons=(NOT_COMPARED,))
    is_about = known is not None and (known.decision.start, known.decision.rank) == (
        decision.start,
        rank,
    )
    reasons = known.reasons if known is not None and is_about else ()
    return Explanation(**values, score=rank.score, reasons=(str(rank), *reasons))
