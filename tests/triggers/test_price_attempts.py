"""A rewrite that did not help is not tried again until something changed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.triggers.price.attempts import HELPED_SHARE, Attempt, Situation

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
    if attempt.saved_tokens > 0 and attempt.saved_tokens >= HELPED_SHARE * attempt.promised_tokens:
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


@given(ATTEMPTS, SITUATIONS, st.integers(0, 100_000))
def test_growing_never_brings_the_wait_back(attempt: Attempt, now: Situation, more: int) -> None:
    """What may be tried with less may be tried with more."""
    larger = Situation(movable_tokens=now.movable_tokens + more, changes=now.changes)
    assert attempt.is_vain(now) or not attempt.is_vain(larger)


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
