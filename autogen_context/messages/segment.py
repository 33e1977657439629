"""Split a transcript into units that are kept, compressed or dropped as a whole, and repair broken ones.

Promise: the units' messages in order are the transcript, and a tool call is never separated from its results. Feeding
messages one by one or all at once gives the same units. A repaired unit has no orphan, keeps all texts, and depends on that
unit alone; units without faults are unchanged.

A result answers the pending call with its id; without a match (empty, renumbered or repeated ids) the oldest pending call.
"""

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
    grown = list(units)
    for position, message in enumerate(messages, grown[-1].stop if grown else start):
        last = grown[-1] if grown else None
        if message.results and last is not None and last.unanswered:
            pairs, unanswered = pair(last.unanswered, message.results)
            exact = all(
                call and (call.id, role_of(message, call)) == (result.call_id, message.role)
                for call, result in pairs
            )
            grown[-1] = Unit(
                start=last.start,
                messages=(*last.messages, message),
                unanswered=unanswered,
                faulty=last.faulty or not exact,
            )
        else:
            faulty, calls = bool(message.results), message.calls
            unit = Unit(start=position, messages=(message,), unanswered=calls, faulty=faulty)
            grown.append(unit)
    return grown


def role_of(message: Message, call: ToolCall) -> str:
    """Return the role for the result of a call: ``function`` for a ``function_call``, otherwise ``tool``."""
    if call.older and message.role == "tool":
        return "function"
    return "tool" if message.role == "function" and not call.older else message.role


def pair(
    calls: Sequence[ToolCall], results: Sequence[ToolResult]
) -> tuple[list[tuple[ToolCall | None, ToolResult]], tuple[ToolCall, ...]]:
    """Pair each result with the call it answers, or ``None``; also return the calls without a result."""
    left = list(calls)
    pairs: list[tuple[ToolCall | None, ToolResult]] = []
    for result in results:
        ids = [call.id for call in left]
        at = ids.index(result.call_id) if result.call_id in ids else 0
        pairs.append((left.pop(at) if left else None, result))
    return pairs, tuple(left)


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
    """Convert results without a call to a marked user message, with any text beside them."""
    message = without_images(message)
    said = [message.text] if message.text else []
    text = "\n".join(
        [NO_CALL, *(block(result.text) for result in message.results), *map(block, said)]
    )
    return Message(role="user", text=text, own=True)


def with_matching_ids(unit: Unit) -> tuple[Piece, ...]:
    """Give each result the id and role of its call; a surplus result is appended, marked, to the one before."""
    first, *rest = unit.messages
    pieces: list[Piece] = [Verbatim(start=unit.start, stop=unit.start + 1)]
    unanswered: tuple[ToolCall, ...] = first.calls
    for index, message in enumerate(rest, unit.start + 1):
        pairs, unanswered = pair(unanswered, message.results)
        results, role = list[ToolResult](), message.role
        for call, result in pairs:
            if call is None:
                text = f"{results[-1].text}\n{NO_CALL}\n{result.text}"
                results[-1] = replace(results[-1], text=text)
            else:
                role = role if results else role_of(message, call)
                name = call.name if call.older else result.name
                results.append(replace(result, call_id=call.id, name=name))
        written = replace(message, role=role, results=tuple(results))
        if role != message.role:  # the older form has no images
            written = without_images(written)
        as_is = Verbatim(start=index, stop=index + 1)
        pieces.append(as_is if written == message else Written(message=written, index=index))
    return tuple(pieces)
