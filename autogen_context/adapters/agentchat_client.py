"""What an agent of autogen-agentchat is given beside its context: a client that tells of requests, and the recall tool.

Promise: every request goes out as the agent made it, or, where what stands around the context was not known when it
was prepared, prepared once more with that; a bill is recorded only for the request that the context prepared.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Annotated, Any

from autogen_core import CancellationToken, ComponentModel
from autogen_core.models import (
    ChatCompletionClient,
    CreateResult,
    LLMMessage,
    ModelCapabilities,  # pyright: ignore[reportDeprecated]  # abstract in the base class
    ModelInfo,
    RequestUsage,
    SystemMessage,
)
from autogen_core.tools import FunctionTool, StaticStreamWorkbench, Tool, ToolSchema
from pydantic import BaseModel
from typing_extensions import override

from autogen_context.adapters.agentchat_context import (
    ManagedChatCompletionContext,
    envelope_around,
)
from autogen_context.manager.prepared import Prepared
from autogen_context.messages.tool_schema import (
    RECALL_ARGUMENTS,
    RECALL_DESCRIPTION,
    RECALL_TOOL_NAME,
    recall_arguments,
)

Tools = Sequence[Tool | ToolSchema]
Request = Sequence[LLMMessage]


class MeteredChatCompletionClient(ChatCompletionClient):
    """A client for the one agent that has this context; it does what the client within does.

    A request is the context's if it is system messages and then what the context handed out last, the same objects, and
    nothing else. Others (another agent's, a team's selector, a question with something added) go through untouched and
    are not recorded. Neither are answers from a cache, and streams without usage.
    """

    component_type = "model"

    def __init__(self, client: ChatCompletionClient, context: ManagedChatCompletionContext) -> None:
        self._client = client
        self._context = context

    @override
    async def create(self, messages: Request, *, tools: Tools = (), **options: Any) -> CreateResult:
        """Send a request; ``ContextWindowExceeded`` where, with system prompt and tools, what must stay does not fit."""
        request, prepared = await self._measured(messages, tools, options)
        result = await self._client.create(request, tools=tools, **options)
        self._record(prepared, result)
        return result

    @override
    async def create_stream(
        self, messages: Request, *, tools: Tools = (), **options: Any
    ) -> AsyncGenerator[str | CreateResult, None]:
        """Send a request, as ``create`` does; chunks of text, then the result."""
        request, prepared = await self._measured(messages, tools, options)
        async for chunk in self._client.create_stream(request, tools=tools, **options):
            if isinstance(chunk, CreateResult):
                self._record(prepared, chunk)
            yield chunk

    async def _measured(
        self, request: Request, tools: Tools, options: Mapping[str, Any]
    ) -> tuple[Request, Prepared[LLMMessage] | None]:
        """The request to send, and how it was prepared; ``None`` if it is not the context's."""
        context = self._context
        around = envelope_around(context.handed_out, request, [*tools, *answer_schema(options)])
        if around is None:
            return request, None
        if around != context.envelope:
            context.envelope = around
            before = [SystemMessage(content=text) for text in around.system]
            request = [*before, *await context.get_messages()]
        return request, context.last_prepared

    def _record(self, prepared: Prepared[LLMMessage] | None, result: CreateResult) -> None:
        billed = result.usage.prompt_tokens
        if prepared is not None and billed and not result.cached:
            self._context.manager.record_usage(prepared, prompt_tokens=billed)

    # All else is the client's within.

    @override
    async def close(self) -> None:
        await self._client.close()

    @override
    def actual_usage(self) -> RequestUsage:
        return self._client.actual_usage()

    @override
    def total_usage(self) -> RequestUsage:
        return self._client.total_usage()

    @override
    def count_tokens(self, messages: Request, *, tools: Tools = ()) -> int:
        return self._client.count_tokens(messages, tools=tools)

    @override
    def remaining_tokens(self, messages: Request, *, tools: Tools = ()) -> int:
        return self._client.remaining_tokens(messages, tools=tools)

    @property
    @override
    def capabilities(self) -> ModelCapabilities:  # pyright: ignore[reportDeprecated]  # abstract in the base class
        return self._client.capabilities

    @property
    @override
    def model_info(self) -> ModelInfo:
        return self._client.model_info

    @override
    def dump_component(self) -> ComponentModel:
        """The client within: a context cannot be named in a component, so an agent that is loaded is not metered."""
        return self._client.dump_component()


def answer_schema(options: Mapping[str, Any]) -> Sequence[ToolSchema]:
    """The schema that an answer must have, which a provider counts as it counts a tool's."""
    wanted: object = options.get("json_output")
    if not (isinstance(wanted, type) and issubclass(wanted, BaseModel)):
        return ()
    parameters: Any = wanted.model_json_schema()  # AutoGen's type names fewer keys than it has
    return (ToolSchema(name=wanted.__name__, parameters=parameters),)


def model_of(client: ChatCompletionClient) -> str:
    """The name of a client's model; empty where the client has no declarative form that says it."""
    try:
        declared: Mapping[str, object] = client.dump_component().config
    except NotImplementedError:
        return ""
    name = declared.get("model")
    return name if isinstance(name, str) else ""


def recall_tool(context: ManagedChatCompletionContext) -> FunctionTool:
    """The tool for the ``tools`` of the one agent that has this context; ``register(agent)`` adds it by itself."""
    return RecallTool(context)


class RecallTool(FunctionTool):
    """A ``FunctionTool`` that belongs to one context, and so cannot be dumped without it."""

    def __init__(self, context: ManagedChatCompletionContext) -> None:
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
        """Refuse: the function that would be dumped knows no context."""
        raise NotImplementedError(
            "recall_context belongs to the context of a running agent: dump the agent without it, and give "
            "recall_tool(context) to the agent that was loaded"
        )


class RecallWorkbench(StaticStreamWorkbench):
    """The tool as a workbench beside the agent's own; a dump has it empty, since its context is the running agent's."""

    def __init__(self, context: ManagedChatCompletionContext) -> None:
        super().__init__([RecallTool(context)])

    @override
    def dump_component(self) -> ComponentModel:
        return StaticStreamWorkbench([]).dump_component()
