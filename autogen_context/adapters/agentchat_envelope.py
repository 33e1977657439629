"""What an agent sends beside its context: the system messages before it, and the tools.

Promise: an envelope is a value; it shares no message with the agent, and what was learned from a request equals what
was described at construction, if the agent sends what was described.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import is_

from autogen_core.models import LLMMessage, SystemMessage
from autogen_core.tools import FunctionTool, Tool, ToolSchema

from autogen_context.messages.piece import BETWEEN

AgentTool = Tool | ToolSchema | Callable[..., object]
"""A tool as ``AssistantAgent`` takes it, or its schema."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """What stands around a context in a request.

    Attributes:
        system: the system messages, in order.
        tools: the schemas of the tools, in order.
    """

    system: tuple[SystemMessage, ...] = ()
    tools: tuple[ToolSchema, ...] = ()

    @property
    def texts(self) -> list[str]:
        """The texts of the system messages."""
        return [message.content for message in self.system]

    @property
    def tools_as_sent(self) -> list[Mapping[str, object]]:
        """The schemas as OpenAI's API has them."""
        return [{"type": "function", "function": schema} for schema in self.tools]

    def opened(self, request: Sequence[LLMMessage]) -> list[LLMMessage]:
        """The messages of a prepared request that belong to the context.

        Args:
            request: the system messages of this envelope and what follows them; where the model takes one system
                message alone, those that lead were joined to one.
        """
        if all(map(is_, self.system, request)):
            return list(request[len(self.system) :])
        first, *rest = request
        ours = BETWEEN.join(filter(None, self.texts))
        more = str(first.content).removeprefix(ours).removeprefix(BETWEEN)
        return [SystemMessage(content=more), *rest] if more else rest


def envelope(
    system: Sequence[str | SystemMessage], tools: Sequence[AgentTool] | None = None
) -> Envelope:
    """An envelope of system messages and of tools as an agent takes them.

    Raises:
        ValueError: a tool is neither a tool, a function, nor a schema with a name.
    """
    texts = [message if isinstance(message, str) else message.content for message in system]
    return Envelope(
        system=tuple(SystemMessage(content=text) for text in texts),
        tools=tuple(schema_of(tool) for tool in tools or ()),
    )


def envelope_around(
    own: Sequence[LLMMessage], request: Sequence[LLMMessage], tools: Sequence[AgentTool]
) -> Envelope | None:
    """What stands around a context's own messages in a request.

    Args:
        own: what the context handed out last.
        request: what an agent is about to send.
        tools: the tools that go with it.

    Returns:
        The envelope; ``None`` where the request is not the context's: it must be system messages, then exactly these
        objects, then nothing.
    """
    start = len(request) - len(own)
    if start < 0 or not all(map(is_, own, request[start:])):
        return None
    before = [message for message in request[:start] if isinstance(message, SystemMessage)]
    return envelope(before, tools) if len(before) == start else None


def schema_of(tool: AgentTool) -> ToolSchema:
    """The schema of a tool, of a function as ``AssistantAgent`` makes it a tool, or of a schema.

    Raises:
        ValueError: it is none of these.
    """
    if isinstance(tool, Tool):
        return tool.schema
    if callable(tool):
        return FunctionTool(tool, description=tool.__doc__ or "").schema
    if isinstance(tool, Mapping) and "name" in tool:  # pyright: ignore[reportUnnecessaryIsInstance]  # bad input
        return tool
    raise ValueError(f"tools: a tool, a function or a schema with a name is wanted, not {tool!r}")
