"""One conversation, turn by turn: it holds what was decided, or compacts.

Promise: below the mark nothing changes but by appending; above it the whole is planned anew, once, and held again.
"""

import logging
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from autogen_context.errors import BudgetImpossible, NotInHistory
from autogen_context.pipeline.floors import floors_of, satisfied
from autogen_context.pipeline.piece import Written
from autogen_context.pipeline.span import Span
from autogen_context.session.arrival import Arrival
from autogen_context.session.conversation import Conversation
from autogen_context.session.held import Held
from autogen_context.session.holding import Holding
from autogen_context.session.prepared import Prepared
from autogen_context.session.rules import Fixed, Room, Rules, Surroundings
from autogen_context.session.sending import Request, Sender
from autogen_context.session.state import State
from autogen_context.session.tail import Tail

if TYPE_CHECKING:
    from autogen_context.session.compaction import Compaction
    from autogen_context.session.explaining import Explanation

logger = logging.getLogger(__name__)


READ_AHEAD_SHARE = (
    0.5  # of the window; with more in it, each turn reads ahead for the compaction to come
)


class Session:
    """A conversation under its window.

    Args:
        rules: what holds for every turn.
        around: what it works with.
        state: where to continue; empty at the start.
    """

    def __init__(self, rules: Rules, *, around: Surroundings, state: State) -> None:
        meter, memory = around.meter, around.memory
        self.window = around.window
        self.stash = around.stash
        self.pins = set(state.pins)
        self.conversation = Conversation(
            around.host, meter, orphans=rules.orphans, digests=state.digests
        )
        self._rules = rules
        self._around = around
        self._arrival = Arrival(meter, kinds=rules.kinds, keep=around.stash.put_text)
        self.can_recall(can=False)  # until it is seen
        self._holding = Holding(
            self.conversation,
            arrival=self._arrival,
            stash=around.stash,
            decisions=state.decisions,
        )
        self._sender = Sender(around.host, meter=meter, window=around.window, roles=rules.roles)
        self._tail = Tail(memory, meter)
        self._must_replan = state.must_replan
        self._rewrites = state.rewrites

    @cached_property
    def _compaction(self) -> "Compaction":
        """Plans anew; loaded when there is something to plan, which most short conversations never need."""
        from autogen_context.session.compaction import Compaction  # noqa: PLC0415 - as said

        return Compaction(self._rules, self._around)

    @property
    def held(self) -> Held:
        """The decisions in force."""
        return self._holding.held

    @property
    def state(self) -> State:
        """What another session needs to continue."""
        return State(
            digests=tuple(self.conversation.history.digests),
            decisions=tuple(self.held.decisions),
            pins=frozenset(self.pins),
            calibration=self.window.calibration,
            stash=tuple(self.stash),
            must_replan=self._must_replan,
            rewrites=self._rewrites,
            summaries=dict(self._around.summaries),
        )

    def take_in(self, payloads: Sequence[object]) -> None:
        """Follow the host's list: what it appended is held as new, where it changed its past that is forgotten."""
        same = self.conversation.update(payloads)
        if same < self.held.stop:
            self._sender.forget()
            self._holding.cut_back(same)
            self._must_replan = True
            self._rewrites += 1
        self._holding.follow(self._pinned)

    def can_recall(self, *, can: bool) -> None:
        """Whether the agent has the tool that asks back what was cut; ``reduce="auto"`` cuts where it has."""
        mode = self._rules.reduce
        self._arrival.mode = mode if mode != "auto" else "lossy" if can else "lossless"

    def spans_due(self, fixed_tokens: int, *, at_share: float) -> list[Span]:
        """What will go next, in parts that are summarised apart; nothing while the room is less full than this share.

        Args:
            fixed_tokens: what the next request has beside messages.
            at_share: of the room.
        """
        room = self.window.room(self._rewrites)
        if self.held.tokens + fixed_tokens < at_share * room:
            return []
        there = Room(limit_tokens=room, fixed_tokens=fixed_tokens)
        return self._compaction.spans(self.conversation, there, self._pinned)

    def pin(self, digest: bytes) -> None:
        """Keep a message from now on; it comes back if it was dropped."""
        self.pins.add(digest)
        self._must_replan = True

    def explain(self, digest: bytes) -> "Explanation":
        """What became of a message in the last turn, and why.

        Raises:
            NotInHistory: the list that was taken in last does not have it, or it is not decided yet.
        """
        known = self.conversation.history.positions({digest})
        decided = [position for position in known if position < self.held.stop]
        if not decided:
            raise NotInHistory
        at = bisect_right(self.held.decisions, max(decided), key=lambda d: d.start) - 1
        references = self._compaction.references
        references.follow(self.conversation.candidates, self.conversation.messages)
        from autogen_context.session.explaining import Explainer  # noqa: PLC0415 - when somebody asks

        explainer = Explainer(references, self._around.memory)
        return explainer.explain(self.held.decisions[at], at, self.conversation)

    def turn(self, payloads: Sequence[object], fixed: Fixed) -> Prepared[object]:
        """The list to send for what was taken in.

        Args:
            payloads: the host's list that was taken in last.
            fixed: what the request has beside messages.

        Raises:
            BudgetImpossible: what must stay does not fit; what was held is held on.
        """
        try:
            return self._turn(payloads, fixed)
        except BudgetImpossible:
            if not self.window.calibration.before:
                raise
        with self.window.before_last_bill():  # one false bill must not keep all others from coming
            return self._turn(payloads, fixed)

    def _turn(self, payloads: Sequence[object], fixed: Fixed) -> Prepared[object]:
        compacted = self._must_compact(fixed.tokens) or self._must_look_back(fixed.tokens)
        if compacted:
            self._compact(fixed.tokens)
        self._bring_back(fixed.tokens)
        request = self._request(fixed)
        while (
            not request.certificate.fits
        ):  # fillers between roles, or held counts of another tokenizer
            counted = request.certificate.counted_tokens
            beside = counted - self.held.tokens if compacted else fixed.tokens
            self._compact(beside)  # each time with less room: what is sent exceeds what is held
            compacted = True
            request = self._request(fixed)
        self._must_replan = False
        if not compacted and self.held.tokens > READ_AHEAD_SHARE * self.window.limit_tokens:
            self._compaction.read_ahead(self.conversation)
        return Prepared(
            messages=self._sender.payloads(request, payloads),
            certificate=request.certificate,
            decisions=tuple(self.held.decisions),
            compacted=compacted,
        )

    @property
    def _pinned(self) -> frozenset[int]:
        """Positions of the messages that are pinned."""
        return self.conversation.history.positions(self.pins)

    def _must_compact(self, fixed: int) -> bool:
        """Whether what is held is above the mark, or a pin or a change of the past asks for another choice."""
        mark = int(self.window.room(self._rewrites) * self._rules.compact_at_share)
        if not self._must_replan:
            return self.held.tokens + fixed > mark
        if self.conversation.tokens + fixed <= mark:
            self._rewrites += any(decision.handle for decision in self.held.decisions)
            self._holding.start_again(self._pinned)
            return False
        floors = floors_of(self.conversation.candidates, self._pinned)
        return self.held.tokens + fixed > mark or not satisfied(self.held.decisions, floors)

    def _compact(self, fixed: int) -> None:
        """Plan the whole anew, hold that, and stash what left."""
        before, room = self.held.tokens, self.window.room(self._rewrites + 1)
        try:
            room_there = Room(limit_tokens=room, fixed_tokens=fixed)
            decisions = self._compaction.planned(self.conversation, room_there, self._pinned)
        except BudgetImpossible as error:
            raise self._impossible(error, fixed) from None
        self._holding.replace(decisions, self._pinned)
        self._rewrites += 1
        numbers = {"tokens_before": before, "tokens_after": self.held.tokens, "room_tokens": room}
        logger.info("compacted", extra=numbers)

    def _impossible(self, error: BudgetImpossible, fixed: int) -> BudgetImpossible:
        """The error in the provider's tokens, as the limit is."""
        counted = error.floor_tokens + fixed
        unlike = self.window.bound(counted, self._rewrites + 1).tokens - counted
        calibration = {"calibration": unlike} if unlike else {}
        beside = {"tools and format": fixed, **calibration}
        return error.within(self.window.limit_tokens, beside)

    def _must_look_back(self, fixed: int) -> bool:
        """Whether the newest message asks for what only another choice has room for."""
        room, used = self.window.room(self._rewrites), self.held.tokens + fixed
        return self._tail.lacks_room(
            self.conversation, self.held, room_tokens=room, used_tokens=used
        )

    def _bring_back(self, fixed: int) -> None:
        """Put what the newest message asks for of the past in front of it."""
        room, used = self.window.room(self._rewrites), self.held.tokens + fixed
        tail = self._tail.of(self.conversation, self.held, room_tokens=room, used_tokens=used)
        if tail is not None:
            self.held.put_before_last(Written(message=tail), self._around.meter.message(tail))

    def _request(self, fixed: Fixed) -> Request:
        """What is sent for what is held."""
        return self._sender.request(
            self.held,
            self.conversation,
            fixed=fixed,
            pinned=self._pinned,
            rewrites=self._rewrites,
        )
