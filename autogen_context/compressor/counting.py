"""The counter that a caller brings, whatever kind of number it gives.

Promise: each distinct text is counted once while one text is compressed.
"""

from typing import Protocol

from autogen_context.tokens.measure import Count


class CountsText(Protocol):
    """Any object that counts a text."""

    def count(self, text: str, /) -> int | Count:
        """What a text has: a ``Count``, or a plain number, which is taken for exact."""
        ...


class Tally:
    """Counts by a caller's counter, and remembers.

    Args:
        counter: counts a text, in tokens or in whatever the caller's targets are in.
    """

    def __init__(self, counter: CountsText) -> None:
        self._counter = counter
        self._known: dict[str, int] = {}

    def counted(self, text: str) -> Count:
        """The count of a text, with its source."""
        found = self._counter.count(text)
        return found if isinstance(found, Count) else Count(tokens=found, source="tokenizer")

    def tokens(self, text: str) -> int:
        """The count of a text, as a number."""
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = self.counted(text).tokens
        return known
