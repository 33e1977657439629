"""Adapter for classic AutoGen (``autogen`` up to 0.14, pyautogen 0.2 to 0.9): keeps an agent within its context window.

Promise: every model request fits the window, with tool calls and results paired; the newest message, its tool calls and the
termination word reach the agent unchanged, or, if the message is too long, as a shortened copy with the same role and
ending; the host's own messages are never changed. Nothing here imports the host.
"""

import warnings
from collections.abc import Iterable, Mapping
from operator import is_
from threading import get_ident
from typing import Any, Unpack

from autogen_context.adapters.classic_conversations import (
    ChatDict,
    Conversations,
    complete_with,
    give_recall_tool,
)
from autogen_context.adapters.register import REGISTERED, completed, with_reserve
from autogen_context.manager.manager import IncrementalContextManager
from autogen_context.manager.parts import ManagerOptions
from autogen_context.manager.prepared import Prepared

BEFORE_REPLY = "process_all_messages_before_reply"
BEFORE_CALL, AFTER_CALL = "safeguard_llm_inputs", "safeguard_llm_outputs"  # as in autogen 0.14
OPENAI_TYPES = frozenset({"openai", "azure"})


class ContextTransform:
    """A ``MessageTransform`` that is also a capability for agents (``add_to_agent``).

    One instance may be added to several agents: each conversation of each agent has its own manager.

    Args:
        model: name of the model; determines the limit and the tokenizer.
        options: all other arguments of ``IncrementalContextManager`` except ``host``; objects in them are shared by all
            conversations. ``reserve_tokens`` defaults to 0 for ``add_to_agent``, which measures system message and tools,
            and to 2,000 for ``apply_transform``, which cannot (a quarter of a window below 8,000). A ``project`` is read in
            the background, so the first turns may be sent without its context.

    Raises:
        ValueError: a setting is invalid; the message names it, its value and a fix.

    Attributes:
        conversations: the conversations prepared by ``apply_transform``.
    """

    def __init__(self, model: str | None = None, **options: Unpack[ManagerOptions]) -> None:
        self._options = completed(options, model)
        self.conversations = Conversations(with_reserve(self._options, unseen=2))

    def apply_transform(self, messages: list[ChatDict]) -> list[ChatDict]:
        """Return the list to send in place of this one; called by ``TransformMessages`` or directly.

        Args:
            messages: the whole history, oldest first; neither the list nor its messages are changed.

        Raises:
            InvalidTranscript: a message cannot be read, or there are orphans and ``orphans="refuse"``.
            ContextWindowExceeded: the protected messages do not fit; raised in ``TransformMessages`` it ends the chat.
        """
        return self.conversations.prepare(messages)

    def get_logs(
        self,
        pre_transform_messages: list[ChatDict],
        post_transform_messages: list[ChatDict],
    ) -> tuple[str, bool]:
        """Return a description of a transformation's effect, and True if it changed anything."""
        before, after = pre_transform_messages, post_transform_messages
        if before == after:
            return "The messages fit; none was changed.", False
        came = {id(message) for message in before}
        written = sum(id(message) not in came for message in after)
        return f"{len(before)} messages became {len(after)}, {written} of them written anew.", True

    def add_to_agent(self, agent: Any) -> Conversations:
        """Add hooks that prepare the messages of a ``ConversableAgent`` before each reply.

        The system message and tools are measured at each turn, and an agent with tools gets ``recall_context``. If the agent has hooks around the model call, as in
        ``autogen`` 0.14, the prompt tokens billed by OpenAI's API calibrate the token count.

        Returns:
            The agent's conversations, with ``manager`` and ``last_prepared`` of the last turn.

        Raises:
            ValueError: the agent is not a classic one, or has a ``ContextTransform`` already.
            ContextWindowExceeded: raised by the agent's ``generate_reply`` if the protected messages do not fit; nothing is
                lost, and the agent can continue with a larger window or a shorter system message.
            InvalidTranscript: raised by ``generate_reply`` if a message cannot be read.
        """
        check(agent)
        conversations = AgentConversations(agent, self._options)
        agent.register_hook(BEFORE_REPLY, conversations.before_reply)
        if BEFORE_CALL in agent.hook_lists:
            agent.register_hook(BEFORE_CALL, conversations.before_call)
            agent.register_hook(AFTER_CALL, conversations.after_call)
        return conversations


