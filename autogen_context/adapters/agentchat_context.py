"""Model context for autogen-agentchat that keeps its agent within the context window.

Promise: the result of ``get_messages`` fits the window together with the known system prompt and tools, and with the reserve
for unknown ones; the internal list is never returned; a conversation restored from a saved state sends byte-identical
requests in another process.
"""

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
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
from autogen_context.adapters.register import AgentContext, settings_in, with_reserve
from autogen_context.config.config import ContextConfig
from autogen_context.errors import CompletionFailed
from autogen_context.manager.manager import IncrementalContextManager
from autogen_context.manager.parts import ManagerOptions
from autogen_context.manager.prepared import Prepared
from autogen_context.messages.piece import BETWEEN
from autogen_context.models.completion import Complete

Json = dict[str, Any]  # AutoGen's schema type would drop the keys that it does not declare
AgentTool = Tool | ToolSchema | Callable[..., object]
"""A tool as accepted by ``AssistantAgent``, or its schema."""


class Envelope(BaseModel):
    """The parts of a request outside the context: leading system texts and tool schemas."""

    model_config = ConfigDict(frozen=True)

    system: tuple[str, ...]
    tools: tuple[Json, ...]

    @property
    def schemas(self) -> list[Json]:
        """The tool schemas in OpenAI's format."""
        return [{"type": "function", "function": schema} for schema in self.tools]

    def opened(self, request: list[LLMMessage]) -> list[LLMMessage]:
        """Return the messages of a prepared request without the envelope's own system texts.

        If the model accepts only one system message, the leading ones were joined and the text is cut out of it.
        """
        count = len(self.system)
        if [message.content for message in request[:count]] == list(self.system):
            return request[count:]
        first, *rest = request
        ours = BETWEEN.join(filter(None, self.system))
        more = str(first.content).removeprefix(ours).removeprefix(BETWEEN)
        return [SystemMessage(content=more), *rest] if more else rest


