"""What a request costs beyond its text, by family of models: data, with source and date.

Promise: every model name has a family, and a family's figures are upper bounds. Where a provider publishes none they
are generous, and ``exact`` is false; what the provider bills makes them better, elsewhere.

The table is ``families.json``. How its ratios were measured stands in docs/decisions/0003-counting.md.
"""

import json
import re
from dataclasses import dataclass
from functools import cache, lru_cache
from math import ceil
from pathlib import Path

from autogen_context.messages.message import Image

_TILE_PX, _FIT_PX, _SHORT_PX = 512, 2048, 768  # OpenAI: "Images and vision", high detail
_PATCH_PX = 32
_CROP_PX, _SMALL_CROP_PX, _ONE_CROP_PX = 768, 256, 384  # Google: "Understand and count tokens"
_CROP_OF_SHORT_SIDE = 1.5
# What may stand before the name of a model: providers, regions, folders, and the mark of a fine-tuned one.
_BEFORE_THE_NAME = re.compile(r"^(?:.*/)?(?:ft:)?(?:[a-z-]+\.)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatCost:
    """What the chat format adds, in tokens.

    Attributes:
        per_message: for each message.
        per_name: for each author's name.
        per_request: once, for the start of the answer.
        per_call: for each tool call, beyond its name and arguments.
        per_result: for each tool result, beyond its text and its message.
        per_tool: for each tool, beyond its schema as JSON.
        per_tool_list: once, where a request has tools at all.
    """

    per_message: int
    per_name: int
    per_request: int
    per_call: int
    per_result: int
    per_tool: int
    per_tool_list: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiles:
    """A base, and tiles of 512 pixels after the image was shrunk (GPT-4o and its like)."""

    base: int
    per_tile: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Patches:
    """Patches of 32 pixels; what has more is shrunk to the most (GPT-4.1-mini and its like)."""

    at_most_patches: int
    multiplier: float
    at_least_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Crops:
    """Crops of two thirds of the short side, 256 to 768 pixels (Gemini up to 2.5)."""

    per_crop: int
    at_most_crops: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """Tokens by the number of pixels, up to a limit (Claude, and wherever nothing better is known)."""

    pixels_per_token: int
    at_most_tokens: int


ImageRule = Tiles | Patches | Crops | Area


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """How the models of one family count.

    Attributes:
        name: what the family is called here.
        pattern: regular expression that the names of its models begin with.
        exact: whether ``encoding`` is the family's own.
        ratio: the most tokens billed for one of ``encoding``, over a conversation; 1.0 if exact.
        lowest_ratio: a bill of fewer tokens for one of ``encoding`` is not believed.
        chat: what the chat format adds.
        image: how images count.
        source: where the figures come from.
        checked: when they were looked up, as YYYY-MM-DD.
        encoding: the encoding to count with.
    """

    name: str
    pattern: str
    exact: bool
    ratio: float
    lowest_ratio: float
    chat: ChatCost
    image: ImageRule
    source: str
    checked: str
    encoding: str = "o200k_base"


@lru_cache(maxsize=256)
def family_of(model: str) -> Family:
    """The family of a model, whatever stands before its name; the cautious ``unknown`` if no other fits.

    Args:
        model: as hosts write it: ``gpt-4o``, ``openai/gpt-4o-2024-11-20``, ``ft:gpt-4o-mini:org::id``,
            ``us.anthropic.claude-sonnet-4-5-20250929-v1:0``.
    """
    name = _BEFORE_THE_NAME.sub("", model.strip().lower().replace("_", "-").replace(" ", "-"))
    return next(family for family in families() if re.match(family.pattern, name))


@cache
def families() -> tuple[Family, ...]:
    """The table, most specific family first; the last one fits every name."""
    from pydantic import TypeAdapter  # noqa: PLC0415 - only who counts pays for it

    table = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
    rows = [table["providers"][row.pop("provider")] | row for row in table["families"]]
    return TypeAdapter(tuple[Family, ...]).validate_python(rows)


def image_tokens(image: Image, rule: ImageRule) -> int:
    """An upper bound on the tokens of an image; where a side is not known, of the largest that is plausible."""
    width, height = image.width, image.height
    if min(width, height) <= 0:
        width = height = 0
    match rule:
        case Tiles():
            return rule.base + (
                0 if image.detail == "low" else rule.per_tile * _tiles(width, height)
            )
        case Patches():
            patches = ceil(width / _PATCH_PX) * ceil(height / _PATCH_PX) or rule.at_most_patches
            tokens = ceil(min(patches, rule.at_most_patches) * rule.multiplier)
            return max(tokens, rule.at_least_tokens)
        case Crops():
            return rule.per_crop * min(
                _crops(width, height) or rule.at_most_crops, rule.at_most_crops
            )
        case Area():
            tokens = ceil(width * height / rule.pixels_per_token) or rule.at_most_tokens
            return min(tokens, rule.at_most_tokens)


def _tiles(width: int, height: int) -> int:
    """Tiles of an image that was fitted into 2048 pixels and then to 768 on the short side; 8 is the most."""
    if not width:
        width, height = _FIT_PX, _SHORT_PX
    shrink = min(1.0, _FIT_PX / max(width, height), _SHORT_PX / min(width, height))
    return ceil(width * shrink / _TILE_PX) * ceil(height * shrink / _TILE_PX)


def _crops(width: int, height: int) -> int:
    if max(width, height) <= _ONE_CROP_PX:
        return min(width, 1)
    side = min(max(int(min(width, height) / _CROP_OF_SHORT_SIDE), _SMALL_CROP_PX), _CROP_PX)
    return ceil(width / side) * ceil(height / side)
