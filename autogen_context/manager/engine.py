"""The engine: what is sent in a turn, stage by stage. Read ``Engine.turn`` first.

Promise: below the mark nothing changes but by appending; above it the whole is planned anew, once, well below it, so that the
turns to come can hold it. What is sent fits, or ``ContextWindowExceeded`` is raised and the view stays as it was. Views are
values; what an engine remembers beside them can be made again from a view and the host's list.
"""

import logging
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from autogen_context.compressor.arrival import Arrival
from autogen_context.compressor.span import Span
from autogen_context.errors import ContextWindowExceeded
from autogen_context.manager.injected import NoticeWriter, Retriever, chosen, placed_anew
from autogen_context.manager.parts import Fixed, Parts, Window, cuts_finished
from autogen_context.manager.prepared import Prepared
from autogen_context.manager.request import Request, RequestWriter
from autogen_context.messages.message import SYSTEM_ROLES
from autogen_context.messages.piece import RoleRules, Written, messages_of
from autogen_context.tokens.calibrate import Calibration
from autogen_context.triggers.price import (
    CostEstimate,
    Rewrite,
    after_turn,
    estimate,
    is_cold,
    price_of_rewrite,
    turns_expected,
)
from autogen_context.view.conversation import Conversation
from autogen_context.view.decision import Decision
from autogen_context.view.decisions import Decisions
from autogen_context.view.protected import satisfied
from autogen_context.view.view import Attempt, ContextView, Situation, as_message

if TYPE_CHECKING:
    from autogen_context.manager.compaction import CompactionPlanner
    from autogen_context.manager.finished import Finishing
    from autogen_context.prioritizer.selection import Explanation
    from autogen_context.triggers.price import FinishedEstimate

logger = logging.getLogger(__name__)

