"""Adapter for autogen-agentchat 0.5.7 to 0.7: keeps an agent within its context window.

Promise: no request has an orphaned tool call or result or exceeds the window, system messages and tools included; a
registered agent's requests belong to the conversation of its context, any other request to another one; registering an
agent sets at most three attributes (named below), all of them or none.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Any, Unpack, cast

from autogen_core import CancellationToken, ComponentModel
from autogen_core.model_context import ChatCompletionContext
from autogen_core.models import (
    ChatCompletionClient,
    CreateResult,
    LLMMessage,
    ModelCapabilities,  # pyright: ignore[reportDeprecated]  # abstract in the base class
    ModelInfo,
    RequestUsage,
)
from autogen_core.tools import BaseTool, StaticWorkbench, Tool, ToolSchema
from pydantic import BaseModel
from typing_extensions import override

from autogen_context.adapters.agentchat_context import (
    AgentTool,
    ManagedChatCompletionContext,
    complete_with,
    schemas_of,
    with_completion,
)
from autogen_context.adapters.agentchat_format import AgentChatFormat
from autogen_context.adapters.provider_calls import within
from autogen_context.adapters.register import (
    REGISTERED,
    AgentContext,
    Bill,
    completed,
    sent_of,
)
from autogen_context.config.config import ContextConfig
from autogen_context.manager.options import ManagerOptions, takes_options
from autogen_context.messages.find_tools import FIND_TOOLS_NAME, answer_find, find_tools_schema
from autogen_context.messages.tool_schema import (
    RECALL_TOOL_NAME,
    answer_recall,
    recall_tool_schema,
)
from autogen_context.models.provider_call import ProviderCall

__all__ = [
    "AgentChatFormat",
    "AgentTool",
    "FindTool",
    "ManagedChatCompletionClient",
    "ManagedChatCompletionContext",
    "RecallTool",
    "complete_with",
    "register_agentchat",
]

# Attributes set by register: an AssistantAgent accepts a context only at construction. TOOLS is set only if it takes tools.
CLIENT, CONTEXT, TOOLS = "_model_client", "_model_context", "_workbench"

# Reserved for what a selector adds when a model's choice is no member, three times, and for the names before its messages.
SELECTION_TOKENS = 300

Tools = Sequence[Tool | ToolSchema]
Request = Sequence[LLMMessage]


def register_agentchat(
    agent: object, model: str | None, options: ManagerOptions
) -> AgentContext[LLMMessage]:
    """Keep an agent with a model client and a model context within its window; see ``autogen_context.register``."""
    attributes = vars(agent)
    if "_participants" in attributes:
        return register_team(agent, model, options)
    client, before = attributes.get(CLIENT), attributes.get(CONTEXT)
    if not isinstance(client, ChatCompletionClient) or not isinstance(
        before, ChatCompletionContext
    ):
        raise ValueError(  # noqa: TRY004 - a wrong argument is a ValueError here
            f"agent: register sets {CLIENT} and {CONTEXT} of an agent that asks a model, and this {type(agent).__name__} has "
            "none; where your release of autogen-agentchat names them otherwise, give the agent "
            "model_context=ManagedChatCompletionContext(...)"
        )
    if isinstance(client, RegisteredClient):
        raise ValueError(REGISTERED)  # noqa: TRY004 - likewise
    if isinstance(before, ManagedChatCompletionContext) and before.is_registered:
        raise ValueError(
            "agent: its context is that of another agent, which is registered; give each agent a "
            "ManagedChatCompletionContext of its own"
        )
    if not isinstance(before, ManagedChatCompletionContext):
        said = said_by(client) | {"agent": getattr(agent, "name", None)}
        options = completed(options, model, said=said, client=client)
        context = ManagedChatCompletionContext(**options)
        context.go_on_with(before)
    elif model is None and not options:
        context = before
    else:
        raise ValueError(
            "agent: it has a ManagedChatCompletionContext; give that these arguments, or give the agent none and register it"
        )
    context.is_registered = True
    changed: dict[str, Any] = {CLIENT: RegisteredClient(client, context), CONTEXT: context}
    benches = attributes.get(TOOLS)
    if client.model_info["function_calling"] and takes_tools(benches, attributes):
        strict = attributes.get("_output_content_type") is not None
        finds = FIND_TOOLS_NAME not in names_in(benches)
        if isinstance(benches, list):
            changed[TOOLS] = [*benches, RecallWorkbench(context, strict=strict, finds=finds)]
        else:  # agentchat 0.5 has a single workbench
            own = tools_of(benches)
            changed[TOOLS] = RecallWorkbench(context, own, strict=strict, finds=finds)
    attributes.update(changed)
    return context


def register_team(
    team: object, model: str | None, options: ManagerOptions
) -> AgentContext[LLMMessage]:
    """Keep a team's own requests, which choose who speaks next, within the window; its members are registered each by itself."""
    attributes = vars(team)
    client, before = attributes.get(CLIENT), attributes.get(CONTEXT)
    is_selector = {"_selector_prompt", CONTEXT} <= attributes.keys()
    is_orchestrator = "_max_stalls" in attributes  # MagenticOne's
    if not isinstance(client, ChatCompletionClient) or not (is_selector or is_orchestrator):
        raise ValueError(
            f"agent: a {type(team).__name__} asks no model by itself, or not in a way that is known here; register its members, "
            "each by itself"
        )
    ours = (ManagedChatCompletionContext, *(() if is_selector else (ManagedChatCompletionClient,)))
    if isinstance(before, ours) or isinstance(client, ours):
        raise ValueError(REGISTERED)  # noqa: TRY004 - likewise
    if attributes.get("_initialized"):
        raise ValueError(
            "agent: this team has run, and keeps what it began with; register a team before its first run"
        )
    named = {"agent": attributes.get("_name", "")}  # 0.5 has none
    if is_orchestrator:
        config = ContextConfig.for_entry(options.get("config"), {}, said=named)
        options = {**options, "config": config}
        managed = attributes[CLIENT] = ManagedChatCompletionClient(client, model, **options)
        return managed
    said = {**said_by(client), "reserve_tokens": SELECTION_TOKENS, **named}
    options = completed(options, model, said=said, client=client)
    prompt = selector_prompt(team)
    context = ManagedChatCompletionContext(system_message=prompt, tools=(), **options)
    if isinstance(before, ChatCompletionContext):
        context.go_on_with(before)
    attributes[CONTEXT] = context
    return context


