"""A message costs its texts and what the chat format adds."""

from dataclasses import replace
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.messages.message import Image, Message, ToolCall, ToolResult
from autogen_context.messages.openai_chat import OpenAIChat
from autogen_context.testing.transcripts import transcripts
from autogen_context.tokens.measure import Overheads
from autogen_context.tokens.message_counter import (
    LONGEST_KEY,
    REMEMBERED_TEXTS,
    MessageCounter,
)
from autogen_context.tokens.tokenizers import BpeOpenAICounter
from support.counting import Recorded
from support.units import read_all

OVERHEADS = Overheads(
    per_message=1_000,
    per_name=100,
    per_request=7,
    per_call=10_000,
    per_result=100_000,
    image_tokens=lambda image: 1_000_000 if image.detail == "high" else 2_000_000,
)


EXACT = BpeOpenAICounter("o200k_base")
WORDS = st.text("ab \n./é-", max_size=30) | st.integers(1, 40).map(lambda n: "\n" * n)
NAMES = st.text("abcdef_", min_size=1, max_size=64)
CALLS = st.fixed_dictionaries(
    {"function": st.fixed_dictionaries({"name": NAMES, "arguments": WORDS})},
    optional={"id": NAMES, "extra_content": st.dictionaries(NAMES, NAMES, max_size=2)},
)
CHAT = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["system", "user", "assistant", "tool", "function"]),
        "content": WORDS | st.lists(WORDS.map(lambda text: {"type": "text", "text": text})),
    },
    optional={
        "name": NAMES | st.lists(NAMES, min_size=1),
        "tool_calls": st.lists(CALLS, max_size=2),
        "function_call": NAMES | CALLS.map(lambda call: call["function"]),
    },
)


def cookbook_tokens(value: object, key: str = "") -> int:
    """What a message costs by the OpenAI cookbook: its texts, wherever they stand; 3 for it, 1 more for a name."""
    if isinstance(value, str):
        return EXACT.count(value).tokens + (key == "name")
    if isinstance(value, dict):
        return sum(
            cookbook_tokens(inner, str(of))
            for of, inner in cast("dict[object, object]", value).items()
            if of not in ("id", "type")
        )
    if isinstance(value, list):
        return sum(map(cookbook_tokens, cast("list[object]", value)))
    return 0


@settings(max_examples=300)
@given(CHAT)
def test_the_count_is_never_below_the_cookbooks(payload: dict[str, object]) -> None:
    """F11: names of results, fields beside a call, calls on a result, names that are no text, texts in several parts."""
    counted = MessageCounter.for_model("gpt-4", EXACT).message(OpenAIChat().read(payload))
    assert counted >= 3 + cookbook_tokens(payload)


CALL = ToolCall(id="id is not counted", name="fn", arguments="{}")
RESULT = ToolResult(call_id="id is not counted", text="four")


@pytest.mark.parametrize(
    ("message", "tokens"),
    [
        pytest.param(Message(role="user"), 1_000, id="empty"),
        pytest.param(Message(role="user", text="four"), 1_004, id="text"),
        pytest.param(Message(role="user", text="four", name="ada"), 1_107, id="name"),
        pytest.param(Message(role="assistant", extra="[1]"), 1_003, id="thinking"),
        pytest.param(Message(role="assistant", calls=(CALL, CALL)), 21_008, id="calls"),
        pytest.param(Message(role="tool", results=(RESULT,)), 101_004, id="result"),
        pytest.param(
            Message(role="tool", results=(RESULT,) * 2), 202_008, id="two messages in one"
        ),
        pytest.param(
            Message(role="tool", results=(RESULT,), text="hi"),
            102_006,
            id="and what is said beside",
        ),
        pytest.param(
            Message(role="user", images=(Image(detail="high"), Image())), 3_001_000, id="images"
        ),
    ],
)
def test_what_each_part_costs(message: Message, tokens: int) -> None:
    """Texts by the counter, everything else by the table, results as the messages they are sent as."""
    assert MessageCounter(Recorded(), OVERHEADS).message(message) == tokens


@pytest.mark.parametrize(
    ("message", "own"),
    [
        pytest.param(Message(role="user", text="notice", own=True), True, id="a notice"),
        pytest.param(Message(role="user", text="notice"), False, id="of the host"),
        pytest.param(Message(role="tool", results=(RESULT,), own=True), False, id="a result"),
    ],
)
def test_what_a_host_adds_to_messages_of_our_own(message: Message, *, own: bool) -> None:
    """It is counted for those that no host sent, and for no other."""
    costs = [
        MessageCounter(Recorded(), replace(OVERHEADS, per_own=per_own)).message(message)
        for per_own in (0, 7)
    ]
    assert costs[1] - costs[0] == 7 * own


def test_what_is_assumed_of_the_format() -> None:
    """What is added for calls and results is documented by nobody; the rest is not assumed."""
    assert OVERHEADS.assumed(calls=2, results=3) == 2 * 10_000 + 3 * 100_000


@settings(max_examples=40)
@given(transcripts().map(read_all))
def test_each_text_is_counted_once(messages: list[Message]) -> None:
    """However often it occurs, long texts and texts of deep copies included."""
    asked = Recorded()
    counter = MessageCounter(asked, OVERHEADS)
    first = [counter.message(message) for message in messages]
    again = [counter.message(replace(m, text="".join(list(m.text)))) for m in messages]
    assert again == first
    assert len(asked.asked) == len(set(asked.asked))


@given(st.sampled_from([LONGEST_KEY - 1, LONGEST_KEY, LONGEST_KEY + 1]), st.text(max_size=3))
def test_long_texts_are_told_apart(length: int, end: str) -> None:
    """A text that is remembered by its digest has a count of its own."""
    counter = MessageCounter(Recorded(), OVERHEADS)
    assert counter.text("x" * length) == length
    assert counter.text("x" * length + end) == length + len(end)
    assert counter.text("x" * length) == length


def test_memory_is_bounded() -> None:
    """The oldest texts are forgotten, and counted again if they come back."""
    texts = Recorded()
    counter = MessageCounter(texts, OVERHEADS)
    for number in range(REMEMBERED_TEXTS + 1):
        counter.text(str(number))
    asked = len(texts.asked)
    counter.text("1")
    assert len(texts.asked) == asked
    counter.text("0")
    assert texts.asked[asked:] == ["0"]


def test_a_count_says_where_it_comes_from() -> None:
    """From the counter of texts."""
    assert MessageCounter(Recorded(), OVERHEADS).source == "estimate"
