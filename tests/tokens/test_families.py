"""Every model has a family; images and tools are counted from above."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.messages.message import Image
from autogen_context.tokens.estimate import EstimateCounter
from autogen_context.tokens.families import (
    Area,
    Crops,
    ImageRule,
    Patches,
    Tiles,
    families,
    family_of,
    image_tokens,
)
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.tokens.tokenizers import counter_for

NAMES = {
    "gpt-4": "gpt-4",
    "gpt-4-32k-0613": "gpt-4",
    "gpt-4-turbo": "gpt-4",
    "gpt-3.5-turbo": "gpt-3.5",
    "azure/gpt-35-turbo": "gpt-3.5",
    "gpt-4.1": "gpt-4o",
    "gpt-4.5-preview": "gpt-4o",
    "gpt_4o": "gpt-4o",
    "openai/gpt-4o-2024-11-20": "gpt-4o",
    "chatgpt-4o-latest": "gpt-4o",
    "ft:gpt-4o-mini:org::id": "gpt-4o-mini",
    "gpt-4.1-mini": "gpt-4.1-mini",
    "gpt-4.1-nano-2025-04-14": "gpt-4.1-nano",
    "o1": "o1, o3",
    "o3-mini": "o1, o3",
    "o4-mini": "o4-mini",
    "GPT-5": "gpt-5",
    "gpt-5-mini": "gpt-5-mini",
    "gpt-5.2-codex": "gpt-5.x",
    "openai/gpt-oss-120b": "gpt-oss",
    "claude-3-5-sonnet-20241022": "claude, to 4.6",
    "us.anthropic.claude-sonnet-4-5-20250929-v1:0": "claude, to 4.6",
    "us-gov.anthropic.claude-3-haiku-20240307-v1:0": "claude, to 4.6",
    "claude-opus-4-20250514": "claude, to 4.6",
    "openrouter/anthropic/claude-haiku-4.5:beta": "claude, to 4.6",
    "claude-opus-4-7": "claude, from 4.7",
    "claude-opus-5": "claude, from 4.7",
    "models/gemini-2.5-pro": "gemini, to 2.5",
    "gemini-3-pro-preview": "gemini, from 3",
    "meta-llama/Llama-3.3-70B-Instruct": "llama",
    "mixtral-8x7b": "mistral",
    "qwen3-max": "qwen",
    "deepseek-ai/DeepSeek-V3": "deepseek",
    "xai/grok-4": "grok",
    "command-r-plus": "command",
    "our-deployment": "unknown",
    "": "unknown",
}


@pytest.mark.parametrize("model", sorted(NAMES))
def test_names_find_their_family(model: str) -> None:
    """Dated, prefixed and fine-tuned names resolve; the most specific family wins."""
    assert family_of(model).name == NAMES[model]


@given(st.text())
def test_every_name_has_a_family(model: str) -> None:
    """Any string at all, and its encoding is one that can be counted with."""
    assert counter_for(family_of(model).encoding).count("x").tokens == 1


@pytest.mark.parametrize("model", ["gpt-4", "gpt-3.5-turbo"])
def test_the_older_encoding_is_for_the_older_models(model: str) -> None:
    """gpt-4 and gpt-3.5 use cl100k_base, what came later o200k_base."""
    assert family_of(model).encoding == "cl100k_base"
    assert family_of("gpt-4o").encoding == "o200k_base"


def test_each_row_is_sound() -> None:
    """An exact family has ratio 1, a foreign one more; sources and dates are there; names are unique."""
    rows = families()
    assert len({row.name for row in rows}) == len(rows)
    for row in rows:
        assert (row.ratio == 1) is row.exact
        assert 0 < row.lowest_ratio < row.ratio
        assert row.source
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", row.checked)


def test_openai_s_chat_format() -> None:
    """3 for each message, 1 for each name, 3 for the request."""
    chat = family_of("gpt-4o").chat
    assert (chat.per_message, chat.per_name, chat.per_request) == (3, 1, 3)


TILES = Tiles(base=85, per_tile=170)
PATCHES = Patches(at_most_patches=1536, multiplier=1.62)
AREA = Area(pixels_per_token=750, at_most_tokens=1640)
CROPS = Crops(per_crop=258, at_most_crops=16)

IMAGES: dict[str, tuple[Image, ImageRule, int]] = {
    "OpenAI's example: 1024 square": (Image(width=1024, height=1024), TILES, 765),
    "OpenAI's example: 2048 by 4096": (Image(width=2048, height=4096), TILES, 1105),
    "OpenAI's example: low detail": (Image(width=4096, height=8192, detail="low"), TILES, 85),
    "one tile": (Image(width=500, height=500), TILES, 255),
    "tiles, unknown size": (Image(), TILES, 1445),
    "patches": (Image(width=1024, height=1024), PATCHES, 1659),
    "patches, too many": (Image(width=8000, height=8000), PATCHES, 2489),
    "patches, unknown size": (Image(), PATCHES, 2489),
    "patches, no fewer than": (
        Image(width=32, height=32),
        Patches(at_most_patches=10_000, multiplier=1.62, at_least_tokens=210),
        210,
    ),
    "Anthropic's example: 1092 square": (Image(width=1092, height=1092), AREA, 1590),
    "area, too large": (Image(width=8000, height=8000), AREA, 1640),
    "area, unknown size": (Image(), AREA, 1640),
    "Google's example: 960 by 540": (Image(width=960, height=540), CROPS, 1548),
    "crops, small": (Image(width=384, height=384), CROPS, 258),
    "crops, unknown size": (Image(), CROPS, 4128),
    "crops, height unknown": (Image(width=300), CROPS, 4128),
}


@pytest.mark.parametrize("case", sorted(IMAGES))
def test_images(case: str) -> None:
    """The providers' own examples, the limits, and sizes that are not known."""
    image, rule, tokens = IMAGES[case]
    assert image_tokens(image, rule) == tokens


