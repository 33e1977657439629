"""What a rewrite costs and saves, and when it is worth that."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.tokens.prices import Rates, prices
from autogen_context.triggers.price import (
    LEAST_FRACTION,
    CostEstimate,
    Rewrite,
    RewritePrice,
    after_turn,
    estimate,
    price_of_rewrite,
)
from autogen_context.view.view import HELPED_FRACTION, Pace

TENTH = Rates(cached_fraction=0.1)
PLAIN = st.builds(Rates, cached_fraction=st.floats(0.01, 0.99), write_fraction=st.floats(1, 2))
EVERY_RATE = st.sampled_from([*prices().models.values(), *prices().providers.values()])
TOKENS = st.integers(0, 200_000)
TURNS = st.floats(1, 500)


@st.composite
def rewrites(draw: st.DrawFn) -> Rewrite:
    """Any rewrite of a window, the newest tokens behind what stays untouched."""
    untouched, saved, rewritten = draw(TOKENS), draw(TOKENS), draw(TOKENS)
    return Rewrite(
        window_tokens=untouched + saved + rewritten,
        untouched_tokens=untouched,
        saved_tokens=saved,
        new_tokens=draw(st.integers(0, rewritten)),
    )


def billed(rates: Rates, price: RewritePrice, *, turns: int, is_rewritten: bool) -> float:
    """What turns cost in which nothing is said, summed request by request; the first writes what is new."""
    rewrite = price.rewrite
    tokens = rewrite.window_tokens - (rewrite.saved_tokens if is_rewritten else 0)
    sent = 0 if price.is_cold else rewrite.window_tokens - rewrite.new_tokens
    shared = min(sent, rewrite.untouched_tokens) if is_rewritten else sent
    first = rates.cost_tokens(tokens, rates.cached_tokens(shared))
    return first + (turns - 1) * rates.standing_tokens(tokens)


@settings(max_examples=40)
@given(rewrites(), PLAIN)
def test_the_formula(rewrite: Rewrite, rates: Rates) -> None:
    """Of what was sent before, what is written again costs w - r once, and what goes saves r a turn."""
    price = price_of_rewrite(rewrite, rates)
    w, r = rates.write_fraction, rates.cached_fraction
    left = rewrite.window_tokens - rewrite.saved_tokens
    again = left - rewrite.untouched_tokens - rewrite.new_tokens
    assert price.cost_tokens == pytest.approx(again * (w - r), abs=1e-6)
    assert price.saving_tokens == pytest.approx(rewrite.saved_tokens * r, abs=1e-6)


@settings(max_examples=40)
@given(rewrite=rewrites(), rates=EVERY_RATE, turns=st.integers(1, 300), is_cold=st.booleans())
def test_what_it_brings_is_the_difference_of_two_bills(
    rewrite: Rewrite, rates: Rates, turns: int, *, is_cold: bool
) -> None:
    """For every provider, with its shortest prefix and its blocks, request by request."""
    price = price_of_rewrite(rewrite, rates, is_cold=is_cold)
    held = billed(rates, price, turns=turns, is_rewritten=False)
    cut = billed(rates, price, turns=turns, is_rewritten=True)
    assert price.gain_tokens(turns) == pytest.approx(held - cut, rel=1e-6, abs=1e-3)


HEAD, KEPT = 1_000, 3_000  # tokens: what opens a conversation, and what a rewrite leaves behind it

WAITED = st.floats(0, 1e6)


PRICES = st.builds(price_of_rewrite, rewrites(), st.just(TENTH), is_cold=st.booleans())


@settings(max_examples=40)
@given(price=PRICES, waited=WAITED, turns=TURNS, is_vain=st.booleans())
def test_what_the_window_forces_is_done(
    price: RewritePrice, waited: float, turns: float, *, is_vain: bool
) -> None:
    """Whatever it costs, and however little it helped before."""
    cost = estimate(price, waited_tokens=waited, turns=turns, is_forced=True, is_vain=is_vain)
    assert (cost.rewrites, cost.why) == (True, "forced")


@settings(max_examples=40)
@given(PRICES, WAITED, TURNS)
def test_what_is_done_without_need_pays(price: RewritePrice, waited: float, turns: float) -> None:
    """The turns that are expected bring more than it costs, and waiting has cost as much already."""
    cost = estimate(price, waited_tokens=waited, turns=turns)
    if cost.rewrites:
        assert price.gain_tokens(turns) > 0
        assert cost.waited_tokens >= price.cost_tokens
        assert price.rewrite.saved_tokens >= LEAST_FRACTION * price.rewrite.window_tokens


def estimate_of(
    window: int,
    waited: float = 1e6,
    turns: float = 100,
    *,
    cold: bool = False,
    vain: bool = False,
    full: float = math.inf,
) -> CostEstimate:
    """Of a rewrite of a window without anything new, that leaves its head and what is kept behind it."""
    saved = window - HEAD - KEPT
    rewrite = Rewrite(window_tokens=window, untouched_tokens=HEAD, saved_tokens=saved)
    price = price_of_rewrite(rewrite, TENTH, is_cold=cold)
    return estimate(price, waited_tokens=waited, turns=turns, is_vain=vain, turns_to_full=full)


WHY = {
    "nothing beyond what is kept": (estimate_of(4_000), "too little"),
    "a twentieth": (estimate_of(4_200), "too little"),
    "half, tried before": (estimate_of(8_000, vain=True), "tried in vain"),
    "half, a turn before the end": (estimate_of(8_000, turns=6.76), "pays"),
    "half, the last turn but six": (estimate_of(8_000, turns=6.75), "not paid back"),
    "half, full as soon": (estimate_of(8_000, turns=20, full=20), "soon full"),
    "half, full later": (estimate_of(8_000, turns=20, full=20.1), "pays"),
    "half, a little waited": (estimate_of(8_000, waited=2_299), "not yet"),
    "half, as much waited as it costs": (estimate_of(8_000, waited=2_300), "pays"),
    "half, cold": (estimate_of(8_000, waited=0, cold=True), "pays"),
}


@pytest.mark.parametrize(("cost", "why"), WHY.values(), ids=WHY)
def test_reasons(cost: CostEstimate, why: str) -> None:
    """8,000 tokens of which 4,000 would go cost 2,700 once and save 400 a turn."""
    assert cost.why == why
    assert cost.rewrites == (why == "pays")


@pytest.mark.parametrize("rewrote", [False, True])
def test_what_waiting_has_cost(*, rewrote: bool) -> None:
    """It adds up from turn to turn until everything is planned anew."""
    pace = Pace(finished_waited_tokens=50, finished_saving_tokens=7)
    after = after_turn(pace, estimate_of(8_000, 100), rewrote=rewrote, units=3, now_s=None)
    waited = (after.waited_tokens, after.finished_waited_tokens, after.finished_saving_tokens)
    assert waited == ((0, 0, 0) if rewrote else (pytest.approx(500), 57, 7))
    assert (after.turns, after.seen_units) == (1, 3)


@settings(max_examples=40)
@given(TOKENS, st.integers(0, 50_000), st.integers(-1_000, 50_000), st.integers(0, 1_000))
def test_what_did_not_help_waits_for_a_change(
    tokens: int, promised: int, saved: int, more: int
) -> None:
    """In vain is what saved nothing, or less than half of what it promised, until as much more came or the limit is another."""
    pace = Pace(waited_tokens=9).compacted(
        tokens, promised_tokens=promised, saved_tokens=saved, limit_tokens=500
    )
    is_little = saved < max(1, HELPED_FRACTION * promised)
    is_more = more >= max(1, promised)
    assert pace.is_vain(tokens + more, limit_tokens=500) == (is_little and not is_more)
    assert not pace.is_vain(tokens, limit_tokens=501)
    assert pace.waited_tokens == 0
