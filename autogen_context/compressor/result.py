"""What became of a text that was compressed, with the numbers to judge it by.

Promise: values only; the ratio and the score follow from what is compared.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from autogen_context.compressor.sense import Concept
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
CONCEPT_SHARE = 0.8  # of the score; the rest is for words


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionResult:
    """A text before and after.

    Attributes:
        original: as given.
        compressed: what to use instead; the original itself where it met the target.
        original_tokens: of the original, with the source of the count.
        compressed_tokens: of the compressed text, with the source of the count.
        quality: 0..10: ``8 · kept weight of concepts / weight of concepts + 2 · share of the distinct words (by stem, not
            the frequent ones) that are still there``. A text without concepts is judged by its words alone.
            Concepts weigh by kind: keyword 4, negation 3, constraint and date 2, number and value 1.5, name and quoted
            string 1. What a later statement replaced is no concept of the text.
        preserved: concepts that the compressed text holds.
        lost: concepts that it does not hold.
        strategy: the step that met the target.
    """

    original: str
    compressed: str
    original_tokens: Count
    compressed_tokens: Count
    quality: float
    preserved: tuple[Concept, ...]
    lost: tuple[Concept, ...]
    strategy: Strategy

    @property
    def ratio(self) -> float:
        """Tokens after for each token before; 1 for an empty text."""
        before = self.original_tokens.tokens
        return self.compressed_tokens.tokens / before if before else 1.0


def quality_of(
    preserved: Sequence[Concept], lost: Sequence[Concept], *, kept_words: float
) -> float:
    """The score of a compression, 0..10, as ``CompressionResult`` defines it.

    Args:
        preserved: concepts that the compressed text holds.
        lost: concepts that it does not hold.
        kept_words: share of the distinct words that are still there, 0..1.
    """
    kept = sum(concept.weight for concept in preserved)
    gone = sum(concept.weight for concept in lost)
    concepts = kept / (kept + gone) if kept + gone else kept_words
    return round(BEST_SCORE * (CONCEPT_SHARE * concepts + (1 - CONCEPT_SHARE) * kept_words), 2)
