"""Make one unit fit a room: the longest texts give first, down to one common length.

Promise: the result is within the room or is ``None``; it has the same messages with the same calls and results, so
pairs stay closed. Texts below the common length stay as they are. A text, an argument or an image that goes leaves a mark,
however small the room; where not even the marks fit, nothing does.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from autogen_context.compressor.shorten import (
    LEAST_ARGUMENTS,
    MORE,
    Shorten,
    shorten_arguments,
    shorten_text,
)
from autogen_context.messages.message import Message, ToolCall, image_note
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
        keep_calls: leave messages with calls as they are (a pending call is never touched).
        shorten: brings a text within a room; arguments of calls are shortened in their JSON.

    Returns:
        n pieces, shortened where they must be, and their tokens; ``None`` if not even marks fit.
    """
    for keep_images in (True, False):
        fitter = Fitter(
            counter=counter, keep_calls=keep_calls, keep_images=keep_images, shorten=shorten
        )
        short = fitter.fit(messages, room_tokens)
        if short is not None:
            written = tuple(
                piece if after is before else Written(message=after, index=index_of(piece))
                for piece, before, after in zip(pieces, messages, short, strict=True)
            )
            return written, sum(map(counter.message, short))
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitter:
    """Shortens the texts of messages: to one common length beyond their marks, but the last message not below its least."""

    counter: MessageCounter
    keep_calls: bool
    keep_images: bool
    shorten: Shorten

    def fit(self, messages: Sequence[Message], room_tokens: int) -> tuple[Message, ...] | None:
        """The messages within the room, or ``None``."""
        least = [self._shortened(message, 0) for message in messages]
        free = room_tokens - self._cost(least)
        sizes = [[max(0, size - mark) for size, mark in self._sizes(m)] for m in messages]
        while free >= 0:
            found = lengths(sizes, free)
            short = tuple(self._shortened(m, n) for m, n in zip(messages, found, strict=True))
            excess = self._cost(short) - room_tokens
            if excess <= 0:
                return short
            free = (
                max(0, free - excess) if free else -1
            )  # what is joined may cost more than its parts
        return None

    def _cost(self, messages: Sequence[Message]) -> int:
        return sum(map(self.counter.message, messages))

    def _sizes(self, message: Message) -> list[tuple[int, int]]:
        """What each text of a message costs that may be shortened, and what the mark costs that stands for all of it."""
        if message.calls and self.keep_calls:
            return []
        count = self.counter.text
        texts = [message.text, *(result.text for result in message.results)]
        return [
            *((count(text), count(MORE)) for text in texts),
            *((count(call.arguments), count(LEAST_ARGUMENTS)) for call in message.calls),
        ]

    def _shortened(self, message: Message, length: int) -> Message:
        """The message with ``length`` tokens of each of its texts beyond a mark; itself if nothing changed."""
        if message.calls and self.keep_calls:
            return message
        results = [replace(r, text=self._short(r.text, length)) for r in message.results]
        text, images = self._short(message.text, length), message.images
        if images and not self.keep_images:
            note, images = image_note(len(images)), ()
            if results:
                results[-1] = replace(results[-1], text=f"{results[-1].text}\n{note}".strip())
            else:
                text = f"{text}\n{note}".strip()
        calls = tuple(self._short_call(call, length) for call in message.calls)
        short = replace(message, text=text, results=tuple(results), calls=calls, images=images)
        return message if short == message else short

    def _short(self, text: str, length: int) -> str:
        count = self.counter.text
        return self.shorten(text, room_tokens=count(MORE) + length, count=count)

    def _short_call(self, call: ToolCall, length: int) -> ToolCall:
        count = self.counter.text
        room = count(LEAST_ARGUMENTS) + length
        arguments = shorten_arguments(call.arguments, room_tokens=room, count=count)
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
