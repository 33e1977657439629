"""Say of a unit what became of it, the score that decided, and why.

Promise: nothing is decided here and nothing changes; what it takes is read when somebody asks.
"""

from dataclasses import dataclass, fields

from autogen_context.prioritizer.references import UnitText
from autogen_context.prioritizer.score import BlockAt, Scores
from autogen_context.view.decision import Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation(Decision):
    """A decision, and the score of its unit.

    Attributes:
        score: for each token of its best part: the one that decided, where ``rank`` is there; else as it is now.
        reasons: its place by that, and where the score comes from, in words.
    """

    score: float
    reasons: tuple[str, ...]


def explained(decision: Decision, at: int, unit: UnitText | None, scores: Scores) -> Explanation:
    """What became of a unit, and why.

    Args:
        decision: the one in force.
        at: its position among the units.
        unit: what stands in it; ``None`` while a loaded state is all there is.
        scores: of the conversation as it is now.
    """
    known = {field.name: getattr(decision, field.name) for field in fields(Decision)}
    rank = decision.rank
    score = rank.score if rank else score_of(at, unit, scores)
    place = (str(rank),) if rank else ()
    reasons = scores.reasons(at) if unit else ("its messages were not read yet",)
    return Explanation(**known, score=score, reasons=(*place, *reasons))


def score_of(at: int, unit: UnitText | None, scores: Scores) -> float:
    """The score of the best block of a unit, for each token, as if nothing was kept."""
    if unit is None:
        return 0.0
    return max(
        (
            scores.score(BlockAt(at, i, block)) / max(1.0, len(text.text) * unit.tokens_per_char)
            for i, passage in enumerate(unit.passages)
            for block, text in enumerate(passage.blocks)
        ),
        default=0.0,
    )
