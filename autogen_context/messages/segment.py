"""Split a transcript into units that are kept, compressed or dropped as a whole, and repair broken ones.

Promise: the units' messages in order are the transcript, and a tool call is never separated from its results. Feeding
messages one by one or all at once gives the same units. A repaired unit has no orphan, keeps all texts, and depends on that
unit alone; units without faults are unchanged.

A result answers the pending call with its id; without a match (empty, renumbered or repeated ids) the oldest pending call.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from autogen_context.messages.message import Message, ToolCall, ToolResult, without_images
from autogen_context.messages.piece import Piece, Verbatim, Written
from autogen_context.text.quote import block

NO_RESULT = "[no result of this call was recorded]"
NO_CALL = "[result of a tool call that is not in this conversation, quoted]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A message, or an assistant message with all results of its calls."""

    start: int  # position of the first message in the transcript
    messages: tuple[Message, ...]  # one or more, in order
    unanswered: tuple[ToolCall, ...] = ()  # calls without a result
    faulty: bool = False  # a result has a wrong id or role, or no call

    @property
    def stop(self) -> int:
        """Position after the last message."""
        return self.start + len(self.messages)

    @property
    def has_calls(self) -> bool:
        """Whether this is an assistant message with tool calls."""
        return bool(self.messages[0].calls)

    @property
    def is_stray(self) -> bool:
        """Whether this is a result without a call."""
        return bool(self.messages[0].results)


def segment(messages: Iterable[Message], *, start: int = 0) -> list[Unit]:
    """Split a transcript whose first message has position ``start``."""
    return extend([], messages, start=start)


def extend(units: Sequence[Unit], messages: Iterable[Message], *, start: int = 0) -> list[Unit]:
    """Return the units after more messages; of the given ones only the last may grow."""
    grown, rest = list(units), deque(messages)
    position = grown[-1].stop if grown else start
    while rest:
        if grown and grown[-1].unanswered and rest[0].results:
            grown[-1] = answered(grown[-1], rest)
        else:
            message = rest.popleft()
            faulty, calls = bool(message.results), message.calls
            unit = Unit(start=position, messages=(message,), unanswered=calls, faulty=faulty)
            grown.append(unit)
        position = grown[-1].stop
    return grown


def answered(unit: Unit, messages: deque[Message]) -> Unit:
    """Return a unit with the results that its calls wait for, which are taken from the front of ``messages``."""
    waiting, taken, faulty = OpenCalls(unit.unanswered), list[Message](), unit.faulty
    while messages and messages[0].results and waiting.left:
        message = messages.popleft()
        taken.append(message)
        for result in message.results:
            call = waiting.answered(result)
            same = call and (call.id, role_of(message, call)) == (result.call_id, message.role)
            faulty = faulty or not same
    whole, left = (*unit.messages, *taken), tuple(waiting.left.values())
    return Unit(start=unit.start, messages=whole, unanswered=left, faulty=faulty)


def role_of(message: Message, call: ToolCall) -> str:
    """Return the role for the result of a call: ``function`` for a ``function_call``, otherwise ``tool``."""
    if call.older and message.role == "tool":
        return "function"
    return "tool" if message.role == "function" and not call.older else message.role


def pair(
    calls: Sequence[ToolCall], results: Sequence[ToolResult]
) -> tuple[list[tuple[ToolCall | None, ToolResult]], tuple[ToolCall, ...]]:
    """Pair each result with the call it answers, or ``None``; also return the calls without a result."""
    waiting = OpenCalls(calls)
    return [(waiting.answered(result), result) for result in results], tuple(waiting.left.values())


class OpenCalls:
    """Calls that wait for their results; each is found in the same time, however many there are."""

    def __init__(self, calls: Sequence[ToolCall]) -> None:
        self.left = dict(enumerate(calls))  # those without a result, oldest first, by their place
        self._oldest = 0
        self._places: dict[str, deque[int]] = {}
        for place, call in self.left.items():
            self._places.setdefault(call.id, deque()).append(place)

    def answered(self, result: ToolResult) -> ToolCall | None:
        """Return the call that a result answers, which then waits no longer: one with its id, else the oldest."""
        if not self.left:
            return None
        while self._oldest not in self.left:
            self._oldest += 1
        places = self._places.get(result.call_id)
        call = self.left.pop(places[0] if places else self._oldest)
        self._places[call.id].popleft()  # of one id the oldest is answered first
        return call


def repaired(unit: Unit, *, last: bool) -> tuple[Piece, ...]:
    """Return the unit in a valid form, one piece per message; in the ``last`` unit calls may be pending."""
    if unit.is_stray:
        return (Written(message=as_user(unit.messages[0]), index=unit.start),)
    pieces = with_matching_ids(unit) if unit.faulty else as_it_came(unit)
    for call in () if last else unit.unanswered:
        result = ToolResult(call_id=call.id, text=NO_RESULT, name=call.name)
        role = "function" if call.older else "tool"
        pieces += (Written(message=Message(role=role, results=(result,), own=True)),)
    return pieces


def as_it_came(unit: Unit) -> tuple[Piece, ...]:
    """Return the unit unchanged, one piece per message."""
    return tuple([Verbatim(start=i, stop=i + 1) for i in range(unit.start, unit.stop)])


def as_user(message: Message) -> Message:
    """Convert results without a call to a marked user message, with any text of theirs."""
    message = without_images(message)
    texts = [*(result.text for result in message.results), *filter(None, [message.text])]
    return Message(role="user", text="\n".join([NO_CALL, *map(block, texts)]), own=True)


def with_matching_ids(unit: Unit) -> tuple[Piece, ...]:
    """Give each result the id and role of its call; surplus results are quoted behind the last one that has a call."""
    first, *rest = unit.messages
    pieces: list[Piece] = [Verbatim(start=unit.start, stop=unit.start + 1)]
    unanswered: tuple[ToolCall, ...] = first.calls
    for index, message in enumerate(rest, unit.start + 1):
        pairs, unanswered = pair(unanswered, message.results)
        results, role, surplus = list[ToolResult](), message.role, list[str]()
        for call, result in pairs:
            if call is None:
                surplus.append(block(result.text))
            else:
                role = role if results else role_of(message, call)
                name = call.name if call.older else result.name
                results.append(replace(result, call_id=call.id, name=name))
        if surplus:
            text = "\n".join((results[-1].text, NO_CALL, *surplus))
            results[-1] = replace(results[-1], text=text)
        written = replace(message, role=role, results=tuple(results))
        if role != message.role:  # the older form has no images
            written = without_images(written)
        as_is = Verbatim(start=index, stop=index + 1)
        pieces.append(as_is if written == message else Written(message=written, index=index))
    return tuple(pieces)
