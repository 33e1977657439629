"""When a rewrite is worth its price."""

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.tokens.rates import Rates
from autogen_context.triggers.price.rewrite import Rewrite, RewritePrice, price_of_rewrite
from autogen_context.triggers.price.verdict import (
    LEAST_SHARE,
    Verdict,
    judged,
    reason,
    turns_expected,
)

TENTH = Rates(cached_share=0.1)
HEAD, KEPT = 1_000, 3_000  # tokens: what opens a conversation, and what a rewrite leaves behind it

TURNS = st.floats(1, 1_000)
WAITED = st.floats(0, 1e6)
GROWTH = st.lists(st.integers(0, 3_000), min_size=1, max_size=120)


@st.composite
def prices(draw: st.DrawFn) -> RewritePrice:
    """Of any rewrite, warm or cold."""
    untouched, saved, rest = (draw(st.integers(0, 50_000)) for _ in range(3))
    rewrite = Rewrite(
        window_tokens=untouched + saved + rest,
        untouched_tokens=untouched,
        saved_tokens=saved,
        new_tokens=draw(st.integers(0, rest)),
    )
    return price_of_rewrite(rewrite, TENTH, is_cold=draw(st.booleans()))


PRICES = prices()


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
        held = window * TENTH.cached_share + new
        is_rewritten = rewrites(turn, price)
        cost += held - price.gain_tokens(1) if is_rewritten else held
        window += new - (price.rewrite.saved_tokens if is_rewritten else 0)
    return cost


def by_rule(turns: Callable[[int], float]) -> Callable[[int, RewritePrice], bool]:
    """Rewrites when the rule says so, with these turns expected."""
    carried = 0.0

    def rewrites(turn: int, price: RewritePrice) -> bool:
        nonlocal carried
        verdict = judged(price, waited_tokens=carried, turns=turns(turn))
        carried = verdict.carried_tokens
        return verdict.rewrites

    return rewrites


def every(period: int) -> Callable[[int, RewritePrice], bool]:
    """Rewrites every so many turns."""
    return lambda turn, _price: turn % period == period - 1


@given(price=PRICES, waited=WAITED, turns=TURNS, is_vain=st.booleans())
def test_what_the_window_forces_is_done(
    price: RewritePrice, waited: float, turns: float, *, is_vain: bool
) -> None:
    """Whatever it costs, and however little it helped before."""
    verdict = judged(price, waited_tokens=waited, turns=turns, is_forced=True, is_vain=is_vain)
    assert (verdict.rewrites, verdict.why) == (True, "forced")


@given(PRICES, WAITED, TURNS)
def test_what_is_done_without_need_pays(price: RewritePrice, waited: float, turns: float) -> None:
    """The turns that are expected bring more than it costs, and waiting has cost as much already."""
    verdict = judged(price, waited_tokens=waited, turns=turns)
    if verdict.rewrites:
        assert price.gain_tokens(turns) > 0
        assert verdict.waited_tokens >= price.cost_tokens
        assert price.rewrite.saved_share >= LEAST_SHARE


@given(PRICES, WAITED, TURNS, st.floats(0, 1e6), st.floats(0, 1_000))
def test_more_turns_and_more_waiting_never_speak_against_it(
    price: RewritePrice, waited: float, turns: float, longer: float, more: float
) -> None:
    """What pays now would pay if it had come later, or if there were more to come."""
    if judged(price, waited_tokens=waited, turns=turns).rewrites:
        assert judged(price, waited_tokens=waited + longer, turns=turns + more).rewrites


@given(PRICES, WAITED, TURNS)
def test_a_verdict_carries_what_made_it(price: RewritePrice, waited: float, turns: float) -> None:
    """Its reason can be found again from its numbers."""
    verdict = judged(price, waited_tokens=waited, turns=turns)
    again = reason(verdict.price, waited=verdict.waited_tokens, turns=verdict.turns, is_vain=False)
    assert (verdict.price, verdict.turns, again) == (price, turns, verdict.why)
    assert verdict.waited_tokens == waited + max(0.0, price.saving_tokens)
    assert verdict.carried_tokens == (0 if verdict.rewrites else verdict.waited_tokens)


