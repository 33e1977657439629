"""What OpenAI refuses in a chat request.

Promise: ``check_chat`` returns for the requests that the API takes and raises for the others, in the API's own words.
Fields that OpenAI does not know are let through, since compatible endpoints ask for some (thinking, signatures).

Source: the wordings are those of the API as users quote them in bug reports, read on 2026-11-21; "preceeding" is
spelled so there. ``strict_roles`` is the rule of Mistral's chat template, which others share.
"""

from collections.abc import Sequence
from typing import TypeGuard

from autogen_context.testing.shapes import Json, JsonObject
from autogen_context.testing.wire import ApiError

ROLES = ("system", "assistant", "user", "function", "tool", "developer")
PART_TYPES = ("text", "image_url", "input_audio", "refusal", "audio", "file")
_SYSTEM_ROLES = ("system", "developer")


def check_chat(messages: Json, *, strict_roles: bool = False) -> None:
    """Accept the messages of a request.

    Args:
        messages: what the request has under ``messages``.
        strict_roles: refuse also more than one system message and users and assistants that do not alternate.

    Raises:
        ApiError: what the API would answer, status 400.
    """
    checked = _message_list(messages)
    for index, message in enumerate(checked):
        _check_message(message, f"messages[{index}]", index)
    _check_pairs(checked)
    if strict_roles:
        _check_alternation(checked)


def check_window(*, prompt_tokens: int, tool_tokens: int, window_tokens: int) -> None:
    """Accept the size of a request.

    Args:
        prompt_tokens: all of it, in tokens.
        tool_tokens: the tool schemas among them.
        window_tokens: the most it may have.

    Raises:
        ApiError: ``context_length_exceeded``, with the numbers.
    """
    if prompt_tokens <= window_tokens:
        return
    split = f" ({prompt_tokens - tool_tokens} in the messages, {tool_tokens} in the functions)"
    raise ApiError(
        f"This model's maximum context length is {window_tokens} tokens. However, your messages resulted in "
        f"{prompt_tokens} tokens{split if tool_tokens else ''}. Please reduce the length of the messages"
        f"{' or functions' if tool_tokens else ''}.",
        param="messages",
        code="context_length_exceeded",
    )


def _message_list(messages: Json) -> list[dict[str, Json]]:
    if messages is None:
        raise _missing("messages")
    if not _is_object_list(messages):
        raise _wrong_type("messages", "an array of objects", messages)
    if not messages:
        raise _empty("messages", "array")
    return messages


def _is_object_list(value: Json) -> TypeGuard[list[dict[str, Json]]]:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def _check_message(message: JsonObject, place: str, index: int) -> None:
    role = message.get("role")
    if role is None:
        raise _missing(f"{place}.role")
    if role not in ROLES:
        raise _unsupported(role, ROLES, f"{place}.role")
    _check_content(message, place, index)
    if role == "assistant" and message.get("tool_calls") is not None:
        _check_calls(message["tool_calls"], f"{place}.tool_calls")
    if role == "tool":
        _check_text(message.get("tool_call_id"), f"{place}.tool_call_id")


def _check_content(message: JsonObject, place: str, index: int) -> None:
    content = message.get("content")
    if content is None:
        if not _may_lack_content(message):
            text = "Invalid value for 'content': expected a string, got null."
            raise ApiError(text, param=f"messages.[{index}].content")
    elif _is_object_list(content):
        _check_parts(content, f"{place}.content")
    elif not isinstance(content, str):
        raise _wrong_type(f"{place}.content", "one of a string or array of objects", content)


def _may_lack_content(message: JsonObject) -> bool:
    instead = ("tool_calls", "function_call", "refusal", "audio")
    return message["role"] == "assistant" and any(message.get(key) for key in instead)


def _check_parts(parts: Sequence[JsonObject], place: str) -> None:
    if not parts:
        raise _empty(place, "array")
    for index, part in enumerate(parts):
        if part.get("type") not in PART_TYPES:
            raise _unsupported(part.get("type"), PART_TYPES, f"{place}[{index}].type")


def _check_calls(calls: Json, place: str) -> None:
    if not _is_object_list(calls):
        raise _wrong_type(place, "an array of objects", calls)
    if not calls:
        raise _empty(place, "array")
    for index, call in enumerate(calls):
        _check_call(call, f"{place}[{index}]")


