"""All triggers together, completed subtasks, what has grown stale, and how many turns there were.

Promise: one decision a turn; every trigger sees every turn, whichever of them is followed. The same turns give the same
decisions, as long as a model's answers are the same, and a turn costs the same however many there were.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, islice
from math import inf
from typing import Literal

from autogen_context.argument import require_fraction, require_whole, wrong_argument
from autogen_context.messages.identifiers import is_telling, values_of
from autogen_context.triggers.boundary import SemanticBoundaryDetector
from autogen_context.triggers.intent import IntentBasedTrigger, KnownIntent
from autogen_context.triggers.turn import (
    LEAST_TURNS,
    NOTHING,
    Outcome,
    Outcomes,
    Trigger,
    TriggerDecision,
    Turn,
    ends_of,
    labels_of,
    sort_of,
)

SignalName = Literal[
    "tests_passed", "said_done", "worked_through", "edits_in_a_row", "moving_on", "quiet"
]

SIGNALS: Mapping[SignalName, float] = {
    "tests_passed": 0.90,  # after a change
    "said_done": 0.85,  # by the agent, or the work is handed in
    "worked_through": 0.70,  # read, changed, run without trouble, and called good
    "edits_in_a_row": 0.65,  # that went well, and then something else
    "moving_on": 0.60,  # to other work: "now I'll …"
    "quiet": 0.40,  # nothing changed for some turns
}
EDITS_IN_A_ROW = 3
QUIET_TURNS = 8
MOST_FILES = 500  # of a subtask; of more the first are known

COUNT_CONFIDENCE = 0.50
NEWEST_TURNS = 3  # are not proposed for their number alone

STALE_CONFIDENCE = 0.70
AGE_WEIGHT, REFERENCE_WEIGHT, SIMILARITY_WEIGHT = 0.3, 0.4, 0.3
JUDGED_EVERY = 4  # turns: so that a turn costs little
REMEMBERED = 2  # times the maximal age; turns that are older are let go of
SAID_CHARS = (150, 150)  # of what the model wrote, from its beginning and its end
SHOWN_CHARS = (225, 225)  # of what came back from a call, likewise
MOST_STEPS = 6  # of a turn
MOST_SUBJECTS = 20  # of a call
CONTEXT_TURNS = 5  # the newest turns: what the work is about now


class SemanticHybridTrigger:
    """Proposes turns to be compacted, for the best reason there is.

    Of several that read a meaning (subtask, intent, boundary, then those of your own) the one with the highest
    confidence is followed, of equal ones the first. Where none of them fires, staleness is; where that does not either,
    the count of turns.

    Args:
        subtasks: whether to look for completed subtasks; ``intents``, ``boundaries`` and ``staleness`` likewise.
        staleness_threshold: above which a turn is stale, 0..1.
        fallback_turns: turns without a proposal, after which some are proposed; 0: never.
        more: triggers of your own; they rank with those that read a meaning.
        known: what a model says of intents, where it has answered; the rules decide where not. An ``IntentModel``, asked
            ahead; a trigger only looks its answers up.

    Raises:
        ValueError: the threshold is not in 0..1, or the number of turns is below 0.
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
        self.known = known
        self._semantic: list[Trigger] = [
            *([SubtaskTrigger()] if subtasks else []),
            *([IntentBasedTrigger(known=known)] if intents else []),
            *([SemanticBoundaryDetector()] if boundaries else []),
            *more,
        ]
        self._staleness = StalenessTracker(threshold=staleness_threshold) if staleness else None
        self._fallback_turns = fallback_turns
        self._outcomes = Outcomes()
        self._start: int | None = None  # of what was not proposed yet
        self._waited = 0  # turns without a proposal

    def observe(self, turn: Turn) -> TriggerDecision:
        """What is proposed after one more turn."""
        self._outcomes.add(turn)
        self._start = turn.number if self._start is None else self._start
        self._waited += 1
        said = [trigger.observe(turn) for trigger in self._semantic]
        fired = [decision for decision in said if decision.scope and decision.scope.is_enough]
        decision = self._staleness.observe(turn) if self._staleness else NOTHING
        if fired:
            decision = max(fired, key=lambda each: each.confidence)  # the first of equals
        stop = turn.number + 1 - NEWEST_TURNS
        is_due = 0 < self._fallback_turns <= self._waited and self._start < stop
        if is_due and not decision.fires:
            scope = self._outcomes.scope(self._start, stop)
            if scope.is_enough:
                decision = TriggerDecision(
                    kind="turn_count",
                    scope=scope,
                    confidence=COUNT_CONFIDENCE,
                    details={"turns_without_a_proposal": self._waited},
                )
        if decision.scope:
            self._waited, self._start = 0, max(self._start, decision.scope.stop)
        return decision


