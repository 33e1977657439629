"""When the intent of an agent changes: what it explored is used, what it changed is verified or documented.

Promise: a phase is proposed once and whole, from its first turn to the last before the new intent; phases never overlap.
The same turns give the same decisions, as long as a model's answers are the same; a turn costs the same however many
there were, and a phase leaves one small record.

A change of intent is believed at once where the turn had an effect: something was changed, or tests passed. A look or a
failing run is believed when the next turn is none of the phase either: agents glance at a file while they implement, and
run tests that fail before they are done; neither ends a phase. A run that tells neither passes nor failures is believed
to have verified when the agent neither goes on as before nor looks for a fault.

A change behind debugging that is no longer than that is its repair: what is verified then is the debugging as a whole.
"""

from collections.abc import Collection
from dataclasses import replace
from typing import get_args

from autogen_context.triggers.checks import check_share
from autogen_context.triggers.decision import NOTHING, Scope, TriggerDecision
from autogen_context.triggers.deeds import Deeds, deeds_of
from autogen_context.triggers.intent import (
    AT_FIRST,
    Standing,
    has_changed,
    intent_by_rules,
)
from autogen_context.triggers.intent_words import (
    CONFIDENCE,
    TRANSITIONS,
    Intent,
    Transition,
)
from autogen_context.triggers.known_intent import KnownIntent
from autogen_context.triggers.outcome import Outcomes
from autogen_context.triggers.phase import Phase
from autogen_context.triggers.turn import Turn, check_turn

MOST_FILES = 500  # of a phase whose last view is known; of more the newest


