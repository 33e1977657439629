"""What a rewrite costs and saves, when it is worth that, and which finished spans are cut."""

import math
from dataclasses import replace
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.messages.tool_call import BY_NAME
from autogen_context.tokens.prices import (
    LEAST_FRACTION,
    CostEstimate,
    Rates,
    Rewrite,
    RewritePrice,
    estimate,
    price_of_rewrite,
    prices,
)
from autogen_context.triggers.proposals import (
    LEAST_TOKENS,
    MOST_SPANS,
    Offer,
    Proposals,
    ProposedSpan,
    best_cuts,
    offers_of,
)
from autogen_context.triggers.turn import NOTHING, TriggerDecision, Turn, TurnRange
from autogen_context.view.decision import Decision, Why
from autogen_context.view.index import ConversationIndex
from autogen_context.view.view import Pace
from support.saying import says, step
from support.units import candidates_of, read_all

TENTH = Rates(cached_fraction=0.1)
PLAIN = st.builds(Rates, cached_fraction=st.floats(0.01, 0.99), write_fraction=st.floats(1, 2))
EVERY_RATE = st.sampled_from([*prices().models.values(), *prices().providers.values()])
TOKENS = st.integers(0, 200_000)
WAITED, TURNS = st.floats(0, 1e6), st.floats(1, 500)


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


PRICES = st.builds(price_of_rewrite, rewrites(), st.just(TENTH), is_cold=st.booleans())


def billed(rates: Rates, price: RewritePrice, *, turns: int, is_rewritten: bool) -> float:
    """What turns cost in which nothing is said, summed request by request; the first writes what is new."""
    rewrite = price.rewrite
    tokens = rewrite.window_tokens - (rewrite.saved_tokens if is_rewritten else 0)
    sent = 0 if price.is_cold else rewrite.window_tokens - rewrite.new_tokens
    shared = min(sent, rewrite.untouched_tokens) if is_rewritten else sent
    first = rates.cost_tokens(tokens, rates.cached_tokens(shared))
    return first + (turns - 1) * rates.resend_cost_tokens(tokens)


@given(rewrites(), PLAIN)
def test_the_formula(rewrite: Rewrite, rates: Rates) -> None:
    """Of what was sent before, what is written again costs w - r once, and what goes saves r a turn."""
    price = price_of_rewrite(rewrite, rates)
    w, r = rates.write_fraction, rates.cached_fraction
    left = rewrite.window_tokens - rewrite.saved_tokens
    again = left - rewrite.untouched_tokens - rewrite.new_tokens
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


@given(price=PRICES, waited=WAITED, turns=TURNS, is_vain=st.booleans())
def test_it_is_done_where_it_must_be_or_pays(
    price: RewritePrice, waited: float, turns: float, *, is_vain: bool
) -> None:
    """What the window forces is, whatever it costs; else the turns that are expected bring more than it costs, as waiting did."""
    cost = estimate(price, waited_tokens=waited, turns=turns, is_forced=True, is_vain=is_vain)
    assert (cost.rewrites, cost.why) == (True, "forced")
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
    """Of a rewrite of a window without anything new, that leaves its head of 1,000 tokens and 3,000 behind it."""
    rewrite = Rewrite(window_tokens=window, untouched_tokens=1_000, saved_tokens=window - 4_000)
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
    assert (cost.why, cost.rewrites) == (why, why == "pays")


@pytest.mark.parametrize("rewrote", [False, True])
def test_what_waiting_has_cost(*, rewrote: bool) -> None:
    """It adds up from turn to turn until everything is planned anew; without a clock no time passes."""
    pace = Pace(finished_waited_tokens=50, finished_saving_tokens=7)
    waited_tokens = estimate_of(8_000, 100).waited_tokens
    after = pace.after_turn(waited_tokens, rewrote=rewrote, units=3, now_s=9.0)
    waited = (after.waited_tokens, after.finished_waited_tokens, after.finished_saving_tokens)
    assert waited == ((0, 0, 0) if rewrote else (pytest.approx(500), 57, 7))
    assert (after.turns, after.seen_units, after.last_turn_s) == (1, 3, 9.0)


# What triggers propose for a conversation


