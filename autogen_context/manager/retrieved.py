"""Bring back what a person asks for of the past, in front of the question.

Promise: only what is out of sight comes back; only a person's newest message asks; with nothing out of sight nothing is
read. What was brought back stays in its place until the next compaction, so that what is sent only grows.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autogen_context.budget.policy import BudgetPolicy
from autogen_context.messages.message import Message
from autogen_context.messages.piece import Piece, messages_of
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

    def answer(
        self,
        view: ContextView,
        messages: Sequence[Message],
        pieces: Sequence[Piece],
        room_tokens: int,
        used_tokens: int,
    ) -> tuple[bool, Message | None]:
        """Whether a person asks now for what is out of sight and not in front of the question yet, and what has room of it."""
        if not view.decisions.hidden or view.decisions[-1].before:
            return False, None
        query = said_now(messages)
        if not query:
            return False, None
        self._memory.follow(messages[:-1])  # a question is no answer to itself
        if not self._memory.decide(query, InSight(pieces, messages)).retrieve:
            return False, None
        most = self._budget.for_turn(room_tokens).retrieved_tokens
        free = min(most, room_tokens - used_tokens)
        if free < LEAST_RETRIEVED:
            return True, None
        text = self._memory.text(
            query,
            Hidden(view.decisions),
            room_tokens=free - self._counter.message(Message(role="user", own=True)),
            count=self._counter.text,
        )
        return True, Message(role="user", text=text, own=True) if text else None
