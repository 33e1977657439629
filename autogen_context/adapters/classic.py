"""Adapter for classic AutoGen (``autogen`` up to 0.14, pyautogen 0.2 to 0.9): keeps an agent within its context window.

Promise: every model request fits the window, with tool calls and results paired; the newest message, its tool calls and the
termination word reach the agent unchanged, or, if the message is too long, as a shortened copy with the same role and
ending; the host's own messages are never changed. Nothing here imports the host.
"""

import asyncio
import copy
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import is_
from threading import get_ident
from typing import Any, Unpack, cast

from typing_extensions import override

from autogen_context.adapters.classic_conversations import ChatDict, Conversations
from autogen_context.adapters.register import REGISTERED, completed
from autogen_context.errors import CompletionFailed
from autogen_context.manager.manager import IncrementalContextManager
from autogen_context.manager.options import ManagerOptions, takes_options
from autogen_context.manager.prepared import Prepared
from autogen_context.messages.find_tools import (
    FIND_TOOLS_NAME,
    answer_find,
    chosen_in,
    find_tools_schema,
    name_of,
)
from autogen_context.messages.tool_schema import (
    RECALL_TOOL_NAME,
    answer_recall,
    has_recall_tool,
    recall_tool_schema,
)
from autogen_context.models.completion import whole
from autogen_context.models.provider_call import Billed, ProviderCall, newest_text

BEFORE_REPLY = "process_all_messages_before_reply"
BEFORE_CALL, AFTER_CALL = "safeguard_llm_inputs", "safeguard_llm_outputs"  # as in autogen 0.14
PROMPT = "_oai_system_message"  # of an agent; there is no hook for it
CLAUDE = "anthropic"  # whose usage, as the host sums it up, leaves out cached input
OPENAI_TYPES = frozenset({"openai", "azure"})
BILLED_TYPES = OPENAI_TYPES | {CLAUDE}
OF_THE_AGENT = frozenset({"tools", "functions", "tool_choice", "response_format", "cache_seed"})
SELECTION_NAME = "speaker_selection_agent"  # the host's name for it
SELECTION = "_speaker_selection_transforms"  # what a group adds to each of its selection agents


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

    @takes_options
    def __init__(self, model: str | None = None, **options: Unpack[ManagerOptions]) -> None:
        self._options = completed(options, model)
        self.conversations = Conversations(completed(self._options, unseen=2))

    def apply_transform(self, messages: list[ChatDict]) -> list[ChatDict]:
        """Return the list to send in place of this one; called by ``TransformMessages`` or directly.

        Args:
            messages: the whole history, oldest first; neither the list nor its messages are changed.

        Raises:
            InvalidTranscript: a message cannot be read, or there are orphans and ``orphans="refuse"``.
            ContextWindowExceeded: the protected messages do not fit; raised in ``TransformMessages`` it ends the chat.
        """
        return self.conversations.prepare(messages)[1]

    def get_logs(
        self, pre_transform_messages: list[ChatDict], post_transform_messages: list[ChatDict]
    ) -> tuple[str, bool]:
        """Return a description of a transformation's effect, and True if it changed anything."""
        before, after = pre_transform_messages, post_transform_messages
        if before == after:
            return "The messages fit; none was changed.", False
        came = {id(message) for message in before}
        written = sum(id(message) not in came for message in after)
        return f"{len(before)} messages became {len(after)}, {written} of them written anew.", True

    def add_to_agent(self, agent: Any) -> "Conversations":
        """Add hooks that prepare the messages of a ``ConversableAgent`` before each reply.

        The system message and tools are measured at each turn, and an agent with tools gets ``recall_context``. The tokens
        that OpenAI's or Anthropic's API bills calibrate the token count.

        Returns:
            The agent's conversations, with ``manager`` and ``last_prepared`` of the last turn.

        Raises:
            ValueError: the agent is not a classic one, or has a ``ContextTransform`` already.
            ContextWindowExceeded: raised by the agent's ``generate_reply`` if the protected messages do not fit; nothing is
                lost, and the agent can continue with a larger window or a shorter system message.
            InvalidTranscript: raised by ``generate_reply`` if a message cannot be read.
        """
        return hooked(agent, self._options)


