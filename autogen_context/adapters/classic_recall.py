"""The tool ``recall_context`` for agents of classic AutoGen: ``autogen`` up to 0.14, pyautogen 0.2 to 0.9.

Promise: each agent gets back what left its own window, also where one agent runs the tools of several. Nothing here
imports the host.

In classic AutoGen the agent that asks a model does not run what the model calls: whom it talks to does, and in a group any
member that has the function. So the function is given to these, when they are known: before the agent's reply.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, cast

from autogen_context.adapters.classic_conversations import ChatDict, Conversations
from autogen_context.messages.tool_schema import (
    RECALL_TOOL_NAME,
    answer_recall,
    has_recall_tool,
    recall_tool_schema,
)


class CallingAgent(Protocol):
    """What is used of the ``ConversableAgent`` that asks a model."""

    @property
    def llm_config(self) -> Any:
        """An ``LLMConfig``, a dict, or ``False``."""
        ...

    @property
    def chat_messages(self) -> Mapping[Any, Any]:
        """Its conversations, by whom it talks to."""
        ...

    def update_tool_signature(self, tool_sig: Any, is_remove: bool) -> None:  # noqa: FBT001 - the host's signature
        """Tell the model of a tool."""
        ...


class RunningAgent(Protocol):
    """What is used of a ``ConversableAgent`` that may run tools."""

    @property
    def function_map(self) -> dict[str, Callable[..., Any]]:
        """The functions that it runs, by name."""
        ...

    def register_function(self, function_map: dict[str, Callable[..., Any]]) -> None:
        """Run these functions as well."""
        ...


class RecallHook:
    """Gives an agent the tool, if it has tools at all, and the function to those who run its calls.

    Args:
        agent: the agent that asks a model.
        conversations: what was prepared for it.
    """

    def __init__(self, agent: CallingAgent, conversations: Conversations) -> None:
        self._agent = agent
        self._conversations = conversations

    def before_reply(self, messages: list[ChatDict]) -> list[ChatDict]:
        """Note whose model is asked now; the messages stay as they are."""
        config = cast(
            "dict[str, Any]", self._agent.llm_config or {}
        )  # the host's own, of any values
        tools: list[dict[str, Any]] = config.get("tools") or []
        if not tools or not messages or runs_tools(messages[-1]):
            return messages
        for executor in executors_of(self._agent):
            recall = executor.function_map.get(RECALL_TOOL_NAME)
            if recall is None:
                recall = Answering().recall_context
                executor.register_function({RECALL_TOOL_NAME: recall})
            answering: object = getattr(recall, "__self__", None)
            if not isinstance(answering, Answering):
                warnings.warn(
                    f"an agent has a function {RECALL_TOOL_NAME!r} of its own: give that another name, or what left the window "
                    "cannot be asked back",
                    stacklevel=2,
                )
                return messages
            answering.conversations = self._conversations
        if not has_recall_tool(tools):
            self._agent.update_tool_signature(recall_tool_schema(), is_remove=False)
        return messages


def executors_of(agent: CallingAgent) -> Iterator[RunningAgent]:
    """Who may run what an agent's model calls: whom it talks to, and in a group itself and the members that run tools."""
    for peer in [agent, *agent.chat_messages]:
        group = getattr(peer, "groupchat", None)
        members = [
            member
            for member in getattr(group, "agents", ())
            if getattr(member, "function_map", None)
        ]
        running = [each for each in [peer, *members] if hasattr(each, "register_function")]
        yield from cast("list[RunningAgent]", running)  # they have what it needs


class Answering:
    """The function of one executor, which is not told who calls it: it answers for the agent that spoke last.

    Attributes:
        conversations: those of that agent.
    """

    conversations: Conversations | None = None

    def recall_context(self, **arguments: object) -> str:
        """Answer a call; see ``RECALL_ARGUMENTS``."""
        if self.conversations is None or self.conversations.last_prepared is None:
            return "Nothing has left this conversation so far: all of it is in sight."
        return answer_recall(self.conversations.manager, arguments)


def runs_tools(message: Mapping[str, object]) -> bool:
    """Whether the reply to this message is what tools return: no model is asked."""
    return bool(message.get("tool_calls") or message.get("function_call"))