def selector_prompt(team: Any) -> str:
    """Return what a selector's request has in addition to the history, which it makes into a text itself."""
    attributes = cast("Mapping[str, Any]", vars(team))
    participants = cast("Sequence[Any]", attributes["_participants"])
    members: list[tuple[str, str]] = [(each.name, each.description) for each in participants]
    prompt = str(attributes["_selector_prompt"])
    return prompt.format(
        roles="\n".join(f"{name}: {description}" for name, description in members),
        participants=str([name for name, _ in members]),
        history="",
    )


def takes_tools(benches: Any, attributes: Mapping[str, Any]) -> bool:
    """Return True if a tool can be added to the agent's workbenches and the agent can act on its result.

    An agent that has no tools and ends its run with the first tool result would answer with a recalled original.
    """
    if not isinstance(benches, list) and not hasattr(benches, "_tools"):
        return False
    own = names_in(benches)
    if RECALL_TOOL_NAME in own:
        return False
    goes_on = attributes.get("_max_tool_iterations", 1) > 1
    return bool(own or goes_on or attributes.get("_reflect_on_tool_use"))


def names_in(benches: Any) -> list[str]:
    """Return the names of the tools of one or several workbenches; that of a workbench that lists them later is empty."""
    if not isinstance(benches, list):
        return [getattr(tool, "name", "") for tool in tools_of(benches)]
    return [name for bench in cast("Sequence[Any]", benches) for name in names_in(bench)]


def tools_of(bench: Any) -> list[Any]:
    """Return the tools of a static workbench; any other workbench counts as a single tool."""
    return list(getattr(bench, "_tools", [bench]))


