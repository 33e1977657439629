"""Adapter for Microsoft Agent Framework 1.x: keeps an agent within its context window through a chat middleware.

Promise: every model request fits the window, instructions and tools included; the messages of a session are never changed;
the manager's state is part of the session and saved with it; a run without a session is a conversation of its own, which
nothing outlives.

Why a middleware: a ``CompactionStrategy`` marks the stored messages themselves, and sees neither instructions nor tools nor
the provider's usage. A ``ChatMiddleware`` wraps each model call, inside the tool loop. It has to be the innermost one: with
``require_per_service_call_history_persistence`` the framework loads the history in a middleware of its own, which it appends
to those of the agent. So ``register`` also wraps the client's ``get_response``, which is called once per run with all of them.
"""

import asyncio
import warnings
from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from functools import partial
from inspect import signature
from itertools import chain
from typing import Any, Self, cast

from agent_framework import (
    Agent,
    AgentSession,
    ChatContext,
    ChatMiddleware,
    ChatResponse,
    FunctionInvocationContext,
    FunctionTool,
    HistoryProvider,
    Message,
    ResponseStream,
)
from typing_extensions import override

from autogen_context.adapters.agent_framework_format import AgentFrameworkFormat
from autogen_context.adapters.register import (
    REGISTERED,
    AgentContext,
    Prompt,
    completed,
    sent_of,
    take_up,
)
from autogen_context.manager.manager import IncrementalContextManager
from autogen_context.manager.options import ManagerOptions
from autogen_context.messages.find_tools import (
    FIND_DESCRIPTION,
    FIND_TOOLS_NAME,
    answer_find,
    chosen_in,
    find_tools_schema,
    is_find_tool,
)
from autogen_context.messages.tool_schema import (
    RECALL_DESCRIPTION,
    RECALL_TOOL_NAME,
    answer_recall,
    recall_tool_schema,
)
from autogen_context.models.completion import whole

if "session" not in signature(ChatContext).parameters:  # before 1.11
    raise ImportError("its ChatContext has no session")

Schema = Callable[[], Mapping[str, object]]
# Providers whose clients send a system message as one wherever it stands; Anthropic's makes a person's message of it (1.0b).
SYSTEM_ANYWHERE = frozenset({"openai", "azure.ai.openai"})
STATE_KEY = "autogen_context"  # prefix of each agent's key in the session state
KEPT_BY_SERVICE = (
    "the service keeps the history of this conversation (store=True, or a conversation_id), so what it sends to the model is "
    'not managed and can outgrow the window; give the agent default_options={"store": False} and a session without a '
    "service_session_id"
)


class SessionState:
    """Holds a conversation's manager in the session state, so that it is saved with the session."""

    def __init__(self, manager: IncrementalContextManager) -> None:
        self.manager = manager

    def to_dict(self) -> dict[str, object]:
        """Return the manager's state, for ``AgentSession.to_dict``."""
        return self.manager.save_state()

    def __deepcopy__(self, memo: object) -> Self:
        """Return a state with a branch of the manager, so that a copied session is independent."""
        return type(self)(self.manager.branch())


class AgentFrameworkContext(AgentContext[Message], ChatMiddleware):
    """The context that ``register`` returns for an Agent Framework agent: its middleware, with one manager per session.

    ``manager`` and ``last_prepared`` belong to the session that was prepared last.

    Attributes:
        agent: the registered agent.
    """

    def __init__(self, agent: Agent[Any], options: ManagerOptions) -> None:
        later = getattr(agent.client, "OTEL_PROVIDER_NAME", "") in SYSTEM_ANYWHERE
        sources = partial(sources_of, agent)
        host = AgentFrameworkFormat(agent.name or "", sources, later_system=later)
        super().__init__(host, options)
        self.agent = agent
        self._key = f"{STATE_KEY}:{agent.name or agent.id}"

    def manager_of(self, session: AgentSession | None) -> IncrementalContextManager:
        """Return the manager of a session, restored from its saved state if there is one; without a session a new one."""
        if session is None:
            return self._new_manager()
        kept: object = session.state.get(self._key)
        if isinstance(kept, SessionState):
            return kept.manager
        manager = self._new_manager()
        if isinstance(kept, Mapping):
            state = cast("Mapping[str, object]", kept)
            take_up(manager, state, place=f"session {session.session_id}")
        session.state[self._key] = SessionState(manager)
        return manager

    @override
    async def process(self, context: ChatContext, call_next: Callable[[], Awaitable[None]]) -> None:
        """Prepare a model request with the manager of its session."""
        await Run(self, context.session).process(context, call_next)

    def recall_tool(self) -> FunctionTool:
        """Return the ``recall_context`` tool, which retrieves originals for the run that calls it."""

        async def recall_context(ctx: FunctionInvocationContext, **arguments: object) -> str:
            return await asyncio.to_thread(answer_recall, self._manager_in(ctx), arguments)

        function: Any = recall_tool_schema()["function"]
        return FunctionTool(
            name=RECALL_TOOL_NAME,
            description=RECALL_DESCRIPTION,
            func=recall_context,
            input_model=function["parameters"],
        )

    def find_tool(self) -> FunctionTool:
        """Return the ``find_tools`` tool, which finds deferred tools for the run that calls it."""

        async def find_tools(ctx: FunctionInvocationContext, **arguments: object) -> str:
            return await asyncio.to_thread(answer_find, self._manager_in(ctx), arguments)

        function: Any = find_tools_schema()["function"]
        return FunctionTool(
            name=FIND_TOOLS_NAME,
            description=FIND_DESCRIPTION,
            func=find_tools,
            input_model=function["parameters"],
        )

    def _manager_in(self, ctx: FunctionInvocationContext) -> IncrementalContextManager | None:
        """Return the manager of the run that calls a tool; ``None`` outside a run and without a session."""
        run = RUN.get()
        if run is None or run.context is not self:  # it is called outside a run
            run = Run(self, ctx.session) if ctx.session else None
        return run.manager if run else None


