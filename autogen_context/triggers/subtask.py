"""When a subtask is complete: tests pass after changes, the agent says so, the work turns to something else.

Promise: a subtask is proposed once, with all its turns and those that stay; scopes never overlap, and lie within the
turns seen. A claim counts for nothing while the last run failed. The same turns give the same decisions; a turn costs
the same however many there were.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from autogen_context.triggers.claims import Claims
from autogen_context.triggers.decision import NOTHING, Scope, TriggerDecision
from autogen_context.triggers.outcome import Outcome, Outcomes, files_run, outcome_of, sort_of
from autogen_context.triggers.turn import Turn, check_fraction, check_least, check_turn

SignalName = Literal[
    "tests_passed", "said_done", "worked_through", "edits_in_a_row", "moving_on", "quiet"
]
Level = Literal["high", "medium", "low"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """How sure a sign of completion is.

    Attributes:
        level: in words.
        confidence: that a developer would call the subtask complete, 0..1.

    Raises:
        ValueError: the confidence is not in 0..1.
    """

    level: Level
    confidence: float

    def __post_init__(self) -> None:
        """Check the confidence."""
        check_fraction("confidence", self.confidence)


SIGNALS: Mapping[SignalName, Signal] = {
    "tests_passed": Signal(level="high", confidence=0.90),  # after a change
    "said_done": Signal(level="high", confidence=0.85),  # by the agent
    "worked_through": Signal(level="medium", confidence=0.70),  # read, changed, run without trouble
    "edits_in_a_row": Signal(level="medium", confidence=0.65),  # that went well, and then something else
    "moving_on": Signal(level="medium", confidence=0.60),  # to other work: "now I'll …"
    "quiet": Signal(level="low", confidence=0.40),  # nothing changed for some turns
}  # fmt: skip  # a comment a row

EDITS_IN_A_ROW = 3
QUIET_TURNS = 8
MOST_FILES = 500  # of a subtask; of more the first are known


class SubtaskTrigger:
    """Proposes the turns of a subtask when it is complete.

    The signals, of which the surest that holds is told:

    - ``tests_passed``: tests pass, and something was changed before; the subtask ends with them.
    - ``said_done``: the agent reports, or hands the work in, and the subtask ends with it; or it says so on its way to
      something else, and the subtask ends before.
    - ``worked_through``: something was read, changed and run without trouble, by what does not count passes; then the
      agent calls it good and turns to something else, and the subtask ends before that.
    - ``edits_in_a_row``: some edits went well and neither one more nor a run follows; the subtask ends before that.
    - ``moving_on``: the agent says that it turns to other work ("now I'll …"), and does: it changes or opens other files;
      the subtask ends before that.
    - ``quiet``: nothing was changed for some turns; the subtask ends with the last change, or the run that proved it.

    A subtask begins where the one before ended.

    Args:
        signals: those that count, each with its confidence.
        edits_in_a_row: so many turns, 1 or more.
        quiet_turns: so many turns, 1 or more.
        least_confidence: a signal below this is left out, 0..1.

    Raises:
        ValueError: an argument is none of these.
    """

    def __init__(
        self,
        *,
        signals: Mapping[SignalName, Signal] = SIGNALS,
        edits_in_a_row: int = EDITS_IN_A_ROW,
        quiet_turns: int = QUIET_TURNS,
        least_confidence: float = 0.0,
    ) -> None:
        check_fraction("least_confidence", least_confidence)
        check_least("edits_in_a_row", edits_in_a_row, 1)
        check_least("quiet_turns", quiet_turns, 1)
        unknown = sorted(signals.keys() - SIGNALS.keys())
        if unknown:
            raise ValueError(f"signals: {unknown[0]!r} is none; give some of {', '.join(SIGNALS)}")
        self._signals = {n: s for n, s in signals.items() if s.confidence >= least_confidence}
        self._edits_in_a_row, self._quiet_turns = edits_in_a_row, quiet_turns
        self._stop: int | None = None  # the turn behind the last subtask
        self._subtask: _Subtask | None = None
        self._outcomes = Outcomes()

    def observe(self, turn: Turn) -> TriggerDecision:
        """What is proposed after one more turn."""
        check_turn(turn)
        outcome = outcome_of(turn)
        if self._subtask is None:
            self._subtask = _Subtask(start=turn.number if self._stop is None else self._stop)
        subtask = self._subtask
        signs = [sign for sign in self._signs(subtask, turn, outcome) if sign[0] in self._signals]
        sign = max(signs, key=lambda sign: self._signals[sign[0]].confidence, default=None)
        self._outcomes.add(turn)
        if sign is None:
            subtask.add(turn, outcome)
            return NOTHING
        name, stop = sign
        self._stop, self._subtask = stop, None
        if stop <= turn.number:  # of the turns behind it only what was looked at counts
            seen = subtask.seen if subtask.seen is not None and subtask.seen >= stop else None
            self._subtask = _Subtask(start=stop, seen=seen)
            self._subtask.add(turn, outcome)
        return self._decision(name, Scope(start=subtask.start, stop=stop), turn)

    def _signs(self, subtask: "_Subtask", turn: Turn, outcome: Outcome) -> Iterator["_Sign"]:
        """The signals that a turn gives, seen from the subtask before it."""
        has_changed = outcome.changed or subtask.changed is not None
        if outcome.proof == "passed" and outcome.went_well and has_changed:
            yield "tests_passed", turn.number + 1
        if subtask.worked and (outcome.finished or not turn.steps):
            claims = Claims(turn.reasoning)
            done = claims.done or (subtask.changed is not None and claims.reported)
            if outcome.finished or (done and not claims.planned and not subtask.failing):
                yield "said_done", turn.number + 1
        elif subtask.is_settled and turn.steps and not outcome.ran:
            yield from self._signs_of_turning(subtask, turn, outcome)

    def _signs_of_turning(
        self, subtask: "_Subtask", turn: Turn, outcome: Outcome
    ) -> Iterator["_Sign"]:
        """The agent turns to something else, with what it changed behind it."""
        if subtask.tried and not subtask.files:
            return
        claims = Claims(turn.reasoning)
        if claims.done and not claims.denied:
            yield "said_done", turn.number
        if not subtask.files:
            return
        if subtask.looked and subtask.proven is not None and claims.praised and not claims.denied:
            yield "worked_through", turn.number
        if subtask.edits >= self._edits_in_a_row and not outcome.edited:
            yield "edits_in_a_row", turn.number
        if claims.elsewhere or (subtask.is_left(turn, outcome, claims) and not claims.denied):
            yield "moving_on", turn.number
        last = max(subtask.changed or 0, subtask.proven or 0)
        if turn.number - last >= self._quiet_turns:
            yield "quiet", last + 1

    def _decision(self, name: SignalName, scope: Scope, turn: Turn) -> TriggerDecision:
        signal = self._signals[name]
        said = (turn.number,) if turn.number < scope.stop and not turn.steps else ()
        outcomes = self._outcomes.within(scope.start, scope.stop)
        return TriggerDecision(
            kind="subtask",
            scope=replace(scope, outcomes=(*outcomes, *said)),
            confidence=signal.confidence,
            details={"signal": name, "level": signal.level},
        )


_Sign = tuple[SignalName, int]
"""A signal, and the number behind the last turn of the subtask that it ends."""


@dataclass(slots=True, kw_only=True)
class _Subtask:
    """What is known of the subtask that is open.

    Attributes:
        start: number of its first turn.
        changed: number of the last turn that changed something.
        files: changed, but for those that are tries, and those that were made here and run, which served to try something.
        met: the files seen or changed, each with whether it was there before: it was looked at first.
        tried: whether any file was changed, these included.
        edits: how many turns in a row edited, up to the last.
        worked: whether anything was done.
        looked: whether anything was looked at before the last change.
        seen: number of the last turn that looked at anything.
        failing: whether what ran last went ill.
        proven: number of the last turn that ran something, where that went well and nothing was changed since.
    """

    start: int
    changed: int | None = None
    files: set[str] = field(default_factory=set[str])
    met: dict[str, bool] = field(default_factory=dict[str, bool])
    tried: bool = False
    edits: int = 0
    worked: bool = False
    looked: bool = False
    seen: int | None = None
    failing: bool = False
    proven: int | None = None

    @property
    def is_settled(self) -> bool:
        """Whether something was changed, and nothing tells that it does not work."""
        return self.changed is not None and not self.failing

    def add(self, turn: Turn, outcome: Outcome) -> None:
        """Take one more turn in."""
        self.worked = self.worked or bool(turn.steps)
        for action in (step.action for step in turn.steps if len(self.met) < MOST_FILES):
            for path in action.writes:
                self.met.setdefault(path, False)
            for view in action.views:
                self.met.setdefault(view.path, True)
        self.seen = turn.number if outcome.looked else self.seen
        self.edits = self.edits + 1 if outcome.edited else 0
        if outcome.changed:
            self.changed, self.proven = turn.number, None
            self.looked = self.looked or self.seen is not None
            self.tried = self.tried or bool(outcome.written)
            kept = [path for path in outcome.written if sort_of(path) != "try"]
            self.files.update(kept[: MOST_FILES - len(self.files)])
        if outcome.ran:
            self.files.difference_update(path for path in files_run(turn) if not self.met.get(path))
            self.failing = outcome.failed
            self.proven = None if outcome.failed else turn.number

    def is_left(self, turn: Turn, outcome: Outcome, claims: Claims) -> bool:
        """Whether the agent says that it does something else now, and does.

        It changes other files, or goes on changing after the last change was tried out; or, where it says what it makes
        next, it reads a file that is new to the subtask and changes none.
        """
        if outcome.changed:
            files = {path for path in outcome.written if sort_of(path) != "try"}
            others = bool(files) and files.isdisjoint(self.files)
            return claims.next and (self.proven is not None or others)
        reads = [step.action for step in turn.steps if step.action.kind == "read"]
        opened = {view.path for each in reads for view in each.views if sort_of(view.path) != "try"}
        return bool(opened) and opened.isdisjoint(self.met) and claims.next_work
