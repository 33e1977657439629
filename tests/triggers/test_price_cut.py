"""Where to cut: the cheapest places that together save what must be saved."""

from dataclasses import replace
from itertools import accumulate, chain, combinations
from random import Random
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.tokens.rates import Rates
from autogen_context.triggers.price.cut import (
    Cut,
    Mark,
    cheapest,
    price_of_cuts,
    token_worth,
    total_tokens,
)

TENTH = Rates(cached_share=0.1)
BILLED = Rates(cached_share=0.1, minimum_prefix_tokens=1024, block_tokens=128)


def case(seed: int, *, most: int) -> tuple[list[Cut], Mark]:
    """Places one behind the other, and a mark; some losses are nothing, some are dear."""
    random = Random(seed)  # noqa: S311 - no secret
    sizes = [random.randint(1, 2_000) for _ in range(random.randint(1, most))]
    starts = list(accumulate(sizes, initial=random.randint(0, 3_000)))
    cuts = [
        Cut(
            start_tokens=start,
            tokens=tokens,
            saved_tokens=random.randint(1, tokens),
            loss_tokens=random.choice([0, random.uniform(0, 3) * tokens]),
        )
        for start, tokens in zip(starts, sizes, strict=False)
    ]
    new = random.randint(0, 1_000)
    mark = Mark(
        window_tokens=starts[-1] + new,
        saved_tokens=int(random.uniform(0, 1.1) * sum(cut.saved_tokens for cut in cuts)),
        turns=random.choice([1, 5, 20, 100]),
        new_tokens=new,
        is_cold=random.random() < 0.2,
    )
    return cuts, mark


def saved(cuts: list[Cut]) -> int:
    """What goes."""
    return sum(cut.saved_tokens for cut in cuts)


def best(cuts: list[Cut], mark: Mark, rates: Rates) -> float:
    """The least total of all choices that reach the mark."""
    every = chain.from_iterable(combinations(cuts, n) for n in range(len(cuts) + 1))
    return min(
        total_tokens(chosen, mark, rates)
        for chosen in every
        if sum(cut.saved_tokens for cut in chosen) >= mark.saved_tokens
    )


CASES = st.integers(0, 10**6).map(lambda seed: case(seed, most=40))
RATES = st.sampled_from([TENTH, BILLED, Rates(cached_share=1), Rates(cached_share=0)])


@given(CASES, RATES)
def test_the_mark_is_reached_where_it_can_be(drawn: tuple[list[Cut], Mark], rates: Rates) -> None:
    """With places that were given, each once, in their order; with all of them where it cannot be."""
    cuts, mark = drawn
    chosen = cheapest(cuts, mark, rates)
    assert [cut for cut in cuts if cut in chosen] == sorted(chosen, key=lambda c: c.start_tokens)
    assert len(chosen) == len(set(chosen))
    if saved(cuts) >= mark.saved_tokens:
        assert saved(chosen) >= mark.saved_tokens
    else:
        assert len(chosen) == len(cuts)


@given(CASES, RATES, st.randoms(use_true_random=False))
def test_the_order_of_places_does_not_matter(
    drawn: tuple[list[Cut], Mark], rates: Rates, random: Random
) -> None:
    """The same places give the same choice."""
    cuts, mark = drawn
    mixed = random.sample(cuts, len(cuts))
    assert cheapest(mixed, mark, rates) == cheapest(cuts, mark, rates)


@given(CASES, RATES)
def test_without_need_only_what_pays_is_cut(drawn: tuple[list[Cut], Mark], rates: Rates) -> None:
    """It brings more than it costs, what is lost included."""
    cuts, mark = drawn
    free = Mark(window_tokens=mark.window_tokens, saved_tokens=0, turns=mark.turns)
    chosen = cheapest(cuts, free, rates)
    assert total_tokens(chosen, free, rates) <= 0


@given(st.integers(1, 1_000), st.integers(1, 100), st.floats(0, 5_000))
def test_what_a_token_is_worth_behind_a_cut(saved_tokens: int, turns: int, loss: float) -> None:
    """To be written once, in this turn, and read in each one after it."""
    first, second = places(0, loss)
    more = Cut(
        start_tokens=second.start_tokens,
        tokens=second.tokens,
        saved_tokens=saved_tokens,
        loss_tokens=loss,
    )
    mark = Mark(window_tokens=3_000, saved_tokens=0, turns=turns)
    added = total_tokens([first, more], mark, TENTH) - total_tokens([first], mark, TENTH)
    assert added == pytest.approx(loss - saved_tokens * token_worth(mark, TENTH), abs=1e-6)


@pytest.mark.parametrize(
    ("rates", "mean", "worst"),
    [(TENTH, 1.001, 1.05), (BILLED, 1.001, 1.05)],
    ids=["plain", "as billed"],
)
def test_the_best_choice_is_near(rates: Rates, mean: float, worst: float) -> None:
    """Beside every choice of up to nine places: how much dearer, of what all that is rewritten and lost would cost."""
    distances: list[float] = []
    for seed in range(300):
        cuts, mark = case(seed, most=9)
        if saved(cuts) >= mark.saved_tokens:
            found = total_tokens(cheapest(cuts, mark, rates), mark, rates)
            least = best(cuts, mark, rates)
            distances.append(1 + (found - least) / mark.window_tokens)
    assert fmean(distances) <= mean
    assert max(distances) <= worst


def places(*losses: float) -> list[Cut]:
    """Five places of 1,000 tokens each behind a head of 1,000, which would give 500 each."""
    return [
        Cut(start_tokens=1_000 * i, tokens=1_000, saved_tokens=500, loss_tokens=loss)
        for i, loss in enumerate(losses, 1)
    ]


