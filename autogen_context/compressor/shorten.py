"""Shorten to a token limit: a text to its head, tail and error lines, a unit by a common length for its texts.

Promise: the result fits the limit. What fits is returned unchanged; a removed text, argument or image leaves a mark. Tool
calls keep their names and ids, and arguments that were valid JSON stay valid JSON.
"""

import json
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Protocol

from autogen_context.messages.blocks import parsed, with_strings
from autogen_context.messages.message import Message, image_note
from autogen_context.messages.piece import Piece, Written, index_of
from autogen_context.text.fit import CountText, fit, longest
from autogen_context.text.outcome import is_error_line
from autogen_context.text.quote import remarked
from autogen_context.tokens.message_counter import MessageCounter

ERROR_FRACTION = 0.25  # of the limit, for error lines from the middle
HEAD_FRACTION = 0.5  # of the rest, for the head; the remainder for the tail
BORDER_FRACTION = 0.2  # of head or tail that may be lost to cut at a line break
SCANNED_CHARS = 200_000  # from the middle of a huge text, for error lines
LONGEST_LINE = 300  # characters of an error line
MORE = "…"  # the shortest mark
LEAST_ARGUMENTS = '{"shortened":"…"}'  # replaces all arguments of a call
LENGTHS = 64  # common lengths of a unit's texts that are told apart
WRAPPED_TOKENS = 6  # of the JSON object around a text


class Shorten(Protocol):
    """Protocol of functions that shorten a text to a limit, such as ``shorten_text``."""

    def __call__(self, text: str, /, *, room_tokens: int, count: CountText) -> str: ...  # noqa: D102


def shorten_text(text: str, /, *, room_tokens: int, count: CountText) -> str:
    """Shorten a text to a limit: its head and tail around a mark and error lines; unchanged if it fits, empty if no mark does."""
    tokens = count(text)
    if tokens <= room_tokens:
        return text
    mark = mark_of(tokens)
    if room_tokens - count(mark) < 3:  # noqa: PLR2004 - a token and two line breaks besides the mark
        return next((least for least in (mark, MORE) if count(least) <= room_tokens), "")
    is_error = cache(is_error_line)  # asked for the same lines at each length that is tried
    extract = partial(extract_of, text, mark, is_error=is_error)
    short = longest(extract, text, room_tokens=room_tokens, count=count)
    return short or mark


def mark_of(tokens: int) -> str:
    """Return the mark in a text shortened from ``tokens`` tokens."""
    return f"[… shortened from {tokens} tokens …]"


def extract_of(
    text: str, mark: str, chars: int, *, is_error: Callable[[str], bool] = is_error_line
) -> str:
    """Return head, error lines and tail of a text, ``chars`` characters without the marks, cut at line breaks if one is near."""
    middle = text[chars // 3 : len(text) - chars // 3][:SCANNED_CHARS]
    found = [line.strip()[:LONGEST_LINE] for line in filter(is_error, middle.split("\n"))]
    room = int(chars * ERROR_FRACTION)
    fitted = fit(range(len(found)), room, cost=lambda at: len(found[at]) + 1, ends=lambda _: True)
    errors = [found[at] for at in fitted.kept]
    rest = max(0, chars - len("\n".join(errors)))
    head = text[: int(rest * HEAD_FRACTION)]
    border = head.rfind("\n", int(len(head) * (1 - BORDER_FRACTION)))
    head = head[:border] if border > 0 else head
    tail = text[len(text) - (rest - len(head)) :]
    tail = tail[tail.find("\n", 0, max(1, int(len(tail) * BORDER_FRACTION))) + 1 :]
    return "\n".join(part for part in (head, mark, *errors, "[…]" if errors else "", tail) if part)


def shorten_arguments(
    arguments: str, *, room_tokens: int, count: CountText, shorten: Shorten = shorten_text
) -> str:
    """Shorten the arguments of a call to ``room_tokens``: long strings get marks, keys are kept.

    Arguments that are not JSON, or still do not fit, become a JSON object with the shortened text, or at least with a mark,
    whatever the limit.
    """
    if count(arguments) <= room_tokens:
        return arguments
    rooms = (room_tokens, room_tokens - WRAPPED_TOKENS, *(room_tokens // n for n in (2, 4, 8)))
    value = parsed(arguments)
    for whole in (
        ({"shortened": arguments},) if value is None else (value, {"shortened": arguments})
    ):
        for room in rooms:

            def short(text: str, room: int = room) -> str:
                return text and (shorten(text, room_tokens=room, count=count) or MORE)

            dumped = json.dumps(with_strings(whole, short), ensure_ascii=False)
            if count(dumped) <= room_tokens:
                return dumped
    return LEAST_ARGUMENTS


def fit_pieces(
    pieces: Sequence[Piece],
    messages: Sequence[Message],
    *,
    room_tokens: int,
    counter: MessageCounter,
    keep_calls: bool = False,
    shorten: Shorten = shorten_text,
) -> tuple[tuple[Piece, ...], int] | None:
    """Shorten the pieces of one unit to a limit; return them with their tokens, or ``None`` if not even marks fit.

    All texts get the greatest common length, so the longest are shortened first; images are removed if that is not enough. ``keep_calls`` leaves messages with
    calls unchanged.
    """

    def shortened(length: int, *, keep_images: bool) -> list[Message]:
        return [
            message
            if message.calls and keep_calls
            else with_length(message, length, counter.text, shorten, keep_images=keep_images)
            for message in messages
        ]

    lengths = [*range(0, room_tokens, max(1, room_tokens // LENGTHS)), max(0, room_tokens)]
    for keep_images in (True, False):
        short = partial(shortened, keep_images=keep_images)
        fitting = bisect_right(
            lengths, room_tokens, key=lambda n: sum(map(counter.message, short(n)))
        )
        if fitting:
            said = short(lengths[fitting - 1])
            written = tuple(
                piece if after is before else Written(message=after, index=index_of(piece))
                for piece, before, after in zip(pieces, messages, said, strict=True)
            )
            return written, sum(map(counter.message, said))
    return None


def with_length(
    message: Message, length: int, count: CountText, shorten: Shorten, *, keep_images: bool
) -> Message:
    """Shorten each text of a message to a mark plus ``length`` tokens; return the same object if nothing changes."""
    room = count(MORE) + length
    texts = [
        shorten(text, room_tokens=room, count=count)
        for text in (*(result.text for result in message.results), message.text)
    ]
    if message.own:
        texts[-1] = remarked(texts[-1], message.text)
    images = message.images
    if images and not keep_images:
        place = -2 if message.results else -1  # the last result, else the message's own text
        texts[place] = f"{texts[place]}\n{image_note(len(images))}".strip()
        images = ()
    fit_arguments = partial(
        shorten_arguments,
        room_tokens=count(LEAST_ARGUMENTS) + length,
        count=count,
        shorten=shorten,
    )
    short = replace(
        message,
        text=texts[-1],
        results=tuple(replace(r, text=t) for r, t in zip(message.results, texts, strict=False)),
        calls=tuple(replace(c, arguments=fit_arguments(c.arguments)) for c in message.calls),
        images=images,
    )
    return message if short == message else short
