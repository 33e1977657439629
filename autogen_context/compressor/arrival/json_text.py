"""JSON: whole, in lines, or as blocks inside other text.

Promise: without blanks, every string, number and key is spelled as it was, in the same order, repeated keys as well.
Tightened, like objects are a table besides, ``{"columns":[...],"rows":[...]}``, which is JSON with the same values. Cut, keys
stay and the failed, the wanted, the first two and the last rows of lists; long values are shortened with marks.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from json import JSONDecodeError, JSONDecoder, JSONEncoder
from typing import TypeAlias, cast

from autogen_context.compressor.arrival.lines import (
    ERROR_RANK,
    GAP,
    GLANCE_CHARS,
    choose,
    fits,
    ranked,
    shortened,
)
from autogen_context.compressor.arrival.reducer import Reducer, Room

Tree: TypeAlias = "dict[str, Tree] | list[Tree] | str | int | bool | None"

BLANKS = " \t\r\n"
BAR = "\ue000"  # a private character, around a number with a fraction; a text that has it has no columns
MOST_DEPTH = 40  # containers in one another; what has more is no data that anybody reads
SAMPLE_CHARS = 4_000
SAMPLED_CHARS = 1_000  # of prose before the JSON
LEAST_FRACTION = 0.5  # of the sample that is JSON
LEAST_BLOCK = 80  # characters of JSON inside other text; shorter pieces may be anything
FAILED_CHARS = 4  # for each character of a text, what may be read in vain
LEAST_ROWS = 3  # of a table
LEAST_SAVED = 40  # characters of keys, for a table
PART_CHARS = 300  # a larger part is written in several lines
LONGEST_STRING = 200
SHORT_STRING = 160
FLAT_FIELDS = 6  # that stand on one line, however long they are
MOST_FIELDS = 40  # of an object; of a larger one only both ends stay before the rest
HEADER_RANK = ERROR_RANK + 2
ENDS_RANK = 2.0
DEEPER = 0.1  # less for each container around it

OPENING = re.compile(
    r"^[\[{](?=\s*(?:[\"{\[\]}]|-?\d[\d.eE+-]*\s*[,\]]|true\b|false\b|null\b|\Z))", re.MULTILINE
)
UNREAD = re.compile(r"\\u(?:d[89a-f]|e000)", re.IGNORECASE)
REST_OF_LINE = re.compile(r"[ \t\r]*(?=\n|\Z)")
STRING_OR_BLANKS = re.compile(r'("[^"\\]*(?:\\.[^"\\]*)*")|[ \t\r\n]+')
BETWEEN_PARTS = re.compile(r"(?<=[}\]],)[ \t]*(?=[{\[\"])")
LONG_STRING = re.compile(rf'"((?:[^"\\]|\\.){{{LONGEST_STRING},}}+)"')
LONG_NUMBERS = re.compile(r"((?:-?\d[\d.eE+-]*,){6})(?:-?\d[\d.eE+-]*,){16,}+")

READ = JSONDecoder().raw_decode
ENCODE = JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode


def recognises(text: str, _: Sequence[str]) -> bool:
    """Whether the text begins as JSON, or with a few lines and then JSON, and goes on so for most of a sample."""
    sample = text.lstrip(BLANKS)[:SAMPLE_CHARS]
    openings = [match.start() for match in OPENING.finditer(sample, 0, SAMPLED_CHARS)]
    return any(begins_well(sample, start) for start in openings[:5])


def begins_well(sample: str, start: int) -> bool:
    """Whether what begins at a place of a sample is JSON, or JSON lines, for most of the rest of it."""
    end = start
    try:
        while end < len(sample) and (end == start or OPENING.match(sample, end)):
            _, end = READ(sample, end)
            end += len(sample) - end - len(sample[end:].lstrip(BLANKS))
    except JSONDecodeError as error:
        end = len(sample) if error.msg.startswith("Unterminated") else error.pos
    except RecursionError:
        return False
    return end - start >= LEAST_FRACTION * len(sample)


def minified(text: str) -> str:
    """The text with no blanks between the parts of JSON in it; each key still stands beside its value."""
    return rewritten(text, without_blanks)


def tighten(text: str) -> str:
    """No blanks between the parts of JSON, and like objects as tables where that is smaller; text around it as it is."""
    return rewritten(text, lambda block: columned(block) or without_blanks(block))


def rewritten(text: str, write: Callable[[str], str]) -> str:
    """The text with each block of JSON in it written anew; the text itself where that is no shorter."""
    parts: list[str] = []
    at = 0
    for start, end in blocks_of(text):
        if end - start >= LEAST_BLOCK or not (text[:start] + text[end:]).strip(BLANKS):
            parts += (text[at:start], write(text[start:end]))
            at = end
    short = "".join((*parts, text[at:]))
    return short if len(short) < len(text) else text


def blocks_of(text: str) -> Iterator[tuple[int, int]]:
    """Where each value begins and ends that begins and ends with a line; the blanks around a whole text are part of it."""
    left = FAILED_CHARS * len(text)
    first = len(text) - len(text.lstrip(BLANKS))
    opening = first if text[first : first + 1] in {"{", "["} else next_opening(text, 0)
    while opening is not None and left > 0:
        at = opening + 1
        try:
            tree, end = READ(text, opening)
        except JSONDecodeError as error:
            left -= error.pos + 1  # its line is counted from the start of the text
        except RecursionError:
            left -= len(text)
        else:
            rest = REST_OF_LINE.match(text, end)
            if rest and is_shallow(tree):
                yield opening, rest.end()
                at = end
            else:
                left -= end - opening
        opening = next_opening(text, at)


def next_opening(text: str, start: int) -> int | None:
    """The next place where a line begins with a bracket."""
    match = OPENING.search(text, start)
    return match.start() if match else None


def is_shallow(tree: object) -> bool:
    """Whether few containers are in one another, so that it can be read however deep the stack is."""
    level = [tree]
    for _ in range(MOST_DEPTH):
        level = [
            part
            for each in level
            for part in (each.values() if isinstance(each, dict) else cast("list[object]", each))
            if type(part) in (dict, list)
        ]
        if not level:
            return True
    return False


def without_blanks(block: str) -> str:
    """A JSON value without the blanks between its parts."""
    if '\\"' in block:
        return STRING_OR_BLANKS.sub(r"\1", block)
    parts = block.split('"')  # every other one is a string
    parts[::2] = ["".join(part.split()) for part in parts[::2]]
    return '"'.join(parts)


def columned(block: str) -> str:
    """A JSON value with like objects as tables; empty where that cannot be."""
    tree = read(block) if len(block) >= PART_CHARS else None
    return "" if tree is None else spelled(ENCODE(columnar(tree)))


def read(block: str) -> Tree:
    """The value of a block; ``None`` where writing it anew would not give the same values."""
    if BAR in block or '"columns"' in block or UNREAD.search(block):
        return None
    try:
        return cast("Tree", DECODE(block.strip(BLANKS)))
    except (ValueError, RecursionError):
        return None


def bare(number: str) -> str:
    """A number between bars, to be written as it is spelled."""
    return f"{BAR}{number}{BAR}"


def spelled(written: str) -> str:
    """What was written, numbers without bars and quotes."""
    return written.replace(f'"{BAR}', "").replace(f'{BAR}"', "")


def distinct(pairs: Sequence[tuple[str, Tree]]) -> dict[str, Tree]:
    """An object.

    Raises:
        ValueError: it has a key twice.
    """
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("an object has a key twice")
    return fields


DECODE = JSONDecoder(parse_float=bare, object_pairs_hook=distinct).decode


def columnar(tree: Tree) -> Tree:
    """The same values, each list of objects with the same keys as a table where that is smaller."""
    if isinstance(tree, dict):
        inner = {key: columnar(part) for key, part in tree.items() if type(part) in (dict, list)}
        return tree | inner if inner else tree
    if not isinstance(tree, list):
        return tree
    rows = [columnar(item) if type(item) in (dict, list) else item for item in tree]
    keys = list(rows[0]) if rows and isinstance(rows[0], dict) else []
    saved = (len(rows) - 1) * sum(len(key) + len('"":') for key in keys)
    if len(rows) < LEAST_ROWS or saved < LEAST_SAVED:
        return rows
    if not all(isinstance(row, dict) and list(row) == keys for row in rows):
        return rows
    values: list[Tree] = [list(row.values()) for row in rows if isinstance(row, dict)]
    return {"columns": [*keys], "rows": values}


class Sheet:
    """Lines of JSON with their ranks, and from which line to which each container goes that has several."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.ranks: list[float] = []
        self.spans: list[tuple[int, int]] = []

    def add(self, line: str, rank: float) -> None:
        """Go on with a line."""
        self.lines.append(line)
        self.ranks.append(rank)

    def add_text(self, text: str) -> None:
        """Go on with what is no JSON, or JSON that is broken; a line for each of its parts."""
        text = text.strip(BLANKS)
        for line in BETWEEN_PARTS.sub("\n", text).split("\n") if text else ():
            self.add(line, ENDS_RANK if not self.lines else 0.0)

    def lay(
        self, tree: Tree, rank: float, *, before: str = "", after: str = "", depth: int = 0
    ) -> None:
        """Go on with a value, in several lines where it is large.

        Args:
            tree: the value.
            rank: what a line for it is worth; a little less for those in it.
            before: its key.
            after: the comma behind it.
            depth: how many containers are around it.
        """
        if not isinstance(tree, dict | list):
            self.add(f"{before}{ENCODE(tree)}{after}", rank)
            return
        line = ENCODE(tree) if len(tree) <= MOST_FIELDS or is_flat(tree) else ""
        if line and (len(line) <= PART_CHARS or is_flat(tree)):
            self.add(f"{before}{line}{after}", rank)
            return
        keyed = isinstance(tree, dict)
        rows = list(tree.items()) if isinstance(tree, dict) else [("", part) for part in tree]
        start, last = len(self.lines), len(rows) - 1
        self.add(f"{before}{'{' if keyed else '['}", 0.0)
        for i, (key, part) in enumerate(rows):
            is_told = i < 2 or i == last or (keyed and last < MOST_FIELDS)  # noqa: PLR2004 - the first two
            high = HEADER_RANK if key == "columns" else ENDS_RANK - DEEPER * depth
            name, comma = f"{ENCODE(key)}:" if keyed else "", "," * (i < last)
            self.lay(part, high * is_told, before=name, after=comma, depth=depth + 1)
        self.add(f"{'}' if keyed else ']'}{after}", 0.0)
        self.spans.append((start, len(self.lines) - 1))


