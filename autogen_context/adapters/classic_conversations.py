"""Assigns messages to the conversations of a classic agent, whose hooks do not name the peer, and adds the recall tool.

Promise: a list that continues a known conversation goes to the manager of that conversation; any other list gets a new
manager; the number of managers is bounded. ``recall_context`` returns the originals of the agent that called it, even if
one agent executes the tools of several.
"""

import asyncio
import copy
import warnings
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import takewhile
from operator import is_
from threading import Lock, Thread
from typing import Any, TypeVar
from weakref import finalize

from autogen_context.adapters.classic_format import ClassicFormat, sent_fields
from autogen_context.adapters.register import AgentContext
from autogen_context.errors import CompletionFailed
from autogen_context.manager.manager import IncrementalContextManager
from autogen_context.manager.parts import ManagerOptions
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

OF_THE_AGENT = frozenset({"tools", "functions", "tool_choice", "response_format", "cache_seed"})
T = TypeVar("T")
CONVERSATIONS = 8  # managers kept; few agents alternate between more than eight peers


class Conversations(AgentContext[ChatDict]):
    """The conversations of one agent, each with its own manager.

    If there is a model to ask or a project to read, a turn waits for them (within their time limit) on a separate event loop.

    Attributes:
        manager: the manager of the last turn's conversation; before the first turn, the one it will use.
        last_prepared: the last prepared request; if the agent is known, it begins with its system message.
    """

    def __init__(self, options: ManagerOptions) -> None:
        super().__init__(ClassicFormat(), options)
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
            self.manager = self._continued(messages)
            own = [] if system is None else [{"role": "system", "content": system}]
            if own and self.manager.config.single_system:
                messages = list(
                    map(as_users, messages)
                )  # only the agent's own may be a system message
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


def as_users(message: ChatDict) -> ChatDict:
    """Return a system message as the user's, any other as it is."""
    return {**message, "role": "user"} if message.get("role") in SYSTEM_ROLES else message


def shared(seen: Sequence[ChatDict], messages: Sequence[ChatDict]) -> int:
    """Return the length of the common prefix; compares by identity first, since most messages are the same objects."""
    at = sum(1 for _ in takewhile(bool, map(is_, seen, messages)))
    return at + sum(1 for _ in takewhile(bool, map(is_same, seen[at:], messages[at:])))


def is_same(one: ChatDict, other: ChatDict) -> bool:
    """Return True if two messages are equal as sent."""
    return one == other or sent_fields(fields_of(one)) == sent_fields(fields_of(other))


def give_recall_tool(agent: Any, conversations: Conversations, messages: list[ChatDict]) -> None:
    """Add the recall tool to an agent with tools, and its function to their executors.

    In classic AutoGen tool calls are not run by the agent that asks the model but by its peer, or in a group by any member
    with the function. The executors are known before the agent's reply.
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
        return  # no model call with tools follows
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
            return
        answering.conversations = conversations
    if not has_recall_tool(tools):
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
