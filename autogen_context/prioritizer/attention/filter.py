"""Keep the parts of a context that matter for a query.

Promise: what is critical is kept, whatever it scores and however many parts there are. The threshold is one for scores,
never for shares: it does not matter to a part how many others there are.
"""

from collections.abc import Collection, Sequence

from autogen_context.argument import listed, require_kind, require_share, require_whole
from autogen_context.prioritizer.attention.score import AttentionScore

SCORES = "what AttentionScorer().score(query, parts) returns"


class AttentionFilter:
    """Leaves out what scores low.

    Args:
        threshold: the least score that is kept, 0..1.
        top_k: keep so many of the best instead, whatever their scores; what is critical comes on top of them.
        critical_labels: parts with such a label are critical, as those that say so themselves; in any case of letters.

    Raises:
        ValueError: ``threshold`` is not in 0..1, ``top_k`` not positive, or ``critical_labels`` a single text.
    """

    def __init__(
        self,
        *,
        threshold: float = 0.1,
        top_k: int | None = None,
        critical_labels: Collection[str] = ("goal", "steering"),
    ) -> None:
        require_share("threshold", threshold, give="a score from 0 to 1, such as 0.1")
        if top_k is not None:
            require_whole("top_k", top_k, least=1, give="1 or more, or None to go by the threshold")
        if isinstance(critical_labels, str):
            raise ValueError(  # noqa: TRY004 - as for every wrong argument of this package
                f"critical_labels={critical_labels!r}: give several, such as ({critical_labels!r},)"
            )
        self._threshold = threshold
        self._top_k = top_k
        self._critical_labels = frozenset(label.casefold() for label in critical_labels)

    def filter(self, scores: Sequence[AttentionScore]) -> list[AttentionScore]:
        """The scores of the parts that are kept.

        Args:
            scores: of n parts, in any order.

        Returns:
            At most n of them, best first; equal ones in the order in which they came.

        Raises:
            ValueError: one is no score.
        """
        for at, score in enumerate(listed("scores", scores, give=SCORES)):
            require_kind(f"scores[{at}]", score, AttentionScore, give=SCORES)
        ranked = sorted(scores, key=lambda score: -score.score)
        return [
            score
            for place, score in enumerate(ranked)
            if self._is_critical(score) or self._is_wanted(score, place)
        ]

    def _is_critical(self, score: AttentionScore) -> bool:
        return score.part.critical or score.part.label.casefold() in self._critical_labels

    def _is_wanted(self, score: AttentionScore, place: int) -> bool:
        """Whether a part is good enough by itself, or among the best where a number was asked for."""
        return score.score >= self._threshold if self._top_k is None else place < self._top_k
