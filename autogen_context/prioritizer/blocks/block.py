"""Cut a text into blocks: the smallest parts that are kept or left out whole.

Promise: the blocks, joined, are the text; no block is much longer than ``BLOCK_CHARS``; linear time.

A block is a few lines that belong together: it ends at an empty line, before a line that opens something (a function, a
heading, an item, a hunk), or when it is full. A line that is longer than a few lines together is cut where its
sentences, objects or words end.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from autogen_context.messages.identifiers import NOTHING, shape_of, values_of

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
