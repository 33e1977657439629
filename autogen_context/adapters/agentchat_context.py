"""Model context for autogen-agentchat that keeps its agent within the context window.

Promise: alone, the result of ``get_messages`` fits the window together with the system prompt and tools that it was told, and
with the reserve for what it was not told; the context of a registered agent gives all messages, and the agent's client fits
them into the window. The internal list is never returned; a conversation restored from a saved state sends byte-identical
requests in another process.
"""

import asyncio
import warnings
from collections.abc import Callable, Mapping, Sequence
from operator import is_
from typing import Any, Self, Unpack, cast

from autogen_core import Component
from autogen_core.model_context import ChatCompletionContext, ChatCompletionContextState
from autogen_core.models import (
    AssistantMessage,
    ChatCompletionClient,
    LLMMessage,
    SystemMessage,
    UserMessage,
)
from autogen_core.tools import FunctionTool, Tool, ToolSchema
from pydantic import BaseModel, ConfigDict, Field, model_validator
from typing_extensions import override

from autogen_context.adapters.agentchat_format import AgentChatFormat, as_llm_message
from autogen_context.adapters.register import AgentContext, completed
from autogen_context.argument import listed
from autogen_context.config.config import ContextConfig
from autogen_context.manager.options import ManagerOptions, takes_options
from autogen_context.messages.piece import BETWEEN
from autogen_context.models.completion import Complete, whole

Json = dict[str, Any]  # AutoGen's schema type would drop the keys that it does not declare
AgentTool = Tool | ToolSchema | Callable[..., object]
"""A tool as accepted by ``AssistantAgent``, or its schema."""


class ManagedContextConfig(BaseModel):
    """Component config of a ``ManagedChatCompletionContext``; folders are stored as paths, a project as its arguments."""

    model_config = ConfigDict(extra="forbid")

    settings: Json = Field(default_factory=Json)
    system_message: str | None = None
    tools: list[Json] | None = None
    initial_messages: list[LLMMessage] | None = None
    files: str | None = None
    project: str | Json | None = None

    @model_validator(mode="before")
    @classmethod
    def _settings_in_their_place(cls, given: object) -> object:
        """Raise an error that says where a setting belongs if it is outside ``settings``."""
        if isinstance(given, Mapping):
            names = cast("Mapping[object, object]", given).keys()
            misplaced = sorted(set(map(str, names)) & ContextConfig.model_fields.keys() - {"tools"})
            if misplaced:
                raise ValueError(
                    f"{misplaced[0]} belongs into 'settings': {{'settings': {{{misplaced[0]!r}: ...}}}}"
                )
        return given  # pyright: ignore[reportUnknownVariableType]  # validated next


