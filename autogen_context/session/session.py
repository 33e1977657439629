"""One conversation, turn by turn: it holds what was decided, or compacts.

Promise: below the mark nothing changes but by appending; above it the whole is planned anew, once, and held again.
"""

import logging
from bisect import bisect_right
from collections.abc import Sequence

from autogen_context.errors import BudgetImpossible, NotInHistory
from autogen_context.pipeline.assemble import Certificate, Certifier, ends_with, holds_verbatim
from autogen_context.pipeline.floors import floors_of, satisfied
from autogen_context.pipeline.measure import Meter
from autogen_context.pipeline.message import HostFormat
from autogen_context.pipeline.piece import Piece, Written, messages_of
from autogen_context.session.arrival import Arrival
from autogen_context.session.compaction import Compaction, Room
from autogen_context.session.conversation import Conversation
from autogen_context.session.explaining import Explainer, Explanation
from autogen_context.session.held import Held
from autogen_context.session.memory import Memory
from autogen_context.session.outbox import Outbox
from autogen_context.session.prepared import Prepared
from autogen_context.session.rules import Fixed, Rules
from autogen_context.session.state import State
from autogen_context.session.tail import Tail
from autogen_context.session.window import Window
from autogen_context.store.stash import Stash

logger = logging.getLogger(__name__)


class Session:
    """A conversation under its window.

    Args:
        rules: what holds for every turn.
        host: reads and writes messages.
        meter: counts messages.
        window: what a request may have.
        state: where to continue; empty at the start.
        memory: looks back in the conversation.
    """

    def __init__(
        self,
        *,
        rules: Rules,
        host: HostFormat,
        meter: Meter,
        window: Window,
        state: State,
        memory: Memory,
    ) -> None:
        self.window = window
        self.pins = set(state.pins)
        self.stash = Stash(rules.stash_bytes, state.stash)
        self.conversation = Conversation(host, meter, orphans=rules.orphans, digests=state.digests)
        self.held = Held(state.decisions)
        self._rules = rules
        self._outbox = Outbox(host)
        self._meter = meter
        self._certifier = Certifier(meter.message)
        self._memory = memory
        self._tail = Tail(memory, meter)
        self._compaction = Compaction(meter, share=rules.compact_to_share, memory=memory)
        self._arrival = Arrival(meter)
        self._sees_held = not state.decisions
        self._must_replan = state.must_replan
        self._rewrites = state.rewrites

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
        )

    def take_in(self, payloads: Sequence[object]) -> None:
        """Follow the host's list: what it appended is held as new, where it changed its past that is forgotten."""
        same = self.conversation.update(payloads)
        if same < self.held.stop:
            self._certifier.forget()
            self.held.keep_first(same)
            self._must_replan = True
            self._rewrites += 1
            self._sees_held = False
        if not self._sees_held:
            self._arrival.restart(messages_of(self.held.pieces, self.conversation.messages))
            self._sees_held = True
        self._extend()

    def _extend(self) -> None:
        """Hold what is new."""
        before, pinned = len(self.held.decisions), self._pinned
        self.held.extend(
            self.conversation.candidates,
            lambda candidate, decision: self._arrival.decide(candidate, decision, spared=pinned),
        )
        self._stash(max(0, before - 1))

    def _stash(self, start: int) -> None:
        """Keep the originals of units from one on that are not sent as they came in."""
        candidates = self.conversation.candidates[start:]
        for decision, candidate in zip(self.held.decisions[start:], candidates, strict=True):
            if decision.handle:
                self.stash.put(decision.handle, candidate.unit.messages)

    def pin(self, digest: bytes) -> None:
        """Keep a message from now on; it comes back if it was dropped."""
        self.pins.add(digest)
        self._must_replan = True

    def explain(self, digest: bytes) -> Explanation:
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
        explainer = Explainer(references, self._memory)
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
        compacted = self._must_compact(fixed.tokens)
        if compacted:
            self._compact(fixed.tokens)
        self._bring_back(fixed.tokens)
        pieces, certificate = self._certified(fixed)
        while not certificate.fits:  # fillers between roles, or held counts of another tokenizer
            beside = certificate.counted_tokens - self.held.tokens if compacted else fixed.tokens
            self._compact(beside)  # each time with less room: what is sent exceeds what is held
            compacted = True
            pieces, certificate = self._certified(fixed)
        self._must_replan = False
        return Prepared(
            messages=self._outbox.payloads(pieces, payloads),
            certificate=certificate,
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
            self.held.replace([])
            self._arrival.restart([])
            self._extend()
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
        self.held.replace(
            self._arrival.settle(
                decisions,
                self.conversation.candidates,
                self.conversation.messages,
                spared=self._pinned,
            )
        )
        self._rewrites += 1
        self._stash(0)
        numbers = {"tokens_before": before, "tokens_after": self.held.tokens, "room_tokens": room}
        logger.info("compacted", extra=numbers)

    def _impossible(self, error: BudgetImpossible, fixed: int) -> BudgetImpossible:
        """The error in the provider's tokens, as the limit is."""
        counted = error.floor_tokens + fixed
        unlike = self.window.bound(counted, self._rewrites + 1).tokens - counted
        calibration = {"calibration": unlike} if unlike else {}
        beside = {"tools and format": fixed, **calibration}
        return error.within(self.window.limit_tokens, beside)

    def _bring_back(self, fixed: int) -> None:
        """Put what the newest message asks for of the past in front of it."""
        tail = self._tail.of(
            self.conversation,
            self.held,
            room_tokens=self.window.room(self._rewrites),
            used_tokens=self.held.tokens + fixed,
        )
        if tail is not None:
            self.held.put_before_last(Written(message=tail), self._meter.message(tail))

    def _certified(self, fixed: Fixed) -> tuple[tuple[Piece, ...], Certificate]:
        """What is sent for what is held, and what holds for it."""
        messages, held = self.conversation.messages, self.held.pieces
        pieces = self._rules.roles.apply(held, messages)
        checked = self._certifier.check(pieces, messages)
        return pieces, Certificate(
            limit_tokens=self.window.limit_tokens,
            bound=self.window.bound(checked.tokens + fixed.tokens, self._rewrites),
            counted_tokens=checked.tokens + fixed.tokens,
            pairs_closed=not checked.orphans,
            pins_present=holds_verbatim(held, self._pinned),
            newest_present=ends_with(held, len(messages) - 1),
            orphans=self.conversation.orphans,
            assumed_tokens=fixed.assumed
            + self._meter.overheads.assumed(calls=checked.calls, results=checked.results),
            rewrites=self._rewrites,
        )
