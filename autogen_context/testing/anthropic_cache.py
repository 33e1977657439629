"""Anthropic's prompt cache: what of a request is read from it, written to it, and billed.

Promise: a prefix is written only at a mark, and read only where a mark finds an earlier entry among the last blocks before it;
what is read, written and new adds up to the whole request. The clock is an argument.

Source: https://platform.claude.com/docs/en/build-with-claude/prompt-caching (2026-11-29): tools, system, messages in this order;
20 blocks of look-back, the marked one included; shortest prefix by model; 5 minutes or 1 hour, refreshed by use; messages are
another prefix with another ``tool_choice`` or ``thinking``. Not documented, and assumed here: that every marked entry within what
is read is refreshed, and that a mark within what is read writes nothing.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate

from autogen_context.testing.anthropic_rules import blocks_of, joined
from autogen_context.testing.usage import PER_MESSAGE, PER_REQUEST, compact
from autogen_context.testing.wire import CountTokens, Json, JsonObject, is_object_list
from autogen_context.tokens.prices import price_of

LOOKBACK_BLOCKS = 20  # before a mark, itself included
LIFETIME_S = {"5m": 300.0, "1h": 3600.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaudeUsage:
    """The tokens of a request as Anthropic bills them; the three of the input add up to the whole."""

    input_tokens: int  # neither read from the cache nor written to it
    cache_read_input_tokens: int
    cache_creation_input_tokens: int
    hour_tokens: int = 0  # of those written, with a lifetime of an hour
    output_tokens: int = 0

    @property
    def prompt_tokens(self) -> int:
        """The tokens of the whole request."""
        return self.input_tokens + self.cache_read_input_tokens + self.cache_creation_input_tokens

    def as_json(self) -> dict[str, Json]:
        """Return the ``usage`` of an answer."""
        written = self.cache_creation_input_tokens
        return {
            "input_tokens": self.input_tokens,
            "cache_creation_input_tokens": written,
            "cache_read_input_tokens": self.cache_read_input_tokens,
            "cache_creation": {
                "ephemeral_5m_input_tokens": written - self.hour_tokens,
                "ephemeral_1h_input_tokens": self.hour_tokens,
            },
            "output_tokens": self.output_tokens,
            "service_tier": "standard",
        }


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a request: what it is hashed by, its tokens, and the lifetime of its mark or an empty text."""

    text: str
    tokens: int
    lifetime: str


class ClaudeCache:
    """The prompt cache of one workspace.

    Args:
        count: counts the tokens of a text.
        clock: the time in seconds.
    """

    def __init__(self, count: CountTokens, clock: Callable[[], float]) -> None:
        self._count, self._clock = count, clock
        self._expires_s: dict[bytes, tuple[float, float]] = {}  # and the lifetime

    def prompt_tokens(self, body: JsonObject) -> int:
        """Return the tokens of a whole request."""
        return PER_REQUEST + sum(block.tokens for block in self.blocks(body))

    def billed(self, body: JsonObject) -> ClaudeUsage:
        """Return what a request is billed, and keep what it writes."""
        blocks = [*self.blocks(body)]
        upto = [*accumulate(block.tokens for block in blocks)]  # tokens up to and with each block
        names = [*prefixes(str(body.get("model")), blocks)]
        marked = [i for i, block in enumerate(blocks) if block.lifetime]
        now_s, shortest = self._clock(), shortest_prefix(str(body.get("model")))
        found = next(
            (at for mark in reversed(marked) if (at := self._found(names, mark, now_s)) >= 0), -1
        )
        read, written, hour = upto[found] if found >= 0 else 0, 0, 0
        for at in [found, *marked]:
            known = self._expires_s.get(names[at]) if 0 <= at <= found else None
            if known is not None and known[0] > now_s:
                self._expires_s[names[at]] = now_s + known[1], known[1]
        before = read
        for at in (mark for mark in marked if mark > found and upto[mark] >= shortest):
            lifetime_s = LIFETIME_S[blocks[at].lifetime]
            self._expires_s[names[at]] = now_s + lifetime_s, lifetime_s
            hour += upto[at] - before if blocks[at].lifetime == "1h" else 0
            before = upto[at]
            written = upto[at] - read
        return ClaudeUsage(
            input_tokens=PER_REQUEST + (upto[-1] if upto else 0) - read - written,
            cache_read_input_tokens=read,
            cache_creation_input_tokens=written,
            hour_tokens=hour,
        )

    def _found(self, names: list[bytes], mark: int, now_s: float) -> int:
        """Return the newest block with an entry among those that a mark looks back on, or -1."""
        for at in range(mark, max(-1, mark - LOOKBACK_BLOCKS), -1):
            if self._expires_s.get(names[at], (0.0, 0.0))[0] > now_s:
                return at
        return -1

    def blocks(self, body: JsonObject) -> Iterator[Block]:
        """Yield the blocks of a request in the order of the cache: tools, system, messages."""
        tools, messages = body.get("tools"), body.get("messages")
        for tool in tools if is_object_list(tools) else []:
            yield self._block("tool", tool)
        for block in blocks_of(body.get("system")):
            yield self._block("system", block)
        seed = compact([body.get("tool_choice"), body.get("thinking")])
        turns = joined(messages if is_object_list(messages) else [])
        for index, message in enumerate(turns):
            content = blocks_of(message["content"])
            for at, block in enumerate(content):
                role = f"{message['role']}{seed if index == at == 0 else ''}"
                is_end = index == len(turns) - 1 and at == len(content) - 1
                more = PER_MESSAGE if at == 0 else 0
                whole = body.get("cache_control") if is_end else None
                yield self._block(role, block, more_tokens=more, mark=whole)

    def _block(
        self, role: str, block: JsonObject, *, more_tokens: int = 0, mark: Json = None
    ) -> Block:
        own = block.get("cache_control") or mark
        lifetime = str(own.get("ttl", "5m")) if isinstance(own, dict) else ""
        plain = {name: each for name, each in block.items() if name != "cache_control"}
        tokens = more_tokens + block_tokens(plain, self._count)
        return Block(f"{role}:{compact(plain)}", tokens, lifetime)


def block_tokens(block: Mapping[str, Json], count: CountTokens) -> int:
    """Return the tokens of a block: of its texts, of what a call is given, or of its JSON."""
    content = block.get("content")
    if block.get("type") == "text":
        return count(str(block.get("text", "")))
    if block.get("type") == "tool_use":
        return count(str(block.get("name"))) + count(compact(block.get("input")))
    if block.get("type") == "tool_result":
        return sum(block_tokens(each, count) for each in blocks_of(content)) if content else 0
    return count(compact(dict(block)))


def prefixes(model: str, blocks: list[Block]) -> Iterator[bytes]:
    """Yield a digest of the request up to and with each block."""
    digest = hashlib.blake2b(model.encode(), digest_size=16)
    for block in blocks:
        digest.update(len(block.text).to_bytes(8, "big") + block.text.encode())
        yield digest.digest()


def shortest_prefix(model: str) -> int:
    """Return the tokens of the shortest prefix that is cached, by model."""
    return price_of(model).minimum_prefix_tokens
