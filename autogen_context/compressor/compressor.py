"""SemanticCompressor: brings texts within a token target.

Promise: the result fits its target and is never larger than the input. Structured text is compressed by its structure,
other text in five steps, the cheapest first. Concepts missing from the result are reported as lost; where a model is
available, it is asked before anything is lost.
"""

import asyncio
import logging
import re
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cache
from typing import Self

from autogen_context.argument import require_kind, require_text, require_whole
from autogen_context.cache.tier import Memory
from autogen_context.compressor.concepts import CompressionResult, Holdings, Strategy, keywords_in
from autogen_context.compressor.kinds import reducer_for
from autogen_context.compressor.left_out import LeftOut, notice_of, stated_in
from autogen_context.compressor.lines import TextLimit
from autogen_context.compressor.protocol import Compressor, Extracting
from autogen_context.compressor.shorten import shorten_text
from autogen_context.compressor.steps import SourceText, Target, excerpt, stepped, within_work
from autogen_context.compressor.summaries import (
    REFUSED,
    Summarizer,
    is_faithful,
    require_faithful,
    summarised,
)
from autogen_context.errors import CompletionFailed
from autogen_context.guard import Guard, Unusable, of_kind
from autogen_context.ledger.ledger import MARKER
from autogen_context.messages.message import content_digest
from autogen_context.models.completion import ModelClient, complete_of
from autogen_context.prioritizer.attention import AttentionScore, ContextPart
from autogen_context.text.fit import CountText
from autogen_context.text.memo import Memo
from autogen_context.tokens.measure import Count, CountsText, EstimateCounter, as_count

logger = logging.getLogger(__name__)

COMPRESS_FROM_FRACTION = 0.75  # of the limit
LOW_RELEVANCE = 0.3  # score below which a part is compressed further
LOW_FRACTION = 1 / 3  # target of a low-relevance part, as a fraction of its size
LEAST_WINDOW = 1_000  # tokens
REMEMBERED = 256  # cached results; the one not used for longest is evicted first
PROMPT_TOKENS = 400  # of a prompt without its text

MARK = re.compile(r"\[…(?:[^\[\]]*…)?\]")  # mark of an omission
STATING_FRACTION = 0.1  # of the lines; with more statements the text is treated as notes
LIKE_NOTES = frozenset({"log", "code", "table"})  # kinds that notes may be mistaken for
OF_WORDS = frozenset({"prose", "output"})  # kinds whose lines are natural language


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressedPart:
    """A part with the text to use (empty if it is left out), its tokens, and the compression result, if any."""

    part: ContextPart
    tokens: int
    result: CompressionResult | None = None


