"""Tables: comma- and tab-separated values, Markdown, what databases draw, and columns set apart by blanks.

Promise: tightened, each cell has the same text, only padding between cells goes. Cut, the header stays above the first,
the last, the wanted and the failed rows.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from autogen_context.compressor.arrival import aligned, piped
from autogen_context.compressor.arrival.delimited import header_in
from autogen_context.compressor.arrival.lines import GLANCE_CHARS, fits
from autogen_context.compressor.arrival.reducer import Room
from autogen_context.compressor.arrival.repeats import lines_in
from autogen_context.compressor.arrival.rows import Rows, kept, ranks_of

SAMPLE_CHARS = 6_000
LEAST_SHARE = 0.6  # of the sample's lines that stand in a table
HEADER_RANK = 9.0


@dataclass(frozen=True, slots=True)
class Table:
    """Rows and columns."""

    kind: str = "table"

    def recognises(self, text: str, /) -> bool:
        """Whether most lines of a sample stand in a table."""
        lines = sample_of(text)
        filled = [line for line in lines if line.strip()]
        if header_in(filled) is not None:
            return True
        spans = [*piped.tables_in(lines), *(span[:2] for span in aligned.tables_in(lines))]
        return sum(end - start for start, end in spans) >= LEAST_SHARE * max(1, len(filled))

    def tighten(self, text: str, /) -> str:
        """Cells without the blanks that pad them."""
        lines = text.split("\n")
        tight = [aligned.narrow_listed(line) for line in lines]
        for start, end, columns in aligned.tables_in(lines):
            tight[start:end] = [aligned.narrow(line, columns) for line in lines[start:end]]
        for start, end in piped.tables_in(lines):
            tight[start:end] = map(piped.narrow, lines[start:end])
        return "\n".join(tight)

    def cut(self, text: str, room: Room, /) -> str:
        """The header, and the rows that matter."""
        tight = self.tighten(text) if len(text) <= GLANCE_CHARS * room.tokens else text
        if fits(tight, room):
            return tight
        lines = lines_in(tight)
        return kept(Rows(lines=lines, ranks=ranked(lines, room.wanted)), text, room)


def sample_of(text: str) -> list[str]:
    """The first lines, whole ones."""
    lines = text[:SAMPLE_CHARS].split("\n")
    return lines if len(text) <= SAMPLE_CHARS else lines[:-1]


def ranked(lines: Sequence[str], wanted: Collection[str]) -> list[float]:
    """A rank for each line: headers first."""
    ranks = ranks_of(lines, wanted)
    for i in headers_in(lines):
        ranks[i] = HEADER_RANK
    return ranks


def headers_in(lines: Sequence[str]) -> list[int]:
    """The positions of the lines above the rows of each table."""
    drawn = [
        range(start, start + piped.header_lines(lines[start:end]))
        for start, end in piped.tables_in(lines)
    ]
    found = [i for span in drawn for i in span]
    found += [start for start, _, _ in aligned.tables_in(lines)]
    sample = sample_of("\n".join(lines[:SAMPLE_CHARS]))
    header = header_in([line for line in sample if line.strip()])
    return found if header is None else [*found, header]
