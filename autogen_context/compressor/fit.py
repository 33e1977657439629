"""Make one unit fit a room: the longest texts give first, down to one common length.

Promise: the result is within the room or is ``None``; it has the same messages with the same calls and results, so
pairs stay closed; texts below the common length stay as they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from autogen_context.compressor.shorten import Shorten, shorten_arguments, shorten_text
from autogen_context.messages.message import Message, ToolCall, without_images
from autogen_context.messages.piece import Piece, Written, index_of
from autogen_context.tokens.message_counter import MessageCounter

LEAST_LAST = 128  # tokens of each text of the last message, before earlier ones get anything


def fit_pieces(
    pieces: Sequence[Piece],
    messages: Sequence[Message],
    *,
    room_tokens: int,
    counter: MessageCounter,
    keep_calls: bool = False,
    shorten: Shorten = shorten_text,
) -> tuple[tuple[Piece, ...], int] | None:
    """The pieces of one unit within ``room_tokens``.

    Args:
        pieces: n pieces, one for each message.
        messages: what these say, n messages.
        room_tokens: what they may have together, in tokens.
        counter: counts texts and messages.
        shorten: brings a text within a room; arguments of calls are shortened in their JSON.
        keep_calls: leave messages with calls as they are (a pending call is never touched).

    Returns:
        n pieces, shortened where they must be, and their tokens; ``None`` if even empty texts do not fit.
    """
    for candidate in (tuple(messages), tuple(map(without_images, messages))):
        short = Fitter(counter=counter, keep_calls=keep_calls, shorten=shorten).fit(
            candidate, room_tokens
        )
        if short is not None:
            written = tuple(
                piece if after is before else Written(message=after, index=index_of(piece))
                for piece, before, after in zip(pieces, messages, short, strict=True)
            )
            return written, sum(map(counter.message, short))
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitter:
    """Shortens the texts of messages: to one common length, but the last message not below its least."""

    counter: MessageCounter
    keep_calls: bool
    shorten: Shorten

    def fit(self, messages: Sequence[Message], room_tokens: int) -> tuple[Message, ...] | None:
        """The messages within the room, or ``None``."""
        texts = [[self.counter.text(text) for text in self._texts(message)] for message in messages]
        empty_arguments = self.counter.text("{}") * sum(len(message.calls) for message in messages)
        fixed = sum(map(self.counter.message, messages)) - sum(map(sum, texts)) + empty_arguments
        if fixed > room_tokens:
            return None
        found = lengths(texts, room_tokens - fixed)
        return tuple(self._shortened(m, n) for m, n in zip(messages, found, strict=True))

    def _texts(self, message: Message) -> list[str]:
        """The texts of a message that may be shortened."""
        if message.calls and self.keep_calls:
            return []
        results = [result.text for result in message.results]
        return [message.text, *results, *(call.arguments for call in message.calls)]

    def _shortened(self, message: Message, length: int) -> Message:
        """The message with each of its texts within ``length`` tokens; itself if nothing changed."""
        if message.calls and self.keep_calls:
            return message
        short = replace(
            message,
            text=self._short(message.text, length),
            results=tuple(replace(r, text=self._short(r.text, length)) for r in message.results),
            calls=tuple(self._short_call(call, length) for call in message.calls),
        )
        return message if short == message else short

    def _short(self, text: str, length: int) -> str:
        return self.shorten(text, room_tokens=length, count=self.counter.text)

    def _short_call(self, call: ToolCall, length: int) -> ToolCall:
        arguments = shorten_arguments(call.arguments, room_tokens=length, count=self.counter.text)
        return replace(call, arguments=arguments)


def lengths(sizes: Sequence[Sequence[int]], room: int) -> list[int]:
    """For each message the length of its texts, so that all fit the room.

    One length for all, unless that is below ``LEAST_LAST`` for the last message: then it gets that first.
    """
    common = common_length([size for texts in sizes for size in texts], room)
    *earlier, last = sizes
    least = min(LEAST_LAST, max(last, default=0), room // max(1, sum(map(bool, last))))
    if common >= least:
        return [common] * len(sizes)
    left = room - sum(min(size, least) for size in last)
    others = common_length([size for texts in earlier for size in texts], left)
    return [others] * len(earlier) + [least]


def common_length(sizes: Sequence[int], room: int) -> int:
    """The greatest length with ``sum(min(size, length)) <= room``: short ones keep their size, long ones share."""
    left, remaining = room, sorted(sizes)
    while remaining:
        share = left // len(remaining)
        if remaining[0] > share:
            return share
        left -= remaining.pop(0)
    return max(sizes, default=0)
