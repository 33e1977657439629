"""One false bill stops nobody."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context import IncrementalContextManager
from autogen_context.errors import ContextWindowExceeded
from autogen_context.testing import ChatMessage
from autogen_context.tokens.calibrate import LARGEST_REQUEST
from autogen_context.tokens.measure import EstimateCounter, TokenCounter
from support.counting import Characters

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
    with pytest.raises(ContextWindowExceeded) as caught:
        keeper.prepare_nowait(MESSAGES)
    assert caught.value.parts["calibration"] >= window


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
