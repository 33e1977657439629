"""Settings, bills and questions that make no sense get a clear error, or change nothing."""

import pytest
from hypothesis import given, settings

from autogen_context import ContextConfig, IncrementalContextManager
from autogen_context.errors import ContextWindowExceeded, NotInHistory, OriginalNotFound
from autogen_context.testing import ChatMessage
from autogen_context.testing.transcripts import broken_transcripts
from autogen_context.tokens.measure import EstimateCounter


def manager(window: int, *, enabled: bool = True) -> IncrementalContextManager:
    """One that counts by estimate."""
    config = ContextConfig(window_tokens=window, enabled=enabled)
    return IncrementalContextManager(config=config, counter=EstimateCounter())


def says(text: str) -> ChatMessage:
    """A message of a person."""
    return {"role": "user", "content": text}


@pytest.mark.parametrize(
    ("window", "reserve", "reason"),
    [
        (0, 0, "'window_tokens' is 0: Input should be greater than 0"),
        (-5, 0, "'window_tokens' is -5"),
        (100, 100, "below window_tokens, which is 100"),
        (100, -1, "'reserve_tokens' is -1"),
    ],
)
def test_windows_that_make_no_sense(window: int, reserve: int, reason: str) -> None:
    """Are refused at construction, by name and value."""
    with pytest.raises(ValueError, match=reason):
        IncrementalContextManager(window_tokens=window, reserve_tokens=reserve)


def test_a_reserve_above_the_models_window() -> None:
    """Is told at the first turn, with the way out."""
    keeper = IncrementalContextManager(model="gpt-4", reserve_tokens=10_000)
    with pytest.raises(ContextWindowExceeded, match=r"the limit is -\d+ .*lower reserve_tokens"):
        keeper.prepare_nowait([says("hi")])


@pytest.mark.parametrize("billed", [0, -7, 1, 10**9, float("nan"), float("inf"), -float("inf")])
def test_bills_that_cannot_be_true(billed: int, caplog: pytest.LogCaptureFixture) -> None:
    """Change nothing but the log."""
    keeper = manager(1_000)
    before = keeper.prepare_nowait([says("how are you today?")])
    keeper.record_usage(before, prompt_tokens=billed)
    assert keeper.prepare_nowait(before.messages) == before
    assert keeper.usage.requests == 0
    assert [record.getMessage() for record in caplog.records] == [
        "a bill that cannot be true was ignored"
    ]


def test_questions_about_strangers() -> None:
    """Each has an error of its own."""
    keeper = manager(1_000)
    keeper.prepare_nowait([says("hi")])
    with pytest.raises(NotInHistory, match="not in the list that was prepared last"):
        keeper.explain(says("who?"))
    with pytest.raises(OriginalNotFound, match="no original is kept under 'nope'"):
        keeper.recall("nope")
    with pytest.raises(ValueError, match="needs a 'role'"):
        keeper.pin({})


@settings(max_examples=40)
@given(broken_transcripts(max_repeats=20))
def test_disabled_it_passes_everything_through(messages: list[ChatMessage]) -> None:
    """The same objects, measured as far as they can be read."""
    keeper = manager(50, enabled=False)
    keeper.observe(messages)
    turn = keeper.prepare_nowait(messages)
    assert list(map(id, turn.messages)) == list(map(id, messages))
    assert (turn.decisions, turn.compacted) == ((), False)
    assert turn.certificate.counted_tokens > 0
