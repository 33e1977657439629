"""Adapter for classic AutoGen (``autogen`` up to 0.14, pyautogen 0.2 to 0.9): keeps an agent within its context window.

Promise: every model request fits the window, with tool calls and results paired; the newest message, its tool calls and the
termination word reach the agent unchanged, or, if the message is too long, as a shortened copy with the same role and
ending; the host's own messages are never changed. A list that continues a known conversation goes to its manager; the number
of managers is bounded. Nothing here imports the host.
"""

import asyncio
import copy
import warnings
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import takewhile
from operator import is_
from threading import Lock, Thread, get_ident
from typing import Any, TypeVar, Unpack
from weakref import finalize

from autogen_context.adapters.classic_format import ClassicFormat, sent_fields
from autogen_context.adapters.register import REGISTERED, AgentContext, completed
from autogen_context.errors import CompletionFailed
from autogen_context.manager.manager import IncrementalContextManager
from autogen_context.manager.parts import ManagerOptions
from autogen_context.manager.prepared import Prepared
from autogen_context.manager.runner import ToolSchemas
from autogen_context.messages.message import SYSTEM_ROLES
from autogen_context.messages.openai_chat import fields_of
from autogen_context.messages.tool_schema import (
    NOTHING_LEFT,
    RECALL_TOOL_NAME,
    answer_recall,
    has_recall_tool,
    recall_tool_schema,
)
from autogen_context.models.completion import Complete, whole

ChatDict = dict[str, Any]  # the host's own type
T = TypeVar("T")

BEFORE_REPLY = "process_all_messages_before_reply"
BEFORE_CALL, AFTER_CALL = "safeguard_llm_inputs", "safeguard_llm_outputs"  # as in autogen 0.14
OPENAI_TYPES = frozenset({"openai", "azure"})
OF_THE_AGENT = frozenset({"tools", "functions", "tool_choice", "response_format", "cache_seed"})
CONVERSATIONS = 8  # managers kept; few agents alternate between more than eight peers


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
        self.conversations = Conversations(completed(self._options, unseen=2))

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

    def add_to_agent(self, agent: Any) -> "Conversations":
        """Add hooks that prepare the messages of a ``ConversableAgent`` before each reply.

        The system message and tools are measured at each turn, and an agent with tools gets ``recall_context``. If the agent
        has hooks around the model call, as in ``autogen`` 0.14, the tokens that OpenAI's API bills calibrate the token count.

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


def register_classic(agent: Any, model: str | None, options: ManagerOptions) -> "Conversations":
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


class Conversations(AgentContext[ChatDict]):
    """The conversations of one agent, each with its own manager; the hooks do not name the peer.

    If there is a model to ask or a project to read, a turn waits for them (within their time limit) on a separate event loop.

    Attributes:
        manager: the manager of the last turn's conversation; before the first turn, the one it will use.
        last_prepared: the last prepared request; if the agent is known, it begins with its system message.
    """

    def __init__(
        self, options: ManagerOptions, peers: Callable[[], Iterable[object]] = tuple
    ) -> None:
        super().__init__(ClassicFormat(peers), options)
        # Each manager with the last list it saw, most recently used last.
        self._known: list[tuple[IncrementalContextManager, list[ChatDict]]] = []
        self._lock = Lock()
        self._waits = any(map(options.get, ("model_client", "vectors", "project")))

    def prepare(
        self, messages: list[ChatDict], *, system: str | None = None, tools: ToolSchemas = ()
    ) -> list[ChatDict]:
        """Return the list to send; ``system``, which the host adds itself, is counted but not included."""
        if not messages:
            return messages
        with self._lock:
            manager = self.manager = self._continued(messages)
            own = [] if system is None else [{"role": "system", "content": system}]
            if own and manager.config.single_system:  # only the agent's own may be a system message
                messages = [
                    {**each, "role": "user"} if each.get("role") in SYSTEM_ROLES else each
                    for each in messages
                ]
            given = [*own, *messages]
            self.last_prepared = (
                self._waiting.run(manager.prepare(given, tools))
                if self._waits
                else manager.prepare_nowait(given, tools)
            )
            return self.last_prepared.messages[len(own) :]

    @cached_property
    def _waiting(self) -> "Waiting":
        return Waiting()

    def _continued(self, messages: list[ChatDict]) -> IncrementalContextManager:
        """Return the manager whose last list shares the longest prefix with ``messages``; a new one if none qualifies.

        The prefix must cover at least half of the last list; less means another conversation with the same beginning, and
        the two would undo each other's compactions. Ties go to the most recently used manager.
        """
        shares = [(shared(seen, messages), i) for i, (_, seen) in enumerate(self._known)]
        enough = [(n, i) for n, i in shares if n and 2 * n >= len(self._known[i][1])]
        if enough:
            manager, _ = self._known.pop(max(enough)[1])
        else:
            manager = self._new_manager() if self._known else self.manager
        self._known = [*self._known, (manager, list(messages))][-CONVERSATIONS:]
        return manager


def shared(seen: Sequence[ChatDict], messages: Sequence[ChatDict]) -> int:
    """Return the length of the common prefix; compares by identity first, since most messages are the same objects."""
    at = sum(1 for _ in takewhile(bool, map(is_, seen, messages)))
    return at + sum(1 for _ in takewhile(bool, map(is_same, seen[at:], messages[at:])))


def is_same(one: ChatDict, other: ChatDict) -> bool:
    """Return True if two messages are equal as sent."""
    return one == other or sent_fields(fields_of(one)) == sent_fields(fields_of(other))


class Waiting:
    """An event loop in a daemon thread, for synchronous hooks; it stops when this object is garbage-collected."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        Thread(target=serve, args=(self._loop,), name="autogen_context", daemon=True).start()
        finalize(self, self._loop.call_soon_threadsafe, self._loop.stop)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the loop and wait for its result."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


