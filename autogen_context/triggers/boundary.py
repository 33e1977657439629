"""Where one stretch of work ends and the next begins: at another file or module, at first use, at a verdict of tests.

Promise: a scope ends where the work moved on, holds more than three turns, and names those that stay.
"""

from collections import deque
from collections.abc import Collection
from posixpath import dirname
from typing import Literal

from autogen_context.triggers.turn import (
    LEAST_TURNS,
    NOTHING,
    Outcomes,
    TriggerDecision,
    Turn,
    sort_of,
)

Boundary = Literal["test", "module", "api", "file"]

CONFIDENCE = 0.80

AWAY_TURNS = 2  # in a row at other places are a move, one is a glance
WORKED_TURNS = 6  # at a place make it one that was worked at, as a change there does at once
LEAST_LOOKUPS = 3  # different ones, of what is then used
KEPT_LOOKUPS = 3  # the newest of these stay: the use comes from them
MOST_PLACES = 500  # files, modules or look-ups of a span; of more the newest are known


class SemanticBoundaryDetector:
    """Proposes the span that ends at a boundary; one that is shorter than four turns goes on as a part of the next.

    The kinds of boundaries, of which the first that holds is told:

    - ``test``: tests ran and told whether they passed. Where they did, the span ends with them; where not, before the
      last change, which is not done.
    - ``module``: two turns in a row worked in a folder that the span has not worked in; it ends before them.
    - ``api``: several things were looked up, and then something is done or code is changed for the first time; the span
      ends before that use.
    - ``file``: the same as ``module``, for files.
    """

    def __init__(self) -> None:
        self._outcomes = Outcomes()
        self._files, self._modules = _Places(), _Places()
        self._lookups: dict[str, int] = {}  # since something was done, and their newest turn
        self._acted = -1  # number of the last turn that did something
        self._start: int | None = None

    def observe(self, turn: Turn) -> TriggerDecision:
        """Whether a stretch of work ended with this turn, or before it."""
        verdict = self._outcomes.add(turn).verdict
        start = self._start = turn.number if self._start is None else self._start
        lookups, module, file = self._lookups_used(turn, start), None, None
        actions = [step.action for step in turn.steps]
        changed = [path for each in actions if each.kind == "write" for path in each.writes]
        read = [view.path for each in actions if each.kind == "read" for view in each.views]
        if changed or read:
            path, is_change = (changed or read)[-1], bool(changed)
            module = self._modules.observe(turn.number, dirname(path) or ".", is_change=is_change)
            file = self._files.observe(turn.number, path, is_change=is_change)
            if self._modules.away and not module:
                file = None  # it may be the first turn in another module
        decision = NOTHING
        if verdict:
            last = self._outcomes.last_change(start) if verdict == "failed" else None
            stop = turn.number + 1 if last is None else last
            decision = self._ended("test", stop, "work", f"tests {verdict}")
        if module and not decision.fires:
            decision = self._ended("module", *module)
        if len(lookups) >= LEAST_LOOKUPS and not decision.fires:
            told, newest = f"{len(lookups)} look-ups", sorted(lookups.values())[-KEPT_LOOKUPS:]
            decision = self._ended("api", turn.number, told, "their use", stay=newest)
        if file and not decision.fires:
            decision = self._ended("file", *file)
        return decision

    def _ended(
        self, kind: Boundary, stop: int, before: str, after: str, *, stay: Collection[int] = ()
    ) -> TriggerDecision:
        """The span that ends before ``stop``, unless it is too short, or all of it stays."""
        start = self._start or 0
        if stop - start < LEAST_TURNS:
            return NOTHING
        scope = self._outcomes.scope(start, stop, more=stay)
        if not scope.is_enough:
            return NOTHING
        self._start = stop
        self._files.restart(stop)
        self._modules.restart(stop)
        details = {"boundary": kind, "from": before, "to": after}
        return TriggerDecision(kind="boundary", scope=scope, confidence=CONFIDENCE, details=details)

    def _lookups_used(self, turn: Turn, start: int) -> dict[str, int]:
        """What was looked up in the span before anything was done in it, where a turn is the first that does."""
        used: dict[str, int] = {}
        for step in turn.steps:
            action = step.action
            if action.kind in {"write", "run"}:
                is_use = any(sort_of(path) == "code" for path in action.writes)
                is_use = is_use or (action.kind == "write" and not action.writes)
                used = self._lookups if is_use and self._acted < start else used
                self._acted, self._lookups = turn.number, {}
            elif action.kind in {"read", "search"} and len(self._lookups) < MOST_PLACES:
                key = f"{step.tool} {action.key or ' '.join(view.told() for view in action.views)}"
                self._lookups[key] = turn.number
        return used


class _Places:
    """The files, or the modules, of the span that is open; a glance at another is no move, nor is a way back."""

    def __init__(self) -> None:
        self._turns: dict[str, int] = {}  # at each place
        self._last = ""  # place of the span
        self.away = 0  # turns in a row, up to the newest, at places that the span does not have
        self._recent = deque[tuple[int, str, bool]](maxlen=AWAY_TURNS)

    def observe(self, number: int, place: str, *, is_change: bool) -> tuple[int, str, str] | None:
        """Where one more turn is a move: number of the first turn there, the last place of the span, and the newest."""
        self._recent.append((number, place, is_change))
        if not self._turns or place in self._turns:
            self.away = 0
            self._add(place, is_change=is_change)
            return None
        self.away += 1
        if self.away < AWAY_TURNS:
            return None
        left, worked = self._last, self._turns[self._last]
        self.restart(self._recent[0][0], anew=False)
        return (self._recent[0][0], left, place) if worked >= WORKED_TURNS else None

    def restart(self, start: int, *, anew: bool = True) -> None:
        """Begin a span at a turn that was seen already, or is the next; or count the turns from there on to this one."""
        if anew:
            self._turns.clear()
        self.away = 0
        for number, place, is_change in self._recent:
            if number >= start:
                self._add(place, is_change=is_change)

    def _add(self, place: str, *, is_change: bool) -> None:
        self._last = place
        self._turns[place] = self._turns.get(place, 0) + (WORKED_TURNS if is_change else 1)
        if len(self._turns) > MOST_PLACES:
            del self._turns[next(iter(self._turns))]
