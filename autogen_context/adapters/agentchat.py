"""Keep the agents of autogen-agentchat 0.7 inside their window.

Promise: no request leaves with an orphaned call or result, or above the window, as far as what the agent adds is known.

``register_agentchat``
    puts an agent inside its window as it is; ``autogen_context.register`` does the same for an agent of any host.
``ManagedChatCompletionContext``
    a ``model_context`` for any agent, declarative, with state.
``MeteredChatCompletionClient``
    a client that tells such a context of system prompt, tools and bills; ``register`` puts it around the agent's.
``recall_tool``
    the tool with which an agent asks back what left its window.
``complete_with``
    lets the agent's own model client summarise.
``AgentChatFormat``
    how messages are read and written, for an ``IncrementalContextManager`` of your own.
"""

from importlib.util import find_spec

from autogen_context.errors import MissingExtra

if find_spec("autogen_core") is None:
    raise MissingExtra("agentchat", needed_for=__name__)

from autogen_context.adapters.agentchat_context import ManagedChatCompletionContext
from autogen_context.adapters.agentchat_envelope import AgentTool, Envelope
from autogen_context.adapters.agentchat_format import AgentChatFormat
from autogen_context.adapters.agentchat_metering import MeteredChatCompletionClient
from autogen_context.adapters.agentchat_recall import recall_tool
from autogen_context.adapters.agentchat_register import register_agentchat
from autogen_context.adapters.agentchat_summary import complete_with

__all__ = [
    "AgentChatFormat",
    "AgentTool",
    "Envelope",
    "ManagedChatCompletionContext",
    "MeteredChatCompletionClient",
    "complete_with",
    "recall_tool",
    "register_agentchat",
]
