"""SemanticCompressor: every text that is sent shorter than it came.

Promise: the result is within its target and never larger than the input. What has a structure is compressed by it, the rest in
five steps, the cheapest first. What is not found afterwards is reported as lost; a model is asked before anything is lost.
"""

import asyncio
import logging
import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cache
from threading import Lock
from typing import Protocol, Self, cast

from autogen_context.argument import require_text, require_whole
from autogen_context.compressor.concepts import (
    CompressionResult,
    Holdings,
    Strategy,
    concepts_of,
    keywords_in,
)
from autogen_context.compressor.json_text import minified
from autogen_context.compressor.kinds import reducer_for
from autogen_context.compressor.lines import Room
from autogen_context.compressor.notice import LeftOut, notice_of, stated_in
from autogen_context.compressor.shorten import CountText, shorten_text
from autogen_context.compressor.steps import Target, excerpt_with, read_source, stepped
from autogen_context.compressor.summaries import REFUSED, Summarizer, summarised
from autogen_context.errors import CompletionFailed
from autogen_context.ledger.ledger import MARKER
from autogen_context.messages.message import content_digest
from autogen_context.models.completion import ModelClient, complete_of
from autogen_context.prioritizer.attention import AttentionScore, ContextPart
from autogen_context.tokens.measure import Count, EstimateCounter

logger = logging.getLogger(__name__)

COMPRESS_FROM_FRACTION = 0.75  # of the limit
LOW_RELEVANCE = 0.3
LOW_FRACTION = 1 / 3  # of its size, for a part of low relevance
LEAST_WINDOW = 1_000  # tokens
REMEMBERED = 256  # results; the oldest goes first
PROMPT_TOKENS = 400  # what a prompt has beside its text

MARK = re.compile(r"\[…[^\[\]]*…\]")  # where something went
STATING_FRACTION = 0.1  # of the lines: where so many state something, they are somebody's words
LIKE_NOTES = frozenset({"log", "code", "table"})  # what notes may look like
OF_WORDS = frozenset({"prose", "output"})  # kinds whose lines are words


class CountsText(Protocol):
    """Any object that counts a text."""

    def count(self, text: str, /) -> int | Count:
        """What a text has: a ``Count``, or a plain number, which is taken for exact."""
        ...


