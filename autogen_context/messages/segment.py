"""Cut a transcript into units that are kept, compressed or dropped whole, and repair those that came in broken.

Promise: the messages of the units, in order, are those of the transcript, and no cut falls between a tool call and its
results; feeding messages one by one or all at once gives the same units. A repaired unit has no orphan, holds all texts of
the broken one, and depends on that unit alone; one without faults is left as it is.

A result answers the open call with its id; where none has it (empty, renumbered or repeated ids), the oldest open call.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from autogen_context.messages.message import Message, ToolCall, ToolResult, without_images
from autogen_context.messages.piece import Piece, Verbatim, Written

NO_RESULT = "[no result of this call was recorded]"
NO_CALL = "[result of a tool call that is not in this conversation]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A message, or an assistant message with all results of its calls."""

    start: int  # position of the first message in the transcript
    messages: tuple[Message, ...]  # one or more, in order
    unanswered: tuple[ToolCall, ...] = ()  # the calls that have no result (yet)
    faulty: bool = False  # results do not name the call that they answer, or there is no such call

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


def repaired(unit: Unit, *, last: bool) -> tuple[Piece, ...]:
    """The unit as it may be sent, a piece for each message; a call at the end of the transcript is pending, not broken."""
    if unit.is_stray:
        return (Written(message=as_user(unit.messages[0]), index=unit.start),)
    pieces = with_matching_ids(unit) if unit.faulty else as_it_came(unit)
    for call in () if last else unit.unanswered:
        result = ToolResult(call_id=call.id, text=NO_RESULT, name=call.name)
        role = "function" if call.older else "tool"
        pieces += (Written(message=Message(role=role, results=(result,), own=True)),)
    return pieces


def as_it_came(unit: Unit) -> tuple[Piece, ...]:
    """The unit unchanged, a piece for each message."""
    return tuple([Verbatim(start=i, stop=i + 1) for i in range(unit.start, unit.stop)])


def as_user(message: Message) -> Message:
    """Results without a call, and what a person said beside them, as a marked message of the user."""
    message = without_images(message)
    said = [message.text] if message.text else []
    text = "\n".join([NO_CALL, *(result.text for result in message.results), *said])
    return Message(role="user", text=text, own=True)


def with_matching_ids(unit: Unit) -> tuple[Piece, ...]:
    """The unit with each result under the id and in the role of its call; one too many joins the one before it, marked."""
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
        if role != message.role:  # the other form has no images
            written = without_images(written)
        as_is = Verbatim(start=index, stop=index + 1)
        pieces.append(as_is if written == message else Written(message=written, index=index))
    return tuple(pieces)
