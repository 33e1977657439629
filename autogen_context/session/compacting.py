"""When a conversation is planned anew: when the window forces it, and when that is worth its price.

Promise: below the mark nothing is planned but what pays for itself, where that was asked for; above it everything is, once,
well below it. A plan that did not help is not made again for the mark's sake until something changed; what must stay
and does not let the mark be reached is told once, by what it is.
"""

import logging
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

from autogen_context.errors import ContextWindowExceeded
from autogen_context.messages.message import SYSTEM_ROLES
from autogen_context.session.beside import Beside
from autogen_context.session.conversation import Conversation
from autogen_context.session.held import Held
from autogen_context.session.holding import Holding
from autogen_context.session.protected import satisfied
from autogen_context.session.rules import Room, Rules, Surroundings
from autogen_context.session.state import State
from autogen_context.triggers.price import (
    CostEstimate,
    Rewrite,
    after_rewrite,
    after_turn,
    is_cold,
    judged,
    price_of_rewrite,
)
from autogen_context.view.decision import Decision
from autogen_context.view.pace import Situation

if TYPE_CHECKING:
    from autogen_context.session.compaction import Compaction

logger = logging.getLogger(__name__)


class Compacting:
    """Compacts one conversation.

    Args:
        rules: what holds for every turn.
        around: what it works with.
        conversation: what there is.
        holding: holds what was decided.
        beside: what is told beside the messages.
        state: where to go on.

    Attributes:
        rewrites: how often what was sent before was not continued.
        must_replan: whether a pin or a change of the past asks for another choice.
        pace: what the price of a rewrite is judged by.
    """

    def __init__(
        self,
        rules: Rules,
        around: Surroundings,
        *,
        conversation: Conversation,
        holding: Holding,
        beside: Beside,
        state: State,
    ) -> None:
        self.rewrites = state.rewrites
        self.must_replan = state.must_replan
        self.pace = state.pace
        self._rules = rules
        self._around = around
        self._window = around.window
        self._budget = around.budget
        self._conversation = conversation
        self._holding = holding
        self._beside = beside
        self._told: Situation | None = None

    @cached_property
    def compaction(self) -> "Compaction":
        """Plans anew; loaded when there is something to plan, which most short conversations never need."""
        from autogen_context.session.compaction import Compaction  # noqa: PLC0415 - as said

        return Compaction(self._rules, self._around)

    @property
    def room_tokens(self) -> int:
        """What a request may have, as we count."""
        return self._window.room(self.rewrites)

    @property
    def mark_tokens(self) -> int:
        """What a request may have before it is compacted, where what was sent is not continued."""
        return self._budget.for_turn(self._window.room(self.rewrites + 1)).compact_at_tokens

    def estimate(self, used_tokens: int, pinned: frozenset[int]) -> CostEstimate:
        """Whether to compact in this turn, with the numbers that say so.

        Args:
            used_tokens: what the request has beside what is held.
            pinned: positions of pinned messages.
        """
        forced = self._is_forced(used_tokens, pinned)
        rates = self._rules.rates
        price = price_of_rewrite(self._possible(used_tokens), rates, is_cold=self.is_cold)
        return judged(self.pace, price, self.situation(used_tokens), is_forced=forced)

    @property
    def is_cold(self) -> bool:
        """Whether the provider has nothing cached any more."""
        return is_cold(self.pace, self._rules.rates, self.now_s)

    @property
    def now_s(self) -> float | None:
        """The time by which the provider's cache runs out, in seconds; ``None`` where time decides nothing."""
        return self._around.cache_clock() if self._around.cache_clock else None

    def acts(self, cost: CostEstimate) -> bool:
        """Whether an estimate is acted upon by planning everything anew."""
        if cost.why == "forced":
            return True
        is_asked_for = cost.price.is_cold and self._rules.compaction != "when_full"
        return cost.rewrites and is_asked_for

    def compact(self, fixed: int, pinned: frozenset[int]) -> None:
        """Plan the whole anew, hold that, and keep the originals of what left.

        Raises:
            ContextWindowExceeded: what must stay does not fit.
        """
        room = self._window.room(self.rewrites + 1)
        situation, promised = self.situation(fixed), self._possible(fixed).saved_tokens
        free = self._beside.room_kept_free(room)
        try:
            decisions = self._planned(room, fixed + free, pinned)
        except ContextWindowExceeded:
            if not free:
                raise
            free, decisions = 0, self._planned(room, fixed, pinned)
        self.replace(decisions, pinned, situation, promised_tokens=promised)
        self._beside.anew(overruled=self.compaction.overruled(), waits=not free)
        self._tell_of_protected(fixed, pinned)

    def replace(
        self,
        decisions: tuple[Decision, ...],
        pinned: frozenset[int],
        situation: Situation,
        *,
        promised_tokens: int,
        since: int = 0,
    ) -> None:
        """Hold other decisions, and keep the originals of what left.

        Args:
            decisions: one for each unit.
            pinned: positions of pinned messages.
            situation: in which they were made.
            promised_tokens: what they were to save.
            since: position of the first unit of which anything else is sent.
        """
        before = self._held.tokens
        self._holding.replace(decisions, pinned, since=since)
        self.rewrites += 1
        after = self._held.tokens
        self.pace = after_rewrite(
            self.pace, situation, promised_tokens=promised_tokens, saved_tokens=before - after
        )
        numbers = {"tokens_before": before, "tokens_after": after, "room_tokens": self.room_tokens}
        logger.info("compacted", extra=numbers)

    def pass_turn(self, cost: CostEstimate, *, rewrote: bool) -> None:
        """Go on to the next turn."""
        self.must_replan = False
        units, now_s = len(self._conversation.candidates), self.now_s
        self.pace = after_turn(self.pace, cost, rewrote=rewrote, units=units, now_s=now_s)

    @property
    def _held(self) -> Held:
        return self._holding.held

    def _is_forced(self, used_tokens: int, pinned: frozenset[int]) -> bool:
        """Whether what is held is above the mark, or a pin or a change of the past asks for another choice."""
        mark = self._budget.for_turn(self.room_tokens).compact_at_tokens
        if not self.must_replan:
            return self._is_above(mark, used_tokens)
        if self._conversation.tokens + used_tokens <= mark:
            if any(decision.handle for decision in self._held.decisions):
                self.rewrites += 1
                self._holding.start_again(pinned)
                self._beside.anew()
            return self._held.tokens + used_tokens > mark
        is_kept = satisfied(self._held.decisions, self._conversation.protected(pinned))
        return self._held.tokens + used_tokens > mark or not is_kept

    def _is_above(self, mark: int, used_tokens: int) -> bool:
        """Whether there is more than fits, or more than the mark where that can be helped."""
        tokens = self._held.tokens + used_tokens
        if tokens <= mark or tokens > self.room_tokens:
            return tokens > mark
        return not self.pace.is_vain(self.situation(used_tokens))

    def situation(self, used_tokens: int) -> Situation:
        """What decides what a plan can do."""
        return Situation(
            movable_tokens=self._held.tokens + used_tokens,
            changes=self.pace.changes,
            limit_tokens=self._window.limit_tokens,
        )

    def _possible(self, used_tokens: int) -> Rewrite:
        """What a compaction would leave, as far as that is known without planning it."""
        decisions, window = self._held.decisions, self._held.tokens + used_tokens
        opening = used_tokens + self._opening_tokens()
        newest = decisions[-1].tokens_after if decisions else 0
        room, protected = self.room_tokens, opening + newest
        low = protected + int(self._budget.for_turn(room).kept_fraction * max(0, room - protected))
        saved = max(0, window - max(low, opening))
        return Rewrite(
            window_tokens=window,
            untouched_tokens=min(opening, window - saved),
            saved_tokens=saved,
            new_tokens=self.new_tokens,
        )

    def _opening_tokens(self) -> int:
        """What the system prompt and the first message behind it cost: no plan touches them."""
        tokens = 0
        for candidate, decision in zip(
            self._conversation.candidates, self._held.decisions, strict=False
        ):
            tokens += decision.tokens_after
            if candidate.unit.messages[0].role not in SYSTEM_ROLES:
                break
        return tokens

    @property
    def new_tokens(self) -> int:
        """What is held that no request had yet."""
        tokens = 0
        for decision in reversed(self._held.decisions):
            if decision.start < self._beside.sent:
                break
            tokens += decision.tokens_after
        return tokens

    def _planned(self, room: int, fixed: int, pinned: frozenset[int]) -> tuple[Decision, ...]:
        """What a compaction decides.

        Raises:
            ContextWindowExceeded: what must stay does not fit.
        """
        there = Room(limit_tokens=room, fixed_tokens=fixed)
        try:
            return self.compaction.planned(self._conversation, there, pinned, self._beside)
        except ContextWindowExceeded as error:
            raise self._impossible(error, fixed) from None

    def _impossible(self, error: ContextWindowExceeded, fixed: int) -> ContextWindowExceeded:
        """The error in the provider's tokens, as the limit is."""
        counted = error.floor_tokens + fixed
        unlike = self._window.bound(counted, self.rewrites + 1).tokens - counted
        calibration = {"calibration": unlike} if unlike else {}
        beside = {"tools and format": fixed, **calibration}
        return error.within(self._window.limit_tokens, beside)

    def _tell_of_protected(self, fixed: int, pinned: frozenset[int]) -> None:
        """One warning where what must stay fills the room above the mark: each turn may have to plan anew."""
        mark = self._budget.for_turn(self.room_tokens).compact_at_tokens
        situation = self.situation(fixed)
        is_known = self._told is not None and self._told.is_like(situation)
        if self._held.tokens + fixed <= mark or is_known:
            return
        self._told = situation
        parts: Counter[str] = Counter({"tools and format": fixed})
        for i, why in self._conversation.protected(pinned).items():
            parts[why] += self._held.decisions[i].tokens_after
        logger.warning(
            "what must stay leaves no room below compact_at_fraction; unpin messages, shorten the system prompt, or raise "
            "window_tokens or compact_at_fraction",
            extra={"mark_tokens": mark, "held_tokens": self._held.tokens, "parts": dict(parts)},
        )
