"""What triggers propose for a conversation: spans of units that are finished.

Promise: each unit is shown to the triggers once, when it is settled; a conversation that is followed anew, after a restart
or where the host changed its past, has the same proposals: those of the conversation as it is now.
"""

from collections.abc import Callable, Sequence

from autogen_context.messages.tools.kinds import ToolKinds
from autogen_context.session.finished import Finished
from autogen_context.triggers.hybrid import Trigger
from autogen_context.triggers.turn import turn_of
from autogen_context.view.decision import Candidate

MOST = 100  # proposals that are kept, the newest; what is older was cut or never will be


class Proposals:
    """The proposals for one conversation.

    Args:
        make_trigger: makes what proposes; called again where everything is followed anew.
        kinds: what tools do.

    Attributes:
        spans: what was proposed, oldest first.
    """

    def __init__(self, make_trigger: Callable[[], Trigger], kinds: ToolKinds) -> None:
        self._make_trigger = make_trigger
        self._kinds = kinds
        self._begin()

    def _begin(self) -> None:
        self.spans: list[Finished] = []
        self._trigger = self._make_trigger()
        self._units: list[int] = []
        self._shown = 0
        self._newest: Candidate | None = None  # of those that were shown

    def follow(self, candidates: Sequence[Candidate], *, since: int) -> bool:
        """Show the triggers what is new; the last unit may still grow.

        Args:
            candidates: the units of the conversation; where one has changed, it and those behind it are other objects.
            since: position of the first unit that is new.

        Returns:
            Whether anything new was proposed.
        """
        if not self._goes_on(candidates):
            self._begin()
        fired = False
        for i in range(self._shown, len(candidates) - 1):
            fired |= self._show(candidates[i], i) and i >= since
            self._shown, self._newest = i + 1, candidates[i]
        return fired

    def _goes_on(self, candidates: Sequence[Candidate]) -> bool:
        """Whether what was shown is as it was."""
        known = candidates[self._shown - 1] if 0 < self._shown <= len(candidates) else None
        return known is self._newest

    def _show(self, candidate: Candidate, i: int) -> bool:
        if candidate.unit.messages[0].role != "assistant":
            return False
        self._units.append(i)
        turn = turn_of(candidate.unit, len(self._units) - 1, kinds=self._kinds)
        decision = self._trigger.observe(turn)
        if decision.scope is None:
            return False
        scope, units = decision.scope, self._units
        span = Finished(
            start=units[scope.start],
            stop=units[scope.stop - 1] + 1,
            outcomes=frozenset(units[turn] for turn in scope.outcomes),
            kind=decision.kind,
            confidence=decision.confidence,
        )
        self.spans = [*self.spans[1 - MOST :], span]
        return True
