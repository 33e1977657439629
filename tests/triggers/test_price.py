"""What a rewrite costs and saves, when it is worth that, and where to cut."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.tokens.prices import Rates, prices
from autogen_context.triggers.price import (
    LEAST_FRACTION,
    CostEstimate,
    Rewrite,
    RewritePrice,
    estimate,
    price_of_rewrite,
)
from autogen_context.view.view import HELPED_FRACTION, Attempt, Situation

TENTH = Rates(cached_fraction=0.1)
BILLED = Rates(cached_fraction=0.1, minimum_prefix_tokens=1024, block_tokens=128)
PLAIN = st.builds(Rates, cached_fraction=st.floats(0.01, 0.99), write_fraction=st.floats(1, 2))
EVERY_RATE = st.sampled_from([*prices().models.values(), *prices().providers.values()])
TOKENS = st.integers(0, 200_000)
TURNS = st.floats(1, 500)


@st.composite
def rewrites(draw: st.DrawFn, *, least_saved: int = 0) -> Rewrite:
    """Any rewrite of a window, the newest tokens behind what stays untouched."""
    untouched, saved, rewritten = draw(TOKENS), draw(TOKENS), draw(TOKENS)
    window = untouched + saved + rewritten + least_saved
    return Rewrite(
        window_tokens=window,
        untouched_tokens=untouched,
        saved_tokens=saved + least_saved,
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


@settings(max_examples=40)
@given(rewrites(least_saved=1), PLAIN)
def test_a_cold_cache_makes_it_free(rewrite: Rewrite, rates: Rates) -> None:
    """All is written anew in any case, and less of it if it is less."""
    price = price_of_rewrite(rewrite, rates, is_cold=True)
    assert price.gain_tokens(1) == pytest.approx(rewrite.saved_tokens * rates.write_fraction)


ROWS = {
    "as the formula says": (TENTH, Rewrite(window_tokens=10_000, untouched_tokens=1_000, saved_tokens=4_000), 4_500, 400),
    "new tokens are written anyway": (TENTH, Rewrite(window_tokens=10_000, untouched_tokens=1_000, saved_tokens=4_000, new_tokens=5_000), 0, 400),
    "cached tokens for nothing": (Rates(cached_fraction=0), Rewrite(window_tokens=10_000, untouched_tokens=0, saved_tokens=9_000), 1_000, 0),
    "blocks: 127 of the untouched are lost": (BILLED, Rewrite(window_tokens=12_800, untouched_tokens=2_047, saved_tokens=6_400), 4_032, 640),
    "too short to be cached afterwards": (BILLED, Rewrite(window_tokens=2_048, untouched_tokens=0, saved_tokens=1_500), 548 - 204.8 - 343.2, -343.2),
    "too short to be cached at all": (BILLED, Rewrite(window_tokens=1_000, untouched_tokens=0, saved_tokens=400), 0, 400),
}  # fmt: skip  # a row a case


@pytest.mark.parametrize(("rates", "rewrite", "cost", "saving"), ROWS.values(), ids=ROWS)
def test_examples(rates: Rates, rewrite: Rewrite, cost: float, saving: float) -> None:
    """What it costs, and what it saves in a turn."""
    price = price_of_rewrite(rewrite, rates)
    assert (price.cost_tokens, price.saving_tokens) == pytest.approx((cost, saving))


HEAD, KEPT = 1_000, 3_000  # tokens: what opens a conversation, and what a rewrite leaves behind it

WAITED = st.floats(0, 1e6)


PRICES = st.builds(price_of_rewrite, rewrites(), st.just(TENTH), is_cold=st.booleans())


def price_at(window_tokens: int, new_tokens: int, *, is_cold: bool = False) -> RewritePrice:
    """Of the rewrite that leaves head, what it keeps, and what is new."""
    return price_of_rewrite(
        Rewrite(
            window_tokens=window_tokens,
            untouched_tokens=HEAD,
            saved_tokens=max(0, window_tokens - HEAD - KEPT - new_tokens),
            new_tokens=new_tokens,
        ),
        TENTH,
        is_cold=is_cold,
    )


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
    window: int, *, waited: float = 0, turns: float = 100, cold: bool = False, vain: bool = False
) -> CostEstimate:
    """Of a window without anything new."""
    return estimate(
        price_at(window, 0, is_cold=cold), waited_tokens=waited, turns=turns, is_vain=vain
    )


WHY = {
    "nothing beyond what is kept": (estimate_of(4_000, waited=1e6), "too little"),
    "a twentieth": (estimate_of(4_200, waited=1e6), "too little"),
    "half, tried before": (estimate_of(8_000, waited=1e6, vain=True), "tried in vain"),
    "half, a turn before the end": (estimate_of(8_000, waited=1e6, turns=6.76), "pays"),
    "half, a little waited": (estimate_of(8_000, waited=2_299), "not yet"),
    "half, as much waited as it costs": (estimate_of(8_000, waited=2_300), "pays"),
    "half, cold": (estimate_of(8_000, cold=True), "pays"),
}  # fmt: skip  # a row a case


@pytest.mark.parametrize(("cost", "why"), WHY.values(), ids=WHY)
def test_reasons(cost: CostEstimate, why: str) -> None:
    """8,000 tokens of which 4,000 would go cost 2,700 once and save 400 a turn."""
    assert cost.why == why
    assert cost.rewrites == (why == "pays")


SITUATIONS = st.builds(Situation, movable_tokens=st.integers(0, 100_000), changes=st.integers(0, 3))
ATTEMPTS = st.builds(
    Attempt,
    situation=SITUATIONS,
    promised_tokens=st.integers(0, 50_000),
    saved_tokens=st.integers(-1_000, 50_000),
)


@settings(max_examples=40)
@given(ATTEMPTS, SITUATIONS)
def test_what_helped_is_never_held_back(attempt: Attempt, now: Situation) -> None:
    """Only what saved nothing, or less than half of what it promised, can be in vain."""
    if (
        attempt.saved_tokens > 0
        and attempt.saved_tokens >= HELPED_FRACTION * attempt.promised_tokens
    ):
        assert attempt.helped
        assert not attempt.is_vain(now)
    else:
        assert attempt.is_vain(attempt.situation)


@settings(max_examples=40)
@given(ATTEMPTS, SITUATIONS)
def test_a_change_ends_the_wait(attempt: Attempt, now: Situation) -> None:
    """Of pins, window or past; or as much more as was promised."""
    if now.changes != attempt.situation.changes:
        assert not attempt.is_vain(now)
    grown = attempt.situation.movable_tokens + max(1, attempt.promised_tokens)
    assert not attempt.is_vain(Situation(movable_tokens=grown, changes=attempt.situation.changes))


@pytest.mark.parametrize(
    ("turns_to_full", "why"),
    [pytest.param(20.0, "soon full", id="as soon"), pytest.param(20.1, "pays", id="later")],
)
def test_a_window_that_is_soon_full_decides(turns_to_full: float, why: str) -> None:
    """Its compaction chooses among everything, so nothing is cut early that it would reach in the turns expected."""
    price = price_at(8_000, 0)
    found = estimate(price, waited_tokens=1e6, turns=20, turns_to_full=turns_to_full)
    assert found.why == why
