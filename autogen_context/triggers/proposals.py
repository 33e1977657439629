"""Finished spans: what triggers propose of a conversation, and which of it to cut, by the price of that rewrite.

Promise: only spans that triggers proposed are cut; never outcomes, protected units, or units cut before. Source:
docs/decisions/0014-price-of-a-rewrite.md.
"""

import copy
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import NamedTuple

from autogen_context.messages.tool_call import ToolKinds
from autogen_context.tokens.prices import (
    CostEstimate,
    Rates,
    Rewrite,
    RewritePrice,
    price_of_rewrite,
)
from autogen_context.triggers.turn import GuardedTrigger, Trigger, TriggerKind, turn_of
from autogen_context.view.decision import Candidate, Decision

EARLY_FROM = 0.25  # price of a cached token from which finished spans are cut by default
LEFT_FRACTION = 0.5  # of the tokens of a cut unit, that remain
NOTICE_FRACTION = 0.1  # of the same, for the notice
LEAST_TOKENS = 64  # that a cut must save; notice and marks cost about as much
MOST_SPANS = 100  # newest proposals that are kept


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedSpan:
    """A finished span of the conversation."""

    start: int  # position of its first message in the host's list
    stop: int  # position after its last message
    kind: TriggerKind
    confidence: float  # probability that a developer would agree, 0..1
    saved_tokens: int  # estimate, without outcomes and protected units


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedEstimate:
    """Which finished spans to cut, and whether that pays now."""

    spans: tuple[FinishedSpan, ...]  # the best combination, in order; one or more
    cost_estimate: CostEstimate  # for cutting them now
    is_done: bool  # whether they were cut in this turn


class ProposedSpan(NamedTuple):
    """A span of units that a trigger considers finished, and the positions of outcomes in it."""

    start: int
    stop: int
    outcomes: frozenset[int] = frozenset()
    kind: TriggerKind = "none"
    confidence: float = 0.0

    def inner(self, decisions: Sequence[Decision], stays: frozenset[int]) -> list[int]:
        """Return the units that may be cut: no outcomes, no protected units, none cut before."""
        inside = range(self.start, min(self.stop, len(decisions)))
        keep = self.outcomes | stays
        return [i for i in inside if i not in keep and not decisions[i].hides]


class Proposals:
    """The part of a conversation's index that has what a copy of a trigger proposes; it sees each complete unit once.

    Attributes:
        spans: the newest proposals.
        fired_at: the last unit at which the trigger proposed a span; below 0 where it did not.
    """

    def __init__(self, trigger: Trigger, kinds: ToolKinds) -> None:
        self._pristine, self._kinds = GuardedTrigger(trigger), kinds
        self.truncate(0)

    def truncate(self, _units: int) -> int:
        """Begin anew: a trigger takes nothing back."""
        self.spans, self.fired_at = deque[ProposedSpan](maxlen=MOST_SPANS), -1
        self._trigger = copy.deepcopy(self._pristine)
        self._turns: list[int] = []  # position of the unit of each turn
        return 0

    def add(self, at: int, candidate: Candidate) -> None:
        """Feed the next unit to the trigger."""
        if candidate.unit.messages[0].role != "assistant":
            return
        units = self._turns
        units.append(at)
        decision = self._trigger.observe(turn_of(candidate.unit, len(units) - 1, kinds=self._kinds))
        if scope := decision.scope:
            self.fired_at = at
            self.spans.append(
                ProposedSpan(
                    start=units[scope.start],
                    stop=units[scope.stop - 1] + 1,
                    outcomes=frozenset(units[turn] for turn in scope.outcomes),
                    kind=decision.kind,
                    confidence=decision.confidence,
                )
            )


class Offer(NamedTuple):
    """The unchanged prefix before a span, and the tokens that cutting the span saves."""

    untouched_tokens: int
    saved_tokens: int
    span: ProposedSpan


def offers_of(
    spans: Iterable[ProposedSpan], decisions: Sequence[Decision], stays: frozenset[int]
) -> Iterator[Offer]:
    """Yield the savings of each span; units of several spans count for the first."""
    starts = list(accumulate((each.tokens_after for each in decisions), initial=0))
    taken: set[int] = set()
    for span in spans:
        inner = [i for i in span.inner(decisions, stays) if i not in taken]
        taken.update(inner)
        tokens = sum(decisions[i].tokens_after for i in inner)
        saved = int(tokens * (1 - LEFT_FRACTION - NOTICE_FRACTION))
        if saved >= LEAST_TOKENS:
            yield Offer(starts[inner[0]], saved, span)


def best_cuts(
    offers: Iterable[Offer], uncut: Rewrite, rates: Rates, *, turns: float, is_cold: bool
) -> tuple[RewritePrice, list[Offer]] | None:
    """Choose where to begin cutting for the highest gain; all later spans are included, as they are resent uncached anyway."""
    ordered, best, saved = sorted(offers, key=lambda offer: offer.untouched_tokens), None, 0
    for i in reversed(range(len(ordered))):
        saved += ordered[i].saved_tokens
        rewrite = replace(uncut, untouched_tokens=ordered[i].untouched_tokens, saved_tokens=saved)
        price = price_of_rewrite(rewrite, rates, is_cold=is_cold)
        if price.gain_tokens(turns) >= (best[0].gain_tokens(turns) if best else 0):
            best = price, ordered[i:]
    return best
