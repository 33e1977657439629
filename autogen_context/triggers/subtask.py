"""When a subtask is complete: tests pass after changes, the agent says so, the work turns to something else.

Promise: a subtask is proposed once, with all its turns and those that stay; scopes never overlap, and lie within the
turns seen. The same turns give the same decisions; a turn costs the same however many there were, and a subtask leaves
two numbers.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from autogen_context.triggers.checks import check_share
from autogen_context.triggers.decision import NOTHING, Scope, TriggerDecision
from autogen_context.triggers.deeds import Deeds, deeds_of
from autogen_context.triggers.outcome import Outcomes
from autogen_context.triggers.subtask_signals import (
    EDITS_IN_A_ROW,
    QUIET_TURNS,
    SIGNALS,
    Signal,
    SignalName,
)
from autogen_context.triggers.subtask_signs import Limits, Sign, Subtask, signs_of
from autogen_context.triggers.turn import Turn, check_turn


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """Where a subtask ended.

    Attributes:
        decided: number of the turn that told.
        stop: number behind its last turn, where the next begins.
    """

    decided: int
    stop: int


class SubtaskTrigger:
    """Proposes the turns of a subtask when it is complete.

    The signals, of which the surest that holds is told:

    - ``tests_passed``: tests pass, and something was changed before; the subtask ends with them.
    - ``said_done``: the agent reports, or hands the work in, and the subtask ends with it; or it says so on its way to
      something else, and the subtask ends before.
    - ``worked_through``: something was read, changed and run without trouble, by what does not count passes; then the
      agent calls it good and turns to something else, and the subtask ends before that.
    - ``edits_in_a_row``: some edits went well and neither one more nor a run follows; the subtask ends before that.
    - ``moving_on``: the agent says that it turns to other work ("now I'll …"), and does; the subtask ends before that.
    - ``quiet``: nothing was changed for some turns; the subtask ends with the last change, or the run that proved it.

    A subtask begins where the one before ended. A claim counts for nothing while the last run failed.

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
        check_share("least_confidence", least_confidence)
        unknown = sorted(signals.keys() - SIGNALS.keys())
        if unknown:
            raise ValueError(f"signals: {unknown[0]!r} is none; give some of {', '.join(SIGNALS)}")
        self._signals = {n: s for n, s in signals.items() if s.confidence >= least_confidence}
        self._limits = Limits(edits_in_a_row=edits_in_a_row, quiet_turns=quiet_turns)
        self._ends: list[End] = []
        self._subtask: Subtask | None = None
        self._outcomes = Outcomes()

    def observe(self, turn: Turn) -> TriggerDecision:
        """What is proposed after one more turn."""
        check_turn(turn)
        deeds = deeds_of(turn)
        subtask = self._subtask = self._subtask or Subtask(start=self._next(turn))
        sign = self._sign(turn, deeds, subtask)
        self._outcomes.add(turn)
        if sign is None:
            subtask.add(turn, deeds)
            return NOTHING
        name, stop = sign
        self._begin(stop, subtask, turn, deeds)
        return self._decision(name, Scope(start=subtask.start, stop=stop), turn)

    def truncate(self, number: int) -> int:
        """Forget the turns from a number on.

        Returns:
            The number of the first turn to be observed again, at most the one given: where the subtask begins that was
            open then. What was decided before is not decided again.
        """
        while self._ends and self._ends[-1].decided >= number:
            self._ends.pop()
        start = self._ends[-1].stop if self._ends else 0
        self._subtask = None
        self._outcomes = Outcomes()
        return min(start, number)

    def _next(self, turn: Turn) -> int:
        """Where the subtask begins that a turn is the first of."""
        return self._ends[-1].stop if self._ends else turn.number

    def _sign(self, turn: Turn, deeds: Deeds, subtask: Subtask) -> Sign | None:
        """The surest signal of a turn."""
        signs = signs_of(subtask, turn, deeds, self._limits)
        counted = [sign for sign in signs if sign[0] in self._signals]
        return max(counted, key=lambda sign: self._signals[sign[0]].confidence, default=None)

    def _begin(self, start: int, last: Subtask, turn: Turn, deeds: Deeds) -> None:
        """Begin the next subtask; of the turns behind the last change nothing counts but that something was looked at."""
        self._ends.append(End(decided=turn.number, stop=start))
        if start > turn.number:
            self._subtask = None
            return
        seen = last.seen if last.seen is not None and last.seen >= start else None
        self._subtask = Subtask(start=start, seen=seen)
        self._subtask.add(turn, deeds)

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
