"""Search passages of texts: the words of a query, how rare they are, how near to each other, and what stands above a passage.

Promise: the same passages give the same order; scores are 0..1, and 0 without a common term. A passage is indexed once; a search costs
what the query's terms have of passages.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from autogen_context.language.terms import terms
from autogen_context.prioritizer.attention import LexicalIndex

TITLE_TIMES = 2  # weight of a word in the title, name or headings of a passage
LOOKED_AT = 200  # best passages by their words, of which the nearness of words is looked at
WINDOW_TERMS = 40  # terms that count as near each other: a few sentences
NEARNESS_FRACTION = 0.5  # of a score, by the part of the query that stands in one window
TEXT_FRACTION = 0.15  # of a score, by the best passages of the same text
BEST_OF_TEXT = 3  # passages


class PassageIndex:
    """An index of passages, in the order in which they are added; those of one text have the same ``text`` key."""

    def __init__(
        self,
        lengths: Sequence[int] = (),
        postings: Mapping[str, Sequence[int]] | None = None,
    ) -> None:
        self.words = LexicalIndex(lengths, postings, most_holders=None)

    def __len__(self) -> int:
        """Number of passages."""
        return len(self.words)

    def add(self, passage: str, *, titles: Iterable[str] = ()) -> None:
        """Append a passage with its titles: of its text, and the headings above it."""
        self.words.add("\n".join([*[each for each in titles for _ in range(TITLE_TIMES)], passage]))

    def scores(
        self,
        query: str,
        passages: Sequence[str],
        texts: Sequence[object] = (),
        titles: Sequence[str] = (),
    ) -> dict[int, float]:
        """Return scores above 0 by position.

        Args:
            query: a text, of which long ones count with their ends.
            passages: the n passages, as they are read where nearness matters.
            texts: for each of them the text that it is of; without them no passage counts for another.
            titles: for each of them what stands above it, near all of its words.
        """
        found = self.words.scores(query)
        best = sorted(found, key=lambda at: (-found[at], at))[:LOOKED_AT]
        weights = self.words.rarities(query)
        for at in best:
            above = terms(titles[at]) if titles else ()
            near = in_one_window(terms(passages[at]), weights, above)
            found[at] *= 1 + NEARNESS_FRACTION * (near - 1)
        for at in found.keys() - best:
            found[at] *= 1 - NEARNESS_FRACTION
        if texts:
            of_text = dict[object, list[int]]()
            for at in sorted(best, key=lambda at: (-found[at], at)):
                of_text.setdefault(texts[at], []).append(at)
            whole = {
                text: sum(found[at] for at in several[:BEST_OF_TEXT]) / BEST_OF_TEXT
                for text, several in of_text.items()
            }
            for at in found:
                found[at] += TEXT_FRACTION * (whole.get(texts[at], 0.0) - found[at])
        return found


def in_one_window(
    found: Sequence[str], weights: Mapping[str, float], above: Iterable[str] = ()
) -> float:
    """Return the greatest part of the weights whose terms stand within ``WINDOW_TERMS`` of each other, 0..1; those ``above`` always do."""
    places = [(at, term) for at, term in enumerate(found) if term in weights]
    inside = Counter({term: 1 for term in above if term in weights})
    weight, first = sum(weights[term] for term in inside), 0
    best = weight
    for at, term in places:
        weight += 0.0 if inside[term] else weights[term]
        inside[term] += 1
        while places[first][0] <= at - WINDOW_TERMS:
            gone = places[first][1]
            inside[gone] -= 1
            weight -= 0.0 if inside[gone] else weights[gone]
            first += 1
        best = max(best, weight)
    return best / (sum(weights.values()) or 1.0)
