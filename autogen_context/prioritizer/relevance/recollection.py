"""Which messages of a conversation answer a question about it.

Promise: scores on the scale of ``relevance``, one for each message. An answer stands near what it answers, so messages
are judged with their surroundings; and who is asked about is heard first.
"""

from collections.abc import Sequence

from autogen_context.prioritizer.relevance.authors import in_favour_of_named
from autogen_context.prioritizer.relevance.lexical import LexicalIndex, fused, relatedness
from autogen_context.prioritizer.relevance.surroundings import means_around


def recollected(
    index: LexicalIndex,
    query: str,
    *,
    authors: Sequence[str] = (),
    cosines: Sequence[float | None] = (),
    among: Sequence[int] | None = None,
) -> list[float]:
    """Score the messages of a conversation for a question.

    Args:
        index: n messages as documents, oldest first; with their dates and the names of their authors, where known.
        query: the question.
        authors: the author of each message, see ``authors_of``; or none, where nobody is known.
        cosines: of each message's vector with the query's, None where a message has none yet, it is taken at its words
            then; or none at all.
        among: positions of the messages that are judged, ascending; left out, all.

    Returns:
        n scores in 0..1, 0 for what is not judged. Take messages whole, best first, until the room is full.

    Source:
        docs/decisions/0007-relevance.md.
    """
    judged = range(len(index)) if among is None else among
    found = index.scores_nearby(query, judged)
    if cosines:
        found = fused(found, means_around(judged, by_meaning(index.scores(query), cosines)))
    scores = [0.0] * len(index)
    for position, score in zip(judged, found, strict=True):
        scores[position] = score
    return in_favour_of_named(scores, authors, query) if authors else scores


def by_meaning(lexical: Sequence[float], cosines: Sequence[float | None]) -> list[float]:
    """The semantic score of each message, or the one by its own words where it has no vector."""
    return [
        words if cosine is None else relatedness(cosine)
        for words, cosine in zip(lexical, cosines, strict=True)
    ]
