"""Messages in OpenAI's format, as short as they can be."""

import json

from autogen_context.testing import ChatMessage


def says(text: object, role: str = "assistant", **fields: object) -> ChatMessage:
    """A message of any content."""
    return {"role": role, "content": text, **fields}


def call_of(call_id: str, name: str = "f", /, **arguments: object) -> ChatMessage:
    """A call of a tool, as it stands in an assistant's message."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": call_id, "type": "function", "function": function}


def asks(*calls: str | ChatMessage, text: str | None = None) -> ChatMessage:
    """A message that calls; of a call without arguments the id is enough."""
    return says(text, tool_calls=[call_of(c) if isinstance(c, str) else c for c in calls])


def tells(call_id: str, text: str = "done") -> ChatMessage:
    """A result for one id."""
    return says(text, "tool", tool_call_id=call_id)


def step(call_id: str, name: str, result: str, /, **arguments: object) -> list[ChatMessage]:
    """A call of a tool and its result."""
    return [asks(call_of(call_id, name, **arguments)), tells(call_id, result)]
