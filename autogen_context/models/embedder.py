"""The seams to embedding models: what turns texts into vectors, and what keeps these at hand."""

from collections.abc import Iterable, Sequence
from typing import Protocol


class Embedder(Protocol):
    """What the package asks of an embedding model."""

    @property
    def name(self) -> str:
        """The model's name; vectors of different names are never compared or mixed."""
        ...

    async def embed(self, texts: Sequence[str], /) -> Sequence[Sequence[float]]:
        """Give one vector of finite numbers per text, in order, all of one length."""
        ...


class Vectors(Protocol):
    """What the package asks of a store of vectors; each has length 1, all have one dimension."""

    def ready(self, text: str) -> Sequence[float] | None:
        """The vector of a text where it is at hand, without any wait; else None."""
        ...

    async def vectors(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """The vector of each text, in order.

        Raises:
            EmbeddingFailed: the model gives none.
        """
        ...


class WarmVectors(Vectors, Protocol):
    """A store of vectors that can be told what will be needed."""

    def warm(self, texts: Iterable[str]) -> None:
        """Have vectors made ready in the background; never waits."""
        ...