def register_classic(agent: Any, model: str | None, options: ManagerOptions) -> "Conversations":
    """Keep a ``ConversableAgent`` with a model within its context window; see ``autogen_context.register``."""
    if hasattr(agent, "prepare_group_chat") or hasattr(agent, "groupchat"):
        return register_selection(agent, model, options)
    if not agent.llm_config:
        raise ValueError(
            "agent: it has no llm_config and so sends nothing to a model; register the agents that do"
        )
    said = {"model": next(iter(models_of(agent.llm_config))).get("model"), "agent": agent.name}
    options = completed(options, model, said=said, client=partial(complete_with, agent))
    return hooked(agent, options)


def hooked(agent: Any, options: ManagerOptions) -> "Conversations":
    """Return an agent's conversations, its hooks added; raise ``ValueError`` for an unsuitable or registered agent."""
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
    conversations = AgentConversations(agent, options)
    conversations.hook_into(agent)
    return conversations


class AgentConversations(Conversations):
    """The conversations of one agent, and its hooks. Its system message and tools are read at each turn, since they can change.

    Usage is recorded only for the prepared list: a call's tokens are the increase of the client's usage, and the messages
    of the call must be the prepared objects themselves. Ignored are calls outside the conversation (such as a summary at
    the end of a chat), cached replies, clients other than OpenAI's and Anthropic's (their usage may exclude cached input), and lists
    changed after the transform. Source: autogen 0.14.1, ``generate_oai_reply``. Older releases have no hooks around a call: there
    the provider's client says what it was billed, and a request is that of the list whose newest text it has.
    """

    def __init__(self, agent: Any, options: ManagerOptions) -> None:
        types = api_types_of(agent.llm_config if agent else None)
        super().__init__(options, partial(peers_of, agent), later_system=types <= OPENAI_TYPES)
        self._agent = agent
        self._call: tuple[int, int, IncrementalContextManager, Prepared[ChatDict]] | None = None
        self._calls: Sequence[ProviderCall] = ()  # of the current turn

    def hook_into(self, agent: Any) -> None:
        """Add the hooks to an agent."""
        agent.register_hook(BEFORE_REPLY, self.before_reply)
        if BEFORE_CALL in agent.hook_lists:
            agent.register_hook(BEFORE_CALL, self.before_call)
            agent.register_hook(AFTER_CALL, self.after_call)

    def before_reply(self, messages: list[ChatDict]) -> list[ChatDict]:
        """Return the list to send; an agent with tools has the recall tool by then, so that it is counted."""
        agent = self._agent
        last: object = messages[-1] if messages else None
        is_call = isinstance(last, dict) and (last.get("tool_calls") or last.get("function_call"))
        config: Mapping[str, Any] = agent.llm_config or {}
        answering: Sequence[Answering] = ()
        # The model is asked next.
        if config.get("tools") and isinstance(last, dict) and not is_call:
            answering = give_tools(agent, self._peer_of(messages))
            config = agent.llm_config
        own: list[Any] = list(config.get("tools") or ())
        functions: list[Any] = list(config.get("functions") or ())
        find = [find_tools_schema()] if answering and can_send_fewer(agent, answering) else []
        required = *chosen_in(config.get("tool_choice")), *map(name_of, functions)
        tools = [*own, *find, *functions]
        manager, prepared = self.prepare(messages, agent.system_message, tools, required)
        self._calls = [self.calls.bind(manager, client) for client in clients_of(agent)]
        if BEFORE_CALL not in agent.hook_lists and self.last_prepared is not None:
            for call in self._calls:
                call.on_bill = partial(record_if_own, manager, self.last_prepared)
        attributes = cast("dict[str, list[ChatDict]]", vars(agent))
        if manager.config.volatile == "behind" and type(attributes[PROMPT]) is not StablePrompt:
            attributes[PROMPT] = StablePrompt(attributes[PROMPT], self)
        for each in answering:
            each.manager = manager
        if find and self.last_prepared is not None:
            send_tools(agent, [t for t in self.last_prepared.tools if t not in functions])
        return prepared

    def prompt_of(self, messages: Sequence[ChatDict]) -> ChatDict | None:
        """Return the system message that goes in front of a list if it is the one prepared last, but for its newest message."""
        front, *own = self.last_prepared.messages if self.last_prepared else [{}]
        is_ours = len(messages) == len(own) and all(map(is_, messages[:-1], own[:-1]))
        return front if own and is_ours else None

    @override
    def _peer_of(self, messages: list[ChatDict]) -> object:
        chats = [(peer, said) for peer, said in self._agent.chat_messages.items() if said]
        own = [peer for peer, said in chats if said is messages]
        return next(iter(own or [peer for peer, said in chats if said[0] is messages[0]]), None)

    def before_call(self, messages: list[ChatDict]) -> list[ChatDict]:
        """Store the tokens billed so far if this call sends the list prepared last."""
        prepared, self._call = self.last_prepared, None
        if prepared is None:
            return messages
        for call in self._calls:
            call.billed = None
        sent, own = messages[1:], prepared.messages[1:]  # without the agent's system message
        is_ours = len(sent) == len(own) > 0 and all(map(is_, sent, own))
        if is_ours and api_types_of(self._agent.llm_config) <= BILLED_TYPES:
            self._call = get_ident(), billed(self._agent), self.manager, prepared
        return messages

    @property
    def _is_claudes(self) -> bool:
        """Whether Anthropic may answer."""
        return any(each.get("api_type") == CLAUDE for each in models_of(self._agent.llm_config))

    def after_call(self, reply: object) -> object:
        """Record the tokens this call added, including those of a concurrent call on another thread."""
        call, self._call = self._call, None
        if call is not None:
            thread, before, manager, prepared = call
            known = next((each.billed for each in self._calls if each.billed), None)
            if known is None and not self._is_claudes:
                known = Billed(billed(self._agent) - before, None)
            if thread == get_ident() and known and known.prompt_tokens > 0:
                manager.record_usage(
                    prepared, prompt_tokens=known.prompt_tokens, cached_tokens=known.cached_tokens
                )
        return reply


