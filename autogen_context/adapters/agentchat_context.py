"""A model context for autogen-agentchat that keeps its agent inside the window.

Promise: what ``get_messages`` returns fits the window together with the system prompt and tools that are known; the
list that is kept is never handed out; a state that was saved continues to the byte in another process.
"""

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, cast

from autogen_core import Component
from autogen_core.model_context import ChatCompletionContext, ChatCompletionContextState
from autogen_core.models import ChatCompletionClient, LLMMessage
from pydantic import BaseModel, Field
from typing_extensions import override

from autogen_context.adapters.agentchat_envelope import AgentTool, Envelope, envelope
from autogen_context.adapters.agentchat_format import AgentChatFormat
from autogen_context.adapters.agentchat_summary import complete_with
from autogen_context.adapters.unseen import with_reserve
from autogen_context.config.config import ContextConfig
from autogen_context.manager.manager import IncrementalContextManager
from autogen_context.models.completion import ModelClient
from autogen_context.models.embedder import WarmVectors
from autogen_context.session.prepared import Prepared

if TYPE_CHECKING:
    from autogen_context.cache.originals import OriginalTier
    from autogen_context.compressor.compressor import Compressor
    from autogen_context.project.file_changes import FileChangeTracker
    from autogen_context.project.project import ProjectContext
    from autogen_context.triggers.intent_model import AskIntent

Json = dict[str, Any]  # AutoGen's own type of a schema would lose the keys that it does not name


class EnvelopeState(BaseModel):
    """The part of a saved state that tells what the agent sends beside its context."""

    system: list[str]
    tools: list[Json]


class ManagedContextConfig(BaseModel):
    """What ``dump_component`` writes for a ``ManagedChatCompletionContext``.

    Of files and a project it has the folders; what they share with others (a watch, a cache) is not in it.
    """

    settings: Json = Field(default_factory=Json)
    system_message: str | None = None
    tools: list[Json] | None = None
    initial_messages: list[LLMMessage] | None = None
    files: str | None = None
    project: str | None = None


