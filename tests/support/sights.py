"""Requests for the policies of the benchmark's tasks, built by hand."""

import json
from collections.abc import Sequence
from zlib import crc32

from tasks.sight import Sight, content_of

from autogen_context.testing import ChatMessage, Request

LOOK_BACK: ChatMessage = {
    "type": "function",
    "function": {
        "name": "find",
        "description": "Search what left this conversation: what was hidden of the conversation.",
        "parameters": {"properties": {"query": {"type": "string"}}},
    },
}


def sight_of(*messages: ChatMessage, tools: Sequence[ChatMessage]) -> Sight:
    """What a request with these messages shows."""
    return Sight(Request(messages=messages, tools=tools, model="scripted-model", number=1))


def called(tool: str, result: str, **arguments: str | int) -> list[ChatMessage]:
    """A call with its result; the id is new for each result."""
    id_ = f"call_{crc32(f'{tool} {result}'.encode())}"
    asked = {"name": tool, "arguments": json.dumps(arguments)}
    return [
        {"role": "assistant", "tool_calls": [{"id": id_, "type": "function", "function": asked}]},
        {"role": "tool", "tool_call_id": id_, "content": result},
    ]


def newest(messages: Sequence[ChatMessage], characters: int) -> Sequence[ChatMessage]:
    """The prompt and the newest messages within so many characters, no result without its call."""
    kept: list[ChatMessage] = []
    for message in reversed(messages[1:]):
        characters -= len(content_of(message))
        if kept and characters < 0:
            break
        kept.insert(0, message)
    while kept[0]["role"] == "tool":
        del kept[0]
    return [messages[0], *kept]
