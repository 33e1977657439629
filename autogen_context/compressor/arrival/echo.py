"""Say once what is said again: lines that stand above already give way to a mark.

Promise: nothing is lost while what stands above stays there. A mark stands for exactly so many lines: those that follow
the line before the mark, and end before the line after it, at the nearest place above where these two lines stand so
far apart. Enough of a text stays to say what it is; the result is shorter than the text, or is the text. Linear time.

An agent that reads a file twice, or prints what it just wrote, pays for the lines each time; the model has them.
"""

from collections.abc import Sequence

LEAST_LEFT = 480  # characters; where less than that is new, the beginning stays as well
LEAST_CHARS = (
    160  # of the lines that go; a mark, and the look above, cost about as much as two lines
)
PLACES = 4  # of each line that are remembered, the latest ones

Place = tuple[int, int]
"""Which text, and which of its lines."""


class Sight:
    """The lines of what is sent, to be found again."""

    def __init__(self) -> None:
        self._texts: list[Sequence[str]] = []
        self._places: dict[str, tuple[Place, ...]] = {}

    def add(self, text: str) -> None:
        """Take a text as sent."""
        if len(text) < LEAST_CHARS:
            return
        lines = text.split("\n")
        number, places = len(self._texts), self._places
        self._texts.append(lines)
        for at, line in enumerate(lines):
            if not line or line.isspace():
                continue  # no run begins with it
            places[line] = (*places.get(line, ())[1 - PLACES :], (number, at))

    def known(self, lines: Sequence[str]) -> list[int]:
        """The positions of the lines that stand above."""
        places = self._places
        return [at for at, line in enumerate(lines) if line in places]

    def run(self, lines: Sequence[str], start: int) -> int:
        """How many lines from a known one on stand above, one after the other, and would be looked for there."""
        places = self._places[lines[start]]
        best = max(self._common(lines, start, place) for place in places)
        for place in reversed(places):  # the nearest one that looks so is the one that is found
            if self._has(lines[start + best - 1], place, best - 1):
                return best if self._common(lines, start, place) >= best else 0
        return 0

    def _common(self, lines: Sequence[str], start: int, place: Place) -> int:
        text, at = place
        above = self._texts[text]
        most = min(len(lines) - start, len(above) - at)
        n = 0
        while n < most and lines[start + n] == above[at + n]:
            n += 1
        return n

    def _has(self, line: str, place: Place, further: int) -> bool:
        """Whether a line stands so many lines further than a place."""
        text, at = place
        above = self._texts[text]
        return at + further < len(above) and above[at + further] == line


def echoed(text: str, sight: Sight) -> str:
    """The text without what stands above.

    Args:
        text: what is to be sent.
        sight: what is sent before it.

    Returns:
        The text with a mark in place of each long run of lines that stands above; the first and the last line of the
        run stay, so that it can be found there.
    """
    if len(text) < LEAST_LEFT + LEAST_CHARS:
        return text
    lines = text.split("\n")
    short = marked(lines, sight, start=0)
    if len(short) < LEAST_LEFT:
        short = marked(lines, sight, start=beginning_of(lines))
    return text if short == text else short


def marked(lines: Sequence[str], sight: Sight, *, start: int) -> str:
    """The lines as a text, with marks from the line ``start`` on."""
    at, parts = 0, list[str]()
    for first in sight.known(lines):
        run = sight.run(lines, first) if first >= max(at, start) else 0
        inner = lines[first + 1 : first + run - 1] if run else ()
        if sum(map(len, inner)) + len(inner) >= LEAST_CHARS:
            parts += (*lines[at : first + 1], mark_of(len(inner)), lines[first + run - 1])
            at = first + run
    return "\n".join((*parts, *lines[at:]))


def beginning_of(lines: Sequence[str]) -> int:
    """How many lines the beginning of a text has."""
    chars = 0
    for at, line in enumerate(lines):
        if chars >= LEAST_LEFT:
            return at
        chars += len(line) + 1
    return len(lines)


def mark_of(lines: int) -> str:
    """What stands where so many lines stand above."""
    return f"[… {lines} lines as above …]"
