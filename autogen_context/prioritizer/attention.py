"""Relevance of texts to a query, lexical and by embeddings; scoring and filtering of labelled parts.

Promise: scores are on a fixed scale 0..1, independent of the other texts: 1 for a text with all terms of the query at the
query's own density, 0 without a common term. If the embedding model fails, scores are lexical. The filter keeps critical
parts whatever their score. Source: docs/decisions/0007-relevance.md.
"""

import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import exp, isfinite, log
from operator import mul
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

logger = logging.getLogger(__name__)

SATURATION = 2.0  # k1 of BM25: weight of repeated terms
LENGTH_FRACTION = 0.75  # b of BM25: length normalisation
USUAL_TERMS = 100  # assumed average length in terms, about a paragraph
SEMANTIC_FRACTION = 0.5  # of a fused score
UNRELATED_COSINE = 0.1  # average cosine of sentence embeddings of unrelated texts
MOST_HOLDERS = (
    256  # documents examined per term, so that a query does not cost more in a longer history
)
REACH = 4  # neighbours on each side that count, each half as much as the one nearer
NEARNESS = tuple(0.5 ** abs(distance) for distance in range(-REACH, REACH + 1))
NAMED_WORDS = 3  # common words named in a reason
NAMED_CHARS = 40  # of each
SCORES = "what AttentionScorer().score(query, parts) returns"

Query = str | Mapping[str, float]
"""A query: one text, or several texts with weights."""
Held = Mapping[int, float]
"""Occurrences of a term by document position."""


@dataclass(frozen=True, slots=True)
class ContextPart:
    """A labelled part of a context.

    Attributes:
        label: its kind: ``goal``, ``steering``, ``memory``, ``actions``, ``hypotheses``, or your own.
        text: its content.
        critical: whether it is kept whatever its score.
    """

    label: str
    text: str
    critical: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionScore:
    """Relevance of a part to a query.

    Attributes:
        part: the part.
        score: 0..1 on a fixed scale; compare this with a threshold.
        share: softmax over all parts; the shares of n parts sum to 1, so they fall as parts are added.
        temperature: of the softmax; a lower one favours the best part.
        reasons: explanation of the score.
    """

    part: ContextPart
    score: float
    share: float
    temperature: float
    reasons: tuple[str, ...]


class AttentionScorer:
    """Scores the relevance of parts to a query: lexical, and by embeddings if given vectors.

    Args:
        vectors: computes and stores embeddings, for example a ``VectorStore``; ``None`` for lexical scores alone.
        temperature: of the softmax that is reported with the scores.

    Raises:
        ValueError: ``temperature`` is not positive.
    """

    def __init__(self, vectors: Vectors | None = None, *, temperature: float = 0.1) -> None:
        if not (isfinite(temperature) and temperature > 0):
            raise ValueError(f"temperature={temperature}: give a positive number, such as 0.1")
        self._vectors = vectors
        self._temperature = temperature

    async def score(self, query: Query, parts: Sequence[ContextPart]) -> list[AttentionScore]:
        """Score parts for a query, computing missing embeddings first.

        Args:
            query: a text, or several with weights.
            parts: n parts.

        Returns:
            n scores, in the order of the parts; 0 for an unrelated part.

        Raises:
            ValueError: ``query`` has another type, a weight is not positive, or a part is no ``ContextPart``.
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
        """Score parts with the embeddings that are in memory; never waits. Arguments and errors as of ``score``."""
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
        wanted: dict[str, str] = {}  # term of the query -> its word
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
            score = AttentionScore(
                part=part,
                score=scores[i],
                share=powers[i] / whole,
                temperature=self._temperature,
                reasons=tuple(reasons),
            )
            found.append(score)
        return found


class AttentionFilter:
    """Drops parts with a low score.

    Args:
        threshold: lowest score that is kept, 0..1; it applies to ``score``, never to ``share``.
        top_k: keep this many of the best parts instead, whatever their score; critical parts are kept in addition.
        critical_labels: labels of parts to treat as critical, case-insensitive.

    Raises:
        ValueError: ``threshold`` is not in 0..1, ``top_k`` not positive, or ``critical_labels`` a single string.
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
        """Return the scores of the parts to keep.

        Args:
            scores: n scores, in any order.

        Returns:
            At most n of them, best first; ties keep their order.

        Raises:
            ValueError: an element is no ``AttentionScore``.
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
    """Raise ``ValueError`` unless every element is a ``ContextPart``."""
    for at, part in enumerate(listed("parts", parts, give="a list of ContextPart(label, text)")):
        require_kind(f"parts[{at}]", part, ContextPart, give="ContextPart(label, text)")


def asked(query: object, parts: object) -> Mapping[str, float]:
    """Validate query and parts, and return the texts of the query with their weights."""
    require_parts(parts)
    if not isinstance(query, str | Mapping):
        raise wrong_argument("query", query, "a text, or several with their weights")
    return weighted(cast("Query", query))  # which checks the weights


def semantic_scores(
    texts: Mapping[str, float],
    parts: Sequence[ContextPart],
    vectors: Mapping[str, Sequence[float]],
) -> list[float | None]:
    """Score parts by embeddings: weighted mean over the query's texts; ``None`` for a part without a vector."""
    known = {text: weight for text, weight in texts.items() if text in vectors}
    whole = sum(known.values())
    scores = {part.text: 0.0 for part in parts if known and part.text in vectors}
    for text, weight in known.items():
        cosines = similarities(vectors[text], [vectors[part] for part in scores])
        for part, cosine in zip(scores, cosines, strict=True):
            scores[part] += weight / whole * relatedness(cosine)
    return [min(1.0, scores[part.text]) if part.text in scores else None for part in parts]


