"""Messages as JSON, and back.

Promise: what is read equals what was written, whatever the texts hold: NULs, lone surrogates, and two of these side by
side, which JSON's escapes would make one character of. Reading runs nothing; what is no such JSON is a ``ValueError``.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict

from autogen_context.messages.message import Image, Message, ToolCall, ToolResult
from autogen_context.messages.record import Record


def messages_as_bytes(messages: Sequence[Message]) -> bytes:
    """JSON of messages; no escapes beside those that JSON asks for, so that it is about as long as the texts."""
    data = [dump_message(message) for message in messages]
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def messages_from_bytes(data: bytes) -> tuple[Message, ...]:
    """The messages that were written so.

    Raises:
        ValueError: these are no such bytes; says what is wrong.
    """
    try:
        listed = Record({"messages": json.loads(data.decode("utf-8", "surrogatepass"))})
        return tuple(map(load_message, listed.records("messages")))
    except (KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"no messages: {type(error).__name__}: {error}") from error


def dump_message(message: Message) -> dict[str, object]:
    """A message as JSON data, without its empty fields but for the role."""
    fields = {key: value for key, value in asdict(message).items() if value}
    return {"role": message.role, **fields}


def load_message(data: Record) -> Message:
    """A message from JSON data.

    Raises:
        KeyError: a field is missing.
        TypeError: a field is of another type.
    """
    return Message(
        role=data.text("role"),
        text=data.text("text", ""),
        calls=tuple(
            ToolCall(id=call.text("id"), name=call.text("name"), arguments=call.text("arguments"))
            for call in data.records("calls")
        ),
        results=tuple(
            ToolResult(call_id=r.text("call_id"), text=r.text("text"), name=r.text("name"))
            for r in data.records("results")
        ),
        name=data.text("name", ""),
        images=tuple(
            Image(width=i.whole("width"), height=i.whole("height"), detail=i.text("detail"))
            for i in data.records("images")
        ),
        extra=data.text("extra", ""),
        own="own" in data and data.flag("own"),
    )
