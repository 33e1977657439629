"""Where one stretch of work ends and the next begins: at another file or module, at first use, at a verdict of tests.

Promise: a scope ends where the work moved on, holds more than three turns, and names those that stay. The same turns
give the same decisions; what is remembered is bounded, and a turn costs the same however many there were.
"""

from collections.abc import Collection
from functools import lru_cache
from posixpath import dirname
from typing import Literal, NamedTuple, get_args

from autogen_context.language.terms import PART, STOP_WORDS, stem
from autogen_context.messages.tool_call import NAME_CHARS, NAME_WORDS
from autogen_context.triggers.turn import (
    LEAST_TURNS,
    NOTHING,
    Outcomes,
    Step,
    TriggerDecision,
    Turn,
    check_fraction,
    check_least,
    sort_of,
)

Boundary = Literal["test", "module", "api", "file"]

BOUNDARIES: tuple[Boundary, ...] = get_args(Boundary)
CONFIDENCE = 0.80

AWAY_TURNS = 2  # in a row at other places are a move, one is a glance
WORKED_TURNS = 6  # at a place make it one that was worked at, as a change there does at once
LEAST_LOOKUPS = 3  # different ones, of what is then used
KEPT_LOOKUPS = 3  # the newest of these stay: the use comes from them
LEAST_LETTERS = 3  # of a word that names a thing
MOST_PLACES = 500  # files, modules or look-ups of a span; of more the newest are known
NO_THING = STOP_WORDS | NAME_WORDS.keys()  # what a tool does, not with what


class SemanticBoundaryDetector:
    """Proposes the span that ends at a boundary.

    The kinds of boundaries, of which the first that holds is told:

    - ``test``: tests ran and told whether they passed. Where they did, the span ends with them; where not, before the
      last change, which is not done.
    - ``module``: two turns in a row worked in a folder that the span has not worked in; it ends before them.
    - ``api``: what was looked up in several ways is used, or code is changed after nothing but looking around; the span
      ends before the use.
    - ``file``: the same for files.

    A span that is shorter goes on as a part of the next.

    Args:
        confidence: that a developer would call a boundary right, 0..1.
        boundaries: the kinds that are looked for.
        least_turns: that a scope has, 1 or more.

    Raises:
        ValueError: an argument is none of these.
    """

    def __init__(
        self,
        confidence: float = CONFIDENCE,
        *,
        boundaries: Collection[Boundary] = BOUNDARIES,
        least_turns: int = LEAST_TURNS,
    ) -> None:
        check_fraction("confidence", confidence)
        check_least("least_turns", least_turns, 1)
        if unknown := sorted(set(boundaries) - set(BOUNDARIES)):
            known = ", ".join(BOUNDARIES)
            raise ValueError(f"boundaries: there is no {', '.join(unknown)}; give some of {known}")
        self._confidence = confidence
        self._boundaries = frozenset(boundaries)
        self._least_turns = least_turns
        self._outcomes = Outcomes()
        self._files, self._modules = _Places(), _Places()
        self._lookups: dict[str, tuple[int, frozenset[str]]] = {}  # newest turn, and about what
        self._has_acted = False  # in the span that is open
        self._start: int | None = None

    def observe(self, turn: Turn) -> TriggerDecision:
        """Whether a stretch of work ended with this turn, or before it."""
        verdict = self._outcomes.add(turn).verdict
        start = self._start = turn.number if self._start is None else self._start
        used, turns = self._use(turn)
        module = file = None
        if found := _file_of(turn):
            path, is_change = found
            module = self._modules.observe(turn.number, dirname(path) or ".", is_change=is_change)
            file = self._files.observe(turn.number, path, is_change=is_change)
            if "module" in self._boundaries and self._modules.away and not module:
                file = None  # it may be the first turn elsewhere
        decision = NOTHING
        if verdict:
            changed = self._outcomes.last_change(start) if verdict == "failed" else None
            stop = turn.number + 1 if changed is None else changed
            decision = self._ended("test", stop, "work", f"tests {verdict}")
        if module and not decision.fires:
            decision = self._ended("module", *module)
        if used and not decision.fires:
            told = f"{len(turns)} look-ups", f"use of {used}"
            decision = self._ended("api", turn.number, *told, stay=sorted(turns)[-KEPT_LOOKUPS:])
        if file and not decision.fires and not (module and "module" in self._boundaries):
            decision = self._ended("file", *file)
        if decision.scope:
            self._has_acted = decision.scope.stop <= turn.number
        elif any(step.action.kind in {"write", "run"} for step in turn.steps):
            self._has_acted = True
        if not decision.fires and (module or file):
            self._files.stay()
            self._modules.stay()
        return decision

    def _ended(
        self, kind: Boundary, stop: int, before: str, after: str, *, stay: Collection[int] = ()
    ) -> TriggerDecision:
        """The span that ends before ``stop``, unless it is too short, all of it stays, or nobody asked."""
        start = self._start or 0
        if kind not in self._boundaries or start >= stop:
            return NOTHING
        scope = self._outcomes.scope(start, stop, more=stay)
        if not scope.is_enough(self._least_turns):
            return NOTHING
        self._start = stop
        self._files.restart(stop)
        self._modules.restart(stop)
        self._lookups.clear()
        details = {"boundary": kind, "from": before, "to": after}
        return TriggerDecision(
            kind="boundary", scope=scope, confidence=self._confidence, details=details
        )

    def _use(self, turn: Turn) -> tuple[str, list[int]]:
        """What a turn uses of what was looked up before it, and the turns of these look-ups; none where too few.

        The first change of code uses whatever was looked up before anything was done, others what is about the same thing.
        """
        used, turns = "", list[int]()
        for step in turn.steps:
            action, things = step.action, things_of(step)
            if action.kind in {"write", "run"}:
                changes_code = not self._has_acted and any(
                    sort_of(path) == "code" for path in action.writes
                )
                asked = [
                    each
                    for each, (_, about) in self._lookups.items()
                    if changes_code or not about.isdisjoint(things)
                ]
                if max(LEAST_LOOKUPS, len(turns) + 1) <= len(asked):
                    used = (*action.writes, step.tool)[0]
                    turns = [self._lookups[each][0] for each in asked]
                for each in asked:
                    del self._lookups[each]
        for step in turn.steps:
            action = step.action
            if action.kind in {"read", "search"}:
                key = f"{step.tool} {action.key or ' '.join(view.told() for view in action.views)}"
                self._lookups[key] = (turn.number, things_of(step))
        while len(self._lookups) > MOST_PLACES:
            del self._lookups[next(iter(self._lookups))]
        return used, turns


