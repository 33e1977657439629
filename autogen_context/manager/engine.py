"""The engine: the stages of a turn in their order. Read ``Engine.turn`` first.

Promise: below ``compact_at_fraction`` a turn only appends. Above it one compaction brings the request well below, so that the
following turns append again. A request fits, or ``ContextWindowExceeded`` is raised and the view is unchanged. Views are
values; everything else an engine keeps can be rebuilt from a view and the host's list.
"""

import logging
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from autogen_context.budget.policy import TurnBudget
from autogen_context.cache.originals import OriginalStore
from autogen_context.cache.seal import store_key
from autogen_context.compressor.arrival import Arrival
from autogen_context.compressor.summaries import Span
from autogen_context.errors import ContextWindowExceeded
from autogen_context.ledger import Entry
from autogen_context.manager.goal import Wanted, goal_of, wanted_of
from autogen_context.manager.injected import (
    FilesShown,
    NoticeWriter,
    has_place,
    with_preamble,
)
from autogen_context.manager.offered_tools import GivenTools, Loaded, OfferedTools, in_order
from autogen_context.manager.parts import Setup
from autogen_context.manager.prefetch import Prefetcher
from autogen_context.manager.prepared import (
    CertifiedRequest,
    Prepared,
    RequestWriter,
)
from autogen_context.manager.record import BEFORE, record_of, recorded_in
from autogen_context.manager.room import RequestRoom, Rooms, Window, possible_rewrite
from autogen_context.manager.stated import StatementsSent
from autogen_context.manager.volatile import PromptChanges, VolatilePrompt
from autogen_context.messages.message import Message, as_message, handle_of
from autogen_context.messages.origin import Declared
from autogen_context.messages.piece import RoleRules, Written, messages_of
from autogen_context.messages.tool_schema import digest_of, has_recall_tool
from autogen_context.prioritizer.superseded import Superseded
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.tokens.prices import CostEstimate, estimate, price_of_rewrite
from autogen_context.triggers.proposals import FinishedEstimate
from autogen_context.view.alignment import HostChange
from autogen_context.view.conversation import Conversation
from autogen_context.view.decision import Candidate, Decision, Decisions, Why
from autogen_context.view.explanation import Reasoned
from autogen_context.view.goal import Goal
from autogen_context.view.invariants import satisfied
from autogen_context.view.prompt import SplitPrompt
from autogen_context.view.statement import AbsentRules, PersonStatement
from autogen_context.view.view import ContextView

if TYPE_CHECKING:
    from autogen_context.manager.compaction import CompactionPlanner, Plan
    from autogen_context.manager.finished import Finishing

LEAST_RETRIEVED = 64  # tokens; with less room nothing is retrieved

logger = logging.getLogger(__name__)


