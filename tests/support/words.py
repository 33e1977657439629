"""The same messages in the words of each host."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from ag2.events import (
    ImageInput,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextInput,
    ToolCallEvent,
    ToolCallsEvent,
    ToolResult,
    ToolResultEvent,
    ToolResultsEvent,
)
from agent_framework import Content, Message
from autogen_core import FunctionCall, Image
from autogen_core.models import (
    AssistantMessage,
    FunctionExecutionResult,
    FunctionExecutionResultMessage,
    SystemMessage,
    UserMessage,
)
from PIL import Image as Pixels

from autogen_context.adapters.ag2_format import Ag2Format
from autogen_context.adapters.agent_framework_format import AgentFrameworkFormat
from autogen_context.adapters.agentchat_format import AgentChatFormat
from autogen_context.adapters.classic_format import ClassicFormat
from autogen_context.adapters.register import Prompt
from autogen_context.messages.message import HostFormat

ARGUMENTS = '{"q": "a long question"}'
URL = "https://example.com/a.png"


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """How a host says it; ``results`` takes the id and the text of each result of a step."""

    host: HostFormat
    system: Callable[[str], Any]
    user: Callable[[str], Any]
    picture: Callable[[str], Any]
    said: Callable[[str], Any]
    call: Callable[[str], Any]
    results: Callable[..., Any]

    def result(self, call_id: str, text: str) -> Any:
        """A step with one result."""
        return self.results((call_id, text))


def classic_call(call_id: str) -> object:
    """A call as classic agents write it."""
    call = {"id": call_id, "type": "function", "function": {"name": "find", "arguments": ARGUMENTS}}
    return {"role": "assistant", "content": "", "tool_calls": [call]}


def classic_results(*results: tuple[str, str]) -> object:
    """A step's results as classic agents write them."""
    responses = [{"role": "tool", "tool_call_id": i, "content": text} for i, text in results]
    content = "\n\n".join(text for _, text in results)
    return {"role": "tool", "content": content, "tool_responses": responses, "name": "user"}


def classic_picture(text: str) -> object:
    """A text with an image."""
    parts = [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": URL}}]
    return {"role": "user", "content": parts, "name": "user"}


def agentchat_results(*results: tuple[str, str]) -> object:
    """A step's results."""
    return FunctionExecutionResultMessage(
        content=[
            FunctionExecutionResult(content=text, name="find", call_id=i, is_error=False)
            for i, text in results
        ]
    )


def ag2_results(*results: tuple[str, str]) -> object:
    """A step's results."""
    return ToolResultsEvent(
        [
            ToolResultEvent(parent_id=call_id, name="find", result=ToolResult(text))
            for call_id, text in results
        ]
    )


def framework_results(*results: tuple[str, str]) -> object:
    """A step's results."""
    return Message("tool", [Content.from_function_result(i, result=text) for i, text in results])


WORDS = {
    "agentchat": Words(
        host=AgentChatFormat(),
        system=lambda text: SystemMessage(content=text),
        user=lambda text: UserMessage(content=text, source="user"),
        picture=lambda text: UserMessage(content=[text, Image(Pixels.new("RGB", (1, 1)))], source="user"),
        said=lambda text: AssistantMessage(content=text, source="a"),
        call=lambda call_id: AssistantMessage(content=[FunctionCall(call_id, ARGUMENTS, "find")], source="a"),
        results=agentchat_results,
    ),
    "classic": Words(
        host=ClassicFormat(),
        system=lambda text: {"role": "system", "content": text},
        user=lambda text: {"role": "user", "content": text, "name": "user"},
        picture=classic_picture,
        said=lambda text: {"role": "assistant", "content": text},
        call=classic_call,
        results=classic_results,
    ),
    "ag2": Words(
        host=Ag2Format(),
        system=Prompt,
        user=lambda text: ModelRequest([TextInput(text)]),
        picture=lambda text: ModelRequest([TextInput(text), ImageInput(URL)]),
        said=lambda text: ModelResponse(ModelMessage(text)),
        call=lambda call_id: ModelResponse(
            tool_calls=ToolCallsEvent([ToolCallEvent("find", id=call_id, arguments=ARGUMENTS)])
        ),
        results=ag2_results,
    ),
    "agent-framework": Words(
        host=AgentFrameworkFormat("a"),
        system=lambda text: Message("system", [text]),
        user=lambda text: Message("user", [text]),
        picture=lambda text: Message("user", [text, Content.from_uri(URL, media_type="image/png")]),
        said=lambda text: Message("assistant", [text]),
        call=lambda call_id: Message("assistant", [Content.from_function_call(call_id, "find", arguments=ARGUMENTS)]),
        results=framework_results,
    ),
}  # fmt: skip
in_the_words_of_each_host = pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
