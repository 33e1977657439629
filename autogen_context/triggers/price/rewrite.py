"""What a rewrite of the history costs once and saves from then on.

Promise: plain arithmetic on tokens, every number of it kept. Turns are requests, and the one that rewrites is the first
that it saves in.

N tokens are in the window, a rewrite leaves the first p as they are and takes S away. With cached input at r of the price
and writing at w it costs (N - S - p)(w - r) once and saves S r in each turn. The newest tokens, which no request had yet,
are written in any case and do not count; with a cold cache that is all of them. Beside this the shortest prefix that is
cached and whole blocks are heeded, so that small windows are priced as they are billed.
"""

import math
from dataclasses import dataclass

from autogen_context.tokens.rates import Rates


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
    def saved_share(self) -> float:
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
    window = Window(rewrite.window_tokens, rewrite.new_tokens, rates, is_cold=is_cold)
    cost, saving = window.cost_and_saving(rewrite.untouched_tokens, rewrite.saved_tokens)
    return RewritePrice(rewrite=rewrite, cost_tokens=cost, saving_tokens=saving, is_cold=is_cold)


class Window:
    """What is in the window before a rewrite; what the prices of several have in common is reckoned once.

    Args:
        tokens: N.
        new_tokens: how many of the last of these were in no request yet.
        rates: what tokens cost.
        is_cold: whether the provider's cache is empty by now.
    """

    def __init__(self, tokens: int, new_tokens: int, rates: Rates, *, is_cold: bool) -> None:
        self._tokens = tokens
        self._sent = 0 if is_cold else tokens - new_tokens
        self._rates = rates
        self._held = rates.cost_tokens(tokens, rates.cached_tokens(self._sent))
        self._standing = rates.standing_tokens(tokens)

    def cost_and_saving(self, untouched_tokens: int, saved_tokens: int) -> tuple[float, float]:
        """What a rewrite costs once, and saves in each turn."""
        rates, left = self._rates, self._tokens - saved_tokens
        cut = rates.cost_tokens(left, rates.cached_tokens(min(self._sent, untouched_tokens)))
        saving = self._standing - rates.standing_tokens(left)
        return cut - self._held + saving, saving
