"""When the work moves from the files of a span to others.

Promise: a glance at another file is no move, nor is a way back. What is remembered is bounded, and a turn costs the
same however many there were.
"""

from collections import Counter
from dataclasses import dataclass
from posixpath import dirname

from autogen_context.triggers.turn import Turn

AWAY_TURNS = 2  # in a row at other files are a move, one is a glance
WORKED_TURNS = 6  # at a file make it one that was worked on, as a change of it does at once
MOST_FILES = 500  # of a span; of more the newest are known


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a turn worked.

    Attributes:
        turn: its number.
        file: the last one that it changed, else the last one that it read.
        edited: whether it changed the file.
    """

    turn: int
    file: str
    edited: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A move of the work.

    Attributes:
        since: number of the first turn at the new place.
        left: the last file of the span.
        reached: the newest file.
        to_module: whether the span has no file in the modules reached.
    """

    since: int
    left: str
    reached: str
    to_module: bool

    @property
    def files(self) -> tuple[str, str]:
        """The file left, and the one reached."""
        return self.left, self.reached

    @property
    def modules(self) -> tuple[str, str]:
        """The module left, and the one reached."""
        return module_of(self.left), module_of(self.reached)


class Moves:
    """The files of the span that is open."""

    def __init__(self) -> None:
        self._turns: Counter[str] = Counter()
        self._last: Place | None = None
        self._edited: set[str] = set()
        self._away: list[Place] = []

    def observe(self, turn: Turn) -> Move | None:
        """What one more turn is: a move where it is the second in a row away from a span with work done."""
        place = place_of(turn)
        if place is None:
            return None
        if self._last is None or place.file in self._turns:
            self._away.clear()
            self._add(place)
            return None
        self._away.append(place)
        if len(self._away) >= AWAY_TURNS and self._worked():
            return self._move(self._last)
        if len(self._away) >= AWAY_TURNS:
            self.stay()
        return None

    def stay(self) -> None:
        """Count the places away to the span."""
        for place in self._away:
            self._add(place)
        self._away.clear()

    def restart(self, start: int) -> None:
        """Begin a span at a turn that was seen already, or is the next."""
        recent = self._away or ([self._last] if self._last else [])
        self._away = [place for place in recent if place.turn >= start]
        self._turns.clear()
        self._edited.clear()
        self._last = None
        self.stay()

    def _move(self, left: Place) -> Move:
        known = {module_of(file) for file in self._turns}
        reached = {module_of(place.file) for place in self._away}
        return Move(
            since=self._away[0].turn,
            left=left.file,
            reached=self._away[-1].file,
            to_module=known.isdisjoint(reached),
        )

    def _worked(self) -> bool:
        if self._last is None:
            return False
        return self._last.file in self._edited or self._turns[self._last.file] >= WORKED_TURNS

    def _add(self, place: Place) -> None:
        self._turns[place.file] += 1
        self._last = place
        if place.edited:
            self._edited.add(place.file)
        if len(self._turns) > MOST_FILES:
            oldest = next(iter(self._turns))
            del self._turns[oldest]
            self._edited.discard(oldest)


def place_of(turn: Turn) -> Place | None:
    """Where a turn worked; ``None`` where it neither read nor changed a file. What a run writes beside is no work."""
    steps = [step.action for step in turn.steps]
    changed = [path for action in steps if action.kind == "write" for path in action.writes]
    if changed:
        return Place(turn=turn.number, file=changed[-1], edited=True)
    read = [view.path for action in steps if action.kind == "read" for view in action.views]
    return Place(turn=turn.number, file=read[-1]) if read else None


def module_of(file: str) -> str:
    """The folder of a file."""
    return dirname(file) or "."