class Run(ChatMiddleware):
    """One run of a registered agent; without a session its conversation, and the manager of that, end with it."""

    def __init__(self, context: AgentFrameworkContext, session: AgentSession | None) -> None:
        self.context = context
        self.manager = context.manager_of(session)
        self._call = context.calls.of(self.manager, context.agent.client)
        self._is_whole = session is None

    @override
    async def process(self, context: ChatContext, call_next: Callable[[], Awaitable[None]]) -> None:
        """Prepare one of its model requests, and record its billed tokens."""
        options = context.options or {}
        own = several(options.get("tools"))
        if options.get("conversation_id"):
            warnings.warn(KEPT_BY_SERVICE, stacklevel=2)
            all_tools = [each for each in own if not is_find_tool(schema_of(each))]
            context.options = {**options, "tools": all_tools} if own else options
            await call_next()
            return
        given, tools = [*with_reasoning(context.messages)], schemas_in_options(options)
        instructions = several(options.get("instructions"))
        prompt = Prompt("\n".join(map(str, instructions)), len(instructions))
        required = chosen_in(options.get("tool_choice"))
        turn = await self.context.turn(self.manager, given, tools, prompt=prompt, required=required)
        context.messages = [named(message, self.context.agent.name) for message in turn.messages]
        changed: dict[str, object] = {}
        if turn.prompt != prompt.text:
            changed["instructions"] = turn.prompt
        if own:
            changed["tools"] = sent_of(own, tools, turn.tools, redescribed)
        context.options = {**options, **changed} if changed else options

        self._call.billed = None

        def record(response: ChatResponse[Any]) -> ChatResponse[Any]:
            usage = response.usage_details or {}
            cached = usage.get("cache_read_input_token_count")
            # The framework leaves out what Anthropic bills apart.
            turn.bill(*(self._call.billed or (usage.get("input_token_count"), cached)))
            return response

        if context.stream:
            context.stream_result_hooks.append(record)
        await call_next()
        if isinstance(context.result, ChatResponse):
            record(context.result)

    @contextmanager
    def scope(self) -> Generator[None]:
        """Make this the run whose tools are called, and whose requests its provider's client sends."""
        token = RUN.set(self)
        try:
            with self._call.scope():
                yield
        finally:
            RUN.reset(token)

    async def whole(self, response: Awaitable[ChatResponse[Any]]) -> ChatResponse[Any]:
        """Await the response of a run, and end it."""
        try:
            with self.scope():
                return await response
        finally:
            await self.end()

    async def end(self) -> None:
        """End the conversation of a run without a session."""
        if self._is_whole:
            await self.manager.aclose()


RUN: ContextVar[Run | None] = ContextVar("autogen_context_run", default=None)


class ManagedCalls:
    """A client's ``get_response`` that gives each run of a registered agent a middleware of its own, the innermost one.

    Calls without the context of a registered agent, such as those of other agents with the same client, pass unchanged.
    """

    def __init__(self, ask: Callable[..., Any]) -> None:
        self._ask = ask

    def __call__(
        self, *messages: Any, client_kwargs: Mapping[str, Any] | None = None, **given: Any
    ) -> Any:
        """Ask the client, with the arguments of its ``get_response``."""
        kwargs = dict(client_kwargs or {})
        middleware = several(kwargs.get("middleware"))
        ours = [each for each in middleware if isinstance(each, AgentFrameworkContext)]
        if not ours:
            return self._ask(*messages, client_kwargs=client_kwargs, **given)
        run = Run(ours[0], kwargs.get("session"))
        kwargs["middleware"] = [*(each for each in middleware if each not in ours), run]
        response: Any = self._ask(*messages, client_kwargs=kwargs, **given)
        streams: Any = ResponseStream
        if isinstance(response, streams):
            return response.with_pull_context_manager(run.scope).with_cleanup_hook(run.end)
        return run.whole(response)


