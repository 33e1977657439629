"""Shorten what is too large for its room: head, tail and error lines stay, a mark says how much went.

Promise: the result fits the room, has fewer tokens than the input, and is the same for the same input. A text that fits
is returned as it is; what is shortened says so, if there is room for a token. Calls keep their names and ids, and arguments
that were valid JSON stay valid JSON.
"""

import json
import re
from collections.abc import Callable, Sequence
from typing import Protocol, cast

CountText = Callable[[str], int]


class Shorten(Protocol):
    """Brings a text within a room, as ``shorten_text`` does."""

    def __call__(self, text: str, /, *, room_tokens: int, count: CountText) -> str:
        """The text within so many tokens."""
        ...


NONE = r"(?<!\b0 )(?<!\b[Nn]o )"  # no error, 0 failed: a count of none is no error
ERROR = re.compile(
    rf"{NONE}(?i:\b(?:errors?|exceptions?|traceback|fail(?:s|ed|ing|ures?)?|fatal|panic(?:ked)?|critical|denied|refused"
    r"|abort(?:ed|ing)?|timed out|not found|no such)\b)(?!s?[ =:]+0\b)|[a-z](?:Error|Exception|Failure)\b"
)
ERROR_FRACTION = 0.25  # of the room, for lines from the middle that tell of an error

HEAD_FRACTION = 0.5  # of what is left, for the beginning; the rest for the end
SCANNED_CHARS = 200_000  # from the middle of a huge text, for error lines
LONGEST_LINE = 300  # characters of one error line
FITTING_STEPS = 6
MORE = "…"  # the least mark
LEAST_ARGUMENTS = '{"shortened":"…"}'  # stands for all of a call's arguments
WORD = re.compile(r"\S+")
LONGEST_WORD = 10_000  # characters; more of a text without spaces is not looked at


def shorten_text(text: str, *, room_tokens: int, count: CountText) -> str:
    """The text within ``room_tokens``.

    Args:
        text: any text.
        room_tokens: what the result may have, in tokens; where not even a mark fits, an empty text is what does.
        count: tokens of a text, an upper bound or exact.

    Returns:
        The text itself if it fits; otherwise its head and tail around a mark, error lines of the middle between them.
    """
    tokens = count(text)
    if tokens <= room_tokens:
        return text
    mark = mark_of(tokens)
    room = room_tokens - count(mark) - 2
    if room < 1:
        return next((least for least in (mark, MORE) if count(least) <= room_tokens), "")
    return fitted(text, mark=mark, tokens=tokens, room_tokens=room_tokens, count=count)


def excerpt(text: str, *, room_tokens: int, count: CountText, start: int = 0) -> str:
    """As much of a text from a place on as has room.

    Args:
        text: any text.
        room_tokens: what the result may have, in tokens.
        count: tokens of a text.
        start: where to begin, in characters.

    Returns:
        Whole words, letters where not one word has room; marks where something went, as far as they have room. Empty only
        where nothing is there or not one letter has room.
    """
    rest = text[start:].strip()
    before = f"{MORE} " if text[:start].strip() else ""
    words = [match.end() for match in WORD.finditer(rest)]
    letters = range(1, len(rest[:LONGEST_WORD]) + 1)
    for ends in (words, letters):
        for lead, mark in ((before, MORE), ("", "")):
            if short := begun(rest, ends, lead, mark, lambda text: count(text) <= room_tokens):
                return short
    return ""


def begun(text: str, ends: Sequence[int], lead: str, mark: str, fits: Callable[[str], bool]) -> str:
    """The longest beginning of a text that fits and ends at one of some places; empty where none does."""

    def shown(number: int) -> str:
        end = ends[number - 1]
        return f"{lead}{text[:end]}{mark if end < len(text) else ''}"

    least, most = 0, len(ends)
    while least < most:
        half = (least + most + 1) // 2
        least, most = (half, most) if fits(shown(half)) else (least, half - 1)
    return shown(least) if least else ""


def mark_of(tokens: int) -> str:
    """What stands where a part of a text of so many tokens was."""
    return f"[… shortened from {tokens} tokens …]"


