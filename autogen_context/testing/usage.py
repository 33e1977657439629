"""What a prompt costs: its tokens, and how many of them a provider would have cached.

Promise: the same prompts in the same order always give the same numbers, with nothing but a function from a text to
its tokens.
"""

import json
import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from autogen_context.testing.shapes import CountTokens, Json, JsonObject

# OpenAI's chat format: https://developers.openai.com/cookbook/examples/how_to_count_tokens_with_tiktoken (2026-11-21).
PER_MESSAGE = 3
PER_NAME = 1
PER_REQUEST = 3
# An image of 1024 x 1024 pixels in OpenAI's tiles: 85 and 4 tiles of 170; at low detail the 85 alone.
IMAGE_TOKENS = {"low": 85}
IMAGE_TOKENS_FULL = 765
# OpenAI caches prompts from 1,024 tokens on, in steps of 128.
CACHE_FROM = 1024
CACHE_STEP = 128

# Where OpenAI's tokenizers cut a text; what their vocabularies do not know as a whole is in more pieces.
_PIECES = re.compile(
    r"_?(?:[A-Z]?[a-z\u00c0-\u024f]{1,10}|[A-Z]{1,4})"  # words, cut where capitals begin; long ones in two
    r"|\d{1,3}"  # numbers, in groups of three digits
    r"|[^\S\r\n](?=\d)"  # a space belongs to the word after it, but not to a number
    r"|[!-/:-@\[-^`{-~]{1,3}[\r\n]*"  # punctuation, with the line's end
    r"|[^\W\d_A-Za-z\u00c0-\u024f]{1,2}"  # other scripts, two characters a token
    r"|\s*[\r\n]+"  # the end of a line, empty ones in one
    r"|\s{2,}"  # indentation
    r"|_+|[^\w\s]"  # dunders; emoji and other signs, one by one
)


def approximate_tokens(text: str) -> int:
    """Tokens of a text, about: 0.91 to 1.06 of OpenAI's newest tokenizer in nine of ten recorded conversations.

    It needs no vocabulary and is the same everywhere. Give a tokenizer's own count where a limit is tested closely.
    """
    return sum(1 for _ in _PIECES.finditer(text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a provider bills for one request, in tokens; the cached ones are among the prompt's."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptPart:
    """A piece of a prompt that is cached as a whole or up to its first difference."""

    text: str
    tokens: int


def message_tokens(message: JsonObject, count: CountTokens) -> int:
    """Tokens of one message in OpenAI's format; fields that are not as they should be count nothing."""
    tokens = PER_MESSAGE + _text_tokens(message.get("role"), count)
    tokens += _content_tokens(message.get("content"), count)
    if name := message.get("name"):
        tokens += PER_NAME + _text_tokens(name, count)
    return tokens + sum(_call_tokens(call, count) for call in _items(message.get("tool_calls")))


def tools_tokens(tools: Sequence[Json], count: CountTokens) -> int:
    """Tokens of the tool schemas, counted as JSON without spaces."""
    return count(_compact(list(tools))) if tools else 0


def prompt_parts(
    messages: Sequence[JsonObject], tools: Sequence[Json], *, count: CountTokens
) -> list[PromptPart]:
    """A prompt in the order in which it is cached: the tools, then each message."""
    schemas = [PromptPart(text=_compact(list(tools)), tokens=tools_tokens(tools, count))]
    return schemas + [
        PromptPart(text=_compact(dict(message)), tokens=message_tokens(message, count))
        for message in messages
    ]


class PromptCache:
    """A provider's cache of prompts: the longest common start with an earlier prompt, in whole blocks."""

    def __init__(self, *, remembered_prompts: int = 32) -> None:
        self._earlier: deque[Sequence[PromptPart]] = deque(maxlen=remembered_prompts)

    def cached_tokens(self, prompt: Sequence[PromptPart]) -> int:
        """Tokens of this prompt that were cached before it came; it is remembered from now on."""
        shared = max((_shared_tokens(earlier, prompt) for earlier in self._earlier), default=0)
        self._earlier.append(prompt)
        return shared // CACHE_STEP * CACHE_STEP if shared >= CACHE_FROM else 0


def _shared_tokens(earlier: Sequence[PromptPart], prompt: Sequence[PromptPart]) -> int:
    tokens = 0
    for old, new in zip(earlier, prompt, strict=False):
        if old.text != new.text:
            return tokens + new.tokens * _shared_start(old.text, new.text) // len(new.text)
        tokens += new.tokens
    return tokens


def _shared_start(left: str, right: str) -> int:
    """Characters that both texts begin with, found by halving: slices compare at the speed of memory."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _content_tokens(content: Json, count: CountTokens) -> int:
    if isinstance(content, list):
        return sum(_part_tokens(part, count) for part in content)
    return _text_tokens(content, count)


def _part_tokens(part: Json, count: CountTokens) -> int:
    if not isinstance(part, dict):
        return 0
    image = part.get("image_url")
    if isinstance(image, dict):
        return IMAGE_TOKENS.get(str(image.get("detail")), IMAGE_TOKENS_FULL)
    return _text_tokens(part.get("text"), count) + _text_tokens(part.get("refusal"), count)


def _call_tokens(call: Json, count: CountTokens) -> int:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return 0
    return _text_tokens(function.get("name"), count) + _text_tokens(
        function.get("arguments"), count
    )


def _text_tokens(text: Json, count: CountTokens) -> int:
    return count(text) if isinstance(text, str) else 0


def _items(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _compact(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
