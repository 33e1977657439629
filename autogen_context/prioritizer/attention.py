"""How relevant the labelled parts of a context are to a query, and which of them are kept.

Promise: a score is on a fixed scale: no other part moves it. Where an embedding model fails, scores are those by words. A
filter keeps what is critical, whatever it scores.
"""

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import exp, isfinite
from typing import cast

from autogen_context.argument import (
    listed,
    require_fraction,
    require_kind,
    require_whole,
    wrong_argument,
)
from autogen_context.errors import EmbeddingFailed
from autogen_context.language.terms import terms
from autogen_context.models.embedder import Vectors
from autogen_context.models.similarity import similarities
from autogen_context.prioritizer.relevance import Query, fused, relatedness, relevances, weighted

logger = logging.getLogger(__name__)

NAMED_WORDS = 3  # of those in common, in a reason
NAMED_CHARS = 40  # of one of them
SCORES = "what AttentionScorer().score(query, parts) returns"


@dataclass(frozen=True, slots=True)
class ContextPart:
    """One part of what an agent might be told.

    Attributes:
        label: what kind of part it is: ``goal``, ``steering``, ``memory``, ``actions``, ``hypotheses``, or your own.
        text: what it says.
        critical: whether it stays, whatever it scores.
    """

    label: str
    text: str
    critical: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionScore:
    """What a part has to do with a query.

    Attributes:
        part: the part.
        score: 0..1 on a fixed scale; compare this with a threshold.
        share: of the attention that all parts together get, a softmax; the shares of n parts sum to 1, so that they sink
            as parts are added.
        temperature: of the softmax; the lower, the more goes to the best.
        reasons: where the score comes from.
    """

    part: ContextPart
    score: float
    share: float
    temperature: float
    reasons: tuple[str, ...]


class AttentionScorer:
    """Scores parts by words, and by meaning as well where it is given vectors.

    Args:
        vectors: keeps and computes vectors, for example a ``VectorStore``; none, and words decide.
        temperature: of the softmax that is reported beside the scores.

    Raises:
        ValueError: ``temperature`` is not positive.
    """

    def __init__(self, vectors: Vectors | None = None, *, temperature: float = 0.1) -> None:
        if not (isfinite(temperature) and temperature > 0):
            raise ValueError(f"temperature={temperature}: give a positive number, such as 0.1")
        self._vectors = vectors
        self._temperature = temperature

    async def score(self, query: Query, parts: Sequence[ContextPart]) -> list[AttentionScore]:
        """Score parts for a query; vectors that are missing are computed first.

        Args:
            query: a text, or several with their weights.
            parts: n parts.

        Returns:
            n scores, in the order of the parts; each 0 where a part has nothing to do with the query.

        Raises:
            ValueError: the query is none, a weight is not positive, or one of the parts is none.
        """
        texts = asked(query, parts)
        if self._vectors is None or not parts or not texts:
            return self._scores(texts, parts, {})
        wanted = [*texts, *(part.text for part in parts)]
        try:
            found = dict(zip(wanted, await self._vectors.vectors(wanted), strict=True))
        except EmbeddingFailed as error:
            logger.warning("parts are scored by words alone", extra={"model": error.model})
            found = {}
        return self._scores(texts, parts, found)

    def score_nowait(self, query: Query, parts: Sequence[ContextPart]) -> list[AttentionScore]:
        """The same, with the vectors that are at hand."""
        texts = asked(query, parts)
        if self._vectors is None:
            return self._scores(texts, parts, {})
        wanted = [*texts, *(part.text for part in parts)]
        ready = {text: self._vectors.ready(text) for text in wanted}
        return self._scores(texts, parts, {text: v for text, v in ready.items() if v is not None})

    def _scores(
        self,
        texts: Mapping[str, float],
        parts: Sequence[ContextPart],
        vectors: Mapping[str, Sequence[float]],
    ) -> list[AttentionScore]:
        lexical = relevances(texts, [part.text for part in parts])
        semantic = semantic_scores(texts, parts, vectors)
        scores = fused(lexical, semantic)
        best = max(scores, default=0.0)
        powers = [exp((score - best) / self._temperature) for score in scores]
        whole = sum(powers)
        wanted: dict[str, str] = {}  # the word that each term of the query comes from
        for word in (word for text in texts for word in text.split()):
            wanted |= {term: word for term in terms(word) if term not in wanted}
        found: list[AttentionScore] = []
        for i, part in enumerate(parts):
            held, meaning = {*terms(part.text)}, semantic[i]
            shared = [wanted[t].strip(".,:;!?()\"'")[:NAMED_CHARS] for t in wanted if t in held]
            named = ", ".join([*dict.fromkeys(shared)][:NAMED_WORDS])
            reasons = [f"words {lexical[i]:.2f}: {named}" if named else "no word in common"]
            reasons += [f"meaning {meaning:.2f}"] if meaning is not None else []
            reasons += ["critical"] if part.critical else []
            found.append(
                AttentionScore(
                    part=part,
                    score=scores[i],
                    share=powers[i] / whole,
                    temperature=self._temperature,
                    reasons=tuple(reasons),
                )
            )
        return found


class AttentionFilter:
    """Leaves out what scores low.

    Args:
        threshold: the least score that is kept, 0..1; one for scores, never for shares.
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
        require_fraction("threshold", threshold, give="a score from 0 to 1, such as 0.1")
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
            if self._is_critical(score.part)
            or (score.score >= self._threshold if self._top_k is None else place < self._top_k)
        ]

    def _is_critical(self, part: ContextPart) -> bool:
        return part.critical or part.label.casefold() in self._critical_labels


def require_parts(parts: object) -> None:
    """Refuse what is no part, such as a plain text or a message."""
    for at, part in enumerate(listed("parts", parts, give="a list of ContextPart(label, text)")):
        require_kind(f"parts[{at}]", part, ContextPart, give="ContextPart(label, text)")


def asked(query: object, parts: object) -> Mapping[str, float]:
    """The texts of a query with their weights, where it is one and the parts are such."""
    require_parts(parts)
    if not isinstance(query, str | Mapping):
        raise wrong_argument("query", query, "a text, or several with their weights")
    return weighted(cast("Query", query))  # its weights are looked at there


def semantic_scores(
    texts: Mapping[str, float],
    parts: Sequence[ContextPart],
    vectors: Mapping[str, Sequence[float]],
) -> list[float | None]:
    """The score of each part by its vector: the mean over the texts of a query that have one, by their weights."""
    known = {text: weight for text, weight in texts.items() if text in vectors}
    whole = sum(known.values())
    scores = {part.text: 0.0 for part in parts if known and part.text in vectors}
    for text, weight in known.items():
        cosines = similarities(vectors[text], [vectors[part] for part in scores])
        for part, cosine in zip(scores, cosines, strict=True):
            scores[part] += weight / whole * relatedness(cosine)
    return [min(1.0, scores[part.text]) if part.text in scores else None for part in parts]