class ManagedChatCompletionContext(ChatCompletionContext, Component[ManagedContextConfig]):
    """A ``model_context`` for any agent of autogen-agentchat; each agent needs its own.

    The agent adds its system prompt and its tools where no context sees them. Tell them here and they are measured; or
    use ``managed``, which sees them; otherwise 1,000 tokens are held back for them, or ``reserve_tokens``.

    Args:
        model: name of the model; decides limit and tokenizer.
        window_tokens: the most input tokens a request may have; from the model's limits where left out.
        reserve_tokens: of these, what is held back for what the agent adds and is not told here.
        system_message: the agent's system prompt.
        tools: the agent's tools, as it takes them, or their schemas.
        initial_messages: what the conversation begins with.
        config: all settings; the first three win over it.
        vectors: as for the manager; no part of the component's configuration, so give it again to one that was loaded.
        compressor: likewise.
        model_client: likewise; a client of autogen-ext will do.
        intents: likewise.
        original_store: likewise.
        files: as for the manager; its folder is part of the component's configuration.
        project: likewise.

    Attributes:
        manager: to pin, explain and recall messages, and for what was billed so far.
        envelope: what the agent sends beside this context, as far as it is known.
        handed_out: what ``get_messages`` returned last.
        last_prepared: the last request with its certificate and the decisions; the system prompt leads it, if known.

    Raises:
        ValueError: a setting makes no sense; names it, its value and the way out.
    """

    component_config_schema = ManagedContextConfig
    component_provider_override = "autogen_context.adapters.agentchat.ManagedChatCompletionContext"

    def __init__(  # noqa: PLR0913 - the three that every adapter takes, and what only this host has
        self,
        model: str | None = None,
        *,
        window_tokens: int | None = None,
        reserve_tokens: int | None = None,
        system_message: str | None = None,
        tools: Sequence[AgentTool] | None = None,
        initial_messages: Sequence[LLMMessage] | None = None,
        config: ContextConfig | None = None,
        vectors: WarmVectors | None = None,
        compressor: "Compressor | None" = None,
        model_client: ChatCompletionClient | ModelClient | None = None,
        intents: "AskIntent | None" = None,
        original_store: "OriginalTier | None" = None,
        files: "FileChangeTracker | None" = None,
        project: "ProjectContext | None" = None,
    ) -> None:
        super().__init__(list(initial_messages) if initial_messages is not None else None)
        described = system_message is not None or tools is not None
        settings = (config or ContextConfig()).updated(
            model=model, window_tokens=window_tokens, reserve_tokens=reserve_tokens
        )
        self.envelope = envelope([system_message] if system_message else [], tools)
        self.manager = IncrementalContextManager(
            config=settings if described else with_reserve(settings),
            host=AgentChatFormat(),
            vectors=vectors,
            compressor=compressor,
            model_client=asked(model_client),
            intents=intents,
            original_store=original_store,
            files=files,
            project=project,
            clock=time.time,
        )
        self.last_prepared: Prepared[LLMMessage] | None = None
        self.handed_out: tuple[LLMMessage, ...] = ()
        self._described = self.envelope if described else None
        self._folders = {
            name: str(given.root)
            for name, given in (("files", files), ("project", project))
            if given is not None
        }

    @override
    async def add_message(self, message: LLMMessage) -> None:
        """Take a message in; it is read and measured now, once the first turn has loaded the tokenizer."""
        await super().add_message(message)
        if self.last_prepared is not None:
            self.manager.observe([*self.envelope.system, *self._messages])

    @override
    async def get_messages(self) -> list[LLMMessage]:
        """The messages to send after the agent's own system messages: a new list each time.

        Raises:
            ContextWindowExceeded: what must stay does not fit. It goes through the agent and ends its run, with the numbers
                as attributes; nothing is lost, so the run can go on after ``manager.unpin`` or in a larger window.
            InvalidTranscript: a call or result is missing and ``config.orphans`` is ``"refuse"``.
        """
        request: list[LLMMessage] = [*self.envelope.system, *self._messages]
        prepared = await self.manager.prepare(request, self.envelope.tools_as_sent)
        self.last_prepared = prepared
        self.handed_out = tuple(self.envelope.opened(prepared.messages))
        return list(self.handed_out)

    @override
    async def save_state(self) -> Mapping[str, Any]:
        """All messages, and what the manager holds of them, as JSON data."""
        saved = await super().save_state()
        beside = EnvelopeState(system=self.envelope.texts, tools=jsons(self.envelope))
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
        self._messages = messages

    @override
    def _to_config(self) -> ManagedContextConfig:
        described = self._described
        return ManagedContextConfig(
            settings=self.manager.config.model_dump(mode="json", exclude_unset=True),
            system_message="".join(described.texts) if described else None,
            tools=jsons(described) if described else None,
            initial_messages=self._initial_messages,
            files=self._folders.get("files"),
            project=self._folders.get("project"),
        )

    @classmethod
    @override
    def _from_config(cls, config: ManagedContextConfig) -> Self:
        return cls(
            system_message=config.system_message,
            tools=schemas(config.tools),
            initial_messages=config.initial_messages,
            config=ContextConfig(**config.settings),
            files=followed(config.files),
            project=project_of(config.project),
        )


def followed(folder: str | None) -> "FileChangeTracker | None":
    """The files of a folder, where one is named.

    Raises:
        ValueError: there is no such folder here.
    """
    if folder is None:
        return None
    from autogen_context.project.file_changes import FileChangeTracker  # noqa: PLC0415 - for who has them

    return FileChangeTracker(folder)


def project_of(folder: str | None) -> "ProjectContext | None":
    """The context of a folder, where one is named.

    Raises:
        ValueError: there is no such folder here.
    """
    if folder is None:
        return None
    from autogen_context.project.project import ProjectContext  # noqa: PLC0415 - for who has one

    return ProjectContext(folder)


def jsons(known: Envelope) -> list[Json]:
    """The tools of an envelope as plain dicts."""
    return [dict(schema) for schema in known.tools]


def schemas(tools: list[Json] | None) -> list[AgentTool] | None:
    """Plain dicts as tools."""
    return cast("list[AgentTool] | None", tools)  # they were schemas when they were saved


def asked(client: ChatCompletionClient | ModelClient | None) -> ModelClient | None:
    """A client of the host, or any other, as a manager asks it."""
    return complete_with(client) if isinstance(client, ChatCompletionClient) else client
