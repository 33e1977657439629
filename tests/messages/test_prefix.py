"""How far a list is the one before, by identity and by value."""

from hypothesis import given
from hypothesis import strategies as st

from autogen_context.messages.piece import equal_at_front, same_at_front


@given(st.lists(st.integers(1_000, 2_000)), st.lists(st.integers(1_000, 2_000)))
def test_it_counts_the_same_objects_at_the_front(known: list[int], more: list[int]) -> None:
    """A list that goes on is the one before to its end; an equal object is not the same one."""
    boxed = [[number] for number in known]
    assert same_at_front(boxed, [*boxed, *more]) == len(boxed)
    assert same_at_front([*boxed, *more], boxed) == len(boxed)
    assert same_at_front(boxed, [list(box) for box in boxed]) == 0


@given(st.lists(st.integers(0, 1)), st.lists(st.integers(0, 1)), st.lists(st.integers(0, 1)))
def test_it_counts_equal_values_at_the_front(
    front: list[int], one: list[int], other: list[int]
) -> None:
    """As a look at one pair after the other does, whatever follows."""
    known, given = (*front, *one), (*front, *other)
    differ = (i for i, (a, b) in enumerate(zip(known, given, strict=False)) if a != b)
    assert equal_at_front(known, given) == next(differ, min(len(known), len(given)))
