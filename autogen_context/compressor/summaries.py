"""What a model made of the older part of a conversation, ahead of need.

Promise: each span is asked for once, also by those who share a cache, and once more where that was cut off or the model was left alone; a summary that
cannot be used, or that is not far smaller than its span, is not kept, and the log says why. The work is done in the
background and ends with its owner; a turn takes what is there, and waits only where it was told how long. Cancellation
passes through. Each turn may have an event loop of its own.
"""

import asyncio
import logging
from collections.abc import Iterable, Mapping
from contextlib import suppress
from math import ceil

from autogen_context.cache.values import Cache
from autogen_context.compressor.compressor import REFUSED, Summarises
from autogen_context.compressor.span import Span
from autogen_context.compressor.summarizer import SummarizerPaused
from autogen_context.errors import CompletionFailed
from autogen_context.models.background import Background, is_cut_off
from autogen_context.tokens.measure import TokenCounter

logger = logging.getLogger(__name__)

KIND = "summary"  # in the cache
SUMMARY_FRACTION = 0.1  # of a span's tokens, for its summary


class Summaries:
    """The summaries of one conversation.

    Args:
        compressor: makes them.
        counter: counts them.
        known: summaries of a saved state, by the key of their span.
        background: where they are made.
        cache: keeps summaries for other conversations, and for later processes.

    Attributes:
        known: the summaries so far, by the key of their span.
    """

    def __init__(
        self,
        compressor: Summarises,
        counter: TokenCounter,
        known: Mapping[str, str],
        background: Background,
        cache: Cache | None = None,
    ) -> None:
        self.known = dict(known)
        self._compressor = compressor
        self._counter = counter
        self._background = background
        self._cache = cache
        self._asked: dict[str, asyncio.Task[None]] = {}

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

    def _task(self, span: Span) -> asyncio.Task[None]:
        asked = self._asked.get(span.key)
        if asked is None or is_cut_off(asked):
            asked = self._background.start(self._summarise(span), name="summary")
            self._asked[span.key] = asked
        return asked

    async def _summarise(self, span: Span) -> None:
        target = ceil(span.tokens * SUMMARY_FRACTION)
        try:
            self.known[span.key] = await self._summary(span.text, f"{target} {span.key}", target)
        except SummarizerPaused:  # its turn comes when the pause is over
            del self._asked[span.key]
        except CompletionFailed as error:
            logger.warning(REFUSED, error.reason)
        except Exception as error:  # noqa: BLE001 - whatever a compressor raises costs its summary
            logger.warning(REFUSED, type(error).__name__)

    async def _summary(self, text: str, key: str, target_tokens: int) -> str:
        """The summary that the cache has, else one that is made now.

        Raises:
            CompletionFailed: there is none.
        """
        if self._cache is not None:
            await self._cache.warm(KIND, [key])
            with suppress(CompletionFailed):  # whoever keeps it may be lying
                return self._checked(self._cache.remembered(KIND, key), target_tokens)
        summary = await self._compressor.summarise(text, target_tokens=target_tokens)
        checked = self._checked(summary, target_tokens)
        if self._cache is not None:
            self._cache.remember(KIND, key, checked)
        return checked

    def _checked(self, summary: object, target_tokens: int) -> str:
        """What a compressor gave, if it is a text of that size.

        Raises:
            CompletionFailed: it is not.
        """
        if not isinstance(summary, str) or not summary.strip():
            raise CompletionFailed("it is empty")
        if self._counter.count(summary).tokens > target_tokens:
            raise CompletionFailed("it has more tokens than it may")
        return summary
