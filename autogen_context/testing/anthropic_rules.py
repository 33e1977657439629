"""Validates requests of Anthropic's Messages API as the API does, with its own error messages.

Promise: what is refused depends only on the request. Checked are the rules that agents break: roles, empty texts, tool calls
without results and results without calls, tools that are not there, and marks of the prompt cache. Fields that are not
known here are accepted.

Source: https://platform.claude.com/docs/en/api/messages and .../build-with-claude/prompt-caching, with error messages quoted
in public bug reports (2026-11-29); the API itself was not asked. ``strict_roles`` is the rule of its first versions, which some
compatible endpoints still have; today's API joins messages of one role.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from autogen_context.testing.wire import ApiError, Json, JsonObject, is_object_list

MOST_MARKS = 4  # a request
LIFETIMES = ("5m", "1h")
ROLES = ("user", "assistant")
NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
THINKING = ("thinking", "redacted_thinking")
CHOOSING = ("any", "tool")  # "auto" and "none" choose nothing, and are taken without tools
NEEDED = ("model", "max_tokens", "messages")


def check_request(body: JsonObject, *, strict_roles: bool = False) -> None:
    """Raise ``ApiError``, with the API's own message, if a request is invalid."""
    for name in NEEDED:
        if body.get(name) is None:
            raise ApiError(f"{name}: Field required")
    given = body["messages"]
    if not is_object_list(given):
        raise ApiError("messages: Input should be a valid list")
    if not given:
        raise ApiError("messages: at least one message is required")
    for index, message in enumerate(given):
        _check_message(message, index, is_last=index == len(given) - 1)
    if strict_roles:
        _check_alternation(given)
    _check_tools(body)
    messages = joined(given)
    _check_results(messages)
    _check_marks(body)


def joined(messages: Sequence[JsonObject]) -> list[dict[str, Json]]:
    """Return the messages with blocks for text, and those of one role in a row as one, as the API reads them."""
    turns: list[dict[str, Json]] = []
    for message in messages:
        content = blocks_of(message.get("content"))
        last = turns[-1] if turns else None
        before = last["content"] if last and last["role"] == message.get("role") else None
        if isinstance(before, list):
            before += content
        else:
            turns.append({"role": message.get("role"), "content": [*content]})
    return turns


