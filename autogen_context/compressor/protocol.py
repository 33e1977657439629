"""What a compressor does for a manager: the methods of a user's own, and what a manager asks of any."""

from typing import Protocol

from autogen_context.compressor.left_out import LeftOut
from autogen_context.text.fit import CountText


class Compressor(Protocol):
    """Protocol for shortening the texts that a manager sends; ``SemanticCompressor`` implements it.

    Results are checked: if one is not a string, exceeds its limit, or an error is raised, ``SemanticCompressor`` is used
    instead and a warning is logged.
    """

    def on_arrival(self, text: str, reduced: str, /, *, count: CountText) -> str:
        """Return the text to send for the tool result ``text``, for which the package would send ``reduced``."""
        ...

    def shorten(self, text: str, /, *, room_tokens: int, count: CountText) -> str:
        """Shorten a text of a message to ``room_tokens``: one that must be kept, or of which some blocks were chosen."""
        ...

    def stated(self, text: str, /) -> str:
        """Return the lasting statements of a person's long message (rules, limits, values, decisions); empty if none."""
        ...

    def notice(self, left_out: LeftOut, /, *, room_tokens: int, count: CountText) -> str:
        """Return the notice about units that are left out, within ``room_tokens``."""
        ...


class Extracting(Compressor, Protocol):
    """Protocol of what a manager uses: ``SemanticCompressor``, or one of the user's own behind a guard."""

    def extract(self, text: str, chosen: str, /, *, count: CountText) -> str:
        """Return what is sent of a text of which ``chosen`` was chosen by score, in no more tokens."""
        ...
