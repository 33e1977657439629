"""How related texts are to a query by their vectors: 0 for what has nothing to do with it, 1 for the same.

Promise: the scale is the same for every model and language, and a text's score depends on no other text of the user's. A cosine alone says
little: of unrelated texts it is 0.08 with all-MiniLM-L6-v2 if they are English and 0.39 if they are not, 0.7 with other models. So what counts
is how much nearer a text is to the query than sentences that have nothing to do with it: docs/decisions/0034-embeddings.md.
"""

import json
from collections.abc import Sequence
from functools import cache
from heapq import nlargest
from importlib.resources import files

from autogen_context.models.embedder import Vectors
from autogen_context.models.similarity import similarities

NEAREST_SENTENCES = (
    4  # of the unrelated ones, whose cosine with the query counts as that of unrelated texts
)


@cache
def unrelated() -> tuple[str, ...]:
    """Return sentences on nothing in particular, the same ones in several languages."""
    text = files("autogen_context.models").joinpath("unrelated.json").read_text("utf-8")
    languages: dict[str, list[str]] = json.loads(text)
    return tuple(sentence for sentences in languages.values() for sentence in sentences)


class Relatedness:
    """The scale of the vectors of one store.

    Args:
        vectors: the store.
    """

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors
        self._unrelated: Sequence[Sequence[float]] = ()

    async def prepare(self) -> None:
        """Have the unrelated sentences embedded, once; ``EmbeddingFailed`` if the model fails."""
        if not self._unrelated:
            self._unrelated = await self._vectors.vectors(unrelated())

    def scores(
        self, query: Sequence[float] | None, texts: Sequence[Sequence[float] | None]
    ) -> list[float | None]:
        """Return the relatedness of texts to a query, 0..1; ``None`` where a vector is missing, or the scale is not prepared."""
        known = [each for each in texts if each is not None]
        if query is None or not known or not self._is_prepared():
            return [None] * len(texts)
        nearest = nlargest(NEAREST_SENTENCES, similarities(query, self._unrelated))
        usual = min(sum(nearest) / len(nearest), 1 - 1e-6)
        found = (max(0.0, (each - usual) / (1 - usual)) for each in similarities(query, known))
        return [None if each is None else min(1.0, next(found)) for each in texts]

    def _is_prepared(self) -> bool:
        if not self._unrelated:
            ready = [self._vectors.ready(sentence) for sentence in unrelated()]
            self._unrelated = [each for each in ready if each] if all(ready) else ()
        return bool(self._unrelated)
