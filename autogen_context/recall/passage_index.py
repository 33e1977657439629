"""Search originals for the passages that match a query.

Promise: each original is cut and indexed once; what it costs to add one does not depend on how many there are. Only
places are kept, no texts: what is deleted elsewhere cannot come back from here.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from autogen_context.prioritizer.relevance import LexicalIndex
from autogen_context.recall.original import Original, Stretch


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A stretch of an original."""

    handle: str
    stretch: Stretch


class PassageIndex:
    """Passages of originals that come one by one, by the words in them."""

    def __init__(self) -> None:
        self._words = LexicalIndex()
        self._passages: list[Passage] = []
        self._handles: set[str] = set()

    def __len__(self) -> int:
        """How many originals were added."""
        return len(self._handles)

    def __contains__(self, handle: str) -> bool:
        """Whether an original was added."""
        return handle in self._handles

    def add(self, original: Original) -> None:
        """Add an original."""
        for stretch in original.passages():
            self._passages.append(Passage(handle=original.handle, stretch=stretch))
            self._words.add(original.text(stretch))
        self._handles.add(original.handle)

    def found(self, query: str) -> Iterator[Passage]:
        """The passages that share a word with the query, best first; of equals the one that was added last."""
        scores = self._words.scores(query)
        matching = sorted(((score, at) for at, score in enumerate(scores) if score), reverse=True)
        return (self._passages[at] for _, at in matching)