class IntentBasedTrigger:
    """Proposes a phase when its intent gives way to another.

    Args:
        confidence: that a developer would call a transition right, 0..1.
        transitions: those that count, each from an intent to another.
        known: a model's answers where they are there; the rules decide where not.

    Raises:
        ValueError: an argument is none of these.
    """

    def __init__(
        self,
        confidence: float = CONFIDENCE,
        *,
        transitions: Collection[Transition] = TRANSITIONS,
        known: KnownIntent | None = None,
    ) -> None:
        check_share("confidence", confidence)
        check_transitions(transitions)
        self._confidence = confidence
        self._transitions = frozenset(transitions)
        self._known = known
        self._phases: list[Phase] = []
        self._begin_again(AT_FIRST)

    @property
    def intent(self) -> Intent | None:
        """The intent of the phase that goes on; ``None`` before the first."""
        return self._phases[-1].intent if self._phases else None

    def observe(self, turn: Turn) -> TriggerDecision:
        """What is proposed after one more turn."""
        check_turn(turn)
        deeds = deeds_of(turn)
        begun = self._begun(turn, deeds, self._told(turn, deeds))
        decision = self._decision(begun, turn, deeds) if begun and self._phases else NOTHING
        if begun:
            ended = self._phases[-1] if self._phases and not decision.fires else None
            self._phases.append(begun.behind(ended))
        self._take_in(turn, deeds)
        return decision

    def truncate(self, number: int) -> int:
        """Forget the turns from a number on.

        Returns:
            The number of the first turn to be observed again, at most the one given: where the phase begins that went
            on then, or the debugging that it is a part of. What was decided before is not decided again.
        """
        while self._phases and self._phases[-1].decided >= number:
            self._phases.pop()
        while self._phases and self._phases[-1].is_continued:
            self._phases.pop()  # the debugging is observed again as a whole
        self._begin_again(self._phases[-1].standing if self._phases else AT_FIRST)
        return min(self._phases[-1].start if self._phases else 0, number)

    def _begin_again(self, standing: Standing) -> None:
        self._first: int | None = None
        self._odd: Phase | None = None  # begun with the turn before, as far as can be told
        self._tried = False  # whether that ran without trouble, to verify
        self._standing = standing
        self._outcomes = Outcomes()
        self._changed: int | None = None  # number of the last turn that changed something
        self._views: dict[str, int] = {}

    def _told(self, turn: Turn, deeds: Deeds) -> Phase | None:
        """The phase that a turn would begin; ``None`` where it has no intent."""
        known = self._known(turn) if self._known else None
        intent = known or intent_by_rules(turn, deeds, self._standing)
        return intent and Phase(
            intent=intent,
            start=turn.number,
            standing=self._standing,
            by="model" if known else "rules",
            decided=turn.number,
        )

    def _begun(self, turn: Turn, deeds: Deeds, new: Phase | None) -> Phase | None:
        """The phase that is believed to have begun, with this turn or the one before."""
        self._first = turn.number if self._first is None else self._first
        if new and not self._phases:
            return replace(new, start=self._first, standing=AT_FIRST)
        odd, self._odd = self._odd, None
        back = new is not None and self._phases[-1].goes_on(new.intent)
        verified = self._tried and not back
        self._tried = deeds.clean and new is not None and new.intent == "VERIFY"
        if odd and verified:
            self._odd = new if new and new.intent != odd.intent else None
            return replace(odd, decided=turn.number)
        if new is None:
            self._odd = odd
        return self._departed(new, odd, deeds) if new and new.intent != self.intent else None

    def _departed(self, new: Phase, odd: Phase | None, deeds: Deeds) -> Phase | None:
        """The phase that a turn begins that is not of the last one; ``None`` where that is too early to tell."""
        if odd and (odd.intent == new.intent or not has_effect(deeds)):
            return replace(new, start=odd.start, standing=odd.standing)
        if has_effect(deeds):
            return new
        self._odd = new
        return None

    def _take_in(self, turn: Turn, deeds: Deeds) -> None:
        self._standing = self._standing.after(turn, deeds)
        if has_changed(turn, deeds):
            self._changed = turn.number
        self._outcomes.add(turn)
        for step in turn.steps:
            for view in step.action.views:
                self._views.pop(view.path, None)
                self._views[view.path] = turn.number
        while len(self._views) > MOST_FILES:
            del self._views[next(iter(self._views))]

    def _decision(self, begun: Phase, turn: Turn, deeds: Deeds) -> TriggerDecision:
        """What is proposed where a phase begins behind another."""
        whole = self._phases[-1].whole(begun.start)
        counts = (whole.intent, begun.intent) in self._transitions
        ended = whole if counts else self._phases[-1]
        if (ended.intent, begun.intent) not in self._transitions:
            return NOTHING
        if begun.intent == "VERIFY" and not self._is_verified(ended, deeds):
            return NOTHING
        scope = Scope(start=ended.start, stop=begun.start)
        return TriggerDecision(
            kind="intent",
            scope=replace(scope, outcomes=self._outcomes_of(scope, turn)),
            confidence=self._confidence,
            details={"from": ended.intent, "to": begun.intent, "by": begun.by},
        )

    def _is_verified(self, ended: Phase, deeds: Deeds) -> bool:
        """Whether there is something to verify: a change in the phase, or a fault, where tests pass now."""
        faulty = self._standing.failing or ended.intent == "DEBUG"
        return (faulty and deeds.verdict == "passed") or (
            self._changed is not None and self._changed >= ended.start
        )

    def _outcomes_of(self, scope: Scope, turn: Turn) -> tuple[int, ...]:
        """What was changed and tested in a phase, and the last views of what is changed now."""
        changing = {path for step in turn.steps for path in step.action.writes}
        views = {self._views.get(path, -1) for path in changing}
        seen = {number for number in views if scope.start <= number < scope.stop}
        return tuple(sorted(seen.union(self._outcomes.within(scope.start, scope.stop))))


def has_effect(deeds: Deeds) -> bool:
    """Whether something was changed, or tests passed."""
    return deeds.changed or (deeds.verdict == "passed" and not deeds.failed)


def check_transitions(transitions: Collection[Transition]) -> None:
    """Raise where one of them is none."""
    intents = get_args(Intent)
    for before, after in transitions:
        if before not in intents or after not in intents or before == after:
            raise ValueError(
                f"transitions: {before!r} to {after!r}; give two different ones of {', '.join(intents)}"
            )
