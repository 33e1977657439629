"""How much texts have to do with a query, by the words they share.

Promise: scores are numbers in 0..1 on a fixed scale, whatever the query and the number of texts: 1 for one that holds all
of the query as densely as the query itself, 0 for one that shares no term with it.

There are two ways to ask. ``relevances`` judges each text alone, so that a score can be held against a threshold.
``LexicalIndex`` ranks the documents of a growing list: terms that few of them hold say more, and what a document adds costs
time in proportion to it alone.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite, log

from autogen_context.language.terms import terms
from autogen_context.prioritizer.neighbours import REACH, Neighbours, means_around

SATURATION = 2.0  # k1 of BM25: how much more a term says that comes again and again
LENGTH_FRACTION = 0.75  # b of BM25: how much of a document's length counts against it
USUAL_TERMS = 100  # of a text that is judged alone: about a paragraph
SEMANTIC_FRACTION = 0.5  # of a fused score
UNRELATED_COSINE = 0.1  # what sentence embeddings give for texts on different things, on average

Query = str | Mapping[str, float]
"""What is asked: a text, or several with their weights."""
Held = Callable[[Sequence[int], Sequence[int]], Iterable[tuple[int, float]]]
"""Of the documents that hold a term, and how often each does, those that are judged, and how often it counts for them."""


def relevances(query: Query, texts: Iterable[str]) -> list[float]:
    """How much each text has to do with a query, whatever the others are.

    A score is the BM25 of the text over that of the query itself, with all terms alike: a term that all texts hold is one
    that was asked for all the same. Lengths are relative to a usual text, or to the query where that is longer.

    Args:
        query: a text; or several, each with its weight. Then a score is the mean of the scores for each of them, by
            these weights; texts without any term are left out of it.
        texts: n texts.

    Returns:
        n scores in 0..1; all 0 where the query has no term.

    Raises:
        ValueError: a weight is not positive.

    Source:
        docs/decisions/0007-relevance.md.
    """
    counted = ((Counter(terms(text)), weight) for text, weight in weighted(query).items())
    wanted = [(counts, weight) for counts, weight in counted if counts]
    whole = sum(weight for _, weight in wanted)
    found = [Counter(terms(text)) for text in texts]
    return [
        min(1.0, sum(weight / whole * share_held(counts, each) for counts, weight in wanted))
        for each in found
    ]


def share_held(wanted: Counter[str], found: Counter[str]) -> float:
    """How much of what is wanted was found, 0..1; something is wanted."""
    pivot = max(wanted.total(), USUAL_TERMS)
    own_damping, damping = dampings_of([wanted.total(), found.total()], pivot)
    own = sum(count / (count + own_damping) for count in wanted.values())
    held = sum(found[term] / (found[term] + damping) for term in wanted if term in found)
    return min(1.0, held / own)


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
        self._terms: list[tuple[str, ...]] = []  # of each document, each once
        self._lengths: list[int] = []  # in terms, each as often as it stands there
        self._mean_lengths: list[float] = []  # with the neighbours, where these are complete
        self._holders: defaultdict[str, list[int]] = defaultdict(list)  # document, times, and so on

    def __len__(self) -> int:
        """How many documents there are."""
        return len(self._terms)

    def add(self, text: str) -> None:
        """Append a document; without any term it is one that scores 0."""
        document, found = len(self), terms(text)
        counts = Counter(found)
        for term, times in counts.items():
            self._holders[term].extend((document, times))
        self._terms.append(tuple(counts))
        self._lengths.append(len(found))

    def truncate(self, documents: int) -> None:
        """Forget all but the first so many documents.

        Raises:
            ValueError: there are fewer, or the number is negative.
        """
        if not 0 <= documents <= len(self):
            raise ValueError(f"documents={documents}: give 0 to {len(self)}, what is there")
        for found in self._terms[documents:]:
            for term in found:
                self._forget_newest_holder(term)
        del self._terms[documents:], self._lengths[documents:]
        del self._mean_lengths[max(0, documents - REACH) :]

    def scores(self, query: str) -> list[float]:
        """How much each document has to do with a query.

        Returns:
            One score in 0..1 for each document, in order; all 0 where the query has no term.
        """
        return self._scores_of(Counter(terms(query)), self._lengths, alone)

    def scores_nearby(self, query: str, documents: Sequence[int] | None = None) -> list[float]:
        """The same with the words of neighbours: half of what a direct neighbour holds, a quarter of the next, four on each side.

        What stands between others that match then scores as they do.

        Args:
            query: a text.
            documents: positions of m documents that are judged, ascending; left out, all. The fewer, the less time.

        Returns:
            m scores in 0..1.
        """
        judged = range(len(self)) if documents is None else documents
        return self._scores_of(Counter(terms(query)), *self._nearby(judged))

    def _forget_newest_holder(self, term: str) -> None:
        """Take the newest document out of a term's list."""
        holders = self._holders[term]
        del holders[-2:]
        if not holders:
            del self._holders[term]

    def _nearby(self, documents: Sequence[int]) -> tuple[list[float], Held]:
        """Documents with their neighbours: the mean lengths, and what they hold."""
        known = self._mean_lengths
        means = known + means_around(range(len(known), len(self)), self._lengths)
        self._mean_lengths = means[: max(0, len(self) - REACH)]
        held = Neighbours(documents, len(self)).held
        return [means[document] for document in documents], held

    def _scores_of(self, wanted: Counter[str], lengths: Sequence[float], held: Held) -> list[float]:
        """The scores for a query of which the terms are counted."""
        if not wanted:
            return [0.0] * len(lengths)
        pivot = max(wanted.total(), sum(self._lengths) / max(1, len(self)))
        own_damping, *dampings = dampings_of([wanted.total(), *lengths], pivot)
        totals, own = [0.0] * len(lengths), 0.0
        for term, count in wanted.items():
            holders = self._holders.get(term, ())
            documents, times = holders[::2], holders[1::2]
            rarity = self._rarity(len(documents))
            own += rarity * count / (count + own_damping)
            for at, often in held(documents, times):
                totals[at] += rarity * often / (often + dampings[at])
        return [min(1.0, total / own) for total in totals]

    def _rarity(self, holders: int) -> float:
        """The inverse document frequency of a term that so many documents hold, positive."""
        frequency = max(1, holders) + 0.5
        return log(1 + (len(self) - frequency + 1) / frequency)


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
        words if meaning is None else words + SEMANTIC_FRACTION * (meaning - words)
        for words, meaning in zip(lexical, semantic, strict=True)
    ]


def weighted(query: Query) -> Mapping[str, float]:
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


def dampings_of(lengths: Iterable[float], pivot: float) -> list[float]:
    """How often a term has to stand in documents of these lengths to say half of what it can."""
    fixed = 1 - LENGTH_FRACTION
    return [SATURATION * (fixed + LENGTH_FRACTION * (length / pivot)) for length in lengths]


def alone(documents: Sequence[int], times: Sequence[int]) -> Iterable[tuple[int, float]]:
    """All documents by their own words."""
    return zip(documents, times, strict=True)
