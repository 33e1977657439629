"""Give every call its result and every result its call, in a transcript that came in broken.

Promise: a repaired unit has no orphan, holds all texts of the broken one, and depends on that unit alone. A transcript
without faults is left as it is.

- a call without result, followed by other messages, gets a marked result that says so;
- a result under another id, or in the form of another time, gets the id and the role of the call that it answers;
- a result without any call becomes a marked message in the role of the user.
"""

from dataclasses import replace

from autogen_context.messages.message import Message, ToolCall, ToolResult, without_images
from autogen_context.messages.piece import Piece, Verbatim, Written
from autogen_context.messages.segment import Unit, pair, role_of

NO_RESULT = "[no result of this call was recorded]"
NO_CALL = "[result of a tool call that is not in this conversation]"


def repaired(unit: Unit, *, last: bool) -> tuple[Piece, ...]:
    """The unit as it may be sent, a piece for each message; a call at the end of the transcript is pending, not broken."""
    if unit.is_stray:
        return (Written(message=as_user(unit.messages[0]), index=unit.start),)
    pieces = with_matching_ids(unit) if unit.faulty else as_it_came(unit)
    if unit.unanswered and not last:
        pieces += tuple(Written(message=no_result(call)) for call in unit.unanswered)
    return pieces


def as_it_came(unit: Unit) -> tuple[Piece, ...]:
    """The unit unchanged, a piece for each message."""
    return tuple(Verbatim(start=i, stop=i + 1) for i in range(unit.start, unit.stop))


def as_user(message: Message) -> Message:
    """Results without a call, and what a person said beside them, as a marked message of the user."""
    message = without_images(message)
    said = [message.text] if message.text else []
    text = "\n".join([NO_CALL, *(result.text for result in message.results), *said])
    return Message(role="user", text=text, own=True)


def with_matching_ids(unit: Unit) -> tuple[Piece, ...]:
    """The unit with each result under the id of its call; a result too many joins the one before it, marked."""
    first, *rest = unit.messages
    pieces: list[Piece] = [Verbatim(start=unit.start, stop=unit.start + 1)]
    unanswered: tuple[ToolCall, ...] = first.calls
    for index, message in enumerate(rest, unit.start + 1):
        pairs, unanswered = pair(unanswered, message.results)
        role = next((role_of(message, call) for call, _ in pairs if call), message.role)
        short = replace(message, role=role, results=renamed(pairs))
        short = (
            short if role == message.role else without_images(short)
        )  # it is written in another form
        same = short == message
        written = Written(message=short, index=index)
        pieces.append(Verbatim(start=index, stop=index + 1) if same else written)
    return tuple(pieces)


def renamed(pairs: list[tuple[ToolCall | None, ToolResult]]) -> tuple[ToolResult, ...]:
    """Results under the ids of their calls."""
    results: list[ToolResult] = []
    for call, result in pairs:
        if call is not None:
            name = call.name if call.older else result.name
            results.append(replace(result, call_id=call.id, name=name))
        else:
            text = f"{results[-1].text}\n{NO_CALL}\n{result.text}"
            results[-1] = replace(results[-1], text=text)
    return tuple(results)


def no_result(call: ToolCall) -> Message:
    """A marked result for a call that has none."""
    return Message(
        role="function" if call.older else "tool",
        results=(ToolResult(call_id=call.id, text=NO_RESULT, name=call.name),),
        own=True,
    )
