"""What a prompt costs: its tokens, and how many of them a provider would have cached.

Promise: the same prompts in the same order always give the same numbers.
"""

import json
import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from autogen_context.testing.wire import CountTokens, Json, JsonObject

# OpenAI's chat format: https://developers.openai.com/cookbook/examples/how_to_count_tokens_with_tiktoken (2026-11-21).
PER_MESSAGE = 3
PER_NAME = 1
PER_REQUEST = 3
# An image of 1024 x 1024 pixels in OpenAI's tiles: 85 and 4 tiles of 170; at low detail the 85 alone.
IMAGE_TOKENS_LOW = 85
IMAGE_TOKENS = 765
# OpenAI caches prompts from 1,024 tokens on, in steps of 128.
CACHE_FROM = 1024
CACHE_STEP = 128
REMEMBERED_PROMPTS = 32

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


def message_tokens(message: JsonObject, count: CountTokens) -> int:
    """Tokens of one message in OpenAI's format; fields that are not as they should be count nothing."""
    content, calls, name = message.get("content"), message.get("tool_calls"), message.get("name")
    texts = [message.get("role"), content, name]
    tokens = PER_MESSAGE + (PER_NAME if name else 0)
    for part in content if isinstance(content, list) else []:
        image = part.get("image_url") if isinstance(part, dict) else None
        if isinstance(image, dict):
            low = image.get("detail") == "low"
            tokens += IMAGE_TOKENS_LOW if low else IMAGE_TOKENS
        elif isinstance(part, dict):
            texts += part.get("text"), part.get("refusal")
    for call in calls if isinstance(calls, list) else []:
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            texts += function.get("name"), function.get("arguments")
    return tokens + sum(count(text) for text in texts if isinstance(text, str))


def tools_tokens(tools: Sequence[Json], count: CountTokens) -> int:
    """Tokens of the tool schemas, counted as JSON without spaces."""
    return count(compact(list(tools))) if tools else 0


def compact(value: object) -> str:
    """A value as JSON without spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


Part = tuple[str, int]
"""A piece of a prompt that is cached as a whole, and its tokens."""


def prompt_parts(
    messages: Sequence[JsonObject], tools: Sequence[Json], *, count: CountTokens
) -> list[Part]:
    """A prompt in the order in which it is cached: the tools, then each message."""
    parts = [(compact(dict(each)), message_tokens(each, count)) for each in messages]
    return [(compact(list(tools)), tools_tokens(tools, count)), *parts]


class PromptCache:
    """A provider's cache of prompts: the longest common start with an earlier prompt, in whole messages and blocks."""

    def __init__(self) -> None:
        self._earlier: deque[Sequence[Part]] = deque(maxlen=REMEMBERED_PROMPTS)

    def cached_tokens(self, prompt: Sequence[Part]) -> int:
        """Tokens of this prompt that were cached before it came; it is remembered from now on."""
        most = 0
        for earlier in self._earlier:
            same = takewhile(lambda pair: pair[0] == pair[1], zip(earlier, prompt, strict=False))
            most = max(most, sum(tokens for (_, tokens), _ in same))
        self._earlier.append(prompt)
        return most // CACHE_STEP * CACHE_STEP if most >= CACHE_FROM else 0