class Always:
    """Proposes the newest four turns at each."""

    def observe(self, turn: Turn, /) -> TriggerDecision:
        """The proposal, once there are four turns."""
        if turn.number < 3:
            return NOTHING
        scope = TurnRange(start=turn.number - 3, stop=turn.number + 1, outcomes=(turn.number,))
        return TriggerDecision(kind="boundary", scope=scope, confidence=0.8)


def followed(steps: int) -> Proposals:
    """What is proposed after so many steps behind a task."""
    steps_of = (step(f"{n}", "f", "x", path=f"{n}.py") for n in range(steps))
    messages = [says("Go.", "user"), *chain.from_iterable(steps_of)]
    made = Proposals(Always(), BY_NAME)
    ConversationIndex(candidates_of(read_all(messages))).follow(made)
    return made


def test_spans_are_in_units_and_the_newest_are_kept() -> None:
    """Where the trigger fired last is known as well."""
    first = ProposedSpan(start=1, stop=5, outcomes=frozenset({4}), kind="boundary", confidence=0.8)
    made = followed(6)
    assert (made.spans[0], len(made.spans), made.fired_at) == (first, 3, 6)
    assert followed(3).fired_at < 0
    spans = followed(MOST_SPANS + 20).spans
    assert [span.start for span in spans] == list(range(18, MOST_SPANS + 18))


UNITS = [  # tokens, and whether it was cut before
    Decision(
        start=i,
        stop=i + 1,
        action="shorten" if hides else "keep",
        why=Why.NEW,
        tokens_before=tokens,
        tokens_after=tokens,
        pieces=(),
    )
    for i, (tokens, hides) in enumerate([(100, False), (200, False), (400, True), (800, False), (60, False), (1600, False)])
]  # fmt: skip


@pytest.mark.parametrize(
    ("spans", "stays", "expected"),
    [
        pytest.param([(0, 2, ())], (), [(0, 120)], id="two fifths of what goes"),
        pytest.param([(1, 4, ())], (), [(100, 400)], id="not what was cut before"),
        pytest.param([(1, 4, (1,))], (), [(700, 320)], id="not what came out"),
        pytest.param([(1, 4, ())], (3,), [(100, 80)], id="not what is protected"),
        pytest.param([(0, 2, ()), (1, 4, ())], (), [(0, 120), (700, 320)], id="each unit once"),
        pytest.param([(3, 5, ()), (5, 9, ())], (), [(700, 344), (1560, 640)], id="to the end"),
        pytest.param([(4, 5, ()), (2, 3, ())], (), [], id="too little, or nothing"),
    ],
)
def test_what_cutting_a_span_offers(
    spans: list[tuple[int, int, tuple[int, ...]]],
    stays: tuple[int, ...],
    expected: list[tuple[int, int]],
) -> None:
    """The tokens in front of it, and what of its units goes."""
    given_ = [ProposedSpan(start, stop, frozenset(outcomes)) for start, stop, outcomes in spans]
    offers = list(offers_of(given_, UNITS, frozenset(stays)))
    assert [(start, saved) for start, saved, _ in offers] == expected
    assert all(saved >= LEAST_TOKENS for _, saved, _ in offers)


OFFERS = st.lists(st.tuples(st.integers(0, 9_000), st.integers(LEAST_TOKENS, 5_000)), max_size=6)


@given(OFFERS)
def test_the_best_place_to_begin(drawn: list[tuple[int, int]]) -> None:
    """No other brings in more, and all from there on go; none where none pays."""
    span, rates = ProposedSpan(start=0, stop=1), Rates(cached_fraction=0.5)
    offers = sorted(Offer(untouched, saved, span) for untouched, saved in drawn)
    uncut = Rewrite(window_tokens=30_000, untouched_tokens=30_000, saved_tokens=0, new_tokens=50)
    price, cut = best_cuts(offers, uncut, rates, turns=10, is_cold=False) or (None, [])
    assert cut == offers[len(offers) - len(cut) :]
    gains = [0.0]
    for i in range(len(offers)):
        saved = sum(each.saved_tokens for each in offers[i:])
        rewrite = replace(uncut, untouched_tokens=offers[i].untouched_tokens, saved_tokens=saved)
        gains.append(price_of_rewrite(rewrite, rates).gain_tokens(10))
    assert (price.gain_tokens(10) if price else 0.0) == pytest.approx(max(gains))