def fitted(text: str, *, mark: str, tokens: int, room_tokens: int, count: CountText) -> str:
    """Try ever shorter extracts until one fits; the first guess assumes that tokens are spread evenly."""
    chars = int(len(text) * max(0, room_tokens - count(mark)) / tokens)
    for _ in range(FITTING_STEPS):
        extract = extract_of(text, mark=mark, chars=chars)
        found = count(extract)
        if found <= room_tokens:
            return extract
        chars = int(chars * min(0.9, room_tokens / found))
    return mark


def extract_of(text: str, *, mark: str, chars: int) -> str:
    """Head, error lines and tail of a text, ``chars`` characters in all beside the marks."""
    errors = error_lines(text, head=chars // 3, tail=chars // 3, most=int(chars * ERROR_FRACTION))
    rest = max(0, chars - len(errors))
    head = head_of(text, int(rest * HEAD_FRACTION))
    tail = tail_of(text, rest - len(head))
    middle = f"{mark}\n{errors}\n[…]" if errors else mark
    return "\n".join(part for part in (head, middle, tail) if part)


def head_of(text: str, chars: int) -> str:
    """The first characters, to the end of a line where one ends in the last fifth of them."""
    cut = text[:chars]
    border = cut.rfind("\n", int(chars * 0.8))
    return cut[:border] if border > 0 else cut


def tail_of(text: str, chars: int) -> str:
    """The last characters, from the start of a line where one starts in the first fifth of them."""
    if chars <= 0:
        return ""
    cut = text[-chars:]
    border = cut.find("\n", 0, max(1, int(chars * 0.2)))
    return cut[border + 1 :]


def is_error_line(line: str) -> bool:
    """Whether a line tells of something that went wrong, in the words of loggers, compilers and test runners."""
    return ERROR.search(line) is not None


def error_lines(text: str, *, head: int, tail: int, most: int) -> str:
    """Lines between head and tail that tell of an error, first ones first, ``most`` characters in all."""
    middle = text[head : len(text) - tail][:SCANNED_CHARS]
    kept: list[str] = []
    used = 0
    for whole in filter(is_error_line, middle.split("\n")):
        line = whole.strip()[:LONGEST_LINE]
        used += len(line) + 1
        if used > most:
            break
        kept.append(line)
    return "\n".join(kept)


def shorten_arguments(arguments: str, *, room_tokens: int, count: CountText) -> str:
    """Arguments of a call within ``room_tokens``: long strings in them are shortened with marks, their keys stay.

    What is no JSON, or does not fit even so, becomes a JSON object with the shortened text, or with a mark alone; that is the
    least there is, whatever the room.
    """
    if count(arguments) <= room_tokens:
        return arguments
    for room in (room_tokens, room_tokens // 2, room_tokens // 4, room_tokens // 8):
        dumped = with_short_values(arguments, room, count)
        if dumped is None:
            break
        if count(dumped) <= room_tokens:
            return dumped
    for room in (room_tokens - 6, room_tokens // 2, room_tokens // 4):
        short = shorten_text(arguments, room_tokens=room, count=count)
        dumped = json.dumps({"shortened": short}, ensure_ascii=False)
        if short and count(dumped) <= room_tokens:
            return dumped
    return LEAST_ARGUMENTS


def with_short_values(arguments: str, room_tokens: int, count: CountText) -> str | None:
    """The same JSON with each string within ``room_tokens``; ``None`` where it is none, or nested too deep to walk."""
    try:
        value: object = json.loads(arguments)
        return json.dumps(with_short_strings(value, room_tokens, count), ensure_ascii=False)
    except (ValueError, RecursionError):
        return None


def with_short_strings(value: object, room_tokens: int, count: CountText) -> object:
    """The same JSON value with each string within ``room_tokens``, or a mark in its place."""
    if isinstance(value, str):
        return value and (shorten_text(value, room_tokens=room_tokens, count=count) or MORE)
    if isinstance(value, list):
        items = cast("list[object]", value)
        return [with_short_strings(item, room_tokens, count) for item in items]
    if isinstance(value, dict):
        fields = cast("dict[str, object]", value)  # JSON has no other keys
        return {key: with_short_strings(item, room_tokens, count) for key, item in fields.items()}
    return value
