"""Cut spans that are finished, and leave everything else as it is held.

Promise: what stands in front of the first span is sent to the byte as before, so that it stays cached; what must stay, the
outcomes of a span, and what was cut before are untouched; no span grows. Of the rest of a span stays what is worth most
in a small room, and a notice in place of what goes says what was done.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from autogen_context.prioritizer.block_score import ValueScorer
from autogen_context.prioritizer.references import References
from autogen_context.prioritizer.selection import BlockSelector
from autogen_context.session.conversation import Conversation
from autogen_context.session.plan import with_notice
from autogen_context.session.telling import Telling
from autogen_context.tokens.measure import Meter
from autogen_context.triggers.decision import TriggerKind
from autogen_context.view.decision import Candidate, Decision, kept

LEFT_SHARE = 0.25  # of the tokens of what is cut, for what is worth most of it
TOLD_SHARE = 0.1  # of the same, for what is told of the rest


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A span of units that a trigger found to be finished.

    Attributes:
        start: position of its first unit.
        stop: position after its last.
        outcomes: positions of units in it that say what came out.
        kind: which trigger told.
        confidence: that it is finished, 0..1.
    """

    start: int
    stop: int
    outcomes: frozenset[int] = frozenset()
    kind: TriggerKind = "none"
    confidence: float = 0.0

    def inner(self, decisions: Sequence[Decision], stays: frozenset[int]) -> list[int]:
        """The units that may be cut: neither outcomes, nor what must stay, nor cut before."""
        stop = min(self.stop, len(decisions))
        return [i for i in range(self.start, stop) if self.gives(i, decisions, stays)]

    def gives(self, i: int, decisions: Sequence[Decision], stays: frozenset[int]) -> bool:
        """Whether a unit is one of these."""
        is_inside = self.start <= i < self.stop
        return is_inside and i not in self.outcomes and i not in stays and not decisions[i].hides


class FinishedCut:
    """Cuts finished spans of one conversation.

    Args:
        references: its values, kept up by the caller.
        telling: says what was in what goes.
        meter: counts messages.
    """

    def __init__(self, references: References, telling: Telling, meter: Meter) -> None:
        self._references = references
        self._telling = telling
        self._meter = meter

    def cut(
        self,
        conversation: Conversation,
        decisions: Sequence[Decision],
        spans: Sequence[Finished],
        *,
        stays: frozenset[int],
        room_tokens: int,
    ) -> tuple[Decision, ...]:
        """The decisions with these spans cut.

        Args:
            conversation: what there is.
            decisions: what is held of its n units.
            spans: what is finished, without overlaps.
            stays: positions of units that must stay.
            room_tokens: what a request may have.

        Returns:
            n decisions, the same up to the first span.
        """
        decided = tuple(decisions)
        scorer = ValueScorer(self._references, room_tokens=room_tokens)
        selector = BlockSelector(self._references, self._meter, scorer)
        for span in spans:
            inner = span.inner(decided, stays)
            if inner:
                scorer.keep_all_but(inner)
                decided = self._without(conversation.candidates, decided, inner, selector)
        return decided

    def _without(
        self,
        candidates: Sequence[Candidate],
        decisions: Sequence[Decision],
        inner: Sequence[int],
        selector: BlockSelector,
    ) -> tuple[Decision, ...]:
        units = self._references.units
        tokens = sum(decisions[i].tokens_after for i in inner)
        others = dict(enumerate(decisions))
        for i in inner:
            del others[i]
        chosen = others | selector.choose(inner, int(tokens * LEFT_SHARE))
        # What was cut before has been told of where it stood.
        seen = chosen | {i: kept(candidates[i], "") for i, d in others.items() if d.hides}
        told = self._telling.told(units, seen, summaries={}, room_tokens=int(tokens * TOLD_SHARE))
        held = sum(decision.tokens_after for decision in decisions)
        count = self._meter.message
        return with_notice(candidates, chosen, told, limit_tokens=held, count=count)
