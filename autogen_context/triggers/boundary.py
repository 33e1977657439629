"""Where one stretch of work ends and the next begins: at another file or module, at first use, at a verdict of tests.

Promise: a scope ends where the work moved on, holds more than three turns, and names those that stay: the last version
of each file written in it, the verdict of its tests, what was looked up for the use that follows. The same turns give
the same decisions; what is remembered is bounded, and a turn costs the same however many there were.
"""

from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from posixpath import basename, dirname
from typing import Literal, get_args

from autogen_context.language.terms import PART, STOP_WORDS, stem
from autogen_context.messages.tool_call import NAME_CHARS, NAME_WORDS
from autogen_context.triggers.decision import LEAST_TURNS, NOTHING, Scope, TriggerDecision
from autogen_context.triggers.outcome import Outcomes, sort_of
from autogen_context.triggers.turn import Step, Turn, check_fraction, check_least, check_turn
from autogen_context.triggers.verdict import Verdict

Boundary = Literal["test", "api", "module", "file"]

BOUNDARIES: tuple[Boundary, ...] = get_args(Boundary)
CONFIDENCE = 0.80

AWAY_TURNS = 2  # in a row at other places are a move, one is a glance
WORKED_TURNS = 6  # at a place make it one that was worked at, as a change there does at once
LEAST_LOOKUPS = 3  # different ones, of what is then used
KEPT_LOOKUPS = 3  # the newest of these stay: the use comes from them
KEPT_READS = 4  # of files, the newest: the same
LEAST_LETTERS = 3  # of a word that names a thing
MOST_PLACES = 500  # files, modules or things of a span; of more the newest are known
MOST_LOOKUPS = 100  # of a thing
NO_THING = STOP_WORDS | NAME_WORDS.keys()  # what a tool does, not with what


