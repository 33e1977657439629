"""The blocks that stay: what fits, and how near it is to the best choice there is."""

from random import Random
from statistics import fmean, median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.prioritizer.blocks.choose import LEAST_ROOM, Offer, Selection
from autogen_context.prioritizer.blocks.worth import Spot
from support.selection import Case, Covering, best, cost, drawn

CASES = st.builds(
    drawn, st.integers(0, 10**6).map(Random), blocks=st.integers(1, 40), overlapping=st.booleans()
)


def chosen(case: Case, room: int | None = None) -> list[Spot]:
    """What is under test, from the start."""
    worth = Covering(named=case.worth.named, weights=case.worth.weights)
    room = case.room_tokens if room is None else room
    return Selection(case.offers, worth=worth, room_tokens=room).choose()


@given(CASES, st.integers(-10, 3_000))
def test_what_is_chosen_fits(case: Case, room: int) -> None:
    """With the frame of each unit and a mark for each gap; no block twice, none that was not offered."""
    spots = chosen(case, room)
    assert cost(case.offers, spots) <= max(0, room)
    assert len(set(spots)) == len(spots)
    assert set(spots) <= case.worth.named.keys()


@given(CASES)
def test_the_same_case_has_the_same_choice(case: Case) -> None:
    """In the same order, however the offers come."""
    backwards = Case(
        offers={unit: case.offers[unit] for unit in reversed(list(case.offers))},
        worth=case.worth,
        room_tokens=case.room_tokens,
    )
    assert chosen(backwards) == chosen(case)


@given(CASES)
def test_with_room_for_all_all_is_chosen(case: Case) -> None:
    """The choice leaves nothing out without need."""
    room = cost(case.offers, case.worth.named) + LEAST_ROOM
    extra = 20 * len(case.worth.named)  # marks that go again when what is between them is kept
    assert set(chosen(case, room + extra)) == case.worth.named.keys()


def ratios(*, overlapping: bool) -> list[float]:
    """What is chosen against the best there is, in cases small enough to try each choice."""
    found: list[float] = []
    for seed in range(200):
        random = Random(seed)  # noqa: S311  a law, no secret
        case = drawn(random, blocks=random.randint(6, 10), overlapping=overlapping)
        found.append(case.worth.of_all(chosen(case)) / (best(case) or 1))
    return found


@pytest.mark.parametrize("overlapping", [False, True], ids=["each its own", "shared values"])
def test_it_is_near_the_best(*, overlapping: bool) -> None:
    """In 200 small cases: docs/decisions/0011-plan.md."""
    found = ratios(overlapping=overlapping)
    assert max(found) <= 1 + 1e-9
    assert median(found) >= 0.999
    assert fmean(found) >= 0.97
    assert min(found) >= 0.5
    assert sum(ratio > 1 - 1e-9 for ratio in found) >= 0.65 * len(found)


def test_a_frame_is_paid_once() -> None:
    """Blocks of a unit that is there already go before equal ones that would need another frame."""
    offers = {i: Offer(frame_tokens=40, passages=[[50, 50]]) for i in range(4)}
    spots = [Spot(unit, 0, block) for unit in offers for block in range(2)]
    worth = Covering(
        named={spot: [str(spot)] for spot in spots}, weights=dict.fromkeys(map(str, spots), 1.0)
    )
    case = Case(offers=offers, worth=worth, room_tokens=300)
    assert sorted(chosen(case)) == spots[:4]


def test_a_value_that_is_there_counts_less() -> None:
    """Of three blocks, two of which name the same, the first of these and the other one stay."""
    offers = {i: Offer(frame_tokens=4, passages=[[100]]) for i in range(3)}
    named = {Spot(0, 0, 0): ["a"], Spot(1, 0, 0): ["a"], Spot(2, 0, 0): ["b"]}
    worth = Covering(named=named, weights={"a": 1.0, "b": 0.5})
    case = Case(offers=offers, worth=worth, room_tokens=230)
    assert chosen(case) == [Spot(0, 0, 0), Spot(2, 0, 0)]


def test_beside_what_stays_no_mark_is_needed() -> None:
    """Of blocks of equal worth, those that close a gap come first."""
    offers = {0: Offer(frame_tokens=4, passages=[[30] * 5])}
    spots = [Spot(0, 0, block) for block in range(5)]
    weights = {"0": 1.0, "1": 1.0, "2": 9.0, "3": 1.0, "4": 1.0}
    named = {spot: [str(spot.block)] for spot in spots}
    case = Case(offers=offers, worth=Covering(named=named, weights=weights), room_tokens=120)
    assert {spot.block for spot in chosen(case)} in ({1, 2, 3}, {0, 1, 2}, {2, 3, 4})
