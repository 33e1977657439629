"""What stands near: neighbours lend by halves, to whoever is judged and to nobody else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.prioritizer.relevance.surroundings import (
    REACH,
    Surroundings,
    means_around,
    smoothed,
)

SHARES = st.floats(0, 1)


@st.composite
def lists_of_documents(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """How often each document holds a term, and which documents are judged, ascending."""
    counts = draw(st.lists(st.sampled_from([0, 0, 1, 2, 500]), max_size=25))
    return counts, [document for document in range(len(counts)) if draw(st.booleans())]


@given(lists_of_documents())
def test_each_holds_what_its_neighbours_lend(given_list: tuple[list[int], list[int]]) -> None:
    """A count is the sum of all counts by their distance; who holds nothing is not named."""
    counts, judged = given_list
    holders = [document for document, count in enumerate(counts) if count]
    times = [count for count in counts if count]
    held = dict(Surroundings(judged, len(counts)).held(holders, times))
    for number, document in enumerate(judged):
        near = [(abs(place - document), count) for place, count in enumerate(counts)]
        expected = sum(count / 2**distance for distance, count in near if distance <= REACH)
        assert held.pop(number, 0) == expected
    assert held == {}


@given(lists_of_documents())
def test_a_mean_is_of_the_counts_over_the_places(given_list: tuple[list[int], list[int]]) -> None:
    """What is held around a place, over what a document that holds the term once everywhere would have there."""
    counts, judged = given_list
    everywhere = list(range(len(counts)))
    around = Surroundings(judged, len(counts))
    sums, weights = (
        dict(around.held(everywhere, all_of)) for all_of in (counts, [1] * len(counts))
    )
    expected = [sums.get(number, 0) / weights[number] for number in range(len(judged))]
    assert means_around(judged, counts) == expected


@given(st.lists(SHARES, max_size=20), st.data())
def test_some_means_are_those_among_all(values: list[float], data: st.DataObject) -> None:
    """Whichever places are asked for."""
    places = [place for place in range(len(values)) if data.draw(st.booleans())]
    everything = smoothed(values)
    assert means_around(places, values) == [everything[place] for place in places]


@given(st.lists(SHARES, max_size=20))
def test_smoothing_keeps_the_scale(values: list[float]) -> None:
    """Each mean lies between the least and the greatest of what it is taken from."""
    for i, value in enumerate(smoothed(values)):
        near = values[max(0, i - REACH) : i + REACH + 1]
        assert min(near) - 1e-9 <= value <= max(near) + 1e-9


def test_smoothing_halves() -> None:
    """One peak spreads by halves, four to each side, and is not lost."""
    peak = smoothed([0.0] * 8 + [1.0] + [0.0] * 8)
    assert sum(peak) == pytest.approx(1)
    assert peak[:4] == [0] * 4
    assert [score / peak[8] for score in peak[4:9]] == [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1]
    assert peak == list(reversed(peak))
