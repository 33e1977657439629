"""A model context for autogen-agentchat that keeps its agent inside the window.

Promise: what ``get_messages`` returns fits the window together with the system prompt and tools that are known, and
with what is held back for those that are not; the list that is kept is never handed out; a state that was saved continues
to the byte in another process.
"""

import time
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Self, Unpack, cast

from autogen_core import Component
from autogen_core.model_context import ChatCompletionContext, ChatCompletionContextState
from autogen_core.models import AssistantMessage, ChatCompletionClient, LLMMessage
from pydantic import BaseModel, ConfigDict, Field, model_validator
from typing_extensions import override

from autogen_context.adapters.agent_context import AgentContext, with_reserve
from autogen_context.adapters.agentchat_envelope import AgentTool, envelope
from autogen_context.adapters.agentchat_format import AgentChatFormat
from autogen_context.adapters.agentchat_summary import complete_with
from autogen_context.config.config import ContextConfig
from autogen_context.manager.given import ManagerOptions
from autogen_context.manager.manager import IncrementalContextManager
from autogen_context.manager.prepared import Prepared

Json = dict[str, Any]  # AutoGen's own type of a schema would lose the keys that it does not name


class EnvelopeState(BaseModel):
    """The part of a saved state that tells what the agent sends beside its context."""

    system: list[str]
    tools: list[Json]


class ManagedContextConfig(BaseModel):
    """What ``dump_component`` writes for a ``ManagedChatCompletionContext``.

    Of files and a project it has the folders; what they share with others (a watch, a cache) is not in it.
    """

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
        self.envelope = envelope([system_message] if system_message else [], tools)
        self._told = (system_message, None if tools is None else self.envelope.tools)
        settings = ContextConfig.for_entry(
            options.get("config"),
            model=model,
            window_tokens=options.pop("window_tokens", None),
            reserve_tokens=options.pop("reserve_tokens", None),
        )
        options["config"] = with_reserve(settings, unseen=self._told.count(None))
        options.setdefault("clock", time.time)
        client = options.get("model_client")
        if isinstance(client, ChatCompletionClient):
            options["model_client"] = complete_with(client)
        self._new_manager = partial(IncrementalContextManager, host=AgentChatFormat(), **options)
        self._folders = {
            "files": folder_of(options.get("files")),
            "project": folder_of(options.get("project")),
        }
        self.manager = self._new_manager()
        self.sees_images = True
        self.last_prepared: Prepared[LLMMessage] | None = None
        self.handed_out: tuple[LLMMessage, ...] = ()
        self._answered_by = ""
        self._is_answer_due = False

    @override
    async def add_message(self, message: LLMMessage) -> None:
        """Take a message in; it is read and measured now, once the first turn has loaded the tokenizer."""
        await super().add_message(message)
        self._note_speaker(message)
        if self.last_prepared is not None:
            self.manager.observe(self._request)

    @property
    def _request(self) -> list[LLMMessage]:
        """All that would be sent in an endless window."""
        if self.sees_images:
            return [*self.envelope.system, *self._messages]
        from autogen_agentchat.utils import remove_images  # noqa: PLC0415 - for agents, which have it

        return [*self.envelope.system, *remove_images(self._messages)]

    def go_on_with(self, other: ChatCompletionContext) -> None:
        """Take over the conversation of another context, which stays as it is."""
        self._messages = list(other._messages)  # noqa: SLF001 - what the base class saves as its state
        self._initial_messages = other._initial_messages  # noqa: SLF001 - likewise

    def _note_speaker(self, message: LLMMessage) -> None:
        """Warn of a second agent: the first answer after a request is that of the agent which sent it."""
        if not self._is_answer_due:
            return
        self._is_answer_due = False
        if not isinstance(message, AssistantMessage):
            return
        first = self._answered_by = self._answered_by or message.source
        if message.source != first:
            warnings.warn(
                f"the agents {first!r} and {message.source!r} use one context, so that each is sent what the other was told; "
                "give each agent a ManagedChatCompletionContext of its own, or register(agent) each",
                stacklevel=3,
            )

    @override
    async def get_messages(self) -> list[LLMMessage]:
        """The messages to send after the agent's own system messages: a new list each time.

        Raises:
            ContextWindowExceeded: what must stay does not fit. It goes through the agent and ends its run, with the numbers
                as attributes; nothing is lost, so the run can go on after ``manager.unpin`` or in a larger window.
            InvalidTranscript: a call or result is missing and ``config.orphans`` is ``"refuse"``.
        """
        prepared = await self.manager.prepare(self._request, self.envelope.tools_as_sent)
        self.last_prepared = prepared
        self.handed_out = tuple(self.envelope.opened(prepared.messages))
        self._is_answer_due = True
        return list(self.handed_out)

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
        tools = [dict(schema) for schema in self.envelope.tools]
        beside = EnvelopeState(system=self.envelope.texts, tools=tools)
        return {**saved, "manager": self.manager.save_state(), "envelope": beside.model_dump()}

    @override
    async def load_state(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state, or from that of any other model context: ``{"messages": [...]}``.

        Raises:
            ValidationError: what was saved is damaged; nothing was changed.
            StateError: what the manager saved is damaged or of a newer schema; nothing was changed.
        """
        messages = ChatCompletionContextState.model_validate(state).messages
        if "manager" in state:
            beside = EnvelopeState.model_validate(state.get("envelope"))
            self.manager.load_state(state["manager"])
            self.envelope = envelope(beside.system, schemas(beside.tools))
        else:
            await self._begin_anew()
        self._messages = messages

    @override
    def _to_config(self) -> ManagedContextConfig:
        system_message, tools = self._told
        return ManagedContextConfig(
            settings=self.manager.config.model_dump(mode="json", exclude_unset=True),
            system_message=system_message,
            tools=None if tools is None else [dict(schema) for schema in tools],
            initial_messages=self._initial_messages,
            **self._folders,
        )

    @classmethod
    @override
    def _from_config(cls, config: ManagedContextConfig) -> Self:
        return cls(
            system_message=config.system_message,
            tools=schemas(config.tools),
            initial_messages=config.initial_messages,
            config=ContextConfig(**config.settings),
            files=config.files,
            project=config.project,
        )


def folder_of(given: object) -> str | None:
    """The folder of what follows one, or that was given itself."""
    return None if given is None else str(getattr(given, "root", given))


def schemas(tools: list[Json] | None) -> list[AgentTool] | None:
    """Plain dicts as tools."""
    return cast("list[AgentTool] | None", tools)  # they were schemas when they were saved
