"""Keep the agents of classic AutoGen inside their window: ``autogen`` up to 0.14, pyautogen 0.2 to 0.9.

Promise: what an agent sends to its model fits, with every call beside its result; the newest message, its calls and the
word that ends a chat reach the agent as they came, or, where the newest is too long, as a shortened copy in the same role
and with the same ending; the host's own messages are never changed. Nothing here imports the host.
"""

import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from operator import is_
from threading import get_ident
from typing import Any, Protocol, Unpack

from autogen_context.adapters.classic_conversations import (
    ChatDict,
    Conversations,
    complete_with,
    give_recall_tool,
)
from autogen_context.adapters.classic_format import ClassicFormat
from autogen_context.adapters.register import settings_in, with_reserve
from autogen_context.config.config import ContextConfig
from autogen_context.manager.manager import IncrementalContextManager
from autogen_context.manager.parts import ManagerOptions
from autogen_context.manager.prepared import Prepared

BEFORE_REPLY = "process_all_messages_before_reply"
BEFORE_CALL, AFTER_CALL = "safeguard_llm_inputs", "safeguard_llm_outputs"  # as in autogen 0.14
OPENAI_TYPES = frozenset({"openai", "azure"})


class ClassicAgent(Protocol):
    """What is used of a ``ConversableAgent`` by its type."""

    hook_lists: dict[str, list[Callable[..., Any]]]
    llm_config: Any  # an LLMConfig, a dict, or False
    client: Any  # an OpenAIWrapper, or None

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
        self._config = settings_in(model, options)
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
        hooks = AgentHooks(agent, conversations)
        agent.register_hook(BEFORE_REPLY, hooks.before_reply)
        if BEFORE_CALL in agent.hook_lists:
            agent.register_hook(BEFORE_CALL, hooks.before_call)
            agent.register_hook(AFTER_CALL, hooks.after_call)
        return conversations

    def _new_conversations(self, config: ContextConfig) -> Conversations:
        options = ManagerOptions(**self._options)
        options["config"] = config
        waits = any(
            options.get(name) is not None for name in ("model_client", "vectors", "project")
        )
        new_manager = partial(IncrementalContextManager, host=ClassicFormat(), **options)
        return Conversations(new_manager, waits=waits)


def register_classic(
    agent: ClassicAgent, model: str | None = None, **options: Unpack[ManagerOptions]
) -> Conversations:
    """Put a ``ConversableAgent`` that asks a model inside its window; see ``autogen_context.register``."""
    if not agent.llm_config:
        raise ValueError(
            "agent: it has no llm_config and so sends nothing to a model; register the agents that do"
        )
    first = next(iter(models_of(agent.llm_config)))
    said = {"model": first.get("model")}
    options["config"] = settings_in(model, options, said)
    if options.get("model_client") == "host":
        options["model_client"] = complete_with(agent)
    conversations = ContextTransform(**options).add_to_agent(agent)
    hooks = agent.hook_lists[BEFORE_REPLY]  # the tool is there before it is counted
    hooks.insert(len(hooks) - 1, partial(give_recall_tool, agent, conversations))
    return conversations


def check(agent: ClassicAgent) -> None:
    """Refuse what cannot work, and warn of what would work on the wrong messages."""
    hooks = getattr(agent, "hook_lists", {}).get(BEFORE_REPLY)
    if hooks is None:
        kind = f"{type(agent).__module__}.{type(agent).__qualname__}"
        raise ValueError(
            f"agent: a ConversableAgent of classic AutoGen is wanted, with the hook {BEFORE_REPLY}, not {kind}; pyautogen has it "
            "from 0.2.15 on, and for an agent of another host use register(agent)"
        )
    if any(isinstance(getattr(hook, "__self__", None), AgentHooks) for hook in hooks):
        raise ValueError("agent: it has a ContextTransform already; register each agent once")
    if hasattr(agent, "groupchat"):
        warnings.warn(
            "a GroupChatManager sends the last message on as the transform leaves it, and asks no model for a "
            "reply; register the members of the group instead",
            stacklevel=4,
        )


class AgentHooks:
    """The hooks of one agent; what the agent adds to its messages is read at each turn, since it can change.

    A bill is recorded only for the list that it was sent for: it is the difference that one call of one agent made to
    the usage of its client, and the messages of that call are the very objects that were prepared. Calls beside the
    conversation (a summary at the end of a chat), cached replies, clients that are not OpenAI's (theirs may leave cached
    input out), and lists that something else changed after the transform are passed over. Source: autogen 0.14.1,
    ``generate_oai_reply``.
    """

    def __init__(self, agent: ClassicAgent, conversations: Conversations) -> None:
        self._agent = agent
        self._conversations = conversations
        self._call: tuple[int, int, IncrementalContextManager, Prepared[ChatDict]] | None = None

    def before_reply(self, messages: list[ChatDict]) -> list[ChatDict]:
        """The list to send."""
        config: Mapping[str, Any] = self._agent.llm_config or {}
        tools: list[Any] = [*(config.get("tools") or ()), *(config.get("functions") or ())]
        return self._conversations.prepare(messages, system=self._agent.system_message, tools=tools)

    def before_call(self, messages: list[ChatDict]) -> list[ChatDict]:
        """Note what was billed so far, if this call sends what was prepared last."""
        manager, prepared = self._conversations.manager, self._conversations.last_prepared
        self._call = None
        if prepared is None:
            return messages
        sent, own = messages[1:], prepared.messages[1:]  # the agent's system message leads both
        is_ours = len(sent) == len(own) > 0 and all(map(is_, sent, own))
        types = {each.get("api_type") or "openai" for each in models_of(self._agent.llm_config)}
        if is_ours and types <= OPENAI_TYPES:
            self._call = get_ident(), billed(self._agent), manager, prepared
        return messages

    def after_call(self, reply: object) -> object:
        """Record what this call added; a call that another thread began meanwhile is not told apart from it."""
        call, self._call = self._call, None
        if call is None:
            return reply
        thread, before, manager, prepared = call
        prompt_tokens = billed(self._agent) - before
        if thread == get_ident() and prompt_tokens > 0:
            manager.record_usage(prepared, prompt_tokens=prompt_tokens)
        return reply


def models_of(llm_config: Any) -> Iterable[Any]:
    """The settings of the models that an agent asks, the first one first."""
    return (llm_config.get("config_list") or [llm_config]) if llm_config else ()


def billed(agent: ClassicAgent) -> int:
    """The input tokens of all calls of an agent's client so far, cached replies not among them."""
    usage: Mapping[str, Any] = getattr(agent.client, "actual_usage_summary", None) or {}
    return sum(of["prompt_tokens"] for key, of in usage.items() if key != "total_cost")
