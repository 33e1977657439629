"""What has grown stale, how many turns there were, and all triggers together: the meaning first, staleness next, the count last.

Promise: one decision a turn; every trigger sees every turn, whichever of them is followed. The same turns give the same
decisions, as long as a model's answers are the same. A turn costs the same however many there were.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, islice
from math import isfinite

from autogen_context.messages.identifiers import is_telling, values_of
from autogen_context.triggers.boundary import SemanticBoundaryDetector
from autogen_context.triggers.intent import IntentBasedTrigger, KnownIntent
from autogen_context.triggers.subtask import SubtaskTrigger
from autogen_context.triggers.turn import (
    LEAST_TURNS,
    NOTHING,
    Outcomes,
    Trigger,
    TriggerDecision,
    TriggerSettings,
    Turn,
    check_fraction,
    check_least,
)

COUNT_CONFIDENCE = 0.50
NEWEST_TURNS = 3  # are not proposed for their number alone

STALE_CONFIDENCE = 0.70
AGE_WEIGHT, REFERENCE_WEIGHT, SIMILARITY_WEIGHT = 0.3, 0.4, 0.3
JUDGED_EVERY = 4  # turns: so that a turn costs little
REMEMBERED = 2  # times the maximal age; turns that are older are let go of
SAID_CHARS = 300  # of what the model wrote, from its beginning and its end
SHOWN_CHARS = 450  # of what came back, likewise
MOST_STEPS = 6  # of a turn
MOST_SUBJECTS = 20  # of a call
CONTEXT_TURNS = 5  # the newest turns: what the work is about now


class SemanticHybridTrigger:
    """Proposes turns to be compacted, for the best reason there is.

    Of several that read a meaning (subtask, intent, boundary, then those of your own) the one with the highest
    confidence is followed, of equal ones the first; the others are told in ``also`` of its details. Where none of them
    fires, staleness is; where that does not either, the count of turns.

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
        self._semantic: list[Trigger] = [
            *([SubtaskTrigger()] if chosen.subtasks else []),
            *([IntentBasedTrigger(known=known)] if chosen.intents else []),
            *([SemanticBoundaryDetector()] if chosen.boundaries else []),
            *more,
        ]
        threshold = chosen.staleness_threshold
        self._staleness = StalenessTracker(threshold=threshold) if chosen.staleness else None
        self._fallback_turns = chosen.fallback_turns
        self._outcomes = Outcomes()
        self._start: int | None = None  # of what was not proposed yet
        self._waited = 0  # turns without a proposal

    def observe(self, turn: Turn) -> TriggerDecision:
        """What is proposed after one more turn."""
        self._outcomes.add(turn)
        said = [trigger.observe(turn) for trigger in self._semantic]
        fired = [decision for decision in said if decision.scope and decision.scope.is_enough]
        fired.sort(key=lambda decision: -decision.confidence)  # equal ones keep their order
        stale = self._staleness.observe(turn) if self._staleness else NOTHING
        first, *others = [*fired, *([stale] if stale.fires else [])] or [self._counted(turn)]
        if others:
            also = ", ".join(f"{other.kind} {other.confidence:.2f}" for other in others)
            first = replace(first, details={**first.details, "also": also})
        self._start = turn.number if self._start is None else self._start
        self._waited += 1
        if first.scope:
            self._waited, self._start = 0, max(self._start, first.scope.stop)
        return first

    def _counted(self, turn: Turn) -> TriggerDecision:
        """Turns of which nothing was proposed for some turns, but for the newest."""
        start, stop = self._start or 0, turn.number + 1 - NEWEST_TURNS
        if not self._fallback_turns or self._waited + 1 < self._fallback_turns or stop <= start:
            return NOTHING
        scope = self._outcomes.scope(start, stop)
        details = {"turns_without_a_proposal": self._waited + 1}
        decision = TriggerDecision(
            kind="turn_count", scope=scope, confidence=COUNT_CONFIDENCE, details=details
        )
        return decision if scope.is_enough else NOTHING


def staleness(
    *,
    age: float,
    recent_references: float,
    similarity: float,
    max_age: int = 50,
    max_references: int = 10,
) -> float:
    """How stale a thing is, 0..1: 0.3 for its age, 0.4 for want of references, 0.3 for not being what the work is about.

    Age and references above their maximum count like that. Where ``max_references`` is 0, references say nothing, and the
    other two weights are scaled up to 0.5 each.

    Raises:
        ValueError: an argument is negative, not a number, or not in its range.
    """
    for name, value in (("age", age), ("recent_references", recent_references)):
        if not (isfinite(value) and value >= 0):
            raise ValueError(f"{name}={value}: give a finite number, 0 or more")
    check_fraction("similarity", similarity)
    check_least("max_age", max_age, 1)
    check_least("max_references", max_references, 0)
    aged = AGE_WEIGHT * min(age / max_age, 1.0)
    apart = SIMILARITY_WEIGHT * (1 - similarity)
    if max_references == 0:
        return (aged + apart) / (AGE_WEIGHT + SIMILARITY_WEIGHT)
    return aged + REFERENCE_WEIGHT * (1 - min(recent_references / max_references, 1.0)) + apart


