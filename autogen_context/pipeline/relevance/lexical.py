"""How much the documents of a growing list have to do with a query, by the words they share.

Promise: scores are numbers in 0..1 on a fixed scale, whatever the query and the number of documents: 1 for a document
that holds all of the query as densely as the query itself, 0 for one that shares no term with it. What a document adds
costs time in proportion to it alone.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from math import isfinite, log
from operator import mul

from autogen_context.pipeline.relevance.terms import terms

SATURATION = 2.0  # k1 of BM25: how much more a term says that comes again and again
LENGTH_SHARE = 0.75  # b of BM25: how much of a document's length counts against it
REACH = 4  # neighbours on each side that count as surroundings
NEARNESS = tuple(0.5 ** abs(distance) for distance in range(-REACH, REACH + 1))
SEMANTIC_SHARE = 0.5  # of a fused score
UNRELATED_COSINE = 0.1  # what sentence embeddings give for texts on different things, on average


class LexicalIndex:
    """BM25 over documents that come one by one.

    A score is the BM25 of the document over that of the query itself, had it been a document, at most 1. A term that no
    document holds counts like one that a single document holds. Lengths are relative to the average document, or to the
    query where that is longer.

    Source:
        Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, with the idf of Lucene;
        the constants: docs/decisions/0007-relevance.md.
    """

    def __init__(self) -> None:
        self._documents: list[list[str]] = []  # their terms
        self._places: defaultdict[str, list[int]] = defaultdict(list)  # documents, for each time

    def __len__(self) -> int:
        """How many documents there are."""
        return len(self._documents)

    def add(self, text: str) -> None:
        """Append a document; without any term it is one that scores 0."""
        document, found = len(self._documents), terms(text)
        for term in found:
            self._places[term].append(document)
        self._documents.append(found)

    def truncate(self, documents: int) -> None:
        """Forget all but the first so many documents.

        Raises:
            ValueError: there are fewer, or the number is negative.
        """
        if not 0 <= documents <= len(self):
            raise ValueError(f"documents={documents}: give 0 to {len(self)}, what is there")
        for found in self._documents[documents:]:
            for term in found:
                self._forget_one_place(term)
        del self._documents[documents:]

    def scores(self, query: str | Mapping[str, float], *, nearby: bool = False) -> list[float]:
        """How much each document has to do with a query.

        Args:
            query: a text; or several, each with its weight. Then a score is the mean of the scores for each of them, by
                these weights; texts without any term are left out of it.
            nearby: whether the words of neighbours count as well: half of what a direct neighbour holds, a quarter of
                the next, four on each side. What stands between others that match then scores as they do.

        Returns:
            One score in 0..1 for each document, in order; all 0 where the query has no term.

        Raises:
            ValueError: a weight is not positive.
        """
        counted = ((Counter(terms(text)), weight) for text, weight in weighted(query).items())
        wanted = [(counts, weight) for counts, weight in counted if counts]
        whole = sum(weight for _, weight in wanted)
        totals = [0.0] * len(self)
        for counts, weight in wanted:
            found = self._scores_of(counts, nearby=nearby)
            totals = [
                total + weight / whole * score for total, score in zip(totals, found, strict=True)
            ]
        return [min(1.0, total) for total in totals]

    def _forget_one_place(self, term: str) -> None:
        """Take the newest place out of a term's list."""
        places = self._places[term]
        places.pop()
        if not places:
            del self._places[term]

    def _scores_of(self, wanted: Counter[str], *, nearby: bool) -> list[float]:
        """The scores for one text, of which the terms are counted; there is one at least."""
        lengths: Sequence[float] = [len(found) for found in self._documents]
        pivot = max(wanted.total(), sum(lengths) / max(1, len(self)))
        dampings = [damping_of(n / pivot) for n in (smoothed(lengths) if nearby else lengths)]
        totals, own = [0.0] * len(self), 0.0
        for term, count in wanted.items():
            holders: Mapping[int, float] = Counter(self._places.get(term))
            rarity = self._rarity(len(holders))
            own += rarity * count / (count + damping_of(wanted.total() / pivot))
            for document, held in (spread(holders, len(self)) if nearby else holders).items():
                totals[document] += rarity * held / (held + dampings[document])
        return [min(1.0, total / own) for total in totals]

    def _rarity(self, holders: int) -> float:
        """The inverse document frequency of a term that so many documents hold, positive."""
        frequency = max(1, holders) + 0.5
        return log(1 + (len(self) - frequency + 1) / frequency)


def smoothed(values: Sequence[float]) -> list[float]:
    """The mean of each value and its four neighbours on each side, each half as heavy as the one before it."""
    margin = [0.0] * REACH
    padded, width = [*margin, *values, *margin], len(NEARNESS)
    return [
        sum(map(mul, NEARNESS, padded[i : i + width]))
        / sum(NEARNESS[max(0, REACH - i) : REACH + len(values) - i])  # at the ends there are fewer
        for i in range(len(values))
    ]


def relatedness(cosine: float) -> float:
    """A cosine of two sentence embeddings on the scale of scores: 1 for the same direction, 0 for unrelated texts."""
    return max(0.0, min(1.0, (cosine - UNRELATED_COSINE) / (1 - UNRELATED_COSINE)))


def fused(lexical: Sequence[float], semantic: Sequence[float | None]) -> list[float]:
    """Two scores of each document as one.

    Args:
        lexical: n scores in 0..1 by words.
        semantic: n scores in 0..1 by meaning (``relatedness``), or None for a document without a vector.

    Returns:
        n scores in 0..1: the mean of both; the one by words where there is no other.

    Source:
        docs/decisions/0007-relevance.md.
    """
    return [
        words if meaning is None else words + SEMANTIC_SHARE * (meaning - words)
        for words, meaning in zip(lexical, semantic, strict=True)
    ]


def weighted(query: str | Mapping[str, float]) -> Mapping[str, float]:
    """The texts of a query with their weights.

    Raises:
        ValueError: a weight is not positive, or not finite.
    """
    texts = {query: 1.0} if isinstance(query, str) else query
    for text, weight in texts.items():
        if not (isfinite(weight) and weight > 0):
            raise ValueError(
                f"query: weight {weight} of {text[:40]!r}; give a positive number, or leave it out"
            )
    return texts


def damping_of(relative_length: float) -> float:
    """How often a term has to stand in a document of this length to say half of what it can."""
    return SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * relative_length)


def spread(counts: Mapping[int, float], documents: int) -> dict[int, float]:
    """The counts of documents, lent to their neighbours by nearness."""
    lent = [0.0] * (documents + 2 * REACH)
    for document, count in counts.items():
        for place, nearness in enumerate(NEARNESS, document):
            lent[place] += nearness * count
    return {i: count for i, count in enumerate(lent[REACH:-REACH]) if count}
