"""Bring back what a person asks for of the past, in front of the question.

Promise: only what is out of sight comes back; only a person's newest message asks; with nothing out of sight nothing is
read. What was brought back stays in its place until the next compaction, so that what is sent only grows.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from autogen_context.budget.policy import BudgetPolicy
from autogen_context.messages.message import Message
from autogen_context.messages.piece import messages_of
from autogen_context.recall.exchanges import said_now
from autogen_context.session.conversation import Conversation
from autogen_context.session.held import Held
from autogen_context.session.memory import Memory
from autogen_context.tokens.message_counter import MessageCounter

LEAST_TAIL = 64  # tokens; with less room nothing is brought back


@dataclass(frozen=True, slots=True)
class InSight:
    """What is sent before the newest message; put together when it is looked at."""

    conversation: Conversation
    held: Held

    def __iter__(self) -> Iterator[Message]:
        """The messages, oldest first."""
        return iter(messages_of(self.held.pieces, self.conversation.messages)[:-1])


class Tail:
    """Writes what a question brings back.

    Args:
        memory: looks back in the conversation.
        counter: counts messages.
        budget: says how much is brought back.
    """

    def __init__(self, memory: Memory, counter: MessageCounter, budget: BudgetPolicy) -> None:
        self._memory = memory
        self._counter = counter
        self._budget = budget

    def of(
        self, conversation: Conversation, held: Held, *, room_tokens: int, used_tokens: int
    ) -> Message | None:
        """What the newest message asks for, as a message of our own; ``None`` where it asks for nothing, or there is none.

        Args:
            conversation: all there is.
            held: what of it is sent.
            room_tokens: what a request may have.
            used_tokens: what it has already.
        """
        most = self._budget.for_turn(room_tokens).retrieved_tokens
        free = min(most, room_tokens - used_tokens)
        if free < LEAST_TAIL or not self._is_due(conversation, held):
            return None
        query = said_now(conversation.messages)
        overhead = self._counter.message(Message(role="user", own=True))
        text = self._memory.text(
            query, hidden_in(held), room_tokens=free - overhead, count=self._counter.text
        )
        return Message(role="user", text=text, own=True) if text else None

    def lacks_room(
        self, conversation: Conversation, held: Held, *, room_tokens: int, used_tokens: int
    ) -> bool:
        """Whether the newest message asks for what is out of sight, and nothing of it fits what is left of the room."""
        if room_tokens - used_tokens >= self._budget.for_turn(room_tokens).retrieved_tokens:
            return False
        if not self._is_due(conversation, held):
            return False
        fits = self.of(conversation, held, room_tokens=room_tokens, used_tokens=used_tokens)
        return fits is None

    def _is_due(self, conversation: Conversation, held: Held) -> bool:
        """Whether something is out of sight that a person asks for now, and is not in front of the question yet."""
        if not held.hidden or held.decisions[-1].before:
            return False
        query = said_now(conversation.messages)
        return bool(query) and self._asks(query, conversation, held)

    def _asks(self, query: str, conversation: Conversation, held: Held) -> bool:
        """Whether a question asks for what is out of sight; it is not among what was said before itself."""
        self._memory.follow(conversation.messages[:-1])
        return self._memory.decide(query, InSight(conversation, held)).retrieve


def hidden_in(held: Held) -> set[int]:
    """Positions of the messages of which something is out of sight."""
    return {
        position
        for decision in held.decisions
        if decision.hides
        for position in range(decision.start, decision.stop)
    }
