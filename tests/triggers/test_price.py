"""What a rewrite costs and saves, when it is worth that, and where to cut."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.tokens.prices import Rates, prices
from autogen_context.triggers.price import (
    LEAST_FRACTION,
    CostEstimate,
    Cut,
    Rewrite,
    RewritePrice,
    best_cuts,
    estimate,
    price_of_rewrite,
    turns_expected,
)
from autogen_context.view.pace import HELPED_FRACTION, Attempt, Situation

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
    tokens = rewrite.left_tokens if is_rewritten else rewrite.window_tokens
    sent = 0 if price.is_cold else rewrite.window_tokens - rewrite.new_tokens
    shared = min(sent, rewrite.untouched_tokens) if is_rewritten else sent
    first = rates.cost_tokens(tokens, rates.cached_tokens(shared))
    return first + (turns - 1) * rates.standing_tokens(tokens)


@given(rewrites(), PLAIN)
def test_the_formula(rewrite: Rewrite, rates: Rates) -> None:
    """Of what was sent before, what is written again costs w - r once, and what goes saves r a turn."""
    price = price_of_rewrite(rewrite, rates)
    w, r = rates.write_fraction, rates.cached_fraction
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


@given(rewrites(least_saved=1), EVERY_RATE, st.data())
def test_a_later_cut_costs_no_more(rewrite: Rewrite, rates: Rates, data: st.DataObject) -> None:
    """What stays untouched stays cached."""
    more = data.draw(st.integers(0, rewrite.left_tokens - rewrite.untouched_tokens))
    later = replace(rewrite, untouched_tokens=rewrite.untouched_tokens + more)
    first, second = price_of_rewrite(rewrite, rates), price_of_rewrite(later, rates)
    assert second.cost_tokens <= first.cost_tokens + 1e-6
    assert second.saving_tokens == first.saving_tokens


@given(rewrites(least_saved=1), PLAIN)
def test_a_cold_cache_makes_it_free(rewrite: Rewrite, rates: Rates) -> None:
    """All is written anew in any case, and less of it if it is less."""
    price = price_of_rewrite(rewrite, rates, is_cold=True)
    assert price.turns_to_pay_back == 0
    assert price.gain_tokens(1) == pytest.approx(rewrite.saved_tokens * rates.write_fraction)


@given(rewrites(least_saved=1))
def test_where_nothing_is_cached_it_pays_at_once(rewrite: Rewrite) -> None:
    """Every token is paid in full in every turn, so that each one less is one less to pay."""
    price = price_of_rewrite(rewrite, Rates(cached_fraction=1, block_tokens=128))
    assert (price.cost_tokens, price.turns_to_pay_back) == (0, 0)
    assert price.saving_tokens == rewrite.saved_tokens


ROWS = {
    "as the formula says": (TENTH, Rewrite(window_tokens=10_000, untouched_tokens=1_000, saved_tokens=4_000), 4_500, 400, 11.25),
    "new tokens are written anyway": (TENTH, Rewrite(window_tokens=10_000, untouched_tokens=1_000, saved_tokens=4_000, new_tokens=5_000), 0, 400, 0),
    "cached tokens for nothing": (Rates(cached_fraction=0), Rewrite(window_tokens=10_000, untouched_tokens=0, saved_tokens=9_000), 1_000, 0, math.inf),
    "blocks: 127 of the untouched are lost": (BILLED, Rewrite(window_tokens=12_800, untouched_tokens=2_047, saved_tokens=6_400), 4_032, 640, 6.3),
    "too short to be cached afterwards": (BILLED, Rewrite(window_tokens=2_048, untouched_tokens=0, saved_tokens=1_500), 548 - 204.8 - 343.2, -343.2, math.inf),
    "too short to be cached at all": (BILLED, Rewrite(window_tokens=1_000, untouched_tokens=0, saved_tokens=400), 0, 400, 0),
    "nothing goes": (TENTH, Rewrite(window_tokens=10_000, untouched_tokens=10_000, saved_tokens=0), 0, 0, math.inf),
}  # fmt: skip  # a row a case


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
    assert rewrite.saved_fraction == 0.4


HEAD, KEPT = 1_000, 3_000  # tokens: what opens a conversation, and what a rewrite leaves behind it

WAITED = st.floats(0, 1e6)
GROWTH = st.lists(st.integers(0, 3_000), min_size=1, max_size=120)


@st.composite
def any_prices(draw: st.DrawFn) -> RewritePrice:
    """Of any rewrite, warm or cold."""
    untouched, saved, rest = (draw(st.integers(0, 50_000)) for _ in range(3))
    rewrite = Rewrite(
        window_tokens=untouched + saved + rest,
        untouched_tokens=untouched,
        saved_tokens=saved,
        new_tokens=draw(st.integers(0, rest)),
    )
    return price_of_rewrite(rewrite, TENTH, is_cold=draw(st.booleans()))


PRICES = any_prices()


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


def played(growth: Sequence[int], rewrites: Callable[[int, RewritePrice], bool]) -> float:
    """What a conversation costs if it is rewritten whenever somebody says so."""
    window, cost = HEAD, 0.0
    for turn, new in enumerate(growth):
        price = price_at(window + new, new)
        held = window * TENTH.cached_fraction + new
        is_rewritten = rewrites(turn, price)
        cost += held - price.gain_tokens(1) if is_rewritten else held
        window += new - (price.rewrite.saved_tokens if is_rewritten else 0)
    return cost


def by_rule(turns: Callable[[int], float]) -> Callable[[int, RewritePrice], bool]:
    """Rewrites when the rule says so, with these turns expected."""
    carried = 0.0

    def rewrites(turn: int, price: RewritePrice) -> bool:
        nonlocal carried
        cost = estimate(price, waited_tokens=carried, turns=turns(turn))
        carried = cost.carried_tokens
        return cost.rewrites

    return rewrites


def every(period: int) -> Callable[[int, RewritePrice], bool]:
    """Rewrites every so many turns."""
    return lambda turn, _price: turn % period == period - 1


@given(price=PRICES, waited=WAITED, turns=TURNS, is_vain=st.booleans())
def test_what_the_window_forces_is_done(
    price: RewritePrice, waited: float, turns: float, *, is_vain: bool
) -> None:
    """Whatever it costs, and however little it helped before."""
    cost = estimate(price, waited_tokens=waited, turns=turns, is_forced=True, is_vain=is_vain)
    assert (cost.rewrites, cost.why) == (True, "forced")


@given(PRICES, WAITED, TURNS)
def test_what_is_done_without_need_pays(price: RewritePrice, waited: float, turns: float) -> None:
    """The turns that are expected bring more than it costs, and waiting has cost as much already."""
    cost = estimate(price, waited_tokens=waited, turns=turns)
    if cost.rewrites:
        assert price.gain_tokens(turns) > 0
        assert cost.waited_tokens >= price.cost_tokens
        assert price.rewrite.saved_fraction >= LEAST_FRACTION


def test_waiting_is_never_paid_for() -> None:
    """Where a rewrite would leave too little to be cached, not to rewrite costs nothing."""
    rates = Rates(cached_fraction=0.1, minimum_prefix_tokens=1_024)
    rewrite = Rewrite(window_tokens=2_000, untouched_tokens=0, saved_tokens=1_500)
    price = price_of_rewrite(rewrite, rates)
    assert price.saving_tokens < 0
    assert estimate(price, waited_tokens=50, turns=100).waited_tokens == 50


@given(st.integers(HEAD + KEPT, 100_000), st.integers(0, 2_000))
def test_nothing_is_done_twice(window: int, new: int) -> None:
    """Right after a rewrite there is nothing left to save, and what grows back must cost as much as the rewrite again."""
    done = estimate(price_at(window + new, new, is_cold=True), waited_tokens=0, turns=1_000)
    left = HEAD + KEPT + new
    after = estimate(price_at(left, 0), waited_tokens=done.carried_tokens, turns=1_000)
    assert not (done.rewrites and after.rewrites)


@pytest.mark.parametrize("new", [50, 200, 1_000, 4_000])
def test_even_growth_is_cut_at_the_best_period(new: int) -> None:
    """Nobody who cuts every so many turns, the best number of them known, is more than 3 % cheaper."""
    growth = [new] * 300
    best = min(played(growth, every(period)) for period in range(2, 60))
    assert played(growth, by_rule(lambda _: 1e9)) <= 1.03 * best


def test_as_many_again_as_there_have_been() -> None:
    """The first request expects itself."""
    assert [turns_expected(seen) for seen in (0, 1, 9)] == [1, 2, 10]


def estimate_of(
    window: int, *, waited: float = 0, turns: float = 100, cold: bool = False, vain: bool = False
) -> CostEstimate:
    """Of a window without anything new."""
    return estimate(
        price_at(window, 0, is_cold=cold), waited_tokens=waited, turns=turns, is_vain=vain
    )


def test_a_tenth_of_the_window_is_enough() -> None:
    """Less is left alone."""
    reasons = [
        estimate(
            price_of_rewrite(
                Rewrite(window_tokens=1_000, untouched_tokens=0, saved_tokens=saved), TENTH
            ),
            waited_tokens=1e6,
            turns=1e6,
        ).why
        for saved in (99, 100)
    ]
    assert reasons == ["too little", "pays"]


WHY = {
    "nothing beyond what is kept": (estimate_of(4_000, waited=1e6), "nothing to save"),
    "a twentieth": (estimate_of(4_200, waited=1e6), "too little"),
    "a twentieth, cold": (estimate_of(4_200, cold=True), "too little"),
    "half, tried before": (estimate_of(8_000, waited=1e6, vain=True), "tried in vain"),
    "half, at the end": (estimate_of(8_000, waited=1e6, turns=6.75), "not paid back"),
    "half, a turn before the end": (estimate_of(8_000, waited=1e6, turns=6.76), "pays"),
    "half, a little waited": (estimate_of(8_000, waited=2_299), "not yet"),
    "half, as much waited as it costs": (estimate_of(8_000, waited=2_300), "pays"),
    "half, cold": (estimate_of(8_000, cold=True), "pays"),
    "half, cold, the last turn": (estimate_of(8_000, cold=True, turns=1), "pays"),
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


@given(ATTEMPTS, SITUATIONS)
def test_a_change_ends_the_wait(attempt: Attempt, now: Situation) -> None:
    """Of pins, window or past; or as much more as was promised."""
    if now.changes != attempt.situation.changes:
        assert not attempt.is_vain(now)
    grown = attempt.situation.movable_tokens + max(1, attempt.promised_tokens)
    assert not attempt.is_vain(Situation(movable_tokens=grown, changes=attempt.situation.changes))


@pytest.mark.parametrize(
    ("saved", "grown", "changes", "is_vain"),
    [
        (0, 0, 0, True),
        (499, 999, 0, True),
        (499, 1_000, 0, False),
        (0, 0, 1, False),
        (500, 0, 0, False),
    ],
    ids=["the same again", "a little more", "as much more as promised", "a pin", "half is help"],
)
def test_attempts(saved: int, grown: int, changes: int, *, is_vain: bool) -> None:
    """A thousand tokens were promised."""
    before = Attempt(
        situation=Situation(movable_tokens=5_000), promised_tokens=1_000, saved_tokens=saved
    )
    now = Situation(movable_tokens=5_000 + grown, changes=changes)
    assert before.is_vain(now) == is_vain


def places(*starts: int) -> list[Cut]:
    """Places of 1,000 tokens each, of which 500 would go."""
    return [Cut(start_tokens=start, saved_tokens=500) for start in starts]


@given(
    sizes=st.lists(st.tuples(st.integers(1, 2_000), st.floats(0.01, 1)), max_size=30),
    turns=st.sampled_from([1, 5, 20, 100]),
    rates=st.sampled_from([TENTH, BILLED, Rates(cached_fraction=1), Rates(cached_fraction=0)]),
    new=st.integers(0, 1_000),
    is_cold=st.booleans(),
)
def test_no_other_place_to_begin_brings_in_more(
    sizes: list[tuple[int, float]], turns: int, rates: Rates, new: int, *, is_cold: bool
) -> None:
    """All from one place on go, and the price is that of a rewrite from there; none where none pays."""
    cuts, start = list[Cut](), 500
    for tokens, fraction in sizes:
        cuts.append(Cut(start_tokens=start, saved_tokens=max(1, int(fraction * tokens))))
        start += tokens
    chosen, price = best_cuts(
        cuts[::-1],
        window_tokens=start + new,
        turns=turns,
        rates=rates,
        new_tokens=new,
        is_cold=is_cold,
    )
    assert chosen == cuts[len(cuts) - len(chosen) :]
    assert bool(chosen) == (price is not None)
    gains = [
        price_of_rewrite(
            Rewrite(
                window_tokens=start + new,
                untouched_tokens=cuts[i].start_tokens,
                saved_tokens=sum(cut.saved_tokens for cut in cuts[i:]),
                new_tokens=new,
            ),
            rates,
            is_cold=is_cold,
        ).gain_tokens(turns)
        for i in range(len(cuts))
    ]
    best = max([0.0, *gains])
    assert (price.gain_tokens(turns) if price else 0.0) == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize(
    ("turns_to_full", "why"),
    [pytest.param(20.0, "soon full", id="as soon"), pytest.param(20.1, "pays", id="later")],
)
def test_a_window_that_is_soon_full_decides(turns_to_full: float, why: str) -> None:
    """Its compaction chooses among everything, so nothing is cut early that it would reach in the turns expected."""
    price = price_at(8_000, 0)
    found = estimate(price, waited_tokens=1e6, turns=20, turns_to_full=turns_to_full)
    assert found.why == why
