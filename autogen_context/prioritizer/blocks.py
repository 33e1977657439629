"""Texts of a unit in blocks, the smallest parts that are kept or left out whole, and the unit with some of them left out.

Promise: the blocks of a text, joined, are the text; no block is much longer than ``BLOCK_CHARS``; linear time. With all
blocks kept the messages are what they were. Otherwise names, ids and pairs stay, arguments that were valid JSON stay valid
JSON, a mark stands where something was left out, and no text grows.

A block is a few lines that belong together: it ends at an empty line, before a line that opens something (a function, a
heading, an item, a hunk), or when it is full. A line that is longer than a few lines together is cut where its
sentences, objects or words end.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from math import isfinite
from typing import Literal, cast

from autogen_context.messages.identifiers import NOTHING, shape_of, values_of
from autogen_context.messages.message import Message, ToolCall

BLOCK_LINES = 12
BLOCK_CHARS = 480
LONGEST_LINE = 260  # characters; a longer one is cut
PART_CHARS = (60, 200)  # of such a line: a cut falls between these
LEAST_OPENED = 60  # characters of a block before a line that opens something ends it
LEAST_ENDED = 90  # characters of a block before an empty line ends it
MANY = 4  # values of a text that look alike; the model may well pick one of three
WHOLE_LINE = 16  # characters; shorter lines are not looked for as a whole

SEPARATORS = ("}, ", "], ", ". ", "; ", ", ", " ")
NUMBERED = r"\s*+(?:\d++[\t:|]?+\s*+)?"  # listings number their lines; possessive, so that spaces cost linear time
EMPTY = re.compile(NUMBERED + "$")
OPENING = re.compile(
    NUMBERED
    + r"(?:async def|def|class|function|export|public|func|impl|fn|@|#{1,4} |\d++\. |[-*] |diff |@@|Traceback|FAILED|ERROR)"
)
SHORT_ARGUMENT = 120  # characters; shorter strings say what the call does and are never cut
MOST_LEVELS = 64  # of lists and objects in each other; what is nested deeper is not taken apart
ALONE = re.compile(r"[\ud800-\udfff]")  # half a character: JSON can name it, nothing can send it

NONE: Mapping[str, int] = {}


@dataclass(frozen=True, slots=True)
class Block:
    """A few lines of a text.

    Attributes:
        text: the lines, with their ends.
        values: what they name.
        lines: the lines that are long enough to be repeated as a whole, without the space around them.
    """

    text: str
    values: frozenset[str]
    lines: tuple[str, ...]


Place = Literal["text", "result", "argument"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One text of a unit that can be cut.

    Attributes:
        message: position of its message in the unit.
        place: the message's own text, a result, or a string in the arguments of a call.
        index: which result or which call.
        leaf: which string of the arguments, in the order in which they are written.
        blocks: the text, cut.
        alike: its values that look like many in it, each with how many look so.
        chars: the length of the text.
    """

    message: int
    place: Place
    index: int = 0
    leaf: int = 0
    blocks: tuple[Block, ...]
    alike: Mapping[str, int]
    chars: int


Kept = Mapping[int, Collection[int]]
"""For a passage, by position, the blocks that stay; nothing stays of those that are not in it."""

Texts = dict[tuple[Place, int, int], str]
"""Other texts for passages of a message, by place, index and leaf."""


def blocks_of(text: str) -> tuple[Block, ...]:
    """The blocks of a text, in order; none for an empty one."""
    return tuple(block_of(parts) for parts in grouped(text))


def alike_in(blocks: Iterable[Block]) -> Mapping[str, int]:
    """The telling values of a text that look like many in it, each with how many look so."""
    named = [*NOTHING.union(*[block.values for block in blocks])]
    if len(named) < MANY:
        return NONE
    shapes = [*map(shape_of, named)]
    many = {shape: n for shape, n in Counter(filter(None, shapes)).items() if n >= MANY}
    if not many:
        return NONE
    return {v: many[shape] for v, shape in zip(named, shapes, strict=True) if shape in many}


def block_of(parts: list[str]) -> Block:
    """Parts of a text as one block."""
    text = "".join(parts)
    lines = [part.strip() for part in parts if part.endswith("\n")]
    return Block(text, values_of(text), tuple([line for line in lines if len(line) >= WHOLE_LINE]))


def grouped(text: str) -> Iterator[list[str]]:
    """The parts of a text, those of a block together."""
    group: list[str] = []
    chars = 0
    for part in parts_of(text):
        if group and ends_before(part, lines=len(group), chars=chars):
            yield group
            group, chars = [], 0
        group.append(part)
        chars += len(part)
    if group:
        yield group


def ends_before(part: str, *, lines: int, chars: int) -> bool:
    """Whether a block of so many lines and characters ends before this part."""
    if lines >= BLOCK_LINES or chars + len(part) > BLOCK_CHARS:
        return True
    if chars > LEAST_ENDED and EMPTY.match(part):
        return True
    return chars > LEAST_OPENED and OPENING.match(part) is not None


def parts_of(text: str) -> list[str]:
    """The lines of a text, with their ends; long ones in parts."""
    lines = text.splitlines(keepends=True)
    if max(map(len, lines), default=0) <= LONGEST_LINE:
        return lines
    return [part for line in lines for part in parts_in(line)]