def blocks_of(content: Json) -> list[dict[str, Json]]:
    """Return a content as blocks; a text is a block of its own."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content if is_object_list(content) else []


def marks_of(body: JsonObject) -> Iterator[tuple[str, JsonObject, JsonObject]]:
    """Yield the place of each mark in the order of the cache, the block that has it, and the mark."""
    places: list[tuple[str, Json]] = [("tools", body.get("tools")), ("system", body.get("system"))]
    messages = body.get("messages")
    for index, message in enumerate(messages if is_object_list(messages) else []):
        places.append((f"messages.{index}.content", message.get("content")))
    for place, blocks in places:
        for index, block in enumerate(blocks if is_object_list(blocks) else []):
            mark = block.get("cache_control")
            if isinstance(mark, dict):
                yield f"{place}.{index}", block, mark


def _check_message(message: JsonObject, index: int, *, is_last: bool) -> None:
    role, content = message.get("role"), message.get("content")
    if role == "system":
        raise ApiError(
            f'messages.{index}: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not '
            '"system" as an input message role.'
        )
    if role not in ROLES:
        raise ApiError(f"messages.{index}.role: Input should be 'user' or 'assistant'")
    if "cache_control" in message:
        raise ApiError(f"messages.{index}.cache_control: Extra inputs are not permitted")
    if not isinstance(content, str) and not is_object_list(content):
        raise ApiError(f"messages.{index}.content: Input should be a valid string or list")
    if not content and not (is_last and role == "assistant"):
        raise ApiError(
            f"messages.{index}: all messages must have non-empty content except for the optional final assistant message"
        )
    blocks = blocks_of(message["content"]) if content else []
    if any(block.get("type") == "text" and not block.get("text") for block in blocks):
        empty = next(b for b in blocks if b.get("type") == "text" and not b.get("text"))
        if "cache_control" not in empty:
            raise ApiError("messages: text content blocks must be non-empty")
    said = blocks[-1].get("text") if blocks else None
    if is_last and role == "assistant" and isinstance(said, str) and said != said.rstrip():
        raise ApiError("messages: final assistant content cannot end with trailing whitespace")


def _check_alternation(messages: Sequence[JsonObject]) -> None:
    if messages[0].get("role") != "user":
        raise ApiError('messages: first message must use the "user" role')
    for before, message in pairwise(messages):
        if (role := message.get("role")) == before.get("role"):
            raise ApiError(
                'messages: roles must alternate between "user" and "assistant", but found multiple '
                f'"{role}" roles in a row'
            )


def _check_tools(body: JsonObject) -> None:
    tools, messages = body.get("tools"), body["messages"]
    for index, tool in enumerate(tools if is_object_list(tools) else []):
        is_own = tool.get("type") in (None, "custom")
        if not NAME.fullmatch(str(tool.get("name"))):
            pattern = "^[a-zA-Z0-9_-]{1,128}$"
            raise ApiError(f"tools.{index}.custom.name: String should match pattern '{pattern}'")
        if is_own and not isinstance(tool.get("input_schema"), dict):
            raise ApiError(f"tools.{index}.custom.input_schema: Field required")
    if tools:
        return
    choice = body.get("tool_choice")
    if isinstance(choice, dict) and choice.get("type") in CHOOSING:
        raise ApiError("tool_choice: `tool_choice` may only be specified while providing `tools`.")
    for message in messages if is_object_list(messages) else []:
        kinds = {str(block.get("type")) for block in blocks_of(message.get("content"))}
        if kinds & {"tool_use", "tool_result"}:
            raise ApiError(
                "Requests which include `tool_use` or `tool_result` blocks must define tools."
            )


def _check_results(messages: Sequence[Mapping[str, Json]]) -> None:
    """Check that each call has its result at the beginning of the next message, and each result its call in the one before."""
    asked: list[str] = []
    seen: set[str] = set()
    for index, message in enumerate(messages):
        blocks = blocks_of(message["content"])
        first = next(
            (i for i, b in enumerate(blocks) if b.get("type") != "tool_result"), len(blocks)
        )
        answered = [str(block.get("tool_use_id")) for block in blocks[:first]]
        if missing := [call for call in asked if call not in answered]:
            raise ApiError(
                f"messages.{index - 1}: `tool_use` ids were found without `tool_result` blocks immediately after: "
                f"{', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block in the next message."
            )
        for at, block in enumerate(blocks):
            if block.get("type") == "tool_result" and (
                at >= first or block.get("tool_use_id") not in asked
            ):
                raise ApiError(
                    f"messages.{index}.content.{at}: unexpected `tool_use_id` found in `tool_result` blocks: "
                    f"{block.get('tool_use_id')}. Each `tool_result` block must have a corresponding `tool_use` block in the "
                    "previous message."
                )
        if len(set(answered)) < len(answered):
            twice = next(call for call in answered if answered.count(call) > 1)
            raise ApiError(
                f"messages.{index}: each tool_use must have a single result. Found multiple `tool_result` blocks with id: {twice}"
            )
        asked = [str(block.get("id")) for block in blocks if block.get("type") == "tool_use"]
        if len(set(asked)) < len(asked) or seen & set(asked):
            raise ApiError(f"messages.{index}: `tool_use` ids must be unique")
        seen |= set(asked)
    if asked:
        raise ApiError(
            f"messages.{len(messages) - 1}: `tool_use` ids were found without `tool_result` blocks immediately after: "
            f"{', '.join(asked)}. Each `tool_use` block must have a corresponding `tool_result` block in the next message."
        )


def _check_marks(body: JsonObject) -> None:
    """Check number, place and lifetimes of the marks; one on the request itself counts as well."""
    found = [*marks_of(body)]
    whole = body.get("cache_control")
    marks = [*found, *([("", body, whole)] if isinstance(whole, dict) else [])]
    shorter = False
    for place, block, mark in marks:
        if mark.get("type") != "ephemeral":
            raise ApiError(f"{place}.cache_control.type: Input should be 'ephemeral'")
        lifetime = mark.get("ttl", LIFETIMES[0])
        if lifetime not in LIFETIMES:
            raise ApiError(f"{place}.cache_control.ttl: Input should be '5m' or '1h'")
        if block.get("type") in THINKING:
            kind = block.get("type")
            raise ApiError(f"{place}.{kind}.cache_control: Extra inputs are not permitted")
        if block.get("type") == "text" and not block.get("text"):
            raise ApiError(f"{place}.text: cache_control cannot be set for empty text blocks")
        if shorter and lifetime != LIFETIMES[0]:
            raise ApiError(
                f"{place}.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. "
                "Note that blocks are processed in the following order: `tools`, `system`, `messages`."
            )
        shorter |= lifetime == LIFETIMES[0]
    if len(marks) > MOST_MARKS:
        raise ApiError(
            f"A maximum of {MOST_MARKS} blocks with cache_control may be provided. Found {len(marks)}."
        )
