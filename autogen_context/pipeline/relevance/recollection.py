"""Which messages of a conversation answer a question about it.

Promise: scores on the scale of ``relevance``, one for each message. An answer stands near what it answers, so messages
are judged with their surroundings; and who is asked about is heard first.
"""

from collections.abc import Sequence

from autogen_context.pipeline.relevance.authors import in_favour_of_named
from autogen_context.pipeline.relevance.lexical import LexicalIndex, fused, relatedness, smoothed


def recollected(
    index: LexicalIndex,
    query: str,
    *,
    authors: Sequence[str] = (),
    cosines: Sequence[float | None] = (),
) -> list[float]:
    """Score the messages of a conversation for a question.

    Args:
        index: n messages as documents, oldest first; with their dates and the names of their authors, where known.
        query: the question.
        authors: the author of each message, see ``authors_of``; or none, where nobody is known.
        cosines: of each message's vector with the query's, None where a message has none yet, it is taken at its words
            then; or none at all.

    Returns:
        n scores in 0..1. Take messages whole, best first, until the room is full.

    Source:
        docs/decisions/0007-relevance.md.
    """
    scores = index.scores(query, nearby=True)
    if cosines:
        scores = fused(scores, smoothed(by_meaning(index.scores(query), cosines)))
    return in_favour_of_named(scores, authors, query) if authors else scores


def by_meaning(lexical: Sequence[float], cosines: Sequence[float | None]) -> list[float]:
    """The semantic score of each message, or the one by its own words where it has no vector."""
    return [
        words if cosine is None else relatedness(cosine)
        for words, cosine in zip(lexical, cosines, strict=True)
    ]