def parts_in(line: str) -> Iterator[str]:
    """A line, in parts if it is long."""
    start = 0
    while len(line) - start > LONGEST_LINE:
        stop = cut_in(line, start)
        yield line[start:stop]
        start = stop
    yield line[start:]


def cut_in(line: str, start: int) -> int:
    """Where a part of a long line ends that begins at ``start``."""
    least, most = (start + chars for chars in PART_CHARS)
    for separator in SEPARATORS:
        at = line.rfind(separator, least, most)
        if at >= 0:
            return at + len(separator)
    return most


def passages_of(messages: Sequence[Message]) -> tuple[Passage, ...]:
    """The texts of a unit that can be cut, in the order in which they are read."""
    return tuple(
        passage
        for position, message in enumerate(messages)
        for passage in passages_in(message, position)
    )


def passages_in(message: Message, position: int) -> list[Passage]:
    """The texts of one message that can be cut."""
    found: list[tuple[Place, int, int, str]] = [("text", 0, 0, message.text)]
    for i, result in enumerate(message.results):
        found.append(("result", i, 0, result.text))
    for i, call in enumerate(message.calls):
        if len(call.arguments) > SHORT_ARGUMENT:
            strings = enumerate(strings_in(parsed(call.arguments)))
            found.extend(("argument", i, n, s) for n, s in strings if len(s) > SHORT_ARGUMENT)
    return [
        Passage(
            message=position,
            place=place,
            index=index,
            leaf=leaf,
            blocks=(blocks := blocks_of(text)),
            alike=alike_in(blocks),
            chars=len(text),
        )
        for place, index, leaf, text in found
        if text
    ]


def parsed(arguments: str) -> object:
    """The JSON value of arguments; ``None`` where they are none that can be written again, or nested too deep."""
    try:
        value: object = READ(arguments)
        strings_in(value)
    except (ValueError, RecursionError):
        return None
    return value


def finite(number: str) -> float:
    """A number as JSON can write it.

    Raises:
        ValueError: it is none, or too large.
    """
    if not isfinite(float(number)):
        raise ValueError(f"JSON cannot write {number} again")
    return float(number)


READ = json.JSONDecoder(parse_float=finite, parse_constant=finite).decode


def strings_in(value: object) -> list[str]:
    """The strings of a JSON value, in the order in which they are written; keys are none.

    Raises:
        RecursionError: it is nested too deep.
    """
    found: list[str] = []

    def note(text: str) -> str:
        found.append(text)
        return text

    with_strings(value, note)
    return found


def with_strings(value: object, change: Callable[[str], str], levels: int = MOST_LEVELS) -> object:
    """The same JSON value with each of its strings changed.

    Raises:
        RecursionError: it is nested deeper than so many levels.
    """
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


def extracted(
    messages: Sequence[Message], passages: Sequence[Passage], kept: Kept
) -> tuple[Message, ...]:
    """The messages of a unit with some of their blocks.

    Args:
        messages: n messages of one unit.
        passages: their texts, from ``passages_of``.
        kept: which blocks stay.

    Returns:
        n messages, same order; those of which nothing was left out are the same objects.
    """
    texts: list[Texts] = [{} for _ in messages]
    for i, passage in enumerate(passages):
        text = text_of(passage, kept.get(i, ()))
        if len(text) < passage.chars:
            texts[passage.message][passage.place, passage.index, passage.leaf] = text
    return tuple(
        with_texts(message, changed) if changed else message
        for message, changed in zip(messages, texts, strict=True)
    )


def text_of(passage: Passage, stays: Collection[int]) -> str:
    """A passage with some of its blocks, and marks between them."""
    parts: list[str] = []
    gap = ""
    for position, block in enumerate(passage.blocks):
        if position in stays:
            parts += (marked(gap), block.text)
            gap = ""
        else:
            gap += block.text
    return "".join((*parts, marked(gap)))


def marked(gap: str) -> str:
    """What stands where this was left out: a mark, or itself if that is no longer."""
    lines = gap.count("\n")
    mark = f"[… {lines} lines …]" if lines > 1 else "[…]"
    mark += "\n" if gap.endswith("\n") else ""
    return mark if len(mark) < len(gap) else gap


def with_texts(message: Message, texts: Texts) -> Message:
    """The message with other texts for some of its passages; itself where none of them changes it."""
    cut = {index for place, index, _ in texts if place == "argument"}
    short = replace(
        message,
        text=texts.get(("text", 0, 0), message.text),
        results=tuple(
            replace(result, text=texts.get(("result", i, 0), result.text))
            for i, result in enumerate(message.results)
        ),
        calls=tuple(
            with_arguments(call, i, texts) if i in cut else call
            for i, call in enumerate(message.calls)
        ),
    )
    return message if short == message else short


def with_arguments(call: ToolCall, index: int, texts: Texts) -> ToolCall:
    """The call with other texts for some strings in its arguments; itself where that is no shorter."""
    leaves = count()
    value = with_strings(
        parsed(call.arguments), lambda text: texts.get(("argument", index, next(leaves)), text)
    )
    arguments = ALONE.sub(escaped, json.dumps(value, ensure_ascii=False))
    return replace(call, arguments=arguments) if len(arguments) < len(call.arguments) else call


def escaped(found: re.Match[str]) -> str:
    """A character as JSON names it."""
    return f"\\u{ord(found[0]):04x}"
