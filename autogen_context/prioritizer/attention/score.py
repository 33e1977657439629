"""How relevant the parts of a context are to a query, one by one and beside each other.

Promise: scores are on the fixed scale of ``relevance`` and do not sink with the number of parts. Where an embedding
model is slow or fails, scores are those by words.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, isfinite
from typing import cast

from autogen_context.argument import wrong_argument
from autogen_context.errors import EmbeddingFailed
from autogen_context.language.terms import terms
from autogen_context.models.embedder import Vectors
from autogen_context.models.similarity import similarities
from autogen_context.prioritizer.attention.part import ContextPart, require_parts
from autogen_context.prioritizer.relevance.lexical import LexicalIndex, fused, relatedness, weighted

logger = logging.getLogger(__name__)

Query = str | Mapping[str, float]
Vector = Sequence[float]

NAMED_WORDS = 3  # of those in common, in a reason
NAMED_CHARS = 40  # of one of them


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionScore:
    """What a part is worth for a query.

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
        vectors: Mapping[str, Vector],
    ) -> list[AttentionScore]:
        """Put together what words and vectors say."""
        lexical = lexical_scores(texts, parts)
        semantic = semantic_scores(texts, parts, vectors)
        scores = fused(lexical, semantic)
        wanted = words_by_term(texts)
        return [
            AttentionScore(
                part=part,
                score=score,
                share=share,
                temperature=self._temperature,
                reasons=tuple(reasons_of(part, wanted, words, meaning)),
            )
            for part, score, share, words, meaning in zip(
                parts, scores, softmax(scores, self._temperature), lexical, semantic, strict=True
            )
        ]


def asked(query: object, parts: Sequence[ContextPart]) -> Mapping[str, float]:
    """The texts of a query with their weights, where it is one and the parts are such.

    Raises:
        ValueError: it is none, a weight is not positive, or one of the parts is none.
    """
    require_parts(parts)
    if not isinstance(query, str | Mapping):
        raise wrong_argument("query", query, "a text, or several with their weights")
    return weighted(cast("Query", query))  # its weights are looked at there


def lexical_scores(texts: Mapping[str, float], parts: Sequence[ContextPart]) -> list[float]:
    """The score of each part by its words."""
    index = LexicalIndex()
    for part in parts:
        index.add(part.text)
    return index.scores(texts)


def semantic_scores(
    texts: Mapping[str, float], parts: Sequence[ContextPart], vectors: Mapping[str, Vector]
) -> list[float | None]:
    """The score of each part by its vector: the mean over the texts of a query that have one, by their weights."""
    seen = [part.text for part in parts if part.text in vectors]
    known = {text: weight for text, weight in texts.items() if text in vectors}
    whole, sums = sum(known.values()), dict.fromkeys(seen, 0.0)
    for text, weight in known.items():
        cosines = similarities(vectors[text], [vectors[part] for part in sums])
        for part, cosine in zip(sums, cosines, strict=True):
            sums[part] += weight / whole * relatedness(cosine)
    return [min(1.0, sums[part.text]) if known and part.text in sums else None for part in parts]


def softmax(scores: Sequence[float], temperature: float) -> list[float]:
    """Shares of 1 that grow with the scores."""
    best = max(scores, default=0.0)
    powers = [exp((score - best) / temperature) for score in scores]
    whole = sum(powers)
    return [power / whole for power in powers]


def words_by_term(texts: Mapping[str, float]) -> dict[str, str]:
    """The word that each term of a query comes from, in its order."""
    words: dict[str, str] = {}
    for text in texts:
        for word in text.split():
            words |= {term: word for term in terms(word) if term not in words}
    return words


def reasons_of(
    part: ContextPart, wanted: Mapping[str, str], words: float, meaning: float | None
) -> list[str]:
    """Where a part's score comes from, in words."""
    found = {*terms(part.text)} & wanted.keys()
    shared = dict.fromkeys(
        wanted[term].strip(".,:;!?()\"'")[:NAMED_CHARS] for term in wanted if term in found
    )
    named = ", ".join([*shared][:NAMED_WORDS])
    reasons = [f"words {words:.2f}: {named}" if named else "no word in common"]
    if meaning is not None:
        reasons.append(f"meaning {meaning:.2f}")
    return [*reasons, "critical"] if part.critical else reasons
