"""Requests of Anthropic's Messages API, and what they are billed by the rules of the loopback server."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from autogen_context.testing import ClaudeUsage, Request, Say, Step
from autogen_context.testing.anthropic_cache import ClaudeCache
from autogen_context.testing.anthropic_rules import check_request
from autogen_context.testing.usage import approximate_tokens

MODEL = "claude-sonnet-5"  # whose shortest cached prefix has 1,024 tokens
LONG = "The log of a day says much. " * 200
MARK: Mapping[str, object] = {"type": "ephemeral"}
HOUR: Mapping[str, object] = {"type": "ephemeral", "ttl": "1h"}
TOOL: Mapping[str, Any] = {
    "name": "read",
    "description": "Reads.",
    "input_schema": {"type": "object"},
}

Block = dict[str, Any]


def text(said: str, mark: Mapping[str, object] | None = None) -> Block:
    """A text block."""
    return {"type": "text", "text": said, **({"cache_control": mark} if mark else {})}


def user(*blocks: Block | str) -> Block:
    """What a person says."""
    return {"role": "user", "content": [text(b) if isinstance(b, str) else b for b in blocks]}


def claude(*blocks: Block | str) -> Block:
    """What Claude says."""
    return {**user(*blocks), "role": "assistant"}


def use(call_id: str) -> Block:
    """A call of the tool."""
    return {"type": "tool_use", "id": call_id, "name": "read", "input": {}}


def result(call_id: str, said: str = "done") -> Block:
    """The result of a call."""
    return {"type": "tool_result", "tool_use_id": call_id, "content": said}


def request(*messages: Block, **more: Any) -> dict[str, Any]:
    """A request."""
    return {"model": MODEL, "max_tokens": 100, "messages": [*messages], **more}


def echo(asked: Request) -> Step:
    """An answer that depends on nothing."""
    return Say(f"Answer {asked.number}.")


class Billing:
    """A cache by the server's rules, with a clock that is set."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self._cache = ClaudeCache(approximate_tokens, lambda: self.now_s)

    def bill(self, *messages: Block, **more: Any) -> ClaudeUsage:
        """What a request is billed that the API takes."""
        body = request(*messages, **more)
        check_request(body)
        return self._cache.billed(body)


def without_marks(value: object) -> object:
    """A JSON value as the API reads it: without marks, and a text as a block."""
    plain = json.loads(json.dumps(value))
    for message in plain["messages"]:
        if isinstance(message["content"], str):
            message["content"] = [{"type": "text", "text": message["content"]}]
    if isinstance(plain.get("system"), str):
        plain["system"] = [{"type": "text", "text": plain["system"]}]

    return bare(plain)


def bare(value: Any) -> Any:
    """A JSON value without marks."""
    if isinstance(value, dict):
        pairs = cast("dict[str, Any]", value).items()
        return {name: bare(each) for name, each in pairs if name != "cache_control"}
    return [*map(bare, cast("Sequence[Any]", value))] if isinstance(value, list) else value
