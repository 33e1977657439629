"""Cut what is finished, where that pays for the cache that it breaks.

Promise: only what triggers proposed is cut, only in a turn in which something new was proposed, and never what must stay.
What stands in front of the first cut is sent as before.
"""

from autogen_context.pipeline.floors import floors_of
from autogen_context.pipeline.price.cut import Cut, Mark, cheapest, price_of_cuts
from autogen_context.pipeline.price.verdict import Verdict, turns_expected
from autogen_context.pipeline.trigger.hybrid import SemanticHybridTrigger
from autogen_context.session.compacting import Compacting
from autogen_context.session.conversation import Conversation
from autogen_context.session.finished import LEFT_SHARE, TOLD_SHARE, Finished, FinishedCut
from autogen_context.session.holding import Holding
from autogen_context.session.proposals import Proposals
from autogen_context.session.rules import Rules, Surroundings

LEAST_TOKENS = 64  # that a cut saves; a notice and marks cost about as much


class Finishing:
    """Cuts what is finished in one conversation.

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
        self.proposals = Proposals(lambda: SemanticHybridTrigger(rules.triggers), rules.kinds)
        compaction = compacting.compaction
        self._cut = FinishedCut(compaction.references, compaction.telling, around.meter)

    def turn(self, used_tokens: int, pinned: frozenset[int]) -> Verdict | None:
        """Cut what is finished if that pays; the verdict, if anything new was proposed.

        Args:
            used_tokens: what the request has beside what is held.
            pinned: positions of pinned messages.
        """
        pricing, candidates = self._compacting.pricing, self._conversation.candidates
        if not self.proposals.follow(candidates, since=max(0, pricing.pace.seen_units - 1)):
            return None
        stays = frozenset(floors_of(candidates, pinned))
        offers = self._offers(stays)
        mark = Mark(
            window_tokens=self._holding.held.tokens + used_tokens,
            saved_tokens=0,
            turns=turns_expected(pricing.pace.turns),
            new_tokens=self._compacting.new_tokens,
            is_cold=pricing.is_cold,
        )
        chosen = cheapest([cut for cut, _ in offers], mark, self._rates) if offers else []
        if not chosen:
            return None
        price = price_of_cuts(chosen, mark, self._rates)
        situation = self._compacting.situation(used_tokens)
        verdict = pricing.finished_verdict(price, situation=situation)
        if verdict.rewrites:
            promised = sum(cut.saved_tokens for cut in chosen)
            spans = [span for cut, span in offers if cut in chosen]
            self._compacting.compaction.follow(self._conversation)
            decisions = self._cut.cut(
                self._conversation,
                self._holding.held.decisions,
                spans,
                stays=stays,
                room_tokens=self._compacting.room_tokens,
            )
            first = min(span.start for span in spans)
            self._compacting.replace(
                decisions, pinned, situation, promised_tokens=promised, since=first
            )
        return verdict

    def _offers(self, stays: frozenset[int]) -> list[tuple[Cut, Finished]]:
        """What may be cut, without overlaps, and what that saves."""
        decisions = self._holding.held.decisions
        starts = [0]
        for decision in decisions:
            starts.append(starts[-1] + decision.tokens_after)
        offers: list[tuple[Cut, Finished]] = []
        taken: set[int] = set()
        for span in self.proposals.spans:
            inner = [i for i in span.inner(decisions, stays) if i not in taken]
            taken.update(inner)
            tokens = sum(decisions[i].tokens_after for i in inner)
            saved = int(tokens * (1 - LEFT_SHARE - TOLD_SHARE))
            if saved >= LEAST_TOKENS:
                start, stop = starts[inner[0]], starts[inner[-1] + 1]
                cut = Cut(start_tokens=start, tokens=stop - start, saved_tokens=saved)
                offers.append((cut, span))
        return offers