class StalenessTracker:
    """Proposes the oldest stretch of turns that have all grown stale and were not proposed yet.

    A turn is judged from what it brought in: files it viewed or wrote, and the names in what came back. Turns that name
    one of these again refer to it. A turn is young, and not stale, until ``max_references`` turns had a chance to.

    Args:
        max_age: turns; what is older counts like this. 1 or more.
        max_references: recent turns that are looked at for references. 0: references say nothing.
        threshold: staleness above which a turn is stale, 0..1.
        confidence: that a developer would call a proposal right, 0..1.
        similarity: for the number of a turn, how near it is to what the work is about now, 0..1: by embeddings, say. By
            the names that it shares with the newest turns where nothing is given.

    Raises:
        ValueError: an argument is none of these.
    """

    def __init__(
        self,
        max_age: int = 50,
        max_references: int = 10,
        threshold: float = 0.7,
        confidence: float = STALE_CONFIDENCE,
        *,
        similarity: Callable[[int], float] | None = None,
    ) -> None:
        check_least("max_age", max_age, 1)
        check_least("max_references", max_references, 0)
        check_fraction("threshold", threshold)
        check_fraction("confidence", confidence)
        self._max_age, self._max_references = max_age, max_references
        self._threshold, self._confidence = threshold, confidence
        self._similarity = similarity or self._shared
        self._outcomes = Outcomes()
        self._turns: dict[int, tuple[frozenset[str], frozenset[str]]] = {}  # names said, and shown
        self._now = 0
        self._until_judged = JUDGED_EVERY
        self._proposed: set[int] = set()

    def observe(self, turn: Turn) -> TriggerDecision:
        """Whether a stretch of turns has grown stale; looked for every few turns."""
        self._outcomes.add(turn)
        self._now = turn.number
        self._turns[turn.number] = (names_in(said_in(turn)), names_in(shown_in(turn)))
        oldest = self._now - REMEMBERED * max(self._max_age, self._max_references)
        self._turns = {number: each for number, each in self._turns.items() if number >= oldest}
        self._proposed = {number for number in self._proposed if number >= oldest}
        self._until_judged -= 1
        if self._until_judged:
            return NOTHING
        self._until_judged = JUDGED_EVERY
        last = self._now - max(1, self._max_references)
        for is_stale, run in groupby(self._turns, lambda n: n <= last and self._is_stale(n)):
            turns = list(run)
            scope = self._outcomes.scope(turns[0], turns[-1] + 1)
            if is_stale and len(turns) >= LEAST_TURNS and scope.is_enough:
                self._proposed.update(turns)
                least = round(min(map(self.staleness_of, turns)), 3)
                return TriggerDecision(
                    kind="staleness",
                    scope=scope,
                    confidence=self._confidence,
                    details={"least_staleness": least, "threshold": self._threshold},
                )
        return NOTHING

    def staleness_of(self, number: int) -> float:
        """How stale a turn is now, 0..1.

        Raises:
            KeyError: there is no such turn, or it is older than twice the maximal age.
            ValueError: the similarity that was handed in is not in its range.
        """
        since, shown = max(number, self._now - self._max_references), self._turns[number][1]
        recent = islice(reversed(self._turns.items()), self._max_references)
        return staleness(
            age=self._now - number,
            recent_references=sum(bool(said & shown) for n, (said, _) in recent if n > since),
            similarity=self._similarity(number),
            max_age=self._max_age,
            max_references=self._max_references,
        )

    def _is_stale(self, number: int) -> bool:
        return number not in self._proposed and self.staleness_of(number) > self._threshold

    def _shared(self, number: int) -> float:
        """How many of a turn's names the newest turns share, of those that could be; 0 where it has none."""
        newest = islice(reversed(self._turns.values()), CONTEXT_TURNS)
        now = frozenset[str]().union(*(said | shown for said, shown in newest))
        names = frozenset[str]().union(*self._turns[number])
        return len(names & now) / (min(len(names), len(now)) or 1)


def said_in(turn: Turn) -> Iterator[str]:
    """What a turn named itself: the words of the model, and what its calls are about."""
    yield _ends(turn.reasoning, SAID_CHARS)
    for step in turn.steps[:MOST_STEPS]:
        yield from step.action.subjects[:MOST_SUBJECTS]


def shown_in(turn: Turn) -> Iterator[str]:
    """What a turn brought in: the files it viewed or wrote, and what came back."""
    steps = turn.steps[:MOST_STEPS]
    for step in steps:
        yield from (view.path for view in step.action.views[:MOST_SUBJECTS])
        yield from step.action.writes[:MOST_SUBJECTS]
        yield _ends(step.observation or "", SHOWN_CHARS // len(steps))


def _ends(text: str, chars: int) -> str:
    """The text, or its beginning and its end."""
    return text if len(text) <= chars else f"{text[: chars // 2]}\n{text[-chars // 2 :]}"


def names_in(texts: Iterable[str]) -> frozenset[str]:
    """The names in some texts (a path, an identifier, a code; no plain word or number), and the last part of each path."""
    values = [each for each in values_of("\n".join(texts)) if is_telling(each)]
    paths = [each.rpartition("/")[2] for each in values if "/" in each]
    return frozenset(each for each in (*values, *paths) if each and not each.isdecimal())
