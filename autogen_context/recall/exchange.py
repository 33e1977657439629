"""What a person said and what was answered, as one whole.

Promise: the exchanges, in order, cover every message from the first that is no system message to the last, and none
twice. What a person said is never parted from its answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from autogen_context.messages.message import SYSTEM_ROLES, Message


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
