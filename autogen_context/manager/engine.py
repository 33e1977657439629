"""The engine: the stages of a turn in their order. Read ``Engine.turn`` first.

Promise: below ``compact_at_fraction`` a turn only appends. Above it one compaction brings the request well below, so that the
following turns append again. A request fits, or ``ContextWindowExceeded`` is raised and the view is unchanged. Views are
values; everything else an engine keeps can be rebuilt from a view and the host's list.
"""

import logging
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from autogen_context.budget.policy import TurnBudget
from autogen_context.compressor.arrival import Arrival
from autogen_context.compressor.summaries import Span
from autogen_context.errors import ContextWindowExceeded
from autogen_context.manager.injected import NoticeWriter, Retriever, chosen, placed_anew
from autogen_context.manager.parts import Parts, cuts_finished
from autogen_context.manager.prepared import (
    CertifiedRequest,
    Fixed,
    Prepared,
    RequestWriter,
    Window,
)
from autogen_context.messages.message import SYSTEM_ROLES, Message
from autogen_context.messages.piece import RoleRules, Written, messages_of
from autogen_context.messages.tool_schema import has_recall_tool
from autogen_context.tokens.calibrate import Calibration
from autogen_context.triggers.price import CostEstimate, Rewrite, estimate, price_of_rewrite
from autogen_context.view.conversation import Conversation
from autogen_context.view.decision import Decision, Decisions
from autogen_context.view.protected import satisfied
from autogen_context.view.view import ContextView, as_message

if TYPE_CHECKING:
    from autogen_context.manager.compaction import CompactionPlanner
    from autogen_context.manager.finished import Finishing
    from autogen_context.prioritizer.selection import Explanation

logger = logging.getLogger(__name__)


class RequestRoom(NamedTuple):
    """The next request in tokens of our own count: what it may have, what it has so far, and the turn's budget."""

    tokens: int
    used_tokens: int  # units, preamble, tools and format
    due_tokens: int  # notices that are to be sent
    budget: TurnBudget

    @property
    def needed_tokens(self) -> int:
        """What it has, with the notices."""
        return self.used_tokens + self.due_tokens

    @property
    def free_tokens(self) -> int:
        """What is left; negative if it exceeds the room."""
        return self.tokens - self.needed_tokens


