"""Whether a rewrite is worth its price now, judged in each turn and acted upon where that is asked for.

Promise: a turn costs a few additions, however long the conversation is. Without a clock that was handed in the
provider's cache is never taken for cold. What was judged depends on the turns alone, so that a saved state judges alike.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from autogen_context.tokens.rates import Rates
from autogen_context.triggers.price import (
    Attempt,
    CostEstimate,
    Rewrite,
    RewritePrice,
    Situation,
    estimate,
    price_of_rewrite,
    turns_expected,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """What is remembered from turn to turn.

    Attributes:
        turns: how many there were.
        waited_tokens: what it has cost not to rewrite, since the last rewrite, in uncached tokens.
        last_turn_s: when the last one was, by the clock handed in; ``None`` where there was none.
        attempt: the last rewrite, and what it brought.
        changes: how often pins or what was said before have changed.
        seen_units: how many units the turns so far had.
        finished_waited_tokens: what it has cost not to cut what is finished, as far as it was proposed.
        finished_saving_tokens: what that costs in each turn.
    """

    turns: int = 0
    waited_tokens: float = 0.0
    last_turn_s: float | None = None
    attempt: Attempt | None = None
    changes: int = 0
    seen_units: int = 0
    finished_waited_tokens: float = 0.0
    finished_saving_tokens: float = 0.0


class Pricing:
    """Judges the rewrites of one conversation.

    Args:
        rates: what tokens cost.
        clock: seconds, from any point on; ``None`` where time decides nothing.
        pace: where to go on.
    """

    def __init__(self, rates: Rates, clock: Callable[[], float] | None, pace: Pace) -> None:
        self.pace = pace
        self._rates = rates
        self._clock = clock

    def price(self, rewrite: Rewrite) -> RewritePrice:
        """What a rewrite costs now, and what it saves."""
        return price_of_rewrite(rewrite, self._rates, is_cold=self.is_cold)

    @property
    def is_cold(self) -> bool:
        """Whether nothing may be cached any more."""
        if self._clock is None or self.pace.last_turn_s is None:
            return False
        return self._rates.is_cold(idle_s=self._clock() - self.pace.last_turn_s)

    def estimate(
        self, price: RewritePrice, *, situation: Situation, is_forced: bool = False
    ) -> CostEstimate:
        """Whether to rewrite in this turn."""
        attempt = self.pace.attempt
        return estimate(
            price,
            waited_tokens=self.pace.waited_tokens,
            turns=turns_expected(self.pace.turns),
            is_forced=is_forced,
            is_vain=attempt is not None and attempt.is_vain(situation),
        )

    def rewritten(self, situation: Situation, *, promised_tokens: int, saved_tokens: int) -> None:
        """Remember what a rewrite brought."""
        attempt = Attempt(
            situation=situation, promised_tokens=promised_tokens, saved_tokens=saved_tokens
        )
        self.pace = replace(self.pace, waited_tokens=0.0, attempt=attempt)

    def estimate_of_finished(
        self,
        price: RewritePrice,
        *,
        situation: Situation,
        turns_to_full: float,
        acts: bool = True,
    ) -> CostEstimate:
        """Whether to cut what is finished in this turn; what it costs not to is counted from now on.

        Args:
            price: of the cut.
            situation: what decides what it can do.
            turns_to_full: until the window forces a compaction.
            acts: whether the estimate is acted upon; where not, what it costs not to cut goes on being counted.
        """
        pace, attempt = self.pace, self.pace.attempt
        cost = estimate(
            price,
            waited_tokens=pace.finished_waited_tokens,
            turns=turns_expected(pace.turns),
            is_vain=attempt is not None and attempt.is_vain(situation),
            turns_to_full=turns_to_full,
        )
        is_cut = acts and cost.rewrites
        saving = 0.0 if is_cut else max(0.0, price.saving_tokens)
        # This turn's saving is in what was waited; it is counted once more when the turn passes.
        waited = 0.0 if is_cut else cost.waited_tokens - saving
        self.pace = replace(pace, finished_waited_tokens=waited, finished_saving_tokens=saving)
        return cost

    def changed(self) -> None:
        """Pins or what was said before have changed: what did not help may help now."""
        self.pace = replace(self.pace, changes=self.pace.changes + 1)

    def pass_turn(self, cost: CostEstimate, *, rewrote: bool, units: int) -> None:
        """Go on to the next turn.

        Args:
            cost: the estimate of this turn.
            rewrote: whether everything was planned anew.
            units: how many units there were.
        """
        pace = self.pace
        waited = pace.finished_waited_tokens + pace.finished_saving_tokens
        self.pace = replace(
            pace,
            turns=pace.turns + 1,
            waited_tokens=0.0 if rewrote else cost.waited_tokens,
            last_turn_s=self._clock() if self._clock else None,
            seen_units=units,
            finished_waited_tokens=0.0 if rewrote else waited,
            finished_saving_tokens=0.0 if rewrote else pace.finished_saving_tokens,
        )
