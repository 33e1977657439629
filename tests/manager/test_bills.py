"""Bills: the reserve is paid from them first, and a false one is ignored or forgotten."""

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context import IncrementalContextManager
from autogen_context.errors import ContextWindowExceeded
from autogen_context.manager.room import Window
from autogen_context.testing import ChatMessage
from autogen_context.tokens.calibrate import LARGEST_REQUEST, Bill, Calibration
from autogen_context.tokens.measure import Count, EstimateCounter, TokenCounter
from autogen_context.view.invariants import Certificate
from support.counting import Characters

EXACT = Calibration(lowest_ratio=0.9)


def certificate(bill: Bill) -> Certificate:
    """That of the list that was billed."""
    return Certificate(
        limit_tokens=1_000,
        bound=Count(tokens=bill.counted, source="tokenizer"),
        counted_tokens=bill.counted,
        assumed_tokens=bill.assumed,
        rewrites=bill.rewrites,
    )


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
    reserved = Window(window_tokens=1_000, reserve_tokens=reserve, source="estimate")
    assert reserved.limit_tokens == 1_000 - reserve
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


TURNS = 6
LIMITS = st.integers(300, 3_000)
MESSAGES: list[ChatMessage] = [
    {"role": "user" if i % 2 == 0 else "assistant", "content": f"message {i}"} for i in range(TURNS)
]


@settings(max_examples=80)
@given(
    window=LIMITS,
    unseen=st.integers(0, 100),
    at=st.integers(0, TURNS - 1),
    false=st.integers(1, 10_000) | st.integers(1, LARGEST_REQUEST),
    counter=st.sampled_from([Characters(), EstimateCounter()]),
    saved=st.booleans(),
)
def test_a_small_conversation_goes_on(
    *, window: int, unseen: int, at: int, false: int, counter: TokenCounter, saved: bool
) -> None:
    """Whatever the bill says and whenever it comes, the next turn and all that follow fit; saved and loaded too."""
    keeper = IncrementalContextManager(window_tokens=window, counter=counter)
    for turn in range(TURNS):
        prepared = keeper.prepare_nowait(MESSAGES[: turn + 1])
        assert prepared.certificate.fits
        billed = prepared.certificate.counted_tokens + unseen
        keeper.record_usage(prepared, prompt_tokens=false if turn == at else billed)
        if saved:
            state = json.loads(json.dumps(keeper.save_state()))
            keeper = IncrementalContextManager(window_tokens=window, counter=counter)
            keeper.load_state(state)


@given(LIMITS)
def test_a_second_bill_confirms_it(window: int) -> None:
    """What the host adds unseen is more than the window: after two bills that say so there is no turn."""
    keeper = IncrementalContextManager(window_tokens=window, counter=Characters())
    for turn in (1, 2):
        prepared = keeper.prepare_nowait(MESSAGES[:turn])
        billed = prepared.certificate.counted_tokens + window
        keeper.record_usage(prepared, prompt_tokens=billed)
    with pytest.raises(ContextWindowExceeded, match=r"calibration \d") as caught:
        keeper.prepare_nowait(MESSAGES)
    assert caught.value.parts["calibration"] >= window
    assert caught.value.least_tokens == sum(caught.value.parts.values())


@pytest.mark.parametrize(
    "lie", [pytest.param(300, id="below the limit"), pytest.param(9_999, id="above it")]
)
def test_a_false_bill_is_forgotten_with_the_next_one(lie: int) -> None:
    """From then on the bound is that of a conversation in which it never came."""
    told, spared = (
        IncrementalContextManager(window_tokens=400, counter=Characters()) for _ in range(2)
    )
    for turn, false in enumerate([None, lie, None], 1):
        for keeper in (told, spared):
            prepared = keeper.prepare_nowait(MESSAGES[:turn])
            billed = prepared.certificate.counted_tokens + 9
            if keeper is spared and false:
                continue
            keeper.record_usage(prepared, prompt_tokens=false or billed)
    assert told.prepare_nowait(MESSAGES) == spared.prepare_nowait(MESSAGES)
