"""Tell the conversations of one agent apart, since a classic hook is not told who it is talking to.

Promise: a list that continues what a manager saw goes to that manager; a list that none of them knows gets a new one;
how many are kept is bounded.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from operator import is_
from threading import Lock
from typing import Any

from autogen_context.adapters.agent_context import AgentContext
from autogen_context.adapters.classic_format import sent_fields
from autogen_context.manager.manager import IncrementalContextManager, ToolSchemas
from autogen_context.manager.prepared import Prepared
from autogen_context.messages.message import SYSTEM_ROLES
from autogen_context.messages.openai_chat import fields_of

ChatDict = dict[str, Any]  # the host's own type

CONVERSATIONS = 8  # kept at once; few agents talk with more than eight others in turns


@dataclass(slots=True, kw_only=True)
class Followed:
    """One conversation: its manager, and the host's list as it was last."""

    manager: IncrementalContextManager
    seen: list[ChatDict] = field(default_factory=list[ChatDict])


class Conversations(AgentContext[ChatDict]):
    """The conversations of one agent, each with a manager of its own.

    Args:
        new_manager: makes the manager of a conversation.

    Attributes:
        manager: that of the conversation of the last turn; before the first, that of the first.
        last_prepared: what the last turn gave; where the agent is known, its system message stands at position 0.
    """

    def __init__(self, new_manager: Callable[[], IncrementalContextManager]) -> None:
        self.manager = new_manager()
        self.last_prepared: Prepared[ChatDict] | None = None
        self._new_manager = new_manager
        self._known: list[Followed] = []  # the one of the last turn at the end
        self._lock = Lock()

    def prepare(
        self, messages: list[ChatDict], *, system: str | None = None, tools: ToolSchemas = ()
    ) -> list[ChatDict]:
        """The list to send, as ``IncrementalContextManager.prepare_nowait`` makes it.

        Args:
            messages: the host's list.
            system: the system message that the host adds to it; counted, and not in the result.
            tools: the schemas that go with the request, to be counted.

        Raises:
            InvalidTranscript: a message cannot be read, or there are orphans and ``orphans="refuse"``.
            ContextWindowExceeded: what must stay does not fit.
        """
        if not messages:
            return messages
        with self._lock:
            conversation = self._followed(messages)
            self.manager = conversation.manager
            own = [] if system is None else [{"role": "system", "content": system}]
            if own and conversation.manager.config.single_system:
                messages = [demoted(message) for message in messages]
            self.last_prepared = conversation.manager.prepare_nowait([*own, *messages], tools)
            return self.last_prepared.messages[len(own) :]

    def _followed(self, messages: list[ChatDict]) -> Followed:
        """The conversation that this list continues."""
        found = continued(self._known, messages)
        if found is None:
            found = Followed(manager=self._new_manager() if self._known else self.manager)
        found.seen = list(messages)
        others = [conversation for conversation in self._known if conversation is not found]
        self._known = [*others, found][-CONVERSATIONS:]
        return found


def continued(known: Sequence[Followed], messages: Sequence[ChatDict]) -> Followed | None:
    """The conversation that has most of its messages in front of this list, the latest of equals; half at least.

    Less than half is another conversation that began alike: the two would take turns in undoing each other's cuts.
    """
    shares = [(shared(c.seen, messages), i) for i, c in enumerate(known)]
    enough = [(n, i) for n, i in shares if n and 2 * n >= len(known[i].seen)]
    return known[max(enough)[1]] if enough else None


def shared(seen: Sequence[ChatDict], messages: Sequence[ChatDict]) -> int:
    """How many messages two lists have in common at the front; identity first, since most are the same objects."""
    at = sum(1 for _ in takewhile(bool, map(is_, seen, messages)))
    return at + sum(1 for _ in takewhile(bool, map(is_same, seen[at:], messages[at:])))


def is_same(one: ChatDict, other: ChatDict) -> bool:
    """Whether two messages are sent as the same."""
    return one == other or sent_fields(fields_of(one)) == sent_fields(fields_of(other))


def demoted(message: ChatDict) -> ChatDict:
    """A system message in the host's list as one of the user, where the model takes the agent's alone."""
    return {**message, "role": "user"} if message.get("role") in SYSTEM_ROLES else message