class ManagedChatCompletionContext(
    AgentContext[LLMMessage], ChatCompletionContext, Component[ManagedContextConfig]
):
    """A ``model_context`` for any agent of autogen-agentchat; each agent needs its own instance.

    An agent adds its system prompt and tools outside its context. ``register(agent)`` measures both. To
    use the context alone, pass them here; otherwise 1,000 tokens are reserved for each of the two that is missing (an eighth
    of a window below 8,000), or ``reserve_tokens`` for both.

    Args:
        model: name of the model; determines the limit and the tokenizer.
        system_message: the agent's system prompt; ``""`` if it has none.
        tools: the agent's tools or their schemas.
        initial_messages: the first messages of the conversation.
        options: all other arguments of ``IncrementalContextManager`` except ``host``. Settings and folders are part of the
            component's configuration; pass the others again to a loaded context.

    Attributes:
        manager: gives access to usage, versions, changes and the rest of the API.
        is_registered: True if an agent was registered with this context.
        last_prepared: the last request with its certificate and decisions; begins with the system prompt, if known.

    Raises:
        ValueError: a setting is invalid; the message names it, its value and a fix.
    """

    component_config_schema = ManagedContextConfig
    component_provider_override = "autogen_context.adapters.agentchat.ManagedChatCompletionContext"

    @takes_options
    def __init__(
        self,
        model: str | None = None,
        *,
        system_message: str | None = None,
        tools: Sequence[AgentTool] | None = None,
        initial_messages: Sequence[LLMMessage] | None = None,
        **options: Unpack[ManagerOptions],
    ) -> None:
        give = "a list of messages, such as [UserMessage(...)]"
        given = listed("initial_messages", initial_messages or (), give=give)
        ChatCompletionContext.__init__(self, [as_llm_message(each) for each in given] or None)
        self._system_message = system_message
        self._tools = None if tools is None else schemas_of(tools)
        unseen = [system_message, tools].count(None)
        options = with_completion(completed(options, model, unseen=unseen))
        super().__init__(AgentChatFormat(), options)
        self.is_registered = False
        self._answered_by = ""
        self._is_answer_due = False

    @property
    def messages(self) -> Sequence[LLMMessage]:
        """The conversation: all messages that were added."""
        return tuple(self._messages)

    @override
    async def add_message(self, message: LLMMessage) -> None:
        """Add a message; warn if another agent than the one that was sent the last request answers it."""
        await super().add_message(as_llm_message(message))
        if self._is_answer_due and isinstance(message, AssistantMessage):
            # The first assistant message after a request comes from the agent that sent it.
            first = self._answered_by = self._answered_by or message.source
            if message.source != first:
                warnings.warn(
                    f"the agents {first!r} and {message.source!r} share one context, so that each is sent what the other was "
                    "told; give each agent a ManagedChatCompletionContext of its own, or register(agent) each",
                    stacklevel=2,
                )
        self._is_answer_due = False

    def go_on_with(self, other: ChatCompletionContext) -> None:
        """Copy the conversation of another context."""
        self._messages = list(other._messages)  # noqa: SLF001 - the base class's saved state
        self._initial_messages = other._initial_messages  # noqa: SLF001 - likewise

    @override
    async def get_messages(self) -> list[LLMMessage]:
        """Return the messages to send after the agent's own system messages, as a new list; all, for a registered agent.

        Raises:
            ContextWindowExceeded: the protected messages do not fit. The error has the numbers as attributes and ends the
                agent's run; nothing is lost, so the run can continue after ``manager.unpin`` or with a larger window.
            InvalidTranscript: a tool call or result is missing and ``config.orphans`` is ``"refuse"``.
        """
        self._is_answer_due = True
        if self.is_registered:
            return list(self._messages)
        prompt = self._system_message or ""
        before = [SystemMessage(content=prompt)] if prompt else []
        prepared = self.last_prepared = await self.manager.prepare(
            [*before, *self._messages], self._tools
        )
        return without(prompt, prepared.messages)

    def is_sent_in(self, request: Sequence[LLMMessage]) -> bool:
        """Whether a request has system messages and then exactly the messages of this context."""
        own, start = self._messages, len(request) - len(self._messages)
        if start < 0 or not all(isinstance(each, SystemMessage) for each in request[:start]):
            return False
        return all(map(is_, request[start:], own)) or all(
            sent is each or (isinstance(each, UserMessage) and not isinstance(each.content, str))
            for sent, each in zip(request[start:], own, strict=True)
        )  # agentchat takes images out for models that accept none, in copies

    def options_of_others(self) -> ManagerOptions:
        """Return the options of a manager for requests that are not of the conversation: the same settings, nothing injected."""
        given = self._options
        return ManagerOptions(
            config=self.manager.config, counter=given.get("counter"), limits=given.get("limits")
        )

    @override
    async def clear(self) -> None:
        """Clear the conversation: its messages, pins, versions, and the originals of what left its window, wherever they are.

        Raises:
            StoreUnavailable: a store of originals cannot be written now, so some may still be there; the rest is cleared.
        """
        await super().clear()
        old = self.manager
        await self._begin_anew()
        await asyncio.to_thread(old.clear_originals)

    @override
    async def aclose(self) -> None:
        """Stop the background work; a person's memory gets the last answer, which no request shows."""
        if self._options.get("memory") is not None:
            await asyncio.to_thread(self.manager.observe, list(self._messages))
        await super().aclose()

    async def _begin_anew(self) -> None:
        old, self.manager = self.manager, self._new_manager()
        self.last_prepared = None
        await old.aclose()

    @override
    async def save_state(self) -> Mapping[str, Any]:
        """Return all messages and the manager's state as JSON data."""
        return {
            **await super().save_state(),
            "manager": await asyncio.to_thread(self.manager.save_state),
        }

    @override
    async def load_state(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state, or from that of any other model context: ``{"messages": [...]}``.

        Raises:
            ValidationError: the saved state is damaged; nothing was changed.
            StateError: the manager's state is damaged or has a newer schema; nothing was changed.
        """
        messages = ChatCompletionContextState.model_validate(state).messages
        if "manager" in state:
            self.manager.load_state(state["manager"])
        else:
            await self._begin_anew()
        self._messages = messages

    @override
    def _to_config(self) -> ManagedContextConfig:
        files, project = self._options.get("files"), self._options.get("project")
        settings = getattr(project, "settings", str(project))
        return ManagedContextConfig(
            settings=self.manager.config.model_dump(mode="json", exclude_unset=True),
            system_message=self._system_message,
            tools=self._tools,
            initial_messages=self._initial_messages,
            files=str(getattr(files, "root", files)) if files else None,
            project=settings if project else None,
        )

    @classmethod
    @override
    def _from_config(cls, config: ManagedContextConfig) -> Self:
        from autogen_context.project.project import ProjectContext  # noqa: PLC0415 - optional

        project = config.project
        return cls(
            system_message=config.system_message,
            tools=cast("list[AgentTool] | None", config.tools),  # schemas, as they were saved
            initial_messages=config.initial_messages,
            config=ContextConfig(**config.settings),
            files=config.files,
            project=ProjectContext(**project) if isinstance(project, dict) else project,
        )


def without(prompt: str, request: list[LLMMessage]) -> list[LLMMessage]:
    """Return a prepared request without the agent's own system prompt.

    If the model accepts only one system message, the leading ones were joined and the prompt is cut out of it.
    """
    if not prompt:
        return request
    first, *rest = request
    more = str(first.content).removeprefix(prompt).removeprefix(BETWEEN)
    return [SystemMessage(content=more), *rest] if more else rest


def schemas_of(tools: Sequence[AgentTool]) -> list[Json]:
    """Return the schemas, in OpenAI's format, of tools, functions (as ``AssistantAgent`` wraps them) or schemas."""
    schemas: list[Json] = []
    for tool in tools:
        schema: Any = tool
        if isinstance(tool, Tool):
            schema = tool.schema
        elif callable(tool):
            schema = FunctionTool(tool, description=tool.__doc__ or "").schema
        if not isinstance(schema, dict) or not {"name", "function"}.intersection(
            cast("Json", schema)
        ):
            raise ValueError(
                f"tools: a tool, a function or a schema with a name is wanted, not {tool!r}"
            )
        function = cast("Json", schema).get("function", schema)  # as a component saved it
        schemas.append({"type": "function", "function": dict(function)})
    return schemas


def with_completion(options: ManagerOptions) -> ManagerOptions:
    """Return the options with a client of AutoGen's as a completion function."""
    client = options.get("model_client")
    if isinstance(client, ChatCompletionClient):
        return {**options, "model_client": complete_with(client)}
    return options


def complete_with(client: ChatCompletionClient) -> Complete:
    """Return a completion function for a ``SemanticCompressor`` that calls this client.

    It raises ``CompletionFailed`` for a tool call and for truncated or filtered text; the client's errors and cancellation
    propagate. The client is not closed.
    """

    async def complete(prompt: str, /) -> str:
        result = await client.create([UserMessage(content=prompt, source="user")])
        is_text = isinstance(result.content, str)
        return whole(result.content, result.finish_reason if is_text else "tool_calls")

    return complete
