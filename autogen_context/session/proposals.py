"""What triggers propose for a conversation: spans of units that are finished.

Promise: each unit is shown to the triggers once, when it is settled; a conversation that is followed anew, after a restart
or where the host changed its past, has the same proposals.
"""

from collections.abc import Callable, Sequence

from autogen_context.pipeline.decision import Candidate
from autogen_context.pipeline.tools.kinds import ToolKinds
from autogen_context.pipeline.trigger.decision import TriggerDecision
from autogen_context.pipeline.trigger.hybrid import Trigger
from autogen_context.pipeline.trigger.turn import turn_of
from autogen_context.session.finished import Finished

MOST = 100  # proposals that are kept, the newest; what is older was cut or never will be


class Proposals:
    """The proposals for one conversation.

    Args:
        make_trigger: makes what proposes; called again where everything is followed anew.
        kinds: what tools do.

    Attributes:
        spans: what was proposed, oldest first.
        last: the newest proposal.
    """

    def __init__(self, make_trigger: Callable[[], Trigger], kinds: ToolKinds) -> None:
        self._make_trigger = make_trigger
        self._kinds = kinds
        self.restart()

    def restart(self) -> None:
        """Forget everything."""
        self.spans: list[Finished] = []
        self.last = TriggerDecision()
        self._trigger = self._make_trigger()
        self._units: list[int] = []
        self._shown = 0

    def follow(self, candidates: Sequence[Candidate], *, since: int) -> bool:
        """Show the triggers what is new; the last unit may still grow.

        Args:
            candidates: the units of the conversation.
            since: position of the first unit that is new.

        Returns:
            Whether anything new was proposed.
        """
        fired = False
        for i in range(self._shown, len(candidates) - 1):
            fired |= self._show(candidates[i], i) and i >= since
        self._shown = max(self._shown, len(candidates) - 1)
        return fired

    def _show(self, candidate: Candidate, i: int) -> bool:
        if candidate.unit.messages[0].role != "assistant":
            return False
        self._units.append(i)
        turn = turn_of(candidate.unit, len(self._units) - 1, kinds=self._kinds)
        decision = self._trigger.observe(turn)
        if decision.scope is None:
            return False
        scope, units = decision.scope, self._units
        outcomes = frozenset(units[turn] for turn in scope.outcomes)
        span = Finished(start=units[scope.start], stop=units[scope.stop - 1] + 1, outcomes=outcomes)
        self.spans, self.last = [*self.spans[1 - MOST :], span], decision
        return True
