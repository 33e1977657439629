"""Where one stretch of work ends and the next begins: at another file or module, at first use, at a verdict of tests.

Promise: a scope ends where the work moved on, holds more than three turns, and names those that stay: the last version
of each file written in it, the verdict of its tests, what was looked up for the use that follows. The same turns give
the same decisions; a turn costs the same however many there were.
"""

from collections.abc import Collection
from typing import Literal, get_args

from autogen_context.triggers.checks import check_least, check_share
from autogen_context.triggers.decision import NOTHING, Scope, TriggerDecision
from autogen_context.triggers.enough import LEAST_TURNS, is_enough
from autogen_context.triggers.exploring import Exploring, Use
from autogen_context.triggers.moves import Move, Moves
from autogen_context.triggers.outcome import Outcomes
from autogen_context.triggers.turn import Turn, check_turn
from autogen_context.triggers.verdict import Verdict

Boundary = Literal["test", "api", "module", "file"]

BOUNDARIES: tuple[Boundary, ...] = get_args(Boundary)
CONFIDENCE = 0.80


class SemanticBoundaryDetector:
    """Proposes the span that ends at a boundary.

    The kinds of boundaries, of which the first that holds is told:

    - ``test``: tests ran and told whether they passed. Where they did, the span ends with them; where not, before the
      last change, which is not done.
    - ``api``: what was looked up in several ways is used, or code is changed after nothing but looking around; the span
      ends before the use.
    - ``module``: two turns in a row worked in folders that the span has no file of; it ends before them.
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
        check_share("confidence", confidence)
        check_least("least_turns", least_turns, 1)
        check_boundaries(boundaries)
        self._confidence = confidence
        self._boundaries = frozenset(boundaries)
        self._least_turns = least_turns
        self._outcomes = Outcomes()
        self._moves = Moves()
        self._exploring = Exploring()
        self._start: int | None = None

    def observe(self, turn: Turn) -> TriggerDecision:
        """Whether a stretch of work ended with this turn, or before it."""
        check_turn(turn)
        if self._start is None:
            self._start = turn.number
        verdict = self._outcomes.add(turn).verdict
        move, use = self._moves.observe(turn), self._exploring.observe(turn)
        decision = (
            self._tested(turn, verdict) or self._used(turn, use) or self._moved(move) or NOTHING
        )
        if move and not decision.fires:
            self._moves.stay()
        return decision

    def _tested(self, turn: Turn, verdict: Verdict | None) -> TriggerDecision | None:
        if verdict is None:
            return None
        told = ("work", f"tests {verdict}")
        behind = turn.number + 1
        if verdict == "passed":
            return self._ended("test", behind, told=told)
        changed = self._outcomes.last_change(self._start or 0)
        return self._ended("test", behind if changed is None else changed, told=told)

    def _used(self, turn: Turn, use: Use | None) -> TriggerDecision | None:
        if use is None:
            return None
        told = (f"{use.lookups} look-ups", f"use of {use.used}")
        return self._ended("api", turn.number, told=told, use=use)

    def _moved(self, move: Move | None) -> TriggerDecision | None:
        if move is None:
            return None
        kind: Boundary = "module" if move.to_module and "module" in self._boundaries else "file"
        names = move.modules if kind == "module" else move.files
        return self._ended(kind, move.since, told=names)

    def _ended(
        self, kind: Boundary, stop: int, *, told: tuple[str, str], use: Use | None = None
    ) -> TriggerDecision | None:
        """The span that ends before ``stop``; ``None`` where it is too short, all of it stays, or nobody asked."""
        start = self._start or 0
        if kind not in self._boundaries or stop <= start:
            return None
        older, also = (use.older, use.turns) if use else ((), ())
        stay = {
            *self._outcomes.within(start, stop, outdated=older),
            *(n for n in also if start <= n < stop),
        }
        scope = Scope(start=start, stop=stop, outcomes=tuple(sorted(stay)))
        if not is_enough(scope, self._least_turns):
            return None
        self._start = stop
        self._moves.restart(stop)
        self._exploring.restart(stop)
        before, after = told
        return TriggerDecision(
            kind="boundary",
            scope=scope,
            confidence=self._confidence,
            details={"boundary": kind, "from": before, "to": after},
        )


def check_boundaries(boundaries: Collection[Boundary]) -> None:
    """Refuse kinds that there are not.

    Raises:
        ValueError: one is unknown.
    """
    unknown = set(boundaries) - set(BOUNDARIES)
    if unknown:
        known = ", ".join(BOUNDARIES)
        raise ValueError(
            f"boundaries: there is no {', '.join(sorted(unknown))}; give some of {known}"
        )
