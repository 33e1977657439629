"""The tool ``recall_context`` for agents of classic AutoGen: ``autogen`` up to 0.14, pyautogen 0.2 to 0.9.

Promise: each agent gets back what left its own window, also where one agent runs the tools of several. Nothing here
imports the host.
"""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from autogen_context.adapters.classic import BEFORE_REPLY
from autogen_context.adapters.classic_conversations import ChatDict
from autogen_context.messages.tool_schema import (
    RECALL_TOOL_NAME,
    RecallsContext,
    answer_recall,
    recall_tool_schema,
)


class HasConversations(Protocol):
    """What ``ContextTransform.add_to_agent`` returns, as far as the tool needs it."""

    @property
    def manager(self) -> RecallsContext | None:
        """Who answers for the conversation of the last turn; ``None`` before the first."""
        ...


class CallingAgent(Protocol):
    """What is used of the ``ConversableAgent`` that asks a model."""

    def update_tool_signature(self, tool_sig: Any, is_remove: bool) -> None:  # noqa: FBT001 - the host's signature
        """Tell the model of a tool."""
        ...

    def register_hook(self, hookable_method: str, hook: Callable[..., Any]) -> None:
        """Let a callable take part in a method of the agent."""
        ...


class RunningAgent(Protocol):
    """What is used of the ``ConversableAgent`` that runs tools."""

    @property
    def function_map(self) -> dict[str, Callable[..., Any]]:
        """The functions that it runs, by name."""
        ...

    def register_function(self, function_map: dict[str, Callable[..., Any]]) -> None:
        """Run these functions as well."""
        ...


def add_recall_tool(
    conversations: HasConversations, *, caller: CallingAgent, executor: RunningAgent
) -> None:
    """Let an agent ask back what left its window.

    Args:
        conversations: what ``ContextTransform.add_to_agent`` gave for the caller.
        caller: the agent whose model is told of the tool.
        executor: the agent that runs the caller's tools; it may run those of several, one after the other.

    Raises:
        ValueError: the executor has a function of this name that is not ours.
    """
    recall = executor.function_map.get(RECALL_TOOL_NAME)
    answering = Answering() if recall is None else answering_of(recall)
    if recall is None:
        executor.register_function({RECALL_TOOL_NAME: answering.recall_context})
    caller.update_tool_signature(recall_tool_schema(), is_remove=False)
    caller.register_hook(BEFORE_REPLY, answering.when_asked(conversations))


class Answering:
    """The function of one executor, which is not told who calls it: it answers for the agent that spoke last."""

    def __init__(self) -> None:
        self._last: HasConversations | None = None

    def when_asked(
        self, conversations: HasConversations
    ) -> Callable[[list[ChatDict]], list[ChatDict]]:
        """The hook of a caller, by which it is known that its model is asked now."""

        def note(messages: list[ChatDict]) -> list[ChatDict]:
            if messages and not runs_tools(messages[-1]):
                self._last = conversations
            return messages

        return note

    def recall_context(self, **arguments: object) -> str:
        """Answer a call; see ``RECALL_ARGUMENTS``."""
        recaller = self._last.manager if self._last is not None else None
        if recaller is None:
            return "Nothing has left this conversation so far: all of it is in sight."
        return answer_recall(recaller, arguments)


def runs_tools(message: Mapping[str, object]) -> bool:
    """Whether the reply to this message is what tools return: no model is asked."""
    return bool(message.get("tool_calls") or message.get("function_call"))


def answering_of(recall: Callable[..., Any]) -> Answering:
    """What answers behind a function that is registered already.

    Raises:
        ValueError: it is somebody else's.
    """
    owner: object = getattr(recall, "__self__", None)
    if not isinstance(owner, Answering):
        raise ValueError(  # noqa: TRY004 - the argument is of the right type, what is in it is not
            f"executor: it has a function {RECALL_TOOL_NAME!r} already; give that another name"
        )
    return owner
