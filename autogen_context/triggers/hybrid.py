"""All triggers together: what turns mean first, what has grown stale next, how many there were last.

Promise: one decision a turn. Every trigger sees every turn, whichever of them is followed. The same turns give the same
decisions, as long as a model's answers are the same, so that a new one that is fed the turns again is where the old one
was.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from autogen_context.triggers.boundary import SemanticBoundaryDetector
from autogen_context.triggers.decision import (
    FALLBACK_TURNS,
    NOTHING,
    Scope,
    Trigger,
    TriggerDecision,
    TriggerSettings,
)
from autogen_context.triggers.intent import IntentBasedTrigger, KnownIntent
from autogen_context.triggers.outcome import Outcomes
from autogen_context.triggers.staleness import StalenessTracker
from autogen_context.triggers.subtask import SubtaskTrigger
from autogen_context.triggers.turn import Turn, check_fraction, check_least, check_turn

COUNT_CONFIDENCE = 0.50
NEWEST_TURNS = 3  # are not proposed for their number alone
KEPT_READS = 4  # the newest of such a scope: nothing says that they are done with


class SemanticHybridTrigger:
    """Proposes turns to be compacted, for the best reason there is.

    Of several that read a meaning (subtask, intent, boundary, then those of your own) the one with the highest
    confidence is followed, of equal ones the first; the others are told in ``also`` of its details, and what they would
    keep of its scope is kept. Where none of them fires, staleness is; where that does not either, the count of turns.

    Args:
        settings: which of the triggers there are.
        more: triggers of your own; they rank with those that read a meaning.
        known: what a model says of intents, where it has answered; the rules decide where not. An ``IntentModel``, asked
            ahead; a trigger only looks its answers up.

    Attributes:
        known: the same.
    """

    def __init__(
        self,
        settings: TriggerSettings | None = None,
        *,
        more: Sequence[Trigger] = (),
        known: KnownIntent | None = None,
    ) -> None:
        chosen = settings or TriggerSettings()
        self.known = known
        self._semantic: tuple[Trigger, ...] = (*_semantic(chosen, known), *more)
        threshold = chosen.staleness_threshold
        self._staleness = StalenessTracker(threshold=threshold) if chosen.staleness else None
        self._count = TurnCountTrigger(chosen.fallback_turns) if chosen.fallback_turns else None
        self._waiting: Scope | None = None  # a finished span that is too short alone

    def observe(self, turn: Turn) -> TriggerDecision:
        """What is proposed after one more turn."""
        check_turn(turn)
        fired = self._joined([trigger.observe(turn) for trigger in self._semantic])
        fired.sort(key=lambda decision: -decision.confidence)  # equal ones keep their order
        stale = self._staleness.observe(turn) if self._staleness else NOTHING
        decision = _followed([*fired, stale] if stale.fires else fired)
        counted = self._count.observe(turn, decision) if self._count else NOTHING
        return decision if decision.fires else counted

    def _joined(self, decisions: Iterable[TriggerDecision]) -> list[TriggerDecision]:
        """Those that are long enough, with what waited beside them; what is too short waits for its neighbour."""
        scopes = [(each, self._with_waiting(each.scope)) for each in decisions if each.scope]
        enough = [replace(each, scope=scope) for each, scope in scopes if scope.is_enough()]
        if enough:
            self._waiting = None
        elif scopes:
            self._waiting = max((scope for _, scope in scopes), key=len)
        return enough

    def _with_waiting(self, scope: Scope) -> Scope:
        first = self._waiting
        if first is None or not first.start < scope.start <= first.stop:
            return scope
        stay = tuple(sorted({*first.outcomes, *scope.outcomes}))
        return Scope(start=first.start, stop=max(first.stop, scope.stop), outcomes=stay)


def _semantic(settings: TriggerSettings, known: KnownIntent | None) -> Iterator[Trigger]:
    """The triggers that read a meaning, in their order."""
    if settings.subtasks:
        yield SubtaskTrigger()
    if settings.intents:
        yield IntentBasedTrigger(known=known)
    if settings.boundaries:
        yield SemanticBoundaryDetector()


def _followed(fired: Sequence[TriggerDecision]) -> TriggerDecision:
    """The first of some decisions, which tells the others, and keeps of its scope what they would keep."""
    if not fired:
        return NOTHING
    first, *others = fired
    scope = first.scope
    if scope is None or not others:
        return first
    also = ", ".join(f"{other.kind} {other.confidence:.2f}" for other in others)
    kept = {turn for each in fired if each.scope for turn in each.scope.outcomes}
    inside = tuple(sorted(turn for turn in kept if scope.start <= turn < scope.stop))
    if len(inside) < len(scope):  # else all of it would stay
        scope = replace(scope, outcomes=inside)
    return replace(first, scope=scope, details={**first.details, "also": also})


class TurnCountTrigger:
    """Proposes turns for no other reason than that there are many: once, then it counts anew.

    What it proposes begins where the last proposal ended and leaves out the newest turns, which are the work in hand.

    Args:
        turns: without a proposal, after which it fires; 1 or more.
        confidence: that a developer would call a proposal right, 0..1.

    Raises:
        ValueError: an argument is none of these.
    """

    def __init__(self, turns: int = FALLBACK_TURNS, confidence: float = COUNT_CONFIDENCE) -> None:
        check_least("turns", turns, 1)
        check_fraction("confidence", confidence)
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
        stay = tuple(sorted({*self._outcomes.within(start, stop), *reads}))
        scope = Scope(start=start, stop=stop, outcomes=stay)
        if not scope.is_enough():
            return NOTHING
        details = {"turns_without_a_proposal": self._waited}
        self._begin_anew(scope)
        return TriggerDecision(
            kind="turn_count", scope=scope, confidence=self._confidence, details=details
        )

    def _begin_anew(self, scope: Scope) -> None:
        self._waited = 0
        self._start = max(self._start or 0, scope.stop)