class StablePrompt(list[ChatDict]):
    """The list in which an agent has its system message, which it puts in front of what it sends by adding the two.

    A list that was prepared gets the prompt that was prepared with it; a copy is an ordinary list.
    """

    def __init__(self, own: Sequence[ChatDict], conversations: AgentConversations) -> None:
        super().__init__(own)
        self._conversations = conversations

    @override
    def __add__(self, messages: Any, /) -> Any:
        front = self._conversations.prompt_of(messages)
        return [*self, *messages] if front is None else [front, *messages]

    @override
    def __reduce__(self) -> tuple[type, tuple[list[ChatDict]]]:
        return list, ([*self],)


def record_if_own(
    manager: IncrementalContextManager, prepared: Prepared[ChatDict], billed: Billed, newest: int
) -> None:
    """Record the bill of a request if its newest text is that of a prepared list; without hooks nothing else tells whose it is."""
    last = prepared.messages[-1]
    responses = last.get("tool_responses") or [last]
    if hash(newest_text(responses[-1])) == newest:
        manager.record_usage(
            prepared, prompt_tokens=billed.prompt_tokens, cached_tokens=billed.cached_tokens
        )


def clients_of(agent: Any) -> Iterable[Any]:
    """Return the clients of an agent's models; the host makes new ones when its tools change."""
    return getattr(agent.client, "_clients", ()) if agent.client is not None else ()


def peers_of(agent: Any) -> Iterator[Any]:
    """Yield the agents whose messages an agent gets: who it talks to, and for a group its members."""
    for peer in getattr(agent, "chat_messages", ()):  # a group's selection has none
        yield from getattr(getattr(peer, "groupchat", None), "agents", None) or (peer,)