class SubtaskTrigger:
    """Proposes the turns of a subtask when it is complete; one begins where the one before ended.

    Of the signals that hold the surest is told. ``tests_passed`` and a report (``said_done``) end the subtask with them, the
    others before the agent turns to something else, ``quiet`` behind the last change or the run that proved it.
    """

    def __init__(self) -> None:
        self._outcomes = Outcomes()
        self._start: int | None = None
        self._begin()

    def _begin(self) -> None:
        self._changed: int | None = None  # the last turn that changed something
        self._files: set[str] = set()  # changed, no tries
        self._met: set[str] = set()  # changed or looked at
        self._edits = 0  # turns in a row, up to the last
        self._worked = self._looked = False
        self._read_first = False  # before a change
        self._failing = False  # in what ran last
        self._proven: int | None = (
            None  # the last run, where it went well and nothing changed since
        )

    def observe(self, turn: Turn) -> TriggerDecision:
        """What is proposed after one more turn."""
        outcome = self._outcomes.add(turn)
        start = self._start = turn.number if self._start is None else self._start
        signs = list(self._signs(turn, outcome))
        if not signs:
            self._add(turn, outcome)
            return NOTHING
        name, self._start = max(signs, key=lambda sign: SIGNALS[sign[0]])
        self._begin()
        if self._start <= turn.number:
            self._add(turn, outcome)
        report = () if turn.steps else (turn.number,)
        return TriggerDecision(
            kind="subtask",
            scope=self._outcomes.scope(start, self._start, more=report),
            confidence=SIGNALS[name],
            details={"signal": name},
        )

    def _add(self, turn: Turn, outcome: Outcome) -> None:
        """Take one more turn in."""
        self._worked = self._worked or bool(turn.steps)
        self._edits = self._edits + 1 if outcome.edited else 0
        for action in (step.action for step in turn.steps if len(self._met) < MOST_FILES):
            self._met.update(action.writes, (view.path for view in action.views))
            self._looked = self._looked or action.kind in {"read", "search"}
        if outcome.changed:
            self._changed, self._proven = turn.number, None
            self._read_first = self._looked
            kept = [path for path in outcome.written if sort_of(path) != "try"]
            self._files.update(kept[: MOST_FILES - len(self._files)])
        if outcome.ran:
            self._failing = outcome.failed
            self._proven = None if outcome.failed else turn.number

    def _signs(self, turn: Turn, outcome: Outcome) -> Iterator[tuple[SignalName, int]]:
        """The signals that a turn gives, each with the number behind the last turn of the subtask that it ends."""
        has_changed = outcome.changed or self._changed is not None
        if outcome.verdict == "passed" and outcome.went_well and has_changed:
            yield "tests_passed", turn.number + 1
        clauses = [labels for labels in labels_of(turn.reasoning) if "?" not in labels]
        said = frozenset[str]().union(*clauses)
        sure = [labels for labels in clauses if "doubt" not in labels]
        is_done = any(labels & {"done", "whole"} for labels in sure)
        is_done |= "TERMINATE" in turn.reasoning
        if self._worked and (outcome.finished or not turn.steps):
            reported = any("reported" in labels and "looked" not in labels for labels in sure)
            claims = is_done or (self._changed is not None and reported)
            if outcome.finished or (claims and "planned" not in said and not self._failing):
                yield "said_done", turn.number + 1
            return
        if self._changed is None or self._failing or not turn.steps or outcome.ran:
            return
        # The agent turns to something else, with what it changed behind it.
        if is_done and "denied" not in said:
            yield "said_done", turn.number
        if not self._files:
            return
        is_praised = bool(clauses) and "praised" in clauses[0] and "denied" not in said
        if self._read_first and self._proven is not None and is_praised:
            yield "worked_through", turn.number
        if self._edits >= EDITS_IN_A_ROW and not outcome.edited:
            yield "edits_in_a_row", turn.number
        if "elsewhere" in said or ("denied" not in said and self._is_left(turn, outcome, clauses)):
            yield "moving_on", turn.number
        last = max(self._changed, self._proven or 0)
        if turn.number - last >= QUIET_TURNS:
            yield "quiet", last + 1

    def _is_left(self, turn: Turn, outcome: Outcome, clauses: list[frozenset[str]]) -> bool:
        """Whether the agent says that it does something else now, and does.

        It changes other files, or goes on changing after the last change was tried out; or, where it says what it makes
        next, it reads a file that is new to the subtask.
        """
        views = [view.path for step in turn.steps for view in step.action.views]
        files = {
            path
            for path in (outcome.written if outcome.changed else views)
            if sort_of(path) != "try"
        }
        if outcome.changed:
            others = bool(files) and files.isdisjoint(self._files)
            return any("next" in c for c in clauses) and (self._proven is not None or others)
        is_new = bool(files) and files.isdisjoint(self._met)
        return is_new and any({"next", "making"} <= labels for labels in clauses)


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
        if not 0 <= value < inf:
            raise wrong_argument(name, value, "a finite number, 0 or more")
    require_fraction("similarity", similarity, give="a number in 0..1")
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
        self._turns: dict[int, tuple[frozenset[str], frozenset[str]]] = {}  # names said, and shown
        self._now, self._context = 0, frozenset[str]()
        self._until_judged = JUDGED_EVERY
        self._proposed: set[int] = set()

    def observe(self, turn: Turn) -> TriggerDecision:
        """Whether a stretch of turns has grown stale; looked for every few turns."""
        self._outcomes.add(turn)
        self._now = turn.number
        self._turns[turn.number] = (said_in(turn), shown_in(turn))
        oldest = self._now - REMEMBERED * max(self._max_age, self._max_references)
        self._turns = {number: each for number, each in self._turns.items() if number >= oldest}
        self._proposed = {number for number in self._proposed if number >= oldest}
        newest = islice(reversed(self._turns.values()), CONTEXT_TURNS)
        self._context = frozenset[str]().union(*chain.from_iterable(newest))
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
                    confidence=STALE_CONFIDENCE,
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
        said, shown = self._turns[number]
        names, now = said | shown, self._context
        return len(names & now) / (min(len(names), len(now)) or 1)


def said_in(turn: Turn) -> frozenset[str]:
    """The names in what the model wrote, and in what its calls are about."""
    subjects = [step.action.subjects[:MOST_SUBJECTS] for step in turn.steps[:MOST_STEPS]]
    return _names_in([ends_of(turn.reasoning, SAID_CHARS), *chain(*subjects)])


def shown_in(turn: Turn) -> frozenset[str]:
    """The names of the files that a turn viewed or wrote, and in what came back."""
    texts: list[str] = []
    for step in turn.steps[:MOST_STEPS]:
        texts += [view.path for view in step.action.views[:MOST_SUBJECTS]]
        texts += step.action.writes[:MOST_SUBJECTS]
        texts.append(ends_of(step.observation or "", SHOWN_CHARS))
    return _names_in(texts)


def _names_in(texts: Iterable[str]) -> frozenset[str]:
    """A path, an identifier, a code; no plain word or number; and the last part of each path."""
    values = [each for each in values_of("\n".join(texts)) if is_telling(each)]
    paths = [each.rpartition("/")[2] for each in values if "/" in each]
    return frozenset(each for each in (*values, *paths) if each and not each.isdecimal())
