"""Compress the parts of a context as far as its limit asks for, the least relevant first.

Promise: the parts together are within the limit; what is critical is compressed where it is too large, never left out; same
input, same output. Below the threshold nothing changes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from autogen_context.compressor.result import CompressionResult
from autogen_context.prioritizer.attention.part import ContextPart
from autogen_context.prioritizer.attention.score import AttentionScore

COMPRESS_FROM_SHARE = 0.75  # of the limit
LOW_RELEVANCE = 0.3
LOW_SHARE = 1 / 3  # of its size, for a part of low relevance


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressedPart:
    """What became of a part.

    Attributes:
        part: with the text to use; empty where the part is left out.
        tokens: of that text.
        result: of its compression; ``None`` where it is as it was, or left out.
    """

    part: ContextPart
    tokens: int
    result: CompressionResult | None = None


Compress = Callable[[str, int], CompressionResult]


def fitted_parts(
    scores: Sequence[AttentionScore],
    *,
    limit_tokens: int,
    tokens: Callable[[str], int],
    compress: Compress,
) -> list[CompressedPart]:
    """The parts within the limit.

    Args:
        scores: n parts with their relevance, 0..1.
        limit_tokens: what they may have together.
        tokens: of a text.
        compress: brings a text to a number of tokens.

    Returns:
        n parts, same order.
    """
    fitting = Fitting(scores, tokens, compress)
    worst_first = sorted(
        (at for at, score in enumerate(scores) if not score.part.critical),
        key=lambda at: (scores[at].score, -at),
    )
    low = [at for at in worst_first if scores[at].score < LOW_RELEVANCE]
    fitting.shrink(low, limit=int(limit_tokens * COMPRESS_FROM_SHARE))
    fitting.shrink(worst_first, limit=limit_tokens)
    fitting.leave_out(worst_first, limit=limit_tokens)
    fitting.squeeze(limit=limit_tokens)
    return fitting.parts


class Fitting:
    """The parts on their way into the limit."""

    def __init__(
        self, scores: Sequence[AttentionScore], tokens: Callable[[str], int], compress: Compress
    ) -> None:
        self.parts = [
            CompressedPart(part=score.part, tokens=tokens(score.part.text)) for score in scores
        ]
        self._compress = compress

    def total(self) -> int:
        """What the parts have together."""
        return sum(part.tokens for part in self.parts)

    def shrink(self, places: Sequence[int], *, limit: int) -> None:
        """Bring parts to their share, each once, until all are within a limit."""
        over = self.total() - limit
        for at in places:
            if over <= 0:
                break
            before = self.parts[at]
            if before.result is None:
                self._bring(at, int(before.tokens * LOW_SHARE))
                over -= before.tokens - self.parts[at].tokens

    def leave_out(self, places: Sequence[int], *, limit: int) -> None:
        """Empty parts until the others are within a limit."""
        over = self.total() - limit
        for at in places:
            if over <= 0:
                break
            over -= self.parts[at].tokens
            self.parts[at] = CompressedPart(part=replace(self.parts[at].part, text=""), tokens=0)

    def squeeze(self, *, limit: int) -> None:
        """Bring all that is left to its share of the limit, where it exceeds it: only what is critical is left then."""
        total = self.total()
        if total > limit:
            for at, part in enumerate(self.parts):
                self._bring(at, limit * part.tokens // total)

    def _bring(self, at: int, target_tokens: int) -> None:
        part = self.parts[at].part
        result = self._compress(part.text, target_tokens)
        self.parts[at] = CompressedPart(
            part=replace(part, text=result.compressed),
            tokens=result.compressed_tokens.tokens,
            result=result,
        )
