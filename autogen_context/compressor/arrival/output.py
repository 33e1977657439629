"""What programs print, where it is nothing more telling.

Promise: ``tighten`` keeps what a terminal would show, repeated lines written once with a number. ``cut`` keeps what it
keeps of a log.
"""

from dataclasses import dataclass

from autogen_context.compressor.arrival.log import choose_logged
from autogen_context.compressor.arrival.numbering import without_padding
from autogen_context.compressor.arrival.reducer import Room
from autogen_context.compressor.arrival.repeats import without_repeats
from autogen_context.compressor.arrival.sample import sample_of
from autogen_context.compressor.arrival.terminal import shown

LEAST_LINES = 2


@dataclass(frozen=True, slots=True)
class Output:
    """Lines of text."""

    kind: str = "output"

    def recognises(self, text: str, /) -> bool:
        """Whether it has lines, and no bytes that no terminal shows."""
        return "\0" not in text and "\ufffd" not in text and len(sample_of(text)) >= LEAST_LINES

    def tighten(self, text: str, /) -> str:
        """What a terminal would show, with repeated lines written once."""
        return without_repeats(without_padding(shown(text)))

    def cut(self, text: str, room: Room, /) -> str:
        """Alarms, what is asked for, what is rare, the first and the last of the rest."""
        return choose_logged(self.tighten(text), room)