class SemanticBoundaryDetector:
    """Proposes the span that ends at a boundary.

    The kinds of boundaries, of which the first that holds is told:

    - ``test``: tests ran and told whether they passed. Where they did, the span ends with them; where not, before the
      last change, which is not done.
    - ``api``: what was looked up in several ways is used, or code is changed after nothing but looking around; the span
      ends before the use.
    - ``module``: two turns in a row worked in a folder that the span has not worked in; it ends before them.
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
        self._lookups = _Lookups()
        self._start: int | None = None

    def observe(self, turn: Turn) -> TriggerDecision:
        """Whether a stretch of work ended with this turn, or before it."""
        check_turn(turn)
        self._start = turn.number if self._start is None else self._start
        verdict = self._outcomes.add(turn).verdict
        use, moves = self._lookups.observe(turn), self._moves_of(turn)
        decision = self._tested(turn, verdict) or self._used(turn, use) or self._moved(*moves)
        if decision is None and any(moves):
            self._files.stay()
            self._modules.stay()
        return decision or NOTHING

    def _tested(self, turn: Turn, verdict: Verdict | None) -> TriggerDecision | None:
        if verdict is None:
            return None
        changed = self._outcomes.last_change(self._start or 0) if verdict == "failed" else None
        stop = turn.number + 1 if changed is None else changed
        return self._ended("test", stop, "work", f"tests {verdict}")

    def _used(self, turn: Turn, use: "_Use | None") -> TriggerDecision | None:
        if use is None:
            return None
        told = f"{use.lookups} look-ups", f"use of {use.used}"
        return self._ended("api", turn.number, *told, use=use)

    def _moves_of(self, turn: Turn) -> "tuple[_Move | None, _Move | None]":
        """The move to other modules and the one to other files that a turn makes."""
        found = _file_of(turn)
        if found is None:
            return None, None
        file, is_change = found
        to_module = self._modules.observe(turn.number, dirname(file) or ".", is_change=is_change)
        to_file = self._files.observe(turn.number, file, is_change=is_change)
        is_undecided = self._modules.is_away and not to_module and "module" in self._boundaries
        return to_module, None if is_undecided else to_file  # it may be the first turn elsewhere

    def _moved(self, module: "_Move | None", file: "_Move | None") -> TriggerDecision | None:
        if module and "module" in self._boundaries:
            return self._ended("module", module.since, module.left, module.reached)
        return self._ended("file", file.since, file.left, file.reached) if file else None

    def _ended(
        self, kind: Boundary, stop: int, before: str, after: str, *, use: "_Use | None" = None
    ) -> TriggerDecision | None:
        """The span that ends before ``stop``; ``None`` where it is too short, all of it stays, or nobody asked."""
        start = self._start or 0
        if kind not in self._boundaries or start >= stop:
            return None
        older = use.older if use else frozenset[int]()
        stay = set(self._outcomes.within(start, stop, outdated=older))
        stay.update(number for number in (use.turns if use else ()) if start <= number < stop)
        scope = Scope(start=start, stop=stop, outcomes=tuple(sorted(stay)))
        if not scope.is_enough(self._least_turns):
            return None
        self._start = stop
        for part in (self._files, self._modules, self._lookups):
            part.restart(stop)
        return TriggerDecision(
            kind="boundary",
            scope=scope,
            confidence=self._confidence,
            details={"boundary": kind, "from": before, "to": after},
        )


def _file_of(turn: Turn) -> tuple[str, bool] | None:
    """The last file that a turn changed, else the last that it read, and whether it changed it; what a run writes is none."""
    actions = [step.action for step in turn.steps]
    changed = [path for each in actions if each.kind == "write" for path in each.writes]
    if changed:
        return changed[-1], True
    read = [view.path for each in actions if each.kind == "read" for view in each.views]
    return (read[-1], False) if read else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Move:
    """A move of the work: number of the first turn there, the last place of the span, and the newest."""

    since: int
    left: str
    reached: str


class _Places:
    """The files, or the modules, of the span that is open; a glance at another is no move, nor is a way back."""

    def __init__(self) -> None:
        self._turns: dict[str, int] = {}  # at each place
        self._changed: set[str] = set()
        self._last: tuple[int, str, bool] | None = None
        self._away: list[tuple[int, str, bool]] = []

    @property
    def is_away(self) -> bool:
        """Whether the newest turn was at a place that the span does not have."""
        return bool(self._away)

    def observe(self, number: int, place: str, *, is_change: bool) -> _Move | None:
        """What one more turn is: a move where it is the second in a row away from a place that was worked at."""
        here = (number, place, is_change)
        if self._last is None or place in self._turns:
            self._away.clear()
            self._add(here)
            return None
        self._away.append(here)
        if len(self._away) < AWAY_TURNS:
            return None
        left = self._last[1]
        if left in self._changed or self._turns[left] >= WORKED_TURNS:
            return _Move(since=self._away[0][0], left=left, reached=place)
        self.stay()
        return None

    def stay(self) -> None:
        """Count the places of a move to the span."""
        if len(self._away) >= AWAY_TURNS:
            for each in self._away:
                self._add(each)
            self._away.clear()

    def restart(self, start: int) -> None:
        """Begin a span at a turn that was seen already, or is the next."""
        recent = self._away or ([self._last] if self._last else [])
        self._turns.clear()
        self._changed.clear()
        self._last, self._away = None, []
        for each in recent:
            if each[0] >= start:
                self._add(each)

    def _add(self, here: tuple[int, str, bool]) -> None:
        _, place, is_change = self._last = here
        self._turns[place] = self._turns.get(place, 0) + 1
        if is_change:
            self._changed.add(place)
        if len(self._turns) > MOST_PLACES:
            oldest = next(iter(self._turns))
            del self._turns[oldest]
            self._changed.discard(oldest)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Use:
    """The first use of what was looked up.

    Attributes:
        used: the file that is changed, or the tool that is called where it names none.
        lookups: in how many ways it was looked up.
        turns: the newest turns that did, and the newest that read files.
        older: the other turns that did.
    """

    used: str
    lookups: int
    turns: tuple[int, ...]
    older: frozenset[int]


class _Lookups:
    """What was looked up in the span that is open, and not used yet; a look-up made again counts once.

    Calls are about things: a file, or what the names of tools have in common (``get_reservation``, ``cancel_reservation``).
    Looking around, before anything is done, is a thing of its own: its use is the first change of code that was not looked
    up, which is made with what was.
    """

    def __init__(self) -> None:
        self._found: dict[
            str, dict[str, int]
        ] = {}  # of each thing each look-up, and its newest turn
        self._around: dict[str, int] | None = {}  # look-ups of anything, until something is done
        self._last_use = -1  # number of the newest turn that did something
        self._reads: deque[int] = deque(maxlen=KEPT_READS)

    def observe(self, turn: Turn) -> _Use | None:
        """The use that a turn makes of what was looked up before it, of several that of most look-ups."""
        using = [step for step in turn.steps if step.action.kind in {"write", "run"}]
        uses = [use for step in using for use in self._uses(step)]
        self._last_use = turn.number if using else self._last_use
        for step in turn.steps:
            if step.action.kind in {"read", "search"}:
                self._look(step, turn.number)
        return max(uses, key=lambda use: use.lookups, default=None)

    def restart(self, start: int) -> None:
        """Begin a span at a turn that was seen already, or is the next."""
        self._found.clear()
        self._around = {} if self._last_use < start else None
        self._reads.clear()

    def _uses(self, step: Step) -> list[_Use]:
        used = (*step.action.writes, step.tool)[0]
        around = self._around_of(step)
        found = [self._found.pop(thing, {}) for thing in things_of(step)]
        uses = [self._use(used, each) for each in found if len(each) >= LEAST_LOOKUPS]
        if not uses and len(around) >= LEAST_LOOKUPS:
            return [self._use(used, around, is_around=True)]
        return uses

    def _use(self, used: str, lookups: Mapping[str, int], *, is_around: bool = False) -> _Use:
        turns = sorted(set(lookups.values()))
        newest = turns[-KEPT_LOOKUPS:]
        kept = (
            (sorted(self._reads) or newest)[-KEPT_LOOKUPS:]
            if is_around
            else [*newest, *self._reads]
        )
        older = frozenset(turns).difference(kept if is_around else newest)
        return _Use(used=used, lookups=len(lookups), turns=tuple(kept), older=older)

    def _around_of(self, step: Step) -> Mapping[str, int]:
        """What was looked up before anything was done, where code is changed now that was not looked up."""
        around, self._around = self._around, None
        changed = {basename(path) for path in step.action.writes if sort_of(path) == "code"}
        is_new = bool(changed) and changed.isdisjoint(map(basename, self._found))
        return around if around and is_new else {}

    def _look(self, step: Step, number: int) -> None:
        action = step.action
        asked = f"{step.tool} {action.key or ' '.join(view.told() for view in action.views)}"
        groups = [self._found.setdefault(thing, {}) for thing in things_of(step)]
        for lookups in groups if self._around is None else [*groups, self._around]:
            if asked in lookups or len(lookups) < MOST_LOOKUPS:
                lookups[asked] = number
        if action.kind == "read" and action.views:
            self._reads.append(number)
        while len(self._found) > MOST_PLACES:
            del self._found[next(iter(self._found))]


def things_of(step: Step) -> tuple[str, ...]:
    """What a step is about: its files where it names some, else what its tool's name says beside a kind."""
    action = step.action
    files = [*action.writes, *(view.path for view in action.views)]
    if action.kind == "search":
        files += action.subjects[1:]  # the pattern is first
    return tuple(dict.fromkeys(files)) or _things_of_name(step.tool[:NAME_CHARS])


@lru_cache(1_000)
def _things_of_name(name: str) -> tuple[str, ...]:
    words = (part.lower() for part in PART.findall(name))
    things = (word for word in words if word not in NO_THING and len(word) >= LEAST_LETTERS)
    return tuple(dict.fromkeys(stem(word) for word in things))
