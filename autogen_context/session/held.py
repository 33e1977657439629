"""What was decided, held from one compaction to the next.

Promise: holding only appends. The pieces of a turn are those of the turn before with new ones behind them, until a
compaction replaces the decisions or the host changes its own past.
"""

from collections.abc import Sequence
from dataclasses import replace

from autogen_context.pipeline.decision import Candidate, Decision, kept
from autogen_context.pipeline.piece import Piece, Verbatim, coalesce


class Held:
    """The decisions in force, one for each unit.

    Args:
        decisions: what was held in a saved state.
    """

    def __init__(self, decisions: Sequence[Decision] = ()) -> None:
        self.decisions: list[Decision] = []
        self.tokens = 0
        self.replaced = 0  # how many are not sent as they came in
        self._settled: list[Piece] = []
        self.replace(decisions)

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """What is sent, neighbouring stretches joined."""
        last = self.decisions[-1].sent if self.decisions else ()
        return coalesce([*self._settled, *last])

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

    def extend(self, candidates: Sequence[Candidate]) -> None:
        """Keep what is new; the last unit so far may have grown."""
        if self.decisions:
            last = self.decisions[-1]
            self._set_last(grown(last, candidates[len(self.decisions) - 1]))
        for candidate in candidates[len(self.decisions) :]:
            self._append(kept(candidate, "new"))

    def put_before_last(self, piece: Piece, tokens: int) -> None:
        """Send something in front of the newest unit, from now on."""
        last = self.decisions[-1]
        self._set_last(replace(last, before=(piece,), tokens_after=last.tokens_after + tokens))

    def replace(self, decisions: Sequence[Decision]) -> None:
        """Hold other decisions from now on."""
        self.decisions, self._settled, self.tokens, self.replaced = [], [], 0, 0
        for decision in decisions:
            self._append(decision)

    def _append(self, decision: Decision) -> None:
        if self.decisions:
            self._settle(self.decisions[-1])
        self.decisions.append(decision)
        self.tokens += decision.tokens_after
        self.replaced += bool(decision.handle)

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


def grown(decision: Decision, candidate: Candidate) -> Decision:
    """The decision on a unit after its call got more results, or after other messages followed it."""
    if decision.action in ("keep", "repair"):
        before = decision.tokens_after - decision.tokens_before  # as a kept unit has no others
        again = kept(candidate, decision.reason)
        return replace(again, before=decision.before, tokens_after=candidate.tokens + before)
    if decision.action == "drop":
        return decision
    as_before = decision.stop - decision.start
    return replace(
        decision,
        stop=candidate.unit.stop,
        tokens_before=candidate.tokens,
        tokens_after=decision.tokens_after + candidate.tokens - decision.tokens_before,
        pieces=decision.pieces[:as_before] + candidate.pieces[as_before:],
    )