sides = st.integers(1, 20_000)
rules = st.sampled_from([family.image for family in families()])


@given(sides, sides, rules)
def test_no_image_exceeds_one_of_unknown_size(width: int, height: int, rule: ImageRule) -> None:
    """What is not known is taken as the largest; every image has a token at least."""
    assert 1 <= image_tokens(Image(width=width, height=height), rule) <= image_tokens(Image(), rule)


@given(st.integers(-5, 0), st.integers(-5, 5_000), rules)
def test_a_side_that_is_not_known_makes_the_size_unknown(
    width: int, height: int, rule: ImageRule
) -> None:
    """One side says nothing."""
    assert image_tokens(Image(width=width, height=height), rule) == image_tokens(Image(), rule)


WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the weather of a place.",
        "parameters": {
            "type": "object",
            "properties": {
                "place": {"type": "string", "description": "City and country"},
                "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
                "days": {
                    "type": "array",
                    "items": {"type": "object", "properties": {"n": {"type": "integer"}}},
                },
            },
            "required": ["place"],
        },
    },
}
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


def test_a_schema_counts_for_no_less_than_its_rendering() -> None:
    """The bound is at or above what the model is shown."""
    counter = MessageCounter.for_model("gpt-4o")
    assert counter.tools([WEATHER]) >= counter.count(RENDERED).tokens


def test_all_of_a_schema_counts() -> None:
    """Nested parts, enums and descriptions are all in it; each tool adds its own, and no tools cost nothing."""
    family, counter = family_of("gpt-4o"), MessageCounter.for_model("gpt-4o", EstimateCounter())
    text = json.dumps(WEATHER, separators=(",", ":"))
    one = counter.tools([WEATHER])
    assert one == counter.count(text).tokens + family.chat.per_tool + family.chat.per_tool_list
    assert counter.tools([WEATHER, WEATHER]) == 2 * one - family.chat.per_tool_list
    assert counter.tools([]) == 0


def test_a_schema_that_is_no_json_is_refused() -> None:
    """The error names the tool."""
    with pytest.raises(ValueError, match=r"tools\[1\]"):
        MessageCounter.for_model("gpt-4o").tools([WEATHER, {"name": {1, 2}}])
