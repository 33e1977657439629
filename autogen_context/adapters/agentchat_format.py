"""Message format of autogen-agentchat: the ``LLMMessage`` types of autogen-core 0.7.

Promise: reads exactly what a client sends; a rewritten message is a new one that differs only in the rewritten fields; a
given message is never changed.

The thought of a message with tool calls is sent as its text (https://github.com/microsoft/autogen, ``_message_transform``,
0.7.5), so it is counted and shortened like text. The thought of a text answer is not sent: it is kept but not counted.
"""

from collections.abc import Sequence

from autogen_core import FunctionCall
from autogen_core import Image as HostImage
from autogen_core.models import (
    AssistantMessage,
    FunctionExecutionResult,
    FunctionExecutionResultMessage,
    LLMMessage,
    SystemMessage,
    UserMessage,
)

from autogen_context.messages.message import (
    SYSTEM_ROLES,
    Image,
    Message,
    ToolCall,
    ToolResult,
    content_digest,
)

OWN_SOURCE = "autogen_context"  # source of messages this library adds, such as notices
LLM_MESSAGES = (SystemMessage, UserMessage, AssistantMessage, FunctionExecutionResultMessage)


class AgentChatFormat:
    """The host format of autogen-agentchat."""

    own_name = OWN_SOURCE

    def read(self, payload: object, /) -> Message:
        """Read an ``LLMMessage``; raise ``ValueError`` for any other type."""
        message = as_llm_message(payload)
        if isinstance(message, SystemMessage):
            # For models that accept one system message, later ones are sent as user messages under this name.
            return Message(role="system", text=message.content, name=OWN_SOURCE)
        if isinstance(message, FunctionExecutionResultMessage):
            return Message(
                role="tool",
                results=tuple(
                    ToolResult(call_id=result.call_id, text=result.content, name=result.name)
                    for result in message.content
                ),
            )
        if isinstance(message, AssistantMessage):  # no client sends the source
            if isinstance(message.content, str):
                return Message(role="assistant", text=message.content)
            calls = (ToolCall(id=c.id, name=c.name, arguments=c.arguments) for c in message.content)
            return Message(role="assistant", text=message.thought or "", calls=tuple(calls))
        if isinstance(message.content, str):
            return Message(role="user", text=message.content, name=message.source)
        images = [part.image for part in message.content if isinstance(part, HostImage)]
        return Message(
            role="user",
            text="\n".join(part for part in message.content if isinstance(part, str)),
            name=message.source,
            images=tuple(Image(width=image.width, height=image.height) for image in images),
        )

    def snapshot(self, payload: object, /) -> object:
        """Return the fields as immutable values that are equal for equal content."""
        message = as_llm_message(payload)
        said = message.content
        content = said if isinstance(said, str) else tuple(map(fields_of_part, said))
        if isinstance(message, AssistantMessage):
            return message.type, content, message.thought, message.source
        return message.type, content, getattr(message, "source", "")

    def digest(self, snapshot: object, /) -> bytes:
        """Return a 16-byte digest of a snapshot."""
        return content_digest(repr(snapshot))

    def rewrite(self, payload: object, message: Message, /) -> LLMMessage:
        """Return a copy of ``payload`` with the texts of ``message``."""
        before = as_llm_message(payload)
        if message.results and isinstance(before, FunctionExecutionResultMessage):
            results = [  # surplus results were merged into the previous one
                old.model_copy(update={"content": new.text, "call_id": new.call_id})
                for old, new in zip(before.content, message.results, strict=False)
            ]
            return before.model_copy(update={"content": results})
        if message.role == "system" and isinstance(before, SystemMessage):
            return before.model_copy(update={"content": message.text})
        if message.role == "user" and isinstance(before, UserMessage):
            return before.model_copy(update={"content": written_parts(before.content, message)})
        if message.role == "assistant" and isinstance(before, AssistantMessage):
            if isinstance(before.content, str):
                return before.model_copy(update={"content": message.text})
            pairs = zip(before.content, message.calls, strict=True)
            calls = [FunctionCall(c.id, new.arguments, c.name) for c, new in pairs]
            return before.model_copy(update={"content": calls, "thought": message.text or None})
        return self.compose(message)

    def compose(self, message: Message, /) -> LLMMessage:
        """Create an ``LLMMessage`` for one of our own messages."""
        if message.results:
            results = [
                FunctionExecutionResult(content=r.text, name=r.name, call_id=r.call_id)
                for r in message.results
            ]
            return FunctionExecutionResultMessage(content=results)
        if message.role in SYSTEM_ROLES:
            return SystemMessage(content=message.text)
        if message.role == "assistant":
            return AssistantMessage(content=message.text, source=OWN_SOURCE)
        return UserMessage(content=message.text, source=OWN_SOURCE)


def as_llm_message(payload: object) -> LLMMessage:
    """Return the payload if it is an ``LLMMessage``; raise ``ValueError`` otherwise."""
    if isinstance(payload, LLM_MESSAGES):
        return payload
    names = ", ".join(kind.__name__ for kind in LLM_MESSAGES)
    raise ValueError(f"a message must be one of {names}, got {type(payload).__name__}")


def fields_of_part(part: str | HostImage | FunctionCall | FunctionExecutionResult) -> object:
    """Return a content part as an immutable value; an image as its size and a digest of its pixels."""
    if isinstance(part, str):
        return part
    if isinstance(part, HostImage):
        return part.image.size, content_digest(part.image.tobytes())
    if isinstance(part, FunctionCall):
        return part.id, part.name, part.arguments
    return part.content, part.name, part.call_id, part.is_error


def written_parts(
    content: str | Sequence[str | HostImage], message: Message
) -> str | list[str | HostImage]:
    """Return the content with the message's text, after images that came first; images only if the message has any."""
    if isinstance(content, str):
        return message.text
    images = [part for part in content if isinstance(part, HostImage)] if message.images else []
    images_first = bool(content) and isinstance(content[0], HostImage)
    parts: list[str | HostImage] = (
        [*images, message.text] if images_first else [message.text, *images]
    )
    return [part for part in parts if part != ""] or ""
