"""A conversation as exchanges: what a person said and what was answered, in which tier of memory it is, and what was said last.

Promise: the exchanges, in order, cover every message from the first that is no system message to the last, and none
twice. What a person said is never parted from its answer. Every message of an exchange is in exactly one tier, the newest in
the first; no exchange and no tool pair is parted. Output that a host sends in a person's role is nothing that a person said
last, and nor is what is our own.

``immediate``
    the last 3 exchanges, word for word.
``working``
    the 4th to the 10th newest exchange, of which ``selection`` says what stays.
``retrieved``
    what is older: it comes back on demand, through ``search``.

The fourth tier are the ``Facts``, which have no place in the list. Tiers are asked for at a compaction and shape the tail;
between compactions nothing slides.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from autogen_context.messages.message import SYSTEM_ROLES, Message
from autogen_context.messages.openai_chat import messages_in
from autogen_context.messages.people import words_and_output

Tier = Literal["immediate", "working", "retrieved"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A person's messages and all that followed until a person spoke again.

    Attributes:
        start: position of the first message in the conversation, from 0.
        stop: position after the last one.
        asked: the person's messages, from ``start`` on; none where the assistant opened the conversation.
        answered: the last thing that the assistant said in words; what it did on the way (calls, results) is not in it.
    """

    start: int
    stop: int
    asked: tuple[Message, ...]
    answered: Message | None = None

    @property
    def messages(self) -> tuple[Message, ...]:
        """Question and answer, in order."""
        return (*self.asked, self.answered) if self.answered is not None else self.asked


class Exchanges:
    """The exchanges of a conversation that grows: those that are over are not read again."""

    def __init__(self) -> None:
        self._over: list[Exchange] = []

    def truncate(self, messages: int) -> None:
        """Forget what may be otherwise when only so many messages of the conversation are left as they were."""
        while self._over and self._over[-1].stop >= messages:
            self._over.pop()

    def of(self, messages: Sequence[Message]) -> list[Exchange]:
        """The exchanges of the conversation as it stands now, as ``exchanges``."""
        found = exchanges(messages, start=self._over[-1].stop if self._over else 0)
        self._over += found[:-1]
        return [*self._over, *found[-1:]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiers:
    """Positions by tier, from 0; one behind the other, the oldest first."""

    retrieved: range
    working: range
    immediate: range

    def tier_of(self, position: int) -> Tier | None:
        """The tier of a message, or of a unit by its first; ``None`` for the system messages that open the list."""
        if position in self.immediate:
            return "immediate"
        if position in self.working:
            return "working"
        return "retrieved" if position in self.retrieved else None


def exchanges(messages: Sequence[Message], *, start: int = 0) -> list[Exchange]:
    """The exchanges of a conversation, oldest first.

    Args:
        messages: the whole conversation; positions are counted in it.
        start: where an exchange begins; those before it are left out.
    """
    places = range(start, len(messages))
    starts = [at for at in places if opens(messages, at)]
    first = next((at for at in places if messages[at].role not in SYSTEM_ROLES), len(messages))
    starts = starts if starts[:1] == [first] else [first, *starts]
    stops = [*starts[1:], len(messages)]
    return [
        exchange(messages, start, stop)
        for start, stop in zip(starts, stops, strict=True)
        if start < stop
    ]


def exchange(messages: Sequence[Message], start: int, stop: int) -> Exchange:
    """The exchange of these messages."""
    spoken = start
    while spoken < stop and is_of_a_person(messages[spoken]):
        spoken += 1
    return Exchange(
        start=start,
        stop=stop,
        asked=tuple(messages[start:spoken]),
        answered=answer_in(messages[spoken:stop]),
    )


def opens(messages: Sequence[Message], at: int) -> bool:
    """Whether a person begins to speak here."""
    return is_of_a_person(messages[at]) and (at == 0 or not is_of_a_person(messages[at - 1]))


def is_of_a_person(message: Message) -> bool:
    """Whether a person said this; hosts that send results in the user's role do not count as one."""
    return message.role == "user" and not message.results


def answer_in(messages: Sequence[Message]) -> Message | None:
    """The last words of the assistant, rather without a call than with one."""
    spoken = [m for m in messages if m.role == "assistant" and m.text.strip()]
    final = [m for m in spoken if not m.calls] or spoken
    return final[-1] if final else None


def tiers(
    messages: Sequence[object], *, immediate_exchanges: int = 3, working_exchanges: int = 7
) -> Tiers:
    """The tiers of a conversation as it stands now.

    Args:
        messages: the whole conversation, in OpenAI's format or as ``Message``.
        immediate_exchanges: how many of the newest stay word for word.
        working_exchanges: how many before these are in working memory.

    Raises:
        ValueError: a number is negative, or it is no list.
        InvalidTranscript: one is no message.
    """
    for name, number in (
        ("immediate_exchanges", immediate_exchanges),
        ("working_exchanges", working_exchanges),
    ):
        if number < 0:
            raise ValueError(f"{name} must be 0 or more, got {number}")
    said = list(messages_in(messages))
    borders = [exchange.start for exchange in exchanges(said)] + [len(said)]
    last = len(borders) - 1
    immediate = borders[max(0, last - immediate_exchanges)]
    working = borders[max(0, last - immediate_exchanges - working_exchanges)]
    return Tiers(
        retrieved=range(borders[0], working),
        working=range(working, immediate),
        immediate=range(immediate, len(said)),
    )


def newest_request(messages: Sequence[Message]) -> str:
    """What a person, or the orchestrator in a person's role, said last; empty where nobody did."""
    return next(filter(None, (said_at(messages, i) for i in reversed(range(len(messages))))), "")


def said_now(messages: Sequence[Message]) -> str:
    """What a person says in the newest message; empty where it is another's."""
    return said_at(messages, len(messages) - 1) if messages else ""


def said_at(messages: Sequence[Message], at: int) -> str:
    """What a person says in a message, without the space around it."""
    message = messages[at]
    if message.role != "user" or message.own or message.results:
        return ""
    return words_and_output(message, messages[at - 1] if at else None)[0].strip()
