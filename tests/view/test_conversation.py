"""Units with their cost, kept up message by message."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.errors import InvalidTranscript
from autogen_context.messages.openai_chat import OpenAIChat
from autogen_context.testing import ChatMessage
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.view.conversation import Conversation, Orphans
from support.counting import OVERHEADS, Recorded
from support.saying import asks, says, tells


def conversation(orphans: Orphans = "repair", counter: Recorded | None = None) -> Conversation:
    """An empty one."""
    return Conversation(
        OpenAIChat(), MessageCounter(counter or Recorded(), OVERHEADS), orphans=orphans
    )


# Few kinds of messages, so that lists share their fronts and steps are broken in all ways.
KINDS = st.sampled_from(
    [
        says("u", "user"),
        says("v", "user"),
        asks("a"),
        asks("a", "b"),
        tells("a"),
        tells("b"),
        tells(""),
    ]
)
EDITS = st.tuples(st.integers(0, 8), st.lists(KINDS, max_size=5))


@settings(max_examples=150)
@given(st.lists(EDITS, min_size=1, max_size=6), st.sampled_from(["repair", "report", "refuse"]))
def test_whatever_the_host_did_the_candidates_are_those_of_its_list(
    edits: list[tuple[int, list[ChatMessage]]], orphans: Orphans
) -> None:
    """As if it had come at once; what a refused list changed is still told when the next one is taken."""
    kept, payloads, taken = conversation(orphans), list[ChatMessage](), list[ChatMessage]()
    for length, new in edits:
        payloads = [*payloads[:length], *new]
        try:
            same = kept.update(payloads)
        except InvalidTranscript:
            assert orphans == "refuse"
            continue
        assert taken[:same] == payloads[:same]
        taken, fresh = payloads, conversation(orphans)
        fresh.update(payloads)
        assert kept.candidates == fresh.candidates
        assert kept.orphans == fresh.orphans
        assert kept.tokens == fresh.tokens == sum(c.tokens for c in kept.candidates)


def test_only_what_is_new_is_counted() -> None:
    """A turn costs what is new in it, an edit what follows it in other words."""
    counter = Recorded()
    kept = conversation(counter=counter)
    payloads = [says(f"text {i}", "user") for i in range(100)]
    kept.update(payloads)
    counter.asked.clear()
    kept.update([*payloads, says("new", "user")])
    assert counter.asked == ["new"]
    kept.update([*payloads[:50], says("edited", "user"), *payloads[51:]])
    assert counter.asked == ["new", "edited"]
    kept.update(payloads[:10])
    assert counter.asked == ["new", "edited"]


@pytest.mark.parametrize(
    ("payloads", "orphans"),
    [
        pytest.param([says("u", "user"), asks("a"), tells("a")], (), id="whole"),
        pytest.param([says("u", "user"), asks("a")], (), id="pending"),
        pytest.param([asks("a"), says("u", "user"), tells("a")], (0, 2), id="interrupted"),
        pytest.param(
            [says("u", "user"), asks("a"), tells("x"), tells("x")], (1, 3), id="wrong ids"
        ),
    ],
)
@pytest.mark.parametrize("mode", ["repair", "report"])
def test_orphans_are_named(
    payloads: list[ChatMessage], orphans: tuple[int, ...], mode: Orphans
) -> None:
    """By the positions of their units, repaired or not."""
    kept = conversation(mode)
    kept.update(payloads)
    assert tuple(kept.orphans) == orphans


@pytest.mark.parametrize(
    ("payloads", "index", "reason"),
    [
        pytest.param(
            [says("u", "user"), tells("a")], 1, "a tool result without its call", id="result"
        ),
        pytest.param(
            [asks("a"), says("u", "user")], 0, "a tool call without its result", id="call"
        ),
    ],
)
def test_orphans_can_be_refused(payloads: list[ChatMessage], index: int, reason: str) -> None:
    """With their position and the setting that asks for it."""
    with pytest.raises(InvalidTranscript, match=f'{reason}, and orphans="refuse"') as caught:
        conversation("refuse").update(payloads)
    assert caught.value.index == index
