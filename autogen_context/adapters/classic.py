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
from typing import Any, Protocol, Unpack

from autogen_context.adapters.agent_context import with_reserve
from autogen_context.adapters.classic_conversations import ChatDict, Conversations
from autogen_context.adapters.classic_format import ClassicFormat
from autogen_context.adapters.classic_recall import CallingAgent, RecallHook
from autogen_context.adapters.classic_usage import AFTER_CALL, BEFORE_CALL, BilledAgent, Bills
from autogen_context.config.config import ContextConfig
from autogen_context.manager.given import ManagerOptions
from autogen_context.manager.manager import IncrementalContextManager

BEFORE_REPLY = "process_all_messages_before_reply"


class ClassicAgent(BilledAgent, CallingAgent, Protocol):
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
        options: all other arguments of ``IncrementalContextManager`` but ``host``; what is in them is shared by all
            conversations. ``reserve_tokens`` left out is 0 for ``add_to_agent``, which measures system message and tools, and
            2,000 for ``apply_transform``, which cannot (a quarter of a window below 8,000). A classic hook cannot wait, so
            that the first turns may go without the context of a ``project``; it is read meanwhile.

    Raises:
        ValueError: a setting makes no sense; names it, its value and the way out.

    Attributes:
        conversations: what became of the lists that ``apply_transform`` got.
    """

    def __init__(self, model: str | None = None, **options: Unpack[ManagerOptions]) -> None:
        self._config = ContextConfig.for_entry(
            options.get("config"),
            model=model,
            window_tokens=options.pop("window_tokens", None),
            reserve_tokens=options.pop("reserve_tokens", None),
        )
        options.setdefault("clock", time.time)
        self._options = options
        self.conversations = self._new_conversations(with_reserve(self._config, unseen=2))

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
            ValueError: this is no classic agent, or it has a ``ContextTransform`` already.
            ContextWindowExceeded: out of the agent's ``generate_reply``, when what must stay does not fit; nothing is lost,
                the agent can go on after a larger window or a shorter system message.
            InvalidTranscript: likewise, when a message cannot be read.
        """
        check(agent)
        conversations = self._new_conversations(self._config)
        agent.register_hook(BEFORE_REPLY, PrepareHook(agent, conversations).before_reply)
        if BEFORE_CALL in agent.hook_lists:
            bills = Bills(agent, conversations)
            agent.register_hook(BEFORE_CALL, bills.before)
            agent.register_hook(AFTER_CALL, bills.after)
        return conversations

    def _new_conversations(self, config: ContextConfig) -> Conversations:
        options = ManagerOptions(**self._options)
        options["config"] = config
        return Conversations(partial(IncrementalContextManager, host=ClassicFormat(), **options))


class PrepareHook:
    """The hook of one agent; what the agent adds is read at each turn, since it can change."""

    def __init__(self, agent: ClassicAgent, conversations: Conversations) -> None:
        self._agent = agent
        self._conversations = conversations

    def before_reply(self, messages: list[ChatDict]) -> list[ChatDict]:
        """The list to send."""
        agent = self._agent
        return self._conversations.prepare(
            messages, system=agent.system_message, tools=schemas_of(agent.llm_config)
        )


def check(agent: ClassicAgent) -> None:
    """Refuse what cannot work, and warn of what would work on the wrong messages.

    Raises:
        ValueError: it is no classic agent, or has a ``ContextTransform``.
    """
    hooks = getattr(agent, "hook_lists", {}).get(BEFORE_REPLY)
    if hooks is None:
        kind = f"{type(agent).__module__}.{type(agent).__qualname__}"
        raise ValueError(
            f"agent: a ConversableAgent of classic AutoGen is wanted, with the hook {BEFORE_REPLY}, not {kind}; for an agent of "
            "another host use register(agent)"
        )
    if any(isinstance(getattr(hook, "__self__", None), PrepareHook) for hook in hooks):
        raise ValueError("agent: it has a ContextTransform already; register each agent once")
    if hasattr(agent, "groupchat"):
        warnings.warn(
            "a GroupChatManager sends the last message on as the transform leaves it, and asks no model for a "
            "reply; register the members of the group instead",
            stacklevel=4,
        )


def schemas_of(llm_config: Any) -> list[Mapping[str, object]]:
    """The schemas that an agent sends along: tools, and the functions of old versions."""
    if not llm_config:
        return []
    return [*(llm_config.get("tools") or ()), *(llm_config.get("functions") or ())]


def register_classic(
    agent: ClassicAgent, model: str | None = None, **options: Unpack[ManagerOptions]
) -> Conversations:
    """Put an agent inside its window, through its hooks; one that has tools gets ``recall_context``.

    Args:
        agent: a ``ConversableAgent`` that asks a model.
        model: its model's name; left out, as its ``llm_config`` says.
        options: as for ``ContextTransform``.

    Raises:
        ValueError: the agent asks no model, or is registered already.
    """
    if not agent.llm_config:
        raise ValueError(
            "agent: it has no llm_config and so sends nothing to a model; register the agents that do"
        )
    said = {"model": model_of(agent.llm_config)}
    options["config"] = ContextConfig.for_entry(options.get("config"), said=said, model=model)
    conversations = ContextTransform(**options).add_to_agent(agent)
    hooks = agent.hook_lists[BEFORE_REPLY]  # the tool is there before it is counted
    hooks.insert(len(hooks) - 1, RecallHook(agent, conversations).before_reply)
    return conversations


def model_of(llm_config: Any) -> str:
    """The name of the model that an agent asks first."""
    entries = llm_config.get("config_list") or [llm_config]
    return str(entries[0].get("model") or "")
