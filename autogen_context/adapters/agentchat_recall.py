"""The tool ``recall_context`` for agents of autogen-agentchat.

Promise: what the model asks for, the manager of the agent's context answers; arguments of the wrong type are understood
where they can be.
"""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any, Protocol

from autogen_core import CancellationToken, ComponentModel
from autogen_core.tools import FunctionTool, StaticStreamWorkbench
from typing_extensions import override

from autogen_context.messages.tool_schema import (
    RECALL_ARGUMENTS,
    RECALL_DESCRIPTION,
    RECALL_TOOL_NAME,
    RecallsContext,
    recall_arguments,
)


class HasManager(Protocol):
    """A model context, as far as the tool needs it."""

    @property
    def manager(self) -> RecallsContext:
        """Who answers."""
        ...


def recall_tool(context: HasManager) -> FunctionTool:
    """The tool for the agent that has this context; ``register(agent)`` adds it by itself.

    Args:
        context: the agent's ``ManagedChatCompletionContext``.

    Returns:
        A tool for the agent's ``tools``; each agent needs its own, since its context is its own.
    """
    return RecallTool(context)


class RecallTool(FunctionTool):
    """A ``FunctionTool`` that belongs to one context, and so cannot be dumped without it.

    Args:
        context: whose manager answers.
    """

    def __init__(self, context: HasManager) -> None:
        async def recall_context(
            handle: Annotated[str, RECALL_ARGUMENTS["handle"]] = "",
            query: Annotated[str, RECALL_ARGUMENTS["query"]] = "",
            lines: Annotated[str, RECALL_ARGUMENTS["lines"]] = "",
        ) -> str:
            return await asyncio.to_thread(context.manager.recall_context, handle, query, lines)

        super().__init__(recall_context, RECALL_DESCRIPTION, name=RECALL_TOOL_NAME)

    @override
    async def run_json(
        self,
        args: Mapping[str, Any],
        cancellation_token: CancellationToken,
        call_id: str | None = None,
    ) -> Any:
        """Answer a call, with its arguments as the texts that they should be."""
        return await super().run_json(recall_arguments(args), cancellation_token, call_id)

    @override
    def dump_component(self) -> ComponentModel:
        """Refuse: the function that would be dumped knows no context.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError(
            "recall_context belongs to the context of a running agent: dump the agent without it, and give "
            "recall_tool(context) to the agent that was loaded"
        )


class RecallWorkbench(StaticStreamWorkbench):
    """The tool as a workbench beside the agent's own; a dump has it empty, since its context is the running agent's.

    Args:
        context: whose manager answers.
    """

    def __init__(self, context: HasManager) -> None:
        super().__init__([RecallTool(context)])

    @override
    def dump_component(self) -> ComponentModel:
        """An empty workbench: ``register`` adds the tool to the agent that is loaded."""
        return StaticStreamWorkbench([]).dump_component()
