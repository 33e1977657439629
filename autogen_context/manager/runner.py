"""TurnRunner: owns a conversation's view from turn to turn.

Promise: tokenizer and limits are looked up on first use; a tokenizer that becomes available later takes over from the same
state. A turn that raises keeps the messages that came in and changes nothing else.
"""

import asyncio
import logging
import threading
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from autogen_context.budget.manager import TokenBudgetManager
from autogen_context.cache.originals import OriginalStore
from autogen_context.cache.tier import Scope
from autogen_context.compressor.compressor import guarded
from autogen_context.config.config import ContextConfig
from autogen_context.errors import ContextWindowExceeded, NotInHistory
from autogen_context.manager.ahead import Ahead
from autogen_context.manager.change import UpdatedContext, changed, changes_in
from autogen_context.manager.engine import Engine
from autogen_context.manager.injected import messages_due
from autogen_context.manager.parts import Given, Parts, originals_of, price_in, window_tokens_of
from autogen_context.manager.prepared import Fixed, Prepared, Window, untouched
from autogen_context.manager.providers import Providers, providers_of
from autogen_context.manager.state import State
from autogen_context.messages.message import content_digest
from autogen_context.messages.piece import messages_of
from autogen_context.messages.tool_call import ToolKinds
from autogen_context.messages.tool_schema import has_recall_tool
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.view.certificate import Certificate
from autogen_context.view.versions import Version, Versions
from autogen_context.view.view import ContextView

if TYPE_CHECKING:  # imported on demand
    from autogen_context.manager.events import TurnLog
    from autogen_context.prioritizer.advice import Advice
    from autogen_context.prioritizer.selection import Explanation
    from autogen_context.recall.recall_tool import RecallTool

logger = logging.getLogger(__name__)

ToolSchemas = Sequence[Mapping[str, object]]
RECALLED_FRACTION = 0.25  # of the window for one answer of ``recall_context``
MANY_NEW = 20  # new messages above which a turn is prepared in a thread