def _check_call(call: JsonObject, place: str) -> None:
    _check_text(call.get("id"), f"{place}.id")
    if call.get("type") != "function":
        raise _unsupported(call.get("type"), ("function",), f"{place}.type")
    function = call.get("function")
    if not isinstance(function, dict):
        raise _wrong_type(f"{place}.function", "an object", function)
    _check_text(function.get("name"), f"{place}.function.name")
    if not isinstance(function.get("arguments"), str):
        raise _wrong_type(f"{place}.function.arguments", "a string", function.get("arguments"))


def _check_text(value: Json, place: str) -> None:
    if value is None:
        raise _missing(place)
    if not isinstance(value, str):
        raise _wrong_type(place, "a string", value)
    if not value:
        raise _empty(place, "string")


def _check_pairs(messages: Sequence[JsonObject]) -> None:
    """Each call is answered once, right after the message that makes it, and each result answers a call."""
    asked_at, answered = -1, dict[str, int]()
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            _check_result(str(message["tool_call_id"]), index, answered)
            answered[str(message["tool_call_id"])] = index
        else:
            _check_answered(answered, asked_at)
            asked_at, answered = index, _asked(message, index)
    _check_answered(answered, asked_at)


def _asked(message: JsonObject, index: int) -> dict[str, int]:
    """The ids that a message asks results for; -1 stands for a result that has not come."""
    calls = message.get("tool_calls") if message["role"] == "assistant" else None
    ids = [str(call["id"]) for call in calls] if _is_object_list(calls) else []
    for place, call_id in enumerate(ids):
        if call_id in ids[:place]:
            raise _duplicate(call_id, index, index)
    return dict.fromkeys(ids, -1)


def _check_result(call_id: str, index: int, answered: dict[str, int]) -> None:
    if not answered:
        raise ApiError(
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
            "'tool_calls'.",
            param=f"messages.[{index}].role",
        )
    if call_id not in answered:
        raise ApiError(
            f"Invalid parameter: 'tool_call_id' of '{call_id}' not found in 'tool_calls' of previous message.",
            param=f"messages.[{index}].tool_call_id",
        )
    if answered[call_id] >= 0:
        raise _duplicate(call_id, answered[call_id], index)


def _check_answered(answered: dict[str, int], asked_at: int) -> None:
    if missing := [call_id for call_id, index in answered.items() if index < 0]:
        raise ApiError(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(missing)}",
            param=f"messages.[{asked_at}].role",
        )


def _check_alternation(messages: Sequence[JsonObject]) -> None:
    """One system message at most and first; then users and assistants in turn, tool steps not counted."""
    turns = 0
    for index, message in enumerate(messages):
        if message["role"] in _SYSTEM_ROLES and index > 0:
            raise ApiError("System message must be at the beginning.")
        if message["role"] not in {"user", "assistant"} or message.get("tool_calls"):
            continue
        if (message["role"] == "user") != (turns % 2 == 0):
            raise ApiError(
                "After the optional system message, conversation roles must alternate user and assistant roles "
                "except for tool calls and results."
            )
        turns += 1


def _missing(place: str) -> ApiError:
    text = f"Missing required parameter: '{place}'."
    return ApiError(text, param=place, code="missing_required_parameter")


def _empty(place: str, kind: str) -> ApiError:
    article = "an array" if kind == "array" else "a string"
    return ApiError(
        f"Invalid '{place}': empty {kind}. Expected {article} with minimum length 1, but got an empty {kind} instead.",
        param=place,
        code=f"empty_{kind}",
    )


def _wrong_type(place: str, expected: str, value: Json) -> ApiError:
    names = {dict: "an object", list: "an array", str: "a string", type(None): "null"}
    numbers = {bool: "a boolean", int: "an integer", float: "a decimal"}
    got = (names | numbers)[type(value)]
    text = f"Invalid type for '{place}': expected {expected}, but got {got} instead."
    return ApiError(text, param=place, code="invalid_type")


def _unsupported(value: Json, supported: Sequence[str], place: str) -> ApiError:
    *first, last = [f"'{name}'" for name in supported]
    listed = f"{', '.join(first)}, and {last}" if first else last
    text = f"Invalid value: '{value}'. Supported values are: {listed}."
    return ApiError(text, param=place, code="invalid_value")


def _duplicate(call_id: str, first: int, second: int) -> ApiError:
    return ApiError(
        f"Invalid parameter: Duplicate value for 'tool_call_id' of '{call_id}', in messages[{first}] and "
        f"messages[{second}].",
        param=f"messages.[{second}].tool_call_id",
    )
