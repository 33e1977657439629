"""Have vectors at hand before a turn asks for them.

Promise: a question is waited for within a time limit; what was said before is embedded in the background, each message
once; and a model that fails or is slow changes nothing but that words alone count.
"""

import asyncio
import logging
from collections.abc import Sequence

from autogen_context.errors import EmbeddingFailed
from autogen_context.messages.message import Message, joined_text
from autogen_context.messages.prefix import same_at_front
from autogen_context.models.embedder import WarmVectors
from autogen_context.models.similarity import similarities
from autogen_context.recall.exchange import is_of_a_person

logger = logging.getLogger(__name__)


class Ahead:
    """Vectors of one conversation.

    Args:
        vectors: keeps them at hand.
    """

    def __init__(self, vectors: WarmVectors) -> None:
        self._vectors = vectors
        self._warmed: list[Message] = []

    async def embed(self, messages: Sequence[Message], *, timeout_s: float) -> None:
        """Embed the newest message if a person asks in it, and have the others embedded.

        Args:
            messages: the whole conversation.
            timeout_s: how long this may take, in seconds.
        """
        new = messages[same_at_front(self._warmed, messages) :]
        self._warmed = list(messages)
        self._vectors.warm(text for message in new if (text := joined_text([message])))
        newest = messages[-1] if messages else None
        if newest is None or not newest.text or not is_of_a_person(newest):
            return
        try:
            async with asyncio.timeout(timeout_s):
                await self._vectors.vectors([newest.text])
        except (EmbeddingFailed, TimeoutError) as error:
            logger.warning("a question was not embedded", extra={"error": type(error).__name__})

    def cosines(self, query: str, texts: Sequence[str]) -> Sequence[float | None]:
        """The cosine of each text with a query, None where a text has no vector yet; nothing where the query has none."""
        wanted = self._vectors.ready(query)
        if wanted is None:
            return ()
        ready = {i: v for i, text in enumerate(texts) if (v := self._vectors.ready(text))}
        found = dict(zip(ready, similarities(wanted, list(ready.values())), strict=True))
        return [found.get(i) for i in range(len(texts))]
