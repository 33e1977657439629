"""Put an agent of autogen-agentchat that is there already inside its window.

Promise: the agent keeps its conversation, its tools and its client's behaviour; it is changed in three attributes, which
are named, or not at all.

autogen-agentchat 0.7 has no public way to give an agent another context: ``AssistantAgent`` takes it at construction.
"""

from typing import Any, Unpack

from autogen_core.model_context import ChatCompletionContext
from autogen_core.models import ChatCompletionClient

from autogen_context.adapters.agentchat_context import ManagedChatCompletionContext
from autogen_context.adapters.agentchat_metering import MeteredChatCompletionClient, model_of
from autogen_context.adapters.agentchat_recall import RecallWorkbench
from autogen_context.config.config import ContextConfig
from autogen_context.manager.given import ManagerOptions
from autogen_context.messages.tool_schema import RECALL_TOOL_NAME

CLIENT, CONTEXT, TOOLS = "_model_client", "_model_context", "_workbench"
"""The attributes that are set; the last one where the agent takes tools."""


def register_agentchat(
    agent: object, model: str | None = None, **options: Unpack[ManagerOptions]
) -> ManagedChatCompletionContext:
    """Put an agent inside its window, as it is.

    Args:
        agent: an ``AssistantAgent``, or another agent that has a model client and a model context.
        model: its model's name; left out, as its client says.
        options: as for the context.

    Raises:
        ValueError: the agent asks no model, lacks an attribute that is set, or is registered already.
    """
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
    if not isinstance(before, ManagedChatCompletionContext):
        context = new_context(client, before, model, options)
    elif model is None and not options:
        context = before
    else:
        raise ValueError(
            "agent: it has a ManagedChatCompletionContext; give that these arguments, or give the agent none and register it"
        )
    context.sees_images = client.model_info["vision"]
    changed: dict[str, Any] = {
        CLIENT: MeteredChatCompletionClient(client, context),
        CONTEXT: context,
    }
    if takes_tools(agent, client):
        changed[TOOLS] = [*attributes[TOOLS], RecallWorkbench(context)]
    attributes.update(changed)
    return context


def new_context(
    client: ChatCompletionClient,
    before: ChatCompletionContext,
    model: str | None,
    options: ManagerOptions,
) -> ManagedChatCompletionContext:
    """A context that goes on with the conversation of another; what the client sees needs no reserve."""
    several = client.model_info.get("multiple_system_messages", False)
    said = {"model": model_of(client), "single_system": not several, "reserve_tokens": 0}
    settings = ManagerOptions(**options)
    settings["config"] = ContextConfig.for_entry(options.get("config"), said=said, model=model)
    if settings.get("model_client") == "host":
        settings["model_client"] = client
    context = ManagedChatCompletionContext(**settings)
    context.go_on_with(before)
    return context


def takes_tools(agent: object, client: ChatCompletionClient) -> bool:
    """Whether the agent can be given a tool, and has another turn to use what it returns.

    An agent that has no tools of its own and ends its run with the first result would answer with an original.
    """
    attributes = vars(agent)
    if TOOLS not in attributes or not client.model_info["function_calling"]:
        return False
    own = [tool for bench in attributes[TOOLS] for tool in getattr(bench, "_tools", [bench])]
    if any(getattr(tool, "name", "") == RECALL_TOOL_NAME for tool in own):
        return False
    goes_on = attributes.get("_max_tool_iterations", 1) > 1
    return bool(own or goes_on or attributes.get("_reflect_on_tool_use"))