Row = tuple[list[float], int, float, list[int]]
ROWS: dict[str, Row] = {
    "late before early": ([900] * 5, 500, 10, [5]),
    "early where late is dear": ([900, 900, 900, 900, 9_000], 500, 10, [4]),
    "deep when early": ([100, 9_000, 100, 900, 9_000], 1_500, 10, [1, 3, 4]),
    "what is worth nothing goes with it": ([9_000, 0, 9_000, 0, 9_000], 500, 100, [2, 4]),
    "but not where nobody is left to read": ([9_000, 0, 9_000, 0, 9_000], 500, 1, [4]),
    "one token more than a place gives": ([900] * 5, 501, 10, [4, 5]),
    "one token is needed, nothing pays": ([9_000] * 5, 1, 1, [5]),
    "nothing is needed, nothing pays": ([9_000] * 5, 0, 10, []),
    "nothing is needed, an early cut pays in many turns": ([0] * 5, 0, 100, [1, 2, 3, 4, 5]),
    "of that, not what is worth more than it costs": (
        [0, 5_000, 0, 6_000, 0],
        0,
        100,
        [1, 2, 3, 5],
    ),
}


@pytest.mark.parametrize(("losses", "needed", "turns", "expected"), ROWS.values(), ids=ROWS)
def test_examples(losses: list[float], needed: int, turns: float, expected: list[int]) -> None:
    """Places are numbered from the oldest on."""
    mark = Mark(window_tokens=6_000, saved_tokens=needed, turns=turns)
    chosen = cheapest(places(*losses), mark, TENTH)
    assert [cut.start_tokens // 1_000 for cut in chosen] == expected


@pytest.mark.parametrize(
    ("new", "is_cold", "cost"),
    [(0, False, 2_000 * 0.9), (1_000, False, 1_000 * 0.9), (0, True, -1_000 * 0.9)],
    ids=["all was sent", "the last is new", "cold"],
)
def test_what_is_in_front_stays_cached(new: int, cost: float, *, is_cold: bool) -> None:
    """The price of cuts is that of a rewrite from the first of them on."""
    mark = Mark(window_tokens=6_000, saved_tokens=0, turns=1, new_tokens=new, is_cold=is_cold)
    price = price_of_cuts(places(0, 0, 0, 0, 0)[2:4], mark, TENTH)
    assert (price.rewrite.untouched_tokens, price.rewrite.saved_tokens) == (3_000, 1_000)
    assert price.cost_tokens == pytest.approx(cost)


@pytest.mark.parametrize(
    ("turns", "is_cut"),
    [
        pytest.param(8.99, False, id="not yet paid back"),
        pytest.param(9, True, id="just paid back"),
        pytest.param(9.01, True, id="paid back"),
    ],
)
def test_what_pays_is_cut(turns: float, is_cut: bool) -> None:  # noqa: FBT001 - a row's expectation
    """From the turn on in which it is paid back: 900 tokens are written for half of the price, 100 are saved for half."""
    cut = Cut(start_tokens=0, tokens=1_000, saved_tokens=100)
    mark = Mark(window_tokens=1_000, saved_tokens=0, turns=turns)
    assert mark == Mark(
        window_tokens=1_000, saved_tokens=0, turns=turns, new_tokens=0, is_cold=False
    )
    assert cheapest([cut], mark, Rates(cached_share=0.5)) == ([cut] if is_cut else [])


@given(CASES, RATES)
def test_without_need_it_is_the_best_of_all_that_go_together(
    drawn: tuple[list[Cut], Mark], rates: Rates
) -> None:
    """No other place from which all goes that is worth less than it costs brings in more."""
    cuts, mark = drawn
    free = replace(mark, saved_tokens=0)
    cheap = [cut for cut in cuts if cut.loss_tokens < token_worth(free, rates) * cut.saved_tokens]
    best = min(total_tokens(cheap[first:], free, rates) for first in range(len(cheap) + 1))
    found = total_tokens(cheapest(cuts, free, rates), free, rates)
    assert found == pytest.approx(best, abs=1e-6)


@given(CASES, RATES)
def test_cuts_are_in_the_order_of_their_places(drawn: tuple[list[Cut], Mark], rates: Rates) -> None:
    """Whatever they lose."""
    cuts, mark = drawn
    chosen = cheapest(cuts, mark, rates)
    assert chosen == [cut for cut in cuts if cut in chosen]


def test_one_that_just_completes_it_is_enough() -> None:
    """Though another loses less a token, and both together save more than is needed."""
    small = Cut(start_tokens=2_000, tokens=1_000, saved_tokens=400, loss_tokens=4_000)
    exact = Cut(start_tokens=1_000, tokens=1_000, saved_tokens=500, loss_tokens=6_000)
    mark = Mark(window_tokens=3_000, saved_tokens=500, turns=1)
    assert cheapest([small, exact], mark, TENTH) == [exact]


@pytest.mark.parametrize(
    ("start", "tokens", "gone", "loss"),
    [(0, 10, 0, 0), (0, 10, 11, 0), (-1, 10, 5, 0), (0, 10, 5, -1)],
    ids=["nothing", "more than there is", "before the beginning", "a loss that is a gain"],
)
def test_cuts_that_cannot_be(start: int, tokens: int, gone: int, loss: float) -> None:
    """The message says what to give."""
    with pytest.raises(ValueError, match="give"):
        Cut(start_tokens=start, tokens=tokens, saved_tokens=gone, loss_tokens=loss)
