"""The conversations of one agent of classic AutoGen, told apart by their lists, since its hooks do not name the peer.

Promise: a list goes to the manager of a conversation only if it continues what that manager has seen, so that a chat that is
begun anew finds nothing of an earlier one; the number of managers is bounded.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from functools import cached_property
from itertools import takewhile
from operator import is_
from threading import Lock, Thread
from typing import Any, NamedTuple, TypeVar
from weakref import finalize

from autogen_context.adapters.classic_format import ClassicFormat, sent_fields
from autogen_context.adapters.register import AgentContext
from autogen_context.forks import when_forked
from autogen_context.manager.manager import IncrementalContextManager
from autogen_context.manager.options import ManagerOptions
from autogen_context.manager.runner import ToolSchemas
from autogen_context.messages.message import SYSTEM_ROLES
from autogen_context.messages.openai_chat import fields_of
from autogen_context.prioritizer.guarded import is_awaited

ChatDict = dict[str, Any]  # the host's own type
T = TypeVar("T")

CONVERSATIONS = 8  # managers kept; few agents alternate between more than eight peers


class Conversations(AgentContext[ChatDict]):
    """The conversations of one agent, each with its own manager; the hooks do not name the peer.

    If there is a model to ask, a prioritizer to await, a project or a person's memory to read, a turn waits for them (within their time limit) on a separate event loop.

    Attributes:
        manager: the manager of the last turn's conversation; before the first turn, the one it will use.
        last_prepared: the last prepared request; if the agent is known, it begins with its system message.
    """

    def __init__(
        self,
        options: ManagerOptions,
        peers: Callable[[], Iterable[object]] = tuple,
        *,
        later_system: bool = True,
    ) -> None:
        super().__init__(ClassicFormat(peers, later_system=later_system), options)
        self._known: list[Known] = []  # most recently used last
        self._begin_anew()
        when_forked(self._begin_anew)
        self._waits = any(map(options.get, ("model_client", "vectors", "project", "memory")))
        self._waits |= is_awaited(options.get("prioritizer"))

    def prepare(
        self,
        messages: list[ChatDict],
        system: str | None = None,
        tools: ToolSchemas = (),
        required: Iterable[str] = (),
    ) -> tuple[IncrementalContextManager, list[ChatDict]]:
        """Return the conversation's manager and the list to send.

        ``system``, which the host adds itself, is counted but not included; of the tools those that are ``required`` are sent.
        """
        if not messages:
            return self.manager, messages
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
                self._waiting.run(manager.prepare(given, tools, required_tools=required))
                if self._waits
                else manager.prepare_nowait(given, tools, required_tools=required)
            )
            return manager, self.last_prepared.messages[len(own) :]

    def _begin_anew(self) -> None:
        self._lock = Lock()
        vars(self).pop("_waiting", None)  # its thread is the parent's

    @cached_property
    def _waiting(self) -> "Waiting":
        return Waiting()

    def _peer_of(self, messages: list[ChatDict]) -> object:  # noqa: ARG002 - for those who know an agent
        """Return whose chat this list is, ``None`` if that cannot be told."""
        return None

    def _continued(self, messages: list[ChatDict]) -> IncrementalContextManager:
        """Return the manager whose last list ``messages`` continue, a new one if there is none; ties go to the one used last."""
        peer = self._peer_of(messages)
        shares = [(*each.continued_by(messages, peer), i) for i, each in enumerate(self._known)]
        is_live, common, at = max(shares, default=(False, 0, 0))
        if is_live or common:
            manager = self._known.pop(at).manager
        else:
            manager = self._new_manager() if self._known else self.manager
            if peer is not None:  # what its chat was before is gone from the host
                self._known = [each for each in self._known if each.peer is not peer]
        self._known = [*self._known, Known(manager, list(messages), peer)][-CONVERSATIONS:]
        return manager


class Known(NamedTuple):
    """A manager, the last list that it was given, and whose chat that was."""

    manager: IncrementalContextManager
    seen: list[ChatDict]
    peer: object

    def continued_by(self, messages: list[ChatDict], peer: object) -> tuple[bool, int]:
        """Return True if this is the host's own list of the same chat, and how much of it goes on; 0 for another chat.

        A chat that the host keeps is known by its peer and its messages' identity: begun anew, it has new objects. A list of
        copies has to have all that the manager has seen, since another chat may begin alike; to the last message a capability
        may have added something.
        """
        same = shared(self.seen, messages)
        if peer is not None and peer is self.peer:
            is_live = any(messages[0] is each for each in self.seen)  # its front may be shortened
            return is_live, same if is_live else 0
        *before, last = self.seen
        is_whole = same == len(self.seen)
        is_added_to = 0 < same == len(before) and has_added(last, messages[same:])
        return False, same if is_whole or is_added_to else 0


def has_added(message: ChatDict, following: Sequence[ChatDict]) -> bool:
    """Return True if a message is the first of these with text added, and others follow."""
    if len(following) <= 1 or message.get("role") != following[0].get("role"):
        return False
    text, plain = message.get("content"), following[0].get("content")
    return isinstance(text, str) and isinstance(plain, str) and text.startswith(plain)


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
