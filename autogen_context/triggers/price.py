"""What a rewrite of the history costs, whether it is worth that now, and where to cut.

Promise: plain arithmetic on tokens; every number that decided is in the result. Turns are requests, and the one that
rewrites is the first that it saves in.

N tokens are in the window, a rewrite leaves the first p untouched and takes S away. With cached input at r of the price and
writing at w it costs (N - S - p)(w - r) once and saves S r in each turn. The newest tokens, which no request had yet, are
written in any case and do not count; with a cold cache that is all of them. Shortest prefixes and blocks are heeded.

A rewrite that nothing forces must answer two questions with yes: do the turns that are expected pay it back, and has
waiting cost as much as it does now? The first alone rewrites far too often; the second is what somebody does who rents
until the rents have come to the price, and then buys.

Source: docs/decisions/0014-price-of-a-rewrite.md.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from autogen_context.tokens.prices import Rates
from autogen_context.view.pace import Attempt, Pace, Situation

LEAST_FRACTION = 0.1  # of the window; for less nobody should lose anything, however cheap it is

Why = Literal[
    "forced",
    "nothing to save",
    "too little",
    "tried in vain",
    "soon full",
    "not paid back",
    "not yet",
    "pays",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """What would change.

    Attributes:
        window_tokens: N, what the next request has if nothing is rewritten.
        untouched_tokens: p, how many of the first of them stay as they are.
        saved_tokens: S, how many of the others go.
        new_tokens: how many of the last of the N were in no request yet.

    Raises:
        ValueError: a number is below 0, or there are more parts than the window has.
    """

    window_tokens: int
    untouched_tokens: int
    saved_tokens: int
    new_tokens: int = 0

    def __post_init__(self) -> None:
        """Check the numbers."""
        parts = (self.untouched_tokens, self.saved_tokens, self.new_tokens)
        if min(parts) < 0:
            raise ValueError(f"untouched, saved, new tokens = {parts}: give 0 or more")
        if max(self.untouched_tokens + self.saved_tokens, self.new_tokens) > self.window_tokens:
            raise ValueError(
                f"untouched, saved, new tokens = {parts}: "
                f"they do not fit window_tokens={self.window_tokens}"
            )

    @property
    def left_tokens(self) -> int:
        """What the request has after it."""
        return self.window_tokens - self.saved_tokens

    @property
    def saved_fraction(self) -> float:
        """What goes, of the window."""
        return self.saved_tokens / self.window_tokens if self.window_tokens else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RewritePrice:
    """What a rewrite costs and saves, in uncached input tokens.

    Attributes:
        rewrite: what was priced.
        cost_tokens: once; below 0 where the request is cheaper at once by more than what a turn saves.
        saving_tokens: in each turn, this one included; below 0 where too little is left to be cached.
        is_cold: whether nothing was cached any more.
    """

    rewrite: Rewrite
    cost_tokens: float
    saving_tokens: float
    is_cold: bool

    @property
    def turns_to_pay_back(self) -> float:
        """After how many turns it has cost no more than no rewrite; 0 at once, infinite never."""
        if self.saving_tokens > 0:
            return max(0.0, self.cost_tokens / self.saving_tokens)
        is_gift = self.saving_tokens == 0 and self.cost_tokens < 0
        return 0.0 if is_gift else math.inf

    def gain_tokens(self, turns: float) -> float:
        """What it has brought after so many turns."""
        return turns * self.saving_tokens - self.cost_tokens


def price_of_rewrite(rewrite: Rewrite, rates: Rates, *, is_cold: bool = False) -> RewritePrice:
    """What a rewrite costs and saves.

    Args:
        rewrite: what would change.
        rates: what tokens cost.
        is_cold: whether the provider's cache is empty by now.
    """
    window, left = rewrite.window_tokens, rewrite.left_tokens
    sent = 0 if is_cold else window - rewrite.new_tokens
    held = rates.cost_tokens(window, rates.cached_tokens(sent))
    cut = rates.cost_tokens(left, rates.cached_tokens(min(sent, rewrite.untouched_tokens)))
    saving = rates.standing_tokens(window) - rates.standing_tokens(left)
    return RewritePrice(
        rewrite=rewrite, cost_tokens=cut - held + saving, saving_tokens=saving, is_cold=is_cold
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CostEstimate:
    """Whether to rewrite, and why.

    Attributes:
        why: the first rule that decided.
        price: what was judged.
        turns: how many are expected, this one included.
        waited_tokens: what it has cost since the last rewrite not to rewrite, this turn included, in uncached tokens.
    """

    why: Why
    price: RewritePrice
    turns: float
    waited_tokens: float

    @property
    def rewrites(self) -> bool:
        """Whether to rewrite."""
        return self.why in {"forced", "pays"}

    @property
    def carried_tokens(self) -> float:
        """What to hand to the next estimate, if this one is acted upon."""
        return 0.0 if self.rewrites else self.waited_tokens


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
    """Judge a rewrite.

    Args:
        price: of the rewrite that could be done now.
        waited_tokens: what the estimate before carried over; 0 at first.
        turns: how many are expected, this one included.
        is_forced: what is there does not fit the window.
        is_vain: it was tried, and nothing has changed since.
        turns_to_full: until the window forces a compaction, which chooses among everything; where that is within the turns
            expected, it is left to do so.
    """
    waited = waited_tokens + max(0.0, price.saving_tokens)
    why = "forced" if is_forced else _reason(price, waited=waited, turns=turns, is_vain=is_vain)
    if why in {"not paid back", "not yet", "pays"} and turns_to_full <= turns:
        why = "soon full"
    return CostEstimate(why=why, price=price, turns=turns, waited_tokens=waited)


def _reason(price: RewritePrice, *, waited: float, turns: float, is_vain: bool) -> Why:
    if price.rewrite.saved_tokens == 0:
        return "nothing to save"
    if price.rewrite.saved_fraction < LEAST_FRACTION:
        return "too little"
    if is_vain:
        return "tried in vain"
    if turns <= price.turns_to_pay_back:
        return "not paid back"
    return "pays" if waited >= price.cost_tokens else "not yet"


def is_cold(pace: Pace, rates: Rates, now_s: float | None) -> bool:
    """Whether nothing may be cached any more; never without a clock (``now_s`` is ``None``)."""
    if now_s is None or pace.last_turn_s is None:
        return False
    return rates.is_cold(idle_s=now_s - pace.last_turn_s)


def judged(
    pace: Pace, price: RewritePrice, situation: Situation, *, is_forced: bool = False
) -> CostEstimate:
    """Whether to rewrite everything in this turn."""
    return estimate(
        price,
        waited_tokens=pace.waited_tokens,
        turns=turns_expected(pace.turns),
        is_forced=is_forced,
        is_vain=pace.is_vain(situation),
    )


def judged_finished(
    pace: Pace,
    price: RewritePrice,
    situation: Situation,
    *,
    turns_to_full: float,
    acts: bool = True,
) -> tuple[Pace, CostEstimate]:
    """Whether to cut what is finished in this turn; what it costs not to is counted from now on.

    Args:
        pace: of the turns before.
        price: of the cut.
        situation: what decides what it can do.
        turns_to_full: until the window forces a compaction.
        acts: whether the estimate is acted upon; where not, what it costs not to cut goes on being counted.
    """
    cost = estimate(
        price,
        waited_tokens=pace.finished_waited_tokens,
        turns=turns_expected(pace.turns),
        is_vain=pace.is_vain(situation),
        turns_to_full=turns_to_full,
    )
    is_cut = acts and cost.rewrites
    saving = 0.0 if is_cut else max(0.0, price.saving_tokens)
    # This turn's saving is in what was waited; it is counted once more when the turn passes.
    waited = 0.0 if is_cut else cost.waited_tokens - saving
    return replace(pace, finished_waited_tokens=waited, finished_saving_tokens=saving), cost


def after_rewrite(
    pace: Pace, situation: Situation, *, promised_tokens: int, saved_tokens: int
) -> Pace:
    """The pace with what a rewrite brought."""
    attempt = Attempt(
        situation=situation, promised_tokens=promised_tokens, saved_tokens=saved_tokens
    )
    return replace(pace, waited_tokens=0.0, attempt=attempt)


def after_turn(
    pace: Pace, cost: CostEstimate, *, rewrote: bool, units: int, now_s: float | None
) -> Pace:
    """The pace for the next turn.

    Args:
        pace: of this turn.
        cost: the estimate of this turn.
        rewrote: whether everything was planned anew.
        units: how many units there were.
        now_s: the time, in seconds, by the clock handed in.
    """
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A place from which something can be taken away.

    Attributes:
        start_tokens: what stands in front of it, 0 or more.
        saved_tokens: what goes of it, above 0.
    """

    start_tokens: int
    saved_tokens: int


