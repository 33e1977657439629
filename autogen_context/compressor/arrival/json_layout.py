"""JSON on lines of their own, so that some of them can stay and others go.

Promise: what is small stands on one line, like objects in a table with a row each; a line that opens an object or a list
stays before what is in it. Long strings keep their ends and what is wanted of them; members that are null are left out.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from autogen_context.compressor.arrival.json_blocks import CLOSES, Block, blocks_of, mended
from autogen_context.compressor.arrival.json_columns import columnar, columnar_lines, written_apart
from autogen_context.compressor.arrival.json_spelling import BLANKS, Spelling, Tree
from autogen_context.compressor.arrival.long_values import LongValues
from autogen_context.compressor.arrival.rows import ENDS_RANK, Rows, ranks_of

LINE_CHARS = 320  # of a value that is not opened, its strings shortened
WRITTEN_CHARS = 4_000  # of a value that is opened in any case
MOST_DEPTH = 6  # of values that are opened
LEAST_MEMBER = 5  # characters of a member beside what is in its key and its value
MOST_FIELDS = 30  # an object with more is a list of its members
FIRST_ITEMS = 2
DEPTH_RANK = 0.1  # less for each step inside
ABOVE_RANK = 1e-6  # by so much an opening comes before what is in it
NULL_MEMBER = re.compile(r',"(?![,:\]}])[^"\n]*":null\b|"(?![,:\]}])[^"\n]*":null,?')
BETWEEN_VALUES = re.compile(r"(?<=[}\]],)\s*(?=[\[{\"])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """Lines as they are laid out.

    Attributes:
        spelling: reads and writes the text.
        long: what shortens long values.
        lines: what was laid out so far, as the spelling writes it.
        ranks: of each line, for where it stands.
        spans: the first and the last line of what was opened, the inner ones first.
    """

    spelling: Spelling
    long: LongValues
    lines: list[str] = field(default_factory=list[str])
    ranks: list[float] = field(default_factory=list[float])
    spans: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])

    def add(self, line: str, rank: float) -> None:
        """One line more."""
        self.lines.append(line)
        self.ranks.append(rank)

    def short(self, line: str) -> str:
        """A line with its long values shortened."""
        return self.long.shortened(line) if len(line) > LINE_CHARS else line


def laid_out(text: str, wanted: Collection[str]) -> Rows:
    """The lines of a text with JSON in it, and what each of them is worth."""
    try:
        return laid_out_as(Spelling(text), wanted)
    except (ValueError, RecursionError):
        lines = text.split("\n")
        return Rows(lines=lines, ranks=ranks_of(lines, wanted))


def laid_out_as(spelling: Spelling, wanted: Collection[str]) -> Rows:
    """The lines of a text, and what each of them is worth; JSON that ends too early is read as far as it goes."""
    sheet = Sheet(spelling=spelling, long=LongValues(bar=spelling.bar, wanted=wanted))
    closed, rest, blocks = read_as_far_as_it_goes(spelling)
    lay_all(sheet, closed, blocks)
    lay_text(sheet, rest)
    return ranked(sheet, wanted)


def read_as_far_as_it_goes(spelling: Spelling) -> tuple[str, str, Sequence[Block]]:
    """A text to where its JSON ends, closed there if it is not; what comes after; and the JSON in it."""
    text = spelling.text
    is_broken = (
        text.lstrip(BLANKS)[:1] in CLOSES and text.rstrip(BLANKS)[-1:] not in CLOSES.values()
    )
    for ends_early in (is_broken, not is_broken):  # what is likely first: each costs a reading
        closed, rest = mended(text) if ends_early else (text, "")
        blocks = blocks_of(closed, spelling)
        if blocks:
            return closed, rest, blocks
    return text, "", []


def lay_all(sheet: Sheet, text: str, blocks: Sequence[Block]) -> None:
    """JSON as values, and the text around it as lines."""
    at = 0
    for block in blocks:
        lay_text(sheet, text[at : block.start])
        if len(block.trees) == 1:
            tree = columnar(block.trees[0], sheet.spelling)
            if opens_in_any_case(tree, sheet.spelling.bar):
                lay_opened(sheet, tree, rank=0.0, depth=0)
            else:
                lay(sheet, tree, sheet.spelling.written(tree), rank=0.0, depth=0)
        else:
            lay_lines(sheet, block.trees)
        at = block.end
    lay_text(sheet, text[at:])


def lay_lines(sheet: Sheet, trees: Sequence[Tree]) -> None:
    """JSON lines, or a title and a row for each."""
    title, items = columnar_lines(trees, sheet.spelling)
    start = len(sheet.lines)
    for line in title:
        sheet.add(line, 0.0)
    lines = written_apart(items, sheet.spelling)
    ranks = ranks_of_parts(len(items), depth=0, alike=False)
    for item, line, rank in zip(items, lines, ranks, strict=True):
        lay(sheet, item, line, rank=rank, depth=0)
    sheet.spans.append((start, len(sheet.lines) - 1))


def lay_text(sheet: Sheet, text: str) -> None:
    """Lines that are no JSON, or broken JSON; long ones are parted after brackets."""
    for line in text.strip("\n").split("\n") if text.strip() else ():
        for part in BETWEEN_VALUES.split(line) if len(line) > LINE_CHARS else (line,):
            sheet.add(sheet.short(part), 0.0)


def lay(sheet: Sheet, tree: Tree, line: str, *, key: str = "", rank: float, depth: int) -> None:
    """One value: as a line, or opened.

    Args:
        sheet: where to.
        tree: the value.
        line: how it is written, with its key before it and its comma behind it.
        key: what stands before it.
        rank: of its line.
        depth: how many opened values it is in.
    """
    if len(line) <= LINE_CHARS:
        sheet.add(line, rank)
        return
    opened = depth < MOST_DEPTH and has_parts(tree, sheet.spelling.bar)
    short = line if opened and len(line) > WRITTEN_CHARS else sheet.short(line)
    if not opened or len(short) <= LINE_CHARS:
        sheet.add(short if depth else line, rank)
        return
    lay_opened(sheet, tree, key=key, end="," * line.endswith(","), rank=rank, depth=depth)


def lay_opened(
    sheet: Sheet, tree: Tree, *, key: str = "", end: str = "", rank: float, depth: int
) -> None:
    """An object or a list over several lines, its key before its bracket, and what ends it behind the last one."""
    start = len(sheet.lines)
    if isinstance(tree, list):
        sheet.add(f"{key}[", rank)
        lay_items(sheet, tree, depth=depth + 1)
    elif isinstance(tree, dict):
        sheet.add(f"{key}{{", rank)
        lay_members(sheet, tree, depth=depth + 1)
    sheet.add(("]" if isinstance(tree, list) else "}") + end, rank)
    sheet.spans.append((start, len(sheet.lines) - 1))


def opens_in_any_case(tree: Tree, bar: str) -> bool:
    """Whether a value that is not in too many others is opened, however it is written: that need not be known then."""
    return has_parts(tree, bar) and is_long(tree)


def is_long(tree: Tree) -> bool:
    """Whether a value is longer than ``WRITTEN_CHARS`` for certain; told by no more of it than so many characters."""
    chars, waiting = 0, [tree]
    while waiting and chars <= WRITTEN_CHARS:
        part = waiting.pop()
        if isinstance(part, dict):
            chars += LEAST_MEMBER * len(part)
            waiting += part.values() if chars <= WRITTEN_CHARS else ()
        elif isinstance(part, list):
            chars += len(part)
            waiting += part if chars <= WRITTEN_CHARS else ()
        else:
            chars += len(part) if isinstance(part, str) else 0
    return chars > WRITTEN_CHARS


def has_parts(tree: Tree, bar: str) -> bool:
    """Whether a value is an object, or a list with something else in it than numbers."""
    return isinstance(tree, dict) or (
        isinstance(tree, list)
        and not all(isinstance(item, str) and item.startswith(bar) for item in tree)
    )


def lay_items(sheet: Sheet, items: Sequence[Tree], *, depth: int) -> None:
    """What is in a list: the first and the last of it before the rest."""
    *lines, last = written_apart(items, sheet.spelling)
    lines = [*(f"{line}," for line in lines), last]
    if is_title(items[0], sheet.spelling):
        sheet.lines[-1] += lines[0]
        items, lines = items[1:], lines[1:]
    ranks = ranks_of_parts(len(items), depth=depth, alike=False)
    for item, line, rank in zip(items, lines, ranks, strict=True):
        lay(sheet, item, line, rank=rank, depth=depth)


def lay_members(sheet: Sheet, fields: dict[str, Tree], *, depth: int) -> None:
    """What is in an object: all of it alike, or of a large one and of a table the first and the last before the rest."""
    fresh, bar = sheet.spelling.fresh, sheet.spelling.bar
    few = len(fields) <= MOST_FIELDS and depth < MOST_DEPTH
    opened = {key for key, value in fields.items() if few and opens_in_any_case(value, bar)}
    encoded = sheet.spelling.written(
        {f"{fresh}{key}": key not in opened and value for key, value in fields.items()}
    )
    lines = [f'"{line}' for line in encoded[1:-1].split(f'"{fresh}')[1:]]
    items = list(fields.items())
    if is_title(items[0][0], sheet.spelling):
        sheet.lines[-1] += lines[0]
        items, lines = items[1:], lines[1:]
    alike = len(lines) == len(fields) <= MOST_FIELDS
    ranks = ranks_of_parts(len(items), depth=depth, alike=alike)
    for (key, value), line, rank in zip(items, lines, ranks, strict=True):
        name = f'"{key}":'
        if key in opened:
            lay_opened(sheet, value, key=name, end="," * line.endswith(","), rank=rank, depth=depth)
        elif value is not None:
            lay(sheet, value, line, key=name, rank=rank, depth=depth)


def is_title(part: Tree, spelling: Spelling) -> bool:
    """Whether it stands before the rows of a table."""
    return isinstance(part, str) and part.endswith(spelling.name)


def ranks_of_parts(parts: int, *, depth: int, alike: bool) -> list[float]:
    """Ranks for where the parts of a list or object stand."""
    high = ENDS_RANK - DEPTH_RANK * depth
    ends = {*range(FIRST_ITEMS), parts - 1}
    return [high if alike or i in ends else 0.0 for i in range(parts)]


def ranked(sheet: Sheet, wanted: Collection[str]) -> Rows:
    """The lines as the text has them, each with the best rank it has for its place or for what it says."""
    text = "\n".join(sheet.lines)
    text = NULL_MEMBER.sub("", text) if ":null" in text else text
    lines = sheet.spelling.spelled(text).split("\n")
    ranks = list(map(max, sheet.ranks, ranks_of(lines, wanted, ends=False)))
    for start, end in sheet.spans:
        ranks[start] = ranks[end] = max(ranks[start : end + 1]) + ABOVE_RANK
    return Rows(lines=lines, ranks=ranks)
