"""Keep the agents of classic AutoGen inside their window: ``autogen`` up to 0.14, pyautogen 0.2 to 0.9.

Promise: what an agent sends to its model fits, with every call beside its result; the newest message, its calls and the
word that ends a chat reach the agent as they came; the host's own messages are never changed.

An over-long newest message that cannot fit otherwise is the one exception: the agent gets a shortened copy of it, in
the same role and with the same ending. Nothing here imports the host.
"""

import time
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakSet

from autogen_context.adapters.classic_conversations import ChatDict, Conversations
from autogen_context.adapters.classic_format import ClassicFormat
from autogen_context.adapters.classic_usage import AFTER_CALL, BEFORE_CALL, BilledAgent, Bills
from autogen_context.adapters.unseen import with_reserve
from autogen_context.config.config import ContextConfig
from autogen_context.manager.manager import IncrementalContextManager
from autogen_context.tokens.measure import TokenCounter

if TYPE_CHECKING:  # loaded for those who ask for it
    from autogen_context.cache.originals import OriginalTier
    from autogen_context.cache.values import Cache
    from autogen_context.project.file_changes import FileChangeTracker
    from autogen_context.project.project import ProjectContext

BEFORE_REPLY = "process_all_messages_before_reply"


class ClassicAgent(BilledAgent, Protocol):
    """What is used of a ``ConversableAgent``."""

    hook_lists: dict[str, list[Callable[..., Any]]]

    @property
    def system_message(self) -> str:
        """What the agent puts before its messages."""
        ...

    def register_hook(self, hookable_method: str, hook: Callable[..., Any]) -> None:
        """Let a callable take part in a method of the agent."""
        ...


class ContextTransform:
    """A ``MessageTransform``, and a capability that is added to agents.

    One instance may be added to several agents: each agent and each of its conversations has a manager of its own.

    Args:
        model: name of the model; decides limit and tokenizer.
        window_tokens: the most input tokens a request may have; from the model's limits where left out.
        reserve_tokens: of these, what is sent beside the messages and is not measured. Left out it is 0 for
            ``add_to_agent``, which measures system message and tools, and 1,000 for ``apply_transform``, which cannot
            (an eighth of a window below 8,000).
        config: all settings; the three above win over it.
        counter: counts tokens; the model's tokenizer where left out.
        original_store: as for the manager; shared by all conversations.
        files: likewise.
        project: likewise. A classic hook cannot wait, so that the first turns may go without it; it is read meanwhile.
        cache: likewise.

    Raises:
        ValueError: a setting makes no sense; names it, its value and the way out.

    Attributes:
        conversations: what became of the lists that ``apply_transform`` got.
    """

    def __init__(  # noqa: PLR0913 - as for the manager
        self,
        model: str | None = None,
        *,
        window_tokens: int | None = None,
        reserve_tokens: int | None = None,
        config: ContextConfig | None = None,
        counter: TokenCounter | None = None,
        original_store: "OriginalTier | None" = None,
        files: "FileChangeTracker | None" = None,
        project: "ProjectContext | None" = None,
        cache: "Cache | None" = None,
    ) -> None:
        self._config = (config or ContextConfig()).updated(
            model=model, window_tokens=window_tokens, reserve_tokens=reserve_tokens
        )
        self._counter = counter
        self._original_store, self._files, self._project = original_store, files, project
        self._cache = cache
        self._agents: WeakSet[ClassicAgent] = WeakSet()
        self.conversations = Conversations(partial(self._new_manager, with_reserve(self._config)))

    def apply_transform(self, messages: list[ChatDict]) -> list[ChatDict]:
        """The list to send in place of this one; within ``TransformMessages``, or called by hand.

        Args:
            messages: the whole history, oldest first; it and what is in it are left as they are.

        Raises:
            InvalidTranscript: a message cannot be read, or there are orphans and ``orphans="refuse"``.
            ContextWindowExceeded: what must stay does not fit; out of ``TransformMessages`` it ends the chat.
        """
        return self.conversations.prepare(messages)

    def get_logs(
        self,
        pre_transform_messages: list[ChatDict],
        post_transform_messages: list[ChatDict],
    ) -> tuple[str, bool]:
        """What a transformation did, in words, and whether it did anything."""
        before, after = pre_transform_messages, post_transform_messages
        if before == after:
            return "The messages fit; none was changed.", False
        came = {id(message) for message in before}
        written = sum(id(message) not in came for message in after)
        return f"{len(before)} messages became {len(after)}, {written} of them written anew.", True

    def add_to_agent(self, agent: ClassicAgent) -> Conversations:
        """Let an agent prepare its messages before each reply.

        Its system message and tools are measured at each turn, and what OpenAI's API bills for a call calibrates the
        count where the agent has hooks around the call, as in ``autogen`` 0.14.

        Returns:
            The agent's conversations: ``manager`` and ``last_prepared`` of the last turn.

        Raises:
            ValueError: this is no classic agent, or it has this transform already.
            ContextWindowExceeded: out of the agent's ``generate_reply``, when what must stay does not fit; nothing is lost,
                the agent can go on after a larger window or a shorter system message.
            InvalidTranscript: likewise, when a message cannot be read.
        """
        self._check(agent)
        self._agents.add(agent)
        conversations = Conversations(partial(self._new_manager, self._config))
        agent.register_hook(BEFORE_REPLY, before_reply(agent, conversations))
        if BEFORE_CALL in agent.hook_lists:
            bills = Bills(agent, conversations)
            agent.register_hook(BEFORE_CALL, bills.before)
            agent.register_hook(AFTER_CALL, bills.after)
        return conversations

    def _check(self, agent: ClassicAgent) -> None:
        """Refuse what cannot work, and warn of what would work on the wrong messages."""
        if BEFORE_REPLY not in getattr(agent, "hook_lists", ()):
            kind = f"{type(agent).__module__}.{type(agent).__qualname__}"
            raise ValueError(
                f"agent: a ConversableAgent of classic AutoGen is wanted, not {kind}; for autogen-agentchat use "
                "autogen_context.adapters.agentchat"
            )
        if agent in self._agents:
            raise ValueError("agent: it has this transform already; add each transform once")
        if hasattr(agent, "groupchat"):
            warnings.warn(
                "a GroupChatManager sends the last message on as the transform leaves it, and asks no model for a "
                "reply; add the transform to the members of the group instead",
                stacklevel=3,
            )

    def _new_manager(self, config: ContextConfig) -> IncrementalContextManager:
        return IncrementalContextManager(
            config=config,
            host=ClassicFormat(),
            counter=self._counter,
            clock=time.time,
            original_store=self._original_store,
            files=self._files,
            project=self._project,
            cache=self._cache,
        )


def before_reply(
    agent: ClassicAgent, conversations: Conversations
) -> Callable[[list[ChatDict]], list[ChatDict]]:
    """The hook of one agent; what the agent adds is read at each turn, since it can change."""

    def prepare(messages: list[ChatDict]) -> list[ChatDict]:
        return conversations.prepare(
            messages, system=agent.system_message, tools=schemas_of(agent.llm_config)
        )

    return prepare


def schemas_of(llm_config: Any) -> list[Mapping[str, object]]:
    """The schemas that an agent sends along: tools, and the functions of old versions."""
    if not llm_config:
        return []
    return [*(llm_config.get("tools") or ()), *(llm_config.get("functions") or ())]
