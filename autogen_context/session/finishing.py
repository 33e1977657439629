"""Judge what is finished, and cut it where that was asked for and pays for the cache that it breaks.

Promise: only what triggers proposed is judged, only in a turn in which something new was proposed, and never what must
stay. What stands in front of the first cut is sent as before. A turn costs what is new in it, however long the
conversation is; one that cuts costs what a compaction does.
"""

from collections.abc import Sequence
from functools import cached_property

from autogen_context.session.compacting import Compacting
from autogen_context.session.conversation import Conversation
from autogen_context.session.finished import Finished, FinishedCut
from autogen_context.session.finished_verdict import FinishedSpan, FinishedVerdict
from autogen_context.session.holding import Holding
from autogen_context.session.offers import Offers
from autogen_context.session.proposals import Proposals
from autogen_context.session.rules import Rules, Surroundings
from autogen_context.triggers.hybrid import SemanticHybridTrigger
from autogen_context.triggers.price.cut import Cut, Mark, cheapest, price_of_cuts
from autogen_context.triggers.price.verdict import Verdict, turns_expected
from autogen_context.view.decision import Decision

Chosen = Sequence[tuple[Cut, Finished]]
"""What is best cut, in the order in which it was proposed: what that saves, and the span."""


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
        self._meter = around.meter
        self._proposals = Proposals(
            lambda: SemanticHybridTrigger(rules.triggers, known=around.known_intent), rules.kinds
        )
        self._offers = Offers()

    @cached_property
    def _cut(self) -> FinishedCut:
        """Cuts; made when there is something to cut."""
        compaction = self._compacting.compaction
        return FinishedCut(compaction.references, compaction.telling, self._meter)

    def judge(
        self, used_tokens: int, pinned: frozenset[int], *, acts: bool
    ) -> FinishedVerdict | None:
        """What is best cut of what is finished, and whether that pays.

        Args:
            used_tokens: what the request has beside what is held.
            pinned: positions of pinned messages.
            acts: whether to cut it if it does.

        Returns:
            ``None`` where nothing new was proposed, or there is nothing that brings in what it costs.
        """
        pricing, candidates = self._compacting.pricing, self._conversation.candidates
        if not self._proposals.follow(candidates, since=max(0, pricing.pace.seen_units - 1)):
            return None
        spoken = self._conversation.voices.instructions
        stays = frozenset(self._conversation.protected(pinned)).union(spoken)
        mark = self._mark(used_tokens)
        chosen = self._chosen(stays, mark)
        if not chosen:
            return None
        price = price_of_cuts([cut for cut, _ in chosen], mark, self._rates)
        situation = self._compacting.situation(used_tokens)
        verdict = pricing.finished_verdict(price, situation=situation, acts=acts)
        told = self._told(chosen, verdict, is_done=acts and verdict.rewrites)
        if told.is_done:
            spans = [span for _, span in chosen]
            decisions = self._without(spans, stays)
            promised, since = price.rewrite.saved_tokens, min(span.start for span in spans)
            self._compacting.replace(
                decisions, pinned, situation, promised_tokens=promised, since=since
            )
        return told

    def _mark(self, used_tokens: int) -> Mark:
        pricing = self._compacting.pricing
        return Mark(
            window_tokens=self._holding.held.tokens + used_tokens,
            saved_tokens=0,
            turns=turns_expected(pricing.pace.turns),
            new_tokens=self._compacting.new_tokens,
            is_cold=pricing.is_cold,
        )

    def _chosen(self, stays: frozenset[int], mark: Mark) -> Chosen:
        """What together brings in most."""
        offers = self._offers.of(self._proposals.spans, self._holding.held.decisions, stays)
        best = cheapest([cut for cut, _ in offers], mark, self._rates)
        starts = {cut.start_tokens for cut in best}  # no two begin at one place
        return [(cut, span) for cut, span in offers if cut.start_tokens in starts]

    def _without(self, spans: Sequence[Finished], stays: frozenset[int]) -> tuple[Decision, ...]:
        """What is held, with these cut."""
        self._compacting.compaction.follow(self._conversation)
        decisions, room = self._holding.held.decisions, self._compacting.room_tokens
        return self._cut.cut(self._conversation, decisions, spans, stays=stays, room_tokens=room)

    def _told(self, chosen: Chosen, verdict: Verdict, *, is_done: bool) -> FinishedVerdict:
        """What a user sees, in the host's positions."""
        decisions = self._holding.held.decisions
        spans = sorted(chosen, key=lambda offer: offer[1].start)
        told = (
            FinishedSpan(
                start=decisions[span.start].start,
                stop=decisions[span.stop - 1].stop,
                kind=span.kind,
                confidence=span.confidence,
                saved_tokens=cut.saved_tokens,
            )
            for cut, span in spans
        )
        return FinishedVerdict(spans=tuple(told), verdict=verdict, is_done=is_done)
