"""Adapter for AG2 1.x: keeps an agent within its context window through a middleware around each model call.

Promise: every model request fits the window, system prompt and tools included; the history of a stream is never changed; a
conversation is a stream or, in a network, which opens a stream for each turn, the agent's part in a channel.

Why a middleware: a ``CompactStrategy`` rewrites the stored history permanently, between turns, and does not see the model
calls within a turn; an ``AssemblyPolicy`` sees neither tools nor usage. ``on_llm_call`` wraps each request and response.
"""

import asyncio
import json
import logging
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from copy import copy
from dataclasses import asdict, is_dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, Self, cast

from ag2 import Agent, tool
from ag2.annotations import Context
from ag2.config import OpenAIConfig, OpenAIResponsesConfig
from ag2.events import BaseEvent, ModelRequest, ModelResponse
from ag2.knowledge import KnowledgeStore
from ag2.middleware import BaseMiddleware
from ag2.tools.schemas import ToolSchema
from ag2.tools.tool import Tool
from typing_extensions import override

from autogen_context.adapters.ag2_format import Ag2Format, events_of, payloads_of, text_of
from autogen_context.adapters.register import (
    REGISTERED,
    AgentContext,
    completed,
    sent_of,
    take_up,
)
from autogen_context.config import ContextConfig
from autogen_context.errors import CompletionFailed
from autogen_context.manager.manager import IncrementalContextManager
from autogen_context.manager.options import ManagerOptions
from autogen_context.messages.find_tools import (
    FIND_DESCRIPTION,
    FIND_TOOLS_NAME,
    answer_find,
    find_tools_schema,
)
from autogen_context.messages.message import Origin
from autogen_context.messages.tool_schema import (
    RECALL_DESCRIPTION,
    RECALL_TOOL_NAME,
    answer_recall,
    recall_tool_schema,
)
from autogen_context.models.completion import whole

logger = logging.getLogger(__name__)
CONVERSATIONS = 64  # managers kept per agent; the least recently used one is closed
STATE_PATH = "/autogen_context/{agent}/{stream}.json"  # in the agent's knowledge store
# What a network's turn brings along (``ag2.network.policies``, whose import would load the network).
CHANNEL, CLIENT, HUB = "ag2.network.channel", "ag2.network.agent_client", "ag2.network.hub"
# The stream of each agent's outermost turn that is under way here.
TURNS: ContextVar[Mapping[Agent, str]] = ContextVar(
    "autogen_context_turns", default=MappingProxyType({})
)
# With the clients of these a system message can stand anywhere (``ProviderCall.system_text``).
SYSTEM_ANYWHERE = (OpenAIConfig, OpenAIResponsesConfig)
CACHED_APART = frozenset({"anthropic", "bedrock"})  # bill cached input apart from prompt_tokens