class Engine:
    """Prepares the turns of one conversation."""

    def __init__(self, parts: Parts, *, window: Window, digests: Sequence[bytes] = ()) -> None:
        setup, counter = parts.setup, parts.counter
        self._parts, self._config, self._options = parts, setup.config, setup.options
        config, host = setup.config, setup.host
        self.window = window
        self.fixed = Fixed(tokens=counter.overheads.per_request, assumed=0)
        self.conversation = Conversation(host, counter, orphans=config.orphans, digests=digests)
        self.notices = NoticeWriter(counter, setup.kinds)
        self.arrival = Arrival(
            counter,
            kinds=setup.kinds,
            keep=parts.original_store.put_text,
            compressor=parts.compressor,
        )
        self._arrived = Decisions()  # decisions that the line index has read
        self._is_read = False
        # Length of the host's list that is unchanged since a view followed it.
        self._same = len(digests)
        roles = RoleRules(alternate=config.alternate_roles, single_system=config.single_system)
        self._writer = RequestWriter(host, counter=counter, roles=roles)
        self._retriever = Retriever(parts.memory, counter)
        self._calibration = Calibration()
        self._limits: dict[int, int] = {}  # of a request in our own count, by number of rewrites
        self._warned: tuple[frozenset[bytes], int] | None = None

    # The stages of a turn

    def prepare(
        self, view: ContextView, payloads: Sequence[object]
    ) -> tuple[ContextView, Prepared[object]]:
        """Prepare a turn; the view already follows the host's list, and ``for_tools`` was called."""
        calibration = view.calibration.with_fixed(self.fixed.tokens)
        if calibration is not view.calibration:
            view = replace(view, calibration=calibration)
        try:
            return self.turn(view, payloads)
        except ContextWindowExceeded:
            believed, before = view.calibration, view.calibration.before
            if before is None:
                raise
        # A single wrong bill must not block all further turns: use the calibration before it.
        view, prepared = self.turn(replace(view, calibration=before), payloads)
        return replace(view, calibration=believed), prepared

    def turn(
        self, view: ContextView, payloads: Sequence[object]
    ) -> tuple[ContextView, Prepared[object]]:
        """Run the stages in their order; arguments and errors as of ``prepare``."""
        clock, rewrites = self._options.get("clock"), view.rewrites
        now_s = clock() if clock else None
        if view.notices.standing:
            view = self.notices.without_unseen(view, self.conversation.candidates)
        if not view.sent and view.preamble.is_offered:
            view = self.with_preamble(view)
        if view.must_replan:
            view = self.restarted(view)
        room, finished = self.room(view), None
        cost = self.estimate(view, room, now_s)
        asks, answer = self.retrieved(view, room)
        if self.must_compact(cost, room, needs_room=asks and answer is None):
            view = self.compacted(view)
            _, answer = self.retrieved(view, self.room(view))
        elif self._judges_finished:
            view, finished = self._finishing.judge(view, room.needed_tokens, now_s=now_s)
            if finished and finished.is_done:
                _, answer = self.retrieved(view, self.room(view))
        view = self.with_injected(view, answer)
        request, extra_tokens = self._request(view), 0
        while request.certificate.bound.tokens > request.certificate.limit_tokens:
            # Role fillers or another tokenizer add tokens that the view does not know: compact with less room.
            unknown = request.certificate.counted_tokens - self.room(view).used_tokens
            is_cut = view.rewrites > rewrites  # less room each time, so the loop ends
            extra_tokens = max(unknown, extra_tokens + 1) if is_cut else 0
            view = self.compacted(view, extra_tokens)
            request = self._request(view)
        compacted, units = view.rewrites > rewrites, len(self.conversation.candidates)
        waited = cost.waited_tokens
        pace = view.pace.after_turn(waited, rewrote=compacted, units=units, now_s=now_s)
        view = replace(view, pace=pace, must_replan=False, sent=view.decisions.stop)
        self._arrived = view.decisions
        prepared = Prepared(
            messages=self._writer.payloads(request.pieces, payloads),
            certificate=request.certificate,
            decisions=view.decisions,
            compacted=compacted,
            cost_estimate=finished.cost_estimate if finished and finished.is_done else cost,
            finished=finished,
        )
        return view, prepared

    def read(self, payloads: Sequence[object]) -> int:
        """Read and measure the host's list; decisions are made in the turn, when the tools are known."""
        self._same = min(self._same, self.conversation.update(payloads))
        return self._same

    def cut_back(self, view: ContextView) -> ContextView:
        """Return the view without the part of the history that the host changed."""
        same, self._same = self._same, len(self.conversation.messages)
        if same >= view.decisions.stop:
            return view
        self._writer.forget()
        return view.cut_back(same)

    def synced(self, view: ContextView) -> ContextView:
        """Return the view following the host's list: new messages reduced on arrival, changed history removed."""
        return self._with_new(self.cut_back(view))

    def _with_new(self, view: ContextView) -> ContextView:
        """Return the view with decisions on all units that are new or have grown."""
        candidates, pinned = self.conversation.candidates, self.pinned(view)
        decisions, arrival = view.decisions, self.arrival
        if decisions is not self._arrived or not self._is_read:
            sent = self._writer.pieces(decisions)
            arrival.restart(messages_of(sent, self.conversation.messages))
            self._is_read = True
        last, known, hiding = decisions.last, len(decisions), list[int]()
        if last is not None:
            grown = arrival.decide(candidates[known - 1], last, spared=pinned)
            if grown is not last:
                decisions = decisions.with_last(grown)
                hiding += [known - 1] if grown.handle else []
        for i in range(known, len(candidates)):
            new = arrival.decide(candidates[i], None, spared=pinned)
            decisions = decisions.extended(new)
            hiding += [i] if new.handle else []
        self._keep_originals(decisions, hiding)
        self._arrived = decisions
        return view if decisions is view.decisions else replace(view, decisions=decisions)

    def with_preamble(self, view: ContextView) -> ContextView:
        """Return the view with the newest preamble, at the start or after a rewrite."""
        after, count = self.room(view, rewrites=1), self._parts.counter.message
        used = view.tokens + self.fixed.tokens + after.due_tokens
        free = after.budget.compact_at_tokens - used
        return placed_anew(view, chosen(view, self.conversation, free, count), count)

    def restarted(self, view: ContextView) -> ContextView:
        """Return the view with all messages as they came in, if a pin or a changed history requires a new plan and all fits."""
        room = self.room(view)
        used = self.conversation.tokens + room.needed_tokens - view.tokens
        is_whole = not any(decision.handle for decision in view.decisions)
        if is_whole or used > room.budget.compact_at_tokens:
            return view
        view = replace(view, rewrites=view.rewrites + 1, decisions=Decisions())
        return self.notices.anew(self._with_new(view), self.conversation.candidates)

    def estimate(self, view: ContextView, room: RequestRoom, now_s: float | None) -> CostEstimate:
        """Estimate whether to compact in this turn.

        It is forced if the view is above ``compact_at_fraction`` and a compaction can help, or if a protected message is
        missing since a pin or a changed history.
        """
        tokens, rates, pace = room.needed_tokens, self._parts.rates, view.pace
        is_vain = pace.is_vain(tokens, limit_tokens=self.window.limit_tokens)
        is_above = tokens > room.budget.compact_at_tokens
        is_forced = tokens > room.tokens or (is_above and (view.must_replan or not is_vain))
        if view.must_replan and not is_forced:
            protected = self.conversation.protected(self.pinned(view))
            is_forced = not satisfied(view.decisions, protected)
        rewrite = self._possible(view, room, tokens - view.tokens)
        return estimate(
            price_of_rewrite(rewrite, rates, is_cold=rates.is_cold(idle_s=pace.idle_s(now_s))),
            waited_tokens=pace.waited_tokens,
            turns=pace.expected_turns,
            is_forced=is_forced,
            is_vain=is_vain,
        )

    def must_compact(self, cost: CostEstimate, room: RequestRoom, *, needs_room: bool) -> bool:
        """Whether to compact: the window forces it, the price favours it, or a question about the past needs room."""
        if cost.why == "forced":
            return True
        if cost.price.is_cold and cost.rewrites and self._config.compaction != "when_full":
            return True
        return needs_room and room.free_tokens < room.budget.retrieved_tokens

    def compacted(self, view: ContextView, extra_tokens: int = 0) -> ContextView:
        """Return the view after a compaction, with the newest preamble as far as protected messages leave room for it."""
        pinned, count = self.pinned(view), self._parts.counter.message
        after, used, preamble = self.room(view, rewrites=1), self.fixed.tokens, view.preamble
        used += extra_tokens
        if preamble.is_offered:
            candidates = self.conversation.candidates
            protected = sum(candidates[i].tokens for i in self.conversation.protected(pinned))
            free = after.budget.compact_at_tokens - used - protected
            preamble = chosen(view, self.conversation, free, count)
        used += count(as_message(preamble.text)) if preamble.text else 0
        promised = self._possible(view, self.room(view), used).saved_tokens
        free = self.notices.room_kept_free(view, after.budget)
        try:
            changes = self._planned(view, used + free, pinned)
        except ContextWindowExceeded:
            if not free:
                raise
            free, changes = 0, self._planned(view, used, pinned)
        tokens = view.tokens + used
        view = self.rewritten(view, changes, tokens, promised_tokens=promised)
        view = self.notices.anew(
            view,
            self.conversation.candidates,
            overruled=self.planner.overruled(),
            waits=not free,
        )
        view = placed_anew(view, preamble, count)
        self._warn_of_protected(view, used, pinned)
        return view

    def rewritten(
        self,
        view: ContextView,
        changes: Mapping[int, Decision],
        tokens: int,
        *,
        promised_tokens: int,
        since: int = 0,
    ) -> ContextView:
        """Return the view with changed decisions, and store the originals of what leaves a request of ``tokens``."""
        settled = self.arrival.settle(
            view.decisions.changed(changes),
            self.conversation.candidates,
            self.conversation.messages,
            spared=self.pinned(view),
            since=since,
        )
        self._arrived, self._is_read = settled, True
        new = [i for i in changes if settled[i] is not view.decisions[i] and settled[i].handle]
        self._keep_originals(settled, new)
        pace = view.pace.compacted(
            tokens,
            promised_tokens=promised_tokens,
            saved_tokens=view.tokens - settled.tokens,
            limit_tokens=self.window.limit_tokens,
        )
        numbers = {"tokens_before": view.tokens, "tokens_after": settled.tokens}
        view = replace(view, decisions=settled, rewrites=view.rewrites + 1, pace=pace)
        logger.info("compacted", extra={**numbers, "room_tokens": self.room(view).tokens})
        return view

    def retrieved(self, view: ContextView, room: RequestRoom) -> tuple[bool, Message | None]:
        """Return whether a person asks about something that left the window, and the retrieved context that fits."""
        messages, newest = self.conversation.messages, view.decisions.last
        is_sent = newest is None or newest.start < view.sent
        if is_sent or not view.decisions.hidden or messages[-1].role != "user":
            return False, None
        pieces, most_tokens = self._writer.pieces(view.decisions), room.budget.retrieved_tokens
        most_tokens = min(most_tokens, room.free_tokens)
        return self._retriever.answer(view, messages, pieces, most_tokens)

    def with_injected(self, view: ContextView, answer: Message | None) -> ContextView:
        """Return the view with retrieved context and due notices placed before the newest unit."""
        if answer is not None:
            tokens = self._parts.counter.message(answer)
            view = view.with_before_last(Written(message=answer), tokens)
        if view.notices.due or view.preamble.offer.parts:
            room, candidates = self.room(view), self.conversation.candidates
            free = room.tokens - room.used_tokens
            view = self.notices.told(view, candidates, room.budget, free_tokens=free)
        return view

    # Queries about a view

    def room(self, view: ContextView, *, rewrites: int = 0) -> RequestRoom:
        """Return the room of the next request, after this many further rewrites."""
        calibration, after = view.calibration, view.rewrites + rewrites
        if calibration is not self._calibration:
            self._calibration, self._limits = calibration, {}
        if after not in self._limits:
            limit = self.window.limit_tokens
            self._limits = {n: calibration.room(limit, rewrites=n) for n in (after, after + 1)}
        tokens, text, due = self._limits[after], view.preamble.text, 0
        budget = self._parts.budget.for_turn(tokens)
        used = view.decisions.tokens + self.fixed.tokens
        used += self._parts.counter.message(as_message(text)) if text else 0
        if view.notices.due:
            due = self.notices.room_due(view, self.conversation.candidates, budget)
        return RequestRoom(tokens, used, due, budget)

    def for_tools(self, tools: Sequence[Mapping[str, object]]) -> None:
        """Count the tools of the next request; ``reduce="auto"`` depends on the recall tool."""
        counter, mode = self._parts.counter, self._config.reduce
        tokens = counter.tools(tools) if tools else 0
        self.fixed = Fixed(tokens=tokens + counter.overheads.per_request, assumed=tokens)
        if mode == "auto":
            mode = "lossy" if tools and has_recall_tool(tools) else "lossless"
        self.arrival.mode = mode

    def resize(self, window_tokens: int) -> None:
        """Use another window from the next turn on."""
        if window_tokens != self.window.window_tokens:
            self.window = replace(self.window, window_tokens=window_tokens)
            self._limits = {}

    def explained(self, view: ContextView, position: int) -> "Explanation":
        """Explain the decision on the message at a position."""
        at = bisect_right(view.decisions, position, key=lambda d: d.start) - 1
        room, stale = self.room(view), self.notices.stale(view, self.conversation.candidates)
        return self.planner.explained(view.decisions[at], at, room.tokens, stale)

    def pinned(self, view: ContextView) -> frozenset[int]:
        """Return the positions of pinned messages."""
        return self.conversation.history.positions(view.pins) if view.pins else frozenset()

    def is_full(self, view: ContextView, *, at_fraction: float) -> bool:
        """Whether the next request fills at least this fraction of the room."""
        room = self.room(view)
        return room.used_tokens >= at_fraction * room.tokens

    def is_due(self, view: ContextView) -> bool:
        """Whether the next turn is likely to compact."""
        new, room = self.conversation.candidates[len(view.decisions) :], self.room(view)
        used = room.used_tokens + sum([each.tokens for each in new])
        return used > room.budget.compact_at_tokens

    def spans_due(self, view: ContextView, *, at_fraction: float) -> list[Span]:
        """Return the spans that will leave next, to be summarised; none while the room is less full than ``at_fraction``."""
        if not self.is_full(view, at_fraction=at_fraction):
            return []
        return self.planner.spans(self.room(view).tokens, self.pinned(view))

    @cached_property
    def planner(self) -> "CompactionPlanner":
        """Plans compactions; imported on first use, which most short conversations never need."""
        from autogen_context.manager.compaction import CompactionPlanner  # noqa: PLC0415 - as said

        return CompactionPlanner(self._parts, self.conversation)

    @cached_property
    def _judges_finished(self) -> bool:
        """Whether finished work is looked for, to cut it or to report it."""
        return cuts_finished(self._config, self._options.get("triggers")) or self._config.dry_run

    @cached_property
    def _finishing(self) -> "Finishing":
        """Cuts finished work; imported only if that is switched on."""
        from autogen_context.manager.finished import Finishing  # noqa: PLC0415 - as said

        return Finishing(self._parts, engine=self)

    def new_tokens(self, view: ContextView) -> int:
        """Return the tokens of the view that were in no request yet."""
        tokens = 0
        for decision in reversed(view.decisions):
            if decision.start < view.sent:
                break
            tokens += decision.tokens_after
        return tokens

    def _possible(self, view: ContextView, room: RequestRoom, beside_tokens: int) -> Rewrite:
        """Estimate what a compaction would leave beside tools, format and preamble, without planning it."""
        decisions, opening = view.decisions, beside_tokens
        for i, candidate in enumerate(self.conversation.candidates):  # the opening is never changed
            opening += decisions[i].tokens_after
            if candidate.unit.messages[0].role not in SYSTEM_ROLES:
                break
        window = decisions.tokens + beside_tokens
        protected = opening + (decisions.last.tokens_after if decisions.last else 0)
        free = max(0, room.tokens - protected)
        low = protected + int(room.budget.kept_fraction * free)
        saved = max(0, window - max(low, opening))
        return Rewrite(
            window_tokens=window,
            untouched_tokens=min(opening, window - saved),
            saved_tokens=saved,
            new_tokens=self.new_tokens(view),
        )

    def _planned(
        self, view: ContextView, fixed_tokens: int, pinned: frozenset[int]
    ) -> dict[int, Decision]:
        """Plan a compaction and return its decisions by position."""
        try:
            return self.planner.planned(
                view,
                limit_tokens=self.room(view, rewrites=1).tokens,
                fixed_tokens=fixed_tokens,
                pinned=pinned,
                stale=self.notices.stale(view, self.conversation.candidates),
            )
        except ContextWindowExceeded as error:
            counted, window = error.floor_tokens + fixed_tokens, self.window
            bound = window.bound(view.calibration, counted, view.rewrites + 1).tokens
            parts = {"tools and format": fixed_tokens}
            parts |= {"calibration": bound - counted} if bound > counted else {}
            raise error.within(window.limit_tokens, parts) from None

    def _keep_originals(self, decisions: Decisions, units: Iterable[int]) -> None:
        """Store the originals of these units."""
        candidates = self.conversation.candidates
        originals = [(decisions[i].handle, candidates[i].unit.messages) for i in units]
        if originals:
            self._parts.original_store.put_all(originals)

    def _request(self, view: ContextView) -> CertifiedRequest:
        pinned, fixed = self.pinned(view), self.fixed
        return self._writer.request(
            view, self.conversation, window=self.window, fixed=fixed, pinned=pinned
        )

    def _warn_of_protected(
        self, view: ContextView, used_tokens: int, pinned: frozenset[int]
    ) -> None:
        """Warn once if protected messages alone exceed ``compact_at_fraction``, so that each turn may compact."""
        mark = self.room(view).budget.compact_at_tokens
        cause = view.pins, self.window.limit_tokens
        if view.tokens + used_tokens <= mark or cause == self._warned:
            return
        self._warned = cause
        parts: Counter[str] = Counter({"tools and format": used_tokens})
        for i, why in self.conversation.protected(pinned).items():
            parts[why] += view.decisions[i].tokens_after
        logger.warning(
            "the protected messages leave no room below compact_at_fraction; unpin messages, shorten the system prompt, or raise "
            "window_tokens or compact_at_fraction",
            extra={"mark_tokens": mark, "view_tokens": view.tokens, "parts": dict(parts)},
        )
