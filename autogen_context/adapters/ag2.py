"""Adapter for AG2 1.x: keeps an agent within its context window through a middleware around each model call.

Promise: every model request fits the window, system prompt and tools included; the history of a stream is never changed.

Why a middleware: a ``CompactStrategy`` rewrites the stored history permanently, between turns, and does not see the model
calls within a turn; an ``AssemblyPolicy`` sees neither tools nor usage. ``on_llm_call`` wraps each request and response.
"""

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import asdict, is_dataclass
from functools import partial
from typing import Any, Self, Unpack, cast

from ag2 import Agent
from ag2.annotations import Context
from ag2.context import ConversationContext
from ag2.events import BaseEvent, ModelRequest, ModelResponse, ToolCallEvent, ToolResultEvent
from ag2.knowledge import KnowledgeStore
from ag2.middleware import BaseMiddleware
from ag2.stream import MemoryStream
from ag2.tools.final import FunctionDefinition, FunctionToolSchema
from ag2.tools.schemas import ToolSchema
from ag2.tools.tool import Tool
from fast_depends.pydantic import PydanticSerializer
from typing_extensions import override

from autogen_context.adapters.ag2_format import Ag2Format, Payloads, Prompt, events_of
from autogen_context.adapters.register import AgentContext, settings_in, take_up
from autogen_context.errors import CompletionFailed
from autogen_context.manager.manager import IncrementalContextManager
from autogen_context.manager.parts import ManagerOptions
from autogen_context.manager.prepared import Prepared
from autogen_context.messages.tool_schema import (
    NOTHING_LEFT,
    RECALL_TOOL_NAME,
    answer_recall,
    recall_tool_schema,
)
from autogen_context.models.completion import Complete

CONVERSATIONS = 64  # managers kept per agent; the least recently used one is closed
STATE_PATH = "/autogen_context/{agent}/{stream}.json"  # in the agent's knowledge store
CACHED_BESIDE = frozenset({"anthropic", "bedrock"})  # bill cached input apart from prompt_tokens


class Ag2Context(AgentContext[BaseEvent]):
    """The context that ``register`` returns for an AG2 1.x agent, with one manager per stream.

    ``manager`` and ``last_prepared`` belong to the stream that was prepared last. If the agent has a knowledge store, the
    state of each conversation is saved there after each turn, so that another process can continue it.

    Attributes:
        agent: the registered agent.
    """

    def __init__(self, agent: Agent, options: ManagerOptions) -> None:
        self.agent = agent
        self._new_manager = partial(IncrementalContextManager, host=Ag2Format(), **options)
        self._conversations: OrderedDict[str, Conversation] = OrderedDict()
        self.manager = self._new_manager()  # for the first stream; usable before it starts
        self._first: IncrementalContextManager | None = self.manager
        self.last_prepared: Prepared[BaseEvent] | None = None

    def manager_of(self, stream_id: object) -> IncrementalContextManager | None:
        """Return the manager of the stream with this ``id``; ``None`` if it is unknown or was evicted."""
        conversation = self._conversations.get(str(stream_id))
        return conversation.manager if conversation else None

    async def conversation(self, context: Context) -> "Conversation":
        """Return the conversation of a stream; a new one is restored from the agent's knowledge store."""
        key = str(context.stream.id)
        conversation = self._conversations.get(key)
        if conversation is None:
            manager, self._first = self._first or self._new_manager(), None
            conversation = Conversation(manager)
            await conversation.load(self._store(context), self._path(key))
            self._conversations[key] = conversation
            while len(self._conversations) > CONVERSATIONS:
                _, oldest = self._conversations.popitem(last=False)
                await oldest.manager.aclose()
        self._conversations.move_to_end(key)
        self.manager = conversation.manager
        return conversation

    async def call_model(
        self,
        ask: Callable[..., Awaitable[ModelResponse]],
        events: Sequence[BaseEvent],
        context: Context,
    ) -> ModelResponse:
        """Send the model the prepared events and record the billed tokens, which calibrate the token count."""
        conversation = await self.conversation(context)
        prompt = conversation.prompt_of(context.prompt)
        payloads = [*([prompt] if prompt.text else []), *conversation.payloads.of(events)]
        prepared = await conversation.manager.prepare(payloads, schemas_of(ask))
        self.last_prepared = cast("Prepared[BaseEvent]", prepared)
        sent = prepared.messages[1:] if prompt.text else prepared.messages
        response = await ask(events_of(sent), context)
        usage = response.usage
        if usage.prompt_tokens:
            cached, billed = usage.cache_read_input_tokens or 0, usage.prompt_tokens
            if response.provider in CACHED_BESIDE:
                billed += cached + (usage.cache_creation_input_tokens or 0)
            conversation.manager.record_usage(
                prepared, prompt_tokens=int(billed), cached_tokens=int(cached)
            )
        return response

    async def turn_ended(self, context: Context) -> None:
        """Save the state of the conversation in the agent's knowledge store, if it has one."""
        key = str(context.stream.id)
        store, conversation = self._store(context), self._conversations.get(key)
        if store is not None and conversation is not None:
            state = await asyncio.to_thread(conversation.manager.save_state)
            await store.write(self._path(key), json.dumps(state))

    @override
    async def aclose(self) -> None:
        for conversation in self._conversations.values():
            await conversation.manager.aclose()
        await self.manager.aclose()

    def _path(self, stream: str) -> str:
        return STATE_PATH.format(agent=self.agent.name, stream=stream)

    @staticmethod
    def _store(context: Context) -> KnowledgeStore | None:
        store: object = context.dependencies.get(KnowledgeStore)
        return store if isinstance(store, KnowledgeStore) else None


