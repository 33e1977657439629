"""Relevance of texts to a query, lexical and by embeddings; scoring and filtering of labelled parts.

Promise: scores are on a fixed scale 0..1, independent of the other texts: 1 for a text with all terms of the query at the
query's own density, 0 without a common term. If the embedding model fails, scores are lexical. The filter keeps critical
parts whatever their score. Source: docs/decisions/0007-relevance.md.
"""

import logging
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import exp, isfinite, log

from autogen_context.argument import (
    listed,
    require_fraction,
    require_kind,
    require_text,
    require_whole,
)
from autogen_context.errors import EmbeddingFailed
from autogen_context.language.terms import terms
from autogen_context.models.embedder import Vectors
from autogen_context.models.relatedness import Relatedness
from autogen_context.text.memo import Memo
from autogen_context.text.work import QUERY_CHARS, ends_of

logger = logging.getLogger(__name__)

SATURATION = 2.0  # k1 of BM25: weight of repeated terms
LENGTH_FRACTION = 0.75  # b of BM25: length normalisation
USUAL_TERMS = 100  # assumed average length in terms, about a paragraph
MOST_HOLDERS = 256  # documents examined per term, whatever the length of the history
NAMED_WORDS = 3  # common words named in a reason
NAMED_CHARS = 40  # of each
SCORES = "what AttentionScorer().score(query, parts) returns"


@dataclass(frozen=True, slots=True)
class ContextPart:
    """A labelled part of a context.

    Attributes:
        label: its kind: ``goal``, ``steering``, ``memory``, ``actions``, ``hypotheses``, or your own.
        text: its content.
        critical: whether it is kept whatever its score.

    Raises:
        ValueError: ``label`` or ``text`` is no text.
    """

    label: str
    text: str
    critical: bool = False

    def __post_init__(self) -> None:
        """Raise `ValueError` if label or text is no text."""
        require_text("label", self.label)
        require_text("text", self.text)


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
        self._related = None if vectors is None else Relatedness(vectors)
        self._temperature = temperature
        self._memo = Memo()

    async def score(self, query: str, parts: Sequence[ContextPart]) -> list[AttentionScore]:
        """Score parts for a query, computing missing embeddings first.

        Args:
            query: a text.
            parts: n parts.

        Returns:
            n scores, in the order of the parts; 0 for an unrelated part.

        Raises:
            ValueError: ``query`` is not a text, or a part is no ``ContextPart``.
        """
        require_query(query, parts)
        vectors: Sequence[Sequence[float] | None] = ()
        if self._vectors is not None and self._related is not None and parts and query:
            try:
                await self._related.prepare()
                vectors = await self._vectors.vectors([query, *(part.text for part in parts)])
            except EmbeddingFailed as error:
                logger.warning("parts are scored by words alone", extra={"model": error.model})
        return self._memo.run(self._scores, query, parts, vectors)

    def score_nowait(self, query: str, parts: Sequence[ContextPart]) -> list[AttentionScore]:
        """Score parts with the embeddings that are in memory; never waits. Arguments and errors as of ``score``."""
        require_query(query, parts)
        ready = None if self._vectors is None else self._vectors.ready
        texts = (query, *(part.text for part in parts)) if ready else ()
        vectors = [*map(ready, texts)] if ready else ()
        return self._memo.run(self._scores, query, parts, vectors)

    def _scores(
        self, query: str, parts: Sequence[ContextPart], vectors: Sequence[Sequence[float] | None]
    ) -> list[AttentionScore]:
        """Score parts; ``vectors`` are those of the query and of each part, or empty."""
        lexical = relevances(query, [part.text for part in parts])
        meanings: list[float | None] = [None] * len(parts)
        if vectors and self._related is not None:
            meanings = self._related.scores(vectors[0], vectors[1:])
        scores = fused(lexical, meanings)
        best = max(scores, default=0.0)
        powers = [exp((score - best) / self._temperature) for score in scores]
        whole = sum(powers)
        asked_words: dict[str, str] = {}  # by term
        for word in ends_of(query, QUERY_CHARS).split():
            asked_words |= {term: word for term in terms(word) if term not in asked_words}
        return [
            AttentionScore(
                part=part,
                score=score,
                share=power / whole,
                temperature=self._temperature,
                reasons=tuple(reasons_for(part, words, meaning, asked_words)),
            )
            for part, words, meaning, score, power in zip(
                parts, lexical, meanings, scores, powers, strict=True
            )
        ]


def reasons_for(
    part: ContextPart, words: float, meaning: float | None, asked_words: Mapping[str, str]
) -> Iterator[str]:
    """Yield what the score of a part is made of, with some of the words that it shares with the query."""
    own_terms = {*terms(part.text)}
    shared = (
        asked_words[t].strip(".,:;!?()\"'")[:NAMED_CHARS] for t in asked_words if t in own_terms
    )
    named = ", ".join([*dict.fromkeys(shared)][:NAMED_WORDS])
    yield f"words {words:.2f}: {named}" if named else "no word in common"
    if meaning is not None:
        yield f"meaning {meaning:.2f}"
    if part.critical:
        yield "critical"


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
            if score.part.critical
            or score.part.label.casefold() in self._critical_labels
            or (score.score >= self._threshold if self._top_k is None else place < self._top_k)
        ]


def require_parts(parts: object) -> None:
    """Raise ``ValueError`` unless every element is a ``ContextPart``."""
    for at, part in enumerate(listed("parts", parts, give="a list of ContextPart(label, text)")):
        require_kind(f"parts[{at}]", part, ContextPart, give="ContextPart(label, text)")


