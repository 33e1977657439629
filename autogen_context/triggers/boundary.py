"""Detects boundaries in the work: another file or module, first use of what was looked up, a test result.

Promise: a proposed scope ends at a boundary, has at least four turns, and names the turns to keep.
"""

from collections import deque
from collections.abc import Collection
from posixpath import dirname
from typing import Literal

from autogen_context.triggers.turn import NOTHING, Outcomes, TriggerDecision, Turn, sort_of

Boundary = Literal["test", "module", "api", "file"]

CONFIDENCE = 0.80

AWAY_TURNS = 2  # consecutive turns elsewhere count as a move, a single one does not
WORKED_TURNS = 6  # reads of a place that weigh as much as one change there
LEAST_LOOKUPS = 3  # distinct look-ups before an "api" boundary
KEPT_LOOKUPS = 3  # the newest look-ups are kept, since the code is written from them
MOST_PLACES = 500  # files, modules or look-ups remembered for a span


class SemanticBoundaryDetector:
    """Proposes the span of turns that ends at a boundary; a span shorter than four turns is merged into the next.

    Kinds of boundaries, in order of precedence:

    - ``test``: tests ran with a clear result. After a pass the span ends with them, after a failure before the last
      change, which is unfinished.
    - ``module``: two consecutive turns worked in a folder that is new to the span; the span ends before them.
    - ``api``: after several look-ups, the first turn that changes code or acts; the span ends before that turn.
    - ``file``: the same as ``module``, for files.
    """

    def __init__(self) -> None:
        self._outcomes = Outcomes()
        self._files, self._modules = _Places(), _Places()
        self._lookups: dict[str, int] = {}  # since the last action: look-up -> its newest turn
        self._acted = -1  # number of the last turn that acted

    def observe(self, turn: Turn) -> TriggerDecision:
        """Return a proposal if a span ended with this turn or before it."""
        verdict = self._outcomes.add(turn).verdict
        lookups, module, file = self._lookups_used(turn), None, None
        actions = [step.action for step in turn.steps]
        changed = [path for each in actions if each.kind == "write" for path in each.writes]
        read = [view.path for each in actions if each.kind == "read" for view in each.views]
        if changed or read:
            path, is_change = (changed or read)[-1], bool(changed)
            module = self._modules.observe(turn.number, dirname(path) or ".", is_change=is_change)
            file = self._files.observe(turn.number, path, is_change=is_change)
            if self._modules.away and not module:
                file = None  # wait: this may be the first turn of a move to another module
        decision = NOTHING
        if verdict:
            last = self._outcomes.last_change() if verdict == "failed" else None
            stop = turn.number + 1 if last is None else last
            decision = self._ended("test", stop, "work", f"tests {verdict}")
        if module and not decision.fires:
            decision = self._ended("module", *module)
        if len(lookups) >= LEAST_LOOKUPS and not decision.fires:
            told, newest = f"{len(lookups)} look-ups", sorted(lookups.values())[-KEPT_LOOKUPS:]
            decision = self._ended("api", turn.number, told, "their use", newest)
        if file and not decision.fires:
            decision = self._ended("file", *file)
        return decision

    def _ended(
        self, kind: Boundary, stop: int, before: str, after: str, stay: Collection[int] = ()
    ) -> TriggerDecision:
        """Propose the span that ends before ``stop``, unless it is too short or every turn is kept."""
        start = self._outcomes.start
        scope = self._outcomes.scope(start, stop, stay) if start < stop else None
        if scope is None or not scope.is_enough:
            return NOTHING
        self._outcomes.start = stop
        self._files.restart(stop)
        self._modules.restart(stop)
        details = {"boundary": kind, "from": before, "to": after}
        return TriggerDecision(kind="boundary", scope=scope, confidence=CONFIDENCE, details=details)

    def _lookups_used(self, turn: Turn) -> dict[str, int]:
        """Return the look-ups that a turn puts to use; empty unless it is the first turn of the span that acts."""
        used: dict[str, int] = {}
        for step in turn.steps:
            action = step.action
            if action.kind in {"write", "run"}:
                is_use = any(sort_of(path) == "code" for path in action.writes)
                is_use = is_use or (action.kind == "write" and not action.writes)
                used = self._lookups if is_use and self._acted < self._outcomes.start else used
                self._acted, self._lookups = turn.number, {}
            elif action.kind in {"read", "search"} and len(self._lookups) < MOST_PLACES:
                key = f"{step.tool} {action.key or ' '.join(view.told() for view in action.views)}"
                self._lookups[key] = turn.number
        return used


class _Places:
    """The files or modules of the open span. A single look elsewhere, or a return, is no move."""

    def __init__(self) -> None:
        self._turns: dict[str, int] = {}  # weight of each place
        self._last = ""  # current place of the span
        self.away = 0  # consecutive turns, up to the newest, at places new to the span
        self._recent = deque[tuple[int, str, bool]](maxlen=AWAY_TURNS)

    def observe(self, number: int, place: str, *, is_change: bool) -> tuple[int, str, str] | None:
        """Return a move as (its first turn, place left, new place), or ``None``."""
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
        """Count recent turns from ``start`` on; ``anew`` begins a new span with them."""
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
