"""Where JSON stands in a text: the whole of it, its lines, or some of them.

Promise: a block begins with its line and ends with one; what fails to be JSON is read at most a few times over, so that
the time stays in proportion to the text.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from json import JSONDecodeError

from autogen_context.compressor.arrival.json_spelling import BLANKS, Spelling, Tree

LEAST_BLOCK = 80  # characters of JSON inside other text; shorter pieces may be anything
STRETCH_CHARS = 400  # that are read first
LONGER = 16  # times, of each next stretch
LONGEST_NAME = 12  # characters of what may be cut in a stretch without being a string
FAILED_CHARS = 2  # for each character of a text, what may be read in vain
OPENING = re.compile(r"^[\[{]", re.MULTILINE)
MOST_OPEN = 60  # brackets in one another
CLOSES = {"[": "]", "{": "}"}
NO_BRACKETS = bytes(set(range(128)) - set(b"[]{}"))
REST_OF_LINE = re.compile(r"[ \t\r]*(?=\n|\Z)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """JSON values, each on its own line; or one on any number of lines.

    Attributes:
        start: where it begins.
        end: where it ends, blanks to the end of the line included.
        trees: the values.
    """

    start: int
    end: int
    trees: Sequence[Tree]


def blocks_of(text: str, spelling: Spelling) -> list[Block]:
    """The JSON in a text, in its order; pieces too short for a block only where there is nothing else.

    Args:
        text: with the spelling's escapes.
        spelling: reads it.
    """
    trees = lines_at_once(text, spelling)
    if trees:
        return [Block(start=0, end=len(text), trees=trees)]
    blocks = joined(list(found_in(text, spelling)), text)
    if len(blocks) == 1 and not (text[: blocks[0].start] + text[blocks[0].end :]).strip(BLANKS):
        return [Block(start=0, end=len(text), trees=blocks[0].trees)]
    return [block for block in blocks if block.end - block.start >= LEAST_BLOCK]


def lines_at_once(text: str, spelling: Spelling) -> list[Tree]:
    """The values of a text that has one on each of its lines, read at one go; none where it is no such text."""
    lines = text.strip(BLANKS).split("\n")
    if len(lines) == 1 or any(line[:1] not in CLOSES for line in lines):
        return []
    fresh = spelling.fresh  # no line has it, so that where it is read a line ended
    between = f',"{fresh}",'
    in_one = f"[{between.join(lines)}]"
    try:
        tree, end = spelling.read(in_one, 0)
    except (JSONDecodeError, RecursionError):
        return []
    values = tree if isinstance(tree, list) and end == len(in_one) else []
    is_one_each = values[1::2] == [fresh] * (len(lines) - 1)
    return values[::2] if is_one_each else []


def found_in(text: str, spelling: Spelling) -> Iterator[Block]:
    """Each value that begins and ends with a line."""
    first = len(text) - len(text.lstrip(BLANKS))
    opening = first if text[first : first + 1] in CLOSES else next_opening(text, first)
    left = FAILED_CHARS * len(text)
    while opening is not None and left > 0:
        following = opening + 1
        try:
            tree, end = read_at(opening, text, spelling, longest=opening == first)
        except JSONDecodeError as error:
            left -= error.pos - opening * (opening == first) + 1
        else:
            rest = REST_OF_LINE.match(text, end)
            if rest:
                yield Block(start=opening, end=rest.end(), trees=(tree,))
                following = end
            else:
                left -= end - opening
        opening = next_opening(text, following)


def read_at(start: int, text: str, spelling: Spelling, *, longest: bool) -> tuple[Tree, int]:
    """The value at a place and where it ends.

    Args:
        start: the place.
        text: with the spelling's escapes.
        spelling: reads it.
        longest: read all at once; otherwise ever longer stretches, as an error costs all that stands before it.

    Raises:
        JSONDecodeError: there is none; of a stretch, ``pos`` counts from the place.
    """
    chars = STRETCH_CHARS
    while not longest and start + chars < len(text):
        try:
            tree, end = spelling.read(text[start : start + chars], 0)
        except JSONDecodeError as error:
            if error.pos < chars - LONGEST_NAME and not error.msg.startswith("Unterminated"):
                raise
        else:
            return tree, start + end
        chars *= LONGER
    if longest:
        return spelling.read(text, start)
    tree, end = spelling.read(text[start:], 0)
    return tree, start + end


def next_opening(text: str, start: int) -> int | None:
    """The next place where a line begins with a bracket."""
    match = OPENING.search(text, start)
    return match.start() if match else None


def joined(blocks: Sequence[Block], text: str) -> list[Block]:
    """Values that stand on one line each, and the lines one after the other, as one block."""
    runs: list[list[Block]] = []
    for block in blocks:
        if runs and follows(runs[-1][-1], block, text):
            runs[-1].append(block)
        else:
            runs.append([block])
    return [
        Block(
            start=run[0].start,
            end=run[-1].end,
            trees=[tree for block in run for tree in block.trees],
        )
        for run in runs
    ]


def follows(block: Block, following: Block, text: str) -> bool:
    """Whether two values stand on two lines, one below the other."""
    between = text[block.end : following.start]
    return not between.strip(BLANKS) and not any(
        text.find("\n", each.start, each.end) >= 0 for each in (block, following)
    )


def mended(text: str) -> tuple[str, str]:
    """JSON that ends too early, closed after its last whole object or list, and what is left of the text.

    Args:
        text: without escaped quotes, as a spelling has it.

    Returns:
        The text to its last closing bracket with the brackets that are missing, and the rest; nothing and the text,
        where there is no such bracket or what opens and closes does not match.
    """
    opening = next_opening(text, 0)
    parts = [] if opening is None else text[opening:].split('"')  # every other one is a string
    evens = range((len(parts) - 1) // 2 * 2, -1, -2)
    last = next((i for i in evens if closes_in(parts[i])), None)
    if opening is None or last is None:
        return "", text
    missing = unclosed("".join((*parts[:last:2], parts[last][: closes_in(parts[last])])))
    if set(missing) & set(CLOSES.values()):
        return "", text
    end = len(text) - len('"'.join(parts[last:])) + closes_in(parts[last])
    return text[:end] + "".join(CLOSES[bracket] for bracket in reversed(missing)), text[end:]


def closes_in(part: str) -> int:
    """The place after the last closing bracket; 0 if there is none."""
    return max(part.rfind("]"), part.rfind("}")) + 1


def unclosed(outside: str) -> str:
    """The brackets without a partner, in a text without its strings."""
    brackets = outside.encode("ascii", "replace").translate(None, NO_BRACKETS).decode()
    for _ in range(MOST_OPEN):
        inner = brackets.replace("[]", "").replace("{}", "")
        if inner == brackets:
            break
        brackets = inner
    return brackets
