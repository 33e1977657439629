"""What a number of tokens is, who counts those of a text, and what a chat format adds.

Promise: every number travels with its source.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from autogen_context.messages.message import Image

Source = Literal["provider", "tokenizer", "estimate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """A number of tokens and where it came from."""

    tokens: int
    source: Source


class TokenCounter(Protocol):
    """Counts the tokens of a text."""

    def count(self, text: str, /) -> Count:
        """Tokens of ``text``: exact from a tokenizer, an upper bound from an estimate."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Overheads:
    """What a chat format adds to the texts, in tokens.

    Attributes:
        per_message: for each message, its role included.
        per_name: for each author's name, beside the name itself.
        per_request: once, for the start of the answer.
        per_call: for each call, beside its name and arguments.
        per_result: for each result, beside its message and its text; a short name of its tool is part of it.
        image_tokens: tokens of an image.
        per_own: for each message of our own in the user's role: the author's name that the host gives it.
        per_tool: for each tool, beside its schema as JSON.
        per_tool_list: once, where a request has tools at all.
    """

    per_message: int
    per_name: int
    per_request: int
    per_call: int
    per_result: int
    image_tokens: Callable[[Image], int]
    per_own: int = 0
    per_tool: int = 0
    per_tool_list: int = 0

    def assumed(self, *, calls: int, results: int) -> int:
        """What is added for so many calls and results: no provider says how much, so it is an upper bound."""
        return calls * self.per_call + results * self.per_result
