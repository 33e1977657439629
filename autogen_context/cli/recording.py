"""Read recorded conversations from JSON or JSON Lines, optionally gzipped.

Promise: every format is converted to OpenAI messages, the tools, and the model if recorded. Anything unreadable raises a
``ValueError`` that names the file, the place in it and a remedy.

Accepted: lists of messages; objects with ``messages``, such as requests, fine-tuning examples and batch files; states
of AutoGen's agents, teams and contexts; lists of messages by name, such as a classic agent's ``chat_messages``; lists of
all of these. AutoGen itself is not needed.

Source: autogen_core.models and autogen_ext.models.openai 0.7.5; autogen.ConversableAgent 0.14.1 (read 2026-11).
"""

import gzip
import json
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TypeGuard

from autogen_context.messages.openai_chat import OpenAIChat

JsonObject = dict[str, object]

STANDARD_INPUT = "-"
GZIP_MAGIC = b"\x1f\x8b"
RESULT_TYPE = "FunctionExecutionResultMessage"
AGENTCHAT_TYPES = ("SystemMessage", "UserMessage", "AssistantMessage", RESULT_TYPE)
MESSAGE_LISTS = ("messages", "chat_history")
WRAPPERS = ("request", "body", "input", "agent_state", "inner_team_state", "llm_context")
EXPECTED = "expected are messages, an object with 'messages', or a state that AutoGen saved"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedConversation:
    """A conversation; during the search, what enclosing objects say of one, and its place in the file."""

    id: str = ""
    messages: Sequence[JsonObject] = ()
    tools: Sequence[JsonObject] = ()
    model: str = ""
    path: str = ""


def read_recording(path: str) -> list[RecordedConversation]:
    """Return the conversations in a file (``"-"``: standard input): at least one, none of them empty."""
    name = "standard input" if path == STANDARD_INPUT else path
    try:
        return conversations_in(documents_in(text_of(path)))
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def text_of(path: str) -> str:
    """Return the text of a file in UTF-8, -16 or -32, with or without a byte order mark, gzipped or not."""
    try:
        data = sys.stdin.buffer.read() if path == STANDARD_INPUT else Path(path).read_bytes()
    except OSError as error:
        raise ValueError(f"it cannot be read ({error.strerror}); check the path") from error
    try:
        data = gzip.decompress(data) if data.startswith(GZIP_MAGIC) else data
    except (EOFError, OSError, zlib.error) as error:
        raise ValueError(f"the gzip file is damaged ({error}); copy it again") from error
    encoding = json.detect_encoding(data)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(f"line {line}: this is no text in {encoding}; save it as UTF-8") from error


