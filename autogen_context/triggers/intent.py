"""What an agent is after in a turn, and when that changes: what it explored is used, what it changed is verified.

Promise: rules alone decide, from what is said and done, unless a model has answered; the same turn after the same turns
has the same intent. A phase is proposed once and whole, from its first turn to the last before the new intent; phases
never overlap. A turn costs the same however many there were.

A change of intent is believed at once where the turn had an effect: something was changed, or tests passed. A look or a
failing run is believed when the next turn is none of the phase either: agents glance at a file while they implement, and
run tests that fail before they are done; neither ends a phase. A run that tells neither passes nor failures is believed
to have verified when the agent neither goes on as before nor looks for a fault.

A change behind debugging that is no longer than that is its repair: what is verified then is the debugging as a whole.

What is said is read by the table ``work`` of ``language/*.toml``.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, Protocol, get_args

from autogen_context.triggers.claims import clauses_of, labels_of
from autogen_context.triggers.decision import NOTHING, Scope, TriggerDecision
from autogen_context.triggers.outcome import (
    RUNNING,
    FileSort,
    Outcome,
    Outcomes,
    files_run,
    outcome_of,
    sort_of,
)
from autogen_context.triggers.turn import Step, Turn, check_fraction, check_turn

Intent = Literal["EXPLORE", "DEBUG", "IMPLEMENT", "VERIFY", "DOCUMENT", "REFACTOR"]
Transition = tuple[Intent, Intent]

INTENTS: tuple[Intent, ...] = get_args(Intent)
TRANSITIONS: frozenset[Transition] = frozenset(
    {
        ("EXPLORE", "IMPLEMENT"),
        ("DEBUG", "VERIFY"),
        ("IMPLEMENT", "VERIFY"),
        ("IMPLEMENT", "DOCUMENT"),
    }
)
CONFIDENCE = 0.85
MOST_FILES = 500  # of a phase whose last view is known; of more the newest

# Where one clause says several, the first of these goes before.
_SAYABLE: tuple[Intent, ...] = ("VERIFY", "DEBUG", "DOCUMENT", "REFACTOR", "IMPLEMENT")

# What a turn changes where it changes files of one sort alone.
_DOCUMENTS: frozenset[FileSort] = frozenset({"document"})
_TESTS: frozenset[FileSort] = frozenset({"test"})
_TRIES: frozenset[FileSort] = frozenset({"try"})


class KnownIntent(Protocol):
    """Answers of a model that are there already."""

    def __call__(self, turn: Turn, /) -> Intent | None:
        """The intent of a turn; ``None`` where no sound answer is there. Never waits."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How the work stands before a turn.

    Attributes:
        changed: whether something that is no try was changed, and nothing ran since that went well.
        failing: whether what ran last went ill.
        broken: whether it did so after a change.
    """

    changed: bool = False
    failing: bool = False
    broken: bool = False

    def after(self, turn: Turn) -> "Standing":
        """How it stands after a turn."""
        outcome = outcome_of(turn)
        if outcome.went_well:
            return Standing()
        changed = self.changed or _has_changed(turn, outcome)
        broken = self.broken or (outcome.ran and changed)
        return Standing(changed=changed, failing=outcome.ran or self.failing, broken=broken)


AT_FIRST = Standing()


def intent_of(turn: Turn, standing: Standing = AT_FIRST) -> Intent | None:
    """What an agent is after, by rules; ``None`` where it only speaks, clears away, or hands its work in.

    Args:
        turn: the turn.
        standing: how the work stands before it.
    """
    outcome = outcome_of(turn)
    kinds = {step.action.kind for step in turn.steps}
    if outcome.finished or kinds <= {"other"}:
        return None
    said = _said(turn.reasoning)
    if "write" in kinds and said.clears:
        return None
    if "write" in kinds and said.probes:
        return "DEBUG"
    sorts = _changed_sorts(turn)
    by_script = bool(kinds & RUNNING) and not outcome.ran
    if "write" in kinds or by_script or sorts - {"try"}:
        return _of_change(sorts, said, standing)
    if kinds & RUNNING or sorts:
        return _of_run(said, standing, outcome, is_test="test" in kinds and not sorts)
    return _of_look(turn, said, standing)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """What the words of a turn say: its intents, the last said first, since what comes next is said last."""

    intents: tuple[Intent, ...] = ()
    clears: bool = False
    probes: bool = False

    def first_of(self, these: Collection[Intent], otherwise: Intent) -> Intent:
        """The first of what is said that is one of these."""
        for intent in self.intents:
            if intent in these:
                return intent
        return otherwise


def _said(text: str) -> _Said:
    found = labels_of(clauses_of(text))
    intents: list[Intent] = [
        each
        for labels in reversed(found)
        for each in _SAYABLE
        if each in labels and not (each == "VERIFY" and "doubtful" in labels)
    ]
    clears, probes = (any(label in each for each in found) for label in ("clearing", "probing"))
    return _Said(intents=tuple(intents), clears=clears, probes=probes)


def _of_change(sorts: frozenset[FileSort], said: _Said, standing: Standing) -> Intent:
    """What a change is for, by the files and by what is said."""
    if sorts == _DOCUMENTS:
        return "DOCUMENT"
    if "try" in sorts and sorts <= {"try", "test"}:
        return "VERIFY" if standing.changed else "DEBUG"
    if standing.broken:
        return "DEBUG"
    if sorts == _TESTS:
        return "VERIFY"
    last = said.intents[0] if said.intents else "IMPLEMENT"
    return last if last in {"REFACTOR", "DOCUMENT"} else "IMPLEMENT"


def _of_run(said: _Said, standing: Standing, outcome: Outcome, *, is_test: bool) -> Intent:
    """What a run is for: what was changed or failed is tried out, what fails is looked into."""
    if standing.changed or (standing.failing and outcome.proof == "passed"):
        return "VERIFY"
    if standing.failing:
        return "DEBUG"
    tested: Intent = "DEBUG" if outcome.proof == "failed" else "VERIFY"
    return said.first_of({"DEBUG", "VERIFY", "IMPLEMENT"}, tested if is_test else "EXPLORE")


def _of_look(turn: Turn, said: _Said, standing: Standing) -> Intent:
    """What a look is for: to see a change, to find a fault, to get to know."""
    sorts = {sort_of(view.path) for step in turn.steps for view in step.action.views}
    if sorts == {"document"} and "DOCUMENT" in said.intents:
        return "DOCUMENT"
    if standing.changed and "VERIFY" in said.intents:
        return "VERIFY"
    return "DEBUG" if standing.failing or "DEBUG" in said.intents else "EXPLORE"


@lru_cache(2)
def _changed_sorts(turn: Turn) -> frozenset[FileSort]:
    """What the files are for that a turn means to change; a script that it runs as well is a try."""
    changed = {path for step in turn.steps for path in _changed_by(step)}
    ran = files_run(turn) if changed else changed
    return frozenset("try" if path in ran else sort_of(path) for path in changed)


def _changed_by(step: Step) -> Iterable[str]:
    """What a step means to change: files, or the folders that it makes or removes."""
    action = step.action
    is_folder = action.kind == "write" and action.subjects != (step.tool,)
    return action.writes or (action.subjects if is_folder else ())


def _has_changed(turn: Turn, outcome: Outcome) -> bool:
    """Whether a turn changed something that is no try."""
    return outcome.changed and _changed_sorts(turn) != _TRIES


@dataclass(frozen=True, slots=True, kw_only=True)
class _Phase:
    """Turns in a row with one intent.

    Attributes:
        intent: of its turns.
        start: number of its first turn.
        by: who told the intent.
        repaired: number of the first turn in which what was debugged is repaired; ``None`` where none is.
    """

    intent: Intent
    start: int
    by: Literal["rules", "model"]
    repaired: int | None = None


class IntentBasedTrigger:
    """Proposes a phase when its intent gives way to another.

    The repair of what was debugged is a part of the debugging.

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
        check_fraction("confidence", confidence)
        for before, after in transitions:
            if before not in INTENTS or after not in INTENTS or before == after:
                raise ValueError(
                    f"transitions: {before!r} to {after!r}; give two different ones of {', '.join(INTENTS)}"
                )
        self._confidence = confidence
        self._transitions = frozenset(transitions)
        self.known = known
        self._phase: _Phase | None = None
        self._first: int | None = None
        self._odd: _Phase | None = None  # begun with the turn before, as far as can be told
        self._tried = False  # whether that ran without trouble, to verify
        self._standing = AT_FIRST
        self._outcomes = Outcomes()
        self._changed = -1  # number of the last turn that changed something
        self._views: dict[str, int] = {}

    @property
    def intent(self) -> Intent | None:
        """The intent of the phase that goes on; ``None`` before the first."""
        if self._phase is None:
            return None
        return self._phase.intent if self._phase.repaired is None else "IMPLEMENT"

    def observe(self, turn: Turn) -> TriggerDecision:
        """What is proposed after one more turn."""
        check_turn(turn)
        outcome = outcome_of(turn)
        last, begun = self._phase, self._begun(turn, outcome)
        decision = NOTHING
        if begun and last:
            decision = self._decision(last, begun, turn, outcome)
            if last.intent == "DEBUG" and not decision.fires:
                if begun.intent == "IMPLEMENT":
                    begun = replace(last, repaired=begun.start)
                elif begun.intent == "DEBUG":  # the repair was none
                    begun = replace(last, repaired=None)
        self._phase = begun or last
        self._take_in(turn, outcome)
        return decision

    def _begun(self, turn: Turn, outcome: Outcome) -> _Phase | None:
        """The phase that is believed to have begun, with this turn or the one before."""
        self._first = turn.number if self._first is None else self._first
        told = self.known(turn) if self.known else None
        intent = told or intent_of(turn, self._standing)
        new = intent and _Phase(intent=intent, start=turn.number, by="model" if told else "rules")
        if self._phase is None:
            return new and replace(new, start=self._first)
        odd, self._odd = self._odd, None
        was_verified = self._tried and not (new and self._goes_on(new.intent))
        self._tried = outcome.went_well and intent == "VERIFY"
        if odd and was_verified:
            self._odd = new if new and new.intent != odd.intent else None
            return odd
        if new is None:
            self._odd = odd
            return None
        return None if new.intent == self.intent else self._departed(new, odd, outcome)

    def _goes_on(self, intent: Intent) -> bool:
        """Whether an intent is of the work in hand: a fault is looked for, what is debugged is repaired."""
        return intent in ("DEBUG", self.intent) or (self.intent, intent) == ("DEBUG", "IMPLEMENT")

    def _departed(self, new: _Phase, odd: _Phase | None, outcome: Outcome) -> _Phase | None:
        """The phase that a turn begins that is not of the last one; ``None`` where that is too early to tell."""
        has_effect = outcome.changed or (outcome.proof == "passed" and not outcome.failed)
        if odd and (odd.intent == new.intent or not has_effect):
            return replace(new, start=odd.start)
        if has_effect:
            return new
        self._odd = new
        return None

    def _take_in(self, turn: Turn, outcome: Outcome) -> None:
        self._standing = self._standing.after(turn)
        if _has_changed(turn, outcome):
            self._changed = turn.number
        self._outcomes.add(turn)
        for step in turn.steps:
            for view in step.action.views:
                self._views.pop(view.path, None)
                self._views[view.path] = turn.number
        while len(self._views) > MOST_FILES:
            del self._views[next(iter(self._views))]

    def _decision(
        self, last: _Phase, begun: _Phase, turn: Turn, outcome: Outcome
    ) -> TriggerDecision:
        """What is proposed where a phase begins behind another: all of it, or the repair alone where only that counts."""
        before, start = last.intent, last.start
        if (before, begun.intent) not in self._transitions and last.repaired is not None:
            before, start = "IMPLEMENT", last.repaired
        if (before, begun.intent) not in self._transitions or begun.start <= start:
            return NOTHING
        if begun.intent == "VERIFY":  # there must be something to verify
            is_faulty = self._standing.failing or before == "DEBUG"
            if self._changed < start and not (is_faulty and outcome.proof == "passed"):
                return NOTHING
        scope = Scope(start=start, stop=begun.start)
        changing = {path for step in turn.steps for path in step.action.writes}
        views = {self._views.get(path, -1) for path in changing}  # the last ones of what is changed
        seen = {number for number in views if scope.start <= number < scope.stop}
        stay = seen.union(self._outcomes.within(scope.start, scope.stop))
        return TriggerDecision(
            kind="intent",
            scope=replace(scope, outcomes=tuple(sorted(stay))),
            confidence=self._confidence,
            details={"from": before, "to": begun.intent, "by": begun.by},
        )
