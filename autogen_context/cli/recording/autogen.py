"""Messages as AutoGen saves them, written as OpenAI has them. AutoGen itself is not needed.

Promise: they are written as AutoGen's OpenAI client sends them: results one by one, the thought of a call as its text.

Source: autogen_core.models and autogen_ext.models.openai 0.7.5; autogen.ConversableAgent 0.14.1 (read 2026-11).
"""

from autogen_context.cli.recording.documents import JsonObject, is_list, is_object


def as_openai(value: object) -> list[JsonObject]:
    """The messages that one recorded message is sent as; what is no message of AutoGen stays as it is.

    Raises:
        ValueError: it is no JSON object, or a message of AutoGen that lacks what it needs.
    """
    if not is_object(value):
        raise ValueError(f"a message must be an object, got {type(value).__name__}")
    write = WRITERS.get(str(value.get("type")))
    if write is not None and "role" not in value:
        return write(value)
    if "type" in value and "role" not in value:
        raise ValueError(
            f"{value['type']!r} is nothing that a model is sent; save the agent's state"
        )
    if is_list(value.get("tool_responses")):
        return classic_results(value)
    return [value]


def system(message: JsonObject) -> list[JsonObject]:
    """A system message of agentchat."""
    return [{"role": "system", "content": message.get("content")}]


def user(message: JsonObject) -> list[JsonObject]:
    """A user message of agentchat: text, or a list of texts and images."""
    content = message.get("content")
    if is_list(content):
        content = [user_part(part) for part in content]
    return [{"role": "user", "content": content, "name": message.get("source")}]


def user_part(part: object) -> JsonObject:
    """A text, or an image, of which a state holds the data."""
    if is_object(part):
        url = f"data:image/png;base64,{part.get('data')}"
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "text", "text": part}


def assistant(message: JsonObject) -> list[JsonObject]:
    """An assistant message of agentchat: a text, or calls."""
    content = message.get("content")
    if not is_list(content):
        return [{"role": "assistant", "content": content}]
    calls = [call(each) for each in content]
    return [{"role": "assistant", "content": message.get("thought"), "tool_calls": calls}]


def call(value: object) -> JsonObject:
    """A function call of agentchat."""
    if not is_object(value):
        raise ValueError(f"a call must be an object, got {type(value).__name__}")
    function = {"name": value.get("name"), "arguments": value.get("arguments")}
    return {"id": value.get("id"), "type": "function", "function": function}


def results(message: JsonObject) -> list[JsonObject]:
    """The results of a step in agentchat, which keeps them in one message."""
    content = message.get("content")
    if not is_list(content):
        raise ValueError("a FunctionExecutionResultMessage needs a list of results as 'content'")
    return [
        {"role": "tool", "tool_call_id": result.get("call_id"), "content": result.get("content")}
        for result in content
        if is_object(result)
    ]


def classic_results(message: JsonObject) -> list[JsonObject]:
    """The results of a step in classic AutoGen, which keeps them in one message."""
    responses = message["tool_responses"]
    return [
        {
            "role": "tool",
            "tool_call_id": response.get("tool_call_id"),
            "content": response.get("content"),
        }
        for response in (responses if is_list(responses) else [])
        if is_object(response)
    ]


WRITERS = {
    "SystemMessage": system,
    "UserMessage": user,
    "AssistantMessage": assistant,
    "FunctionExecutionResultMessage": results,
}
AGENTCHAT_TYPES = frozenset(WRITERS)
