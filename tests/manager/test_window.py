"""A limit in the provider's tokens, a room in ours."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context import IncrementalContextManager
from autogen_context.manager.prepared import Window
from autogen_context.tokens.calibrate import Bill, Calibration
from autogen_context.tokens.measure import Count
from autogen_context.view.certificate import Certificate
from support.counting import Characters

EXACT = Calibration(lowest_ratio=0.9)


def window(*, tokens: int = 1_000, reserve: int = 0) -> Window:
    """One whose counts are estimates."""
    return Window(window_tokens=tokens, reserve_tokens=reserve, source="estimate")


def certificate(bill: Bill) -> Certificate:
    """That of the list that was billed."""
    return Certificate(
        limit_tokens=1_000,
        bound=Count(tokens=bill.counted, source="tokenizer"),
        counted_tokens=bill.counted,
        pairs_closed=True,
        pins_present=True,
        newest_present=True,
        assumed_tokens=bill.assumed,
        rewrites=bill.rewrites,
    )


BILLS = st.lists(
    st.builds(
        Bill,
        counted=st.integers(0, 5_000),
        billed=st.integers(0, 9_000),
        assumed=st.integers(0, 500),
        rewrites=st.integers(0, 2),
    ),
    max_size=6,
)


@given(st.integers(1, 5_000), st.integers(0, 5_000), BILLS)
def test_what_fits_the_room_fits_the_limit(tokens: int, reserve: int, bills: list[Bill]) -> None:
    """By the bound, after any bills and rewrites; and the reserve is kept free."""
    given_window, known = window(tokens=tokens, reserve=reserve), EXACT
    assert given_window.limit_tokens == tokens - reserve
    for bill in bills:
        known = given_window.billed(known, certificate(bill), bill.billed) or known
        for rewrites in (bill.rewrites, 3):
            room = known.room(given_window.limit_tokens, rewrites=rewrites)
            bound = given_window.bound(known, room, rewrites).tokens
            assert bound <= given_window.limit_tokens or not room
            more = given_window.bound(known, room + 1, rewrites).tokens
            assert more > given_window.limit_tokens


@pytest.mark.parametrize(
    ("reserve", "bill", "bound"),
    [
        pytest.param(150, Bill(counted=500, billed=650), 500, id="all of the reserve is used"),
        pytest.param(150, Bill(counted=500, billed=700), 550, id="more: an offset"),
        pytest.param(150, Bill(counted=500, billed=500), 450, id="none of it: it stays reserved"),
        pytest.param(150, Bill(counted=500, billed=460), 450, id="less than was counted"),
        pytest.param(900, Bill(counted=500, billed=30, assumed=500), 1, id="less than the reserve"),
    ],
)
def test_the_reserve_is_paid_from_the_bill_first(reserve: int, bill: Bill, bound: int) -> None:
    """Something is always billed, even where all that was counted is assumed."""
    reserved = window(reserve=reserve)
    known = reserved.billed(EXACT, certificate(bill), bill.billed)
    assert known is not None
    assert reserved.bound(known, 500, 0) == Count(tokens=bound, source="provider")
    assert known.is_sound


@pytest.mark.parametrize("bills", [[True], [False], [False, False], [True, False, True, False]])
def test_doubts_are_told_once_until_a_bill_is_plausible_again(
    bills: list[bool], caplog: pytest.LogCaptureFixture
) -> None:
    """A provider that always bills so does not fill the log; usage has the plausible ones alone."""
    keeper = IncrementalContextManager(window_tokens=1_000, counter=Characters())
    prepared = keeper.prepare_nowait([{"role": "user", "content": "x" * 2_000}])
    for plausible in bills:
        keeper.record_usage(prepared, prompt_tokens=510 if plausible else 0)
    begins = [now for before, now in pairwise([True, *bills]) if before and not now]
    told = [r.getMessage() for r in caplog.records]
    assert told == ["an implausible bill was ignored"] * len(begins)
    assert keeper.usage.requests == sum(bills)
