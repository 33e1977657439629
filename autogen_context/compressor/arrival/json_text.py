"""JSON: whole, in lines, or as blocks inside other text.

Promise: tightened, every number, string and key is spelled as it was, in the same order; only blanks between them go, and
the repeated keys of like objects. Cut, keys and the first, the last, the wanted and the failed rows of lists stay.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from json import JSONDecodeError, JSONDecoder

from autogen_context.compressor.arrival.json_blocks import OPENING, blocks_of
from autogen_context.compressor.arrival.json_columns import MOST_DEPTH, tightened
from autogen_context.compressor.arrival.json_layout import laid_out
from autogen_context.compressor.arrival.json_spelling import BLANKS, Spelling, Tree
from autogen_context.compressor.arrival.lines import GLANCE_CHARS, fits
from autogen_context.compressor.arrival.reducer import Room
from autogen_context.compressor.arrival.rows import kept

SAMPLE_CHARS = 4_000
SAMPLE_DEPTH = 100  # brackets on end; what has more is no data that anybody reads
OPENED_WITHIN = 1_000  # characters of prose before the JSON
OPENINGS_TRIED = 5
LEAST_SHARE = 0.5  # of the sample that is JSON
NO_BLANK = re.compile(r"[^ \t\r\n]")
READ = JSONDecoder().raw_decode


@dataclass(frozen=True, slots=True)
class Json:
    """JSON, JSON lines, JSON inside text."""

    kind: str = "json"

    def recognises(self, text: str, /) -> bool:
        """Whether the text begins as JSON, or with a few lines and then JSON, and goes on so for most of a sample."""
        sample = text.lstrip(BLANKS)[:SAMPLE_CHARS]
        if "[" * SAMPLE_DEPTH in sample:
            return False
        openings = [match.start() for match in OPENING.finditer(sample, 0, OPENED_WITHIN)]
        return any(begins_well(sample, start) for start in openings[:OPENINGS_TRIED])

    def tighten(self, text: str, /) -> str:
        """No blanks between the parts of JSON, and like objects as tables; text around it as it is."""
        try:
            return rewritten(Spelling(text), tightened)
        except (ValueError, RecursionError):
            return text

    def cut(self, text: str, room: Room, /) -> str:
        """Keys and the rows that matter; long strings are shortened, nulls left out."""
        if len(text) <= GLANCE_CHARS * room.tokens:
            tight = self.tighten(text)
            if fits(tight, room):
                return tight
        return kept(laid_out(text, room.wanted), text, room)


def minified(text: str) -> str:
    """The text with no blanks between the parts of JSON in it; each key still stands beside its value."""
    try:
        short = rewritten(Spelling(text), one_a_line)
    except (ValueError, RecursionError):
        return text
    return short if len(short) < len(text) else text


def one_a_line(trees: Sequence[Tree], spelling: Spelling) -> str:
    """JSON values without blanks, several ones on a line each.

    Raises:
        RecursionError: they are nested too deep.
    """
    if levels_in(trees) > MOST_DEPTH:
        raise RecursionError(f"JSON with more than {MOST_DEPTH} containers in one another")
    return "\n".join(map(spelling.written, trees))


def levels_in(trees: Sequence[Tree]) -> int:
    """How many containers are in one another, at most."""
    levels, level = 0, [tree for tree in trees if isinstance(tree, dict | list)]
    while level:
        levels += 1
        parts = (part.values() if isinstance(part, dict) else part for part in level)
        level = [item for items in parts for item in items if isinstance(item, dict | list)]
    return levels


def rewritten(spelling: Spelling, write: Callable[[Sequence[Tree], Spelling], str]) -> str:
    """The text of a spelling with each block of JSON in it written anew.

    Raises:
        RecursionError: one is nested too deep.
    """
    parts: list[str] = []
    at = 0
    for block in blocks_of(spelling.text, spelling):
        parts += (spelling.text[at : block.start], write(block.trees, spelling))
        at = block.end
    return spelling.spelled("".join((*parts, spelling.text[at:])))


def begins_well(sample: str, start: int) -> bool:
    """Whether what begins at a place of a sample is JSON, or JSON lines, for most of the rest of it."""
    end = start
    try:
        while end < len(sample) and (end == start or OPENING.match(sample, end)):
            _, end = READ(sample, end)
            end = after_blanks(sample, end)
    except JSONDecodeError as error:
        end = len(sample) if error.msg.startswith("Unterminated") else error.pos
    except RecursionError:
        return False
    return end - start >= LEAST_SHARE * len(sample)


def after_blanks(text: str, start: int) -> int:
    """The first place from one on that has no blank."""
    match = NO_BLANK.search(text, start)
    return match.start() if match else len(text)