def register_classic(agent: Any, model: str | None, options: ManagerOptions) -> Conversations:
    """Keep a ``ConversableAgent`` with a model within its context window; see ``autogen_context.register``."""
    if not agent.llm_config:
        raise ValueError(
            "agent: it has no llm_config and so sends nothing to a model; register the agents that do"
        )
    said = {"model": next(iter(models_of(agent.llm_config))).get("model")}
    options = completed(options, model, said=said, client=complete_with(agent))
    return ContextTransform(**options).add_to_agent(agent)


def check(agent: Any) -> None:
    """Raise ``ValueError`` for an unsuitable or registered agent; warn about a ``GroupChatManager``."""
    hooks = getattr(agent, "hook_lists", {}).get(BEFORE_REPLY)
    if hooks is None:
        kind = f"{type(agent).__module__}.{type(agent).__qualname__}"
        raise ValueError(
            f"agent: a ConversableAgent of classic AutoGen is wanted, with the hook {BEFORE_REPLY}, not {kind}; pyautogen has it "
            "from 0.2.15 on, and for an agent of another host use register(agent)"
        )
    if any(isinstance(getattr(hook, "__self__", None), AgentConversations) for hook in hooks):
        raise ValueError(REGISTERED)
    if hasattr(agent, "groupchat"):
        warnings.warn(
            "a GroupChatManager sends the last message on as the transform leaves it, and asks no model for a "
            "reply; register the members of the group instead",
            stacklevel=4,
        )


class AgentConversations(Conversations):
    """The conversations of one agent, and its hooks. Its system message and tools are read at each turn, since they can change.

    Usage is recorded only for the prepared list: a call's tokens are the increase of the client's usage, and the messages
    of the call must be the prepared objects themselves. Ignored are calls outside the conversation (such as a summary at
    the end of a chat), cached replies, clients other than OpenAI's (their usage may exclude cached input), and lists
    changed after the transform. Source: autogen 0.14.1, ``generate_oai_reply``.
    """

    def __init__(self, agent: Any, options: ManagerOptions) -> None:
        super().__init__(options)
        self._agent = agent
        self._call: tuple[int, int, IncrementalContextManager, Prepared[ChatDict]] | None = None

    def before_reply(self, messages: list[ChatDict]) -> list[ChatDict]:
        """Return the list to send; an agent with tools has the recall tool by then, so that it is counted."""
        give_recall_tool(self._agent, self, messages)
        config: Mapping[str, Any] = self._agent.llm_config or {}
        tools: list[Any] = [*(config.get("tools") or ()), *(config.get("functions") or ())]
        return self.prepare(messages, system=self._agent.system_message, tools=tools)

    def before_call(self, messages: list[ChatDict]) -> list[ChatDict]:
        """Store the tokens billed so far if this call sends the list prepared last."""
        prepared, self._call = self.last_prepared, None
        if prepared is None:
            return messages
        sent, own = messages[1:], prepared.messages[1:]  # without the agent's system message
        is_ours = len(sent) == len(own) > 0 and all(map(is_, sent, own))
        types = {each.get("api_type") or "openai" for each in models_of(self._agent.llm_config)}
        if is_ours and types <= OPENAI_TYPES:
            self._call = get_ident(), billed(self._agent), self.manager, prepared
        return messages

    def after_call(self, reply: object) -> object:
        """Record the tokens this call added, including those of a concurrent call on another thread."""
        call, self._call = self._call, None
        if call is not None:
            thread, before, manager, prepared = call
            prompt_tokens = billed(self._agent) - before
            if thread == get_ident() and prompt_tokens > 0:
                manager.record_usage(prepared, prompt_tokens=prompt_tokens)
        return reply


def models_of(llm_config: Any) -> Iterable[Any]:
    """Return the model configurations of an agent, in the order they are tried."""
    return (llm_config.get("config_list") or [llm_config]) if llm_config else ()


def billed(agent: Any) -> int:
    """Return the prompt tokens billed to an agent's client so far, without cached replies."""
    usage: Mapping[str, Any] = getattr(agent.client, "actual_usage_summary", None) or {}
    return sum(of["prompt_tokens"] for key, of in usage.items() if key != "total_cost")
