"""Whole numbers by weights: the laws of the division."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from autogen_context.budget.allocation import apportion, filled

WEIGHTS = st.dictionaries(
    st.sampled_from("abcdef"),
    st.floats(0, 1e6) | st.integers(0, 50).map(float) | st.just(0.0),
    min_size=1,
)
TOTALS = st.integers(0, 400) | st.integers(0, 10**9)
NEEDS = st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 300) | st.integers(0, 10**9))


@given(TOTALS, WEIGHTS)
def test_parts_add_up(total: int, weights: dict[str, float]) -> None:
    """To the token, none negative, none forgotten."""
    parts = apportion(total, weights)
    assert list(parts) == list(weights)
    assert sum(parts.values()) == total
    assert min(parts.values()) >= 0


@given(TOTALS, WEIGHTS)
def test_parts_are_near_their_shares(total: int, weights: dict[str, float]) -> None:
    """Rounding moves no more tokens than there are parts; what weighs nothing has nothing."""
    parts, whole = apportion(total, weights), sum(map(Fraction, weights.values()))
    for name, weight in weights.items():
        exact = total * Fraction(weight) / whole if whole else Fraction(total, len(weights))
        assert abs(parts[name] - exact) <= len(weights)
        assert parts[name] == 0 or weight or not whole


@given(TOTALS, st.integers(0, 300), WEIGHTS)
def test_a_larger_whole_gives_no_part_less(
    total: int, more: int, weights: dict[str, float]
) -> None:
    """Whatever the weights, each part grows or stays."""
    before, after = apportion(total, weights), apportion(total + more, weights)
    assert all(after[name] >= before[name] for name in weights)


@given(
    st.integers(0, 60), st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 9), min_size=1)
)
def test_tokens_go_where_the_quotient_is_highest(total: int, weights: dict[str, int]) -> None:
    """The parts are those of handing out one token after the other, which would take too long."""
    equal = not any(weights.values())
    parts = dict.fromkeys(weights, 0)
    for _ in range(total):
        quotients = {
            name: Fraction(1 if equal else weights[name], 2 * parts[name] + 1) for name in weights
        }
        parts[max(weights, key=quotients.__getitem__)] += 1
    assert apportion(total, weights) == parts


def largest_remainders(total: int, weights: dict[str, int]) -> dict[str, int]:
    """The familiar way."""
    whole = sum(weights.values())
    parts = {name: total * weight // whole for name, weight in weights.items()}
    by_rest = sorted(weights, key=lambda name: -(total * weights[name] % whole))
    for name in by_rest[: total - sum(parts.values())]:
        parts[name] += 1
    return parts


def test_largest_remainders_would_not_do() -> None:
    """With them a section loses a token when the window grows by one; here it does not."""
    weights = {"a": 6, "b": 6, "c": 2}
    assert [largest_remainders(total, weights)["c"] for total in (10, 11)] == [2, 1]
    assert [apportion(total, weights)["c"] for total in (10, 11)] == [1, 1]


@given(TOTALS, st.integers(0, 300), WEIGHTS, NEEDS)
def test_filling(total: int, more: int, weights: dict[str, float], needs: dict[str, int]) -> None:
    """All that is there is given, or all that is needed; nobody has more than it needs, or less than its share while it needs it.

    A larger whole fills no part less.
    """
    wanted = {name: needs.get(name, 0) for name in weights}
    parts, shares = filled(total, weights, wanted), apportion(total, weights)
    assert sum(parts.values()) == min(total, sum(wanted.values()))
    assert all(min(shares[name], wanted[name]) <= parts[name] <= wanted[name] for name in weights)
    larger = filled(total + more, weights, wanted)
    assert all(larger[name] >= parts[name] for name in weights)


def test_what_is_left_goes_by_weight() -> None:
    """Two that need more share it as they share the whole."""
    parts = filled(100, {"a": 2, "b": 1, "c": 1}, {"a": 90, "b": 90, "c": 10})
    assert parts == {"a": 60, "b": 30, "c": 10}


def test_what_weighs_nothing_has_what_nobody_else_needs() -> None:
    """In equal parts."""
    assert filled(100, {"a": 1, "b": 0, "c": 0}, {"a": 40, "b": 50, "c": 50}) == {
        "a": 40,
        "b": 30,
        "c": 30,
    }
