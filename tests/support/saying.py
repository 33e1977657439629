"""Messages in OpenAI's format, as short as they can be."""

from autogen_context.testing import ChatMessage


def says(text: object, role: str = "assistant", **fields: object) -> ChatMessage:
    """A message of any content."""
    return {"role": role, "content": text, **fields}


def asks(*ids: str) -> ChatMessage:
    """A message that calls, an id each."""
    function = {"name": "f", "arguments": "{}"}
    calls = [{"id": i, "type": "function", "function": function} for i in ids]
    return says(None, tool_calls=calls)


def tells(call_id: str, text: str = "done") -> ChatMessage:
    """A result for one id."""
    return says(text, "tool", tool_call_id=call_id)
