"""What of a conversation is finished, by what triggers propose, and whether cutting it pays for the cache that it breaks.

Promise: only what triggers proposed is judged, and only in a turn in which something new was. Outcomes, what must stay and
what was cut before are never offered, and nothing is offered twice. A conversation that is followed anew, after a restart
or where the host changed its past, has the same proposals.
"""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from autogen_context.messages.tool_call import ToolKinds
from autogen_context.tokens.prices import Rates
from autogen_context.triggers.decision import Trigger, TriggerKind
from autogen_context.triggers.price import (
    CostEstimate,
    Cut,
    best_cuts,
    judged_finished,
    turns_expected,
)
from autogen_context.triggers.turn import turn_of
from autogen_context.view.decision import Candidate, Decision
from autogen_context.view.pace import Pace, Situation

LEFT_FRACTIONS = (0.25, 0.5)  # of the tokens of what is cut, least and most; docs/decisions/0014
TOLD_FRACTION = 0.1  # of the same, for what is told of the rest
LEAST_TOKENS = 64  # that a cut saves; a notice and marks cost about as much
MOST_SPANS = 100  # proposals that are kept, the newest; what is older was cut or never will be


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedSpan:
    """A stretch of a conversation that is finished.

    Attributes:
        start: position of its first message in the host's list.
        stop: position behind its last message.
        kind: which trigger told that it is finished.
        confidence: that a developer would call that right, 0..1.
        saved_tokens: what would go of it, about; outcomes and what must stay are never among it.
    """

    start: int
    stop: int
    kind: TriggerKind
    confidence: float
    saved_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedEstimate:
    """Whether to cut what is finished, and what of it.

    Attributes:
        spans: the stretches that together bring in most, in the order of the conversation; one or more.
        cost_estimate: whether cutting them is worth its price now, with the numbers that say so.
        is_done: whether they were cut in this turn.
    """

    spans: tuple[FinishedSpan, ...]
    cost_estimate: CostEstimate
    is_done: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedSpan:
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
        inside = range(self.start, min(self.stop, len(decisions)))
        keep = self.outcomes | stays
        return [i for i in inside if i not in keep and not decisions[i].hides]


class Proposals:
    """What triggers propose for one conversation; each unit is shown to them once, when it is settled.

    Args:
        trigger: what proposes; it stays as it is, a copy follows the conversation, and a new one where that begins anew.
        kinds: what tools do.

    Attributes:
        spans: what was proposed, oldest first.
    """

    def __init__(self, trigger: Trigger, kinds: ToolKinds) -> None:
        self._pristine = trigger
        self._kinds = kinds
        self._begin()

    def _begin(self) -> None:
        self.spans: list[ProposedSpan] = []
        self._trigger = copy.deepcopy(self._pristine)
        self._turns: list[int] = []  # the unit that each turn of the model is
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
        known = candidates[self._shown - 1] if 0 < self._shown < len(candidates) else None
        if known is not self._newest:
            self._begin()
        fired = False
        for i in range(self._shown, len(candidates) - 1):
            if candidates[i].unit.messages[0].role == "assistant":
                fired |= self._show(candidates[i], i) and i >= since
            self._shown, self._newest = i + 1, candidates[i]
        return fired

    def _show(self, candidate: Candidate, i: int) -> bool:
        self._turns.append(i)
        turn = turn_of(candidate.unit, len(self._turns) - 1, kinds=self._kinds)
        decision = self._trigger.observe(turn)
        if decision.scope is None:
            return False
        scope, units = decision.scope, self._turns
        span = ProposedSpan(
            start=units[scope.start],
            stop=units[scope.stop - 1] + 1,
            outcomes=frozenset(units[turn] for turn in scope.outcomes),
            kind=decision.kind,
            confidence=decision.confidence,
        )
        self.spans = [*self.spans[1 - MOST_SPANS :], span]
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """What is best cut of what is finished, and whether that pays.

    Attributes:
        spans: what to cut, in any order; one or more.
        cost: whether cutting them is worth its price now.
        told: the same spans as a user sees them, in the order of the conversation.
    """

    spans: tuple[ProposedSpan, ...]
    cost: CostEstimate
    told: tuple[FinishedSpan, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NextRequest:
    """What the next request has if nothing is cut.

    Attributes:
        situation: what decides what a cut can do; its movable tokens are all of the request.
        new_tokens: of these, what no request had yet.
        turns_to_full: until the window forces a compaction.
        is_cold: whether the provider has nothing cached any more.
    """

    situation: Situation
    new_tokens: int
    turns_to_full: float
    is_cold: bool


def judge_finished(
    pace: Pace,
    spans: Sequence[ProposedSpan],
    decisions: Sequence[Decision],
    *,
    stays: frozenset[int],
    ahead: NextRequest,
    rates: Rates,
    acts: bool,
) -> tuple[Pace, Finished | None]:
    """What is best cut of what is finished, and whether that pays; the pace goes on with it.

    Args:
        pace: of the turns before.
        spans: what triggers proposed.
        decisions: what is held of the units.
        stays: positions of units that must stay.
        ahead: what the next request has if nothing is cut.
        rates: what tokens cost.
        acts: whether to cut where it pays.

    Returns:
        The next pace, and ``None`` where nothing brings in what it costs.
    """
    offers = list(offers_of(spans, decisions, stays, left_fraction=left_fraction(rates)))
    cuts, price = best_cuts(
        [cut for cut, _ in offers],
        window_tokens=ahead.situation.movable_tokens,
        turns=turns_expected(pace.turns),
        rates=rates,
        new_tokens=ahead.new_tokens,
        is_cold=ahead.is_cold,
    )
    if price is None:
        return pace, None
    pace, cost = judged_finished(
        pace, price, ahead.situation, turns_to_full=ahead.turns_to_full, acts=acts
    )
    starts = {cut.start_tokens for cut in cuts}  # no two begin at one place
    chosen = [(cut, span) for cut, span in offers if cut.start_tokens in starts]
    told = sorted((_told(cut, span, decisions) for cut, span in chosen), key=lambda s: s.start)
    return pace, Finished(spans=tuple(span for _, span in chosen), cost=cost, told=tuple(told))


def left_fraction(rates: Rates) -> float:
    """What stays of a span that is cut, of its tokens: more where cached input is dear, and much is saved anyway."""
    least, most = LEFT_FRACTIONS
    return min(most, max(least, rates.cached_fraction))


def offers_of(
    spans: Sequence[ProposedSpan],
    decisions: Sequence[Decision],
    stays: frozenset[int],
    *,
    left_fraction: float,
) -> Iterator[tuple[Cut, ProposedSpan]]:
    """What a cut of each span would save; what several have is offered by the first, and little is not offered."""
    starts = list(accumulate((each.tokens_after for each in decisions), initial=0))
    taken: set[int] = set()
    for span in spans:
        inner = [i for i in span.inner(decisions, stays) if i not in taken]
        taken.update(inner)
        tokens = sum(decisions[i].tokens_after for i in inner)
        saved = int(tokens * (1 - left_fraction - TOLD_FRACTION))
        if saved >= LEAST_TOKENS:
            yield Cut(start_tokens=starts[inner[0]], saved_tokens=saved), span


def _told(cut: Cut, span: ProposedSpan, decisions: Sequence[Decision]) -> FinishedSpan:
    """What a user sees of a span, in the host's positions."""
    return FinishedSpan(
        start=decisions[span.start].start,
        stop=decisions[span.stop - 1].stop,
        kind=span.kind,
        confidence=span.confidence,
        saved_tokens=cut.saved_tokens,
    )
