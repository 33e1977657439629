"""Split the texts of a unit into blocks, the smallest parts that are kept or dropped, and give its messages other texts.

Promise: the blocks of a text joined are the text; linear time. A message with other texts keeps names, ids and call-result
pairs, and valid JSON stays valid.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from math import isfinite
from typing import Literal, cast

from autogen_context.messages.identifiers import NOTHING, shape_of, values_of
from autogen_context.messages.message import Message
from autogen_context.text.passage import Passage
from autogen_context.text.work import SPLIT_CHARS

BLOCK_LINES = 12
BLOCK_CHARS = 480
LONGEST_LINE = 260  # characters; longer lines are split
PART_CHARS = (60, 200)  # least and most characters of a part of such a line
LEAST_OPENED = 60  # characters before the beginning of a definition or list item ends a block
LEAST_ENDED = 90  # characters before an empty line ends a block
MANY = 4  # similar values in a text from which on each weighs less
WHOLE_LINE = 16  # characters; shorter lines are not compared as a whole
SHORT_ARGUMENT = 120  # characters; shorter strings are never cut, they say what the call does
MOST_LEVELS = 64  # nesting of JSON arguments; deeper ones are kept whole

SEPARATORS = ("}, ", "], ", ". ", "; ", ", ", " ")
NUMBERED = r"\s*+(?:\d++[\t:|]?+\s*+)?"  # a line number; possessive, for linear time
EMPTY = re.compile(NUMBERED + "$")
OPENING = re.compile(
    NUMBERED
    + r"(?:async def|def|class|function|export|public|func|impl|fn|@|#{1,4} |\d++\. |[-*] |diff |@@|Traceback|FAILED|ERROR)"
)
ALONE = re.compile(r"[\ud800-\udfff]")  # a surrogate: JSON can escape it, UTF-8 has none

Place = Literal["text", "result", "argument"]
Texts = Mapping[tuple[Place, int, int], str]
"""Texts of a message by place, index and leaf."""


@dataclass(frozen=True, slots=True)
class PlacedText:
    """A text of a unit that can be cut: a message's text, a result, or the n-th string (``leaf``) in a call's arguments."""

    message: int
    place: Place
    index: int
    leaf: int
    blocks: tuple[Passage, ...]
    alike: Mapping[str, int]
    chars: int


def blocks_of(text: str) -> tuple[Passage, ...]:
    """Split a text into blocks, at empty lines, before definitions and list items, or when a block is full.

    Of a text beyond twice ``SPLIT_CHARS`` the ends are split, and what is between them is one block.
    """
    if len(text) > 2 * SPLIT_CHARS:
        head, middle, tail = text[:SPLIT_CHARS], text[SPLIT_CHARS:-SPLIT_CHARS], text[-SPLIT_CHARS:]
        return (*blocks_of(head), Passage(middle), *blocks_of(tail))
    groups: list[list[str]] = []
    chars = 0
    for part in parts_of(text):
        if (
            not groups
            or len(groups[-1]) >= BLOCK_LINES
            or chars + len(part) > BLOCK_CHARS
            or (chars > LEAST_ENDED and EMPTY.match(part))
            or (chars > LEAST_OPENED and OPENING.match(part))
        ):
            groups.append([])
            chars = 0
        groups[-1].append(part)
        chars += len(part)
    blocks: list[Passage] = []
    for group in groups:
        whole = "".join(group)
        lines = [part.strip() for part in group if part.endswith("\n")]
        long = tuple([line for line in lines if len(line) >= WHOLE_LINE])
        blocks.append(Passage(whole, values=values_of(whole), lines=long))
    return tuple(blocks)


def parts_of(text: str) -> list[str]:
    """Split a text into lines with their ends; long lines are split after objects, sentences or words."""
    lines = text.splitlines(keepends=True)
    if max(map(len, lines), default=0) <= LONGEST_LINE:
        return lines
    parts: list[str] = []
    for line in lines:
        start = 0
        while len(line) - start > LONGEST_LINE:
            least, most = (start + chars for chars in PART_CHARS)
            found = ((line.rfind(each, least, most), len(each)) for each in SEPARATORS)
            stop = next((at + length for at, length in found if at >= 0), most)
            parts.append(line[start:stop])
            start = stop
        parts.append(line[start:])
    return parts


def texts_of(messages: Sequence[Message]) -> tuple[PlacedText, ...]:
    """Return the texts of a unit that can be cut, in reading order."""
    texts: list[PlacedText] = []
    for position, message in enumerate(messages):
        found: list[tuple[Place, int, int, str]] = [("text", 0, 0, message.text)]
        found.extend(("result", i, 0, each.text) for i, each in enumerate(message.results))
        for i, call in enumerate(message.calls):
            if len(call.arguments) > SHORT_ARGUMENT:
                strings = enumerate(strings_in(parsed(call.arguments)))
                found.extend(("argument", i, n, s) for n, s in strings if len(s) > SHORT_ARGUMENT)
        for place, index, leaf, text in found:
            if text:
                blocks = blocks_of(text)
                alike = alike_in(blocks)
                texts.append(PlacedText(position, place, index, leaf, blocks, alike, len(text)))
    return tuple(texts)


def alike_in(blocks: Sequence[Passage]) -> Mapping[str, int]:
    """Return the identifiers of a text that share their shape with ``MANY`` or more, with that number."""
    values = NOTHING.union(*[block.values for block in blocks])
    shapes = {value: shape for value in values if (shape := shape_of(value))}
    if len(shapes) < MANY:
        return {}
    many = {shape: n for shape, n in Counter(shapes.values()).items() if n >= MANY}
    return {value: many[shape] for value, shape in shapes.items() if shape in many}


def parsed(arguments: str) -> object:
    """Parse JSON arguments; ``None`` if they are invalid, cannot be written again, or are nested too deep."""
    try:
        value: object = READ(arguments)
        strings_in(value)
    except (ValueError, RecursionError):
        return None
    return value


def finite(number: str) -> float:
    """Parse a number; ``ValueError`` if it is not finite."""
    value = float(number)
    if not isfinite(value):
        raise ValueError(f"JSON cannot write {number} again")
    return value


READ = json.JSONDecoder(parse_float=finite, parse_constant=finite).decode


def strings_in(value: object) -> list[str]:
    """Return the strings of a JSON value in document order, without keys."""
    found: list[str] = []

    def note(text: str) -> str:
        found.append(text)
        return text

    with_strings(value, note)
    return found


def with_strings(value: object, change: Callable[[str], str], levels: int = MOST_LEVELS) -> object:
    """Apply ``change`` to each string of a JSON value; ``RecursionError`` if it is nested deeper than ``levels``."""
    if isinstance(value, str):
        return change(value)
    if not isinstance(value, list | dict):
        return value
    if not levels:
        raise RecursionError("arguments are nested too deep")
    if isinstance(value, list):
        return [with_strings(item, change, levels - 1) for item in cast("list[object]", value)]
    fields = cast("dict[str, object]", value)  # JSON has no other keys
    return {key: with_strings(item, change, levels - 1) for key, item in fields.items()}


def with_texts(message: Message, texts: Texts) -> Message:
    """Return the message with some of its texts replaced, or the same object if nothing changes."""
    cut = {index for place, index, _ in texts if place == "argument"}
    calls = list(message.calls)
    for i in cut:
        value = with_strings(parsed(calls[i].arguments), renewed(i, texts))
        arguments = json.dumps(value, ensure_ascii=False)
        arguments = ALONE.sub(lambda found: f"\\u{ord(found[0]):04x}", arguments)
        if len(arguments) < len(calls[i].arguments):
            calls[i] = replace(calls[i], arguments=arguments)
    results = [
        result if text is result.text else replace(result, text=text)
        for i, result in enumerate(message.results)
        for text in [texts.get(("result", i, 0), result.text)]
    ]
    text = texts.get(("text", 0, 0), message.text)
    short = replace(message, text=text, results=tuple(results), calls=tuple(calls))
    return message if short == message else short


def renewed(index: int, texts: Texts) -> Callable[[str], str]:
    """Return a function that replaces the strings of a call's arguments, called in document order."""
    leaves = count()
    return lambda text: texts.get(("argument", index, next(leaves)), text)
