"""Take a unit apart into blocks, and put it together again with some of them left out.

Promise: with all blocks kept the messages are what they were. Otherwise names, ids and pairs stay, arguments that were
valid JSON stay valid JSON, a mark stands where something was left out, and no text grows.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Literal, cast

from autogen_context.pipeline.block import Block, blocks_of
from autogen_context.pipeline.message import Message, ToolCall, ToolResult

SHORT_ARGUMENT = 120  # characters; shorter strings in arguments say what the call does and are never cut

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
        chars: the length of the text.
    """

    message: int
    place: Place
    index: int = 0
    leaf: int = 0
    blocks: tuple[Block, ...]
    chars: int


Kept = Mapping[int, Collection[int]]
"""For a passage, by position, the blocks that stay; nothing stays of those that are not in it."""


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
        strings = enumerate(strings_in(parsed(call.arguments)))
        found += [("argument", i, n, s) for n, s in strings if len(s) > SHORT_ARGUMENT]
    return [
        Passage(
            message=position,
            place=place,
            index=index,
            leaf=leaf,
            blocks=blocks_of(text),
            chars=len(text),
        )
        for place, index, leaf, text in found
        if text
    ]


def parsed(arguments: str) -> object:
    """The JSON value of arguments; ``None`` where they are none, or nested too deep to walk."""
    try:
        value: object = json.loads(arguments)
        json.dumps(value)
    except (ValueError, RecursionError):
        return None
    return value


def strings_in(value: object) -> list[str]:
    """The strings of a JSON value, in the order in which they are written; keys are none."""
    found: list[str] = []

    def note(text: str) -> str:
        found.append(text)
        return text

    with_strings(value, note)
    return found


def with_strings(value: object, change: Callable[[str], str]) -> object:
    """The same JSON value with each of its strings changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [with_strings(item, change) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        fields = cast("dict[str, object]", value)  # JSON has no other keys
        return {key: with_strings(item, change) for key, item in fields.items()}
    return value


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
    short = list(messages)
    for i, passage in enumerate(passages):
        stays = kept.get(i, ())
        if len(stays) < len(passage.blocks):
            message = short[passage.message]
            short[passage.message] = with_passage(message, passage, text_of(passage, stays))
    return tuple(short)


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


def with_passage(message: Message, passage: Passage, text: str) -> Message:
    """The message with another text for one of its passages."""
    at = passage.index
    if passage.place == "text":
        return replace(message, text=text)
    if passage.place == "result":
        result: ToolResult = replace(message.results[at], text=text)
        return replace(message, results=(*message.results[:at], result, *message.results[at + 1 :]))
    call = with_string(message.calls[at], passage.leaf, text)
    return replace(message, calls=(*message.calls[:at], call, *message.calls[at + 1 :]))


def with_string(call: ToolCall, leaf: int, text: str) -> ToolCall:
    """The call with another text for one of the strings in its arguments."""
    numbers = count()
    value = with_strings(
        parsed(call.arguments), lambda string: text if next(numbers) == leaf else string
    )
    return replace(call, arguments=json.dumps(value, ensure_ascii=False))