class ManagedChatCompletionClient(AgentContext[LLMMessage], ChatCompletionClient):
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

    @takes_options
    def __init__(
        self,
        client: ChatCompletionClient,
        model: str | None = None,
        **options: Unpack[ManagerOptions],
    ) -> None:
        self._client = client
        options = completed(options, model, said=said_by(client), client=client)
        super().__init__(AgentChatFormat(), with_completion(options))

    @override
    async def create(self, messages: Request, *, tools: Tools = (), **options: Any) -> CreateResult:
        """Send a request; raise ``ContextWindowExceeded`` if system prompt, tools and protected messages do not fit."""
        request, sent, bill, call = await self._turn(messages, tools, options)
        with call.scope():
            result = await self._client.create(request, tools=sent, **options)
        return recorded(result, call, bill)

    @override
    async def create_stream(
        self, messages: Request, *, tools: Tools = (), **options: Any
    ) -> AsyncGenerator[str | CreateResult, None]:
        """Send a request like ``create``; yield chunks of text, then the result."""
        request, sent, bill, call = await self._turn(messages, tools, options)
        async for chunk in within(call, self._client.create_stream(request, tools=sent, **options)):
            yield recorded(chunk, call, bill) if isinstance(chunk, CreateResult) else chunk

    async def _turn(
        self, request: Request, tools: Tools, options: Mapping[str, Any]
    ) -> tuple[Request, Tools, Bill, ProviderCall]:
        """Return what is sent of a request and of its tools, what records its bill, and the call of its client."""
        keeper = self._keeper_of(request)
        schemas = [*schemas_of(tools), *answer_schema(options)]
        call = keeper.calls.of(keeper.manager, self._client, grows=self._grows(keeper))
        required = self._required(tools, options)
        turn = await keeper.turn(keeper.manager, request, schemas, required=required)
        return turn.messages, sent_of(tools, schemas, turn.tools, redescribed), turn.bill, call

    def _required(self, tools: Tools, options: Mapping[str, Any]) -> Sequence[str]:  # noqa: ARG002 - for those who know more
        """Return the names of the tools that a request must have: that which the caller demands."""
        choice: object = options.get("tool_choice")
        return (choice.name,) if isinstance(choice, Tool) else ()

    def _keeper_of(self, request: Request) -> AgentContext[LLMMessage]:  # noqa: ARG002 - for those who keep several
        """Return whose manager prepares a request."""
        return self

    def _grows(self, keeper: AgentContext[LLMMessage]) -> bool:  # noqa: ARG002 - likewise
        """Return True if the next request goes on from this one."""
        return True

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


class RegisteredClient(ManagedChatCompletionClient):
    """The client of a registered agent: its requests belong to its context if they have exactly the context's messages.

    Any other request (such as a question with an added message) is not part of the conversation: a separate manager prepares
    it, unchanged while it fits.
    """

    def __init__(self, client: ChatCompletionClient, context: ManagedChatCompletionContext) -> None:
        super(ManagedChatCompletionClient, self).__init__(
            AgentChatFormat(), context.options_of_others()
        )
        self._client, self._context = client, context

    @override
    def _keeper_of(self, request: Request) -> AgentContext[LLMMessage]:
        return self._context if self._context.is_sent_in(request) else self

    @override
    def _grows(self, keeper: AgentContext[LLMMessage]) -> bool:
        return keeper is self._context

    @override
    def _required(self, tools: Tools, options: Mapping[str, Any]) -> Sequence[str]:
        """Return the same, and the agent's handoffs, which are the only tools that it hands on as such."""
        handoffs = [tool.name for tool in tools if isinstance(tool, Tool)]
        return [*super()._required(tools, options), *handoffs]


def said_by(client: ChatCompletionClient) -> dict[str, object]:
    """Return the settings a client declares for its model; no reserve, since every request is measured in full."""
    try:
        model: object = client.dump_component().config.get("model")
    except NotImplementedError:  # it has no declarative form
        model = None
    several = client.model_info.get("multiple_system_messages", False)
    return {"model": model, "single_system": not several, "reserve_tokens": 0}


