"""Model clients for autogen-agentchat that observe or manage requests, and the recall tool.

Promise: a registered agent's request is sent unchanged, or prepared again if its system messages or tools were not known
when the context was prepared; usage is recorded only for the request that was prepared.
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
    """A model client that fits every request into the window, for callers that keep their own messages.

    Examples are the orchestrator of a ``MagenticOneGroupChat`` and custom agents without a model context. Use ``register``
    for agents that have one.

    Args:
        client: the client that sends the requests.
        model: name of its model; by default the name the client declares.
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
        self.manager  # noqa: B018  # raises for bad arguments now, not at the first request

    def _begin(
        self, client: ChatCompletionClient, new_manager: Callable[[], IncrementalContextManager]
    ) -> None:
        self._client = client
        self._new_manager = new_manager
        self.last_prepared: Prepared[LLMMessage] | None = None

    @cached_property
    def manager(self) -> IncrementalContextManager:
        """The manager of the requests sent through this client."""
        return self._new_manager()

    @override
    async def create(self, messages: Request, *, tools: Tools = (), **options: Any) -> CreateResult:
        """Send a request; raise ``ContextWindowExceeded`` if system prompt, tools and protected messages do not fit."""
        request, record = await self._measured(messages, tools, options)
        result = await self._client.create(request, tools=tools, **options)
        record(result)
        return result

    @override
    async def create_stream(
        self, messages: Request, *, tools: Tools = (), **options: Any
    ) -> AsyncGenerator[str | CreateResult, None]:
        """Send a request like ``create``; yield chunks of text, then the result."""
        request, record = await self._measured(messages, tools, options)
        async for chunk in self._client.create_stream(request, tools=tools, **options):
            if isinstance(chunk, CreateResult):
                record(chunk)
            yield chunk

    async def _measured(
        self, request: Request, tools: Tools, options: Mapping[str, Any]
    ) -> tuple[Request, Record]:
        """Return the request to send and a callback that records its usage."""
        schemas = envelope_of((), [*tools, *answer_schema(options)]).schemas
        self.last_prepared = await self.manager.prepare(request, schemas)
        return self.last_prepared.messages, partial(record_bill, self.manager, self.last_prepared)

    # Everything else is delegated to the wrapped client.

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
        """Dump the wrapped client only: a component cannot refer to a context, so a loaded agent is not metered."""
        return self._client.dump_component()


class MeteredChatCompletionClient(ManagedChatCompletionClient):
    """A client that reports the requests of one registered agent to its context and passes them on.

    A request belongs to the context if it consists of system messages followed by exactly the objects the context returned
    last. Any other request (such as a question with an added message) is not part of the conversation: a separate manager
    prepares it, unchanged while it fits. Cached responses and streams without usage are not recorded.
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
    """Record the billed prompt tokens of a request, if known and not served from a cache."""
    billed = result.usage.prompt_tokens
    if prepared is not None and billed and not result.cached:
        manager.record_usage(prepared, prompt_tokens=billed)


def said_by(client: ChatCompletionClient) -> dict[str, object]:
    """Return the settings a client declares for its model; no reserve, since every request is measured in full."""
    several = client.model_info.get("multiple_system_messages", False)
    return {"model": model_of(client), "single_system": not several, "reserve_tokens": 0}


def answer_schema(options: Mapping[str, Any]) -> Sequence[ToolSchema]:
    """Return the structured-output schema, if any; a provider counts it like a tool schema."""
    wanted: object = options.get("json_output")
    if not (isinstance(wanted, type) and issubclass(wanted, BaseModel)):
        return ()
    parameters: Any = wanted.model_json_schema()  # AutoGen's type declares only some of its keys
    return (ToolSchema(name=wanted.__name__, parameters=parameters),)


def model_of(client: ChatCompletionClient) -> str:
    """Return the model name of a client; empty if the client cannot be dumped or declares none."""
    try:
        declared: Mapping[str, object] = client.dump_component().config
    except NotImplementedError:
        return ""
    name = declared.get("model")
    return name if isinstance(name, str) else ""


def recall_tool(context: ManagedChatCompletionContext) -> FunctionTool:
    """Return the recall tool for the agent that owns this context; ``register(agent)`` adds it automatically."""
    return RecallTool(context)


class RecallTool(FunctionTool):
    """A ``FunctionTool`` bound to one context, and therefore not dumpable.

    With structured output OpenAI's client accepts only strict tools, whose arguments are all required.
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
        """Run a tool call, with its arguments converted to strings."""
        more = {} if call_id is None else {"call_id": call_id}  # unknown to autogen-core 0.5
        return await super().run_json(recall_arguments(args), cancellation_token, **more)

    @override
    def dump_component(self) -> ComponentModel:
        """Raise ``NotImplementedError``: a dumped function would have no context."""
        raise NotImplementedError(
            "recall_context belongs to the context of a running agent: dump the agent without it, and give "
            "recall_tool(context) to the agent that was loaded"
        )


class RecallWorkbench(StaticWorkbench):
    """A workbench with the recall tool and the agent's own tools; a dump omits the recall tool, bound to its context."""

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