class Compressor(Protocol):
    """What a manager asks for every text that it sends shorter than it came; ``SemanticCompressor`` is one.

    What comes back is measured: where it is no text, has more than it may, or an error is raised, ``SemanticCompressor``
    answers in its place, and a warning says so.
    """

    def on_arrival(self, text: str, reduced: str, /, *, count: CountText) -> str:
        """What is sent of a tool's result that came in as ``text`` and that the package would send as ``reduced``."""
        ...

    def shorten(self, text: str, /, *, room_tokens: int, count: CountText) -> str:
        """A text of a message that must stay, within so many tokens."""
        ...

    def stated(self, text: str, /) -> str:
        """What of a long message of a person holds: rules, limits, values, decisions; empty where it states nothing."""
        ...

    def notice(self, left_out: LeftOut, /, *, room_tokens: int, count: CountText) -> str:
        """What is told of units that are left out, within so many tokens."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressedPart:
    """A part with the text to use (empty where it is left out), its tokens, and the result where it was compressed."""

    part: ContextPart
    tokens: int
    result: CompressionResult | None = None


class SemanticCompressor:
    """Brings texts to a target size.

    Args:
        client: asked for a summary where the steps would lose something: a ``CompletionClient``, or an async function of a
            prompt. In a manager the manager's ``model_client`` where left out; without either no model is asked.
        counter: counts a text; targets are in its unit. In a manager the manager's where left out, else an estimate.
        model_window_tokens: what the client's model takes as input; of a longer text it is shown what says most.
        timeout_s: for a summary, in seconds.

    Raises:
        ValueError: an argument is out of its range, or none of its kind.
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
        self._known: OrderedDict[bytes, CompressionResult] = OrderedDict()
        self._lock = Lock()  # texts are compressed in threads

    @property
    def asks_model(self) -> bool:
        """Whether it has a model to ask."""
        return self._summarizer is not None

    def completed(self, *, client: ModelClient | None, counter: CountsText) -> Self:
        """The same compressor with a client and a counter where it has none of its own."""
        own = copy(self)
        if self._own_counter is None:
            own._counter = counter  # noqa: SLF001 - a copy of this
            own._known, own._lock = OrderedDict(), Lock()  # noqa: SLF001 - targets have another unit
        if self._summarizer is None and client is not None:
            own._summarizer = self._asking(client)  # noqa: SLF001 - as above
        return own

    def on_arrival(self, _text: str, reduced: str, /, *, count: CountText) -> str:  # noqa: ARG002 - what the others need
        """What is sent of a tool's result: as its kind is reduced."""
        return reduced

    shorten = staticmethod(shorten_text)
    stated = staticmethod(stated_in)
    notice = staticmethod(notice_of)

    async def summarise(self, text: str, /, *, target_tokens: int) -> str:
        """A model's summary of a text, verified, with what it lost put back as far as that has room.

        Raises:
            CompletionFailed: there is none that can be used; says why.
        """
        target = self._target(text, target_tokens, ())
        extract = await asyncio.to_thread(self.compress_nowait, text, target_tokens=target_tokens)
        return (await self._summarised(text, target, extract)).compressed

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
        if known := self._known.get(key):
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
        """The text within a target, without a model; arguments and errors as for ``compress``."""
        target = self._target(text, target_tokens, keep)
        key = content_digest("extract", str(target_tokens), text, *keep)
        if known := self._known.get(key):
            return known
        if target.count(text) <= target_tokens:
            return self._remembered(key, self._judged(text, text, "none", target))
        short, strategy = structured(text, target) or stepped(
            read_source(text, target.keep), target
        )
        if not short.strip():
            short = excerpt_with(text, target.keep, target_tokens, target.count)
            strategy = "shorten"
        return self._remembered(key, self._judged(text, short, strategy, target))

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
        require_whole("limit_tokens", limit_tokens, least=0, give="0 or more")
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

        first_limit = int(limit_tokens * COMPRESS_FROM_FRACTION)
        for places, limit in ((low, first_limit), (worst_first, limit_tokens)):
            for at in places:
                if total() > limit and parts[at].result is None:
                    parts[at] = brought(parts[at].part, int(parts[at].tokens * LOW_FRACTION))
        for at in worst_first:
            if total() > limit_tokens:
                parts[at] = CompressedPart(part=replace(parts[at].part, text=""), tokens=0)
        if (over := total()) > limit_tokens:  # only what is critical is left
            parts = [brought(p.part, limit_tokens * p.tokens // over) for p in parts]
        return parts

    def _counted(self, text: str) -> Count:
        """The count of a text, with its source."""
        found = self._counter.count(text)
        return found if isinstance(found, Count) else Count(tokens=found, source="tokenizer")

    def _target(self, text: str, target_tokens: int, keep: Sequence[str]) -> Target:
        require_text("text", text)
        require_whole("target_tokens", target_tokens, least=0, give="0 or more")
        if isinstance(keep, str):
            raise ValueError(f"keep={keep!r}: give several keywords, such as ({keep!r},)")  # noqa: TRY004 - as all
        return Target(tokens=target_tokens, count=counting(self._counter), keep=tuple(keep))

    def _asking(self, client: ModelClient) -> Summarizer:
        return Summarizer(complete_of(client, argument="client"), timeout_s=self._timeout_s)

    async def _summarised(
        self, text: str, target: Target, extract: CompressionResult
    ) -> CompressionResult:
        """The result with a model's summary; ``CompletionFailed`` says why none can be used."""
        if self._summarizer is None:
            raise CompletionFailed("there is no model to ask")
        source = await asyncio.to_thread(read_source, text, target.keep)
        seen = Target(tokens=self._shown_tokens, count=counting(EstimateCounter()), keep=())
        short = await summarised(source, target, self._summarizer, extract, seen)
        return self._judged(text, short, "model summary", target)

    def _judged(
        self, text: str, short: str, strategy: Strategy, target: Target
    ) -> CompressionResult:
        """The result with this text, or with as much of it as fits, and with what it kept of the original."""
        if target.count(short) > target.tokens:
            short = shorten_text(short, room_tokens=target.tokens, count=target.count)
            strategy = "shorten"
        concepts = concepts_of(text, target.keep)
        is_whole = short == text or strategy == "tighten structure"
        has = Holdings("" if is_whole else short).has
        held = {concept for concept in concepts if is_whole or has(concept)}
        return CompressionResult(
            original=text,
            compressed=short,
            original_tokens=self._counted(text),
            compressed_tokens=self._counted(short),
            preserved_concepts=tuple(c for c in concepts if c in held),
            lost_concepts=tuple(c for c in concepts if c not in held),
            strategy=strategy,
        )

    def _remembered(self, key: bytes, result: CompressionResult) -> CompressionResult:
        with self._lock:
            self._known[key] = result
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        return result


def counting(counter: CountsText) -> CountText:
    """Counts each distinct text once."""

    def count(text: str) -> int:
        found = counter.count(text)
        return found.tokens if isinstance(found, Count) else found

    return cache(count)


def structured(text: str, target: Target) -> tuple[str, Strategy] | None:
    """A text within a target by its structure; ``None`` where it has none, is what people say, or does not get there."""
    reducer = None if MARKER.match(text) else reducer_for(text)  # who speaks opens a transcript
    if reducer is None or reducer.kind in OF_WORDS:
        return None
    if reducer.kind in LIKE_NOTES:
        statements = len(read_source(text).entries)
        if statements > STATING_FRACTION * (text.count("\n") + 1):
            return None
    for tighten in (minified, reducer.tighten) if reducer.kind == "json" else (reducer.tighten,):
        tight = tighten(text)
        if target.count(tight) <= target.tokens:
            return tight, "tighten structure"
    wanted = frozenset(word.lower() for word in target.keep)
    short = reducer.cut(text, Room(tokens=target.tokens, count=target.count, wanted=wanted))
    says = MARK.sub("", short).strip() and target.count(short) <= target.tokens
    holds = len(keywords_in(short, target.keep)) == len(keywords_in(text, target.keep))
    return (short, "cut structure") if says and holds else None


def guarded(compressor: Compressor) -> Compressor:
    """A compressor as a turn can use it."""
    return compressor if type(compressor) is SemanticCompressor else GuardedCompressor(compressor)


class GuardedCompressor:
    """Asks a compressor of the user's own; where that gives nothing that can be sent, ours, and one warning for each method says so."""

    def __init__(self, own: Compressor) -> None:
        self._own = own
        self._default = SemanticCompressor()
        self._warned: set[str] = set()

    def on_arrival(self, text: str, reduced: str, /, *, count: CountText) -> str:
        """What is sent of a tool's result; no more than came in."""
        return self._asked(
            "on_arrival",
            lambda c: c.on_arrival(text, reduced, count=count),
            lambda found: count(found) <= count(text),
        )

    def shorten(self, text: str, /, *, room_tokens: int, count: CountText) -> str:
        """A text within a room."""
        if count(text) <= room_tokens:
            return text
        return self._asked(
            "shorten",
            lambda c: c.shorten(text, room_tokens=room_tokens, count=count),
            lambda found: count(found) <= room_tokens,
        )

    def stated(self, text: str, /) -> str:
        """What of a person's text holds."""
        return self._asked("stated", lambda c: c.stated(text), lambda _: True)

    def notice(self, left_out: LeftOut, /, *, room_tokens: int, count: CountText) -> str:
        """What is told of units that are left out."""
        return self._asked(
            "notice",
            lambda c: c.notice(left_out, room_tokens=room_tokens, count=count),
            lambda found: count(found) <= room_tokens,
        )

    def _asked(
        self, method: str, ask: Callable[[Compressor], str], fits: Callable[[str], bool]
    ) -> str:
        try:
            found = cast("object", ask(self._own))  # a user's own may return anything
        except Exception as error:  # noqa: BLE001 - whatever it raises costs its text, not the turn
            reason = type(error).__name__
        else:
            if isinstance(found, str) and fits(found):
                return found
            reason = "it gave no text, or one that has no room"
        if method not in self._warned:
            self._warned.add(method)
            message = "the compressor's %s is not used, SemanticCompressor's is: %s"
            logger.warning(message, method, reason)
        return ask(self._default)
