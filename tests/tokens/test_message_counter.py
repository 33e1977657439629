"""A message costs its texts and what its family's chat format adds; images and tools are counted from above."""

import json
import re
from dataclasses import replace
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.messages.message import Image, Message, ToolCall, ToolResult
from autogen_context.messages.openai_chat import OpenAIChat
from autogen_context.testing.transcripts import transcripts
from autogen_context.tokens.measure import BpeOpenAICounter, EstimateCounter, counter_for
from autogen_context.tokens.message_counter import (
    LONGEST_KEY,
    REMEMBERED_TEXTS,
    ImageRule,
    MessageCounter,
    Overheads,
    families,
    family_of,
)
from support.counting import Recorded
from support.units import read_all

OVERHEADS = Overheads(
    per_message=1_000,
    per_name=100,
    per_request=7,
    per_call=10_000,
    per_result=100_000,
    image=ImageRule(at_most_tokens=2_000_000, low_tokens=1_000_000),
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
        fields = cast("dict[object, object]", value).items()
        return sum(cookbook_tokens(v, str(k)) for k, v in fields if k not in ("id", "type"))
    if isinstance(value, list):
        return sum(map(cookbook_tokens, cast("list[object]", value)))
    return 0


@settings(max_examples=100)
@given(CHAT)
def test_the_count_is_never_below_the_cookbooks(payload: dict[str, object]) -> None:
    """F11: names of results, fields beside a call, calls on a result, names that are no text, texts in several parts."""
    counted = MessageCounter.for_model("gpt-4", EXACT).message(OpenAIChat().read(payload))
    assert counted >= 3 + cookbook_tokens(payload)


CALL = ToolCall(id="id is not counted", name="fn", arguments="{}")
RESULT = ToolResult(call_id="id is not counted", text="four")
PARTS = {
    "text": (Message(role="user", text="four"), 1_004),
    "name": (Message(role="user", text="four", name="ada"), 1_107),
    "thinking": (Message(role="assistant", extra="[1]"), 1_003),
    "calls": (Message(role="assistant", calls=(CALL, CALL)), 21_008),
    "result": (Message(role="tool", results=(RESULT,)), 101_004),
    "two messages in one": (Message(role="tool", results=(RESULT,) * 2), 202_008),
    "and what is said beside": (Message(role="tool", results=(RESULT,), text="hi"), 102_006),
    "images": (Message(role="user", images=(Image(detail="low"), Image())), 3_001_000),
}


@pytest.mark.parametrize(("message", "tokens"), PARTS.values(), ids=PARTS)
def test_what_each_part_costs(message: Message, tokens: int) -> None:
    """Texts by the counter, everything else by the table, results as the messages they are sent as."""
    counter = MessageCounter(Recorded(), OVERHEADS)
    assert counter.message(message) == tokens
    assert counter.source == "estimate"
    assert OVERHEADS.assumed(calls=2, results=3) == 2 * 10_000 + 3 * 100_000


@settings(max_examples=15)
@given(transcripts().map(read_all))
def test_each_text_is_counted_once(messages: list[Message]) -> None:
    """However often it occurs, long texts and texts of deep copies included."""
    asked = Recorded()
    counter = MessageCounter(asked, OVERHEADS)
    first = [counter.message(message) for message in messages]
    again = [counter.message(replace(m, text="".join(list(m.text)))) for m in messages]
    assert again == first
    assert len(asked.asked) == len(set(asked.asked))


def test_memory_is_bounded() -> None:
    """The oldest texts are forgotten, and counted again if they come back; long ones are told apart by their digests."""
    texts = Recorded()
    counter = MessageCounter(texts, OVERHEADS)
    for length in (LONGEST_KEY, LONGEST_KEY + 1, LONGEST_KEY + 2, LONGEST_KEY):
        assert counter.text("x" * length) == length
    for number in range(REMEMBERED_TEXTS + 1):
        counter.text(str(number))
    asked = len(texts.asked)
    counter.text("1")
    assert len(texts.asked) == asked
    counter.text("0")
    assert texts.asked[asked:] == ["0"]


MODELS = {
    "gpt-4": "gpt-4",
    "openai/gpt-4o-2024-11-20": "gpt-4o",
    "ft:gpt-4o-mini:org::id": "gpt-4o-mini",
    "gpt-4.1-nano-2025-04-14": "gpt-4.1-nano",
    "o3-mini": "o1, o3",
    "gpt-5.2-codex": "gpt-5.x",
    "us.anthropic.claude-sonnet-4-5-20250929-v1:0": "claude, to 4.6",
    "claude-opus-4-20250514": "claude, to 4.6",
    "claude-opus-4-7": "claude, from 4.7",
    "gemini-3-pro-preview": "gemini, from 3",
    "meta-llama/Llama-3.3-70B-Instruct": "llama",
    "deepseek-ai/DeepSeek-V3": "deepseek",
    "our-deployment": "unknown",
    "": "unknown",
}


@pytest.mark.parametrize(("model", "family"), MODELS.items())
def test_names_find_their_family(model: str, family: str) -> None:
    """Dated, prefixed and fine-tuned names resolve; the most specific family wins; the older encoding is for the older."""
    assert family_of(model).name == family
    assert (family_of(model).encoding == "cl100k_base") == (family in ("gpt-4", "gpt-3.5"))


@given(st.text())
def test_every_name_has_a_family(model: str) -> None:
    """Any string at all, and its encoding is one that can be counted with."""
    assert counter_for(family_of(model).encoding).count("x").tokens == 1


def test_each_row_is_sound() -> None:
    """Ratios, sources and dates are there; names are unique; OpenAI's 3, 1, 3."""
    rows = families()
    assert len({row.name for row in rows}) == len(rows)
    for row in rows:
        assert 0 < row.lowest_ratio < row.ratio >= 1
        assert row.source
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", row.checked)
    chat = family_of("gpt-4o").chat
    assert (chat.per_message, chat.per_name, chat.per_request) == (3, 1, 3)


IMAGES: dict[str, tuple[Image, str, int, int]] = {  # tokens by the provider's page, and ours
    "1024 square": (Image(width=1024, height=1024), "gpt-4o", 765, 765),
    "2048 by 4096": (Image(width=2048, height=4096), "gpt-4o", 1105, 1445),
    "low detail": (Image(width=4096, height=8192, detail="low"), "gpt-4o", 85, 85),
    "patches": (Image(width=1024, height=1024), "gpt-4.1-mini", 1659, 1659),
    "a few patches": (Image(width=32, height=32), "gpt-5.2", 210, 212),
    "1092 square": (Image(width=1092, height=1092), "claude-sonnet-4", 1590, 1640),
    "960 by 540": (Image(width=960, height=540), "gemini-2.5-flash", 1548, 3096),
    "unknown size": (Image(width=9), "gpt-4o", 1105, 1445),
}


@pytest.mark.parametrize(("image", "model", "least", "tokens"), IMAGES.values(), ids=IMAGES)
def test_images(image: Image, model: str, least: int, tokens: int) -> None:
    """No less than by the providers' own examples; what is not known, as one side alone, is taken as the largest."""
    assert family_of(model).chat.image.tokens(image) == tokens >= least


SIDES = st.integers(-5, 20_000)


@given(SIDES, SIDES, st.sampled_from([family.chat.image for family in families()]))
def test_no_image_exceeds_one_of_unknown_size(width: int, height: int, rule: ImageRule) -> None:
    """Every image has a token at least, and a larger one no fewer."""
    tokens, larger = (rule.tokens(Image(width=width + n, height=height)) for n in (0, 7))
    unknown = rule.tokens(Image())
    assert 1 <= tokens <= unknown
    assert tokens <= larger or min(width, height) < 1
    assert min(width, height) > 0 or tokens == unknown


PLACE = {"type": "string", "description": "City and country"}
DAYS = {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}}
PROPERTIES = {"place": PLACE, "unit": {"enum": ["celsius", "fahrenheit"]}, "days": DAYS}
PARAMETERS = {"type": "object", "properties": PROPERTIES, "required": ["place"]}
FUNCTION = {"name": "get_weather", "description": "Get the weather of a place."}
WEATHER = {"type": "function", "function": {**FUNCTION, "parameters": PARAMETERS}}
# How OpenAI writes that down for its models, as its users found out by asking and by comparing bills.
RENDERED = """# Tools

## functions

namespace functions {

// Get the weather of a place.
type get_weather = (_: {
// City and country
place: string,
unit?: "celsius" | "fahrenheit",
days?: Array<
{
n?: number,
}
>,
}) => any;

} // namespace functions"""


def test_what_schemas_count() -> None:
    """No less than their rendering; each tool adds its own, no tools cost nothing; what is no JSON is named."""
    assert MessageCounter.for_model("gpt-4o").tools([WEATHER]) >= EXACT.count(RENDERED).tokens
    chat, counter = family_of("gpt-4o").chat, MessageCounter.for_model("gpt-4o", EstimateCounter())
    text = json.dumps(WEATHER, separators=(",", ":"))
    one = counter.tools([WEATHER])
    assert one == counter.count(text).tokens + chat.per_tool + chat.per_tool_list
    assert counter.tools([WEATHER, WEATHER]) == 2 * one - chat.per_tool_list
    assert counter.tools([]) == 0
    with pytest.raises(ValueError, match=r"tools\[1\]"):
        counter.tools([WEATHER, {"name": {1, 2}}])
