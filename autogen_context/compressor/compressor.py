"""Fewer tokens, same meaning.

Promise: the result is within its target and never larger than the input; the same input gives the same result, unless a
model is asked. Time grows with the text, and with sorting its passages. A summariser that fails in any way costs its
summary and one warning; cancellation passes through.

What has a structure is compressed by it. For the rest there are five steps, the cheapest first, until the target is met. What
the text states stands first; what it says is looked for afterwards, and what is not found is reported as lost. A model is
asked before anything is lost.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from threading import Lock
from typing import Protocol

from autogen_context.argument import require_text
from autogen_context.compressor.concepts import Holdings, concepts_of
from autogen_context.compressor.result import CompressionResult, Strategy, weight_of
from autogen_context.compressor.shorten import shorten_text
from autogen_context.compressor.source import read_source
from autogen_context.compressor.steps import Target, least_of, stepped
from autogen_context.compressor.structure import BY_STRUCTURE, structured
from autogen_context.compressor.summarizer import Summarize, SummarizerPaused
from autogen_context.compressor.verified import LOST, summarised
from autogen_context.messages.message import content_digest
from autogen_context.prioritizer.attention import AttentionScore, ContextPart
from autogen_context.tokens.measure import Count

logger = logging.getLogger(__name__)

COMPRESS_FROM_FRACTION = 0.75  # of the limit
LOW_RELEVANCE = 0.3
LOW_FRACTION = 1 / 3  # of its size, for a part of low relevance
LEAST_QUALITY = (
    0.9  # of what the extract preserves, by weight, for a summary with what was put back
)


class CountsText(Protocol):
    """Any object that counts a text."""

    def count(self, text: str, /) -> int | Count:
        """What a text has: a ``Count``, or a plain number, which is taken for exact."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressedPart:
    """What became of a part.

    Attributes:
        part: with the text to use; empty where the part is left out.
        tokens: of that text.
        result: of its compression; ``None`` where it is as it was, or left out.
    """

    part: ContextPart
    tokens: int
    result: CompressionResult | None = None