class Engine:
    """Prepares the turns of one conversation."""

    def __init__(
        self,
        setup: Setup,
        counter: MessageCounter,
        ready: Prefetcher,
        *,
        originals: OriginalStore,
        window: Window,
        digests: Sequence[bytes] = (),
        prompts: int = 0,
    ) -> None:
        config, host = setup.config, setup.host
        handle_key = store_key(config.store_key or None)
        self.conversation = Conversation(
            host,
            counter,
            orphans=config.orphans,
            digests=digests,
            prompts=prompts,
            handle_key=handle_key,
            declared=Declared.of(config.people, config.program_output),
        )
        self._superseded = Superseded(setup.kinds)
        self.files = FilesShown(self.conversation, self._superseded)
        self.arrival = Arrival(
            counter,
            kinds=setup.kinds,
            originals=originals,
            compressor=setup.compressor,
            reducers=setup.reducers,
            cache=setup.cache,
            handle_key=handle_key,
        )
        self._setup, self._counter, self._ready = setup, counter, ready
        self._originals = originals
        roles = RoleRules(alternate=config.alternate_roles, single_system=config.single_system)
        self._writer = RequestWriter(host, counter=counter, roles=roles)
        self._notices = NoticeWriter(counter, setup.compressor.shorten)
        self.rooms = Rooms(self.conversation, counter, self._notices, setup.budget, window)
        self.reasoned: Mapping[int, Reasoned] = {}  # why, of units that a compaction compared
        self._prompt_changes = PromptChanges()
        in_front = config.single_system or not host.later_system
        self._volatile = (
            VolatilePrompt(self.conversation, counter, in_front=in_front)
            if config.volatile == "behind"
            else None
        )
        self._warned: tuple[frozenset[bytes], int] | None = None
        fraction = config.tools_fraction if config.enabled else None
        self.tools = OfferedTools(counter, fraction=fraction)
        self.for_tools(ContextView(), GivenTools())

    # The stages of a turn

    def prepare(
        self, view: ContextView, payloads: Sequence[object]
    ) -> tuple[ContextView, Prepared[object]]:
        """Prepare a turn; the view already has the host's messages, and ``for_tools`` was called."""
        calibration = view.calibration.with_fixed(self.rooms.fixed.tokens)
        if calibration is not view.calibration:
            view = replace(view, calibration=calibration)
        try:
            return self.turn(view, payloads)
        except ContextWindowExceeded:
            believed, before = view.calibration, view.calibration.before
            if before is None:
                raise
        # A single wrong bill must not block all further turns: use the calibration before it.
        self._count_tools(view)
        view, prepared = self.turn(replace(view, calibration=before), payloads)
        return replace(view, calibration=believed), prepared

    def turn(
        self, view: ContextView, payloads: Sequence[object]
    ) -> tuple[ContextView, Prepared[object]]:
        """Run the stages in their order; arguments and errors as of ``prepare``."""
        clock = self._setup.options.get("clock")
        now_s = clock() if clock else None
        view = self.with_prompt(self.with_tool_order(view))
        rewrites = view.rewrites
        view = self.opened(view)
        room = self.rooms.of(view)
        cost = self.estimate(view, room, now_s)
        view, answer, finished = self.cut(view, room, cost)
        view = self.with_injected(view, answer)
        view, request = self.fitting(view, since=rewrites)
        view = self.with_absent_rules(view)
        certificate = request.certificate
        if absent := view.absent.rules:
            certificate = replace(certificate, rules_absent=absent)
        compacted, units = view.rewrites > rewrites, len(self.conversation.candidates)
        waited = cost.waited_tokens
        pace = view.pace.after_turn(waited, rewrote=compacted, units=units, now_s=now_s)
        view = replace(view, pace=pace, must_replan=False, sent=view.decisions.stop)
        prepared = Prepared(
            messages=self._writer.payloads(request.pieces, payloads),
            certificate=certificate,
            decisions=view.decisions,
            compacted=compacted,
            cost_estimate=finished.cost_estimate if finished and finished.is_done else cost,
            finished=finished,
            moved=view.prompt.moved,
            tools=self.tools.sent(view.loaded_tools),
            deferred_tools=self.tools.deferred(view.loaded_tools),
        )
        return view, prepared

    def with_tool_order(self, view: ContextView) -> ContextView:
        """Return the view with the order in which tools first came, so that another one does not change the request."""
        order = self.tools.order(view.tool_order)
        return view if order is view.tool_order else replace(view, tool_order=order)

    def with_prompt(self, view: ContextView) -> ContextView:
        """Return the view with the newest system prompt, and what changes of it behind what is stable where that is set."""
        if self._volatile is not None:
            new = self._volatile.split(view, self.pinned(view))
        elif view.prompt.stable:  # of a state with the setting
            heads = range(self.conversation.system_messages)
            whole = replace(view, prompt=SplitPrompt())
            new = whole.with_heads(heads, self.conversation.candidates, why=Why.SYSTEM)
        else:
            return view
        if new.decisions is not view.decisions:
            self._writer.forget()
            self.arrival.replace(view.decisions, new.decisions)
        return new

    def opened(self, view: ContextView) -> ContextView:
        """Return the view with what a turn begins with: notices that still hold, a first preamble, or all anew after a change."""
        if view.notices.in_force:
            view = self.files.without_unseen(view)
        if not view.sent and view.preamble.is_offered:
            room = self.rooms.of(view, rewritten=True)
            view = self.with_new_preamble(view, room.budget, view.tokens + room.due_tokens)
        return self.restarted(view) if view.must_replan else view

    def cut(
        self, view: ContextView, room: RequestRoom, cost: CostEstimate
    ) -> tuple[ContextView, Message | None, FinishedEstimate | None]:
        """Return the view compacted or without finished work if that is due, what is retrieved then, and what is finished.

        It is compacted if the window forces it, if the price favours it, or if a question about the past needs room.
        """
        asks, answer = self.retrieved(view, room)
        needs_room = asks and answer is None and room.free_tokens < room.budget.retrieved_tokens
        is_free = cost.price.is_cold and cost.rewrites
        is_free = is_free and self._setup.config.compaction != "when_full"
        if cost.why == "forced" or is_free or needs_room:
            view, room = self.compacted(view, room)
            return view, self.retrieved(view, room)[1], None
        if not self._setup.judges_finished:
            return view, answer, None
        pace, finished, changes = self._finishing.judged(view, room, cost.price, self.pinned(view))
        view = replace(view, pace=pace)
        if changes:
            tokens = view.tokens
            view, room = self.paced(self.rewritten(view, changes, since=min(changes)), tokens)
            answer = self.retrieved(view, room)[1]
        return view, answer, finished

    def fitting(self, view: ContextView, *, since: int) -> tuple[ContextView, CertifiedRequest]:
        """Return the view and its request, compacted until it fits; there were ``since`` rewrites before this turn.

        Role fillers or another tokenizer add tokens that the view does not know; each time there is less room, so it ends.
        """
        request, extra_tokens = self._request(view), 0
        while request.certificate.bound.tokens > request.certificate.limit_tokens:
            room = self.rooms.of(view)
            unknown = request.certificate.counted_tokens - room.used_tokens
            extra_tokens = max(unknown, extra_tokens + 1) if view.rewrites > since else 0
            view, _ = self.compacted(view, room, extra_tokens)
            request = self._request(view)
        return view, request

    def realigned(self, view: ContextView, change: HostChange) -> ContextView:
        """Return the view after the host changed its list: what stays is sent as it was."""
        if change.heads:
            return self._with_heads(view, change)
        self._writer.forget()
        self.reasoned = {}
        return view.realigned(change, self.conversation.candidates)

    def _with_heads(self, view: ContextView, change: HostChange) -> ContextView:
        """Return the view after other system messages replaced leading ones; all else is as it was."""
        if self._volatile is not None:
            return view  # it is split in the turn
        why = Why.VOLATILE if self._prompt_changes.noted(view.pace.turns) else None
        new = view.with_heads(change.heads, self.conversation.candidates, why=why)
        self._writer.replace_heads(max(change.heads), new.tokens - view.tokens)
        self.arrival.replace(view.decisions, new.decisions)
        return new

    def with_record(
        self, view: ContextView, room: RequestRoom, stated: Iterable[Entry] | None = None
    ) -> ContextView:
        """Return the view with what still holds of messages that the host cut; ``stated`` adds to it or takes away."""
        if stated is None and not view.record.stated:
            return view
        entries = recorded_in(view.record) if stated is None else list(stated)
        stated_now = self.planner.stated(replace(each, position=BEFORE) for each in entries)
        entries = [each for each in stated_now if each.position < 0]
        record = record_of(entries, room.budget.notice_tokens, self._counter.text)
        record = replace(record, wanted=view.record.wanted)
        return replace(view, record=record, absent=AbsentRules())

    def stated_at(self, view: ContextView, positions: Container[int]) -> list[Entry]:
        """Return what still holds of messages at these positions, and of those that the host cut before."""
        stated = self.planner.stated(recorded_in(view.record))
        own = (each for each in stated if not each.reported)
        return [each for each in own if each.position < 0 or each.position in positions]

    def goal(self, view: ContextView) -> Goal:
        """Return what people want, or what a program set."""
        return goal_of(view, self.conversation)

    def wanted(self, view: ContextView) -> Wanted:
        """Return the goal, and what was said last."""
        return wanted_of(view, self.conversation)

    def statements(self, view: ContextView) -> list[PersonStatement]:
        """Return what people stated and still holds, and whether the view sends it."""
        return list(self._sent(view).of(self.planner.stated(recorded_in(view.record))))

    def _sent(self, view: ContextView) -> StatementsSent:
        return StatementsSent(view, self.conversation, self._writer.pieces(view.decisions))

    def with_absent_rules(self, view: ContextView) -> ContextView:
        """Return the view with the rules in force that its request has not.

        While the sent prefix holds they stay the same, unless a person speaks, or a notice tells of one.
        """
        known, last = view.absent, view.decisions.last
        if not (view.decisions.hidden or view.record.stated):
            return replace(view, absent=AbsentRules()) if known.rules else view
        people, candidates = self.conversation.overview.people, self.conversation.candidates
        has_news = (people and candidates[people[-1]].unit.start >= view.sent) or (
            known.rules and last is not None and last.before
        )
        goes_on = known.rewrites == view.rewrites and bool(view.sent)
        if goes_on and not has_news:
            return view
        sent, stated = self._sent(view), self.planner.stated(recorded_in(view.record))
        absent = (
            sent.absent_since(known.rules, stated, since=view.sent)
            if goes_on
            else sent.absent(stated)
        )
        return replace(view, absent=AbsentRules(rules=tuple(absent), rewrites=view.rewrites))

    def keep(self, candidates: Iterable[Candidate]) -> None:
        """Store the originals of units that the host no longer has."""
        originals = [
            (handle_of(each.unit.messages, key=each.handle_key), each.unit.messages)
            for each in candidates
        ]
        if originals:
            self._originals.put_all(originals)

    def with_new(self, view: ContextView) -> ContextView:
        """Return the view with decisions on all units that are new or have grown, reduced on arrival, and the tools that they load."""
        conversation, before = self.conversation, view.decisions
        decisions = self.arrival.extended(
            before, conversation.candidates, conversation.messages, spared=self.pinned(view)
        )
        new = view if decisions is before else replace(view, decisions=decisions)
        loaded = self.tools.loaded(view.loaded_tools, conversation.candidates, before.stop)
        return self._with_loaded(new, loaded)

    def with_new_preamble(
        self, view: ContextView, budget: TurnBudget, others_tokens: int
    ) -> ContextView:
        """Return the view with the offered preamble after the system prompt, as far as it fits in addition to the others."""
        conversation = self.conversation
        if conversation.system_messages == len(conversation.messages):
            return view
        free = budget.compact_at_tokens - self.rooms.fixed.tokens - others_tokens
        return with_preamble(view, free, self._counter.own)

    def restarted(self, view: ContextView) -> ContextView:
        """Return the view with all messages as they came in, if a pin or a changed history requires a new plan and all fits."""
        room = self.rooms.of(view)
        used = self.conversation.tokens + room.other_tokens + room.due_tokens
        is_whole = not any(decision.handle for decision in view.decisions)
        if is_whole or used > room.budget.compact_at_tokens:
            return view
        notices, rewrites = view.notices.anew(), view.rewrites + 1
        view = replace(view, decisions=Decisions(), notices=notices, sent=0, rewrites=rewrites)
        return self.files.without_unseen(self.with_new(view))

    def estimate(self, view: ContextView, room: RequestRoom, now_s: float | None) -> CostEstimate:
        """Estimate whether to compact in this turn.

        It is forced if the view is above ``compact_at_fraction`` and a compaction can help, or if a protected message is
        missing since a pin or a changed history.
        """
        rates, pace, tokens = self._setup.rates, view.pace, room.needed_tokens
        rewrite = possible_rewrite(view, room, self.conversation.candidates)
        is_vain = tokens < pace.retry_at_tokens
        is_above = tokens > room.budget.compact_at_tokens
        is_forced = tokens > room.tokens or (is_above and (view.must_replan or not is_vain))
        if view.must_replan and not is_forced:
            protected = self.conversation.protected(self.pinned(view))
            is_forced = not satisfied(view.decisions, protected)
        last_s = now_s if pace.last_turn_s is None else pace.last_turn_s
        idle_s = 0.0 if now_s is None or last_s is None else now_s - last_s
        return estimate(
            price_of_rewrite(rewrite, rates, is_cold=rates.is_cold(idle_s=idle_s)),
            waited_tokens=pace.waited_tokens,
            turns=pace.turns + 1,
            is_forced=is_forced,
            is_vain=is_vain,
        )

    def compacted(
        self, view: ContextView, room: RequestRoom, extra_tokens: int = 0
    ) -> tuple[ContextView, RequestRoom]:
        """Return the view after a compaction, and its room; where nothing fits, more tools are deferred."""
        candidates = self.conversation.candidates
        smaller = self.tools.fewer(view.loaded_tools, candidates)
        if view.loaded_tools:
            protected = self.conversation.protected(self.pinned(view))
            needed = sum(candidates[i].tokens for i in protected) + extra_tokens
            while (
                needed + self.rooms.other_tokens(view) > self.rooms.of(view, rewritten=True).tokens
            ):
                if (loaded := next(smaller, None)) is None:
                    break
                view = self._deferred(view, loaded)
        while True:
            try:
                return self._compacted(view, room, extra_tokens)
            except ContextWindowExceeded:
                if (loaded := next(smaller, None)) is None:
                    raise
                view = self._deferred(view, loaded)

    def _compacted(
        self, view: ContextView, room: RequestRoom, extra_tokens: int
    ) -> tuple[ContextView, RequestRoom]:
        """Return the view after a compaction, with the newest preamble as far as protected messages leave room for it."""
        pinned, candidates, budget = self.pinned(view), self.conversation.candidates, room.budget
        next_room = self.rooms.of(view, rewritten=True)
        view = self.with_record(view, room)
        if view.preamble.is_offered:
            protected = sum(candidates[i].tokens for i in self.conversation.protected(pinned))
            view = self.with_new_preamble(view, next_room.budget, extra_tokens + protected)
        free = self._notices.needed_tokens(view.notices.anew().due, budget)
        other = self.rooms.other_tokens(view) + extra_tokens
        try:
            plan = self._planned(view, next_room, other + free, pinned)
        except ContextWindowExceeded:
            if view.record.text:  # is no reason to fail
                view = replace(view, record=replace(view.record, text=""))
                other = self.rooms.other_tokens(view) + extra_tokens
            elif not free:
                raise
            free, plan = 0, self._planned(view, next_room, other, pinned)
        self.reasoned = plan.reasoned
        if self._volatile is not None:
            view = self._volatile.placed(view)
        notices = view.notices.anew(overruled=plan.overruled, waits=not free)
        tokens = view.tokens
        view = self.rewritten(replace(view, notices=notices, sent=0), plan.decided)
        view, room = self.paced(self.files.without_unseen(view), tokens)
        if view.pace.retry_at_tokens:
            self._warn_of_protected(view, room, pinned)
        return view, room

    def rewritten(
        self, view: ContextView, changes: Mapping[int, Decision], *, since: int = 0
    ) -> ContextView:
        """Return the view with changed decisions, none of a unit before ``since``; the originals of what leaves are kept."""
        conversation = self.conversation
        if self._volatile is not None:
            changes = self._volatile.with_reasons(changes)
        decisions = self.arrival.finalise(
            view.decisions,
            changes,
            conversation.candidates,
            conversation.messages,
            spared=self.pinned(view),
            since=since,
        )
        return replace(view, decisions=decisions, rewrites=view.rewrites + 1)

    def paced(self, view: ContextView, tokens_before: int) -> tuple[ContextView, RequestRoom]:
        """Return a rewritten view that knows from which size on another rewrite may help, and its room."""
        room, retry = self.rooms.of(view), 0
        if room.used_tokens > room.budget.compact_at_tokens:  # what is protected stays above it
            retry = room.used_tokens + max(1, (room.tokens - room.used_tokens) // 2)
        numbers = {"tokens_before": tokens_before, "tokens_after": view.tokens}
        logger.info("compacted", extra={**numbers, "room_tokens": room.tokens})
        return replace(view, pace=replace(view.pace, retry_at_tokens=retry)), room

    def retrieved(self, view: ContextView, room: RequestRoom) -> tuple[bool, Message | None]:
        """Return whether a person asks about something that left the window, and the retrieved context that fits."""
        messages, newest, count = self.conversation.messages, view.decisions.last, self._counter
        is_sent = newest is None or newest.start < view.sent
        if is_sent or not view.decisions.hidden:
            return False, None
        query, memory = self.conversation.said_now, self._ready.memory
        if not query:
            return False, None

        def in_sight() -> Iterator[Message]:  # read only if needed
            yield from messages_of(self._writer.pieces(view.decisions), messages)[:-1]

        # a question does not answer itself
        self.conversation.index.follow(memory, stop=len(self.conversation.candidates) - 1)
        if not memory.decide(query, in_sight()).retrieve:
            return False, None
        most_tokens = min(room.budget.retrieved_tokens, room.free_tokens)
        if most_tokens < LEAST_RETRIEVED:
            return True, None
        most_tokens -= count.own("")
        hides = view.decisions.hides_message
        text = memory.text(query, hides, room_tokens=most_tokens, count=count.text)
        return True, as_message(text) if text else None

    def with_injected(self, view: ContextView, answer: Message | None) -> ContextView:
        """Return the view with retrieved context, a late preamble and due notices placed before the newest unit."""
        last = view.decisions.last
        if answer is not None:
            tokens = self._counter.message(answer)
            view = view.with_before_last(Written(message=answer), tokens)
        if last is None or not (view.notices.due or view.preamble.offer.parts):
            return view
        if not has_place(view, self.conversation.candidates):
            return view
        if view.preamble.is_late:
            room = self.rooms.of(view)
            free = room.tokens - room.used_tokens
            view = with_preamble(view, free, self._counter.own, at=last.start)
        room = self.rooms.of(view)
        free = room.tokens - room.used_tokens
        return self._notices.placed(view, room.budget, free_tokens=free)

    # Queries about a view

    def for_tools(self, view: ContextView, given: GivenTools) -> None:
        """Count the tools of the next request, in their order; ``reduce="auto"`` depends on the recall tool."""
        given = given._replace(schemas=in_order(given.schemas, view.tool_order))
        self.tools.give(given, self.rooms.window.limit_tokens)
        self._count_tools(view)
        mode = self._setup.config.reduce
        if mode == "auto":
            is_lossy = given.schemas and has_recall_tool(given.schemas)
            mode = "lossy" if is_lossy else "lossless"
        self.arrival.mode = mode

    def _count_tools(self, view: ContextView) -> None:
        sent, log = self.tools.sent(view.loaded_tools), self._setup.log
        which = digest_of(sent) if sent and log is not None else ""
        if log is not None:
            log.know_tools(which, sent)
        self.rooms.for_tools(self.tools.tokens(view.loaded_tools), which)

    def _deferred(self, view: ContextView, loaded: Loaded | None) -> ContextView:
        """Return the view with fewer tools loaded; the bills so far had others."""
        fewer = self._with_loaded(view, loaded)
        if fewer is view:
            return view
        calibration = view.calibration.with_fixed(self.rooms.fixed.tokens)
        return replace(fewer, calibration=calibration)

    def _with_loaded(self, view: ContextView, loaded: Loaded | None) -> ContextView:
        """Return the view with these tools loaded, and count them."""
        if loaded == view.loaded_tools:
            return view
        view = replace(view, loaded_tools=loaded)
        self._count_tools(view)
        return view

    def pinned(self, view: ContextView) -> frozenset[int]:
        """Return the positions of pinned messages."""
        return self.conversation.history.positions(view.pins) if view.pins else frozenset()

    def is_little(self, view: ContextView) -> bool:
        """Whether the next turn, whose list was read, is little work: few new characters, and nothing to be judged or rewritten."""
        conversation, config = self.conversation, self._setup.config
        new, room = conversation.candidates[len(view.decisions) :], self.rooms.of(view)
        used = room.used_tokens + sum([each.tokens for each in new])
        if view.must_replan or self._setup.judges_finished or used > room.budget.compact_at_tokens:
            return False
        if view.preamble.is_offered and not (view.sent and view.preamble.is_placed):
            return False
        if view.decisions.hidden and conversation.messages[-1].role == "user":
            return False  # it may ask for what is hidden
        # By the clock the provider's cache may have expired, so that it pays to compact.
        return config.compaction == "when_full" or self._setup.options.get("clock") is None

    def spans(self, view: ContextView) -> list[Span]:
        """Return the spans that will leave first, each to be summarised separately: by the room that the compaction will have."""
        return self.planner.spans(self.rooms.of(view, rewritten=True).tokens, self.pinned(view))

    @cached_property
    def planner(self) -> "CompactionPlanner":
        """Plans compactions; imported on first use, which most short conversations never need."""
        from autogen_context.manager.compaction import CompactionPlanner  # noqa: PLC0415 - as said

        return CompactionPlanner(
            self._setup, self._counter, self._ready, self.conversation, self._superseded
        )

    @cached_property
    def _finishing(self) -> "Finishing":
        """Judges finished work; imported only if that is switched on."""
        from autogen_context.manager.finished import Finishing  # noqa: PLC0415 - as said

        return Finishing(self._setup, self.planner, self._ready.intents)

    def _planned(
        self, view: ContextView, room: RequestRoom, fixed_tokens: int, pinned: frozenset[int]
    ) -> "Plan":
        """Plan a compaction."""
        stale = self.files.stale(view)
        try:
            return self.planner.planned(
                view,
                limit_tokens=room.tokens,
                fixed_tokens=fixed_tokens,
                pinned=pinned,
                stale=stale,
                known=self.reasoned,
            )
        except ContextWindowExceeded as error:
            counted, window = error.least_tokens + fixed_tokens, self.rooms.window
            bound = window.bound(view.calibration, counted, view.rewrites + 1).tokens
            parts = {"tools and format": fixed_tokens}
            parts |= {"calibration": bound - counted} if bound > counted else {}
            tools, tokens = len(self.tools.sent(view.loaded_tools)), self.rooms.fixed.assumed
            raise error.within(
                window.limit_tokens, parts, tools=tools, tools_tokens=tokens
            ) from None

    def _request(self, view: ContextView) -> CertifiedRequest:
        pinned, rooms = self.pinned(view), self.rooms
        return self._writer.request(
            view, self.conversation, window=rooms.window, fixed=rooms.fixed, pinned=pinned
        )

    def _warn_of_protected(
        self, view: ContextView, room: RequestRoom, pinned: frozenset[int]
    ) -> None:
        """Warn once that protected messages alone exceed ``compact_at_fraction``, so that many turns may compact."""
        cause, parts = (view.pins, self.rooms.window.limit_tokens), Counter[str]()
        if cause == self._warned:
            return
        self._warned = cause
        for i, why in self.conversation.protected(pinned).items():
            parts[why] += view.decisions[i].tokens_after
        mark = room.budget.compact_at_tokens
        logger.warning(
            "the protected messages leave no room below compact_at_fraction; unpin messages, shorten the system prompt, or raise "
            "window_tokens or compact_at_fraction",
            extra={"mark_tokens": mark, "view_tokens": view.tokens, "parts": dict(parts)},
        )
