"""Validates chat requests as OpenAI does, with the API's own error messages.

Fields unknown to OpenAI are accepted, since compatible endpoints require some (thinking, signatures).

Source: error messages quoted in public bug reports, read on 2026-11-21 (the spelling "preceeding" is theirs);
``strict_roles`` is the rule of Mistral's chat template, shared by others.
"""

from collections.abc import Sequence

from autogen_context.testing.wire import ApiError, Json, JsonObject, is_object_list

ROLES = ("system", "assistant", "user", "function", "tool", "developer")
PART_TYPES = ("text", "image_url", "input_audio", "refusal", "audio", "file")
INSTEAD_OF_CONTENT = ("tool_calls", "function_call", "refusal", "audio")
TYPES = {
    dict: "an object",
    list: "an array",
    str: "a string",
    bool: "a boolean",
    int: "an integer",
    float: "a decimal",
    type(None): "null",
}


def check_chat(messages: Json, *, strict_roles: bool = False) -> None:
    """Raise ``ApiError``, with the API's own message, if the messages of a request are invalid.

    ``strict_roles`` also requires at most one system message, and user and assistant messages that alternate.
    """
    if messages is None:
        raise _missing("messages")
    if not is_object_list(messages):
        raise _wrong_type("messages", "an array of objects", messages)
    if not messages:
        raise _empty("messages", "array")
    for index, message in enumerate(messages):
        _check_message(message, index)
    _check_pairs(messages)
    if strict_roles:
        _check_alternation(messages)


def _check_message(message: JsonObject, index: int) -> None:
    place, role, content = f"messages[{index}]", message.get("role"), message.get("content")
    if role is None:
        raise _missing(f"{place}.role")
    if role not in ROLES:
        raise _unsupported(role, ROLES, f"{place}.role")
    if content is None:
        if role != "assistant" or not any(message.get(key) for key in INSTEAD_OF_CONTENT):
            text = "Invalid value for 'content': expected a string, got null."
            raise ApiError(text, param=f"messages.[{index}].content")
    elif is_object_list(content):
        if not content:
            raise _empty(f"{place}.content", "array")
        for at, part in enumerate(content):
            if part.get("type") not in PART_TYPES:
                raise _unsupported(part.get("type"), PART_TYPES, f"{place}.content[{at}].type")
    elif not isinstance(content, str):
        raise _wrong_type(f"{place}.content", "one of a string or array of objects", content)
    if role == "assistant" and message.get("tool_calls") is not None:
        _check_calls(message["tool_calls"], f"{place}.tool_calls")
    if role == "tool":
        _check_text(message.get("tool_call_id"), f"{place}.tool_call_id")


def _check_calls(calls: Json, place: str) -> None:
    if not is_object_list(calls):
        raise _wrong_type(place, "an array of objects", calls)
    if not calls:
        raise _empty(place, "array")
    for index, call in enumerate(calls):
        at, function = f"{place}[{index}]", call.get("function")
        _check_text(call.get("id"), f"{at}.id")
        if call.get("type") != "function":
            raise _unsupported(call.get("type"), ("function",), f"{at}.type")
        if not isinstance(function, dict):
            raise _wrong_type(f"{at}.function", "an object", function)
        _check_text(function.get("name"), f"{at}.function.name")
        if not isinstance(function.get("arguments"), str):
            raise _wrong_type(f"{at}.function.arguments", "a string", function.get("arguments"))


def _check_text(value: Json, place: str) -> None:
    if value is None:
        raise _missing(place)
    if not isinstance(value, str):
        raise _wrong_type(place, "a string", value)
    if not value:
        raise _empty(place, "string")


def _check_pairs(messages: Sequence[JsonObject]) -> None:
    """Check that each tool call has one result, right after its message, and each result belongs to a call."""
    asked_at, answered = -1, dict[str, int]()  # -1: no result yet
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            call_id = str(message["tool_call_id"])
            _check_result(call_id, index, answered)
            answered[call_id] = index
            continue
        _check_answered(answered, asked_at)
        calls = message.get("tool_calls") if message["role"] == "assistant" else None
        asked_at, answered = index, {}
        for call in calls if is_object_list(calls) else []:
            if str(call["id"]) in answered:
                raise _duplicate(str(call["id"]), index, index)
            answered[str(call["id"])] = -1
    _check_answered(answered, asked_at)


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
    """Check for one leading system message at most, then alternating user and assistant messages, ignoring tool steps."""
    turns = 0
    for index, message in enumerate(messages):
        if message["role"] in {"system", "developer"} and index > 0:
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
    text = f"Invalid '{place}': empty {kind}. Expected {article} with minimum length 1, but got an empty {kind} instead."
    return ApiError(text, param=place, code=f"empty_{kind}")


def _wrong_type(place: str, expected: str, value: Json) -> ApiError:
    text = f"Invalid type for '{place}': expected {expected}, but got {TYPES[type(value)]} instead."
    return ApiError(text, param=place, code="invalid_type")


def _unsupported(value: Json, supported: Sequence[str], place: str) -> ApiError:
    *first, last = [f"'{name}'" for name in supported]
    listed = f"{', '.join(first)}, and {last}" if first else last
    text = f"Invalid value: '{value}'. Supported values are: {listed}."
    return ApiError(text, param=place, code="invalid_value")


def _duplicate(call_id: str, first: int, second: int) -> ApiError:
    text = f"Invalid parameter: Duplicate value for 'tool_call_id' of '{call_id}', in messages[{first}] and messages[{second}]."
    return ApiError(text, param=f"messages.[{second}].tool_call_id")
