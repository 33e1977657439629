"""What a block is worth to somebody who asks for the past: as much as its message answers.

Promise: a worth is not negative, and the same whatever is kept: of an answer nothing is said twice by being kept.
"""

from collections.abc import Sequence

from autogen_context.prioritizer.blocks.references import References
from autogen_context.prioritizer.blocks.worth import Spot

AS_GOOD = 1e-6  # of what answers as well as another, or not at all, the newer one stays
SHARPNESS = 4  # exponent: many half answers are worth less than a whole one


class AnswerWorth:
    """The blocks of a conversation by what their messages have to do with a question.

    Args:
        references: what stands in each unit.
        scores: of each message of the conversation, 0..1.
    """

    def __init__(self, references: References, scores: Sequence[float]) -> None:
        self._units = references.units
        self._scores = scores

    def keep_unit(self, unit: int) -> None:
        """Nothing changes."""

    def keep(self, spot: Spot) -> None:
        """Nothing changes."""

    def of(self, spot: Spot) -> float:
        """The score of its message, for each character: what answers best per token is kept first."""
        text = self._units[spot.unit]
        passage = text.passages[spot.passage]
        position = min(text.candidate.unit.start + passage.message, len(self._scores) - 1)
        newer = AS_GOOD * (spot.unit + 1) / len(self._units)
        worth = self._scores[position] ** SHARPNESS + newer
        return worth * len(passage.blocks[spot.block].text)
