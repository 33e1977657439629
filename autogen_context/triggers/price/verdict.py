"""Whether a rewrite is worth its price now.

Promise: a pure rule. A verdict carries every number that made it, so that it can be reported whether or not it is acted
upon.

Two questions, and both must be answered with yes: do the turns that are expected pay it back, and has waiting cost as
much as it does? The first alone rewrites far too often: soon after a rewrite a little has grown back that would pay for
itself in time, but to wait a turn longer costs less than to write all of it twice. The second is what somebody does who
rents until the rents have come to the price, and then buys; where the window grows evenly it finds the best moment there
is. It is the hysteresis as well: a rewrite takes the waiting back to nothing.

Source: docs/decisions/0014-price-of-a-rewrite.md, where both are measured against an oracle.
"""

from dataclasses import dataclass
from typing import Literal

from autogen_context.triggers.price.rewrite import RewritePrice

Why = Literal[
    "forced", "nothing to save", "too little", "tried in vain", "not paid back", "not yet", "pays"
]

LEAST_SHARE = 0.1  # of the window; for less nobody should lose anything, however cheap it is


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
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
        """What to hand to the next verdict, if this one is acted upon."""
        return 0.0 if self.rewrites else self.waited_tokens


def turns_expected(turns_seen: int) -> int:
    """How many turns there will be, this one included: as many again as there have been.

    Args:
        turns_seen: requests before this one.
    """
    return turns_seen + 1


def judged(
    price: RewritePrice,
    *,
    waited_tokens: float,
    turns: float,
    is_forced: bool = False,
    is_vain: bool = False,
) -> Verdict:
    """Judge a rewrite.

    Args:
        price: of the rewrite that could be done now.
        waited_tokens: what the verdict before carried over; 0 at first.
        turns: how many are expected, this one included.
        is_forced: what is there does not fit the window.
        is_vain: it was tried, and nothing has changed since.
    """
    waited = waited_tokens + max(0.0, price.saving_tokens)
    why = "forced" if is_forced else reason(price, waited=waited, turns=turns, is_vain=is_vain)
    return Verdict(why=why, price=price, turns=turns, waited_tokens=waited)


def reason(price: RewritePrice, *, waited: float, turns: float, is_vain: bool) -> Why:
    """What decides where the window does not."""
    if price.rewrite.saved_tokens == 0:
        return "nothing to save"
    if price.rewrite.saved_share < LEAST_SHARE:
        return "too little"
    if is_vain:
        return "tried in vain"
    if turns <= price.turns_to_pay_back:
        return "not paid back"
    return "pays" if waited >= price.cost_tokens else "not yet"