class TurnRunner:
    """Runs the turns of one manager."""

    def __init__(self, given: Given) -> None:
        self.given = given
        self.lock = threading.RLock()
        self._events = turn_log(given)
        self._ahead = Ahead(given, self._events)
        self._providers = providers_of(given, self._count)
        self._is_looked_up = False
        self._bill_doubted = False  # so that repeated bills of this kind warn only once
        self._kept: _Conversation | None = None
        self._recall_tool: RecallTool | None = None

    # A turn

    def read(self, payloads: Sequence[object]) -> None:
        """Read the host's list, in its turn or earlier, and drop what the host changed of the history."""
        kept = self.kept
        same = kept.engine.read(payloads)
        if same < kept.versions.stop:
            kept.versions = kept.versions.cut_back(same)
        if same < kept.view.decisions.stop:
            kept.view = kept.engine.cut_back(kept.view)

    def turn(
        self, payloads: Sequence[object], tools: ToolSchemas, fixed: Fixed | None = None
    ) -> Prepared[object]:
        """Prepare a turn; raises what ``Engine.prepare`` does.

        ``fixed`` is the result of ``before_turn``, if that was awaited and has read the list.
        """
        started_s = time.perf_counter()
        kept, is_read = self.kept, fixed is not None
        engine, fixed = kept.engine, fixed or self.fixed(tools)
        if not self.given.config.enabled:
            return untouched(
                payloads,
                host=self.given.host,
                counter=kept.counter,
                window=engine.window,
                fixed=fixed,
            )
        if not is_read:
            self.read(payloads)
        engine.can_recall(can=bool(tools) and has_recall_tool(tools))
        kept.view = engine.synced(kept.view)
        if self._providers.each:
            self._providers.turn(self, fixed.tokens)
        before, planned_s = kept.view.tokens, time.perf_counter()
        try:
            kept.view, prepared = engine.prepare(kept.view, payloads, fixed)
        except ContextWindowExceeded as error:
            if self._events is not None:
                self._events.impossible(engine, error, started_s=started_s)
            raise
        if prepared.compacted:
            self.record("compaction", f"from {before} to {kept.view.tokens} tokens")
        if self._events is not None:
            self._events.turn(
                engine,
                kept.view,
                prepared,
                count=kept.counter.message,
                started_s=started_s,
                planned_s=planned_s,
            )
        return prepared

    async def before_turn(self, payloads: Sequence[object], tools: ToolSchemas) -> Fixed | None:
        """Await tokenizer, limits, disk and models as far as this turn or later ones need them, each within its time limit.

        Return the tokens besides messages, with the list read; or ``None`` if the turn should run in a thread: the first one,
        one with many new messages, or one that is likely to compact.
        """
        if not self._is_looked_up:
            await self.look_up()
        is_on, fixed = self.given.config.enabled, self.fixed(tools)
        if is_on and (self._providers.each or not self._ahead.is_idle):
            with self.lock:
                self.kept.engine.can_recall(can=bool(tools) and has_recall_tool(tools))
                self._follow(payloads)
            await self._providers.before_turn(self, fixed.tokens)
            await self._ahead.before_turn(self.kept.engine, self.kept.view, fixed.tokens)
        with self.lock:
            kept = self.kept
            known = len(kept.engine.conversation.messages)
            if not is_on:
                return fixed
            if not known or len(payloads) - known > MANY_NEW:
                return None
            self.read(payloads)
            return None if kept.engine.is_due(kept.view, fixed.tokens) else fixed

    async def look_up(self) -> None:
        """Load the tokenizer within its time limit and start the discovery of limits; both once."""
        if not self._is_looked_up:
            self._is_looked_up = True
            if self.given.counter is None:
                await self._ahead.load_tokenizer()
                with self.lock:
                    self._count_exactly()
            self._ahead.discover(self._resize)

    def fixed(self, tools: ToolSchemas) -> Fixed:
        """Return the tokens that a request with these tools has besides messages."""
        counter = self.kept.counter
        in_tools = counter.tools(tools)
        return Fixed(tokens=in_tools + counter.overheads.per_request, assumed=in_tools)

    def _follow(self, payloads: Sequence[object]) -> None:
        """Update the view to the host's list."""
        self.read(payloads)
        self.kept.view = self.kept.engine.synced(self.kept.view)

    # Questions, changes and bills

    @property
    def recall_tool(self) -> "RecallTool":
        """Answers the tool ``recall_context``."""
        kept = self.kept
        if self._recall_tool is None:
            from autogen_context.recall.recall_tool import RecallTool  # noqa: PLC0415 - imported on demand

            self._recall_tool = RecallTool(
                kept.originals,
                count=self._count,  # without the counter's cache, which every trial would fill
                room_tokens=int(kept.engine.window.limit_tokens * RECALLED_FRACTION),
            )
        return self._recall_tool

    def recall_context(self, handle: str, query: str, lines: str) -> str:
        """Return the answer of the tool ``recall_context``."""
        answer = self.recall_tool.recall_context(handle, query, lines)
        if self._events is not None:  # a found original begins with a header line in brackets
            self._events.asked_back(handle, query, found=answer.startswith("["))
        return answer

    def record(self, kind: str, summary: str) -> Version:
        """Record the current view as a version."""
        kept, at_s = self.kept, (self.given.clock or time.time)()
        kept.versions = kept.versions.recorded(kind, summary, kept.view, at_s=at_s)
        return kept.versions.newest

    def roll_back(self, number: int) -> Version:
        """Restore decisions, notices and pins of a version; later messages are decided on anew."""
        kept = self.kept
        kept.view = kept.view.rolled_back(kept.versions.view(number))
        self._providers.begin_anew()
        if kept.engine.conversation.candidates:
            kept.view = kept.engine.synced(kept.view)
        return self.record("roll back", f"as in version {number}")

    def updated(self, given: Iterable[object]) -> UpdatedContext:
        """Apply all changes or none, and return the resulting context."""
        kept, changes = self.kept, changes_in(given)
        if changes:
            open_pairs = self.given.config.orphans == "report"
            kept.view = changed(kept.view, changes, kept.engine, open_pairs=open_pairs)
            kind = str(changes[0].type) if len(changes) == 1 else "changes"
            self.record(kind, "; ".join(map(str, changes)))
        pieces = [piece for decision in kept.view.decisions for piece in decision.sent]
        said = messages_of(pieces, kept.engine.conversation.messages)
        return UpdatedContext(
            context_id=kept.context_id,
            version=kept.versions.newest.number,
            context=(*said, *messages_due(kept.view)),
            changes_applied=changes,
            timestamp=kept.versions.newest.timestamp,
        )

    def explain(self, digest: bytes) -> "Explanation":
        """Explain the decision on a message in the last turn."""
        known = self.kept.engine.conversation.history.positions({digest})
        decided = [position for position in known if position < self.kept.view.decisions.stop]
        if not decided:
            raise NotInHistory
        return self.kept.engine.explained(self.kept.view, max(decided))

    def bill(self, certificate: Certificate, *, prompt_tokens: int, cached_tokens: int) -> None:
        """Record a bill; an implausible one is ignored, with one warning for several in a row."""
        view, window = self.kept.view, self.kept.engine.window
        if self._events is not None:
            self._events.usage(
                certificate, prompt_tokens=prompt_tokens, cached_tokens=cached_tokens
            )
        calibration = window.billed(view.calibration, certificate, prompt_tokens)
        if calibration is not None:
            usage = view.usage.after(prompt_tokens=prompt_tokens, cached_tokens=cached_tokens)
            self.kept.view = replace(view, calibration=calibration, usage=usage)
        elif not self._bill_doubted:
            counted = certificate.counted_tokens
            numbers = {"counted_tokens": counted, "billed_tokens": prompt_tokens}
            logger.warning("an implausible bill was ignored", extra=numbers)
        self._bill_doubted = calibration is None

    # States

    @property
    def state(self) -> State:
        """The state from which another runner continues."""
        kept = self.kept
        return State(
            view=kept.view,
            digests=tuple(kept.engine.conversation.history.digests),
            originals=tuple(kept.originals),
            versions=kept.versions.kept,
            context_id=kept.context_id,
            branches=kept.branches,
            summaries=dict(kept.summaries),
            advice=dict(kept.advice),
            providers=self._providers.state,
        )

    def resume(self, state: State) -> None:
        """Continue from a loaded state."""
        self._go_on(state, self._providers.resumed(state.providers))

    def branch(self, other: "TurnRunner") -> None:
        """Let another runner continue from here, under its own context id."""
        kept = self.kept
        kept.branches += 1
        name = content_digest(kept.context_id, str(kept.branches))[:6].hex()
        other._go_on(  # noqa: SLF001 - another of its kind
            replace(self.state, context_id=name, branches=0), self._providers.branch()
        )
        other.kept.engine.resize(kept.engine.window.window_tokens)
        other.kept.engine.arrival.mode = kept.engine.arrival.mode
        if payloads := kept.engine.conversation.history.payloads:
            other.read(payloads)

    async def aclose(self) -> None:
        """End background work and flush the event log."""
        await self._providers.aclose()
        await self._ahead.aclose()
        if self._events is not None:
            await asyncio.to_thread(self._events.log.flush)

    @property
    def kept(self) -> "_Conversation":
        """The conversation, created on first use."""
        if self._kept is None:
            self._kept = self._begun(self._counter(), State())
        return self._kept

    def _go_on(self, state: State, providers: Providers) -> None:
        """Continue from a state with these providers."""
        counter, window = self.kept.counter, self.kept.engine.window
        calibration = counter.calibration.resumed(state.view.calibration)
        view = replace(state.view, calibration=calibration)
        self._kept = self._begun(counter, replace(state, view=view))
        self._kept.engine.resize(window.window_tokens)
        self._providers = providers

    def _begun(self, counter: MessageCounter, state: State) -> "_Conversation":
        """Create a conversation from a state."""
        given, config = self.given, self.given.config
        originals = originals_of(config, state.originals, given.original_store)
        summaries, advice = self._ahead.summaries(counter, state), self._ahead.advice(state)
        budget = given.budget or TokenBudgetManager(
            role=config.role,
            profile=config.profile,
            compact_at_fraction=config.compact_at_fraction,
            compact_to_fraction=config.compact_to_fraction,
        )
        parts = Parts(
            config=config,
            host=given.host,
            counter=counter,
            kinds=ToolKinds(named=config.tools),
            rates=price_in(config),
            budget=budget,
            compressor=guarded(self._ahead.compressor),
            original_store=originals,
            memory=self._ahead.memory(),
            summaries=summaries,
            advice=advice,
            cache_clock=given.clock,
            prioritizer=given.prioritizer,
            triggers=given.triggers,
        )
        window = Window(
            window_tokens=window_tokens_of(config),
            reserve_tokens=config.reserve_tokens,
            source=counter.source,
        )
        self._recall_tool = None
        view, is_new = state.view, not state.versions
        if view == ContextView():
            view = replace(view, calibration=counter.calibration)
        kept = state.versions[-max(1, config.versions) :]
        stop = max((past.decisions.stop for _, past in kept), default=0)
        versions = Versions(most=config.versions, kept=kept, stop=stop)
        if is_new:
            at_s = (given.clock or time.time)()
            summary = "the context as it was at the start"
            versions = versions.recorded("start", summary, view, at_s=at_s)
        return _Conversation(
            counter=counter,
            engine=Engine(parts, window=window, digests=state.digests),
            originals=originals,
            view=view,
            versions=versions,
            summaries=summaries,
            advice=advice,
            context_id=state.context_id or id_of(config),
            branches=state.branches,
        )

    def _counter(self) -> MessageCounter:
        given = self.given
        counter = MessageCounter.for_model(
            given.config.model, given.counter, own_name=given.host.own_name
        )
        if counter.source == "estimate" and given.counter is None:
            warnings.warn(
                "tokens are estimated, above the truth, since no tokenizer is at hand: await prepare, which fetches one, "
                'or pip install "autogen-context[fast]"',
                stacklevel=2,
            )
        return counter

    def _count(self, text: str) -> int:
        """Count a text without caching it."""
        return self.kept.counter.count(text).tokens

    def _count_exactly(self) -> None:
        """Rebuild the conversation with the exact tokenizer if it began with an estimate."""
        if self._kept is None or self._kept.counter.source != "estimate":
            return
        payloads, window = self._kept.engine.conversation.history.payloads, self._kept.engine.window
        counter, state = self._counter(), self.state
        if counter.calibration != self._kept.counter.calibration:
            view = replace(state.view, calibration=counter.calibration)
            state = replace(state, view=view)
        self._kept = self._begun(counter, state)
        self._kept.engine.resize(window.window_tokens)
        if payloads:
            self._follow(payloads)

    def _resize(self, window_tokens: int) -> None:
        """Use this window from the next turn on."""
        with self.lock:
            self.kept.engine.resize(window_tokens)


@dataclass(slots=True, kw_only=True)
class _Conversation:
    """The view of a conversation, its versions, and the parts that work on it."""

    counter: MessageCounter
    engine: Engine
    originals: OriginalStore
    view: ContextView
    versions: Versions
    summaries: Mapping[str, str]
    advice: "Mapping[str, Advice]"
    context_id: str
    branches: int


def id_of(config: ContextConfig) -> str:
    """Return the context id of a tenant's agent: 12 hex digits."""
    return content_digest(Scope(tenant=config.tenant, agent=config.agent).key)[:6].hex()


def turn_log(given: Given) -> "TurnLog | None":
    """Return the recorder for event log and metrics, if there are any."""
    if given.events is None and given.metrics is None:
        return None
    from autogen_context.manager.events import TurnLog  # noqa: PLC0415 - imported on demand

    return TurnLog(given.events, given.config, given.metrics)