def register_agent_framework(
    agent: Agent[Any], model: str | None, options: ManagerOptions
) -> AgentFrameworkContext:
    """Keep an Agent Framework agent within its context window; see ``autogen_context.register``."""
    own = list(agent.middleware or ())
    if any(isinstance(each, AgentFrameworkContext) for each in own):
        raise ValueError(REGISTERED)
    if cast("object | None", agent.client) is None:
        raise ValueError("agent: it has no client and so sends nothing to a model; give it one")
    model_name = agent.default_options.get("model") or getattr(agent.client, "model", None)
    said = {"model": model_name, "reserve_tokens": 0, "agent": agent.name}
    options = completed(options, model, said=said, client=partial(complete_with, agent))
    context = AgentFrameworkContext(agent, options)
    keep_history_here(agent)
    agent.middleware = [*own, context]
    client: Any = agent.client
    if not isinstance(client.get_response, ManagedCalls):
        client.get_response = ManagedCalls(client.get_response)
    tools: list[Any] = agent.default_options.get("tools") or []
    if tools:
        names = {getattr(each, "name", "") for each in tools}
        find = [] if FIND_TOOLS_NAME in names else [context.find_tool()]
        agent.default_options["tools"] = [*tools, context.recall_tool(), *find]
    return context


def sources_of(agent: Agent[Any]) -> frozenset[str]:
    """Return the ids of the agent's context providers but for those of its history, which has what people said."""
    providers = (each for each in agent.context_providers if not isinstance(each, HistoryProvider))
    return frozenset(provider.source_id for provider in providers)


def keep_history_here(agent: Agent[Any]) -> None:
    """Set ``store=False`` for a client whose service keeps the history unless told otherwise, and say so."""
    store = agent.default_options.get("store")
    if store:
        warnings.warn(KEPT_BY_SERVICE, stacklevel=4)
    elif store is None and getattr(agent.client, "STORES_BY_DEFAULT", False):
        warnings.warn(
            f"the service of {type(agent.client).__name__} would keep the history, out of reach: register set "
            'default_options["store"] = False, so that the whole history is sent and managed; set it so yourself to silence '
            "this, or to True to leave the history with the service, unmanaged",
            stacklevel=4,
        )
        options = cast("dict[str, object]", agent.default_options)
        options["store"] = False


def named(message: Message, name: str | None) -> Message:
    """Return a model's answer with the agent's name.

    The framework sets the name only when a run ends; without it here, the next run would send different messages and miss
    the prompt cache.
    """
    if message.role != "assistant" or message.author_name is not None or not name:
        return message
    written = copy(message)
    written.author_name = name
    return written


def schemas_in_options(options: Mapping[str, Any]) -> list[Mapping[str, object]]:
    """Return the schemas sent with a request: those of the tools and of the response format."""
    given = (options.get("tools"), options.get("response_format"))
    return [schema_of(each) for each in chain.from_iterable(map(several, given))]


def schema_of(given: object) -> Mapping[str, object]:
    """Return the schema of a tool or of an answer; of one that has none, its text."""
    if isinstance(given, FunctionTool):
        return given.to_json_schema_spec()
    if isinstance(given, Mapping):
        return cast("Mapping[str, object]", given)
    schema = cast("Schema | None", getattr(given, "model_json_schema", None))  # of a pydantic model
    return schema() if schema else {"schema": str(given)}


def redescribed(tool: object, description: str) -> object:
    """Return a tool with another description."""
    changed: Any = copy(tool)
    changed.description = description
    return cast("object", changed)


def several(given: object) -> Sequence[object]:
    """Return what the framework takes as one or as several, always as several."""
    return cast(
        "Sequence[object]", given if isinstance(given, list | tuple) else [given] if given else ()
    )


def with_reasoning(messages: Iterable[Message]) -> Iterator[Message]:
    """Yield the messages, merging reasoning-only messages into the next assistant message; no provider takes one alone."""
    waiting: list[Message] = []
    for message in messages:
        joined = message
        if message.role == "assistant":
            if {content.type for content in message.contents} == {"text_reasoning"}:
                waiting.append(message)
                continue
            if waiting:
                joined = copy(message)
                joined.contents = [each for one in (*waiting, message) for each in one.contents]
                waiting = []
        yield from (*waiting, joined)
        waiting = []
    yield from waiting


async def complete_with(agent: Agent[Any], prompt: str, /) -> str:
    """Ask the agent's client for a ``SemanticCompressor``."""
    response = await agent.client.get_response([Message("user", [prompt])])
    return whole(response.text, response.finish_reason)
