"""OpenAI's Responses API of the test server: its requests as chat requests, its answers, and the history that it stores.

Promise: a request means what the same conversation means as a chat request, so that both have the same rules, tokens and
records; a response is stored unless the request says ``store: false``. Streams are not served.

Source: https://platform.openai.com/docs/api-reference/responses (read 2026-11).
"""

from collections.abc import Mapping, Sequence

from autogen_context.testing.answers import FIRST_CREATED
from autogen_context.testing.script import Answer
from autogen_context.testing.wire import ApiError, ChatMessage, Json, JsonObject, is_object_list

RESPONSES_PATH = "/v1/responses"


class StoredResponses:
    """The conversations that the server keeps, by the id of their newest response."""

    def __init__(self) -> None:
        self._kept: dict[str, Sequence[ChatMessage]] = {}

    def chat_body(self, body: JsonObject) -> dict[str, Json]:
        """Return a request as a chat request with the whole conversation; raise ``ApiError`` if there is none of that id."""
        before: Sequence[ChatMessage] = ()
        if (previous := body.get("previous_response_id")) is not None:
            known = self._kept.get(str(previous))
            if known is None:
                text = f"Previous response with id '{previous}' not found."
                raise ApiError(
                    text, param="previous_response_id", code="previous_response_not_found"
                )
            before = known
        instructions = body.get("instructions")
        system: ChatMessage = {"role": "system", "content": instructions}
        head = [system] if instructions else []
        tools, functions = body.get("tools"), list[Json]()
        for tool in tools if is_object_list(tools) else []:
            kind = tool.get("type")
            functions.append({"type": kind, "function": {k: tool[k] for k in tool if k != "type"}})
        messages: list[Json] = [*head, *before, *chat_messages(body.get("input"))]
        return {"model": body.get("model"), "messages": messages, "tools": functions}

    def response(self, answer: Answer, body: JsonObject, chat: JsonObject) -> dict[str, Json]:
        """Return the answer as a ``response`` object, and store it if asked to."""
        response_id = f"resp_{answer.number:06d}"
        messages = chat["messages"]
        if body.get("store") is not False and is_object_list(messages):
            kept = messages[1:] if body.get("instructions") else messages  # without instructions
            self._kept[response_id] = [*kept, answer.as_message()]
        usage = answer.usage
        return {
            "id": response_id,
            "object": "response",
            "created_at": FIRST_CREATED + answer.number,
            "status": "completed",
            "model": body.get("model"),
            "output": output_items(answer),
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "usage": {
                "input_tokens": usage.prompt_tokens,
                "input_tokens_details": {"cached_tokens": usage.cached_tokens},
                "output_tokens": usage.completion_tokens,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": usage.prompt_tokens + usage.completion_tokens,
            },
        }


def output_items(answer: Answer) -> list[Json]:
    """Return the items of an answer: its text as a message, then its calls."""
    items: list[Json] = []
    if answer.text is not None:
        part: dict[str, Json] = {"type": "output_text", "text": answer.text, "annotations": []}
        said = {"id": f"msg_{answer.number:06d}", "role": "assistant", "status": "completed"}
        items.append({"type": "message", **said, "content": [part]})
    for call in answer.calls:
        named = {"call_id": call.id, "name": call.name, "arguments": call.arguments}
        head: dict[str, Json] = {"type": "function_call", "id": f"fc_{call.id}"}
        items.append({**head, "status": "completed", **named})
    return items


def chat_messages(given: Json) -> list[ChatMessage]:
    """Return the input of a request as chat messages; calls in a row belong to one message."""
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    if not is_object_list(given):
        raise ApiError("Invalid type for 'input': expected a string or an array of objects.")
    messages: list[ChatMessage] = []
    for index, item in enumerate(given):
        kind = item.get("type", "message")
        if kind == "message":
            said = chat_content(item.get("content"))
            messages.append({"role": item.get("role"), "content": said})
        elif kind == "function_call":
            function = {"name": item.get("name"), "arguments": item.get("arguments")}
            call = {"id": item.get("call_id"), "type": "function", "function": function}
            last: ChatMessage = messages[-1] if messages else {}
            if last.get("role") != "assistant":
                last = {"role": "assistant", "content": None}
                messages.append(last)
            last.setdefault("tool_calls", []).append(call)
        elif kind == "function_call_output":
            said = chat_content(item.get("output"))
            messages.append({"role": "tool", "tool_call_id": item.get("call_id"), "content": said})
        elif kind != "reasoning":
            raise ApiError(f"Invalid value: '{kind}'.", param=f"input[{index}].type")
    return messages


def chat_content(content: Json) -> Json:
    """Return the content of an item as that of a chat message."""
    if not is_object_list(content):
        return content
    return [chat_part(part) for part in content]


def chat_part(part: Mapping[str, Json]) -> Json:
    """Return a part as that of a chat message: a text, an image, or what the chat rules then refuse."""
    if part.get("type") in ("input_text", "output_text"):
        return {"type": "text", "text": part.get("text")}
    if part.get("type") == "input_image":
        return {"type": "image_url", "image_url": {"url": part.get("image_url")}}
    return dict(part)
