"""What an agent of autogen-agentchat is given beside its context: a client that tells of requests, and the recall tool.

Promise: every request goes out as the agent made it, or, where what stands around the context was not known when it
was prepared, prepared once more with that; a bill is recorded only for the request that the context prepared.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Annotated, Any, Unpack

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
from autogen_core.tools import BaseTool, FunctionTool, StaticWorkbench, Tool, ToolSchema
from pydantic import BaseModel
from typing_extensions import override

from autogen_context.adapters.agentchat_context import (
    ManagedChatCompletionContext,
    envelope_around,
    envelope_of,
    managers_of,
)
from autogen_context.adapters.register import settings_in
from autogen_context.manager.manager import IncrementalContextManager
from autogen_context.manager.parts import ManagerOptions
from autogen_context.manager.prepared import Prepared
from autogen_context.messages.tool_schema import (
    RECALL_ARGUMENTS,
    RECALL_DESCRIPTION,
    RECALL_TOOL_NAME,
    recall_arguments,
)

Tools = Sequence[Tool | ToolSchema]
Request = Sequence[LLMMessage]
Record = Callable[[CreateResult], None]


class ManagedChatCompletionClient(ChatCompletionClient):
    """A client whose requests all fit the window, for one that keeps its messages itself.

    Such are the orchestrator of a ``MagenticOneGroupChat`` and agents of your own that have no model context. An agent that has
    one is registered instead.

    Args:
        client: who is asked.
        model: name of its model; left out, as the client says.
        options: as for ``IncrementalContextManager``.

    Attributes:
        last_prepared: the last request with its certificate and decisions.
    """

    component_type = "model"

    def __init__(
        self,
        client: ChatCompletionClient,
        model: str | None = None,
        **options: Unpack[ManagerOptions],
    ) -> None:
        options["config"] = settings_in(model, options, said_by(client))
        self._begin(client, managers_of(options, client))
        self.manager  # noqa: B018  # what is wrong with an argument is said now

    def _begin(
        self, client: ChatCompletionClient, new_manager: Callable[[], IncrementalContextManager]
    ) -> None:
        self._client = client
        self._new_manager = new_manager
        self.last_prepared: Prepared[LLMMessage] | None = None

    @cached_property
    def manager(self) -> IncrementalContextManager:
        """That of the requests which come through here."""
        return self._new_manager()

    @override
    async def create(self, messages: Request, *, tools: Tools = (), **options: Any) -> CreateResult:
        """Send a request; ``ContextWindowExceeded`` where, with system prompt and tools, what must stay does not fit."""
        request, record = await self._measured(messages, tools, options)
        result = await self._client.create(request, tools=tools, **options)
        record(result)
        return result

    @override
    async def create_stream(
        self, messages: Request, *, tools: Tools = (), **options: Any
    ) -> AsyncGenerator[str | CreateResult, None]:
        """Send a request, as ``create`` does; chunks of text, then the result."""
        request, record = await self._measured(messages, tools, options)
        async for chunk in self._client.create_stream(request, tools=tools, **options):
            if isinstance(chunk, CreateResult):
                record(chunk)
            yield chunk

    async def _measured(
        self, request: Request, tools: Tools, options: Mapping[str, Any]
    ) -> tuple[Request, Record]:
        """The request to send, and what records its bill."""
        schemas = envelope_of((), [*tools, *answer_schema(options)]).schemas
        self.last_prepared = await self.manager.prepare(request, schemas)
        return self.last_prepared.messages, partial(record_bill, self.manager, self.last_prepared)

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


class MeteredChatCompletionClient(ManagedChatCompletionClient):
    """A client for the one agent that has this context; it does what the client within does.

    A request is the context's if it is system messages and then what the context handed out last, the same objects, and
    nothing else. Others (a question with something added) are no part of the conversation: they go out as they are while they
    fit, through a manager of their own. Answers from a cache, and streams without usage, are not recorded.
    """

    def __init__(self, client: ChatCompletionClient, context: ManagedChatCompletionContext) -> None:
        self._begin(client, context.manager_beside)
        self._context = context

    @override
    async def _measured(
        self, request: Request, tools: Tools, options: Mapping[str, Any]
    ) -> tuple[Request, Record]:
        context = self._context
        around = envelope_around(context.handed_out, request, [*tools, *answer_schema(options)])
        if around is None:
            return await super()._measured(request, tools, options)
        if around != context.envelope:
            context.envelope = around
            before = [SystemMessage(content=text) for text in around.system]
            request = [*before, *await context.get_messages()]
        return request, partial(record_bill, context.manager, context.last_prepared)


def record_bill(
    manager: IncrementalContextManager, prepared: Prepared[LLMMessage] | None, result: CreateResult
) -> None:
    """Tell a manager what its request was billed, where that is known."""
    billed = result.usage.prompt_tokens
    if prepared is not None and billed and not result.cached:
        manager.record_usage(prepared, prompt_tokens=billed)


def said_by(client: ChatCompletionClient) -> dict[str, object]:
    """What a client says of its model; what goes through it needs no reserve."""
    several = client.model_info.get("multiple_system_messages", False)
    return {"model": model_of(client), "single_system": not several, "reserve_tokens": 0}


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
    """A ``FunctionTool`` that belongs to one context, and so cannot be dumped without it.

    Where the answers have a schema OpenAI's client takes strict tools alone, which name all arguments as required.
    """

    def __init__(self, context: ManagedChatCompletionContext, *, strict: bool = False) -> None:
        self._is_strict = strict

        async def recall_context(
            handle: Annotated[str, RECALL_ARGUMENTS["handle"]] = "",
            query: Annotated[str, RECALL_ARGUMENTS["query"]] = "",
            lines: Annotated[str, RECALL_ARGUMENTS["lines"]] = "",
        ) -> str:
            return await asyncio.to_thread(context.manager.recall_context, handle, query, lines)

        super().__init__(recall_context, RECALL_DESCRIPTION, name=RECALL_TOOL_NAME)

    @property
    @override
    def schema(self) -> ToolSchema:
        schema = super().schema
        if self._is_strict and "parameters" in schema:
            schema["strict"] = True
            schema["parameters"]["required"] = [*RECALL_ARGUMENTS]
        return schema

    @override
    async def run_json(
        self,
        args: Mapping[str, Any],
        cancellation_token: CancellationToken,
        call_id: str | None = None,
    ) -> Any:
        """Answer a call, with its arguments as the texts that they should be."""
        more = {} if call_id is None else {"call_id": call_id}  # unknown to autogen-core 0.5
        return await super().run_json(recall_arguments(args), cancellation_token, **more)

    @override
    def dump_component(self) -> ComponentModel:
        """Refuse: the function that would be dumped knows no context."""
        raise NotImplementedError(
            "recall_context belongs to the context of a running agent: dump the agent without it, and give "
            "recall_tool(context) to the agent that was loaded"
        )


class RecallWorkbench(StaticWorkbench):
    """The tool as a workbench, with the agent's own where that has one; a dump is without it: its context is the agent's."""

    def __init__(
        self,
        context: ManagedChatCompletionContext,
        own: Sequence[BaseTool[Any, Any]] = (),
        *,
        strict: bool = False,
    ) -> None:
        super().__init__([*own, RecallTool(context, strict=strict)])
        self._own = [*own]

    @override
    def dump_component(self) -> ComponentModel:
        return StaticWorkbench(self._own).dump_component()