def documents_in(text: str) -> list[tuple[object, str]]:
    """Return the JSON values of a text with their places: one per line if it looks like JSON Lines, otherwise one."""
    lines = [(n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not lines:
        raise ValueError("it is empty; record a conversation into it first")
    first = lines[0][1].strip()
    is_several = (first[0], first[-1]) in (("{", "}"), ("[", "]"))
    with suppress(ValueError, RecursionError, IndexError):  # the first line may be damaged
        is_several |= len(first) > 1 and is_object(json.loads(lines[1][1]))
    if len(lines) > 1 and is_several:
        return [(parsed(line, n), f"line {n}") for n, line in lines]
    return [(parsed(text, 1), "")]


def parsed(text: str, first_line: int) -> object:
    """Return the JSON value of a text; ``first_line`` is for error messages."""
    try:
        value: object = json.loads(text)
    except json.JSONDecodeError as error:
        complaint = f"this is no JSON ({error.msg}); correct it or leave it out"
        if error.msg.startswith("Unterminated") or not error.doc[error.pos :].strip():
            complaint = "the text ends too early, it was cut off; record or copy it again"
        line = first_line + error.lineno - 1
        raise ValueError(f"line {line}, column {error.colno}: {complaint}") from error
    except RecursionError as error:
        raise ValueError(f"line {first_line}: it is nested too deeply") from error
    except ValueError as error:  # an integer with thousands of digits
        raise ValueError(f"line {first_line}: {error}") from error
    return value


def is_object(value: object) -> TypeGuard[JsonObject]:
    """Return True if a JSON value is an object, whose keys are strings."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[object]]:
    """Return True if a JSON value is a list."""
    return isinstance(value, list)


def is_message(value: object) -> bool:
    """Return True if a JSON value looks like a message."""
    return is_object(value) and ("role" in value or str(value.get("type")) in AGENTCHAT_TYPES)


def conversations_in(documents: Sequence[tuple[object, str]]) -> list[RecordedConversation]:
    """Return the non-empty conversations in documents, in order; ``ValueError`` if there is none."""
    if len(documents) > 1 and is_message(documents[0][0]):
        messages = [m for value, place in documents for m in readable(value, place)]
        return [RecordedConversation(id="conversation", messages=messages)]
    found: list[RecordedConversation] = []
    for value, place in documents:
        path = f"{place}: " if place else ""
        here = list(found_in(value, RecordedConversation(path=path, id=place)))
        if not here:
            raise ValueError(f"{path}no messages in it; {EXPECTED}")
        found += here
    spoken = [conversation for conversation in found if conversation.messages]
    if not spoken:
        raise ValueError("its conversations have no messages yet; record one that has")
    return spoken


def found_in(value: object, near: RecordedConversation) -> Iterator[RecordedConversation]:
    """Yield the conversations in a JSON value: a list of messages, or what is in a list or an object.

    Of an object it is what stands under the first known key, otherwise what stands under each of its names.
    """
    if is_message(value):
        value = [value]
    if is_list(value) and any(map(is_message, value)):
        yield conversation(value, near)
    elif is_list(value):
        for i, each in enumerate(value):
            step = f"[{i}]"
            yield from found_in(each, replace(near, path=near.path + step, id=near.id + step))
    elif is_object(value):
        near = named(value, near)
        lists = (key for key in MESSAGE_LISTS if is_list(value.get(key)))
        wrappers = (key for key in WRAPPERS if is_object(value.get(key)))
        if (key := next(chain(lists, wrappers), None)) is None:
            for name, each in value.items():
                step = name if is_list(each) else f"{name}."
                yield from found_in(each, replace(near, path=near.path + step, id=name))
        elif is_list(listed := value[key]):
            yield conversation(listed, replace(near, path=near.path + key))
        else:
            yield from found_in(listed, replace(near, path=f"{near.path}{key}."))


def named(fields: JsonObject, near: RecordedConversation) -> RecordedConversation:
    """Add the id, model and tools of an enclosing object to what is known of a conversation."""
    names = [fields.get(key) for key in ("id", "custom_id", "conversation_id")]
    model, tools, older = fields.get("model"), fields.get("tools"), fields.get("functions")
    if is_list(older) and not is_list(tools):  # OpenAI's older format
        tools = [{"type": "function", "function": each} for each in older if is_object(each)]
    schemas = [tool for tool in tools if is_object(tool)] if is_list(tools) else []
    return replace(
        near,
        id=next((str(name) for name in names if isinstance(name, str | int)), near.id),
        model=model if isinstance(model, str) else near.model,
        tools=schemas or near.tools,
    )


def conversation(values: Sequence[object], near: RecordedConversation) -> RecordedConversation:
    """Return the conversation with these messages and what is known of it."""
    messages = [m for i, value in enumerate(values) for m in readable(value, f"{near.path}[{i}]")]
    return replace(near, id=near.id or "conversation", messages=messages)


def readable(value: object, place: str) -> list[JsonObject]:
    """Return a message as one or several valid OpenAI messages; ``ValueError`` names the place of an invalid one."""
    try:
        messages = as_openai(value)
        for message in messages:
            OpenAIChat().read(message)
    except ValueError as error:
        raise ValueError(f"{place}: {error}; correct it or leave it out") from error
    return messages


def as_openai(value: object) -> list[JsonObject]:
    """Convert a recorded message to what AutoGen's OpenAI client would send for it."""
    if not is_object(value):
        raise ValueError(f"a message must be an object, got {type(value).__name__}")
    content, kind = value.get("content"), value.get("type")
    if "role" in value or kind is None:
        responses = value.get("tool_responses")  # classic AutoGen keeps all results in one message
        return results(responses, "tool_call_id") if is_list(responses) else [value]
    if kind == "SystemMessage":
        return [{"role": "system", "content": content}]
    if kind == "UserMessage":
        parts = [user_part(part) for part in content] if is_list(content) else content
        return [{"role": "user", "content": parts, "name": value.get("source")}]
    if kind == "AssistantMessage" and is_list(content):
        calls = [call(each) for each in content]
        return [{"role": "assistant", "content": value.get("thought"), "tool_calls": calls}]
    if kind == "AssistantMessage":
        return [{"role": "assistant", "content": content}]
    if kind != RESULT_TYPE:
        raise ValueError(f"{kind!r} is nothing that a model is sent; save the agent's state")
    if not is_list(content):
        raise ValueError("a FunctionExecutionResultMessage needs a list of results as 'content'")
    return results(content, "call_id")


def user_part(part: object) -> JsonObject:
    """Convert a part of a user message: a text, or an image stored as base64 data."""
    if not is_object(part):
        return {"type": "text", "text": part}
    url = f"data:image/png;base64,{part.get('data')}"
    return {"type": "image_url", "image_url": {"url": url}}


def call(value: object) -> JsonObject:
    """Convert an AgentChat function call to a tool call."""
    if not is_object(value):
        raise ValueError(f"a call must be an object, got {type(value).__name__}")
    function = {"name": value.get("name"), "arguments": value.get("arguments")}
    return {"id": value.get("id"), "type": "function", "function": function}


def results(found: Sequence[object], id_key: str) -> list[JsonObject]:
    """Convert the results that AutoGen keeps in one message to one tool message each."""
    return [
        {"role": "tool", "tool_call_id": result.get(id_key), "content": result.get("content")}
        for result in found
        if is_object(result)
    ]