def models_of(llm_config: Any) -> Iterable[Any]:
    """Return the model configurations of an agent, in the order they are tried."""
    return (llm_config.get("config_list") or [llm_config]) if llm_config else ()


def api_types_of(llm_config: Any) -> frozenset[str]:
    """Return the kinds of API that an agent may ask."""
    return frozenset(each.get("api_type") or "openai" for each in models_of(llm_config))


def billed(agent: Any) -> int:
    """Return the prompt tokens billed to an agent's client so far, without cached replies."""
    usage: Mapping[str, Any] = getattr(agent.client, "actual_usage_summary", None) or {}
    return sum(of["prompt_tokens"] for key, of in usage.items() if key != "total_cost")


def can_send_fewer(agent: Any, answering: "Sequence[Answering]") -> bool:
    """Whether tools can be deferred: all who run them answer ``find_tools``, and the client has its settings where they are known."""
    settings: object = getattr(agent.client, "_config_list", None)
    return all(each.finds for each in answering) and isinstance(settings, list)


def send_tools(agent: Any, tools: Sequence[Mapping[str, object]]) -> None:
    """Have an agent's client send these tools; those of the agent's own settings stay as they are."""
    client, sent = agent.client, list(tools)
    settings: Sequence[Mapping[str, Any]] = client._config_list  # noqa: SLF001 - the host adds the tools to each call from here
    if any(each.get("tools", sent) != sent for each in settings):
        client._config_list = [  # noqa: SLF001 - as above
            {**each, "tools": sent} if "tools" in each else each for each in settings
        ]


def give_tools(agent: Any, peer: object) -> "Sequence[Answering]":
    """Add the recall tool to an agent with tools, and our functions to their executors; return what answers in this chat.

    The schema of ``find_tools`` is no tool of the agent: it is sent while others are deferred.

    In classic AutoGen tool calls are not run by the agent that asks the model but by its peer, or in a group by any member
    with the function. The executors are known before the agent's reply.
    """
    several: list[Answering] = []
    for executor in executors_of(agent, peer):
        recall = executor.function_map.get(RECALL_TOOL_NAME)
        if recall is None:
            recall = Answering().recall_context
            executor.register_function({RECALL_TOOL_NAME: recall})
        answering: object = getattr(recall, "__self__", None)
        if not isinstance(answering, Answering):
            warnings.warn(
                f"an agent has a function {RECALL_TOOL_NAME!r} of its own: give that another name, or what left the window "
                "cannot be asked back",
                stacklevel=3,
            )
            return ()
        if executor.function_map.get(FIND_TOOLS_NAME) is None:
            executor.register_function({FIND_TOOLS_NAME: answering.find_tools})
        found: object = getattr(executor.function_map[FIND_TOOLS_NAME], "__self__", None)
        answering.finds = found is answering
        several.append(answering)
    if not has_recall_tool(agent.llm_config["tools"]):
        agent.update_tool_signature(recall_tool_schema(), is_remove=False)
    return several


def executors_of(agent: Any, peer: object) -> Iterator[Any]:
    """Yield the agents that may run its tool calls: itself, its peer (else all it has), and group members with functions."""
    for each in [agent, *(agent.chat_messages if peer is None else [peer])]:
        members = getattr(getattr(each, "groupchat", None), "agents", ())
        running = [each, *(one for one in members if getattr(one, "function_map", None))]
        yield from (one for one in running if hasattr(one, "register_function"))


class Answering:
    """Our functions of one executor; they are not told the caller and answer for the chat in which it was asked last.

    Attributes:
        manager: of that chat.
        finds: whether ``find_tools`` is ours, and no function of the executor's own.
    """

    manager: IncrementalContextManager | None = None
    finds = False

    def recall_context(self, **arguments: object) -> str:
        """Answer a tool call; for the arguments see ``RECALL_ARGUMENTS``."""
        return answer_recall(self.manager, arguments)

    def find_tools(self, **arguments: object) -> str:
        """Answer a tool call; for the arguments see ``FIND_ARGUMENTS``."""
        return answer_find(self.manager, arguments)


