"""How relevant texts are to a query, by words and by meaning; labelled parts, and which of them are kept.

Promise: scores are numbers in 0..1 on a fixed scale, whatever else there is: 1 for a text that holds all of the query as
densely as the query itself, 0 for one that shares no term with it. Where an embedding model fails, words decide. A filter
keeps what is critical, whatever it scores. Why as it is: docs/decisions/0007-relevance.md.
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

SATURATION = 2.0  # k1 of BM25: how much more a term says that comes again and again
LENGTH_FRACTION = 0.75  # b of BM25: how much of a document's length counts against it
USUAL_TERMS = 100  # of a text that is judged alone: about a paragraph
SEMANTIC_FRACTION = 0.5  # of a fused score
UNRELATED_COSINE = 0.1  # what sentence embeddings give for texts on different things, on average
MOST_HOLDERS = 256  # documents of a term that are looked at for its sake: a query costs no more in a longer history
REACH = 4  # neighbours on each side that count, each half as much as the one before it
NEARNESS = tuple(0.5 ** abs(distance) for distance in range(-REACH, REACH + 1))
NAMED_WORDS = 3  # of those in common, in a reason
NAMED_CHARS = 40  # of one of them
SCORES = "what AttentionScorer().score(query, parts) returns"

Query = str | Mapping[str, float]
"""What is asked: a text, or several with their weights."""
Held = Mapping[int, float]
"""How often each document holds a term, by position."""


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


# ---- relevance of texts


def relevances(query: Query, texts: Iterable[str]) -> list[float]:
    """How much each text has to do with a query, whatever the others are.

    A score is the BM25 of the text over that of the query itself, with all terms alike: a term that all texts hold is one
    that was asked for all the same. Of a query of several texts it is the mean by their weights; texts without a term are
    left out of it. Why: docs/decisions/0007-relevance.md.
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
    """BM25 over documents that come one by one; what a document adds costs time in proportion to it alone.

    A score is the BM25 of the document over that of the query itself, had it been a document, at most 1. A term that no
    document holds counts like one that a single document holds. Lengths are relative to the average document, or to the
    query where that is longer.

    Source:
        Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, with the idf of Lucene.
    """

    def __init__(self) -> None:
        self._lengths: list[
            int
        ] = []  # of each document, in terms, each as often as it stands there
        self._total_length = 0
        self._holders: defaultdict[str, dict[int, int]] = defaultdict(
            dict
        )  # in the order of the documents

    def __len__(self) -> int:
        """How many documents there are."""
        return len(self._lengths)

    def add(self, text: str) -> None:
        """Append a document; without any term it is one that scores 0."""
        found = terms(text)
        holders, at = self._holders, len(self._lengths)
        for term, times in Counter(found).items():
            holders[term][at] = times
        self._lengths.append(len(found))
        self._total_length += len(found)

    def truncate(self, documents: int) -> None:
        """Forget all but the first so many documents; ``ValueError`` where there are fewer."""
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
        """The index of many documents at once, from what ``postings_of`` gives."""
        index = cls()
        index._lengths, index._total_length = list(lengths), sum(lengths)
        index._holders.update({term: Counter(at) for term, at in postings.items()})
        return index

    def scores(self, query: str) -> dict[int, float]:
        """How much documents have to do with a query, by position, above 0 to 1; those that share no term are not in it."""
        return self._scores(query, lambda held: held, self._lengths)

    def scores_nearby(self, query: str) -> dict[int, float]:
        """The same with the words of neighbours: half of what a direct neighbour holds, a quarter of the next, four on each side.

        What stands between others that match then scores as they do.
        """
        return self._scores(query, self._lent, LengthsAround(self._lengths))

    def _lent(self, held: Held) -> Held:
        """How often each document holds a term, its own and what its neighbours lend; sums of such counts are exact."""
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
        """The scores for a query; only documents that hold one of its terms, or those beside them, are looked at."""
        wanted = Counter(terms(query))
        all_holders = [self._holders.get(term, dict[int, int]()) for term in wanted]
        near: Collection[int] = ()
        if frequent := [each for each in all_holders if len(each) > MOST_HOLDERS]:
            # What stands everywhere tells the documents apart that a rarer word found, else the newest.
            rare = [each for each in all_holders if len(each) <= MOST_HOLDERS]
            near = set[int]().union(*map(held_by, rare)) or list(
                islice(reversed(frequent[0]), MOST_HOLDERS)
            )
        most = max(MOST_HOLDERS, len(near))
        looked_at = [
            each if len(each) <= most else {at: each[at] for at in near if at in each}
            for each in all_holders
        ]
        many = sum(map(len, looked_at)) > len(self)  # then a list is quicker
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
    """Of documents their lengths in terms, and of each term the documents that hold it, each as often as it does."""
    lengths, postings = list[int](), defaultdict[str, list[int]](list)
    for at, text in enumerate(texts):
        found = terms(text)
        lengths.append(len(found))
        for term in found:
            postings[term].append(at)
    return lengths, postings


class LengthsAround(dict[int, float]):
    """The mean length of each document and its neighbours, worked out where it is asked for."""

    def __init__(self, lengths: Sequence[int]) -> None:
        super().__init__()
        self._lengths = lengths

    def __missing__(self, at: int) -> float:
        """Where it is not known yet."""
        self[at] = mean_around(self._lengths, at)
        return self[at]


def mean_around(values: Sequence[float], at: int) -> float:
    """The mean of a value and its neighbours, by their nearness; at both ends there are fewer."""
    first = max(0, at - REACH)
    weights = NEARNESS[first - at + REACH : len(values) - at + REACH]
    weighed: float = sum(map(mul, weights, values[first : at + REACH + 1]))
    return weighed / sum(weights)


def means_around(values: Sequence[float]) -> list[float]:
    """For each value the mean of it and its neighbours."""
    return [mean_around(values, at) for at in range(len(values))]


def relatedness(cosine: float) -> float:
    """A cosine of two sentence embeddings on the scale of scores: 1 for the same direction, 0 for unrelated texts."""
    return max(0.0, min(1.0, (cosine - UNRELATED_COSINE) / (1 - UNRELATED_COSINE)))


def fused(lexical: Sequence[float], semantic: Sequence[float | None]) -> list[float]:
    """Two scores of each document as one: their mean, or the one by words where there is none by meaning."""
    return [
        words if meaning is None else words + SEMANTIC_FRACTION * (meaning - words)
        for words, meaning in zip(lexical, semantic, strict=True)
    ]


def weighted(query: Query) -> Mapping[str, float]:
    """The texts of a query with their weights; ``ValueError`` where one is not positive and finite."""
    texts = {query: 1.0} if isinstance(query, str) else query
    for text, weight in texts.items():
        if not (isfinite(weight) and weight > 0):
            raise ValueError(
                f"query: weight {weight} of {text[:40]!r}; give a positive number, or leave it out"
            )
    return texts


def damping_of(length: float, pivot: float) -> float:
    """How often a term has to stand in a document of this length to say half of what it can."""
    return SATURATION * (1 - LENGTH_FRACTION + LENGTH_FRACTION * (length / pivot))
