"""Count the messages and tools of a request as an upper bound, and report the source of the number.

Promise: a text is counted once while its count is cached; the overhead of the chat format is included. Every model name
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
from autogen_context.tokens.measure import (
    Count,
    CountsText,
    Source,
    as_count,
    counter_for,
    fetch_ranks,
)

ESTIMATE_LOWEST_RATIO = 0.25  # an estimate is at most about four times the exact count
REMEMBERED_TEXTS = 10_000  # with their counts
# Separate text parts cost more than parts joined by newlines: up to 4 tokens if both ends are long runs of newlines
# (o200k_base and cl100k_base, 2026-11).
PER_PART = 4
LONGEST_KEY = 256  # characters; the cache key of a longer text is its digest

# Prefixes of a model name: providers, regions, folders and the marker of fine-tuned models.
_BEFORE_THE_NAME = re.compile(r"^(?:.*/)?(?:ft:)?(?:[a-z-]+\.)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageRule:
    """What an image costs at most: a price for each square block of its pixels, up to a limit."""

    at_most_tokens: int  # also of an image of unknown size
    block_px: int = 1
    per_block: float = 1.0
    base: int = 0
    low_tokens: int = 0  # in low detail; 0 where the detail does not matter

    def tokens(self, image: Image) -> int:
        """Return an upper bound on the tokens of an image."""
        if self.low_tokens and image.detail == "low":
            return self.low_tokens
        if min(image.width, image.height) < 1:
            return self.at_most_tokens
        blocks = ceil(image.width / self.block_px) * ceil(image.height / self.block_px)
        return min(self.at_most_tokens, self.base + ceil(blocks * self.per_block))


@dataclass(frozen=True, slots=True, kw_only=True)
class Overheads:
    """Tokens that a chat format adds to the texts."""

    per_message: int
    per_name: int  # in addition to the author's name
    per_request: int  # once, for the start of the reply
    per_call: int  # in addition to its name and arguments
    per_result: int  # in addition to its message and text; includes a short tool name
    image: ImageRule
    per_own: int = 0  # per user-role message written by the engine: the author name the host adds
    per_tool: int = 0  # in addition to its schema as JSON
    per_tool_list: int = 0  # once, if the request has tools

    def assumed(self, *, calls: int, results: int) -> int:
        """Return the overhead of tool calls and results: an upper bound, since no provider documents it."""
        return calls * self.per_call + results * self.per_result


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """How tokens are counted for one family of models."""

    name: str
    pattern: str  # regular expression for the start of its model names
    ratio: float  # most tokens billed per token of the encoding; 1.0 if it is the family's own
    lowest_ratio: float  # least tokens billed per token of the encoding; a lower bill is ignored
    chat: Overheads  # without the roles
    source: str
    checked: str  # when the figures were last verified, as YYYY-MM-DD
    encoding: str = "o200k_base"


@lru_cache(maxsize=256)
def family_of(model: str) -> Family:
    """Return the family of a model, ignoring prefixes of its name; the conservative ``unknown`` if none matches."""
    name = _BEFORE_THE_NAME.sub("", model.strip().lower().replace("_", "-").replace(" ", "-"))
    return next(family for family in families() if re.match(family.pattern, name))


@cache
def families() -> tuple[Family, ...]:
    """Load the table, most specific family first; the last one matches every name."""
    from pydantic import TypeAdapter  # noqa: PLC0415 - slow to import

    table = json.loads(Path(__file__).with_name("families.json").read_text("utf-8"))
    rows = [table["providers"][row["provider"]] | row for row in table["families"]]
    rows = [row | {"chat": row["chat"] | {"image": row["image"]}} for row in rows]
    return TypeAdapter(tuple[Family, ...]).validate_python(rows)


class MessageCounter:
    """Counts messages with a text counter and a chat format; ``source`` is the source of its numbers."""

    def __init__(
        self,
        counter: CountsText,
        overheads: Overheads,
        calibration: Calibration = Calibration(),  # noqa: B008 - it is frozen
    ) -> None:
        self.overheads = overheads
        self.calibration = calibration
        self._counter = counter
        self._known: dict[str | bytes, int] = {}  # oldest first
        self.source: Source = self.count("").source

    @classmethod
    def for_model(
        cls, model: str, counter: CountsText | None = None, *, own_name: str = ""
    ) -> Self:
        """Return a counter for a model; ``counter`` replaces the text counter of its family.

        ``own_name`` is the author name that the host gives to messages written by the engine.
        """
        family = family_of(model)
        chat, chosen = family.chat, counter or counter_for(family.encoding)
        own = chat.per_name + as_count(chosen.count(own_name)).tokens if own_name else 0
        # A role is one token in every known vocabulary.
        overheads = replace(chat, per_message=chat.per_message + 1, per_own=own)
        counts = as_count(chosen.count("")).source == "tokenizer"
        calibration = Calibration(
            ratio=1.0 if counter else family.ratio,  # a given counter is the model's own
            lowest_ratio=family.lowest_ratio if counts else ESTIMATE_LOWEST_RATIO,
        )
        return cls(chosen, overheads, calibration)

    def count(self, text: str, /) -> Count:
        """Count a text without caching the result, for example a trial."""
        return as_count(self._counter.count(text))

    def text(self, text: str) -> int:
        """Return the tokens of a text, from the cache if possible."""
        if not text:
            return 0
        key = text if len(text) <= LONGEST_KEY else content_digest(text)
        tokens = self._known.get(key)
        if tokens is None:
            tokens = self._known[key] = self.count(text).tokens
            if len(self._known) > REMEMBERED_TEXTS:
                del self._known[next(iter(self._known))]
        return tokens

    def own(self, text: str) -> int:
        """Return the tokens of a text as a message written by the engine, in the user role."""
        return self.overheads.per_message + self.overheads.per_own + self.text(text)

    def message(self, message: Message) -> int:
        """Return the tokens of a message with format overhead; each tool result counts as a separate message."""
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
            tokens += over.image.tokens(image)
        return tokens

    def tool(self, text: str) -> int:
        """Return an upper bound on the tokens of a tool schema written as JSON.

        Providers write schemas more compactly than JSON without spaces.
        """
        return self.overheads.per_tool + self.text(text)

    def tools(self, tools: Sequence[Mapping[str, object]]) -> int:
        """Return an upper bound on the tokens of tool schemas; errors as of ``schema_texts``."""
        tokens = sum(map(self.tool, schema_texts(tools)))
        return tokens + (self.overheads.per_tool_list if tools else 0)


def schema_texts(tools: Sequence[Mapping[str, object]]) -> list[str]:
    """Return tool schemas as JSON texts; raise ``ValueError`` if one is not JSON-serializable."""
    texts: list[str] = []
    for at, tool in enumerate(tools):
        try:
            texts.append(json.dumps(tool, ensure_ascii=False, separators=(",", ":")))
        except (TypeError, ValueError) as error:
            reason = f"tools[{at}] cannot be written as JSON ({error}); pass plain dicts"
            raise ValueError(reason) from error
    return texts


async def load_tokenizer(model: str, *, timeout_s: float) -> None:
    """Load the model's tokenizer, waiting at most ``timeout_s``; 0 skips it."""
    if timeout_s > 0:
        await fetch_ranks(family_of(model).encoding, timeout_s=timeout_s)
