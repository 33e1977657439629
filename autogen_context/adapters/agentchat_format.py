"""Message format of autogen-agentchat: the ``LLMMessage`` types of autogen-core 0.7.

Promise: reads exactly what a client sends; a rewritten message is a new one that differs only in the rewritten fields; a
given message is never changed.

The thought of a message with tool calls is sent as its text (https://github.com/microsoft/autogen, ``_message_transform``,
0.7.5), so it is counted and shortened like text. The thought of a text answer is not sent: it is kept but not counted.
"""

from typing import Literal

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
from typing_extensions import override

from autogen_context.messages.message import (
    SYSTEM_ROLES,
    HostFormat,
    Image,
    Message,
    Origin,
    ToolCall,
    ToolResult,
    content_digest,
    with_text,
)
from autogen_context.messages.origin import is_proxys, is_users_own

OWN_SOURCE = "autogen_context"  # source of messages this library adds, such as notices
LLM_MESSAGES = (SystemMessage, UserMessage, AssistantMessage, FunctionExecutionResultMessage)


class AgentChatFormat(HostFormat):
    """The host format of autogen-agentchat."""

    own_name = OWN_SOURCE

    @override
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
        author = author_of_source(message.source)
        if isinstance(message.content, str):
            return Message(role="user", text=message.content, name=message.source, author=author)
        images = (part for part in message.content if isinstance(part, HostImage))
        return Message(
            role="user",
            text="\n".join(part for part in message.content if isinstance(part, str)),
            name=message.source,
            images=tuple(map(read_image, images)),
            author=author,
        )

    @override
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

    @override
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


def author_of_source(source: str) -> Origin | Literal[""]:
    """Return what the host says of a user message by its source: a task without a source has ``user``, a person's proxy its name."""
    if source == OWN_SOURCE:
        return "program"
    return "person" if source and (is_users_own(source) or is_proxys(source)) else ""


def read_image(image: HostImage) -> Image:
    """Return the size and the digest of an image."""
    pixels = image.image
    return Image(
        width=pixels.width, height=pixels.height, digest=content_digest(pixels.tobytes()).hex()
    )


def written_parts(
    content: str | list[str | HostImage], message: Message
) -> str | list[str | HostImage]:
    """Return the content with the message's text, and with images only if the message has any."""
    if isinstance(content, str) or not message.images:
        return message.text
    return with_text(content, message.text, is_text=lambda part: isinstance(part, str), as_text=str)