class SemanticCompressor:
    """Compresses texts to a target size.

    Args:
        client: model for a summary when the steps would lose something: a ``CompletionClient``, or an async function of a
            prompt. Defaults to the manager's ``model_client`` in a manager; without either no model is asked.
        counter: token counter; targets are in its unit. Defaults to the manager's in a manager, else to an estimate.
        model_window_tokens: input window of the client's model; of a longer text it is shown the most informative parts.
        timeout_s: time limit for a summary, in seconds.

    Raises:
        ValueError: an argument is out of range or of the wrong type.
    """

    def __init__(
        self,
        client: ModelClient | None = None,
        *,
        counter: CountsText | None = None,
        model_window_tokens: int = 16_000,
        timeout_s: float = 60.0,
    ) -> None:
        give = f"{LEAST_WINDOW} or more"
        require_whole("model_window_tokens", model_window_tokens, least=LEAST_WINDOW, give=give)
        if counter is not None and not callable(getattr(counter, "count", None)):
            raise ValueError(f"counter={counter!r:.80}: give an object with a method count(text)")
        self._own_counter = counter
        self._counter = counter or EstimateCounter()
        self._shown_tokens = model_window_tokens // 2 - PROMPT_TOKENS
        self._timeout_s = timeout_s
        self._summarizer = None if client is None else self._asking(client)
        self._known = Memory[CompressionResult](entries=REMEMBERED)
        self._memo = Memo()

    @property
    def asks_model(self) -> bool:
        """True if it has a model to ask."""
        return self._summarizer is not None

    def completed(self, *, client: ModelClient | None, counter: CountsText) -> Self:
        """Return a copy that uses this client and counter unless it has its own."""
        own = copy(self)
        own._memo = Memo()  # noqa: SLF001 - a copy of self
        if self._own_counter is None:
            own._counter = counter  # noqa: SLF001 - a copy of self
            own._known = Memory[CompressionResult](entries=REMEMBERED)  # noqa: SLF001 - targets are in another unit
        if self._summarizer is None and client is not None:
            own._summarizer = self._asking(client)  # noqa: SLF001 - as above
        return own

    def on_arrival(self, _text: str, reduced: str, /, *, count: CountText) -> str:  # noqa: ARG002 - part of the protocol
        """Return the text to send for a tool result: ``reduced`` as it is."""
        return reduced

    def extract(self, _text: str, chosen: str, /, *, count: CountText) -> str:  # noqa: ARG002 - part of the protocol
        """Return what is sent of a text of which ``chosen`` was chosen by score: that."""
        return chosen

    shorten = staticmethod(shorten_text)
    stated = staticmethod(stated_in)
    notice = staticmethod(notice_of)

    async def summarise(self, text: str, /, *, target_tokens: int) -> str:
        """Return a model's verified summary of a text, with lost concepts put back as far as they fit.

        Raises:
            CompletionFailed: there is no usable summary; the error gives the reason.
        """
        target = self._target(text, target_tokens, ())
        extract = await asyncio.to_thread(self.compress_nowait, text, target_tokens=target_tokens)
        return (await self._summarised(text, target, extract)).compressed

    def is_faithful(self, summary: str, text: str, /) -> bool:
        """Return True if a summary by ``summarise``, loaded from a cache or a state, is held up by its text, as one just made is."""
        return self._memo.run(is_faithful, summary, text)

    async def compress(
        self, text: str, *, target_tokens: int, keep: Sequence[str] = ()
    ) -> CompressionResult:
        """Compress a text to a target, with a model if there is one and it is needed.

        Args:
            text: any text: prose, notes, a transcript with ``[user] …`` or ``user: …`` at the beginning of lines.
            target_tokens: maximum tokens of the result.
            keep: keywords to preserve as long as they fit, case-insensitive.

        Returns:
            The text itself if it meets the target; the result of ``compress_nowait`` if that loses nothing or the model gave
            no usable summary; else the result with the model's summary.

        Raises:
            ValueError: ``text`` is not a string, ``target_tokens`` is negative, or ``keep`` is a single string.
        """
        # Large texts take a while: run in a thread to keep the event loop free.
        extract = await asyncio.to_thread(
            self.compress_nowait, text, target_tokens=target_tokens, keep=keep
        )
        if self._summarizer is None or not extract.lost_concepts:
            return extract
        key = content_digest("model", str(target_tokens), text, *keep).hex()
        if known := self._known.use(key):
            return known
        try:
            result = await self._summarised(text, self._target(text, target_tokens, keep), extract)
        except CompletionFailed as error:
            logger.warning(REFUSED, error.reason)
            return extract
        return self._remembered(key, result)

    def compress_nowait(
        self, text: str, *, target_tokens: int, keep: Sequence[str] = ()
    ) -> CompressionResult:
        """Compress a text to a target without a model; arguments and errors as for ``compress``."""
        target = self._target(text, target_tokens, keep)
        key = content_digest("extract", str(target_tokens), text, *keep).hex()
        if known := self._known.use(key):
            return known
        return self._remembered(key, self._memo.run(self._extracted, text, target))

    def _extracted(self, text: str, target: Target) -> CompressionResult:
        source = SourceText(text, target.keep)
        if target.count(text) <= target.tokens:
            return self._judged(source, text, "none", target)
        short, strategy = structured(source, target) or stepped(source, target)
        if not short.strip():
            short, strategy = excerpt(text, target.keep, target.tokens, target.count), "shorten"
        return self._judged(source, short, strategy, target)

    def compress_parts_nowait(
        self, scores: Sequence[AttentionScore], *, limit_tokens: int
    ) -> list[CompressedPart]:
        """Compress the parts of a context to a limit, without a model.

        Above 75 % of the limit, parts with a relevance below 0.3 are compressed to a third of their size, the least relevant
        first. If that is not enough, the others follow, then parts are left out, the least relevant first. Critical parts
        are compressed only if they alone exceed the limit, and are never left out.

        Args:
            scores: the parts with their relevance.
            limit_tokens: maximum tokens of all parts together.

        Returns:
            The same number of parts, in the same order.

        Raises:
            ValueError: ``limit_tokens`` is negative.
        """
        require_whole("limit_tokens", limit_tokens, least=0, give="0 or more")
        for at, score in enumerate(scores):
            give = "what AttentionScorer().score_nowait(query, parts) returns"
            require_kind(f"scores[{at}]", score, AttentionScore, give=give)
        given = [score.part for score in scores]
        parts = [CompressedPart(part=p, tokens=self._counted(p.text).tokens) for p in given]
        order = sorted(range(len(scores)), key=lambda at: (scores[at].score, -at))
        worst_first = [at for at in order if not scores[at].part.critical]
        low = [at for at in worst_first if scores[at].score < LOW_RELEVANCE]

        def total() -> int:
            return sum(part.tokens for part in parts)

        def brought(part: ContextPart, tokens: int) -> CompressedPart:
            result = self.compress_nowait(part.text, target_tokens=tokens)
            part = replace(part, text=result.compressed)
            return CompressedPart(part=part, tokens=result.compressed_tokens.tokens, result=result)

        critical = [at for at in range(len(parts)) if at not in worst_first]
        if (over := sum(parts[at].tokens for at in critical)) > limit_tokens:
            for at in critical:
                parts[at] = brought(parts[at].part, limit_tokens * parts[at].tokens // over)
        first_limit = int(limit_tokens * COMPRESS_FROM_FRACTION)
        for places, limit in ((low, first_limit), (worst_first, limit_tokens)):
            for at in places:
                if total() > limit and parts[at].result is None:
                    parts[at] = brought(parts[at].part, int(parts[at].tokens * LOW_FRACTION))
        for at in worst_first:
            if total() > limit_tokens:
                parts[at] = CompressedPart(part=replace(parts[at].part, text=""), tokens=0)
        return parts

    def _counted(self, text: str) -> Count:
        """Return the token count of a text with its source."""
        return as_count(self._counter.count(text))

    def _target(self, text: str, target_tokens: int, keep: Sequence[str]) -> Target:
        require_text("text", text)
        require_whole("target_tokens", target_tokens, least=0, give="0 or more")
        if isinstance(keep, str):
            raise ValueError(f"keep={keep!r}: give several keywords, such as ({keep!r},)")  # noqa: TRY004 - as for all
        for word in keep:
            require_text("keep", word, give="keywords, such as ('disk',)")
        return Target(tokens=target_tokens, count=counting(self._counter), keep=tuple(keep))

    def _asking(self, client: ModelClient) -> Summarizer:
        return Summarizer(complete_of(client, argument="client"), timeout_s=self._timeout_s)

    async def _summarised(
        self, text: str, target: Target, extract: CompressionResult
    ) -> CompressionResult:
        """Return the result with a model's summary; raise ``CompletionFailed`` with the reason if none is usable."""
        if self._summarizer is None:
            raise CompletionFailed("there is no model to ask")
        source = await asyncio.to_thread(self._memo.run, SourceText, text, target.keep)
        seen = Target(tokens=self._shown_tokens, count=counting(EstimateCounter()), keep=())
        short = await summarised(source, target, self._summarizer, extract, seen)
        run = self._memo.run
        result = await asyncio.to_thread(run, self._judged, source, short, "model summary", target)
        await asyncio.to_thread(run, require_faithful, self, result.compressed, text)
        return result

    def _judged(
        self, source: SourceText, short: str, strategy: Strategy, target: Target
    ) -> CompressionResult:
        """Build the result for a compressed text, shortened if it does not fit, with its preserved and lost concepts."""
        if target.count(short) > target.tokens:
            short = shorten_text(short, room_tokens=target.tokens, count=target.count)
            strategy = "shorten"
        text, concepts = source.text, source.concepts
        is_whole = short == text or strategy == "tighten structure"
        has = Holdings("" if is_whole else within_work(short, target.keep)).has
        preserved = {concept for concept in concepts if is_whole or has(concept)}
        return CompressionResult(
            original=text,
            compressed=short,
            original_tokens=self._counted(text),
            compressed_tokens=self._counted(short),
            preserved_concepts=tuple(c for c in concepts if c in preserved),
            lost_concepts=tuple(c for c in concepts if c not in preserved),
            strategy=strategy,
            unread_chars=0 if is_whole else source.unread_chars,
        )

    def _remembered(self, key: str, result: CompressionResult) -> CompressionResult:
        self._known.put(key, result)
        return result


def counting(counter: CountsText) -> CountText:
    """Return a count function that counts each distinct text once."""

    def count(text: str) -> int:
        return as_count(counter.count(text)).tokens

    return cache(count)


def structured(source: SourceText, target: Target) -> tuple[str, Strategy] | None:
    """Compress a text by its structure; ``None`` without one, for dialogue or notes, or if it cannot fit with all keywords."""
    text = source.text
    reducer = None if MARKER.match(text) else reducer_for(text)  # None for a transcript
    if reducer is None or (reducer.kind in OF_WORDS and not source.has_records):
        return None
    if reducer.kind in LIKE_NOTES:
        lines = text.count("\n") + 1
        if len(source.stated.entries) > STATING_FRACTION * lines:
            return None
    tight = reducer.tighten(text)
    if target.count(tight) <= target.tokens:
        return tight, "tighten structure"
    wanted = frozenset(word.lower() for word in target.keep)
    short = reducer.cut(text, TextLimit(tokens=target.tokens, count=target.count, wanted=wanted))
    if not (says := MARK.sub("", short)).strip() or target.count(short) > target.tokens:
        return None
    if len(keywords_in(short, target.keep)) < len(keywords_in(text, target.keep)):
        return None
    return short, "tighten structure" if says == short else "cut structure"


def guarded(compressor: Compressor) -> Extracting:
    """Return a compressor that always gives a usable result: a custom one is wrapped in ``GuardedCompressor``."""
    return compressor if type(compressor) is SemanticCompressor else GuardedCompressor(compressor)


class GuardedCompressor:
    """Wraps a custom compressor: falls back to ``SemanticCompressor`` on unusable results, with one warning per method."""

    def __init__(self, own: Compressor) -> None:
        self._own = own
        self._default = SemanticCompressor()
        self._guard = Guard("compressor", "SemanticCompressor")

    def on_arrival(self, text: str, reduced: str, /, *, count: CountText) -> str:
        """Return the text to send for a tool result, never more tokens than the original."""
        return self._asked(
            "on_arrival",
            lambda c: c.on_arrival(text, reduced, count=count),
            lambda found: count(found) <= count(text),
        )

    def shorten(self, text: str, /, *, room_tokens: int, count: CountText) -> str:
        """Shorten a text to ``room_tokens``."""
        if count(text) <= room_tokens:
            return text
        return self._asked(
            "shorten",
            lambda c: c.shorten(text, room_tokens=room_tokens, count=count),
            lambda found: count(found) <= room_tokens,
        )

    def extract(self, text: str, chosen: str, /, *, count: CountText) -> str:
        """Return the text shortened to the tokens of ``chosen``; that itself where shortening is not its own."""
        room = count(chosen)
        if getattr(self._own, "shorten", shorten_text) is shorten_text:
            return chosen
        return self._asked(
            "shorten",
            lambda c: c.shorten(text, room_tokens=room, count=count),
            lambda found: count(found) <= room and len(found) < len(text),
            otherwise=chosen,
        )

    def stated(self, text: str, /) -> str:
        """Return the lasting statements of a person's text."""
        return self._asked("stated", lambda c: c.stated(text), lambda _: True)

    def notice(self, left_out: LeftOut, /, *, room_tokens: int, count: CountText) -> str:
        """Return the notice about units that are left out."""
        return self._asked(
            "notice",
            lambda c: c.notice(left_out, room_tokens=room_tokens, count=count),
            lambda found: count(found) <= room_tokens,
        )

    def _asked(
        self,
        method: str,
        ask: Callable[[Compressor], str],
        fits: Callable[[str], bool],
        otherwise: str | None = None,
    ) -> str:
        def read(found: object) -> str:
            text = of_kind(found, str)
            if not fits(text):
                raise Unusable("what it returned is over the limit")
            return text

        found = self._guard.asked(method, lambda: ask(self._own), read)
        if found is not None:
            return found
        return ask(self._default) if otherwise is None else otherwise