def recorded(result: CreateResult, call: ProviderCall, bill: Bill) -> CreateResult:
    """Record what an answer was billed, nothing for one that came out of a cache, and return it with all of its prompt tokens.

    AutoGen's client for Claude leaves out those that were read from the provider's cache or written to it.
    """
    known = None if result.cached else call.billed
    if known is None:
        bill(0 if result.cached else result.usage.prompt_tokens, None)
        return result
    bill(*known)
    usage = RequestUsage(known.prompt_tokens, result.usage.completion_tokens)
    return result if usage == result.usage else result.model_copy(update={"usage": usage})


def answer_schema(options: Mapping[str, Any]) -> Sequence[Mapping[str, object]]:
    """Return the structured-output schema, if any; a provider counts it like a tool schema."""
    wanted: object = options.get("json_output")
    if not (isinstance(wanted, type) and issubclass(wanted, BaseModel)):
        return ()
    schema = {"name": wanted.__name__, "schema": wanted.model_json_schema()}
    return ({"type": "json_schema", "json_schema": schema},)


def redescribed(tool: Tool | ToolSchema, description: str) -> Tool | ToolSchema:
    """Return the schema of a tool with another description."""
    schema = tool.schema if isinstance(tool, Tool) else tool
    return cast("ToolSchema", {**schema, "description": description})


class Arguments(BaseModel, extra="allow"):
    """Whatever a model calls the tool with; the answer says what is wrong with it."""


class ContextTool(BaseTool[Arguments, Any]):  # a text
    """A tool of the agent that owns a context, and therefore not dumpable; ``register(agent)`` adds it by itself.

    With structured output OpenAI's client accepts only strict tools, whose arguments are all required.
    """

    def __init__(
        self,
        context: ManagedChatCompletionContext,
        make: Callable[[], Mapping[str, object]],
        *,
        strict: bool,
    ) -> None:
        function = cast("ToolSchema", make()["function"])
        name, description = function["name"], function.get("description", "")
        super().__init__(Arguments, str, name, description, strict=strict)
        self._context, self._make = context, make

    @property
    @override
    def schema(self) -> ToolSchema:
        schema = cast("ToolSchema", self._make()["function"])
        if self._strict and "parameters" in schema:
            schema["strict"] = True
            schema["parameters"]["required"] = [*schema["parameters"]["properties"]]
            schema["parameters"]["additionalProperties"] = False
        return schema

    @override
    def dump_component(self) -> ComponentModel:
        """Raise ``NotImplementedError``: a dumped function would have no context."""
        raise NotImplementedError(
            f"{self.name} belongs to the context of a running agent: dump the agent without it, and give "
            f"{type(self).__name__}(context) to the agent that was loaded"
        )


class RecallTool(ContextTool):
    """The tool ``recall_context`` for the agent that owns a context."""

    def __init__(self, context: ManagedChatCompletionContext, *, strict: bool = False) -> None:
        super().__init__(context, recall_tool_schema, strict=strict)

    @override
    async def run(self, args: Arguments, cancellation_token: CancellationToken) -> str:
        """Answer a call of the tool."""
        return await asyncio.to_thread(answer_recall, self._context.manager, args.model_dump())


class FindTool(ContextTool):
    """The tool ``find_tools`` for the agent that owns a context, whose client must be registered."""

    def __init__(self, context: ManagedChatCompletionContext, *, strict: bool = False) -> None:
        super().__init__(context, find_tools_schema, strict=strict)

    @override
    async def run(self, args: Arguments, cancellation_token: CancellationToken) -> str:
        """Answer a call of the tool."""
        return await asyncio.to_thread(answer_find, self._context.manager, args.model_dump())


class RecallWorkbench(StaticWorkbench):
    """A workbench with our tools and the agent's own; a dump omits ours, bound to its context."""

    def __init__(
        self,
        context: ManagedChatCompletionContext,
        own: Sequence[BaseTool[Any, Any]] = (),
        *,
        strict: bool = False,
        finds: bool = True,
    ) -> None:
        find = [FindTool(context, strict=strict)] if finds else []
        super().__init__([*own, RecallTool(context, strict=strict), *find])
        self._own = [*own]

    @override
    def dump_component(self) -> ComponentModel:
        return StaticWorkbench(self._own).dump_component()
