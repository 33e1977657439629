"""Texts that are mostly data nobody reads: base64, hex, dumps, raw bytes, bundles.

Promise: what is small stays; nothing large is kept whole once a text is cut.
"""

from dataclasses import dataclass

from autogen_context.compressor.arrival.blobs import without_blobs
from autogen_context.compressor.arrival.lines import fits
from autogen_context.compressor.arrival.reducer import Room
from autogen_context.compressor.arrival.repeats import lines_in
from autogen_context.compressor.arrival.rows import Rows, kept, ranks_of

SAMPLE_CHARS = 6_000
MOST_LEFT_SHARE = 0.5  # of a sample, once its data is gone


@dataclass(frozen=True, slots=True)
class Binary:
    """Data that nobody reads."""

    kind: str = "binary"

    def recognises(self, text: str, /) -> bool:
        """Whether data is half of what a text begins with."""
        sample = text[:SAMPLE_CHARS]
        return len(without_blobs(sample)) < MOST_LEFT_SHARE * len(sample)

    def tighten(self, text: str, /) -> str:
        """The text: no data says the same in less."""
        return text

    def cut(self, text: str, room: Room, /) -> str:
        """The text around the data, with marks in place of it."""
        rest = without_blobs(text)
        if fits(rest, room):
            return rest
        lines = lines_in(rest)
        return kept(Rows(lines=lines, ranks=ranks_of(lines, room.wanted), noun="lines"), text, room)
