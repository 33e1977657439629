"""What became of a text that was compressed, with the numbers to judge it by.

Promise: values only; the ratio and the score follow from what is compared.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from autogen_context.compressor.concepts import Concept
from autogen_context.tokens.measure import Count

Strategy = Literal[
    "none",
    "tighten structure",
    "cut structure",
    "remove redundancy",
    "compress examples",
    "summarise sections",
    "abstract details",
    "keep core concepts",
    "model summary",
    "shorten",
]
"""Which step met the target: nothing to do, the structure of the text, the five steps in their order, a model's summary, or a
plain cut."""

BEST_SCORE = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionResult:
    """A text before and after.

    Attributes:
        original: as given.
        compressed: what to use instead; the original itself where it met the target.
        original_tokens: of the original, with the source of the count.
        compressed_tokens: of the compressed text, with the source of the count.
        preserved_concepts: concepts of the original that the compressed text holds.
        lost_concepts: concepts of the original that it does not hold, whoever took them and why.
        strategy: the step that met the target.
    """

    original: str
    compressed: str
    original_tokens: Count
    compressed_tokens: Count
    preserved_concepts: tuple[Concept, ...]
    lost_concepts: tuple[Concept, ...]
    strategy: Strategy

    @property
    def ratio(self) -> float:
        """Tokens after for each token before; 1 for an empty text."""
        before = self.original_tokens.tokens
        return self.compressed_tokens.tokens / before if before else 1.0

    @property
    def quality(self) -> float:
        """0..10: ten times the share of the concepts that were preserved, by weight.

        Weights by kind: keyword 4, negation 3, constraint and date 2, number and value 1.5, name, quoted string and
        statement 1. A text without concepts is judged by the share of its characters.
        """
        kept, gone = weight_of(self.preserved_concepts), weight_of(self.lost_concepts)
        if not kept + gone:
            kept, gone = len(self.compressed), len(self.original) - len(self.compressed)
        return round(BEST_SCORE * kept / (kept + gone), 2) if kept + gone else BEST_SCORE


def weight_of(concepts: Iterable[Concept]) -> float:
    """What some concepts weigh together."""
    return sum(concept.weight for concept in concepts)