class SemanticCompressor:
    """Brings texts to a target size.

    Args:
        counter: counts a text; targets are in its unit.
        summarizer: asks a model, where the steps would lose something.
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
            keep: keywords that stay as long as they have room, whatever the case of their letters.

        Returns:
            The text itself where it meets the target; what ``compress_nowait`` gives where that loses nothing, or where the
            model gave no summary that can be used.

        Raises:
            ValueError: ``text`` is none, ``target_tokens`` is negative, or ``keep`` a single text.
        """
        # Large texts take a while: the event loop goes on.
        extract = await asyncio.to_thread(
            self.compress_nowait, text, target_tokens=target_tokens, keep=keep
        )
        if self._summarizer is None or not extract.lost_concepts:
            return extract
        key = content_digest("model", str(target_tokens), text, *keep)
        if known := self._recalled(key):
            return known
        target = self._target(text, target_tokens, keep)
        result = await self._with_summary(text, target, self._summarizer, extract)
        return extract if result is None else self._remembered(key, result)

    def compress_nowait(
        self, text: str, *, target_tokens: int, keep: Sequence[str] = ()
    ) -> CompressionResult:
        """The text within a target, without a model; arguments and errors as for ``compress``."""
        target = self._target(text, target_tokens, keep)
        key = content_digest("extract", str(target_tokens), text, *keep)
        return self._recalled(key) or self._remembered(key, self._extract(text, target))

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
        parts = [self._as_it_is(score.part) for score in scores]
        order = sorted(range(len(scores)), key=lambda at: (scores[at].score, -at))
        worst_first = [at for at in order if not scores[at].part.critical]
        low = [at for at in worst_first if scores[at].score < LOW_RELEVANCE]

        def total() -> int:
            return sum(part.tokens for part in parts)

        for places, limit in (
            (low, int(limit_tokens * COMPRESS_FROM_FRACTION)),
            (worst_first, limit_tokens),
        ):
            for at in places:
                if total() > limit and parts[at].result is None:
                    parts[at] = self._brought(parts[at], int(parts[at].tokens * LOW_FRACTION))
        for at in worst_first:
            if total() > limit_tokens:
                parts[at] = CompressedPart(part=replace(parts[at].part, text=""), tokens=0)
        if (over := total()) > limit_tokens:  # only what is critical is left
            parts = [self._brought(p, limit_tokens * p.tokens // over) for p in parts]
        return parts

    def _as_it_is(self, part: ContextPart) -> CompressedPart:
        return CompressedPart(part=part, tokens=self._counted(part.text).tokens)

    def _brought(self, before: CompressedPart, target_tokens: int) -> CompressedPart:
        """A part within so many tokens."""
        result = self.compress_nowait(before.part.text, target_tokens=target_tokens)
        part = replace(before.part, text=result.compressed)
        return CompressedPart(part=part, tokens=result.compressed_tokens.tokens, result=result)

    def _counted(self, text: str) -> Count:
        """The count of a text, with its source."""
        found = self._counter.count(text)
        return found if isinstance(found, Count) else Count(tokens=found, source="tokenizer")

    def _target(self, text: str, target_tokens: int, keep: Sequence[str]) -> Target:
        require_text("text", text)
        if target_tokens < 0:
            raise ValueError(f"target_tokens={target_tokens}: give 0 or more")
        if isinstance(keep, str):
            raise ValueError(f"keep={keep!r}: give several keywords, such as ({keep!r},)")  # noqa: TRY004 - as all

        @cache  # each distinct text once
        def count(text: str) -> int:
            return self._counted(text).tokens

        return Target(tokens=target_tokens, count=count, keep=tuple(keep))

    def _extract(self, text: str, target: Target) -> CompressionResult:
        """The text in its target, by the first step that meets it; something of it where none does."""
        if target.count(text) <= target.tokens:
            return self._judged(text, text, "none", target)
        source = read_source(text, target.keep)
        found = structured(text, target, statements=len(source.entries))
        short, strategy = found or stepped(source, target)
        if not short.strip():
            short, strategy = least_of(text, target), "shorten"
        return self._judged(text, short, strategy, target)

    async def _with_summary(
        self, text: str, target: Target, summarizer: Summarize, extract: CompressionResult
    ) -> CompressionResult | None:
        """The result with a model's summary, if one can be used."""
        source = await asyncio.to_thread(read_source, text, target.keep)
        try:
            short = await summarised(source, target, summarizer, extract)
        except SummarizerPaused:
            return None  # the failures that paused it were warned of
        except Exception as error:  # noqa: BLE001 - a summariser that fails in any way costs its summary, not the turn
            reason = getattr(error, "reason", type(error).__name__)
            logger.warning("no summary by a model; the extract is used", extra={"reason": reason})
            return None
        result = self._judged(text, short, "model summary", target)
        if worth(result) < LEAST_QUALITY * worth(extract):
            logger.warning("no summary by a model; the extract is used", extra={"reason": LOST})
            return None
        return result

    def _judged(
        self, text: str, short: str, strategy: Strategy, target: Target
    ) -> CompressionResult:
        """The result with this text, or with as much of it as fits, and with what it kept of the original."""
        if target.count(short) > target.tokens:
            short = shorten_text(short, room_tokens=target.tokens, count=target.count)
            strategy = "shorten"
        concepts = concepts_of(text, target.keep)
        has: Callable[..., bool] = Holdings(short, in_columns=strategy in BY_STRUCTURE).has
        preserved = concepts if short == text else tuple(filter(has, concepts))
        held = set(preserved)
        return CompressionResult(
            original=text,
            compressed=short,
            original_tokens=self._counted(text),
            compressed_tokens=self._counted(short),
            preserved_concepts=preserved,
            lost_concepts=tuple(concept for concept in concepts if concept not in held),
            strategy=strategy,
        )

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


def worth(result: CompressionResult) -> float:
    """What a result preserves beside whole statements, which a model puts in other words."""
    return weight_of(c for c in result.preserved_concepts if c.kind != "statement")
