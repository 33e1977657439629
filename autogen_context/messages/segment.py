"""Cut a transcript into units that are kept, compressed or dropped whole.

Promise: the messages of the units, in order, are the messages of the transcript, and no cut falls between a tool call
and its results. Feeding messages one by one or all at once gives the same units.

A result answers the open call with its id; where none has it (empty, renumbered or repeated ids), the oldest open call.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from autogen_context.messages.message import Message, ToolCall, ToolResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A message, or an assistant message with all results of its calls.

    Attributes:
        start: position of the first message in the transcript.
        messages: one or more, in order.
        unanswered: the calls that have no result (yet).
        faulty: results do not name the call that they answer, or there is no such call.
    """

    start: int
    messages: tuple[Message, ...]
    unanswered: tuple[ToolCall, ...] = ()
    faulty: bool = False

    @property
    def stop(self) -> int:
        """Position after the last message."""
        return self.start + len(self.messages)

    @property
    def has_calls(self) -> bool:
        """Whether this is a call with its results."""
        return bool(self.messages[0].calls)

    @property
    def is_stray(self) -> bool:
        """Whether this is a result that no call precedes."""
        return bool(self.messages[0].results)


def segment(messages: Iterable[Message], *, start: int = 0) -> list[Unit]:
    """The units of a transcript whose first message stands at position ``start``."""
    return extend([], messages, start=start)


def extend(units: Sequence[Unit], messages: Iterable[Message], *, start: int = 0) -> list[Unit]:
    """The units after more messages: those given, of which only the last may have grown, and new ones."""
    grown = list(units)
    for position, message in enumerate(messages, grown[-1].stop if grown else start):
        last = grown[-1] if grown else None
        if message.results and last is not None and last.unanswered:
            grown[-1] = answered(last, message)
        else:
            faulty, calls = bool(message.results), message.calls
            unit = Unit(start=position, messages=(message,), unanswered=calls, faulty=faulty)
            grown.append(unit)
    return grown


def answered(unit: Unit, message: Message) -> Unit:
    """The unit with one more message of results."""
    pairs, unanswered = pair(unit.unanswered, message.results)
    exact = all(
        call is not None and (call.id, role_of(message, call)) == (result.call_id, message.role)
        for call, result in pairs
    )
    return Unit(
        start=unit.start,
        messages=(*unit.messages, message),
        unanswered=unanswered,
        faulty=unit.faulty or not exact,
    )


def role_of(message: Message, call: ToolCall) -> str:
    """In which role a message with the result of a call stands: a ``function_call`` is answered by a ``function``, no other is."""
    if call.older and message.role == "tool":
        return "function"
    return "tool" if message.role == "function" and not call.older else message.role


def pair(
    calls: Sequence[ToolCall], results: Sequence[ToolResult]
) -> tuple[list[tuple[ToolCall | None, ToolResult]], tuple[ToolCall, ...]]:
    """Each result with the call that it answers, and the calls that are left; ``None`` where no call is left."""
    left = list(calls)
    pairs: list[tuple[ToolCall | None, ToolResult]] = []
    for result in results:
        ids = [call.id for call in left]
        at = ids.index(result.call_id) if result.call_id in ids else 0
        pairs.append((left.pop(at) if left else None, result))
    return pairs, tuple(left)
