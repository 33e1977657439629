"""The last resort: nothing was proposed for so many turns.

Promise: it fires once after so many turns without a proposal, then counts anew. What it proposes begins where the last
proposal ended and leaves out the newest turns, which are the work in hand.
"""

from collections import deque

from autogen_context.triggers.checks import check_least, check_share
from autogen_context.triggers.decision import NOTHING, Scope, TriggerDecision
from autogen_context.triggers.enough import is_enough
from autogen_context.triggers.outcome import Outcomes
from autogen_context.triggers.settings import TURNS
from autogen_context.triggers.turn import Turn, check_turn

CONFIDENCE = 0.50
NEWEST_TURNS = 3  # are not proposed
KEPT_READS = 4  # the newest of a scope: nothing says that they are done with


class TurnCountTrigger:
    """Proposes turns for no other reason than that there are many.

    Args:
        turns: without a proposal, after which it fires; 1 or more.
        confidence: that a developer would call a proposal right, 0..1.

    Raises:
        ValueError: an argument is none of these.
    """

    def __init__(self, turns: int = TURNS, confidence: float = CONFIDENCE) -> None:
        check_least("turns", turns, 1)
        check_share("confidence", confidence)
        self._turns, self._confidence = turns, confidence
        self._outcomes = Outcomes()
        self._reads: deque[int] = deque(maxlen=KEPT_READS + NEWEST_TURNS)
        self._start: int | None = None
        self._waited = 0

    def observe(self, turn: Turn, other: TriggerDecision = NOTHING) -> TriggerDecision:
        """Whether this is the turn after which it fires; never where another trigger does."""
        check_turn(turn)
        start = self._start = turn.number if self._start is None else self._start
        self._outcomes.add(turn)
        if any(step.action.kind == "read" for step in turn.steps):
            self._reads.append(turn.number)
        self._waited += 1
        if other.scope is not None:
            self._begin_anew(other.scope)
        elif self._waited >= self._turns and turn.number - start >= NEWEST_TURNS:
            return self._proposal(start, turn.number + 1 - NEWEST_TURNS)
        return NOTHING

    def _proposal(self, start: int, stop: int) -> TriggerDecision:
        reads = [number for number in self._reads if start <= number < stop][-KEPT_READS:]
        stay = sorted({*self._outcomes.within(start, stop), *reads})
        scope = Scope(start=start, stop=stop, outcomes=tuple(stay))
        if not is_enough(scope):
            return NOTHING
        details = {"turns_without_a_proposal": self._waited}
        self._begin_anew(scope)
        return TriggerDecision(
            kind="turn_count", scope=scope, confidence=self._confidence, details=details
        )

    def _begin_anew(self, scope: Scope) -> None:
        self._waited = 0
        self._start = max(self._start or 0, scope.stop)
