"""Requests and answers of Anthropic's Messages API of the test server.

Promise: a request means what the same conversation means as a chat request, so that one script answers on either server; the
deltas of a streamed answer add up to the complete answer.

Source: https://platform.claude.com/docs/en/api/messages and .../build-with-claude/streaming (2026-11-29).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from autogen_context.testing.answers import CUT_OFF, Fault, pieces
from autogen_context.testing.anthropic_cache import ClaudeUsage
from autogen_context.testing.anthropic_rules import blocks_of, joined
from autogen_context.testing.script import Answer
from autogen_context.testing.usage import Usage
from autogen_context.testing.wire import (
    ApiError,
    ChatMessage,
    Cut,
    Json,
    JsonObject,
    Reply,
    is_object_list,
    json_reply,
)

KINDS_OF_ERROR = {429: "rate_limit_error", 404: "not_found_error", 529: "overloaded_error"}


def chat_of(body: JsonObject) -> tuple[list[ChatMessage], list[ChatMessage]]:
    """Return a request as messages and tools of a chat request; what the rules refuse is left out."""
    messages, system, tools = body.get("messages"), blocks_of(body.get("system")), body.get("tools")
    chat: list[ChatMessage] = []
    if prompt := "\n".join(str(block.get("text", "")) for block in system):
        chat.append({"role": "system", "content": prompt})
    for turn in joined(messages if is_object_list(messages) else []):
        chat += chat_messages(turn)
    functions: list[ChatMessage] = []
    for tool in tools if is_object_list(tools) else []:
        function = {"name": tool.get("name"), "description": tool.get("description")}
        function["parameters"] = tool.get("input_schema")
        functions.append({"type": "function", "function": function})
    return chat, functions


def chat_messages(turn: Mapping[str, Json]) -> Iterator[ChatMessage]:
    """Yield a turn as chat messages: its results, then what is said, with the calls."""
    texts: list[str] = []
    calls: list[Json] = []
    for block in blocks_of(turn["content"]):
        if block.get("type") == "tool_result":
            said = blocks_of(block.get("content"))
            content = "\n".join(str(each.get("text", "")) for each in said)
            yield {"role": "tool", "tool_call_id": block.get("tool_use_id"), "content": content}
        elif block.get("type") == "tool_use":
            function: dict[str, Json] = {"name": block.get("name")}
            function["arguments"] = json.dumps(block.get("input"))
            calls.append({"id": block.get("id"), "type": "function", "function": function})
        elif block.get("type") == "text":
            texts.append(str(block.get("text", "")))
    if texts or calls:
        message: ChatMessage = {"role": turn.get("role"), "content": "\n".join(texts) or None}
        yield message | ({"tool_calls": calls} if calls else {})


def answer_message(answer: Answer, usage: ClaudeUsage, *, model: str) -> dict[str, Json]:
    """Return the answer as a ``message`` object."""
    return {
        "id": f"msg_{answer.number:06d}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [*content_of(answer)],
        "stop_reason": "tool_use" if answer.calls else "end_turn",
        "stop_sequence": None,
        "usage": usage.as_json(),
    }


def content_of(answer: Answer) -> Iterator[dict[str, Json]]:
    """Yield the blocks of an answer: its text, then its calls."""
    if answer.text:
        yield {"type": "text", "text": answer.text}
    for call in answer.calls:
        given: Json = json.loads(call.arguments or "{}")
        yield {"type": "tool_use", "id": call.id, "name": call.name, "input": given}


def message_events(answer: Answer, usage: ClaudeUsage, *, model: str) -> Iterator[dict[str, Json]]:
    """Yield the events of a streamed answer; what the input is billed stands in the first one."""
    whole = answer_message(answer, usage, model=model)
    first = replace(usage, output_tokens=1).as_json()
    begun: Json = {**whole, "content": [], "stop_reason": None, "usage": first}
    yield {"type": "message_start", "message": begun}
    for index, block in enumerate(content_of(answer)):
        at: dict[str, Json] = {"index": index}
        is_text = block["type"] == "text"
        empty: Json = {**block, "text": ""} if is_text else {**block, "input": {}}
        yield {"type": "content_block_start", **at, "content_block": empty}
        said = block["text"] if is_text else json.dumps(block["input"])
        for piece in pieces(str(said)):
            delta: Json = {"type": "text_delta", "text": piece}
            if not is_text:
                delta = {"type": "input_json_delta", "partial_json": piece}
            yield {"type": "content_block_delta", **at, "delta": delta}
        yield {"type": "content_block_stop", **at}
    ended: Json = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": usage.as_json()}
    yield {"type": "message_stop"}


def stream_reply(events: Sequence[Mapping[str, Json]], *, cut: Cut = "nowhere") -> Reply:
    """Return a reply that streams these events under their names."""
    sent = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
    return Reply(body="".join(sent).encode(), streamed=True, cut=cut)


def error_reply(error: ApiError) -> Reply:
    """Return an HTTP error response in Anthropic's form."""
    kind = KINDS_OF_ERROR.get(error.status) or (
        "invalid_request_error" if error.status < 500 else "api_error"  # noqa: PLR2004  server errors
    )
    error_said: Json = {"type": kind, "message": error.message}
    return json_reply(
        {"type": "error", "error": error_said, "request_id": "req_000001"}, status=error.status
    )


def faulty_reply(fault: Fault, *, streamed: bool) -> Reply:
    """Return the reply to send instead of the answer, for every fault except ``slow``."""
    if fault.kind == "rate_limit":
        limited = ApiError("This request would exceed your organization's rate limit.", status=429)
        return replace(error_reply(limited), headers={"retry-after": f"{fault.seconds:g}"})
    if fault.kind == "error":
        return error_reply(ApiError("Internal server error", status=fault.status))
    if fault.kind == "garbage":
        broken = b'event: message_start\ndata: {"type": "message_st\n\n'
        return Reply(body=broken if streamed else b"<html>", streamed=streamed)
    nothing = Usage(prompt_tokens=0, completion_tokens=0, cached_tokens=0)
    text = "" if fault.kind == "empty" else CUT_OFF
    answer = Answer(number=0, text=text, calls=(), usage=nothing)
    usage = ClaudeUsage(input_tokens=0, cache_read_input_tokens=0, cache_creation_input_tokens=0)
    cut: Literal["nowhere", "middle", "start"] = fault.cut if fault.kind == "drop" else "nowhere"
    if streamed:
        events = [*message_events(answer, usage, model="scripted-model")]
        return stream_reply(events, cut=cut)
    return json_reply(answer_message(answer, usage, model="scripted-model"), cut=cut)