class ManagedContextConfig(BaseModel):
    """Component config of a ``ManagedChatCompletionContext``; files and project are stored as folder paths."""

    model_config = ConfigDict(extra="forbid")

    settings: Json = Field(default_factory=Json)
    system_message: str | None = None
    tools: list[Json] | None = None
    initial_messages: list[LLMMessage] | None = None
    files: str | None = None
    project: str | None = None

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
        envelope: the system messages and tools the agent adds, as far as known.
        handed_out: the messages ``get_messages`` returned last.
        is_registered: True if an agent was registered with this context.
        sees_images: True if the agent's model accepts images; agentchat agents remove them for models that do not.
        last_prepared: the last request with its certificate and decisions; begins with the system prompt, if known.

    Raises:
        ValueError: a setting is invalid; the message names it, its value and a fix.
    """

    component_config_schema = ManagedContextConfig
    component_provider_override = "autogen_context.adapters.agentchat.ManagedChatCompletionContext"

    def __init__(
        self,
        model: str | None = None,
        *,
        system_message: str | None = None,
        tools: Sequence[AgentTool] | None = None,
        initial_messages: Sequence[LLMMessage] | None = None,
        **options: Unpack[ManagerOptions],
    ) -> None:
        super().__init__(list(initial_messages) if initial_messages is not None else None)
        self.envelope = envelope_of([system_message] if system_message else [], tools or ())
        self._told = (system_message, None if tools is None else self.envelope.tools)
        options["config"] = with_reserve(settings_in(model, options), unseen=self._told.count(None))
        self._new_manager = managers_of(options)
        self._counter = options.get("counter")
        followed = {name: options.get(name) for name in ("files", "project")}
        self._folders = {
            name: None if given is None else str(getattr(given, "root", given))
            for name, given in followed.items()
        }
        self.manager = self._new_manager()
        self.sees_images = True
        self.is_registered = False
        self.last_prepared: Prepared[LLMMessage] | None = None
        self.handed_out: tuple[LLMMessage, ...] = ()
        self._answered_by = ""
        self._is_answer_due = False

    @override
    async def add_message(self, message: LLMMessage) -> None:
        """Add a message; after the first turn it is read and counted at once, as the tokenizer is loaded by then."""
        await super().add_message(as_llm_message(message))
        if self._is_answer_due and isinstance(message, AssistantMessage):
            # The first assistant message after a request comes from the agent that sent it.
            first = self._answered_by = self._answered_by or message.source
            if message.source != first:
                warnings.warn(
                    f"the agents {first!r} and {message.source!r} use one context, so that each is sent what the other was "
                    "told; give each agent a ManagedChatCompletionContext of its own, or register(agent) each",
                    stacklevel=2,
                )
        self._is_answer_due = False
        if self.last_prepared is not None:
            self.manager.observe(self._request)

    @property
    def _request(self) -> list[LLMMessage]:
        """The full request, before it is fitted into the window."""
        before = [SystemMessage(content=text) for text in self.envelope.system]
        if self.sees_images:
            return [*before, *self._messages]
        from autogen_agentchat.utils import remove_images  # noqa: PLC0415 - only agents need it, and have it

        return [*before, *remove_images(self._messages)]

    def go_on_with(self, other: ChatCompletionContext) -> None:
        """Copy the conversation of another context, which is not changed."""
        self._messages = list(other._messages)  # noqa: SLF001 - the base class's saved state
        self._initial_messages = other._initial_messages  # noqa: SLF001 - likewise

    @override
    async def get_messages(self) -> list[LLMMessage]:
        """Return the messages to send after the agent's own system messages, as a new list.

        Raises:
            ContextWindowExceeded: the protected messages do not fit. The error has the numbers as attributes and ends the
                agent's run; nothing is lost, so the run can continue after ``manager.unpin`` or with a larger window.
            InvalidTranscript: a tool call or result is missing and ``config.orphans`` is ``"refuse"``.
        """
        prepared = await self.manager.prepare(self._request, self.envelope.schemas)
        self.last_prepared = prepared
        messages = self.envelope.opened(prepared.messages)
        self.handed_out = tuple(messages)
        self._is_answer_due = True
        return messages

    def manager_beside(self) -> IncrementalContextManager:
        """Create a manager for requests outside the conversation, with the same settings but no injected context."""
        config, host = self.manager.config, AgentChatFormat()
        return IncrementalContextManager(host=host, config=config, counter=self._counter)

    @override
    async def clear(self) -> None:
        """Clear the conversation: its messages, pins, versions and evicted originals."""
        await super().clear()
        await self._begin_anew()

    async def _begin_anew(self) -> None:
        old, self.manager = self.manager, self._new_manager()
        self.last_prepared, self.handed_out = None, ()
        await old.aclose()

    @override
    async def save_state(self) -> Mapping[str, Any]:
        """Return all messages, the manager's state and the envelope as JSON data."""
        saved = await super().save_state()
        around = self.envelope.model_dump(mode="json")
        return {**saved, "manager": self.manager.save_state(), "envelope": around}

    @override
    async def load_state(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state, or from that of any other model context: ``{"messages": [...]}``.

        Raises:
            ValidationError: the saved state is damaged; nothing was changed.
            StateError: the manager's state is damaged or has a newer schema; nothing was changed.
        """
        messages = ChatCompletionContextState.model_validate(state).messages
        if "manager" in state:
            around = Envelope.model_validate(state.get("envelope"))
            self.manager.load_state(state["manager"])
            self.envelope = around
        else:
            await self._begin_anew()
        self._messages = messages

    @override
    def _to_config(self) -> ManagedContextConfig:
        system_message, tools = self._told
        return ManagedContextConfig(
            settings=self.manager.config.model_dump(mode="json", exclude_unset=True),
            system_message=system_message,
            tools=None if tools is None else list(tools),
            initial_messages=self._initial_messages,
            **self._folders,
        )

    @classmethod
    @override
    def _from_config(cls, config: ManagedContextConfig) -> Self:
        return cls(
            system_message=config.system_message,
            tools=cast("list[AgentTool] | None", config.tools),  # schemas, as they were saved
            initial_messages=config.initial_messages,
            config=ContextConfig(**config.settings),
            files=config.files,
            project=config.project,
        )


def envelope_of(system: Sequence[str], tools: Sequence[AgentTool]) -> Envelope:
    """Create an envelope from system texts and an agent's tools."""
    return Envelope(system=tuple(system), tools=tuple(dict(schema_of(tool)) for tool in tools))


def envelope_around(
    own: Sequence[LLMMessage], request: Sequence[LLMMessage], tools: Sequence[AgentTool]
) -> Envelope | None:
    """Return the envelope around a context's messages ``own`` in a request; ``None`` for any other request.

    The request must consist of system messages followed by exactly these objects.
    """
    start = len(request) - len(own)
    if start < 0 or not all(map(is_, own, request[start:])):
        return None
    before = [each.content for each in request[:start] if isinstance(each, SystemMessage)]
    return envelope_of(before, tools) if len(before) == start else None


def schema_of(tool: AgentTool) -> ToolSchema:
    """Return the schema of a tool, a function (as ``AssistantAgent`` wraps it) or a schema itself."""
    if isinstance(tool, Tool):
        return tool.schema
    if callable(tool):
        return FunctionTool(tool, description=tool.__doc__ or "").schema
    if isinstance(tool, Mapping) and "name" in tool:  # pyright: ignore[reportUnnecessaryIsInstance]  # bad input
        return tool
    raise ValueError(f"tools: a tool, a function or a schema with a name is wanted, not {tool!r}")


def managers_of(
    options: ManagerOptions, client: ChatCompletionClient | None = None
) -> Callable[[], IncrementalContextManager]:
    """Return a factory of managers with these options; ``client`` is the agent's, used for ``model_client="host"``."""
    asked = options.get("model_client")
    asked = client if asked == "host" and client is not None else asked
    if isinstance(asked, ChatCompletionClient):
        options["model_client"] = complete_with(asked)
    options.setdefault("clock", time.time)
    return partial(IncrementalContextManager, host=AgentChatFormat(), **options)


def complete_with(client: ChatCompletionClient) -> Complete:
    """Return a completion function for a ``SemanticCompressor`` that calls this client.

    It raises ``CompletionFailed`` for a tool call and for truncated or filtered text; the client's errors and cancellation
    propagate. The client is not closed.
    """

    async def complete(prompt: str, /) -> str:
        result = await client.create([UserMessage(content=prompt, source="user")])
        if not isinstance(result.content, str):
            raise CompletionFailed("it calls a tool")
        if result.finish_reason in ("length", "content_filter"):
            cut = result.finish_reason == "length"
            raise CompletionFailed("it is broken off" if cut else "it is filtered")
        return result.content

    return complete
