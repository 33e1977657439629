"""Tell the conversations of one agent apart, since a classic hook is not told who it is talking to, and ask back from them.

Promise: a list that continues what a manager saw goes to that manager; a list that none of them knows gets a new one;
how many are kept is bounded. Each agent gets back what left its own window, also where one agent runs the tools of several.
"""

import asyncio
import copy
import warnings
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import takewhile
from operator import is_
from threading import Lock, Thread
from typing import Any, TypeVar
from weakref import finalize

from autogen_context.adapters.classic_format import sent_fields
from autogen_context.adapters.register import AgentContext
from autogen_context.errors import CompletionFailed
from autogen_context.manager.manager import IncrementalContextManager, ToolSchemas
from autogen_context.manager.prepared import Prepared
from autogen_context.messages.message import SYSTEM_ROLES
from autogen_context.messages.openai_chat import fields_of
from autogen_context.messages.tool_schema import (
    NOTHING_LEFT,
    RECALL_TOOL_NAME,
    answer_recall,
    has_recall_tool,
    recall_tool_schema,
)
from autogen_context.models.completion import Complete

ChatDict = dict[str, Any]  # the host's own type

OF_THE_AGENT = frozenset({"tools", "functions", "tool_choice", "response_format", "cache_seed"})
T = TypeVar("T")
CONVERSATIONS = 8  # kept at once; few agents talk with more than eight others in turns


class Conversations(AgentContext[ChatDict]):
    """The conversations of one agent, each with a manager of its own.

    Args:
        new_manager: makes the manager of a conversation.
        waits: let a turn wait for the model that it asks, within its time limit, on an event loop of its own.

    Attributes:
        manager: that of the conversation of the last turn; before the first, that of the first.
        last_prepared: what the last turn gave; where the agent is known, its system message stands at position 0.
    """

    def __init__(
        self, new_manager: Callable[[], IncrementalContextManager], *, waits: bool = False
    ) -> None:
        self.manager = new_manager()
        self.last_prepared: Prepared[ChatDict] | None = None
        self._new_manager = new_manager
        # With the host's list as it was last; the conversation of the last turn at the end.
        self._known: list[tuple[IncrementalContextManager, list[ChatDict]]] = []
        self._lock = Lock()
        self._waits = waits

    def prepare(
        self, messages: list[ChatDict], *, system: str | None = None, tools: ToolSchemas = ()
    ) -> list[ChatDict]:
        """The list to send, as ``prepare_nowait`` makes it; ``system`` is what the host adds, counted and not in it."""
        if not messages:
            return messages
        with self._lock:
            self.manager = self._continued(messages)
            own = [] if system is None else [{"role": "system", "content": system}]
            if own and self.manager.config.single_system:  # the model takes the agent's alone
                messages = [
                    {**message, "role": "user"} if message.get("role") in SYSTEM_ROLES else message
                    for message in messages
                ]
            given = [*own, *messages]
            self.last_prepared = (
                self._waiting.run(self.manager.prepare(given, tools))
                if self._waits
                else self.manager.prepare_nowait(given, tools)
            )
            return self.last_prepared.messages[len(own) :]

    @cached_property
    def _waiting(self) -> "Waiting":
        return Waiting()

    def _continued(self, messages: list[ChatDict]) -> IncrementalContextManager:
        """The manager that saw most of its messages in front of this list, the latest of equals; half at least.

        Less than half is another conversation that began alike: the two would take turns in undoing each other's cuts.
        """
        shares = [(shared(seen, messages), i) for i, (_, seen) in enumerate(self._known)]
        enough = [(n, i) for n, i in shares if n and 2 * n >= len(self._known[i][1])]
        if enough:
            manager, _ = self._known.pop(max(enough)[1])
        else:
            manager = self._new_manager() if self._known else self.manager
        self._known = [*self._known, (manager, list(messages))][-CONVERSATIONS:]
        return manager