READ_AHEAD_FRACTION = 0.5  # of the window; with more in it, turns read for the compaction to come


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What became of a turn."""

    view: ContextView
    prepared: Prepared[object]


class Engine:
    """Prepares the turns of one conversation."""

    def __init__(self, parts: Parts, *, window: Window, digests: Sequence[bytes] = ()) -> None:
        self.window = window
        config, counter, host = parts.config, parts.counter, parts.host
        self.conversation = Conversation(host, counter, orphans=config.orphans, digests=digests)
        self.notices = NoticeWriter(counter, parts.kinds, parts.budget)
        self._parts = parts
        self._config = config
        self._budget = parts.budget
        self._cuts_finished = cuts_finished(config, parts.triggers)
        self.arrival = Arrival(
            counter,
            kinds=parts.kinds,
            keep=parts.original_store.put_text,
            compressor=parts.compressor,
        )
        self._arrived = Decisions()  # what the index of lines above has read
        self._is_read = False
        # How much of the host's list is as it was when a view followed it last.
        self._same = len(digests)
        roles = RoleRules(alternate=config.alternate_roles, single_system=config.single_system)
        self._writer = RequestWriter(host, counter=counter, roles=roles)
        self._retriever = Retriever(parts.memory, counter, parts.budget)
        self._rooms: tuple[Calibration, dict[int, int]] = (Calibration(), {})
        self._told: Situation | None = None

    # The stages of a turn

    def prepare(self, view: ContextView, payloads: Sequence[object], fixed: Fixed) -> Turn:
        """Prepare a turn, for a view that follows the host's list."""
        try:
            return self.turn(view, payloads, fixed)
        except ContextWindowExceeded:
            believed, before = view.calibration, view.calibration.before
            if before is None:
                raise
        # One false bill must not keep all others from coming: what was known before it decides.
        turn = self.turn(replace(view, calibration=before), payloads, fixed)
        return replace(turn, view=replace(turn.view, calibration=believed))

    def turn(self, view: ContextView, payloads: Sequence[object], fixed: Fixed) -> Turn:
        """The stages in their order; arguments and errors as of ``prepare``."""
        now_s = self._parts.cache_clock() if self._parts.cache_clock else None
        view = self.notices.without_unseen(view, self.conversation.candidates)
        view = self.with_preamble(view, fixed)
        view = self.restarted(view, fixed)
        cost = self.estimate(view, fixed, now_s)
        compacted = self.must_compact(view, cost, fixed)
        finished = None
        if compacted:
            view = self.compacted(view, fixed.tokens)
        else:
            view, finished = self.without_finished(view, fixed, now_s)
        view = self.with_retrieved(view, fixed)
        view = self.with_notices(view, fixed)
        request = self._request(view, fixed)
        more = fixed.tokens
        while request.certificate.bound.tokens > request.certificate.limit_tokens:
            # Fillers between roles, or counts of another tokenizer: more is sent than the view says, so there is less room.
            beside = request.certificate.counted_tokens - view.tokens - self._preamble_tokens(view)
            more = max(beside, more + 1) if compacted else more  # each time less room: this ends
            view, compacted = self.compacted(view, more), True
            request = self._request(view, fixed)
        if not compacted and view.tokens > READ_AHEAD_FRACTION * self.window.limit_tokens:
            self.planner.read_ahead(self.conversation)
        units = len(self.conversation.candidates)
        pace = after_turn(view.pace, cost, rewrote=compacted, units=units, now_s=now_s)
        view = replace(view, pace=pace, must_replan=False, sent=view.decisions.stop)
        self._arrived = view.decisions
        is_cut = finished is not None and finished.is_done
        prepared = Prepared(
            messages=self._writer.outbox.payloads(request.pieces, payloads),
            certificate=request.certificate,
            decisions=view.decisions,
            compacted=compacted or is_cut,
            cost_estimate=finished.cost_estimate if finished is not None and is_cut else cost,
            finished=finished,
        )
        return Turn(view=view, prepared=prepared)

    def read(self, payloads: Sequence[object]) -> int:
        """Read and measure the host's list; what becomes of it is decided in its turn, when the tools are known."""
        self._same = min(self._same, self.conversation.update(payloads))
        return self._same

    def synced(self, view: ContextView) -> ContextView:
        """The view with what the host appended, reduced on arrival; where the host changed its past that is forgotten."""
        return self._with_new(self.cut_back(view))

    def cut_back(self, view: ContextView) -> ContextView:
        """The view without what the host changed of its past."""
        same, self._same = self._same, len(self.conversation.messages)
        if same >= view.decisions.stop:
            return view
        self._writer.certifier.forget()
        return view.cut_back(same)

    def _with_new(self, view: ContextView) -> ContextView:
        """The view with a decision on each unit that is new or has grown."""
        candidates, pinned = self.conversation.candidates, self.pinned(view)
        decisions, arrival = view.decisions, self.arrival
        if decisions is not self._arrived or not self._is_read:
            sent = self._writer.pieces(decisions)
            arrival.restart(messages_of(sent, self.conversation.messages))
            self._is_read = True
        last, start = decisions.last, len(decisions)
        if last is not None:
            grown = arrival.decide(candidates[start - 1], last, spared=pinned)
            if grown is not last:
                decisions, start = decisions.with_last(grown), start - 1
        for candidate in candidates[len(decisions) :]:
            decisions = decisions.extended(arrival.decide(candidate, None, spared=pinned))
        self._keep_originals(decisions, range(start, len(decisions)))
        self._arrived = decisions
        return view if decisions is view.decisions else replace(view, decisions=decisions)

    def with_preamble(self, view: ContextView, fixed: Fixed) -> ContextView:
        """The view with the newest preamble, where nothing of what was sent is continued."""
        if view.sent or not view.preamble.is_offered:
            return view
        free = self._mark(view) - fixed.tokens - self._room_due(view) - view.tokens
        count = self._parts.counter.message
        return placed_anew(view, chosen(view, self.conversation, free, count), count)

    def restarted(self, view: ContextView, fixed: Fixed) -> ContextView:
        """The view with everything as it came in, where a pin or a change of the past asks for another choice and all fits."""
        mark = self._budget.for_turn(self.room_tokens(view)).compact_at_tokens
        if not view.must_replan or self.conversation.tokens + self._used(view, fixed) > mark:
            return view
        if not any(decision.handle for decision in view.decisions):
            return view
        view = replace(view, rewrites=view.rewrites + 1, decisions=Decisions())
        return self.notices.anew(self._with_new(view), self.conversation.candidates)

    def estimate(self, view: ContextView, fixed: Fixed, now_s: float | None) -> CostEstimate:
        """Whether to compact in this turn, with the numbers that say so."""
        rates, used = self._parts.rates, self._used(view, fixed)
        rewrite = self._possible(view, used)
        price = price_of_rewrite(rewrite, rates, is_cold=is_cold(view.pace, rates, now_s))
        return estimate(
            price,
            waited_tokens=view.pace.waited_tokens,
            turns=turns_expected(view.pace.turns),
            is_forced=self._is_forced(view, used),
            is_vain=view.pace.is_vain(self.situation(view, used)),
        )

    def must_compact(self, view: ContextView, cost: CostEstimate, fixed: Fixed) -> bool:
        """Whether everything is planned anew: the window forces it, the price allows it, or a question needs the room."""
        if cost.why == "forced":
            return True
        if cost.rewrites and cost.price.is_cold and self._config.compaction != "when_full":
            return True
        room, used = self.room_tokens(view), view.tokens + self._used(view, fixed)
        if room - used >= self._budget.for_turn(room).retrieved_tokens:
            return False
        pieces = self._writer.pieces(view.decisions)
        is_due, answer = self._retriever.answer(
            view, self.conversation.messages, pieces, room, used
        )
        return is_due and answer is None

    def compacted(self, view: ContextView, fixed_tokens: int) -> ContextView:
        """The view planned anew, behind the newest preamble; that yields to what must stay."""
        candidates, pinned = self.conversation.candidates, self.pinned(view)
        preamble, count = view.preamble, self._parts.counter.message
        if preamble.is_offered:
            protected = sum(candidates[i].tokens for i in self.conversation.protected(pinned))
            free = self._mark(view) - fixed_tokens - protected
            preamble = chosen(view, self.conversation, free, count)
        used = fixed_tokens + (count(as_message(preamble.text)) if preamble.text else 0)
        situation = self.situation(view, used)
        promised = self._possible(view, used).saved_tokens
        free = self.notices.room_kept_free(view, self._room_after(view))
        try:
            changes = self._planned(view, used + free, pinned)
        except ContextWindowExceeded:
            if not free:
                raise
            free, changes = 0, self._planned(view, used, pinned)
        view = self.rewritten(view, changes, situation, promised_tokens=promised)
        overruled = self.planner.overruled()
        view = self.notices.anew(view, candidates, overruled=overruled, waits=not free)
        view = placed_anew(view, preamble, count)
        self._tell_of_protected(view, used, pinned)
        return view

    def rewritten(
        self,
        view: ContextView,
        changes: Mapping[int, Decision],
        situation: Situation,
        *,
        promised_tokens: int,
        since: int = 0,
    ) -> ContextView:
        """The view with other decisions; the originals of what left are kept."""
        settled = self.arrival.settle(
            view.decisions.changed(changes),
            self.conversation.candidates,
            self.conversation.messages,
            spared=self.pinned(view),
            since=since,
        )
        self._arrived, self._is_read = settled, True
        self._keep_originals(settled, (i for i in changes if settled[i] is not view.decisions[i]))
        attempt = Attempt(
            situation=situation,
            promised_tokens=promised_tokens,
            saved_tokens=view.tokens - settled.tokens,
        )
        pace = replace(view.pace, waited_tokens=0.0, attempt=attempt)
        numbers = {"tokens_before": view.tokens, "tokens_after": settled.tokens}
        view = replace(view, decisions=settled, rewrites=view.rewrites + 1, pace=pace)
        logger.info("compacted", extra={**numbers, "room_tokens": self.room_tokens(view)})
        return view

    def without_finished(
        self, view: ContextView, fixed: Fixed, now_s: float | None
    ) -> "tuple[ContextView, FinishedEstimate | None]":
        """The view without what is finished, if that was asked for and pays; and the estimate."""
        acts = self._cuts_finished
        if not (acts or self._config.dry_run):
            return view, None
        return self._finishing.judge(view, self._used(view, fixed), acts=acts, now_s=now_s)

    def with_retrieved(self, view: ContextView, fixed: Fixed) -> ContextView:
        """The view with what the newest message asks for of the past in front of it."""
        room, used = self.room_tokens(view), view.tokens + self._used(view, fixed)
        pieces = self._writer.pieces(view.decisions)
        _, answer = self._retriever.answer(view, self.conversation.messages, pieces, room, used)
        if answer is None:
            return view
        return view.with_before_last(Written(message=answer), self._parts.counter.message(answer))

    def with_notices(self, view: ContextView, fixed: Fixed) -> ContextView:
        """The view with what is due to be told in front of the newest message."""
        return self.notices.told(
            view,
            self.conversation.candidates,
            room_tokens=self.room_tokens(view),
            used_tokens=self.used_tokens(view, fixed.tokens),
        )

    # What a turn asks of a view

    def room_tokens(self, view: ContextView) -> int:
        """What a request may have, as we count."""
        return self._room(view.calibration, view.rewrites)

    def can_recall(self, *, can: bool) -> None:
        """Whether the agent has the tool that asks back what was cut; ``reduce="auto"`` cuts where it has."""
        mode = self._config.reduce
        self.arrival.mode = mode if mode != "auto" else "lossy" if can else "lossless"

    def resize(self, window_tokens: int) -> None:
        """Use another window from now on."""
        if window_tokens != self.window.window_tokens:
            self.window = replace(self.window, window_tokens=window_tokens)
            self._rooms = (self._rooms[0], {})

    def explained(self, view: ContextView, position: int) -> "Explanation":
        """What became of the message at a position, and why."""
        at = bisect_right(view.decisions, position, key=lambda d: d.start) - 1
        room_tokens = self.room_tokens(view)
        stale = self.notices.stale(view, self.conversation.candidates)
        return self.planner.explained(view.decisions[at], at, self.conversation, room_tokens, stale)

    def pinned(self, view: ContextView) -> frozenset[int]:
        """Positions of the messages that are pinned."""
        return self.conversation.history.positions(view.pins)

    def is_full(self, view: ContextView, fixed_tokens: int, *, at_fraction: float) -> bool:
        """Whether the next request, with so much beside messages, fills at least this fraction of the room."""
        return self.used_tokens(view, fixed_tokens) >= at_fraction * self.room_tokens(view)

    def is_due(self, view: ContextView, fixed_tokens: int) -> bool:
        """Whether the next request, with so much beside messages, is above the mark from which on it is compacted."""
        mark = self._budget.for_turn(self.room_tokens(view)).compact_at_tokens
        return self.used_tokens(view, fixed_tokens) > mark

    def used_tokens(self, view: ContextView, fixed_tokens: int) -> int:
        """What the next request has so far, with so much beside messages and preamble."""
        return view.tokens + self._preamble_tokens(view) + fixed_tokens

    def spans_due(self, view: ContextView, fixed_tokens: int, *, at_fraction: float) -> list[Span]:
        """What will go next, in parts that are summarised apart; nothing while the room is less full than this fraction."""
        if not self.is_full(view, fixed_tokens, at_fraction=at_fraction):
            return []
        return self.planner.spans(self.conversation, self.room_tokens(view), self.pinned(view))

    @cached_property
    def planner(self) -> "CompactionPlanner":
        """Plans anew; loaded when there is something to plan, which most short conversations never need."""
        from autogen_context.manager.compaction import CompactionPlanner  # noqa: PLC0415 - as said

        return CompactionPlanner(self._parts)

    @cached_property
    def _finishing(self) -> "Finishing":
        """Cuts what is finished; loaded where that is asked for."""
        from autogen_context.manager.finished import Finishing  # noqa: PLC0415 - as said

        return Finishing(self._parts, engine=self)

    def situation(self, view: ContextView, used_tokens: int) -> Situation:
        """What decides what a plan can do."""
        return Situation(
            movable_tokens=view.tokens + used_tokens,
            changes=view.pace.changes,
            limit_tokens=self.window.limit_tokens,
        )

    def new_tokens(self, view: ContextView) -> int:
        """What the view has that no request had yet."""
        tokens = 0
        for i in range(len(view.decisions) - 1, -1, -1):
            decision = view.decisions[i]
            if decision.start < view.sent:
                break
            tokens += decision.tokens_after
        return tokens

    def _used(self, view: ContextView, fixed: Fixed) -> int:
        """What a request has beside the messages: tools, preamble, and what is due to be told."""
        return fixed.tokens + self._preamble_tokens(view) + self._room_due(view)

    def _room_due(self, view: ContextView) -> int:
        return self.notices.room_due(view, self.conversation.candidates, self.room_tokens(view))

    def _preamble_tokens(self, view: ContextView) -> int:
        text = view.preamble.text
        return self._parts.counter.message(as_message(text)) if text else 0

    def _room(self, calibration: Calibration, rewrites: int) -> int:
        if calibration is not self._rooms[0]:
            self._rooms = (calibration, {})
        rooms = self._rooms[1]
        if rewrites not in rooms:
            rooms.clear()
            rooms.update({n: self.window.room(calibration, n) for n in (rewrites, rewrites + 1)})
        return rooms[rewrites]

    def _room_after(self, view: ContextView) -> int:
        """What a request may have, where what was sent is not continued."""
        return self._room(view.calibration, view.rewrites + 1)

    def _mark(self, view: ContextView) -> int:
        """What a request may have before it is compacted, where what was sent is not continued."""
        return self._budget.for_turn(self._room_after(view)).compact_at_tokens

    def _is_forced(self, view: ContextView, used_tokens: int) -> bool:
        """Whether the view is above the mark where that can be helped, or lacks what must stay since a pin or a change."""
        room, tokens = self.room_tokens(view), view.tokens + used_tokens
        mark = self._budget.for_turn(room).compact_at_tokens
        if view.must_replan:
            protected = self.conversation.protected(self.pinned(view))
            return tokens > mark or not satisfied(view.decisions, protected)
        is_vain = view.pace.is_vain(self.situation(view, used_tokens))
        return tokens > room or (tokens > mark and not is_vain)

    def _possible(self, view: ContextView, used_tokens: int) -> Rewrite:
        """What a compaction would leave, as far as that is known without planning it."""
        last, window = view.decisions.last, view.tokens + used_tokens
        opening = used_tokens + self._opening_tokens(view)
        room, protected = self.room_tokens(view), opening + (last.tokens_after if last else 0)
        low = protected + int(self._budget.for_turn(room).kept_fraction * max(0, room - protected))
        saved = max(0, window - max(low, opening))
        return Rewrite(
            window_tokens=window,
            untouched_tokens=min(opening, window - saved),
            saved_tokens=saved,
            new_tokens=self.new_tokens(view),
        )

    def _opening_tokens(self, view: ContextView) -> int:
        """What the system prompt and the first message behind it cost: no plan touches them."""
        tokens = 0
        for i, candidate in enumerate(self.conversation.candidates):
            tokens += view.decisions[i].tokens_after
            if candidate.unit.messages[0].role not in SYSTEM_ROLES:
                break
        return tokens

    def _planned(
        self, view: ContextView, fixed_tokens: int, pinned: frozenset[int]
    ) -> dict[int, Decision]:
        """What a compaction decides, by position; on all others it decided before."""
        stale = self.notices.stale(view, self.conversation.candidates)
        try:
            return self.planner.planned(
                self.conversation,
                before=view.decisions,
                limit_tokens=self._room_after(view),
                fixed_tokens=fixed_tokens,
                pinned=pinned,
                notices=view.notices,
                stale=stale,
            )
        except ContextWindowExceeded as error:
            counted, window = error.floor_tokens + fixed_tokens, self.window
            bound = window.bound(view.calibration, counted, view.rewrites + 1).tokens
            parts = {"tools and format": fixed_tokens}
            parts |= {"calibration": bound - counted} if bound > counted else {}
            raise error.within(window.limit_tokens, parts) from None

    def _keep_originals(self, decisions: Decisions, units: Iterable[int]) -> None:
        """Put the originals of some units into their store, as far as they are not sent as they came in."""
        candidates = self.conversation.candidates
        self._parts.original_store.put_all(
            (decisions[i].handle, candidates[i].unit.messages) for i in units if decisions[i].handle
        )

    def _request(self, view: ContextView, fixed: Fixed) -> Request:
        return self._writer.request(
            view, self.conversation, window=self.window, fixed=fixed, pinned=self.pinned(view)
        )

    def _tell_of_protected(
        self, view: ContextView, used_tokens: int, pinned: frozenset[int]
    ) -> None:
        """One warning where what must stay fills the room above the mark: each turn may have to plan anew."""
        mark = self._budget.for_turn(self.room_tokens(view)).compact_at_tokens
        situation = self.situation(view, used_tokens)
        is_known = self._told is not None and self._told.is_like(situation)
        if view.tokens + used_tokens <= mark or is_known:
            return
        self._told = situation
        parts: Counter[str] = Counter({"tools and format": used_tokens})
        for i, why in self.conversation.protected(pinned).items():
            parts[why] += view.decisions[i].tokens_after
        logger.warning(
            "what must stay leaves no room below compact_at_fraction; unpin messages, shorten the system prompt, or raise "
            "window_tokens or compact_at_fraction",
            extra={"mark_tokens": mark, "view_tokens": view.tokens, "parts": dict(parts)},
        )
