"""How much texts have to do with a query, by the words they share.

Promise: scores are numbers in 0..1 on a fixed scale, whatever the query and the number of texts: 1 for one that holds all
of the query as densely as the query itself, 0 for one that shares no term with it.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import islice
from math import isfinite, log
from operator import mul

from autogen_context.language.terms import terms

SATURATION = 2.0  # k1 of BM25: how much more a term says that comes again and again
LENGTH_FRACTION = 0.75  # b of BM25: how much of a document's length counts against it
USUAL_TERMS = 100  # of a text that is judged alone: about a paragraph
SEMANTIC_FRACTION = 0.5  # of a fused score
UNRELATED_COSINE = 0.1  # what sentence embeddings give for texts on different things, on average
MOST_HOLDERS = 256  # documents of a term that are looked at for its sake: a query costs no more in a longer history
REACH = 4  # neighbours on each side that count, each half as much as the one before it
NEARNESS = tuple(0.5 ** abs(distance) for distance in range(-REACH, REACH + 1))

Query = str | Mapping[str, float]
"""What is asked: a text, or several with their weights."""


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
        Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, with the idf of Lucene;
        the constants: docs/decisions/0007-relevance.md.
    """

    def __init__(self) -> None:
        self._terms: list[tuple[str, ...]] = []  # of each document, each once
        self._lengths: list[int] = []  # in terms, each as often as it stands there
        self._total_length = 0
        self._holders: defaultdict[str, dict[int, int]] = defaultdict(
            dict
        )  # how often, by document

    def __len__(self) -> int:
        """How many documents there are."""
        return len(self._terms)

    def add(self, text: str) -> None:
        """Append a document; without any term it is one that scores 0."""
        found = terms(text)
        counts = Counter(found)
        for term, times in counts.items():
            self._holders[term][len(self)] = times
        self._terms.append(tuple(counts))
        self._lengths.append(len(found))
        self._total_length += len(found)

    def truncate(self, documents: int) -> None:
        """Forget all but the first so many documents; ``ValueError`` where there are fewer."""
        if not 0 <= documents <= len(self):
            raise ValueError(f"documents={documents}: give 0 to {len(self)}, what is there")
        while len(self) > documents:
            for term in self._terms.pop():
                del self._holders[term][len(self)]
                if not self._holders[term]:
                    del self._holders[term]
            self._total_length -= self._lengths.pop()

    def scores(self, query: str) -> list[float]:
        """How much each document has to do with a query, 0..1, in order."""
        return self._scores_of(query, lambda held: held, self._lengths.__getitem__)

    def scores_nearby(self, query: str) -> list[float]:
        """The same with the words of neighbours: half of what a direct neighbour holds, a quarter of the next, four on each side.

        What stands between others that match then scores as they do.
        """
        return self._scores_of(query, self._lent, lambda at: mean_around(self._lengths, at))

    def _lent(self, held: Mapping[int, int]) -> Mapping[int, float]:
        """How often each document holds a term, its own and what its neighbours lend; sums of such counts are exact."""
        lent: defaultdict[int, float] = defaultdict(float)
        last = len(self) - 1
        for document, times in held.items():
            first = max(0, document - REACH)
            for at in range(first, min(last, document + REACH) + 1):
                lent[at] += NEARNESS[at - document + REACH] * times
        return lent

    def _scores_of(
        self,
        query: str,
        held_by: Callable[[Mapping[int, int]], Mapping[int, float]],
        length_at: Callable[[int], float],
    ) -> list[float]:
        """The scores for a query, by how often documents hold a term and how long they are; only those are looked at."""
        wanted, totals = Counter(terms(query)), [0.0] * len(self)
        if not wanted:
            return totals
        pivot = max(wanted.total(), self._total_length / max(1, len(self)))
        own_damping, own = damping_of(wanted.total(), pivot), 0.0
        dampings: dict[int, float] = {}
        all_holders = {term: self._holders.get(term, {}) for term in wanted}
        frequent = [each for each in all_holders.values() if len(each) > MOST_HOLDERS]
        near: Collection[int] = ()
        if frequent:  # what stands everywhere tells the documents apart that a rarer word found, else the newest
            rare = [each for each in all_holders.values() if len(each) <= MOST_HOLDERS]
            near = {at for each in rare for at in held_by(each)}
            near = near or list(islice(reversed(frequent[0]), MOST_HOLDERS))
        for term, count in wanted.items():
            holders = all_holders[term]
            frequency = max(1, len(holders)) + 0.5
            rarity = log(1 + (len(self) - frequency + 1) / frequency)
            own += rarity * count / (count + own_damping)
            if len(holders) > MOST_HOLDERS:
                holders = {at: holders[at] for at in near if at in holders}
            for at, often in held_by(holders).items():
                damping = dampings.get(at)
                if damping is None:
                    damping = dampings[at] = damping_of(length_at(at), pivot)
                totals[at] += rarity * often / (often + damping)
        for at in dampings:
            totals[at] = min(1.0, totals[at] / own)
        return totals


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