class Waiting:
    """An event loop in a thread, for hooks that cannot wait for one of their own; it ends with its owner."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        stop = asyncio.Event()
        thread = Thread(target=serve, args=(self._loop, stop), name="autogen_context", daemon=True)
        thread.start()
        finalize(self, self._loop.call_soon_threadsafe, stop.set)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do some work there and wait for it."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


def serve(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    """Run a loop until it is told to stop; what is under way is cancelled."""
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(wait_for(stop))


async def wait_for(stop: asyncio.Event) -> None:
    """Wait until the owner is gone."""
    await stop.wait()


def complete_with(agent: Any) -> Complete:
    """The models of an agent as what a ``SemanticCompressor`` asks: without its tools, its cache and its bill."""

    def ask(prompt: str) -> str:
        if agent.client is None:
            raise CompletionFailed("the agent has no client")
        client = copy.copy(agent.client)
        client.actual_usage_summary = client.total_usage_summary = None
        client._config_list = [  # noqa: SLF001 - where the host merges its tools into each call
            {name: each for name, each in config.items() if name not in OF_THE_AGENT}
            for config in client._config_list  # noqa: SLF001 - likewise
        ]
        response = client.create(messages=[{"role": "user", "content": prompt}], cache_seed=None)
        reason = response.choices[0].finish_reason
        said = client.extract_text_or_completion_object(response)[0]
        if not isinstance(said, str) or reason in ("length", "content_filter"):
            raise CompletionFailed("it is broken off, filtered, or calls a tool")
        return said

    async def complete(prompt: str, /) -> str:
        return await asyncio.to_thread(ask, prompt)

    return complete


def shared(seen: Sequence[ChatDict], messages: Sequence[ChatDict]) -> int:
    """How many messages two lists have in common at the front; identity first, since most are the same objects."""
    at = sum(1 for _ in takewhile(bool, map(is_, seen, messages)))
    return at + sum(1 for _ in takewhile(bool, map(is_same, seen[at:], messages[at:])))


def is_same(one: ChatDict, other: ChatDict) -> bool:
    """Whether two messages are sent as the same."""
    return one == other or sent_fields(fields_of(one)) == sent_fields(fields_of(other))


def give_recall_tool(
    agent: Any, conversations: Conversations, messages: list[ChatDict]
) -> list[ChatDict]:
    """Give an agent that has tools one more, and those who run its calls the function; the messages stay as they are.

    In classic AutoGen the agent that asks a model does not run what the model calls: whom it talks to does, and in a group
    any member that has the function. They are known before the agent's reply.
    """
    config: Mapping[str, Any] = agent.llm_config or {}
    tools: list[dict[str, Any]] = config.get("tools") or []
    last: object = messages[-1] if messages else None
    if (
        not tools
        or not isinstance(last, dict)
        or last.get("tool_calls")
        or last.get("function_call")
    ):
        return messages  # no model is asked now
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
                stacklevel=2,
            )
            return messages
        answering.conversations = conversations
    if not has_recall_tool(tools):
        agent.update_tool_signature(recall_tool_schema(), is_remove=False)
    return messages


def executors_of(agent: Any) -> Iterator[Any]:
    """Who may run what an agent's model calls: whom it talks to, and in a group itself and the members that run tools."""
    for peer in [agent, *agent.chat_messages]:
        members = getattr(getattr(peer, "groupchat", None), "agents", ())
        running = [peer, *(each for each in members if getattr(each, "function_map", None))]
        yield from (each for each in running if hasattr(each, "register_function"))


class Answering:
    """The function of one executor, which is not told who calls it: it answers for the agent that spoke last."""

    conversations: Conversations | None = None

    def recall_context(self, **arguments: object) -> str:
        """Answer a call; see ``RECALL_ARGUMENTS``."""
        if self.conversations is None or self.conversations.last_prepared is None:
            return NOTHING_LEFT
        return answer_recall(self.conversations.manager, arguments)
