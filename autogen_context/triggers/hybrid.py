"""All triggers together: what turns mean first, what has grown stale next, how many there were last.

Promise: one decision a turn. Every trigger sees every turn, whichever of them is followed. The same turns give the same
decisions, as long as a model's answers are the same, so that a new one that is fed the turns again is where the old one
was.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from autogen_context.triggers.boundary import SemanticBoundaryDetector
from autogen_context.triggers.decision import NOTHING, Scope, TriggerDecision
from autogen_context.triggers.intent_trigger import IntentBasedTrigger
from autogen_context.triggers.joining import Joining
from autogen_context.triggers.known_intent import KnownIntent
from autogen_context.triggers.settings import TriggerSettings
from autogen_context.triggers.staleness import StalenessTracker
from autogen_context.triggers.subtask import SubtaskTrigger
from autogen_context.triggers.turn import Turn, check_turn
from autogen_context.triggers.turn_count import TurnCountTrigger


class Trigger(Protocol):
    """Something that proposes turns to be compacted."""

    def observe(self, turn: Turn, /) -> TriggerDecision:
        """What is proposed after one more turn; ``NOTHING`` where nothing is."""
        ...


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
    """

    def __init__(
        self,
        settings: TriggerSettings | None = None,
        *,
        more: Sequence[Trigger] = (),
        known: KnownIntent | None = None,
    ) -> None:
        chosen = settings or TriggerSettings()
        self._semantic: tuple[Trigger, ...] = (*semantic_triggers(chosen, known), *more)
        self._staleness: tuple[Trigger, ...] = (
            (StalenessTracker(threshold=chosen.staleness_threshold),) if chosen.staleness else ()
        )
        self._joining = Joining()
        self._count = TurnCountTrigger(chosen.fallback_turns) if chosen.fallback_turns else None

    def observe(self, turn: Turn) -> TriggerDecision:
        """What is proposed after one more turn."""
        check_turn(turn)
        semantic = self._joining.joined([trigger.observe(turn) for trigger in self._semantic])
        semantic.sort(key=lambda decision: -decision.confidence)  # equal ones keep their order
        stale = [trigger.observe(turn) for trigger in self._staleness]
        decision = followed([*semantic, *(each for each in stale if each.fires)])
        counted = self._count.observe(turn, decision) if self._count else NOTHING
        return decision if decision.fires else counted


def semantic_triggers(settings: TriggerSettings, known: KnownIntent | None) -> Iterator[Trigger]:
    """The triggers that read a meaning, in their order."""
    if settings.subtasks:
        yield SubtaskTrigger()
    if settings.intents:
        yield IntentBasedTrigger(known=known)
    if settings.boundaries:
        yield SemanticBoundaryDetector()


def followed(fired: Sequence[TriggerDecision]) -> TriggerDecision:
    """The first of some decisions, which tells the others, and keeps of its scope what they would keep."""
    if not fired:
        return NOTHING
    first, *others = fired
    if first.scope is None or not others:
        return first
    also = ", ".join(f"{other.kind} {other.confidence:.2f}" for other in others)
    scope = keeping(first.scope, [other.scope for other in others if other.scope])
    return replace(first, scope=scope, details={**first.details, "also": also})


def keeping(scope: Scope, others: Sequence[Scope]) -> Scope:
    """The scope with what others would keep of it; as it is, where that would be all."""
    kept = {turn for other in others for turn in other.outcomes if scope.start <= turn < scope.stop}
    kept.update(scope.outcomes)
    if len(kept) == scope.stop - scope.start:
        return scope
    return replace(scope, outcomes=tuple(sorted(kept)))