def serve(loop: asyncio.AbstractEventLoop) -> None:
    """Run the loop until it is stopped, then cancel its pending tasks."""
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.get_loop().run_forever()


class AgentConversations(Conversations):
    """The conversations of one agent, and its hooks. Its system message and tools are read at each turn, since they can change.

    Usage is recorded only for the prepared list: a call's tokens are the increase of the client's usage, and the messages
    of the call must be the prepared objects themselves. Ignored are calls outside the conversation (such as a summary at
    the end of a chat), cached replies, clients other than OpenAI's (their usage may exclude cached input), and lists
    changed after the transform. Source: autogen 0.14.1, ``generate_oai_reply``.
    """

    def __init__(self, agent: Any, options: ManagerOptions) -> None:
        super().__init__(options, partial(peers_of, agent))
        self._agent = agent
        self._call: tuple[int, int, IncrementalContextManager, Prepared[ChatDict]] | None = None

    def before_reply(self, messages: list[ChatDict]) -> list[ChatDict]:
        """Return the list to send; an agent with tools has the recall tool by then, so that it is counted."""
        agent = self._agent
        last: object = messages[-1] if messages else None
        is_call = isinstance(last, dict) and (last.get("tool_calls") or last.get("function_call"))
        config: Mapping[str, Any] = agent.llm_config or {}
        if (
            config.get("tools") and isinstance(last, dict) and not is_call
        ):  # the model is asked next
            give_recall_tool(agent, self)
            config = agent.llm_config
        tools: list[Any] = [*(config.get("tools") or ()), *(config.get("functions") or ())]
        return self.prepare(messages, system=agent.system_message, tools=tools)

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


def peers_of(agent: Any) -> Iterator[Any]:
    """Yield the agents whose messages an agent gets: who it talks to, and for a group its members."""
    for peer in agent.chat_messages:
        yield from getattr(getattr(peer, "groupchat", None), "agents", None) or (peer,)


def models_of(llm_config: Any) -> Iterable[Any]:
    """Return the model configurations of an agent, in the order they are tried."""
    return (llm_config.get("config_list") or [llm_config]) if llm_config else ()


def billed(agent: Any) -> int:
    """Return the prompt tokens billed to an agent's client so far, without cached replies."""
    usage: Mapping[str, Any] = getattr(agent.client, "actual_usage_summary", None) or {}
    return sum(of["prompt_tokens"] for key, of in usage.items() if key != "total_cost")


def give_recall_tool(agent: Any, conversations: Conversations) -> None:
    """Add the recall tool to an agent with tools, and its function to their executors.

    In classic AutoGen tool calls are not run by the agent that asks the model but by its peer, or in a group by any member
    with the function. The executors are known before the agent's reply.
    """
    for executor in executors_of(agent):
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
            return
        answering.conversations = conversations
    if not has_recall_tool(agent.llm_config["tools"]):
        agent.update_tool_signature(recall_tool_schema(), is_remove=False)


def executors_of(agent: Any) -> Iterator[Any]:
    """Yield the agents that may run its tool calls: itself, its peers, and group members with functions."""
    for peer in [agent, *agent.chat_messages]:
        members = getattr(getattr(peer, "groupchat", None), "agents", ())
        running = [peer, *(each for each in members if getattr(each, "function_map", None))]
        yield from (each for each in running if hasattr(each, "register_function"))


class Answering:
    """The recall function of one executor; it is not told the caller and answers for the agent that replied last."""

    conversations: Conversations | None = None

    def recall_context(self, **arguments: object) -> str:
        """Answer a tool call; for the arguments see ``RECALL_ARGUMENTS``."""
        if self.conversations is None or self.conversations.last_prepared is None:
            return NOTHING_LEFT
        return answer_recall(self.conversations.manager, arguments)


def complete_with(agent: Any) -> Complete:
    """Return a completion function for a ``SemanticCompressor``: the agent's models without its tools, cache and usage."""

    def ask(prompt: str) -> str:
        if agent.client is None:
            raise CompletionFailed("the agent has no client")
        client = copy.copy(agent.client)
        client.actual_usage_summary = client.total_usage_summary = None
        client._config_list = [  # noqa: SLF001 - the host adds its tools to each call from here
            {name: each for name, each in config.items() if name not in OF_THE_AGENT}
            for config in client._config_list  # noqa: SLF001 - as above
        ]
        response = client.create(messages=[{"role": "user", "content": prompt}], cache_seed=None)
        said = client.extract_text_or_completion_object(response)[0]
        return whole(said, response.choices[0].finish_reason)

    async def complete(prompt: str, /) -> str:
        return await asyncio.to_thread(ask, prompt)

    return complete