def is_flat(tree: Tree) -> bool:
    """Whether it has a few texts and numbers, or is a list of numbers; its long values are shortened where they stand."""
    parts = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    if all(isinstance(part, int) or (isinstance(part, str) and part[:1] == BAR) for part in parts):
        return True
    return len(parts) <= FLAT_FIELDS and all(
        is_flat(part) for part in parts if isinstance(part, dict | list)
    )


def cut(text: str, room: Room) -> str:
    """Keys and the rows that matter; long values are shortened."""
    tight = tighten(text) if len(text) <= GLANCE_CHARS * room.tokens else text
    if fits(tight, room):
        return tight
    sheet, at = Sheet(), 0
    for start, end in blocks_of(text):
        tree = read(text[start:end]) if end - start >= LEAST_BLOCK else None
        if tree is not None:
            sheet.add_text(text[at:start])
            sheet.lay(columnar(tree), ENDS_RANK)
            at = end
    sheet.add_text(text[at:])
    lines = [
        line if len(line) <= LONGEST_STRING else with_short_values(line, room)
        for line in spelled("\n".join(sheet.lines)).split("\n")
    ]
    ranks = ranked(sheet.ranks, lines, room, errors=True)
    for start, end in sheet.spans:
        ranks[start] = ranks[end] = max(ranks[start : end + 1])
    short = choose(lines, ranks, room, noun="rows")
    return short if len(short) <= len(text) else choose([text], [0.0], room)


def with_short_values(line: str, room: Room) -> str:
    """A line with its long strings and long runs of numbers shortened; what is wanted stays in them."""
    line = LONG_NUMBERS.sub(lambda m: f"{m[1]}{GAP}{m.group().count(',') - 6} numbers …],", line)
    return LONG_STRING.sub(
        lambda match: f'"{shortened(match[1], SHORT_STRING, room.wanted)}"', line
    )


JSON = Reducer(kind="json", recognises=recognises, tighten=tighten, cut=cut)