class SpeakerSelection(AgentConversations):
    """The requests by which a group's next speaker is chosen: the agent is new each time, the group's messages are not.

    Stands in the place of a ``TransformMessages`` that the group adds to the agent.
    """

    def __init__(self, options: ManagerOptions) -> None:
        super().__init__(None, options)

    def add_to_agent(self, agent: Any) -> None:
        """Prepare the requests of the group's newest selection agent."""
        self._agent = agent
        self.hook_into(agent)

    @override
    def _peer_of(self, messages: list[ChatDict]) -> object:
        return self  # one group


def register_selection(chosen: Any, model: str | None, options: ManagerOptions) -> SpeakerSelection:
    """Keep the requests that choose the next speaker within the window: of a ``GroupChatManager``, or of a ``Pattern``."""
    group = getattr(chosen, "groupchat", None)
    if group is None:  # a pattern, which makes its group when a chat begins
        config, holder, asks = chosen.group_manager_args.get("llm_config"), chosen, True
    else:
        config, holder = group.select_speaker_auto_llm_config or chosen.llm_config, group
        asks = group.speaker_selection_method == "auto" and hasattr(group, SELECTION)
    if not (config and asks):
        raise ValueError(
            f"agent: this {type(chosen).__name__} asks no model who speaks next (that takes the method 'auto' and an llm_config; "
            "pyautogen has the place for it from 0.2.36 on); register the members of the group, each by itself"
        )
    if getattr(holder, SELECTION, None).__class__ is SpeakerSelection:
        raise ValueError(REGISTERED)
    said = {"model": next(iter(models_of(config))).get("model"), "agent": SELECTION_NAME}
    selection = SpeakerSelection(completed(options, model, said=said))
    if group is None:
        chosen.prepare_group_chat = prepared_with(selection, chosen.prepare_group_chat)
        setattr(chosen, SELECTION, selection)
    else:
        select_with(selection, chosen)
    return selection


def select_with(selection: SpeakerSelection, manager: Any) -> None:
    """Set the speaker selection of a manager's group, and of the copy of it with which the manager replies."""
    replies: Sequence[Mapping[str, Any]] = manager._reply_func_list  # noqa: SLF001 - the copy is nowhere else
    for group in [manager.groupchat, *(reply["config"] for reply in replies)]:
        if hasattr(group, SELECTION):
            setattr(group, SELECTION, selection)


def prepared_with(selection: SpeakerSelection, prepare: Callable[..., Any]) -> Callable[..., Any]:
    """Return a pattern's ``prepare_group_chat`` that gives the group it makes its speaker selection."""

    def prepare_group_chat(*given: Any, **named: Any) -> Any:
        parts = prepare(*given, **named)
        for part in parts:
            if hasattr(part, "groupchat"):
                select_with(selection, part)
        return parts

    return prepare_group_chat


async def complete_with(agent: Any, prompt: str, /) -> str:
    """Ask the agent's models for a ``SemanticCompressor``, without its tools, cache and usage."""
    if agent.client is None:
        raise CompletionFailed("the agent has no client")
    client = copy.copy(agent.client)
    client.actual_usage_summary = client.total_usage_summary = None
    client._config_list = [  # noqa: SLF001 - the host adds its tools to each call from here
        {name: each for name, each in config.items() if name not in OF_THE_AGENT}
        for config in client._config_list  # noqa: SLF001 - as above
    ]
    asked = [{"role": "user", "content": prompt}]
    with ProviderCall().scope():  # none of the conversation's
        response = await asyncio.to_thread(client.create, messages=asked, cache_seed=None)
    said = client.extract_text_or_completion_object(response)[0]
    return whole(said, response.choices[0].finish_reason)