# ---- lexical relevance


def relevances(query: Query, texts: Iterable[str]) -> list[float]:
    """Score texts for a query, each independent of the others, 0..1.

    The score is the BM25 of the text divided by that of the query itself, without idf, so that a term counts even if all
    texts contain it. For several query texts it is their weighted mean, without texts that have no term.
    Source: docs/decisions/0007-relevance.md.
    """
    counted = [(Counter(terms(text)), weight) for text, weight in weighted(query).items()]
    wanted = [(counts, weight) for counts, weight in counted if counts]
    whole = sum(weight for _, weight in wanted)
    scores: list[float] = []
    for found in (Counter(terms(text)) for text in texts):
        score = 0.0
        for counts, weight in wanted:
            pivot = max(counts.total(), USUAL_TERMS)
            own_damping = damping_of(counts.total(), pivot)
            damping = damping_of(found.total(), pivot)
            own = sum(count / (count + own_damping) for count in counts.values())
            held = sum(found[term] / (found[term] + damping) for term in counts if term in found)
            score += weight / whole * min(1.0, held / own)
        scores.append(min(1.0, score))
    return scores


class LexicalIndex:
    """Incremental BM25; adding a document takes time in proportion to its length.

    The score is the BM25 of the document divided by that of the query as a document, at most 1. A term without documents
    counts as if it had one. Lengths are relative to the average document, or to the query if that is longer.

    Source:
        Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, with the idf of Lucene.
    """

    def __init__(self) -> None:
        self._lengths: list[int] = []  # of each document, in terms with repetitions
        self._total_length = 0
        self._holders: defaultdict[str, dict[int, int]] = defaultdict(
            dict
        )  # term -> document -> occurrences, in document order

    def __len__(self) -> int:
        """Number of documents."""
        return len(self._lengths)

    def add(self, text: str) -> None:
        """Append a document; one without terms scores 0."""
        found = terms(text)
        holders, at = self._holders, len(self._lengths)
        for term, times in Counter(found).items():
            holders[term][at] = times
        self._lengths.append(len(found))
        self._total_length += len(found)

    def truncate(self, documents: int) -> None:
        """Remove all documents after the first ``documents``; ``ValueError`` if there are fewer."""
        if not 0 <= documents <= len(self):
            raise ValueError(f"documents={documents}: give 0 to {len(self)}, what is there")
        for term, held in list(self._holders.items()) if documents < len(self) else ():
            while held and next(reversed(held)) >= documents:
                held.popitem()
            if not held:
                del self._holders[term]
        self._total_length -= sum(self._lengths[documents:])
        del self._lengths[documents:]

    @classmethod
    def of(cls, lengths: Sequence[int], postings: Mapping[str, Sequence[int]]) -> "LexicalIndex":
        """Build an index of many documents at once from the result of ``postings_of``."""
        index = cls()
        index._lengths, index._total_length = list(lengths), sum(lengths)
        index._holders.update({term: Counter(at) for term, at in postings.items()})
        return index

    def scores(self, query: str) -> dict[int, float]:
        """Return scores above 0, at most 1, by document position; documents without a common term are left out."""
        return self._scores(query, lambda held: held, self._lengths)

    def scores_nearby(self, query: str) -> dict[int, float]:
        """Score documents with the terms of their neighbours added: half of a direct neighbour's, a quarter of the next, ...

        A document between others that match then scores like them.
        """
        return self._scores(query, self._lent, LengthsAround(self._lengths))

    def _lent(self, held: Held) -> Held:
        """Add the neighbours' occurrences, weighted by distance; sums of such counts are exact."""
        lent: defaultdict[int, float] = defaultdict(float)
        last = len(self) - 1
        for document, times in held.items():
            first = max(0, document - REACH)
            for at in range(first, min(last, document + REACH) + 1):
                lent[at] += NEARNESS[at - document + REACH] * times
        return lent

    def _scores(
        self,
        query: str,
        held_by: Callable[[Held], Held],
        lengths: Sequence[int] | Mapping[int, float],
    ) -> dict[int, float]:
        """Score a query; only documents with one of its terms, and their neighbours, are examined."""
        wanted = Counter(terms(query))
        all_holders = [self._holders.get(term, dict[int, int]()) for term in wanted]
        near: Collection[int] = ()
        if frequent := [each for each in all_holders if len(each) > MOST_HOLDERS]:
            # Count frequent terms only in documents that a rarer term found, else in the newest.
            rare = [each for each in all_holders if len(each) <= MOST_HOLDERS]
            near = set[int]().union(*map(held_by, rare)) or list(
                islice(reversed(frequent[0]), MOST_HOLDERS)
            )
        most = max(MOST_HOLDERS, len(near))
        looked_at = [
            each if len(each) <= most else {at: each[at] for at in near if at in each}
            for each in all_holders
        ]
        many = sum(map(len, looked_at)) > len(self)  # a list is faster then
        totals = [0.0] * len(self) if many else defaultdict[int, float](float)
        pivot = max(1, wanted.total(), self._total_length / max(1, len(self)))
        shortest, per_term = damping_of(0, pivot), damping_of(1, pivot) - damping_of(0, pivot)
        own = 0.0
        for count, holders, held in zip(wanted.values(), all_holders, looked_at, strict=True):
            frequency = max(1, len(holders)) + 0.5
            rarity = log(1 + (len(self) - frequency + 1) / frequency)
            own += rarity * count / (count + shortest + per_term * wanted.total())
            for at, often in held_by(held).items():
                totals[at] += rarity * often / (often + shortest + per_term * lengths[at])
        scored = enumerate(totals) if isinstance(totals, list) else totals.items()
        return {at: total / own if total < own else 1.0 for at, total in scored if total}


