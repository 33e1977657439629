"""One line for an agent of any known host.

Promise: an agent is inside its window from its next request on, as it is; an agent of no known host is refused by
naming those that are known. No host is imported but that of the agent.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Unpack

from autogen_context.adapters.agent_context import AgentContext
from autogen_context.manager.given import ManagerOptions

Entry = Callable[..., AgentContext[Any]]

HOSTS: Mapping[str, tuple[str, str, str]] = {
    "ChatAgent": ("autogen_agentchat", "agentchat_register", "register_agentchat"),
    "ConversableAgent": ("autogen", "classic", "register_classic"),
}
"""A class that every agent of a host has among its own: the host's package, our module, and the function in it."""


def register(
    agent: object, model: str | None = None, **options: Unpack[ManagerOptions]
) -> AgentContext[Any]:
    """Keep an agent inside its window from its next request on, without losing what it will need.

    System prompt and tools are measured, what the provider bills corrects the count, and an agent that takes tools gets
    ``recall_context``, by which it has back what left its window.

    Args:
        agent: an ``AssistantAgent`` of autogen-agentchat 0.7 (of it ``_model_client``, ``_model_context`` and ``_workbench``
            are set, since it has no public way), or a ``ConversableAgent`` of classic AutoGen (through its hooks).
        model: name of the agent's model; left out, as the agent's own settings say.
        options: as for ``IncrementalContextManager``; ``window_tokens`` is the one to begin with.

    Returns:
        Whom to ask: ``explain``, ``pin``, ``last_prepared``, and ``manager`` for the rest.

    Raises:
        ValueError: the agent is of no known host or registered already, or a setting makes no sense.
    """
    for kind in type(agent).__mro__:
        package, module, function = HOSTS.get(kind.__name__, ("", "", ""))
        if package and kind.__module__.partition(".")[0] == package:
            entry: Entry = getattr(import_module(f"{__package__}.{module}"), function)
            return entry(agent, model, **options)
    found = f"{type(agent).__module__}.{type(agent).__qualname__}"
    raise ValueError(
        f"agent: {found} is no agent of a known host; known are an AssistantAgent of autogen-agentchat 0.7 and a "
        "ConversableAgent of classic AutoGen (autogen, pyautogen up to 0.9); with a list of OpenAI messages use "
        "IncrementalContextManager"
    )
