"""Bring back what a person asks for of the past, in front of the question.

Promise: only what is out of sight comes back; only a person's newest message asks; with nothing out of sight nothing is
read. What was brought back stays in its place until the next compaction, so that what is sent only grows.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autogen_context.budget.policy import BudgetPolicy
from autogen_context.messages.message import Message
from autogen_context.messages.piece import Piece, Written, messages_of
from autogen_context.recall.exchanges import said_now
from autogen_context.recall.recaller import Recaller
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.view.decisions import Decisions
from autogen_context.view.view import ContextView

LEAST_RETRIEVED = 64  # tokens; with less room nothing is brought back


@dataclass(frozen=True, slots=True)
class InSight:
    """What is sent before the newest message; put together when it is looked at."""

    pieces: Sequence[Piece]
    messages: Sequence[Message]

    def __iter__(self) -> Iterator[Message]:
        """The messages, oldest first."""
        return iter(messages_of(self.pieces, self.messages)[:-1])


@dataclass(frozen=True, slots=True)
class Hidden:
    """The messages of which something is out of sight, by their positions."""

    decisions: Decisions

    def __contains__(self, position: object) -> bool:
        """Whether that of a position is."""
        if not isinstance(position, int) or not 0 <= position < self.decisions.stop:
            return False
        at = bisect_right(self.decisions, position, key=lambda decision: decision.start) - 1
        return self.decisions[at].hides


class Retriever:
    """Brings back what a question asks for."""

    def __init__(self, memory: Recaller, counter: MessageCounter, budget: BudgetPolicy) -> None:
        self._budget = budget
        self._memory = memory
        self._counter = counter

    def retrieved(
        self,
        view: ContextView,
        messages: Sequence[Message],
        pieces: Sequence[Piece],
        *,
        room_tokens: int,
        used_tokens: int,
    ) -> ContextView:
        """The view with what the newest message asks for in front of it; as it was where that is nothing."""
        if not self._is_due(view, messages, pieces):
            return view
        message = self._asked_for(view, messages, room_tokens, used_tokens)
        if message is None:
            return view
        return view.with_before_last(Written(message=message), self._counter.message(message))

    def lacks_room(
        self,
        view: ContextView,
        messages: Sequence[Message],
        pieces: Sequence[Piece],
        *,
        room_tokens: int,
        used_tokens: int,
    ) -> bool:
        """Whether the newest message asks for what is out of sight, and nothing of it fits what is left of the room."""
        if room_tokens - used_tokens >= self._budget.for_turn(room_tokens).retrieved_tokens:
            return False
        if not self._is_due(view, messages, pieces):
            return False
        return self._asked_for(view, messages, room_tokens, used_tokens) is None

    def _is_due(
        self, view: ContextView, messages: Sequence[Message], pieces: Sequence[Piece]
    ) -> bool:
        """Whether something is out of sight that a person asks for now, and is not in front of the question yet."""
        if not view.decisions.hidden or view.decisions[-1].before:
            return False
        query = said_now(messages)
        if not query:
            return False
        self._memory.follow(messages[:-1])  # a question is no answer to itself
        return self._memory.decide(query, InSight(pieces, messages)).retrieve

    def _asked_for(
        self, view: ContextView, messages: Sequence[Message], room_tokens: int, used_tokens: int
    ) -> Message | None:
        most = self._budget.for_turn(room_tokens).retrieved_tokens
        free = min(most, room_tokens - used_tokens)
        if free < LEAST_RETRIEVED:
            return None
        frame = self._counter.message(Message(role="user", own=True))
        text = self._memory.text(
            said_now(messages),
            Hidden(view.decisions),
            room_tokens=free - frame,
            count=self._counter.text,
        )
        return Message(role="user", text=text, own=True) if text else None