def postings_of(texts: Iterable[str]) -> tuple[list[int], dict[str, list[int]]]:
    """Return the documents' lengths in terms, and for each term its documents, one entry per occurrence."""
    lengths, postings = list[int](), defaultdict[str, list[int]](list)
    for at, text in enumerate(texts):
        found = terms(text)
        lengths.append(len(found))
        for term in found:
            postings[term].append(at)
    return lengths, postings


class LengthsAround(dict[int, float]):
    """Mean length of each document and its neighbours, computed on demand."""

    def __init__(self, lengths: Sequence[int]) -> None:
        super().__init__()
        self._lengths = lengths

    def __missing__(self, at: int) -> float:
        """Compute and store it."""
        self[at] = mean_around(self._lengths, at)
        return self[at]


def mean_around(values: Sequence[float], at: int) -> float:
    """Return the mean of a value and its neighbours, weighted by distance."""
    first = max(0, at - REACH)
    weights = NEARNESS[first - at + REACH : len(values) - at + REACH]
    weighed: float = sum(map(mul, weights, values[first : at + REACH + 1]))
    return weighed / sum(weights)


def means_around(values: Sequence[float]) -> list[float]:
    """Return ``mean_around`` for every position."""
    return [mean_around(values, at) for at in range(len(values))]


def relatedness(cosine: float) -> float:
    """Map a cosine of sentence embeddings to a score: 1 for the same direction, 0 for unrelated texts."""
    return max(0.0, min(1.0, (cosine - UNRELATED_COSINE) / (1 - UNRELATED_COSINE)))


def fused(lexical: Sequence[float], semantic: Sequence[float | None]) -> list[float]:
    """Combine lexical and semantic scores: their mean, or the lexical one if there is no semantic one."""
    return [
        words if meaning is None else words + SEMANTIC_FRACTION * (meaning - words)
        for words, meaning in zip(lexical, semantic, strict=True)
    ]


def weighted(query: Query) -> Mapping[str, float]:
    """Return the texts of a query with weights; ``ValueError`` if a weight is not positive and finite."""
    texts = {query: 1.0} if isinstance(query, str) else query
    for text, weight in texts.items():
        if not (isfinite(weight) and weight > 0):
            raise ValueError(
                f"query: weight {weight} of {text[:40]!r}; give a positive number, or leave it out"
            )
    return texts


def damping_of(length: float, pivot: float) -> float:
    """Return the occurrences at which a term reaches half its weight in a document of this length."""
    return SATURATION * (1 - LENGTH_FRACTION + LENGTH_FRACTION * (length / pivot))