def require_query(query: object, parts: object) -> None:
    """Raise ``ValueError`` unless the query is a text and every part a ``ContextPart``."""
    require_text("query", query)
    require_parts(parts)


# ---- lexical relevance


def relevances(query: str, texts: Iterable[str]) -> list[float]:
    """Score texts for a query, each independent of the others, 0..1.

    The score is the BM25 of the text divided by that of the query itself, without idf, so that a term counts even if all
    texts contain it. Source: docs/decisions/0007-relevance.md.
    """
    wanted = Counter(terms(ends_of(query, QUERY_CHARS)))
    pivot = max(wanted.total(), USUAL_TERMS)
    damping = damping_of(wanted.total(), pivot)
    own = sum(count / (count + damping) for count in wanted.values())
    scores: list[float] = []
    for found in (Counter(terms(text)) for text in texts):
        damping = damping_of(found.total(), pivot)
        matched = sum(found[term] / (found[term] + damping) for term in wanted if term in found)
        scores.append(min(1.0, matched / own) if matched else 0.0)
    return scores


class LexicalIndex:
    """Incremental BM25; adding a document takes time in proportion to its length.

    The score is the BM25 of the document divided by that of the query as a document, at most 1. A term without documents
    counts as if it had one. Lengths are relative to the average document, or to the query if that is longer.

    Source:
        Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, with the idf of Lucene.
    """

    def __init__(
        self,
        lengths: Sequence[int] = (),
        postings: Mapping[str, Sequence[int]] | None = None,
        *,
        most_holders: int | None = MOST_HOLDERS,
    ) -> None:
        self._most_holders = most_holders  # documents examined per term; ``None`` for all
        self.lengths = list(lengths)  # of each document, in terms with repetitions
        self._total_length = sum(lengths)
        # term -> document -> occurrences, in document order
        self._holders = defaultdict[str, dict[int, int]](dict)
        for term, at in (postings or {}).items():
            self._holders[term] = Counter(at)

    @property
    def postings(self) -> dict[str, list[int]]:
        """For each term its documents, one entry per occurrence; with ``lengths`` all that makes the same index."""
        return {term: [*Counter(counts).elements()] for term, counts in self._holders.items()}

    def __len__(self) -> int:
        """Number of documents."""
        return len(self.lengths)

    def add(self, text: str) -> None:
        """Append a document; one without terms scores 0."""
        found = terms(text)
        holders, at = self._holders, len(self.lengths)
        for term, times in Counter(found).items():
            holders[term][at] = times
        self.lengths.append(len(found))
        self._total_length += len(found)

    def truncate(self, documents: int) -> None:
        """Remove all documents after the first ``documents``; ``ValueError`` if there are fewer."""
        if not 0 <= documents <= len(self):
            raise ValueError(f"documents={documents}: give 0 to {len(self)}, what is there")
        for term, counts in list(self._holders.items()) if documents < len(self) else ():
            while counts and next(reversed(counts)) >= documents:
                counts.popitem()
            if not counts:
                del self._holders[term]
        self._total_length -= sum(self.lengths[documents:])
        del self.lengths[documents:]

    def documents_of(self, term: str) -> Collection[int]:
        """Return the documents that have a term."""
        return self._holders.get(term, {}).keys()

    def rarity_of(self, term: str) -> float:
        """Return the idf of a term; one without documents counts as if it had one."""
        frequency = max(1, len(self.documents_of(term))) + 0.5
        return log(1 + (len(self) - frequency + 1) / frequency)

    def scores(self, query: str) -> dict[int, float]:
        """Return scores above 0, at most 1, by document position; documents without a common term are left out."""
        wanted = Counter(terms(ends_of(query, QUERY_CHARS)))
        holders = {term: self._holders.get(term, dict[int, int]()) for term in wanted}
        # Frequent terms count only in documents that a rarer one found, else in the newest.
        most = len(self) if self._most_holders is None else self._most_holders
        rare = [each for each in holders.values() if len(each) <= most]
        frequent = [each for each in holders.values() if len(each) > most]
        near: Collection[int] = set[int]().union(*rare) if frequent else ()
        near = near or [at for each in frequent[:1] for at in islice(reversed(each), most)]
        totals = defaultdict[int, float](float)
        asked = wanted.total()
        pivot = max(1, asked, self._total_length / max(1, len(self)))
        own = 0.0
        for term, count in wanted.items():
            counts, rarity = holders[term], self.rarity_of(term)
            own += rarity * count / (count + damping_of(asked, pivot))
            for at in counts if len(counts) <= max(most, len(near)) else near:
                if often := counts.get(at):
                    totals[at] += rarity * often / (often + damping_of(self.lengths[at], pivot))
        return {at: min(1.0, total / own) for at, total in totals.items()}

    def rarities(self, query: str) -> dict[str, float]:
        """Return the terms of a query, each with its weight by how few documents have it."""
        return {term: self.rarity_of(term) for term in terms(ends_of(query, QUERY_CHARS))}


def fused(
    lexical: Sequence[float], semantic: Sequence[float | None], factor: float = 1.0
) -> list[float]:
    """Add semantic scores, each times a factor, to the lexical ones, up to 1: either kind alone counts fully."""
    return [
        words if meaning is None else min(1.0, words + factor * meaning)
        for words, meaning in zip(lexical, semantic, strict=True)
    ]


def damping_of(length: float, pivot: float) -> float:
    """Return the occurrences at which a term reaches half its weight in a document of this length."""
    return SATURATION * (1 - LENGTH_FRACTION + LENGTH_FRACTION * (length / pivot))