class Ag2Context(AgentContext[BaseEvent], BaseMiddleware):
    """The context that ``register`` returns for an AG2 1.x agent: its middleware, with one manager per conversation.

    ``manager`` and ``last_prepared`` belong to the conversation that was prepared last. If the agent has a knowledge store, the
    state of each conversation is saved there after each turn, so that another process can continue it.

    Attributes:
        agent: the registered agent.
    """

    def __init__(self, agent: Agent, options: ManagerOptions) -> None:
        config = options.get("config") or ContextConfig()
        self._later = isinstance(agent.config, SYSTEM_ANYWHERE) and not config.single_system
        super().__init__(Ag2Format(later_system=self._later), options)
        self.agent = agent
        self._managers: OrderedDict[str, IncrementalContextManager] = OrderedDict()

    def __call__(self, event: BaseEvent, context: Context) -> Self:  # noqa: ARG002 - AG2 asks for the middleware of each turn
        """Return the middleware of a turn; one serves all, since its state is that of the streams."""
        return self

    def manager_of(self, conversation: object) -> IncrementalContextManager | None:
        """Return the manager of the stream with this ``id``, or of ``"<channel_id>:<agent_id>"`` in a network.

        ``None`` if it is unknown or was evicted.
        """
        return self._managers.get(str(conversation))

    @property
    def conversations(self) -> Sequence[str]:
        """What ``manager_of`` takes for the kept conversations, the one used last at the end."""
        return tuple(self._managers)

    def _conversation_in(self, context: Context) -> str:
        """Return the key of a turn's conversation; a turn within a channel's turn, as of a sub-task, has its stream's."""
        stream, channel = str(context.stream.id), channel_of(context, self.agent)
        outer = TURNS.get().get(self.agent, stream)
        return channel if channel and outer == stream else stream

    @override
    async def on_turn(self, call_next: Any, event: BaseEvent, context: Context) -> ModelResponse:
        """Run a turn, then save the state of the conversation in the agent's knowledge store, if it has one."""
        key, turns = self._conversation_in(context), TURNS.get()
        token, response = TURNS.set({self.agent: str(context.stream.id), **turns}), None
        try:
            response = cast("ModelResponse", await call_next(event, context))
            return response
        finally:
            TURNS.reset(token)
            try:
                await self._save(key, store_in(context))
            except Exception as error:
                if response is not None:
                    raise
                # The error of the turn is raised.
                logger.warning("the context was not saved after a failed turn: %r", error)

    @override
    async def on_llm_call(
        self, call_next: Any, events: Sequence[BaseEvent], context: Context
    ) -> ModelResponse:
        """Send the model the prepared events and record the billed tokens, which calibrate the token count."""
        manager, prompt = await self._manager_in(context), "\n".join(context.prompt)
        given, schemas = payloads_of(events), schemas_of(call_next)
        turn = await self.turn(manager, given, schemas, prompt=prompt)
        call = self.calls.of(manager, client_of(call_next), system_text=turn.system_text)
        sent, front = events_of(turn.messages), turn.prompt
        if turn.system_text and not call.system_text:  # this turn asks another client
            sent, front = without(sent, turn.system_text), f"{front}\n\n{turn.system_text}"
        if front != prompt:
            context = copy(context)  # the agent's own is the turn's, and keeps its prompt
            context.prompt = [front]
        tools = sent_of(tools_in(call_next), schemas, turn.tools, redescribed)
        with call.scope():
            response: ModelResponse = await with_tools(call_next, tools)(sent, context)
        usage = response.usage
        cached, billed = usage.cache_read_input_tokens, usage.prompt_tokens
        if billed and response.provider in CACHED_APART:
            billed += (cached or 0) + (usage.cache_creation_input_tokens or 0)
        turn.bill(billed, cached)
        return response

    @override
    async def aclose(self) -> None:
        for manager in {self.manager, *self._managers.values()}:
            await manager.aclose()

    async def _manager_in(self, context: Context) -> IncrementalContextManager:
        """Return the manager of a conversation; a new one is restored from the agent's knowledge store."""
        key, store = self._conversation_in(context), store_in(context)
        in_channel = key not in self._managers and key == channel_of(context, self.agent)
        author: Origin = await asked_by(context) if in_channel else "person"
        # From here on nobody else has a turn until it is there again.
        known = self._managers.pop(key, None)
        manager = known or (self._new_manager() if self._managers else self.manager)
        if known is None and in_channel:
            host = Ag2Format(author, later_system=self._later)
            manager = self._new_manager(host=host, config=self._config_of_channel())
        self._managers[key] = manager
        state = None if known or store is None else await store.read(self._path(key))
        if state is not None:
            take_up(manager, state, place=self._path(key))
        if len(self._managers) > CONVERSATIONS:
            _, oldest = self._managers.popitem(last=False)
            await oldest.aclose()
        return manager

    def _config_of_channel(self) -> ContextConfig:
        """Return the settings of a conversation in a channel, whose log only grows: what a turn does not show was not deleted."""
        config = self._options.get("config") or ContextConfig()
        if config.on_host_removal != "auto":
            return config
        return config.model_copy(update={"on_host_removal": "keep"})

    async def _save(self, key: str, store: KnowledgeStore | None) -> None:
        manager = self.manager_of(key)
        if store is not None and manager is not None:
            state = await asyncio.to_thread(manager.save_state)
            await store.write(self._path(key), json.dumps(state))

    def _path(self, key: str) -> str:
        return STATE_PATH.format(agent=self.agent.name, stream=key.replace(":", "/"))

    def recall_tool(self) -> Tool:
        """Return the ``recall_context`` tool, which retrieves originals for the conversation that calls it."""

        async def recall_context(
            context: Context, handle: Any = "", query: Any = "", lines: Any = ""
        ) -> str:
            manager = self.manager_of(self._conversation_in(context))
            arguments = {"handle": handle, "query": query, "lines": lines}
            return await asyncio.to_thread(answer_recall, manager, arguments)

        function: Any = recall_tool_schema()["function"]
        return tool(
            recall_context,
            name=RECALL_TOOL_NAME,
            description=RECALL_DESCRIPTION,
            schema=function["parameters"],
        )

    def find_tool(self) -> Tool:
        """Return the ``find_tools`` tool, which finds deferred tools for the conversation that calls it."""

        async def find_tools(context: Context, query: Any = "") -> str:
            manager = self.manager_of(self._conversation_in(context))
            return await asyncio.to_thread(answer_find, manager, {"query": query})

        function: Any = find_tools_schema()["function"]
        return tool(
            find_tools,
            name=FIND_TOOLS_NAME,
            description=FIND_DESCRIPTION,
            schema=function["parameters"],
        )


