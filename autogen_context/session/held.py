"""What was decided, held from one compaction to the next.

Promise: holding only appends. The pieces of a turn are those of the turn before with new ones behind them, until a
compaction replaces the decisions or the host changes its own past.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from autogen_context.messages.piece import Piece, Verbatim, coalesce
from autogen_context.view.decision import Candidate, Decision

Decide = Callable[[Candidate, Decision | None], Decision]
"""What becomes of a unit that is new, or that may have grown since it was decided on."""


class Held:
    """The decisions in force, one for each unit.

    Their list only grows, its last item apart, until another takes its place: versions share it.

    Args:
        decisions: what was held in a saved state.
    """

    def __init__(self, decisions: Sequence[Decision] = ()) -> None:
        self.decisions: list[Decision] = []
        self.tokens = 0
        self.hidden = 0  # how many are not, or not all, in sight
        self._settled: list[Piece] = []
        self.replace(decisions)

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """What is sent, neighbouring stretches joined."""
        last = self.decisions[-1].sent if self.decisions else ()
        return (*self._settled[:-1], *coalesce([*self._settled[-1:], *last]))

    @property
    def stop(self) -> int:
        """How many of the host's messages are decided."""
        return self.decisions[-1].stop if self.decisions else 0

    def keep_first(self, messages: int) -> None:
        """Forget what was decided on all but the first messages."""
        keep = len(self.decisions)
        while keep and self.decisions[keep - 1].stop > messages:
            keep -= 1
        self.replace(self.decisions[:keep])

    def extend(self, candidates: Sequence[Candidate], decide: Decide) -> None:
        """Hold what is new; the last unit so far may have grown."""
        if self.decisions:
            last = self.decisions[-1]
            self._set_last(decide(candidates[len(self.decisions) - 1], last))
        for candidate in candidates[len(self.decisions) :]:
            self._append(decide(candidate, None))

    def put_before_last(self, piece: Piece, tokens: int) -> None:
        """Send something in front of the newest unit, behind what stands there already, from now on."""
        last = self.decisions[-1]
        before, tokens_after = (*last.before, piece), last.tokens_after + tokens
        self._set_last(replace(last, before=before, tokens_after=tokens_after))

    def replace(self, decisions: Sequence[Decision]) -> None:
        """Hold other decisions from now on."""
        self.decisions, self._settled, self.tokens, self.hidden = [], [], 0, 0
        for decision in decisions:
            self._append(decision)

    def _append(self, decision: Decision) -> None:
        if self.decisions:
            self._settle(self.decisions[-1])
        self.decisions.append(decision)
        self.tokens += decision.tokens_after
        self.hidden += decision.hides

    def _settle(self, decision: Decision) -> None:
        """Put its pieces behind those that will not change any more."""
        last = self._settled[-1] if self._settled else None
        untouched = decision.action == "keep" and not decision.before
        if untouched and isinstance(last, Verbatim) and last.stop == decision.start:
            self._settled[-1] = Verbatim(start=last.start, stop=decision.stop)
        else:
            self._settled[-1:] = coalesce([*self._settled[-1:], *decision.sent])

    def _set_last(self, decision: Decision) -> None:
        self.tokens += decision.tokens_after - self.decisions[-1].tokens_after
        self.decisions[-1] = decision
