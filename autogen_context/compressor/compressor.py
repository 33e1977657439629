"""Fewer tokens, same meaning.

Promise: the result is within its target and never larger than the input; the same input gives the same result, unless a
model is asked. Time grows with the text, and with sorting its passages. A summariser that fails in any way costs its
summary and one warning; cancellation passes through.

What has a structure is compressed by it. For the rest there are five steps, the cheapest first, until the target is met: remove
redundancy, compress examples, summarise sections, abstract details, keep core concepts. What the text states stands first;
what it says is looked for afterwards.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Sequence
from functools import partial
from threading import Lock
from typing import Literal

from autogen_context.compressor.counting import CountsText, Tally
from autogen_context.compressor.extract import Job, extracted
from autogen_context.compressor.merge import summarised
from autogen_context.compressor.parts import CompressedPart, fitted_parts
from autogen_context.compressor.result import CompressionResult, Strategy
from autogen_context.compressor.summarise import Summarize, SummarizerPaused
from autogen_context.messages.message import content_digest
from autogen_context.prioritizer.attention.score import AttentionScore

logger = logging.getLogger(__name__)

NEARLY_LOSSLESS: frozenset[Strategy] = frozenset(
    {"none", "tighten structure", "remove redundancy", "compress examples"}
)


class SemanticCompressor:
    """Brings texts to a target size.

    Args:
        counter: counts a text; targets are in its unit.
        summarizer: asks a model, where the steps that lose next to nothing do not meet the target.
        entries: how many results are remembered; the one that was asked for longest ago goes first.

    Raises:
        ValueError: ``entries`` is negative, or ``counter`` counts nothing.
    """

    def __init__(
        self, *, counter: CountsText, summarizer: Summarize | None = None, entries: int = 256
    ) -> None:
        if entries < 0:
            raise ValueError(f"entries={entries}: give how many results are remembered, 0 or more")
        if not callable(getattr(counter, "count", None)):
            raise ValueError(f"counter={counter!r:.80}: give an object with a method count(text)")  # noqa: TRY004 - as for every wrong argument
        self._counter = counter
        self._summarizer = summarizer
        self._entries = entries
        self._known: OrderedDict[bytes, CompressionResult] = OrderedDict()
        self._lock = Lock()  # texts are compressed in threads

    async def compress(
        self, text: str, *, target_tokens: int, keep: Sequence[str] = ()
    ) -> CompressionResult:
        """The text within a target, by a model where there is one and it is needed.

        Args:
            text: any text: prose, notes, a transcript with ``[user] …`` or ``user: …`` at the beginning of lines.
            target_tokens: what the result may have.
            keep: keywords to keep, whatever the case of their letters.

        Returns:
            The text itself where it meets the target; what ``compress_nowait`` gives where no model is needed, or where
            it gave no summary that can be used.

        Raises:
            ValueError: ``target_tokens`` is negative, or ``keep`` a single text.
        """
        way = partial(self.compress_nowait, text, target_tokens=target_tokens, keep=keep)
        extract = await asyncio.to_thread(way)  # large texts take a while: the event loop goes on
        if self._summarizer is None or extract.strategy in NEARLY_LOSSLESS:
            return extract
        job = self._job(text, target_tokens, keep)
        key = key_of(job, "model")
        if known := self._recalled(key):
            return known
        result = await self._summary(job, self._summarizer, extract)
        return extract if result is None else self._remembered(key, result)

    def compress_nowait(
        self, text: str, *, target_tokens: int, keep: Sequence[str] = ()
    ) -> CompressionResult:
        """The text within a target, without a model; arguments and errors as for ``compress``."""
        job = self._job(text, target_tokens, keep)
        key = key_of(job, "extract")
        return self._recalled(key) or self._remembered(key, extracted(job))

    def compress_parts_nowait(
        self, scores: Sequence[AttentionScore], *, limit_tokens: int
    ) -> list[CompressedPart]:
        """The parts of a context within a limit, without a model.

        From 75 % of the limit on, parts of a relevance below 0.3 go to a third of their size, the least relevant first.
        Where that is too little the others follow; then parts are left out, the least relevant first. Critical parts are
        compressed only where they alone exceed the limit, and never left out.

        Args:
            scores: n parts with their relevance.
            limit_tokens: what they may have together.

        Returns:
            n parts, same order.

        Raises:
            ValueError: ``limit_tokens`` is negative.
        """
        if limit_tokens < 0:
            raise ValueError(f"limit_tokens={limit_tokens}: give 0 or more")

        def compress(text: str, target_tokens: int) -> CompressionResult:
            return self.compress_nowait(text, target_tokens=target_tokens)

        tally = Tally(self._counter)
        return fitted_parts(
            scores, limit_tokens=limit_tokens, tokens=tally.tokens, compress=compress
        )

    def _job(self, text: str, target_tokens: int, keep: Sequence[str]) -> Job:
        if target_tokens < 0:
            raise ValueError(f"target_tokens={target_tokens}: give 0 or more")
        if isinstance(keep, str):
            raise ValueError(f"keep={keep!r}: give several keywords, such as ({keep!r},)")  # noqa: TRY004 - as all
        return Job(
            text=text,
            target_tokens=target_tokens,
            keep=tuple(keep),
            tally=Tally(self._counter),
        )

    async def _summary(
        self, job: Job, summarizer: Summarize, extract: CompressionResult
    ) -> CompressionResult | None:
        """The result with a model's summary, if one can be used."""
        try:
            return await summarised(job, summarizer, extract)
        except SummarizerPaused:
            return None  # the failures that paused it were warned of
        except Exception as error:  # noqa: BLE001 - a summariser that fails in any way costs its summary, not the turn
            reason = getattr(error, "reason", type(error).__name__)
            logger.warning("no summary by a model; the extract is used", extra={"reason": reason})
            return None

    def _recalled(self, key: bytes) -> CompressionResult | None:
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
            return self._known.get(key)

    def _remembered(self, key: bytes, result: CompressionResult) -> CompressionResult:
        with self._lock:
            self._known[key] = result
            while len(self._known) > self._entries:
                self._known.popitem(last=False)
        return result


def key_of(job: Job, way: Literal["extract", "model"]) -> bytes:
    """What results are remembered by: the text, the target, the keywords, and whether a model was asked."""
    return content_digest(way, str(job.target_tokens), job.text, *job.keep)
