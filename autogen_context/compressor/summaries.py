"""What a model made of the older part of a conversation, ahead of need.

Promise: each span is asked for once, also by those who share a cache, and once more where that was cut off or the model was left alone; a summary that a
model did not make, or that is not far smaller than its span, is not kept. The work is done in the background and ends with
its owner; a turn takes what is there, and waits only where it was told how long. Cancellation passes through. Each turn may
have an event loop of its own.
"""

import asyncio
from collections.abc import Iterable, Mapping
from math import ceil

from autogen_context.cache.values import Cache
from autogen_context.compressor.compressor import SemanticCompressor
from autogen_context.compressor.span import Span
from autogen_context.compressor.summarizer import Summarize, SummarizerPaused
from autogen_context.models.background import is_cut_off
from autogen_context.tokens.measure import TokenCounter

KIND = "summary"  # in the cache
SUMMARY_FRACTION = 0.1  # of a span's tokens, for its summary


class Summaries:
    """The summaries of one conversation.

    Args:
        counter: counts them.
        summarizer: asks a model; without one no summary is made.
        known: summaries of a saved state, by the key of their span.
        cache: keeps summaries for other conversations, and for later processes.

    Attributes:
        known: the summaries so far, by the key of their span.
    """

    def __init__(
        self,
        counter: TokenCounter,
        summarizer: Summarize | None,
        known: Mapping[str, str],
        cache: Cache | None = None,
    ) -> None:
        noted = None if summarizer is None else self._noting_pauses(summarizer)
        self._compressor = SemanticCompressor(counter=counter, summarizer=noted)
        self.known = dict(known)
        self._counter = counter
        self._cache = cache
        self._asked: dict[str, asyncio.Task[None]] = {}
        self._paused: set[asyncio.Task[object] | None] = set()  # in which no model was asked

    async def make(self, spans: Iterable[Span], *, timeout_s: float) -> None:
        """Have spans summarised.

        Args:
            spans: those that were asked for before are not asked for again.
            timeout_s: how long to wait for them, in seconds; 0: not at all.
        """
        tasks = [self._task(span) for span in spans if span.key not in self.known]
        due = [task for task in tasks if not task.done()]
        if due and timeout_s:
            await asyncio.wait(due, timeout=timeout_s)

    async def aclose(self) -> None:
        """End what is still under way."""
        here = asyncio.get_running_loop()
        tasks = [task for task in self._asked.values() if task.get_loop() is here]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _task(self, span: Span) -> asyncio.Task[None]:
        asked = self._asked.get(span.key)
        if asked is None or is_cut_off(asked):
            asked = asyncio.create_task(self._summarise(span), name="summary")
            self._asked[span.key] = asked
        return asked

    async def _summarise(self, span: Span) -> None:
        target = ceil(span.tokens * SUMMARY_FRACTION)
        kept = await self._kept(span, target)
        if kept is not None:
            self.known[span.key] = kept
            return
        result = await self._compressor.compress(span.text, target_tokens=target)
        if result.strategy == "model summary":
            self.known[span.key] = result.compressed
            if self._cache is not None:
                self._cache.remember(KIND, f"{target} {span.key}", result.compressed)
        elif asyncio.current_task() in self._paused:
            self._paused.discard(asyncio.current_task())
            del self._asked[span.key]

    async def _kept(self, span: Span, target_tokens: int) -> str | None:
        """The summary that the cache has, if it is as small as it must be; whoever keeps it may be lying."""
        if self._cache is None:
            return None
        key = f"{target_tokens} {span.key}"
        await self._cache.warm(KIND, [key])
        found = self._cache.remembered(KIND, key)
        if not isinstance(found, str) or not found.strip():
            return None
        return found if self._counter.count(found).tokens <= target_tokens else None

    def _noting_pauses(self, summarizer: Summarize) -> Summarize:
        """The same summariser; the tasks in which it was left alone are noted."""

        async def summarize(text: str, target_tokens: int, /) -> str:
            try:
                return await summarizer(text, target_tokens)
            except SummarizerPaused:
                self._paused.add(asyncio.current_task())
                raise

        return summarize
