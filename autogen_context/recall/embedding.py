"""The vectors of a conversation, computed ahead of the turn that needs them.

Promise: a turn waits for the vector of its question alone, within a time limit; texts without a vector are scored by their words.
"""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from autogen_context.errors import EmbeddingFailed
from autogen_context.messages.message import Message, joined_text
from autogen_context.messages.origin import is_users
from autogen_context.models.background import Background
from autogen_context.models.embedder import Vectors
from autogen_context.models.relatedness import Relatedness
from autogen_context.view.decision import Candidate

logger = logging.getLogger(__name__)

AT_A_TIME = 64  # texts embedded in the background


class EmbeddingsDue(NamedTuple):
    """Texts to embed: what a person said last, or empty, and all that is new."""

    question: str
    texts: Sequence[str]


class VectorPrefetch:
    """Computes the vectors of a conversation before a turn needs them; texts without a vector are scored lexically."""

    def __init__(self, vectors: Vectors, background: Background) -> None:
        self._vectors, self._background = vectors, background
        self._related = Relatedness(vectors)
        self._units = 0
        self._new: list[tuple[int, str]] = []  # texts that were not due yet, each with its unit

    def add(self, at: int, candidate: Candidate) -> None:
        """Read the next unit; another system prompt is not searched."""
        if at == self._units:
            self._units += 1
            texts = (joined_text([message]) for message in candidate.unit.messages)
            self._new += [(at, text) for text in texts if text]

    def truncate(self, units: int) -> int:
        """Forget all units after the first ones."""
        self._units, self._new = units, [each for each in self._new if each[0] < units]
        return units

    def due(self, newest: Message | None = None) -> "EmbeddingsDue":
        """Return the texts to embed that were read since the last call; ``newest`` is the last message."""
        texts, self._new = tuple([text for _, text in self._new]), []
        return EmbeddingsDue(newest.text if newest and is_users(newest) else "", texts)

    async def embed(self, due: "EmbeddingsDue", *, timeout_s: float) -> None:
        """Embed the newest message, if a user wrote it, within a time limit; embed the others in the background."""
        if due.question:
            try:
                async with asyncio.timeout(timeout_s):
                    await self._embedded([due.question])
            except TimeoutError:
                logger.warning("a question was not embedded in time")
        if due.texts:
            self._background.start(self._embedded_later(due.texts), name="embedding")

    async def _embedded_later(self, texts: Sequence[str]) -> None:
        """Compute vectors that no turn waits for, and before them the scale of all."""
        with suppress(EmbeddingFailed):  # which the texts tell
            await self._related.prepare()
        await self._embedded(texts)

    async def _embedded(self, texts: Sequence[str]) -> None:
        """Compute vectors, some at a time, so that a turn can run in between; a failure ends it."""
        try:
            for at in range(0, len(texts), AT_A_TIME):
                await self._vectors.vectors(texts[at : at + AT_A_TIME])
        except EmbeddingFailed as error:
            numbers = {"error": type(error).__name__, "texts": len(texts)}
            logger.warning("texts were not embedded", extra=numbers)

    def meanings(self, query: str, texts: Sequence[str]) -> Sequence[float | None]:
        """Return how related each text is to a query, 0..1, None for one without a vector; empty if the query has none."""
        wanted = self._vectors.ready(query)
        if wanted is None:
            return ()
        return self._related.scores(wanted, [self._vectors.ready(text) for text in texts])