def _file_of(turn: Turn) -> tuple[str, bool] | None:
    """The last file that a turn changed, else the last that it read, and whether it changed it; what a run writes is none."""
    actions = [step.action for step in turn.steps]
    changed = [path for each in actions if each.kind == "write" for path in each.writes]
    read = [view.path for each in actions if each.kind == "read" for view in each.views]
    return (changed[-1], True) if changed else (read[-1], False) if read else None


class _Move(NamedTuple):
    """A move of the work: number of the first turn there, the last place of the span, and the newest."""

    since: int
    left: str
    reached: str


class _Places:
    """The files, or the modules, of the span that is open; a glance at another is no move, nor is a way back."""

    def __init__(self) -> None:
        self._turns: dict[str, int] = {}  # at each place
        self._last: tuple[int, str, bool] | None = None
        self.away: list[
            tuple[int, str, bool]
        ] = []  # the newest turns, at places that the span does not have

    def observe(self, number: int, place: str, *, is_change: bool) -> _Move | None:
        """What one more turn is: a move where it is the second in a row away from a place that was worked at."""
        here = (number, place, is_change)
        if self._last is None or place in self._turns:
            self.away.clear()
            self._add(here)
            return None
        self.away.append(here)
        if len(self.away) < AWAY_TURNS:
            return None
        if self._turns[self._last[1]] >= WORKED_TURNS:
            return _Move(self.away[0][0], self._last[1], place)
        self.stay()
        return None

    def stay(self) -> None:
        """Count the places of a move to the span."""
        if len(self.away) >= AWAY_TURNS:
            for each in self.away:
                self._add(each)
            self.away.clear()

    def restart(self, start: int) -> None:
        """Begin a span at a turn that was seen already, or is the next."""
        recent = self.away or ([self._last] if self._last else [])
        self._turns.clear()
        self._last, self.away = None, []
        for each in recent:
            if each[0] >= start:
                self._add(each)

    def _add(self, here: tuple[int, str, bool]) -> None:
        _, place, is_change = self._last = here
        self._turns[place] = self._turns.get(place, 0) + (WORKED_TURNS if is_change else 1)
        if len(self._turns) > MOST_PLACES:
            del self._turns[next(iter(self._turns))]


def things_of(step: Step) -> frozenset[str]:
    """What a step is about: its files where it names some, else what its tool's name says beside a kind."""
    action = step.action
    files = {*action.writes, *(view.path for view in action.views)}
    if action.kind == "search":
        files.update(action.subjects[1:])  # the pattern is first
    return frozenset(files) or _things_of_name(step.tool[:NAME_CHARS])


@lru_cache(1_000)
def _things_of_name(name: str) -> frozenset[str]:
    words = (part.lower() for part in PART.findall(name))
    return frozenset(
        stem(word) for word in words if word not in NO_THING and len(word) >= LEAST_LETTERS
    )
