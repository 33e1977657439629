"""Read and write messages as autogen-agentchat has them: the ``LLMMessage`` types of autogen-core 0.7.

Promise: what is read is what a client sends; a message that is rewritten is a new one with every field but those that
were rewritten; the one that was given is never changed.

The thought of a message with calls is sent as its text (https://github.com/microsoft/autogen, ``_message_transform``,
0.7.5), so it is counted and shortened as that. The thought of an answer is not sent: it is not counted, and kept.
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

OWN_SOURCE = "autogen_context"  # who says what no agent said: notices, supplied texts
LLM_MESSAGES = (SystemMessage, UserMessage, AssistantMessage, FunctionExecutionResultMessage)

Part = str | HostImage


class AgentChatFormat:
    """The host format of autogen-agentchat."""

    own_name = OWN_SOURCE

    def read(self, payload: object, /) -> Message:
        """The message in an ``LLMMessage``.

        Raises:
            ValueError: it is something else.
        """
        message = as_llm_message(payload)
        if isinstance(message, SystemMessage):
            # A later one may be sent as the user's, under our name, where a model takes one alone.
            return Message(role="system", text=message.content, name=OWN_SOURCE)
        if isinstance(message, UserMessage):
            return read_user(message)
        if isinstance(message, AssistantMessage):
            return read_assistant(message)
        return Message(role="tool", results=read_results(message))

    def snapshot(self, payload: object, /) -> object:
        """The fields as immutable values."""
        return fields_of(as_llm_message(payload))

    def digest(self, snapshot: object, /) -> bytes:
        """16 bytes that stand for a snapshot."""
        return content_digest(repr(snapshot))

    def rewrite(self, payload: object, message: Message, /) -> LLMMessage:
        """A new ``LLMMessage`` with the texts of ``message`` and all other fields of ``payload``."""
        before = as_llm_message(payload)
        if message.results and isinstance(before, FunctionExecutionResultMessage):
            return before.model_copy(update={"content": written_results(before, message)})
        if message.role == "system" and isinstance(before, SystemMessage):
            return before.model_copy(update={"content": message.text})
        if message.role == "user" and isinstance(before, UserMessage):
            return before.model_copy(update={"content": written_parts(before.content, message)})
        if message.role == "assistant" and isinstance(before, AssistantMessage):
            return before.model_copy(update=written_answer(before, message))
        return self.compose(message)

    def compose(self, message: Message, /) -> LLMMessage:
        """An ``LLMMessage`` for a message of our own."""
        if message.results:
            return FunctionExecutionResultMessage(content=[composed(r) for r in message.results])
        if message.role in SYSTEM_ROLES:
            return SystemMessage(content=message.text)
        if message.role == "assistant":
            return AssistantMessage(content=message.text, source=OWN_SOURCE)
        return UserMessage(content=message.text, source=OWN_SOURCE)


def as_llm_message(payload: object) -> LLMMessage:
    """The payload, if it is an ``LLMMessage``.

    Raises:
        ValueError: it is something else.
    """
    if isinstance(payload, LLM_MESSAGES):
        return payload
    names = ", ".join(kind.__name__ for kind in LLM_MESSAGES)
    raise ValueError(f"a message must be one of {names}, got {type(payload).__name__}")


def fields_of(message: LLMMessage) -> tuple[object, ...]:
    """All content of a message as immutable values that are equal for equal content."""
    if isinstance(message, SystemMessage):
        return message.type, message.content
    if isinstance(message, UserMessage):
        parts = message.content
        said = parts if isinstance(parts, str) else tuple(map(fields_of_part, parts))
        return message.type, said, message.source
    if isinstance(message, AssistantMessage):
        calls = message.content
        called = calls if isinstance(calls, str) else tuple(map(fields_of_call, calls))
        return message.type, called, message.thought, message.source
    return message.type, *((r.content, r.name, r.call_id, r.is_error) for r in message.content)


def fields_of_call(call: FunctionCall) -> tuple[str, str, str]:
    """A call as immutable values."""
    return call.id, call.name, call.arguments


def fields_of_part(part: Part) -> str | tuple[tuple[int, int], bytes]:
    """A part of a multimodal content as immutable values; an image by its size and a digest of its pixels."""
    return (
        part if isinstance(part, str) else (part.image.size, content_digest(part.image.tobytes()))
    )


def read_user(message: UserMessage) -> Message:
    """A user's message; its source is sent as its name."""
    if isinstance(message.content, str):
        return Message(role="user", text=message.content, name=message.source)
    return Message(
        role="user",
        text="\n".join(part for part in message.content if isinstance(part, str)),
        name=message.source,
        images=tuple(read_image(part) for part in message.content if isinstance(part, HostImage)),
    )


def read_image(part: HostImage) -> Image:
    """An image with its size in pixels; AutoGen's clients leave the detail to the provider."""
    return Image(width=part.image.width, height=part.image.height)


def read_assistant(message: AssistantMessage) -> Message:
    """An answer, or calls with the thought that is sent along; no client sends the source."""
    if isinstance(message.content, str):
        return Message(role="assistant", text=message.content)
    calls = (ToolCall(id=c.id, name=c.name, arguments=c.arguments) for c in message.content)
    return Message(role="assistant", text=message.thought or "", calls=tuple(calls))


def read_results(message: FunctionExecutionResultMessage) -> tuple[ToolResult, ...]:
    """All results of a step."""
    return tuple(
        ToolResult(call_id=result.call_id, text=result.content, name=result.name)
        for result in message.content
    )


def written_parts(content: str | Sequence[Part], message: Message) -> str | list[Part]:
    """The content with the message's text in the place of its first text; images only if the message has them."""
    if isinstance(content, str):
        return message.text
    images = [part for part in content if isinstance(part, HostImage)] if message.images else []
    images_first = bool(content) and isinstance(content[0], HostImage)
    parts: list[Part] = [*images, message.text] if images_first else [message.text, *images]
    return [part for part in parts if part != ""] or ""


def written_answer(before: AssistantMessage, message: Message) -> dict[str, object]:
    """The fields of an answer or of calls that the message rewrites."""
    if isinstance(before.content, str):
        return {"content": message.text}
    pairs = zip(before.content, message.calls, strict=True)
    calls = [FunctionCall(id=c.id, name=c.name, arguments=new.arguments) for c, new in pairs]
    return {"content": calls, "thought": message.text or None}


def written_results(
    before: FunctionExecutionResultMessage, message: Message
) -> list[FunctionExecutionResult]:
    """The results with the texts and ids of the message; one too many is in the text of the one before it."""
    return [
        old.model_copy(update={"content": new.text, "call_id": new.call_id})
        for old, new in zip(before.content, message.results, strict=False)
    ]


def composed(result: ToolResult) -> FunctionExecutionResult:
    """A result that no tool returned."""
    return FunctionExecutionResult(content=result.text, name=result.name, call_id=result.call_id)
