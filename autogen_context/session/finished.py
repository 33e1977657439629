"""Judge what is finished, and cut it where that was asked for and pays for the cache that it breaks.

Promise: only what triggers proposed is judged, only in a turn in which something new was proposed, and never what must
stay. What stands in front of the first cut is sent to the byte as before; outcomes and what was cut before are untouched;
no span grows. Of the rest of a span stays what is worth most in a small room, and a notice in place of what goes says what
was done. A conversation that is followed anew, after a restart or where the host changed its past, has the same proposals.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from autogen_context.messages.tool_call import ToolKinds
from autogen_context.prioritizer.block_score import ValueScorer
from autogen_context.prioritizer.selection import BlockSelector
from autogen_context.session.compacting import Compacting
from autogen_context.manager.compaction import Compaction
from autogen_context.view.conversation import Conversation
from autogen_context.session.holding import Holding
from autogen_context.manager.plan import with_notice
from autogen_context.manager.rules import Rules, Surroundings
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.tokens.rates import Rates
from autogen_context.triggers.decision import TriggerKind
from autogen_context.triggers.hybrid import SemanticHybridTrigger, Trigger
from autogen_context.triggers.price import CostEstimate, Cut, best_cuts, turns_expected
from autogen_context.triggers.turn import turn_of
from autogen_context.view.decision import Candidate, Decision, kept

LEFT_FRACTIONS = (
    0.25,
    0.5,
)  # of the tokens of what is cut, for what is worth most of it; docs/decisions/0014
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
        self.spans: list[ProposedSpan] = []
        self._trigger = self._make_trigger()
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
        known = candidates[self._shown - 1] if 0 < self._shown <= len(candidates) else None
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


class Finishing:
    """Judges and cuts what is finished in one conversation.

    Args:
        rules: what holds for every turn.
        around: what it works with.
        conversation: what there is.
        holding: holds what was decided.
        compacting: has the price, and what plans work with.
    """

    def __init__(
        self,
        rules: Rules,
        around: Surroundings,
        *,
        conversation: Conversation,
        holding: Holding,
        compacting: Compacting,
    ) -> None:
        self._conversation = conversation
        self._holding = holding
        self._compacting = compacting
        self._rates = rules.rates
        self._left_fraction = left_fraction(rules.rates)
        self._counter = around.counter
        self._proposals = Proposals(
            lambda: SemanticHybridTrigger(rules.triggers, known=around.known_intent), rules.kinds
        )

    def judge(
        self, used_tokens: int, pinned: frozenset[int], *, acts: bool
    ) -> FinishedEstimate | None:
        """What is best cut of what is finished, and whether that pays.

        Args:
            used_tokens: what the request has beside what is held.
            pinned: positions of pinned messages.
            acts: whether to cut it if it does.

        Returns:
            ``None`` where nothing new was proposed, or there is nothing that brings in what it costs.
        """
        compacting, candidates = self._compacting, self._conversation.candidates
        pricing = compacting.pricing
        if not self._proposals.follow(candidates, since=max(0, pricing.pace.seen_units - 1)):
            return None
        decisions = self._holding.held.decisions
        spoken = self._conversation.voices.instructions
        stays = frozenset(self._conversation.protected(pinned)).union(spoken)
        offers = list(
            offers_of(self._proposals.spans, decisions, stays, left_fraction=self._left_fraction)
        )
        cuts, price = best_cuts(
            [cut for cut, _ in offers],
            window_tokens=self._holding.held.tokens + used_tokens,
            turns=turns_expected(pricing.pace.turns),
            rates=self._rates,
            new_tokens=compacting.new_tokens,
            is_cold=pricing.is_cold,
        )
        if price is None:
            return None
        starts = {cut.start_tokens for cut in cuts}  # no two begin at one place
        chosen = [(cut, span) for cut, span in offers if cut.start_tokens in starts]
        situation = compacting.situation(used_tokens)
        cost = pricing.estimate_of_finished(
            price,
            situation=situation,
            turns_to_full=self._turns_to_full(price.rewrite.window_tokens),
            acts=acts,
        )
        told = tuple(_told(cut, span, decisions) for cut, span in chosen)
        is_done = acts and cost.rewrites
        if is_done:
            compacting.compaction.follow(self._conversation)
            compacting.replace(
                without(
                    [span for _, span in chosen],
                    candidates,
                    decisions,
                    stays=stays,
                    compaction=compacting.compaction,
                    counter=self._counter,
                    room_tokens=compacting.room_tokens,
                    left_fraction=self._left_fraction,
                ),
                pinned,
                situation,
                promised_tokens=price.rewrite.saved_tokens,
                since=min(span.start for _, span in chosen),
            )
        spans = tuple(sorted(told, key=lambda span: span.start))
        return FinishedEstimate(spans=spans, cost_estimate=cost, is_done=is_done)

    def _turns_to_full(self, window_tokens: int) -> float:
        """How many more turns fit, if the conversation goes on growing as it has."""
        grown = self._conversation.tokens / turns_expected(self._compacting.pricing.pace.turns)
        return max(0, self._compacting.room_tokens - window_tokens) / max(1.0, grown)


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


def without(
    spans: Sequence[ProposedSpan],
    candidates: Sequence[Candidate],
    decisions: Sequence[Decision],
    *,
    stays: frozenset[int],
    compaction: Compaction,
    counter: MessageCounter,
    room_tokens: int,
    left_fraction: float,
) -> tuple[Decision, ...]:
    """The decisions on n units with these spans cut; up to the first span they are the same.

    Args:
        spans: what is finished.
        candidates: the units.
        decisions: what is held of them.
        stays: positions of units that must stay.
        compaction: says what blocks are worth, and tells what goes.
        counter: counts messages.
        room_tokens: what a request may have.
        left_fraction: of the tokens of each span, what is left of it.
    """
    decided, units = tuple(decisions), compaction.references.units
    scorer = ValueScorer(compaction.references, room_tokens=room_tokens)
    selector = BlockSelector(compaction.references, counter, scorer)
    for span in spans:
        inner = span.inner(decided, stays)
        if not inner:
            continue
        scorer.keep_all_but(inner)
        tokens = sum(decided[i].tokens_after for i in inner)
        standing = {i: each for i, each in enumerate(decided) if i not in inner}
        chosen = standing | selector.choose(inner, int(tokens * left_fraction))
        # What was cut before has been told of where it stood.
        seen = chosen | {i: kept(candidates[i], "") for i, d in standing.items() if d.hides}
        room = int(tokens * TOLD_FRACTION)
        told = compaction.telling.told(units, seen, summaries={}, room_tokens=room)
        held = sum(each.tokens_after for each in decided)
        decided = with_notice(candidates, chosen, told, limit_tokens=held, count=counter.message)
    return decided