class Conversation:
    """One stream: its manager and the payloads built from its events."""

    def __init__(self, manager: IncrementalContextManager) -> None:
        self.manager = manager
        self.payloads = Payloads()
        self._prompt = Prompt("")

    def prompt_of(self, prompts: Iterable[str]) -> Prompt:
        """Return the system prompt; the same object while the text is unchanged."""
        text = "\n".join(prompts)
        if text != self._prompt.text:
            self._prompt = Prompt(text)
        return self._prompt

    async def load(self, store: KnowledgeStore | None, path: str) -> None:
        """Load the state saved under ``path``, if there is one."""
        kept = await store.read(path) if store else None
        if kept is not None:
            take_up(self.manager, kept, place=path)


class ContextMiddleware(BaseMiddleware):
    """Prepares each model request of a turn; AG2 creates one instance per turn."""

    def __init__(self, event: BaseEvent, context: Context, *, of: Ag2Context) -> None:
        super().__init__(event, context)
        self._of = of

    @override
    async def on_turn(self, call_next: Any, event: BaseEvent, context: Context) -> ModelResponse:
        try:
            response: ModelResponse = await call_next(event, context)
            return response
        finally:
            await self._of.turn_ended(context)

    @override
    async def on_llm_call(
        self, call_next: Any, events: Sequence[BaseEvent], context: Context
    ) -> ModelResponse:
        return await self._of.call_model(call_next, events, context)


class RecallTool(Tool):
    """The ``recall_context`` tool, offered only to agents with other tools; answers for the calling stream."""

    name = RECALL_TOOL_NAME

    def __init__(self, of: Ag2Context) -> None:
        self._of = of

    def __deepcopy__(self, memo: object) -> Self:
        """Return the tool itself, since AG2 copies tools and this one is bound to its context."""
        return self

    @override
    async def schemas(self, context: Context) -> Iterable[ToolSchema]:
        if {tool.name for tool in self._of.agent.tools} <= {self.name}:
            return []
        function: Any = recall_tool_schema()["function"]
        return [FunctionToolSchema(function=FunctionDefinition(**function))]

    @override
    def register(
        self,
        stack: ExitStack | AsyncExitStack,
        context: Context,
        *,
        middleware: Iterable[BaseMiddleware] = (),
    ) -> None:
        async def answer(event: ToolCallEvent, context: Context) -> ToolResultEvent:
            manager = self._of.manager_of(context.stream.id)
            text = NOTHING_LEFT
            if manager is not None:
                text = await asyncio.to_thread(answer_recall, manager, event.arguments)
            return ToolResultEvent.from_call(event, result=text)

        execution: Callable[..., Awaitable[Any]] = answer
        for each in middleware:
            execution = partial(each.on_tool_execution, execution)

        async def execute(event: ToolCallEvent, context: Context) -> None:
            if event.name == RECALL_TOOL_NAME:
                await context.send(await execution(event, context))

        stack.enter_context(context.stream.where(ToolCallEvent).sub_scope(execute))


def register_ag2(
    agent: Agent, model: str | None = None, **options: Unpack[ManagerOptions]
) -> Ag2Context:
    """Keep an AG2 1.x agent within its context window; see ``autogen_context.register``."""
    if any(
        getattr(each.middleware, "func", None) is ContextMiddleware for each in agent.middleware
    ):
        raise ValueError("agent: it is registered already; register each once")
    named = getattr(agent.config, "model", None)
    said = {"model": named, "single_system": True, "reserve_tokens": 0}
    options["config"] = settings_in(model, options, said)
    if options.get("model_client") == "host":
        options["model_client"] = complete_with(agent)
    options.setdefault("clock", time.time)
    context = Ag2Context(agent, options)
    agent.add_tool(RecallTool(context))
    agent.add_middleware(partial(ContextMiddleware, of=context))
    return context


def schemas_of(ask: object) -> list[Mapping[str, object]]:
    """Return the tool and response schemas of a model call, read from the innermost partial."""
    while isinstance(ask, partial) and "tools" not in ask.keywords and ask.args:
        ask = ask.args[0]
    given = ask.keywords if isinstance(ask, partial) else {}
    schemas = [plain(tool) for tool in given.get("tools", ())]
    answer = getattr(given.get("response_schema"), "json_schema", None)
    return [*schemas, {"json_schema": answer}] if answer else schemas


def plain(schema: ToolSchema) -> Mapping[str, object]:
    """Return a tool schema as a mapping, in the form the API takes."""
    return asdict(schema) if is_dataclass(schema) else vars(schema)


def complete_with(agent: Agent) -> Complete:
    """Return a completion function for a ``SemanticCompressor`` that calls the agent's model."""
    serializer = PydanticSerializer(
        pydantic_config={"arbitrary_types_allowed": True}, use_fastdepends_errors=False
    )

    async def complete(prompt: str, /) -> str:
        if agent.config is None:
            raise CompletionFailed("the agent has no config of a model")
        response = await agent.config.create()(
            [ModelRequest.ensure_request([prompt])],
            ConversationContext(MemoryStream()),
            tools=[],
            response_schema=None,
            serializer=serializer,
        )
        if response.tool_calls or response.finish_reason in ("length", "content_filter"):
            raise CompletionFailed("it is broken off, filtered, or calls a tool")
        return response.content or ""

    return complete
