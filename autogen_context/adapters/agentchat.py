"""Adapter for autogen-agentchat 0.5.7 to 0.7: keeps an agent within its context window.

Promise: no request has an orphaned tool call or result or exceeds the window, as far as the agent's own additions are
known; registering an agent sets at most three attributes (named below), all of them or none.
"""

from typing import Any, Unpack

from autogen_core.model_context import ChatCompletionContext
from autogen_core.models import ChatCompletionClient

from autogen_context.adapters.agentchat_client import (
    ManagedChatCompletionClient,
    MeteredChatCompletionClient,
    RecallWorkbench,
    recall_tool,
    said_by,
)
from autogen_context.adapters.agentchat_context import (
    AgentTool,
    ManagedChatCompletionContext,
    complete_with,
)
from autogen_context.adapters.agentchat_format import AgentChatFormat
from autogen_context.adapters.register import settings_in
from autogen_context.manager.parts import ManagerOptions
from autogen_context.messages.tool_schema import RECALL_TOOL_NAME

__all__ = [
    "AgentChatFormat",
    "AgentTool",
    "ManagedChatCompletionClient",
    "ManagedChatCompletionContext",
    "MeteredChatCompletionClient",
    "complete_with",
    "recall_tool",
    "register_agentchat",
]

# Attributes set by register: an AssistantAgent accepts a context only at construction. TOOLS is set only if it takes tools.
CLIENT, CONTEXT, TOOLS = "_model_client", "_model_context", "_workbench"


def register_agentchat(
    agent: object, model: str | None = None, **options: Unpack[ManagerOptions]
) -> ManagedChatCompletionContext:
    """Keep an agent with a model client and a model context within its window; see ``autogen_context.register``."""
    attributes = vars(agent)
    client, before = attributes.get(CLIENT), attributes.get(CONTEXT)
    if not isinstance(client, ChatCompletionClient) or not isinstance(
        before, ChatCompletionContext
    ):
        raise ValueError(  # noqa: TRY004 - a wrong argument is a ValueError here
            f"agent: register sets {CLIENT} and {CONTEXT} of an agent that asks a model, and this {type(agent).__name__} has "
            "none; where your release of autogen-agentchat names them otherwise, give the agent "
            "model_context=ManagedChatCompletionContext(...)"
        )
    if isinstance(client, MeteredChatCompletionClient):
        raise ValueError("agent: it is registered already; register each once")  # noqa: TRY004 - likewise
    if isinstance(before, ManagedChatCompletionContext) and before.is_registered:
        raise ValueError(
            "agent: its context is that of another agent, which is registered; give each agent a "
            "ManagedChatCompletionContext of its own"
        )
    if not isinstance(before, ManagedChatCompletionContext):
        options["config"] = settings_in(model, options, said_by(client))
        if options.get("model_client") == "host":
            options["model_client"] = client
        context = ManagedChatCompletionContext(**options)
        context.go_on_with(before)
    elif model is None and not options:
        context = before
    else:
        raise ValueError(
            "agent: it has a ManagedChatCompletionContext; give that these arguments, or give the agent none and register it"
        )
    context.is_registered, context.sees_images = True, client.model_info["vision"]
    changed: dict[str, Any] = {
        CLIENT: MeteredChatCompletionClient(client, context),
        CONTEXT: context,
    }
    if client.model_info["function_calling"] and takes_tools(attributes):
        benches, strict = attributes[TOOLS], attributes.get("_output_content_type") is not None
        changed[TOOLS] = (
            [*benches, RecallWorkbench(context, strict=strict)]
            if isinstance(benches, list)
            else RecallWorkbench(  # agentchat 0.5 has a single workbench
                context, tools_of(benches), strict=strict
            )
        )
    attributes.update(changed)
    return context


def takes_tools(attributes: dict[str, Any]) -> bool:
    """Return True if a tool can be added to the agent and the agent can act on its result.

    An agent that has no tools and ends its run with the first tool result would answer with a recalled original.
    """
    if TOOLS not in attributes:
        return False
    benches, is_one = attributes[TOOLS], not isinstance(attributes[TOOLS], list)
    if is_one and not hasattr(benches, "_tools"):
        return False
    several: list[Any] = [benches] if is_one else benches
    own = [tool for bench in several for tool in tools_of(bench)]
    if any(getattr(tool, "name", "") == RECALL_TOOL_NAME for tool in own):
        return False
    goes_on = attributes.get("_max_tool_iterations", 1) > 1
    return bool(own or goes_on or attributes.get("_reflect_on_tool_use"))


def tools_of(bench: Any) -> list[Any]:
    """Return the tools of a static workbench; any other workbench counts as a single tool."""
    return list(getattr(bench, "_tools", [bench]))
