"""A limit in the provider's tokens, a room in ours."""

import logging
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from autogen_context.view.certificate import Certificate
from autogen_context.manager.window import Usage, Window
from autogen_context.tokens.calibrate import Bill, Calibration
from autogen_context.tokens.measure import Count

EXACT = Calibration(lowest_ratio=0.9)


def window(*, tokens: int = 1_000, reserve: int = 0, calibration: Calibration = EXACT) -> Window:
    """One whose counts are estimates."""
    return Window(
        window_tokens=tokens, reserve_tokens=reserve, source="estimate", calibration=calibration
    )


SENT = Certificate(
    limit_tokens=1_000,
    bound=Count(tokens=500, source="tokenizer"),
    counted_tokens=500,
    pairs_closed=True,
    pins_present=True,
    newest_present=True,
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
    held = window(tokens=tokens, reserve=reserve)
    assert held.limit_tokens == tokens - reserve
    for bill in bills:
        held.record(bill)
        for rewrites in (bill.rewrites, 3, 3):
            room = held.room(rewrites)
            assert held.bound(room, rewrites).tokens <= held.limit_tokens or not room
            assert held.bound(room + 1, rewrites).tokens > held.limit_tokens


@pytest.mark.parametrize(
    ("billed", "bound"),
    [
        pytest.param(650, 500, id="all of the reserve is used"),
        pytest.param(700, 550, id="more than the reserve: an offset"),
        pytest.param(500, 450, id="none of it: it stays reserved"),
        pytest.param(460, 450, id="less than was counted"),
    ],
)
def test_the_reserve_is_paid_from_the_bill_first(billed: int, bound: int) -> None:
    """Of 150 reserved tokens and 500 counted ones."""
    held = window(reserve=150)
    assert held.record(Bill(counted=500, billed=billed))
    assert held.bound(500, 0) == Count(tokens=bound, source="provider")


def test_a_bill_below_the_reserve_is_a_bill() -> None:
    """Something is always billed, even where all that was counted is assumed."""
    held = window(reserve=900)
    assert held.record(Bill(counted=500, billed=30, assumed=500))
    assert held.bound(500, 0) == Count(tokens=1, source="provider")
    assert held.calibration.is_sound


def test_a_bill_that_cannot_be_true_is_told() -> None:
    """Nothing changes, and the count keeps its source."""
    held = window()
    assert not held.record(Bill(counted=500, billed=449))
    assert held.bound(500, 0) == Count(tokens=500, source="estimate")
    assert held.calibration is EXACT


class Told(logging.Handler):
    """Keeps what is logged."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    @override
    def emit(self, record: logging.LogRecord) -> None:
        """Keep it."""
        self.texts.append(record.getMessage())


@given(st.lists(st.booleans(), max_size=12))
def test_doubts_are_told_once_until_a_bill_is_plausible_again(bills: list[bool]) -> None:
    """A provider that always bills so does not fill the log; usage has the plausible ones alone."""
    held = window()
    told = Told()
    logger = logging.getLogger("autogen_context.manager.window")
    logger.addHandler(told)
    for plausible in bills:
        held.bill(SENT, prompt_tokens=500 if plausible else 400, cached_tokens=0)
    logger.removeHandler(told)
    begins = [now for before, now in pairwise([True, *bills]) if before and not now]
    assert told.texts == ["a bill that cannot be true was ignored"] * len(begins)
    assert held.usage.requests == sum(bills)


def test_another_window_keeps_what_was_learned() -> None:
    """Room and limit are those of the new one."""
    held = window(reserve=100)
    held.record(Bill(counted=500, billed=800))
    assert held.room(0) == 700
    held.resize(2_000)
    assert held.limit_tokens == 1_900
    assert held.bound(500, 0).tokens == 700
    assert held.room(0) == 1_700


def test_another_calibration_is_used_at_once() -> None:
    """For the bound and for the room."""
    held = window()
    assert held.room(0) == 1_000
    held.calibrate(Calibration(ratio=2.0, lowest_ratio=1.0))
    assert (held.bound(100, 0).tokens, held.room(0)) == (200, 500)


def test_usage_adds_up() -> None:
    """Requests, and the tokens of all of them."""
    usage = Usage().after(prompt_tokens=10, cached_tokens=4).after(prompt_tokens=5, cached_tokens=0)
    assert usage == Usage(requests=2, prompt_tokens=15, cached_tokens=4)
