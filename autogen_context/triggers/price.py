"""What a rewrite of the history costs, whether it is worth that now, and what of a conversation is best cut.

Promise: plain arithmetic on tokens; every number that decided is in the result. Only what triggers proposed is offered;
never outcomes, what must stay, or what was cut before. The formula and its figures: docs/decisions/0014-price-of-a-rewrite.md.
"""

import copy
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Literal, NamedTuple

from autogen_context.messages.tool_call import ToolKinds
from autogen_context.tokens.prices import Rates
from autogen_context.triggers.turn import Trigger, TriggerKind, turn_of
from autogen_context.view.decision import Candidate, Decision
from autogen_context.view.view import Pace

LEAST_FRACTION = 0.1  # of the window; for less nobody should lose anything, however cheap it is
EARLY_FROM = 0.25  # of the price, for a cached token: what is finished is cut without being asked
LEFT_FRACTION = 0.5  # of the tokens of what is cut
TOLD_FRACTION = 0.1  # of the same, for what is told of the rest
LEAST_TOKENS = 64  # that a cut saves; a notice and marks cost about as much
MOST_SPANS = 100  # proposals that are kept, the newest; what is older was cut or never will be

Why = Literal[
    "forced", "too little", "tried in vain", "soon full", "not paid back", "not yet", "pays"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """What would change of the next request, in tokens."""

    window_tokens: int  # N, what it has if nothing is rewritten
    untouched_tokens: int  # p, how many of the first of them stay as they are
    saved_tokens: int  # S, how many of the others go
    new_tokens: int = 0  # how many of the last of the N were in no request yet


@dataclass(frozen=True, slots=True, kw_only=True)
class RewritePrice:
    """What a rewrite costs and saves, in uncached input tokens."""

    rewrite: Rewrite
    cost_tokens: float  # once; below 0 where the request is cheaper by more than a turn saves
    saving_tokens: (
        float  # in each turn, this one too; below 0 where too little is left to be cached
    )
    is_cold: bool  # whether nothing was cached any more

    def gain_tokens(self, turns: float) -> float:
        """What it has brought after so many turns."""
        return turns * self.saving_tokens - self.cost_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class CostEstimate:
    """Whether to rewrite, and why."""

    why: Why  # the first rule that decided
    price: RewritePrice
    turns: float  # how many are expected, this one included
    waited_tokens: float  # what it has cost not to rewrite, this turn included, in uncached tokens

    @property
    def rewrites(self) -> bool:
        """Whether to rewrite."""
        return self.why in {"forced", "pays"}


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedSpan:
    """A stretch of a conversation that is finished."""

    start: int  # position of its first message in the host's list
    stop: int  # position behind its last message
    kind: TriggerKind
    confidence: float  # that a developer would call it finished, 0..1
    saved_tokens: int  # what would go of it, about; outcomes and what must stay never do


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedEstimate:
    """Whether to cut what is finished, and what of it."""

    spans: tuple[FinishedSpan, ...]  # that together bring in most, in order; one or more
    cost_estimate: CostEstimate  # whether cutting them is worth its price now
    is_done: bool  # whether they were cut in this turn


def price_of_rewrite(rewrite: Rewrite, rates: Rates, *, is_cold: bool = False) -> RewritePrice:
    """What a rewrite costs and saves; ``is_cold`` where the provider's cache is empty by now."""
    window, left = rewrite.window_tokens, rewrite.window_tokens - rewrite.saved_tokens
    sent = 0 if is_cold else window - rewrite.new_tokens
    held = rates.cost_tokens(window, rates.cached_tokens(sent))
    cut = rates.cost_tokens(left, rates.cached_tokens(min(sent, rewrite.untouched_tokens)))
    saving = rates.standing_tokens(window) - rates.standing_tokens(left)
    return RewritePrice(
        rewrite=rewrite, cost_tokens=cut - held + saving, saving_tokens=saving, is_cold=is_cold
    )


def turns_expected(turns_seen: int) -> int:
    """How many turns there will be, this one included: as many again as there have been."""
    return turns_seen + 1


def estimate(
    price: RewritePrice,
    *,
    waited_tokens: float,
    turns: float,
    is_forced: bool = False,
    is_vain: bool = False,
    turns_to_full: float = math.inf,
) -> CostEstimate:
    """Judge a rewrite; where the window will force one in the turns expected, that is left to do it, among everything."""
    waited, rewrite = waited_tokens + max(0.0, price.saving_tokens), price.rewrite
    if is_forced:
        why: Why = "forced"
    elif rewrite.saved_tokens < LEAST_FRACTION * rewrite.window_tokens:
        why = "too little"
    elif is_vain:
        why = "tried in vain"
    elif turns_to_full <= turns:
        why = "soon full"
    elif price.gain_tokens(turns) <= 0:
        why = "not paid back"
    else:
        why = "pays" if waited >= price.cost_tokens else "not yet"
    return CostEstimate(why=why, price=price, turns=turns, waited_tokens=waited)


def is_cold(pace: Pace, rates: Rates, now_s: float | None) -> bool:
    """Whether nothing may be cached any more; never without a clock (``now_s`` is ``None``)."""
    if now_s is None or pace.last_turn_s is None:
        return False
    return rates.is_cold(idle_s=now_s - pace.last_turn_s)


def after_turn(
    pace: Pace, cost: CostEstimate, *, rewrote: bool, units: int, now_s: float | None
) -> Pace:
    """The pace for the next turn; ``rewrote`` where everything was planned anew."""
    waited = pace.finished_waited_tokens + pace.finished_saving_tokens
    return replace(
        pace,
        turns=pace.turns + 1,
        waited_tokens=0.0 if rewrote else cost.waited_tokens,
        last_turn_s=now_s,
        seen_units=units,
        finished_waited_tokens=0.0 if rewrote else waited,
        finished_saving_tokens=0.0 if rewrote else pace.finished_saving_tokens,
    )


class ProposedSpan(NamedTuple):
    """A span of units that a trigger found to be finished: positions, of outcomes in it as well."""

    start: int
    stop: int
    outcomes: frozenset[int] = frozenset()
    kind: TriggerKind = "none"
    confidence: float = 0.0

    def inner(self, decisions: Sequence[Decision], stays: frozenset[int]) -> list[int]:
        """The units that may be cut: neither outcomes, nor what must stay, nor cut before."""
        inside = range(self.start, min(self.stop, len(decisions)))
        keep = self.outcomes | stays
        return [i for i in inside if i not in keep and not decisions[i].hides]


class Proposals:
    """What a copy of a trigger proposes for one conversation; each unit is shown to it once, when it is settled."""

    def __init__(self, trigger: Trigger, kinds: ToolKinds) -> None:
        self._pristine = trigger
        self._kinds = kinds
        self._begin()

    def _begin(self) -> None:
        self.spans: list[ProposedSpan] = []
        self._trigger = copy.deepcopy(self._pristine)
        self._turns: list[int] = []  # the unit that each turn of the model is
        self._shown = 0
        self._newest: Candidate | None = None  # of those that were shown

    def follow(self, candidates: Sequence[Candidate], *, since: int) -> bool:
        """Show the trigger what is new, but for the last unit; whether it proposed anything at a unit from ``since`` on."""
        known = candidates[self._shown - 1] if 0 < self._shown < len(candidates) else None
        if known is not self._newest:
            self._begin()
        fired, units = False, self._turns
        for i in range(self._shown, len(candidates) - 1):
            self._shown, self._newest = i + 1, candidates[i]
            if candidates[i].unit.messages[0].role != "assistant":
                continue
            self._turns.append(i)
            turn = turn_of(candidates[i].unit, len(units) - 1, kinds=self._kinds)
            decision = self._trigger.observe(turn)
            if scope := decision.scope:
                span = ProposedSpan(
                    start=units[scope.start],
                    stop=units[scope.stop - 1] + 1,
                    outcomes=frozenset(units[turn] for turn in scope.outcomes),
                    kind=decision.kind,
                    confidence=decision.confidence,
                )
                self.spans = [*self.spans[1 - MOST_SPANS :], span]
                fired |= i >= since
        return fired


class Offer(NamedTuple):
    """What a cut of a span leaves untouched in front of it, and what it saves, in tokens."""

    untouched_tokens: int
    saved_tokens: int
    span: ProposedSpan


def offers_of(
    spans: Sequence[ProposedSpan], decisions: Sequence[Decision], stays: frozenset[int]
) -> Iterator[Offer]:
    """What each span offers; what several have is offered by the first."""
    starts = list(accumulate((each.tokens_after for each in decisions), initial=0))
    taken: set[int] = set()
    for span in spans:
        inner = [i for i in span.inner(decisions, stays) if i not in taken]
        taken.update(inner)
        tokens = sum(decisions[i].tokens_after for i in inner)
        saved = int(tokens * (1 - LEFT_FRACTION - TOLD_FRACTION))
        if saved >= LEAST_TOKENS:
            yield Offer(starts[inner[0]], saved, span)


def best_cuts(
    offers: Iterable[Offer], uncut: Rewrite, rates: Rates, *, turns: float, is_cold: bool
) -> tuple[RewritePrice, list[Offer]] | None:
    """Of all places to begin at the one that brings in most, with all behind it: that is written again anyway."""
    ordered, best, saved = sorted(offers, key=lambda offer: offer.untouched_tokens), None, 0
    for i in reversed(range(len(ordered))):
        saved += ordered[i].saved_tokens
        rewrite = replace(uncut, untouched_tokens=ordered[i].untouched_tokens, saved_tokens=saved)
        price = price_of_rewrite(rewrite, rates, is_cold=is_cold)
        if price.gain_tokens(turns) >= (best[0].gain_tokens(turns) if best else 0):
            best = price, ordered[i:]
    return best
