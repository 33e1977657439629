"""How many tokens a message costs, as an upper bound, and where the number comes from.

Promise: each text is counted once while its count is remembered; what a chat format adds (roles, names, calls, images)
is counted too; and every number has the source of its counter.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from autogen_context.messages.message import Image, Message, content_digest

Source = Literal["provider", "tokenizer", "estimate"]

REMEMBERED_TEXTS = 50_000
# Parts of a content cost more apart than joined by newlines: up to 4 tokens where both ends are long runs of newlines, by
# o200k_base and cl100k_base, 2026-11.
PER_PART = 4
LONGEST_KEY = 4_096  # characters; a longer text is remembered by its digest, not by itself


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
    """

    per_message: int
    per_name: int
    per_request: int
    per_call: int
    per_result: int
    image_tokens: Callable[[Image], int]
    per_own: int = 0

    def assumed(self, *, calls: int, results: int) -> int:
        """What is added for so many calls and results: no provider says how much, so it is an upper bound."""
        return calls * self.per_call + results * self.per_result


class Meter:
    """Counts messages with one counter and one chat format.

    Args:
        counter: counts a text.
        overheads: what the format adds.
    """

    def __init__(self, counter: TokenCounter, overheads: Overheads) -> None:
        self.overheads = overheads
        self._counter = counter
        self._known: dict[str | bytes, int] = {}  # oldest first
        self.source: Source = counter.count("").source

    def text(self, text: str) -> int:
        """Tokens of a text."""
        if not text:
            return 0
        key = text if len(text) <= LONGEST_KEY else content_digest(text)
        known = self._known.get(key)
        return self._remember(key, self._counter.count(text).tokens) if known is None else known

    def message(self, message: Message) -> int:
        """Tokens of a message with everything its format adds; results count as the messages they are sent as."""
        over = self.overheads
        sent_as = len(message.results) + bool(message.text or not message.results)
        tokens = sent_as * over.per_message + self.text(message.text) + self.text(message.extra)
        tokens += (message.text_parts - 1) * PER_PART
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
            tokens += over.image_tokens(image)
        return tokens

    def _remember(self, key: str | bytes, tokens: int) -> int:
        self._known[key] = tokens
        if len(self._known) > REMEMBERED_TEXTS:
            del self._known[next(iter(self._known))]
        return tokens