def register_ag2(agent: Agent, model: str | None, options: ManagerOptions) -> Ag2Context:
    """Keep an AG2 1.x agent within its context window; see ``autogen_context.register``."""
    if any(isinstance(each.middleware, Ag2Context) for each in agent.middleware):
        raise ValueError(REGISTERED)
    named = getattr(agent.config, "model", None)
    single = not isinstance(agent.config, SYSTEM_ANYWHERE)
    said = {"model": named, "single_system": single, "reserve_tokens": 0, "agent": agent.name}
    options = completed(options, model, said=said, client=partial(complete_with, agent))
    context = Ag2Context(agent, options)
    if agent.tools:
        names = {each.name for each in agent.tools}
        agent.add_tool(context.recall_tool())
        if FIND_TOOLS_NAME not in names:
            agent.add_tool(context.find_tool())
    agent.add_middleware(context)
    return context


def channel_of(context: Context, agent: Agent) -> str:
    """Return the channel and the participant of a network's turn of this agent; empty for any other turn."""
    channel, client = context.dependencies.get(CHANNEL), context.dependencies.get(CLIENT)
    if channel is None or client is None or client.agent is not agent:
        return ""
    return f"{channel.channel_id}:{client.agent_id}"


async def asked_by(context: Context) -> Origin:
    """Return whose the requests in a network's channel are: people's if nobody else takes part, since they do not name the sender."""
    client, hub = context.dependencies[CLIENT], context.dependencies.get(HUB)
    others = {each.agent_id for each in context.dependencies[CHANNEL].metadata.participants}
    for participant in others - {client.agent_id}:
        if hub is None or (await hub.get_agent(participant)).kind != "human":
            return "unknown"
    return "person"


def store_in(context: Context) -> KnowledgeStore | None:
    """Return the agent's knowledge store, if it has one."""
    store: object = context.dependencies.get(KnowledgeStore)
    return store if isinstance(store, KnowledgeStore) else None


def innermost(ask: object) -> Mapping[str, Any]:
    """Return what the innermost partial of a model call gives the client."""
    while isinstance(ask, partial) and "tools" not in ask.keywords and ask.args:
        ask = ask.args[0]
    return ask.keywords if isinstance(ask, partial) else {}


def tools_in(ask: object) -> Sequence[ToolSchema]:
    """Return the tools of a model call."""
    return tuple(innermost(ask).get("tools", ()))


def with_tools(ask: Any, tools: Sequence[ToolSchema]) -> Any:
    """Return a model call with these tools in place of its own."""
    call: Any = ask
    if not isinstance(ask, partial):
        return call
    args, keywords = call.args, call.keywords
    if "tools" in keywords:
        keywords = {**keywords, "tools": list(tools)}
    elif args:
        args = (with_tools(args[0], tools), *args[1:])
    return partial(call.func, *args, **keywords)


def schemas_of(ask: object) -> list[Mapping[str, object]]:
    """Return the tool and response schemas of a model call, in the form the API takes."""
    schemas = [plain(tool) for tool in tools_in(ask)]
    answer = getattr(innermost(ask).get("response_schema"), "json_schema", None)
    return [*schemas, {"json_schema": answer}] if answer else schemas


def client_of(ask: object) -> object:
    """Return the client of a model call, around which AG2 builds partials."""
    while isinstance(ask, partial):
        ask = ask.func if "tools" in ask.keywords or not ask.args else ask.args[0]
    return ask


def redescribed(schema: ToolSchema, description: str) -> ToolSchema:
    """Return the schema of a function with another description."""
    changed: Any = copy(schema)
    changed.function = replace(changed.function, description=description)
    return cast("ToolSchema", changed)


def without(events: Sequence[BaseEvent], text: str) -> list[BaseEvent]:
    """Return the events without the last request that says this text."""
    asks = [i for i, each in enumerate(events) if isinstance(each, ModelRequest)]
    found = next(
        i for i in reversed(asks) if text_of(cast("ModelRequest", events[i]).parts) == text
    )
    return [*events[:found], *events[found + 1 :]]


def plain(schema: ToolSchema) -> Mapping[str, object]:
    """Return a tool schema as a mapping."""
    return asdict(schema) if is_dataclass(schema) else vars(schema)


async def complete_with(agent: Agent, prompt: str, /) -> str:
    """Ask the agent's model for a ``SemanticCompressor``, without the agent's prompt and tools."""
    if agent.config is None:
        raise CompletionFailed("the agent has no config of a model")
    reply = await Agent(agent.name, config=agent.config).ask(prompt)
    return whole(reply.response.content, reply.response.finish_reason)
