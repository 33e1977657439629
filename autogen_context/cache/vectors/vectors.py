"""The vectors of texts: computed once per content, and there at once when a turn asks.

Promise: ``ready`` never waits, and neither computes nor reads anything. What is asked for twice at a time is computed
once. A model that fails leaves no trace but ``EmbeddingFailed``. Nothing runs in the background outside of
``async with``.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Self

from autogen_context.cache.vectors.file import VectorFile
from autogen_context.cache.vectors.warming import Warming
from autogen_context.errors import EmbeddingFailed
from autogen_context.models.embedder import Embedder
from autogen_context.models.similarity import unit_vector

_BATCH_TEXTS = (
    256  # what is done is kept when the rest fails, and a store in use elsewhere does its part
)


class VectorStore:
    """Vectors by content: the last used in memory, and all on disk where there is a folder.

    Each has length 1, so that the product of two is their cosine. A store belongs to one event loop; ``ready`` and
    ``warm`` may be called from any thread.

    Args:
        embedder: the model; its name is part of every key.
        directory: keeps vectors for later processes; made for its owner alone. Vectors tell something of their texts:
            treat the folder as you treat the conversations.
        entries: vectors in memory, the last used; as many as shall be ready together. One of 384 numbers has 1.5 kB.

    Raises:
        ValueError: ``entries`` is not positive, or ``directory`` is something else than a folder.
    """

    def __init__(
        self, embedder: Embedder, *, directory: str | Path | None = None, entries: int = 500
    ) -> None:
        if entries < 1:
            raise ValueError(f"entries={entries}: give a positive number of vectors")
        self._embedder = embedder
        self._file = None if directory is None else VectorFile(Path(directory))
        self._memory = _Memory(entries)
        self._flights: dict[str, _Flight] = {}
        self._dimensions: int | None = None
        self._warming: Warming | None = None

    def ready(self, text: str) -> Sequence[float] | None:
        """The vector of a text where it is in memory, else None."""
        return self._memory.get(self._key(text))

    async def vectors(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """The vector of each text, in order; what is neither in memory nor on disk is computed, in batches.

        Raises:
            EmbeddingFailed: the model gave no vectors, or none that can be used; the batches before are kept.
        """
        keys = [self._key(text) for text in texts]
        wanted = dict(zip(keys, texts, strict=True))
        found: dict[str, Sequence[float]] = {}
        while missing := self._missing(wanted, found):
            found |= await self._some_of(missing)
        return [found[key] for key in keys]

    def warm(self, texts: Iterable[str]) -> None:
        """Have vectors made ready in the background, within ``async with``; outside of it nothing happens.

        What a full queue does not take is left out, and so is what waits when the model fails: name it again later.
        """
        if self._warming is not None:
            self._warming.add(text for text in texts if self._key(text) not in self._memory)

    async def __aenter__(self) -> Self:
        """Begin to make ready what ``warm`` is given.

        Raises:
            RuntimeError: it has begun already.
        """
        if self._warming is not None:
            raise RuntimeError("the store has an owner already; make another, with the same folder")
        self._warming = Warming(self.vectors)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop doing so; what waits is left out."""
        warming, self._warming = self._warming, None
        if warming is not None:
            await warming.stop()

    def _key(self, text: str) -> str:
        name = self._embedder.name
        content = f"{len(name)} {name} {text}".encode("utf-8", "surrogatepass")
        return blake2b(content, digest_size=16).hexdigest()

    def _missing(
        self, wanted: Mapping[str, str], found: dict[str, Sequence[float]]
    ) -> dict[str, str]:
        """What is not found so far; what is in memory now is found."""
        for key in wanted:
            if key not in found and (vector := self._memory.get(key)):
                found[key] = vector
        return {key: text for key, text in wanted.items() if key not in found}

    async def _some_of(self, missing: Mapping[str, str]) -> Mapping[str, Sequence[float]]:
        """A batch of what is missing, got here, or by a caller who is at it already."""
        free = [key for key in missing if key not in self._flights]
        if not free:
            return await self._flights[next(iter(missing))].landed()
        flight, batch = _Flight(), {key: missing[key] for key in free[:_BATCH_TEXTS]}
        self._flights |= dict.fromkeys(batch, flight)
        try:
            flight.vectors = await self._got(batch)
        except EmbeddingFailed as error:
            flight.error = error
            raise
        finally:
            for key in batch:
                del self._flights[key]
            flight.over.set()
        return flight.vectors

    async def _got(self, texts: Mapping[str, str]) -> Mapping[str, Sequence[float]]:
        """Vectors by key, from disk or from the model."""
        stored = await asyncio.to_thread(self._file.read, list(texts)) if self._file else {}
        found = {key: vector for key, vector in stored.items() if self._fits(vector)}
        self._memory.put(found)
        if missing := {key: text for key, text in texts.items() if key not in found}:
            computed = dict(zip(missing, await self._computed(list(missing.values())), strict=True))
            self._memory.put(computed)
            if self._file:
                await asyncio.to_thread(self._file.write, computed)
            found |= computed
        return found

    async def _computed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """What the model gives, once it is known to be vectors of one kind.

        Raises:
            EmbeddingFailed: it fails, or gives something else.
        """
        try:
            vectors = [unit_vector(row) for row in await self._embedder.embed(texts)]
        except EmbeddingFailed:
            raise
        except Exception as error:  # the model may be anybody's, and fail in any way
            raise EmbeddingFailed(self._embedder.name, reason=type(error).__name__) from error
        if len(vectors) != len(texts):
            reason = f"{len(vectors)} vectors for {len(texts)} texts"
            raise EmbeddingFailed(self._embedder.name, reason=reason)
        if wrong := next((len(vector) for vector in vectors if not self._fits(vector)), None):
            reason = f"a vector of {wrong} numbers after one of {self._dimensions}; a model that changes needs a new name"
            raise EmbeddingFailed(self._embedder.name, reason=reason)
        return vectors

    def _fits(self, vector: Sequence[float]) -> bool:
        """Whether a vector is as long as all others; the first one decides."""
        self._dimensions = self._dimensions or len(vector)
        return len(vector) == self._dimensions


@dataclass(slots=True)
class _Flight:
    """A batch on its way, for all who wait for it.

    Attributes:
        vectors: by key; none where the caller who was at it gave up.
    """

    over: asyncio.Event = field(default_factory=asyncio.Event)
    vectors: Mapping[str, Sequence[float]] = field(default_factory=dict[str, Sequence[float]])
    error: EmbeddingFailed | None = None

    async def landed(self) -> Mapping[str, Sequence[float]]:
        await self.over.wait()
        if self.error is not None:
            raise self.error
        return self.vectors


class _Memory:
    """The vectors that were used last, for any thread."""

    def __init__(self, entries: int) -> None:
        self._entries = entries
        self._vectors: OrderedDict[str, Sequence[float]] = OrderedDict()
        self._lock = Lock()

    def __contains__(self, key: str) -> bool:
        return key in self._vectors

    def get(self, key: str) -> Sequence[float] | None:
        with self._lock:
            vector = self._vectors.get(key)
            if vector is not None:
                self._vectors.move_to_end(key)
            return vector

    def put(self, vectors: Mapping[str, Sequence[float]]) -> None:
        with self._lock:
            for key, vector in vectors.items():
                self._vectors[key] = vector
                self._vectors.move_to_end(key)
            while len(self._vectors) > self._entries:
                self._vectors.popitem(last=False)
