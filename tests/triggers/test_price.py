"""What a rewrite costs once, what it saves in each turn, and when that has paid."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.tokens.prices import prices, rates_of
from autogen_context.tokens.rates import Rates
from autogen_context.triggers.price.rewrite import Rewrite, RewritePrice, price_of_rewrite

TENTH = Rates(cached_share=0.1)
BILLED = Rates(cached_share=0.1, minimum_prefix_tokens=1024, block_tokens=128)
PLAIN = st.builds(Rates, cached_share=st.floats(0.01, 0.99), write_share=st.floats(1, 2))
EVERY_RATE = st.sampled_from(
    [rates_of(p) for p in (*prices().models.values(), *prices().providers.values())]
)
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
    tokens = rewrite.left_tokens if is_rewritten else rewrite.window_tokens
    sent = 0 if price.is_cold else rewrite.window_tokens - rewrite.new_tokens
    shared = min(sent, rewrite.untouched_tokens) if is_rewritten else sent
    first = rates.cost_tokens(tokens, rates.cached_tokens(shared))
    return first + (turns - 1) * rates.standing_tokens(tokens)


@given(rewrites(), PLAIN)
def test_the_formula(rewrite: Rewrite, rates: Rates) -> None:
    """Of what was sent before, what is written again costs w - r once, and what goes saves r a turn."""
    price = price_of_rewrite(rewrite, rates)
    w, r = rates.write_share, rates.cached_share
    again = rewrite.left_tokens - rewrite.untouched_tokens - rewrite.new_tokens
    assert price.cost_tokens == pytest.approx(again * (w - r), abs=1e-6)
    assert price.saving_tokens == pytest.approx(rewrite.saved_tokens * r, abs=1e-6)


@given(rewrite=rewrites(), rates=EVERY_RATE, turns=st.integers(1, 300), is_cold=st.booleans())
def test_what_it_brings_is_the_difference_of_two_bills(
    rewrite: Rewrite, rates: Rates, turns: int, *, is_cold: bool
) -> None:
    """For every provider, with its shortest prefix and its blocks, request by request."""
    price = price_of_rewrite(rewrite, rates, is_cold=is_cold)
    held = billed(rates, price, turns=turns, is_rewritten=False)
    cut = billed(rates, price, turns=turns, is_rewritten=True)
    assert price.gain_tokens(turns) == pytest.approx(held - cut, rel=1e-6, abs=1e-3)


@given(rewrite=rewrites(least_saved=1), rates=EVERY_RATE, is_cold=st.booleans())
def test_when_it_is_paid_back_both_have_cost_the_same(
    rewrite: Rewrite, rates: Rates, *, is_cold: bool
) -> None:
    """Never after fewer turns than none; before that it has cost more, after that less."""
    price = price_of_rewrite(rewrite, rates, is_cold=is_cold)
    turns = price.turns_to_pay_back
    assert turns >= 0
    if math.isinf(turns):
        assert price.saving_tokens <= 0
        assert price.saving_tokens < 0 or price.gain_tokens(1_000) <= 0
    elif turns > 0:
        assert price.gain_tokens(turns) == pytest.approx(0, abs=1e-3)
        assert price.gain_tokens(turns + 1) > price.gain_tokens(turns - 1)
    else:
        assert price.gain_tokens(1) >= 0


@given(rewrites(least_saved=1), PLAIN, st.data())
def test_more_saved_is_paid_back_sooner(
    rewrite: Rewrite, rates: Rates, data: st.DataObject
) -> None:
    """At the same place in the same window."""
    more = data.draw(st.integers(0, rewrite.left_tokens - rewrite.untouched_tokens))
    deeper = replace(rewrite, saved_tokens=rewrite.saved_tokens + more)
    before = price_of_rewrite(rewrite, rates).turns_to_pay_back
    assert price_of_rewrite(deeper, rates).turns_to_pay_back <= before + 1e-9


@given(rewrites(least_saved=1), EVERY_RATE, st.data())
def test_a_later_cut_costs_no_more(rewrite: Rewrite, rates: Rates, data: st.DataObject) -> None:
    """What stays untouched stays cached."""
    more = data.draw(st.integers(0, rewrite.left_tokens - rewrite.untouched_tokens))
    later = replace(rewrite, untouched_tokens=rewrite.untouched_tokens + more)
    first, second = price_of_rewrite(rewrite, rates), price_of_rewrite(later, rates)
    assert second.cost_tokens <= first.cost_tokens + 1e-6
    assert second.saving_tokens == first.saving_tokens


@given(
    rewrite=rewrites(least_saved=1), rates=PLAIN, times=st.integers(2, 50), is_cold=st.booleans()
)
def test_it_has_no_scale(rewrite: Rewrite, rates: Rates, times: int, *, is_cold: bool) -> None:
    """A window that is larger in all its parts is judged the same, where any prefix is cached."""
    larger = Rewrite(
        window_tokens=times * rewrite.window_tokens,
        untouched_tokens=times * rewrite.untouched_tokens,
        saved_tokens=times * rewrite.saved_tokens,
        new_tokens=times * rewrite.new_tokens,
    )
    turns = price_of_rewrite(rewrite, rates, is_cold=is_cold).turns_to_pay_back
    again = price_of_rewrite(larger, rates, is_cold=is_cold).turns_to_pay_back
    assert again == pytest.approx(turns, rel=1e-6, abs=1e-9)


@given(rewrites(least_saved=1), PLAIN)
def test_a_cold_cache_makes_it_free(rewrite: Rewrite, rates: Rates) -> None:
    """All is written anew in any case, and less of it if it is less."""
    price = price_of_rewrite(rewrite, rates, is_cold=True)
    assert price.turns_to_pay_back == 0
    assert price.gain_tokens(1) == pytest.approx(rewrite.saved_tokens * rates.write_share)


@given(rewrites(least_saved=1))
def test_where_nothing_is_cached_it_pays_at_once(rewrite: Rewrite) -> None:
    """Every token is paid in full in every turn, so that each one less is one less to pay."""
    price = price_of_rewrite(rewrite, Rates(cached_share=1, block_tokens=128))
    assert (price.cost_tokens, price.turns_to_pay_back) == (0, 0)
    assert price.saving_tokens == rewrite.saved_tokens


ROWS = {
    "as the formula says": (
        TENTH,
        Rewrite(window_tokens=10_000, untouched_tokens=1_000, saved_tokens=4_000),
        4_500,
        400,
        11.25,
    ),
    "new tokens are written anyway": (
        TENTH,
        Rewrite(window_tokens=10_000, untouched_tokens=1_000, saved_tokens=4_000, new_tokens=5_000),
        0,
        400,
        0,
    ),
    "cached tokens for nothing": (
        Rates(cached_share=0),
        Rewrite(window_tokens=10_000, untouched_tokens=0, saved_tokens=9_000),
        1_000,
        0,
        math.inf,
    ),
    "blocks: 127 of the untouched are lost": (
        BILLED,
        Rewrite(window_tokens=12_800, untouched_tokens=2_047, saved_tokens=6_400),
        4_032,
        640,
        6.3,
    ),
    "too short to be cached afterwards": (
        BILLED,
        Rewrite(window_tokens=2_048, untouched_tokens=0, saved_tokens=1_500),
        548 - 204.8 - 343.2,
        -343.2,
        math.inf,
    ),
    "too short to be cached at all": (
        BILLED,
        Rewrite(window_tokens=1_000, untouched_tokens=0, saved_tokens=400),
        0,
        400,
        0,
    ),
    "nothing goes": (
        TENTH,
        Rewrite(window_tokens=10_000, untouched_tokens=10_000, saved_tokens=0),
        0,
        0,
        math.inf,
    ),
}


@pytest.mark.parametrize(("rates", "rewrite", "cost", "saving", "turns"), ROWS.values(), ids=ROWS)
def test_examples(rates: Rates, rewrite: Rewrite, cost: float, saving: float, turns: float) -> None:
    """What it costs, what it saves in a turn, and after how many it has paid."""
    price = price_of_rewrite(rewrite, rates)
    assert price.cost_tokens == pytest.approx(cost)
    assert price.saving_tokens == pytest.approx(saving)
    assert price.turns_to_pay_back == pytest.approx(turns, rel=0.01)


def test_what_costs_more_in_every_later_turn_never_pays() -> None:
    """Though this request is cheaper: 900 instead of 1,100 tokens now, then 900 instead of 110 each time."""
    rewrite = Rewrite(window_tokens=1_100, untouched_tokens=0, saved_tokens=200)
    price = price_of_rewrite(rewrite, BILLED, is_cold=True)
    assert price.gain_tokens(1) == pytest.approx(200)
    assert price.gain_tokens(2) == pytest.approx(200 - 790)
    assert math.isinf(price.turns_to_pay_back)


@pytest.mark.parametrize(
    ("untouched", "saved", "new"),
    [(-1, 0, 0), (0, -1, 0), (0, 0, -1), (60, 41, 0), (0, 0, 101)],
    ids=["untouched", "saved", "new", "more than all", "newer than all"],
)
def test_rewrites_that_cannot_be(untouched: int, saved: int, new: int) -> None:
    """A part is neither below nothing nor larger than the window."""
    with pytest.raises(ValueError, match=f"{untouched}, {saved}, {new}"):
        Rewrite(window_tokens=100, untouched_tokens=untouched, saved_tokens=saved, new_tokens=new)


@pytest.mark.parametrize(
    ("cost", "saving", "turns"),
    [
        pytest.param(-0.5, 0.0, 0.0, id="a gift"),
        pytest.param(0.5, 0.0, math.inf, id="for nothing"),
        pytest.param(0.0, 0.0, math.inf, id="neither"),
        pytest.param(-0.5, -0.5, math.inf, id="dearer from then on"),
        pytest.param(-0.5, 0.5, 0.0, id="at once"),
        pytest.param(1.0, 0.5, 2.0, id="after two"),
    ],
)
def test_when_it_has_paid(cost: float, saving: float, turns: float) -> None:
    """As soon as what was saved is what it cost; never where nothing is saved, unless it is cheaper at once."""
    rewrite = Rewrite(window_tokens=10, untouched_tokens=0, saved_tokens=4)
    price = RewritePrice(rewrite=rewrite, cost_tokens=cost, saving_tokens=saving, is_cold=False)
    assert price.turns_to_pay_back == turns
    assert rewrite.saved_share == 0.4


def test_of_an_empty_window_nothing_goes() -> None:
    """Its share is 0."""
    assert Rewrite(window_tokens=0, untouched_tokens=0, saved_tokens=0).saved_share == 0
