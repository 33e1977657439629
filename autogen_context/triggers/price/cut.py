"""Where to cut: the cheapest places that together save what must be saved.

Promise: the choice reaches the mark wherever all places together do, and is the same for the same places. Late cuts come
before early ones where they suffice, since what stands in front of the first cut stays cached; once a cut is early, all
that is worth less than it costs goes with it.

It is a choice among suffixes: for each place that may be the first, what goes by itself because keeping it costs more
than losing it, then the least loss for each token saved. In small cases every choice can be tried; how far from the best
this comes is in docs/decisions/0014-price-of-a-rewrite.md.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autogen_context.tokens.rates import Rates
from autogen_context.triggers.price.rewrite import Rewrite, RewritePrice, Window, price_of_rewrite


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A place from which something can be taken away.

    Attributes:
        start_tokens: what stands in front of it.
        tokens: what stands there.
        saved_tokens: of these, what goes.
        loss_tokens: what is lost with it, as what it is worth to keep it, in uncached input tokens.

    Raises:
        ValueError: it saves nothing or more than is there, or something is below 0.
    """

    start_tokens: int
    tokens: int
    saved_tokens: int
    loss_tokens: float = 0.0

    def __post_init__(self) -> None:
        """Check the numbers."""
        if not 0 < self.saved_tokens <= self.tokens:
            raise ValueError(
                f"saved_tokens={self.saved_tokens}, tokens={self.tokens}: give 0 < saved <= tokens"
            )
        if min(self.start_tokens, self.loss_tokens) < 0:
            raise ValueError(
                f"start_tokens={self.start_tokens}, loss_tokens={self.loss_tokens}: give 0 or more"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What a cut is for.

    Attributes:
        window_tokens: what the next request has if nothing is cut.
        saved_tokens: what must go at least; 0 where nothing must.
        turns: how many are expected, this one included.
        new_tokens: of the window, what no request had yet.
        is_cold: whether nothing is cached any more.
    """

    window_tokens: int
    saved_tokens: int
    turns: float
    new_tokens: int = 0
    is_cold: bool = False


def cheapest(cuts: Sequence[Cut], mark: Mark, rates: Rates) -> list[Cut]:
    """The cuts to make, in the order of their places.

    Args:
        cuts: n places that do not overlap, in any order.
        mark: what they are for.
        rates: what tokens cost.

    Returns:
        Cuts that save what must be saved; all of them where they do not reach it together. None where nothing must be
        saved and nothing pays.
    """
    ordered = sorted(cuts, key=lambda cut: cut.start_tokens)
    if mark.saved_tokens <= 0:
        return cheapest_of_free(ordered, mark, rates)
    choices = choices_of(ordered, mark, rates)
    chosen = min(choices, key=lambda some: total_tokens(some, mark, rates), default=ordered)
    return sorted(chosen, key=lambda cut: cut.start_tokens)


def cheapest_of_free(ordered: Sequence[Cut], mark: Mark, rates: Rates) -> list[Cut]:
    """The same where nothing must be saved: what goes by itself from one place on, or nothing; n prices for n places."""
    worth = token_worth(mark, rates)
    free = [cut for cut in ordered if cut.loss_tokens < worth * cut.saved_tokens]
    window = Window(mark.window_tokens, mark.new_tokens, rates, is_cold=mark.is_cold)
    least, first, lost, saved = 0.0, len(free), 0.0, 0
    for i in reversed(range(len(free))):
        lost, saved = lost + free[i].loss_tokens, saved + free[i].saved_tokens
        cost, saving = window.cost_and_saving(free[i].start_tokens, saved)
        total = lost - (mark.turns * saving - cost)
        if total <= least:
            least, first = total, i
    return free[first:]


def total_tokens(cuts: Sequence[Cut], mark: Mark, rates: Rates) -> float:
    """What cuts cost over the turns that are expected, with what is lost; below 0 where they pay."""
    lost = sum(cut.loss_tokens for cut in cuts)
    return lost - price_of_cuts(cuts, mark, rates).gain_tokens(mark.turns)


def price_of_cuts(cuts: Sequence[Cut], mark: Mark, rates: Rates) -> RewritePrice:
    """What cuts cost once and save in each turn."""
    rewrite = Rewrite(
        window_tokens=mark.window_tokens,
        untouched_tokens=min((cut.start_tokens for cut in cuts), default=mark.window_tokens),
        saved_tokens=sum(cut.saved_tokens for cut in cuts),
        new_tokens=mark.new_tokens,
    )
    return price_of_rewrite(rewrite, rates, is_cold=mark.is_cold)


def choices_of(ordered: Sequence[Cut], mark: Mark, rates: Rates) -> Iterator[list[Cut]]:
    """For each place that may be the first, good choices from there on that reach the mark."""
    worth = token_worth(mark, rates)
    for first in range(len(ordered)):
        by_loss = sorted(ordered[first:], key=lambda cut: cut.loss_tokens / cut.saved_tokens)
        free = [cut for cut in by_loss if cut.loss_tokens < worth * cut.saved_tokens]
        yield from coverings(free, by_loss[len(free) :], mark.saved_tokens)


def token_worth(mark: Mark, rates: Rates) -> float:
    """What one token less is worth behind a place that is rewritten anyway."""
    return rates.write_share + rates.cached_share * max(0.0, mark.turns - 1)


def coverings(taken: list[Cut], rest: Sequence[Cut], needed_tokens: int) -> Iterator[list[Cut]]:
    """What was taken, and more of the rest, in its order, until what is needed is saved.

    After each step, the one that completes it at the least loss is tried in place of all further ones.
    """
    chosen = list(taken)
    missing = needed_tokens - sum(cut.saved_tokens for cut in chosen)
    for i, cut in enumerate(rest):
        if missing <= 0:
            break
        last = [other for other in rest[i:] if other.saved_tokens >= missing]
        if last:
            yield [*chosen, min(last, key=lambda other: other.loss_tokens)]
        chosen.append(cut)
        missing -= cut.saved_tokens
    if missing <= 0:
        yield chosen