def best_cuts(
    cuts: Sequence[Cut],
    *,
    window_tokens: int,
    turns: float,
    rates: Rates,
    new_tokens: int = 0,
    is_cold: bool = False,
) -> tuple[list[Cut], RewritePrice | None]:
    """The cuts that together bring in most: all from one place on, since what stands behind it is written anyway.

    Args:
        cuts: n places that do not overlap, in any order.
        window_tokens: what the next request has if nothing is cut.
        turns: how many are expected, this one included.
        rates: what tokens cost.
        new_tokens: of the window, what no request had yet.
        is_cold: whether nothing is cached any more.

    Returns:
        The cuts in the order of their places, and their price; none where none brings in more than it costs.
    """
    ordered = sorted(cuts, key=lambda cut: cut.start_tokens)
    best, first, saved = None, len(ordered), 0
    for i in reversed(range(len(ordered))):
        saved += ordered[i].saved_tokens
        rewrite = Rewrite(
            window_tokens=window_tokens,
            untouched_tokens=ordered[i].start_tokens,
            saved_tokens=saved,
            new_tokens=new_tokens,
        )
        price = price_of_rewrite(rewrite, rates, is_cold=is_cold)
        if price.gain_tokens(turns) >= (best.gain_tokens(turns) if best else 0):
            best, first = price, i
    return ordered[first:], best
