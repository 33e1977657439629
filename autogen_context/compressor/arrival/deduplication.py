"""Say once what is said again: lines that stand above already give way to a mark.

Promise: nothing is lost while what stands above stays there. A mark stands for exactly so many lines: those that follow
the line before the mark, and end before the line after it, at the nearest place above where these two lines stand so
far apart. The result is shorter than the text, or is the text. Linear time.
"""

from collections.abc import Sequence

LEAST_LEFT = 480  # characters; where less than that is new, the beginning stays as well
LEAST_CHARS = 160  # of the lines that go; a mark, and the look above, cost about as much as two
PLACES = 4  # of each line that are remembered, the latest ones


class LinesAbove:
    """The lines of what is sent, to be found again."""

    def __init__(self) -> None:
        self._texts: list[Sequence[str]] = []
        self._places: dict[str, tuple[tuple[int, int], ...]] = {}  # which text, which of its lines

    def add(self, text: str) -> None:
        """Take a text as sent."""
        if len(text) < LEAST_CHARS:
            return
        lines = text.split("\n")
        number, places = len(self._texts), self._places
        self._texts.append(lines)
        for at, line in enumerate(lines):
            if line and not line.isspace():  # no run begins with a blank one
                places[line] = (*places.get(line, ())[1 - PLACES :], (number, at))

    def without(self, text: str) -> str:
        """A text with a mark in place of each long run of lines that stands above, but for its first and last line."""
        if len(text) < LEAST_LEFT + LEAST_CHARS:
            return text
        lines = text.split("\n")
        short = self._marked(lines, start=0)
        if len(short) < LEAST_LEFT:  # enough stays to say what it is
            short = self._marked(lines, start=text.count("\n", 0, LEAST_LEFT - 1) + 1)
        return text if short == text else short

    def _marked(self, lines: Sequence[str], *, start: int) -> str:
        """The lines as a text, with marks from the line ``start`` on."""
        at, parts = 0, list[str]()
        for first, line in enumerate(lines):
            if first < max(at, start) or line not in self._places:
                continue
            run = self._run(lines, first)
            inner = lines[first + 1 : first + run - 1] if run else ()
            if sum(map(len, inner)) + len(inner) >= LEAST_CHARS:
                parts += (*lines[at : first + 1], mark_of(len(inner)), lines[first + run - 1])
                at = first + run
        return "\n".join((*parts, *lines[at:]))

    def _run(self, lines: Sequence[str], start: int) -> int:
        """How many lines from one on that stands above follow each other there, and would be looked for there."""
        places = self._places[lines[start]]
        common = [self._common(lines, start, place) for place in places]
        best = max(common)
        for (text, at), length in zip(reversed(places), reversed(common), strict=True):
            last = self._texts[text][at + best - 1 : at + best]
            if last and last[0] == lines[start + best - 1]:  # the nearest that looks so is found
                return best if length >= best else 0
        return 0

    def _common(self, lines: Sequence[str], start: int, place: tuple[int, int]) -> int:
        text, at = place
        above = self._texts[text]
        most = min(len(lines) - start, len(above) - at)
        n = 0
        while n < most and lines[start + n] == above[at + n]:
            n += 1
        return n


def mark_of(lines: int) -> str:
    """What stands where so many lines stand above."""
    return f"[… {lines} lines as above …]"
