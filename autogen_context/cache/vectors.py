"""The embedding vectors of texts, computed once per content and available in memory when a turn needs them.

Promise: ``ready`` never waits, computes or reads from disk. Concurrent requests of an event loop for the same text share one
computation. A failing model has no effect but ``EmbeddingFailed``. What is forgotten is kept nowhere, even if it was being computed.
"""

import asyncio
from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from threading import RLock
from weakref import WeakKeyDictionary

from autogen_context.cache.tier import Memory
from autogen_context.cache.values import Cache, Guarded
from autogen_context.errors import EmbeddingFailed
from autogen_context.forks import when_forked
from autogen_context.messages.message import content_digest
from autogen_context.models.embedder import Embedder
from autogen_context.models.similarity import unit_vector

Vectors = Mapping[str, Sequence[float]]

_KIND = "embedding"  # the kind in the cache
_FLOAT_BYTES = 4
_LENGTH_IS_1 = 1e-3  # tolerance for four-byte floats
_BATCH_TEXTS = 64  # finished batches survive a later failure, and a turn can run between batches


class _Flight:
    """A batch that is being loaded or computed, and which of its keys were forgotten meanwhile."""

    def __init__(self, done: asyncio.Future[Vectors]) -> None:
        self.done = done
        self.unwanted: set[str] = set()


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
        self._flights = WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, _Flight]]()
        self._dimensions: int | None = None  # of what the model computed
        self._supposed: int | None = None  # of what the cache has; it is not trusted
        self._begin_anew()
        when_forked(self._begin_anew)

    def _begin_anew(self) -> None:
        self._lock = RLock()  # of flights and dimensions, and of what is kept by them

    def keep_in(self, cache: Cache) -> None:
        """Store vectors in this cache as well, unless the store already has one."""
        self._cache = self._cache or Guarded(cache)

    def ready(self, text: str) -> Sequence[float] | None:
        """Return the vector of a text if it is in memory, else ``None``."""
        return self._memory.use(self._key(text))

    def forget(self, texts: Iterable[str]) -> None:
        """Delete the vectors of these texts, wherever they are kept; those being computed are given to who waits, and not kept."""
        keys = [self._key(text) for text in texts]
        with self._lock:
            for flights in self._flights.values():
                for key in flights.keys() & keys:
                    flights[key].unwanted.add(key)
            self._memory.forget(keys)
            if self._cache is not None:
                self._cache.forget(_KIND, keys)

    async def vectors(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """Return the vector of each text, in order; those neither in memory nor in the cache are computed in batches.

        Raises:
            EmbeddingFailed: the model returned no vectors or unusable ones; earlier batches stay stored.
        """
        keys = [self._key(text) for text in texts]
        missing = wanted = dict(zip(keys, texts, strict=True))
        found: dict[str, Sequence[float]] = {}
        while missing:
            found |= {key: vector for key in missing if (vector := self._memory.use(key))}
            if missing := {key: text for key, text in missing.items() if key not in found}:
                found |= await self._some_of(missing)
            # What the cache had may turn out to be wrong when the model has said how many numbers are right.
            found = {key: vector for key, vector in found.items() if self._fits(vector)}
            missing = {key: text for key, text in wanted.items() if key not in found}
        return [found[key] for key in keys]

    def _key(self, text: str) -> str:
        return content_digest(self._embedder.name, text).hex()

    async def _some_of(self, missing: Mapping[str, str]) -> Vectors:
        """Load or compute a batch, or wait for another caller's; may be empty if that caller was cancelled."""
        loop = asyncio.get_running_loop()
        with self._lock:
            flights = self._flights.setdefault(loop, {})
            free = [key for key in missing if key not in flights][:_BATCH_TEXTS]
            batch = {key: missing[key] for key in free}
            flight = _Flight(loop.create_future()) if batch else flights[next(iter(missing))]
            flights |= dict.fromkeys(batch, flight)
        if not batch:
            return await asyncio.shield(flight.done)
        found: Vectors = {}
        try:
            kept = await self._kept(batch)
            computed = await self._computed({k: t for k, t in batch.items() if k not in kept})
            found = self._stored(flight, kept, computed)
        except EmbeddingFailed as error:
            flight.done.set_exception(error)
            flight.done.exception()  # mark it as retrieved, even if no one else waits
            raise
        finally:
            with self._lock:
                for key in batch:
                    del flights[key]
            if not flight.done.done():
                flight.done.set_result(found)
        return found

    def _stored(self, flight: _Flight, kept: Vectors, computed: Vectors) -> Vectors:
        """Keep what was loaded and computed, except what was forgotten meanwhile. Returns all that fits."""
        with self._lock:
            found = {key: vector for key, vector in kept.items() if self._fits(vector)}
            found |= computed
            for key, vector in found.items():
                if key not in flight.unwanted:
                    self._memory.put(key, vector)
                    if self._cache is not None and key in computed:
                        self._cache.remember(_KIND, key, array("f", vector).tobytes())
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
                if abs(length - 1) < _LENGTH_IS_1:
                    found[key] = vector
        return self._believed(found)

    def _believed(self, found: Vectors) -> Vectors:
        """Return those of the dimension that the model has; before it is known, all if none differs from the rest."""
        with self._lock:
            if self._dimensions is not None:
                return {key: vector for key, vector in found.items() if self._fits(vector)}
            dimensions = {len(vector) for vector in found.values()}
            dimensions |= {self._supposed} if self._supposed else set()
            if len(dimensions) > 1:
                return {}  # only the model says which are wrong
            self._supposed = next(iter(dimensions), None)
            return found

    async def _computed(self, texts: Mapping[str, str]) -> Vectors:
        """Compute vectors by key. Raise ``EmbeddingFailed`` if the model fails or their number or dimension is wrong."""
        if not texts:
            return {}
        name = self._embedder.name
        try:
            vectors = [unit_vector(row) for row in await self._embedder.embed([*texts.values()])]
        except EmbeddingFailed:
            raise
        except Exception as error:  # a custom model may raise anything
            raise EmbeddingFailed(name, reason=type(error).__name__) from error
        if len(vectors) != len(texts):
            raise EmbeddingFailed(name, reason=f"{len(vectors)} vectors for {len(texts)} texts")
        with self._lock:
            right = self._dimensions or len(vectors[0])
            if wrong := next((len(vector) for vector in vectors if len(vector) != right), None):
                reason = f"a vector of {wrong} numbers after one of {right}; a model that changes needs a new name"
                raise EmbeddingFailed(name, reason=reason)
            if self._dimensions is None:
                self._dimensions = right
                self._memory.forget_where(lambda vector: len(vector) != right)
        return dict(zip(texts, vectors, strict=True))

    def _fits(self, vector: Sequence[float]) -> bool:
        """Return True if a vector has as many numbers as those that the model computed; none are known before."""
        return self._dimensions is None or len(vector) == self._dimensions
