"""The embedding vectors of texts, computed once per content and available in memory when a turn needs them.

Promise: ``ready`` never waits, computes or reads from disk. Concurrent requests of an event loop for the same text share one
computation. A failing model has no effect but ``EmbeddingFailed``.
"""

import asyncio
from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from weakref import WeakKeyDictionary

from autogen_context.cache.tier import Memory
from autogen_context.cache.values import Cache, Guarded
from autogen_context.errors import EmbeddingFailed
from autogen_context.messages.message import content_digest
from autogen_context.models.embedder import Embedder
from autogen_context.models.similarity import unit_vector

Vectors = Mapping[str, Sequence[float]]
Flights = dict[str, asyncio.Future[Vectors]]

_KIND = "embedding"  # the kind in the cache
_FLOAT_BYTES = 4
_LENGTH_IS_1 = 1e-3  # tolerance for four-byte floats
_BATCH_TEXTS = 64  # finished batches survive a later failure, and a turn can run between batches


class VectorStore:
    """Vectors by content: an LRU cache in memory, and all vectors in a cache if one is given.

    Each vector has length 1, so that the dot product of two is their cosine similarity. Conversations in any number of event
    loops and threads may share a store.

    Args:
        embedder: the model; its name is part of every key.
        cache: stores vectors for other conversations and later processes, such as a ``ContextCache`` with a folder; default:
            the manager's cache. Vectors reveal something about their texts: protect the folder like the conversations.
        entries: how many vectors stay in memory; at least as many as must be ready together. 384 numbers take 1.5 kB.

    Raises:
        ValueError: ``entries`` is not positive, or ``cache`` is not a cache.
    """

    def __init__(
        self, embedder: Embedder, *, cache: Cache | None = None, entries: int = 500
    ) -> None:
        if entries < 1:
            raise ValueError(f"entries={entries}: give a positive number of vectors")
        if cache is not None and not hasattr(cache, "remembered"):
            raise ValueError(f"cache={cache!r:.80}: give a ContextCache")
        self._embedder = embedder
        self._cache = None if cache is None else Guarded(cache)
        self._memory = Memory[Sequence[float]](entries=entries)
        # By event loop, since no loop can wait for another's.
        self._flights = WeakKeyDictionary[asyncio.AbstractEventLoop, Flights]()
        self._dimensions: int | None = None

    def keep_in(self, cache: Cache) -> None:
        """Store vectors in this cache as well, unless the store already has one."""
        self._cache = self._cache or Guarded(cache)

    def ready(self, text: str) -> Sequence[float] | None:
        """Return the vector of a text if it is in memory, else ``None``."""
        return self._memory.use(self._key(text))

    def forget(self, texts: Iterable[str]) -> None:
        """Delete the vectors of these texts, wherever they are kept."""
        keys = [self._key(text) for text in texts]
        self._memory.forget(keys)
        if self._cache is not None:
            self._cache.forget(_KIND, keys)

    async def vectors(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """Return the vector of each text, in order; those neither in memory nor in the cache are computed in batches.

        Raises:
            EmbeddingFailed: the model returned no vectors or unusable ones; earlier batches stay stored.
        """
        keys = [self._key(text) for text in texts]
        missing = dict(zip(keys, texts, strict=True))
        found: dict[str, Sequence[float]] = {}
        while missing:
            for key in list(missing):
                if vector := found.get(key) or self._memory.use(key):
                    found[key] = vector
                    del missing[key]
            if missing:
                found |= await self._some_of(missing)
        return [found[key] for key in keys]

    def _key(self, text: str) -> str:
        return content_digest(self._embedder.name, text).hex()

    async def _some_of(self, missing: Mapping[str, str]) -> Vectors:
        """Load or compute a batch, or wait for another caller's; may be empty if that caller was cancelled."""
        loop = asyncio.get_running_loop()
        flights = self._flights.setdefault(loop, {})
        free = [key for key in missing if key not in flights]
        if not free:
            return await asyncio.shield(flights[next(iter(missing))])
        batch = {key: missing[key] for key in free[:_BATCH_TEXTS]}
        flight = loop.create_future()
        flights |= dict.fromkeys(batch, flight)
        found: dict[str, Sequence[float]] = {}
        try:
            found |= await self._kept(batch)
            if texts := {key: text for key, text in batch.items() if key not in found}:
                computed = await self._computed(list(texts.values()))
                for key, vector in zip(texts, computed, strict=True):
                    found[key] = vector
                    if self._cache is not None:
                        self._cache.remember(_KIND, key, array("f", vector).tobytes())
            for key, vector in found.items():
                self._memory.put(key, vector)
        except EmbeddingFailed as error:
            flight.set_exception(error)
            flight.exception()  # mark it as retrieved, even if no one else waits
            raise
        finally:
            for key in batch:
                del flights[key]
            if not flight.done():
                flight.set_result(found)
        return found

    async def _kept(self, keys: Collection[str]) -> Vectors:
        """Return the cached vectors of these keys, ignoring invalid data, since the cache is not trusted."""
        found: dict[str, Sequence[float]] = {}
        if self._cache is None:
            return found
        await self._cache.warm(_KIND, keys)
        for key in keys:
            data = self._cache.remembered(_KIND, key)
            if isinstance(data, bytes) and data and not len(data) % _FLOAT_BYTES:
                vector = memoryview(data).cast("f")
                length = sum(number * number for number in vector)
                if abs(length - 1) < _LENGTH_IS_1 and self._fits(vector):
                    found[key] = vector
        return found

    async def _computed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Compute vectors. Raise ``EmbeddingFailed`` if the model fails or their number or dimension is wrong."""
        name = self._embedder.name
        try:
            vectors = [unit_vector(row) for row in await self._embedder.embed(texts)]
        except EmbeddingFailed:
            raise
        except Exception as error:  # a custom model may raise anything
            raise EmbeddingFailed(name, reason=type(error).__name__) from error
        if len(vectors) != len(texts):
            raise EmbeddingFailed(name, reason=f"{len(vectors)} vectors for {len(texts)} texts")
        if wrong := next((len(vector) for vector in vectors if not self._fits(vector)), None):
            reason = f"a vector of {wrong} numbers after one of {self._dimensions}; a model that changes needs a new name"
            raise EmbeddingFailed(name, reason=reason)
        return vectors

    def _fits(self, vector: Sequence[float]) -> bool:
        """Return True if a vector has as many numbers as the first one seen."""
        self._dimensions = self._dimensions or len(vector)
        return len(vector) == self._dimensions
