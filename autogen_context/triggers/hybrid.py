"""The hybrid trigger, and the triggers for completed subtasks, staleness and turn count.

Promise: one decision per turn, and every trigger sees every turn. The same turns (and model answers) give the same
decisions, and the cost of a turn does not grow with their number.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, islice, takewhile
from math import inf
from typing import Literal

from autogen_context.argument import require_fraction, require_whole, wrong_argument
from autogen_context.messages.identifiers import is_distinctive, values_of
from autogen_context.text.work import ends_of
from autogen_context.triggers.boundary import SemanticBoundaryDetector
from autogen_context.triggers.intent import IntentBasedTrigger, KnownIntent
from autogen_context.triggers.turn import (
    LEAST_TURNS,
    NOTHING,
    GuardedTrigger,
    Outcome,
    Outcomes,
    Trigger,
    TriggerDecision,
    Turn,
    labels_of,
    sort_of,
)

SignalName = Literal[
    "tests_passed", "said_done", "worked_through", "edits_in_a_row", "moving_on", "quiet"
]

SIGNALS: Mapping[SignalName, float] = {
    "tests_passed": 0.90,  # after a change
    "said_done": 0.85,  # the agent says so, or submits its work
    "worked_through": 0.70,  # read, edited, run without a failure, and called good
    "edits_in_a_row": 0.65,  # several successful edits, then something else
    "moving_on": 0.60,  # "now I'll …", and different work follows
    "quiet": 0.40,  # no change for QUIET_TURNS turns
}
EDITS_IN_A_ROW = 3  # that end a subtask
QUIET_TURNS = 8

COUNT_CONFIDENCE = 0.50  # from 0 to 1
NEWEST_TURNS = 3  # never proposed by the turn count

STALE_CONFIDENCE = 0.70  # from 0 to 1
AGE_WEIGHT, REFERENCE_WEIGHT, SIMILARITY_WEIGHT = 0.3, 0.4, 0.3
JUDGED_EVERY = 4  # turns between evaluations, to keep the cost low
REMEMBERED = 2  # times max_age; older turns are forgotten
SAID_CHARS = 150  # read from the beginning and as much from the end of the reasoning
SHOWN_CHARS = 225  # the same for a tool result
MOST_STEPS = 6  # tool calls read per turn
MOST_SUBJECTS = 20  # arguments read per tool call
CONTEXT_TURNS = 5  # newest turns that make up the current context


class SemanticHybridTrigger:
    """Proposes turns to compact: by semantic triggers first, then by staleness, then by turn count.

    Of the semantic triggers (subtask, intent, boundary, then your own) the one with the highest confidence wins; ties go
    to the first. Staleness is used if none of them fires, and the turn count if staleness does not fire either.

    Args:
        subtasks: whether to detect completed subtasks; the same for ``intents``, ``boundaries`` and ``staleness``.
        staleness_threshold: staleness above which a turn is stale, 0..1.
        fallback_turns: turns without a proposal before the turn count fires; 0 switches it off.
        more: your own triggers; they are ranked with the semantic ones.
        known: looks up a model's intents, such as an ``IntentModel`` that is asked in the background; the rules decide
            for turns without an answer.

    Raises:
        ValueError: ``staleness_threshold`` is not in 0..1, or ``fallback_turns`` is negative.
    """

    def __init__(
        self,
        *,
        subtasks: bool = True,
        intents: bool = True,
        boundaries: bool = True,
        staleness: bool = True,
        staleness_threshold: float = 0.7,
        fallback_turns: int = 10,
        more: Sequence[Trigger] = (),
        known: KnownIntent | None = None,
    ) -> None:
        require_whole("fallback_turns", fallback_turns, least=0, give="0 turns or more")
        require_fraction("staleness_threshold", staleness_threshold, give="a number in 0..1")
        for at, trigger in enumerate(more):
            if not hasattr(trigger, "observe"):
                raise wrong_argument(
                    f"more[{at}]", trigger, "an object with a method observe(turn)"
                )
        self.known = known
        self._semantic: list[Trigger] = [
            *([SubtaskTrigger()] if subtasks else []),
            *([IntentBasedTrigger(known=known)] if intents else []),
            *([SemanticBoundaryDetector()] if boundaries else []),
            *map(GuardedTrigger, more),
        ]
        self._staleness = StalenessTracker(threshold=staleness_threshold) if staleness else None
        self._fallback_turns = fallback_turns
        self._outcomes = Outcomes()
        self._waited = 0  # turns since the last proposal

    def observe(self, turn: Turn) -> TriggerDecision:
        """Return the proposal after one more turn."""
        outcomes = self._outcomes
        outcomes.add(turn)
        self._waited += 1
        said = [trigger.observe(turn) for trigger in self._semantic]
        fired = [decision for decision in said if decision.scope and decision.scope.is_enough]
        decision = self._staleness.observe(turn) if self._staleness else NOTHING
        if fired:
            decision = max(fired, key=lambda each: each.confidence)  # the first of equals
        stop = turn.number + 1 - NEWEST_TURNS
        is_due = 0 < self._fallback_turns <= self._waited and outcomes.start < stop
        if is_due and not decision.fires:
            scope = outcomes.scope(outcomes.start, stop)
            if scope.is_enough:
                decision = TriggerDecision(
                    kind="turn_count",
                    scope=scope,
                    confidence=COUNT_CONFIDENCE,
                    details={"turns_without_a_proposal": self._waited},
                )
        if decision.scope:
            self._waited, outcomes.start = 0, max(outcomes.start, decision.scope.stop)
        return decision


class SubtaskTrigger:
    """Proposes the turns of a subtask once it is complete; the next subtask begins where it ended.

    The signal with the highest confidence wins. With ``tests_passed`` and a report (``said_done``) the subtask includes
    the current turn; with the other signals it ends before it, and with ``quiet`` after the last change or passing run.
    """

    def __init__(self) -> None:
        self._outcomes = Outcomes()

    def observe(self, turn: Turn) -> TriggerDecision:
        """Return the subtask if this turn completes it."""
        outcomes = self._outcomes
        before, outcome = outcomes.open, outcomes.add(turn)
        signals = dict(signals_of(turn, outcome, before))
        if not signals:
            return NOTHING
        name = max(signals, key=lambda each: SIGNALS[each])
        report = () if turn.steps else (turn.number,)
        scope = outcomes.scope(outcomes.start, signals[name], report)
        outcomes.start = scope.stop
        confidence, details = SIGNALS[name], {"signal": name}
        return TriggerDecision(kind="subtask", scope=scope, confidence=confidence, details=details)


def signals_of(
    turn: Turn, outcome: Outcome, before: Sequence[Outcome]
) -> Iterator[tuple[SignalName, int]]:
    """Yield the signals of a turn, each with the number at which the subtask ends (exclusive).

    ``before`` are the outcomes of the earlier turns of the subtask.
    """
    changes = [each for each in before if each.changed]
    runs = [each for each in before if each.ran]
    is_failing = bool(runs) and runs[-1].failed
    if outcome.verdict == "passed" and outcome.went_well and (changes or outcome.changed):
        yield "tests_passed", turn.number + 1
    clauses = [labels for labels in labels_of(turn.reasoning) if "?" not in labels]
    said = frozenset[str]().union(*clauses)
    sure = [labels for labels in clauses if "doubt" not in labels]
    is_done = any(labels & {"done", "whole"} for labels in sure) or "TERMINATE" in turn.reasoning
    if outcome.finished or not turn.steps:
        reported = any("reported" in labels and "looked" not in labels for labels in sure)
        claims = is_done or (bool(changes) and reported)
        is_report = outcome.finished or (claims and "planned" not in said and not is_failing)
        if is_report and any(each.worked for each in before):
            yield "said_done", turn.number + 1
    elif changes and not is_failing and not outcome.ran:
        if is_done and "denied" not in said:
            yield "said_done", turn.number
        yield from leaving(outcome, clauses, before, changes)


def leaving(
    outcome: Outcome,
    clauses: Sequence[frozenset[str]],
    before: Sequence[Outcome],
    changes: Sequence[Outcome],
) -> Iterator[tuple[SignalName, int]]:
    """Yield the signals of a turn that turns to something else after changes of files."""
    files = {path for each in changes for path in each.written if sort_of(path) != "try"}
    if not files:
        return
    last, said = changes[-1].turn, frozenset[str]().union(*clauses)
    proven = max((each.turn for each in before if each.ran and each.turn >= last), default=-1)
    looked = any(each.lookups for each in before if each.turn <= last)
    if looked and proven >= 0 and clauses and "praised" in clauses[0] and "denied" not in said:
        yield "worked_through", outcome.turn
    edits = sum(1 for _ in takewhile(lambda each: each.edited, reversed(before)))
    if edits >= EDITS_IN_A_ROW and not outcome.edited:
        yield "edits_in_a_row", outcome.turn
    # Different work is announced and begun: an edit of other files, or of any once the change is tested; or something is
    # to be made, and a file is read that is new to the subtask.
    if outcome.changed:
        begun, met, wanted = outcome.written, files, {"next"}
    else:
        met = {path for each in before for path in (*each.written, *each.seen)}
        begun, wanted = outcome.seen, {"next", "making"}
    others = {path for path in begun if sort_of(path) != "try"}
    is_other = (bool(others) and others.isdisjoint(met)) or (outcome.changed and proven >= 0)
    is_next = is_other and any(wanted <= labels for labels in clauses)
    if "elsewhere" in said or (is_next and "denied" not in said):
        yield "moving_on", outcome.turn
    if outcome.turn - max(last, proven) >= QUIET_TURNS:
        yield "quiet", max(last, proven) + 1


def staleness(
    *,
    age: float,
    recent_references: float,
    similarity: float,
    max_age: int = 50,
    max_references: int = 10,
) -> float:
    """Compute staleness, 0..1: 0.3 for age, 0.4 for missing references, 0.3 for distance from the current context.

    Age and references are capped at their maximum. With ``max_references=0`` references are ignored and the other two
    weights are 0.5 each.

    Raises:
        ValueError: an argument is negative, not a number, or out of range.
    """
    for name, value in (("age", age), ("recent_references", recent_references)):
        if not 0 <= value < inf:
            raise wrong_argument(name, value, "a finite number, 0 or more")
    require_fraction("similarity", similarity, give="a number in 0..1")
    aged = AGE_WEIGHT * min(age / max_age, 1.0)
    apart = SIMILARITY_WEIGHT * (1 - similarity)
    if max_references == 0:
        return (aged + apart) / (AGE_WEIGHT + SIMILARITY_WEIGHT)
    return aged + REFERENCE_WEIGHT * (1 - min(recent_references / max_references, 1.0)) + apart


class StalenessTracker:
    """Proposes the oldest run of consecutive turns that are all stale and were not proposed before.

    A turn introduces the files it read or wrote and the identifiers in its tool results; a later turn that names one of
    them references it. A turn is not stale before ``max_references`` later turns had a chance to reference it.

    Args:
        max_age: age in turns at which the age term is full; 1 or more.
        max_references: recent turns that are searched for references; 0 ignores references.
        threshold: staleness above which a turn is stale, 0..1.
        similarity: maps a turn number to its similarity with the current context, 0..1, for example by embeddings. The
            default is the share of its identifiers that the newest turns mention.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self,
        max_age: int = 50,
        max_references: int = 10,
        threshold: float = 0.7,
        *,
        similarity: Callable[[int], float] | None = None,
    ) -> None:
        require_whole("max_age", max_age, least=1, give="1 or more")
        require_whole("max_references", max_references, least=0, give="0 or more")
        require_fraction("threshold", threshold, give="a number in 0..1")
        self._max_age, self._max_references = max_age, max_references
        self._threshold = threshold
        self._similarity = similarity or self._shared
        self._outcomes = Outcomes()
        # Names in reasoning and calls, names in results.
        self._turns: dict[int, tuple[frozenset[str], frozenset[str]]] = {}
        self._now, self._context = 0, frozenset[str]()
        self._proposed: set[int] = set()

    def observe(self, turn: Turn) -> TriggerDecision:
        """Return a run of stale turns, if any; evaluated every few turns."""
        self._outcomes.add(turn)
        self._now = turn.number
        self._turns[turn.number] = (said_in(turn), shown_in(turn))
        oldest = self._now - REMEMBERED * max(self._max_age, self._max_references)
        self._turns = {number: each for number, each in self._turns.items() if number >= oldest}
        self._proposed = {number for number in self._proposed if number >= oldest}
        newest = islice(reversed(self._turns.values()), CONTEXT_TURNS)
        self._context = frozenset[str]().union(*chain.from_iterable(newest))
        if (turn.number + 1) % JUDGED_EVERY:
            return NOTHING
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
                    confidence=STALE_CONFIDENCE,
                    details={"least_staleness": least, "threshold": self._threshold},
                )
        return NOTHING

    def staleness_of(self, number: int) -> float:
        """Return the current staleness of a turn, 0..1.

        Raises:
            ValueError: the turn is unknown, or older than twice ``max_age``, or ``similarity`` returned a number outside 0..1.
        """
        if number not in self._turns:
            raise wrong_argument("number", number, f"one of the turns known, {[*self._turns]}")
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
        """Return the share of a turn's names that the newest turns mention; 0 without names."""
        said, shown = self._turns[number]
        names, now = said | shown, self._context
        return len(names & now) / (min(len(names), len(now)) or 1)


def said_in(turn: Turn) -> frozenset[str]:
    """Return the names in a turn's reasoning and tool arguments."""
    subjects = [step.action.subjects[:MOST_SUBJECTS] for step in turn.steps[:MOST_STEPS]]
    return _names_in([ends_of(turn.reasoning, SAID_CHARS), *chain(*subjects)])


def shown_in(turn: Turn) -> frozenset[str]:
    """Return the names of the files that a turn read or wrote, and the names in its tool results."""
    texts: list[str] = []
    for step in turn.steps[:MOST_STEPS]:
        texts += [view.path for view in step.action.views[:MOST_SUBJECTS]]
        texts += step.action.writes[:MOST_SUBJECTS]
        texts.append(ends_of(step.observation or "", SHOWN_CHARS))
    return _names_in(texts)


def _names_in(texts: Iterable[str]) -> frozenset[str]:
    """Return paths, their last parts, identifiers and codes, without plain words and numbers."""
    values = [each for each in values_of("\n".join(texts)) if is_distinctive(each)]
    paths = [each.rpartition("/")[2] for each in values if "/" in each]
    return frozenset(each for each in (*values, *paths) if each and not each.isdecimal())
