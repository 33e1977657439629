"""Count the messages and tools of a request, as an upper bound, and say where the number comes from.

Promise: each text is counted once while its count is remembered; what a chat format adds is counted too. Every model name
has a family, whose figures (``families.json``, with source and date) are upper bounds. Only ``load_tokenizer`` waits.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from math import ceil
from pathlib import Path
from typing import Self

from autogen_context.messages.message import Image, Message, content_digest
from autogen_context.tokens.calibrate import Calibration
from autogen_context.tokens.measure import Count, Source, TokenCounter, counter_for, fetch_ranks

ESTIMATE_LOWEST_RATIO = 0.25  # an estimate is an upper bound; at worst some four times the truth
REMEMBERED_TEXTS = 50_000
# Parts of a content cost more apart than joined by newlines: up to 4 tokens where both ends are long runs of newlines, by
# o200k_base and cl100k_base, 2026-11.
PER_PART = 4
LONGEST_KEY = 4_096  # characters; a longer text is remembered by its digest, not by itself

_TILE_PX, _FIT_PX, _SHORT_PX = 512, 2048, 768  # OpenAI: "Images and vision", high detail
_PATCH_PX = 32
_CROP_PX, _SMALL_CROP_PX, _ONE_CROP_PX = 768, 256, 384  # Google: "Understand and count tokens"
_CROP_OF_SHORT_SIDE = 1.5
# What may stand before the name of a model: providers, regions, folders, and the mark of a fine-tuned one.
_BEFORE_THE_NAME = re.compile(r"^(?:.*/)?(?:ft:)?(?:[a-z-]+\.)*")


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
class Overheads:
    """What a chat format adds to the texts, in tokens."""

    per_message: int
    per_name: int  # beside the author's name itself
    per_request: int  # once, for the start of the answer
    per_call: int  # beside its name and arguments
    per_result: int  # beside its message and its text; a short name of its tool is part of it
    image: ImageRule
    per_own: int = 0  # for each message of our own in the user's role: the author's name that the host gives it
    per_tool: int = 0  # beside its schema as JSON
    per_tool_list: int = 0  # once, where a request has tools at all

    def assumed(self, *, calls: int, results: int) -> int:
        """What is added for so many calls and results: no provider says how much, so it is an upper bound."""
        return calls * self.per_call + results * self.per_result


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """How the models of one family count."""

    name: str
    pattern: str  # regular expression that the names of its models begin with
    ratio: float  # the most tokens billed for one of the encoding; 1.0 where it is the family's own
    lowest_ratio: float  # a bill of fewer tokens for one of the encoding is not believed
    chat: Overheads  # what the chat format adds, roles apart
    source: str
    checked: str  # when the figures were looked up, as YYYY-MM-DD
    encoding: str = "o200k_base"


@lru_cache(maxsize=256)
def family_of(model: str) -> Family:
    """The family of a model, whatever stands before its name; the cautious ``unknown`` if no other fits."""
    name = _BEFORE_THE_NAME.sub("", model.strip().lower().replace("_", "-").replace(" ", "-"))
    return next(family for family in families() if re.match(family.pattern, name))


@cache
def families() -> tuple[Family, ...]:
    """The table, most specific family first; the last one fits every name."""
    from pydantic import TypeAdapter  # noqa: PLC0415 - only who counts pays for it

    table = json.loads(Path(__file__).with_name("families.json").read_text("utf-8"))
    rows = [table["providers"][row["provider"]] | row for row in table["families"]]
    rows = [row | {"chat": row["chat"] | {"image": row["image"]}} for row in rows]
    return TypeAdapter(tuple[Family, ...]).validate_python(rows)


def image_tokens(image: Image, rule: ImageRule) -> int:
    """An upper bound on the tokens of an image; where a side is not known, of the largest that is plausible."""
    width, height = image.width, image.height
    short, long = sorted((width, height))
    known = short > 0
    match rule:
        case Tiles():
            if not known:
                width, height, short, long = _FIT_PX, _SHORT_PX, _SHORT_PX, _FIT_PX
            shrink = min(1.0, _FIT_PX / long, _SHORT_PX / short)
            tiles = ceil(width * shrink / _TILE_PX) * ceil(height * shrink / _TILE_PX)
            return rule.base + (0 if image.detail == "low" else rule.per_tile * tiles)
        case Patches():
            patches = ceil(width / _PATCH_PX) * ceil(height / _PATCH_PX)
            patches = min(patches, rule.at_most_patches) if known else rule.at_most_patches
            return max(ceil(patches * rule.multiplier), rule.at_least_tokens)
        case Crops():
            side = min(max(int(short / _CROP_OF_SHORT_SIDE), _SMALL_CROP_PX), _CROP_PX)
            crops = 1 if long <= _ONE_CROP_PX else ceil(width / side) * ceil(height / side)
            return rule.per_crop * (min(crops, rule.at_most_crops) if known else rule.at_most_crops)
        case Area():
            tokens = ceil(width * height / rule.pixels_per_token)
            return min(tokens, rule.at_most_tokens) if known else rule.at_most_tokens


class MessageCounter:
    """Counts messages with one counter of texts and one chat format; ``source`` says where its numbers come from."""

    def __init__(
        self,
        counter: TokenCounter,
        overheads: Overheads,
        calibration: Calibration = Calibration(),  # noqa: B008 - it is frozen
    ) -> None:
        self.overheads = overheads
        self.calibration = calibration
        self._counter = counter
        self._known: dict[str | bytes, int] = {}  # oldest first
        self.source: Source = counter.count("").source

    @classmethod
    def for_model(
        cls, model: str, counter: TokenCounter | None = None, *, own_name: str = ""
    ) -> Self:
        """How to count for a model, by its name, and with another counter of texts than its family's where one is given.

        ``own_name`` is the author's name under which the host sends messages of our own.
        """
        family = family_of(model)
        chat, chosen = family.chat, counter or counter_for(family.encoding)
        own = chat.per_name + chosen.count(own_name).tokens if own_name else 0
        # A role is one token in every known vocabulary.
        overheads = replace(chat, per_message=chat.per_message + 1, per_own=own)
        counts = chosen.count("").source == "tokenizer"
        calibration = Calibration(
            ratio=1.0 if counter else family.ratio,  # who brings a counter brings the model's own
            lowest_ratio=family.lowest_ratio if counts else ESTIMATE_LOWEST_RATIO,
        )
        return cls(chosen, overheads, calibration)

    def count(self, text: str, /) -> Count:
        """Tokens of a text that is not remembered, such as a trial."""
        return self._counter.count(text)

    def text(self, text: str) -> int:
        """Tokens of a text."""
        if not text:
            return 0
        key = text if len(text) <= LONGEST_KEY else content_digest(text)
        tokens = self._known.get(key)
        if tokens is None:
            tokens = self._known[key] = self._counter.count(text).tokens
            if len(self._known) > REMEMBERED_TEXTS:
                del self._known[next(iter(self._known))]
        return tokens

    def message(self, message: Message) -> int:
        """Tokens of a message with everything its format adds; results count as the messages they are sent as."""
        over = self.overheads
        sent_as = len(message.results) + bool(message.text or not message.results)
        tokens = sent_as * over.per_message + (message.text_parts - 1) * PER_PART
        for text in filter(None, (message.text, message.extra)):
            tokens += self.text(text)
        if message.name:
            tokens += over.per_name + self.text(message.name)
        elif message.own and message.role == "user":
            tokens += over.per_own
        for call in message.calls:
            tokens += over.per_call + self.text(call.name) + self.text(call.arguments)
        for result in message.results:
            name = over.per_name + self.text(result.name) if result.name else 0
            tokens += max(over.per_result, name) + self.text(result.text)
        for image in message.images:
            tokens += image_tokens(image, over.image)
        return tokens

    def tools(self, tools: Sequence[Mapping[str, object]]) -> int:
        """What the schemas of tools add to a request; a ``ValueError`` where one is no JSON.

        Providers write them shorter than their JSON without spaces.
        """
        over = self.overheads
        tokens = len(tools) * over.per_tool + (over.per_tool_list if tools else 0)
        for at, tool in enumerate(tools):
            try:
                text = json.dumps(tool, ensure_ascii=False, separators=(",", ":"))
            except (TypeError, ValueError) as error:
                reason = f"tools[{at}] cannot be written as JSON ({error}); pass plain dicts"
                raise ValueError(reason) from error
            tokens += self.text(text)
        return tokens


async def load_tokenizer(model: str, *, timeout_s: float) -> None:
    """Have the model's tokenizer ready, if it can be within the limit; 0 does not try."""
    if timeout_s > 0:
        await fetch_ranks(family_of(model).encoding, timeout_s=timeout_s)