def test_waiting_is_never_paid_for() -> None:
    """Where a rewrite would leave too little to be cached, not to rewrite costs nothing."""
    rates = Rates(cached_share=0.1, minimum_prefix_tokens=1_024)
    rewrite = Rewrite(window_tokens=2_000, untouched_tokens=0, saved_tokens=1_500)
    price = price_of_rewrite(rewrite, rates)
    assert price.saving_tokens < 0
    assert judged(price, waited_tokens=50, turns=100).waited_tokens == 50


@given(st.integers(HEAD + KEPT, 100_000), st.integers(0, 2_000))
def test_nothing_is_done_twice(window: int, new: int) -> None:
    """Right after a rewrite there is nothing left to save, and what grows back must cost as much as the rewrite again."""
    done = judged(price_at(window + new, new, is_cold=True), waited_tokens=0, turns=1_000)
    left = HEAD + KEPT + new
    after = judged(price_at(left, 0), waited_tokens=done.carried_tokens, turns=1_000)
    assert not (done.rewrites and after.rewrites)


@given(GROWTH)
def test_who_waits_has_lost_less_than_a_rewrite_costs(growth: list[int]) -> None:
    """Between two rewrites, in every turn in which there is something to save."""
    carried, window = 0.0, HEAD
    for new in growth:
        price = price_at(window + new, new)
        verdict = judged(price, waited_tokens=carried, turns=1e9)
        if verdict.why == "not yet":
            assert verdict.waited_tokens < price.cost_tokens
        carried = verdict.carried_tokens
        window += new - (price.rewrite.saved_tokens if verdict.rewrites else 0)


@pytest.mark.parametrize("new", [50, 200, 1_000, 4_000])
def test_even_growth_is_cut_at_the_best_period(new: int) -> None:
    """Nobody who cuts every so many turns, the best number of them known, is more than 3 % cheaper."""
    growth = [new] * 300
    best = min(played(growth, every(period)) for period in range(2, 60))
    assert played(growth, by_rule(lambda _: 1e9)) <= 1.03 * best


def test_what_will_be_paid_back_is_not_enough() -> None:
    """Who cuts whenever the turns to come pay for it, all of them known, pays a tenth more than the rule."""
    growth = [200] * 600

    def greedy(turn: int, price: RewritePrice) -> bool:
        return price.gain_tokens(len(growth) - turn) > 0

    assert played(growth, greedy) > 1.1 * played(growth, by_rule(lambda _: 1e9))


def test_as_many_again_as_there_have_been() -> None:
    """The first request expects itself."""
    assert [turns_expected(seen) for seen in (0, 1, 9)] == [1, 2, 10]


def verdict_of(
    window: int, *, waited: float = 0, turns: float = 100, cold: bool = False, vain: bool = False
) -> Verdict:
    """Of a window without anything new."""
    return judged(
        price_at(window, 0, is_cold=cold), waited_tokens=waited, turns=turns, is_vain=vain
    )


def test_a_tenth_of_the_window_is_enough() -> None:
    """Less is left alone."""
    reasons = [
        judged(
            price_of_rewrite(
                Rewrite(window_tokens=1_000, untouched_tokens=0, saved_tokens=saved), TENTH
            ),
            waited_tokens=1e6,
            turns=1e6,
        ).why
        for saved in (99, 100)
    ]
    assert reasons == ["too little", "pays"]


ROWS = {
    "nothing beyond what is kept": (verdict_of(4_000, waited=1e6), "nothing to save"),
    "a twentieth": (verdict_of(4_200, waited=1e6), "too little"),
    "a twentieth, cold": (verdict_of(4_200, cold=True), "too little"),
    "half, tried before": (verdict_of(8_000, waited=1e6, vain=True), "tried in vain"),
    "half, at the end": (verdict_of(8_000, waited=1e6, turns=6.75), "not paid back"),
    "half, a turn before the end": (verdict_of(8_000, waited=1e6, turns=6.76), "pays"),
    "half, a little waited": (verdict_of(8_000, waited=2_299), "not yet"),
    "half, as much waited as it costs": (verdict_of(8_000, waited=2_300), "pays"),
    "half, cold": (verdict_of(8_000, cold=True), "pays"),
    "half, cold, the last turn": (verdict_of(8_000, cold=True, turns=1), "pays"),
}


@pytest.mark.parametrize(("verdict", "why"), ROWS.values(), ids=ROWS)
def test_reasons(verdict: Verdict, why: str) -> None:
    """8,000 tokens of which 4,000 would go cost 2,700 once and save 400 a turn."""
    assert verdict.why == why
    assert verdict.rewrites == (why == "pays")
