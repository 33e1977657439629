"""A model context for autogen-agentchat that keeps its agent inside the window.

Promise: what ``get_messages`` returns fits the window together with the system prompt and tools that are known, and
with what is held back for those that are not; the list that is kept is never handed out; a state that was saved continues
to the byte in another process.
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

Json = dict[str, Any]  # AutoGen's own type of a schema would lose the keys that it does not name
AgentTool = Tool | ToolSchema | Callable[..., object]
"""A tool as ``AssistantAgent`` takes it, or its schema."""


class Envelope(BaseModel):
    """What stands around a context in a request: texts of system messages before it, and the schemas of the tools."""

    model_config = ConfigDict(frozen=True)

    system: tuple[str, ...]
    tools: tuple[Json, ...]

    @property
    def schemas(self) -> list[Json]:
        """The tools as the API takes them."""
        return [{"type": "function", "function": schema} for schema in self.tools]

    def opened(self, request: list[LLMMessage]) -> list[LLMMessage]:
        """The messages of a prepared request that belong to the context.

        Where the model takes one system message alone, those that lead were joined to one.
        """
        count = len(self.system)
        if [message.content for message in request[:count]] == list(self.system):
            return request[count:]
        first, *rest = request
        ours = BETWEEN.join(filter(None, self.system))
        more = str(first.content).removeprefix(ours).removeprefix(BETWEEN)
        return [SystemMessage(content=more), *rest] if more else rest


class ManagedContextConfig(BaseModel):
    """What ``dump_component`` writes for a ``ManagedChatCompletionContext``; of files and a project the folders."""

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
        """A setting beside ``settings`` would be an unknown key; the error says where it belongs."""
        if isinstance(given, Mapping):
            names = cast("Mapping[object, object]", given).keys()
            misplaced = sorted(set(map(str, names)) & ContextConfig.model_fields.keys() - {"tools"})
            if misplaced:
                raise ValueError(
                    f"{misplaced[0]} belongs into 'settings': {{'settings': {{{misplaced[0]!r}: ...}}}}"
                )
        return given  # pyright: ignore[reportUnknownVariableType]  # what is in it is checked next


class ManagedChatCompletionContext(
    AgentContext[LLMMessage], ChatCompletionContext, Component[ManagedContextConfig]
):
    """A ``model_context`` for any agent of autogen-agentchat; each agent needs its own.

    The agent adds its system prompt and its tools where no context sees them. ``register(agent)`` sees and measures both.
    For a context alone, tell them here; for each of the two that is not told 1,000 tokens are held back (an eighth of a
    window below 8,000), or ``reserve_tokens`` for both.

    Args:
        model: name of the model; decides limit and tokenizer.
        system_message: the agent's system prompt; ``""`` where it has none.
        tools: the agent's tools, as it takes them, or their schemas.
        initial_messages: what the conversation begins with.
        options: all other arguments of ``IncrementalContextManager`` but ``host``. Of them settings and folders are part of
            the component's configuration; give the others again to a context that was loaded.

    Attributes:
        manager: for what was billed so far, versions, changes, and all that is not here.
        envelope: what the agent sends beside this context, as far as it is known.
        handed_out: what ``get_messages`` returned last.
        is_registered: whether an agent was registered with this context.
        sees_images: whether the agent's model does; for one that does not, agents of agentchat take images out.
        last_prepared: the last request with its certificate and the decisions; the system prompt leads it, if known.

    Raises:
        ValueError: a setting makes no sense; names it, its value and the way out.
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
        """Take a message in; it is read and measured now, once the first turn has loaded the tokenizer."""
        await super().add_message(as_llm_message(message))
        if self._is_answer_due and isinstance(message, AssistantMessage):
            # The first answer after a request is that of the agent which sent it.
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
        """All that would be sent in an endless window."""
        before = [SystemMessage(content=text) for text in self.envelope.system]
        if self.sees_images:
            return [*before, *self._messages]
        from autogen_agentchat.utils import remove_images  # noqa: PLC0415 - for agents, which have it

        return [*before, *remove_images(self._messages)]

    def go_on_with(self, other: ChatCompletionContext) -> None:
        """Take over the conversation of another context, which stays as it is."""
        self._messages = list(other._messages)  # noqa: SLF001 - what the base class saves as its state
        self._initial_messages = other._initial_messages  # noqa: SLF001 - likewise

    @override
    async def get_messages(self) -> list[LLMMessage]:
        """The messages to send after the agent's own system messages: a new list each time.

        Raises:
            ContextWindowExceeded: what must stay does not fit. It goes through the agent and ends its run, with the numbers
                as attributes; nothing is lost, so the run can go on after ``manager.unpin`` or in a larger window.
            InvalidTranscript: a call or result is missing and ``config.orphans`` is ``"refuse"``.
        """
        prepared = await self.manager.prepare(self._request, self.envelope.schemas)
        self.last_prepared = prepared
        messages = self.envelope.opened(prepared.messages)
        self.handed_out = tuple(messages)
        self._is_answer_due = True
        return messages

    def manager_beside(self) -> IncrementalContextManager:
        """A manager for what is asked beside the conversation: the same settings, and nothing put in."""
        config, host = self.manager.config, AgentChatFormat()
        return IncrementalContextManager(host=host, config=config, counter=self._counter)

    @override
    async def clear(self) -> None:
        """Forget the conversation: its messages, pins, versions, and what left its window."""
        await super().clear()
        await self._begin_anew()

    async def _begin_anew(self) -> None:
        old, self.manager = self.manager, self._new_manager()
        self.last_prepared, self.handed_out = None, ()
        await old.aclose()

    @override
    async def save_state(self) -> Mapping[str, Any]:
        """All messages, and what the manager holds of them, as JSON data."""
        saved = await super().save_state()
        around = self.envelope.model_dump(mode="json")
        return {**saved, "manager": self.manager.save_state(), "envelope": around}

    @override
    async def load_state(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state, or from that of any other model context: ``{"messages": [...]}``.

        Raises:
            ValidationError: what was saved is damaged; nothing was changed.
            StateError: what the manager saved is damaged or of a newer schema; nothing was changed.
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
    """An envelope of the texts of system messages and of tools as an agent takes them."""
    return Envelope(system=tuple(system), tools=tuple(dict(schema_of(tool)) for tool in tools))


def envelope_around(
    own: Sequence[LLMMessage], request: Sequence[LLMMessage], tools: Sequence[AgentTool]
) -> Envelope | None:
    """What stands around a context's own messages in a request; ``None`` where that is not the context's.

    It must be system messages, then exactly these objects, then nothing.
    """
    start = len(request) - len(own)
    if start < 0 or not all(map(is_, own, request[start:])):
        return None
    before = [each.content for each in request[:start] if isinstance(each, SystemMessage)]
    return envelope_of(before, tools) if len(before) == start else None


def schema_of(tool: AgentTool) -> ToolSchema:
    """The schema of a tool, of a function as ``AssistantAgent`` makes it a tool, or of a schema."""
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
    """What makes the managers of an entry; ``client`` is the agent's own, for ``model_client="host"``."""
    asked = options.get("model_client")
    asked = client if asked == "host" and client is not None else asked
    if isinstance(asked, ChatCompletionClient):
        options["model_client"] = complete_with(asked)
    options.setdefault("clock", time.time)
    return partial(IncrementalContextManager, host=AgentChatFormat(), **options)


def complete_with(client: ChatCompletionClient) -> Complete:
    """A client of the host's as what a ``SemanticCompressor`` asks; what it raises, and cancellation, pass through.

    What is no text, or not all of it, is ``CompletionFailed``. The client is not closed here.
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
