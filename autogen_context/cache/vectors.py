"""The vectors of texts: computed once per content, and there at once when a turn asks.

Promise: ``ready`` never waits, computes or reads. What is asked for twice at a time is computed once. A model that fails
leaves no trace but ``EmbeddingFailed``. Nothing runs in the background outside of ``async with``.
"""

import asyncio
import logging
from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Self

from autogen_context.cache.tier import Memory
from autogen_context.cache.values import Cache, Guarded
from autogen_context.errors import ContextError, EmbeddingFailed
from autogen_context.messages.message import content_digest
from autogen_context.models.embedder import Embedder
from autogen_context.models.similarity import unit_vector

Vectors = Mapping[str, Sequence[float]]

_LOGGER = logging.getLogger(__name__)
_KIND = "embedding"  # in the cache
_FLOAT_BYTES = 4
_LENGTH_IS_1 = 1e-3  # within this, as the numbers have four bytes each
_BATCH_TEXTS = 64  # what is done is kept when the rest fails; between batches a turn has its chance
_WAITING_TEXTS = 4_096


class VectorStore:
    """Vectors by content: the last used in memory, and all in a cache where there is one.

    Each has length 1, so that the product of two is their cosine. A store belongs to one event loop; ``ready`` and
    ``warm`` may be called from any thread.

    Args:
        embedder: the model; its name is part of every key.
        cache: keeps vectors for other conversations and later processes, such as a ``ContextCache`` with a folder; left out,
            that of the manager. Vectors tell something of their texts: treat the folder as you treat the conversations.
        entries: vectors in memory, the last used; as many as shall be ready together. One of 384 numbers has 1.5 kB.

    Raises:
        ValueError: ``entries`` is not positive, or ``cache`` is none.
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
        self._flights: dict[str, asyncio.Future[Vectors]] = {}
        self._dimensions: int | None = None
        self._waiting: dict[str, None] = {}  # what is to be made ready; of any thread
        self._due = asyncio.Event()
        self._warming: tuple[asyncio.AbstractEventLoop, asyncio.Task[None]] | None = None

    def keep_in(self, cache: Cache) -> None:
        """Have vectors kept in a cache as well, unless this store has one."""
        self._cache = self._cache or Guarded(cache)

    def ready(self, text: str) -> Sequence[float] | None:
        """The vector of a text where it is in memory, else None."""
        return self._memory.use(self._key(text))

    async def vectors(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """The vector of each text, in order; what is neither in memory nor on disk is computed, in batches.

        Raises:
            EmbeddingFailed: the model gave no vectors, or none that can be used; the batches before are kept.
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

    def warm(self, texts: Iterable[str]) -> None:
        """Have vectors made ready in the background, within ``async with``; outside of it nothing happens.

        What a full queue does not take is left out, and so is what waits when the model fails: name it again later.
        """
        if self._warming is None:
            return
        loop, _ = self._warming
        for text in texts:
            if len(self._waiting) < _WAITING_TEXTS and self._key(text) not in self._memory:
                self._waiting[text] = None
        with suppress(RuntimeError):  # the loop is closed: nothing is prepared any more
            loop.call_soon_threadsafe(self._due.set)

    async def __aenter__(self) -> Self:
        """Begin to make ready what ``warm`` is given; ``RuntimeError`` if it has begun already."""
        if self._warming is not None:
            raise RuntimeError("the store has an owner already; make another, with the same folder")
        task = asyncio.create_task(self._warm(), name="warming")
        self._warming = asyncio.get_running_loop(), task
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop doing so; what waits is left out."""
        warming, self._warming = self._warming, None
        self._waiting.clear()
        if warming is not None:
            warming[1].cancel()
            await asyncio.wait({warming[1]})

    def _key(self, text: str) -> str:
        return content_digest(self._embedder.name, text).hex()

    async def _some_of(self, missing: Mapping[str, str]) -> Vectors:
        """A batch of what is missing, got here, or by a caller who is at it already; nothing if he gave up."""
        free = [key for key in missing if key not in self._flights]
        if not free:
            return await asyncio.shield(self._flights[next(iter(missing))])
        batch = {key: missing[key] for key in free[:_BATCH_TEXTS]}
        flight = asyncio.get_running_loop().create_future()
        self._flights |= dict.fromkeys(batch, flight)
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
            flight.exception()  # it is told here, whether others wait or not
            raise
        finally:
            for key in batch:
                del self._flights[key]
            if not flight.done():
                flight.set_result(found)
        return found

    async def _kept(self, keys: Collection[str]) -> Vectors:
        """What the cache has of these; whoever keeps it may be lying."""
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
        """What the model gives, once it is known to be vectors of one kind; ``EmbeddingFailed`` otherwise."""
        name = self._embedder.name
        try:
            vectors = [unit_vector(row) for row in await self._embedder.embed(texts)]
        except EmbeddingFailed:
            raise
        except Exception as error:  # the model may be anybody's, and fail in any way
            raise EmbeddingFailed(name, reason=type(error).__name__) from error
        if len(vectors) != len(texts):
            raise EmbeddingFailed(name, reason=f"{len(vectors)} vectors for {len(texts)} texts")
        if wrong := next((len(vector) for vector in vectors if not self._fits(vector)), None):
            reason = f"a vector of {wrong} numbers after one of {self._dimensions}; a model that changes needs a new name"
            raise EmbeddingFailed(name, reason=reason)
        return vectors

    def _fits(self, vector: Sequence[float]) -> bool:
        """Whether a vector is as long as all others; the first one decides."""
        self._dimensions = self._dimensions or len(vector)
        return len(vector) == self._dimensions

    async def _warm(self) -> None:
        while await self._due.wait():
            self._due.clear()
            while batch := list(self._waiting)[:_BATCH_TEXTS]:
                for text in batch:
                    del self._waiting[text]
                try:
                    await self.vectors(batch)
                except ContextError as error:
                    left = len(batch) + len(self._waiting)
                    self._waiting.clear()
                    message = "warming failed (%s); what waits is left out"
                    _LOGGER.warning(message, type(error).__name__, extra={"left_out": left})
