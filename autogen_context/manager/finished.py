"""Cut finished spans when the saving pays for the prompt cache that the cut invalidates.

Promise: everything before the first cut is sent byte for byte as before; no span grows. A span keeps its highest-scored
content in a small room, and a notice in place of the dropped ones describes what was done.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from autogen_context.manager.compaction import CompactionPlanner, stated
from autogen_context.manager.cut import Stretch
from autogen_context.manager.parts import Setup
from autogen_context.manager.room import RequestRoom
from autogen_context.prioritizer.prioritizer import Need
from autogen_context.prioritizer.selection import within_horizon
from autogen_context.tokens.prices import RewritePrice, estimate
from autogen_context.triggers.intent import KnownIntent
from autogen_context.triggers.proposals import (
    LEFT_FRACTION,
    NOTICE_FRACTION,
    FinishedEstimate,
    FinishedSpan,
    Offer,
    Proposals,
    ProposedSpan,
    best_cuts,
    offers_of,
)
from autogen_context.view.decision import Decision
from autogen_context.view.view import ContextView, Pace


class Finishing:
    """Judges the finished spans of one conversation; the proposals can be recomputed from its units."""

    def __init__(self, setup: Setup, planner: CompactionPlanner, known: KnownIntent | None) -> None:
        self._planner, self._rates, self._cuts = planner, setup.rates, setup.cuts_finished
        own = setup.options.get("triggers")
        trigger = own or setup.config.hybrid_trigger(known=known)
        self._proposals = Proposals(trigger, setup.kinds)

    def judged(
        self,
        view: ContextView,
        room: RequestRoom,
        whole: RewritePrice,
        pinned: frozenset[int],
    ) -> tuple[Pace, FinishedEstimate | None, dict[int, Decision]]:
        """Return the next pace, the estimate for the best finished spans, if any, and the decisions by which they are cut.

        ``whole`` is the price of a compaction instead. With ``dry_run`` nothing is cut.
        """
        conversation, pace, turns = self._planner.conversation, view.pace, view.pace.turns + 1
        overview = conversation.overview
        conversation.index.follow(self._proposals, stop=max(0, len(conversation.candidates) - 1))
        if self._proposals.fired_at < max(0, pace.seen_units - 1):
            return pace, None, {}
        stays = frozenset(conversation.protected(pinned)).union(
            overview.possible_people, overview.instructions
        )
        offers = offers_of(self._proposals.spans, view.decisions, stays)
        tokens = room.needed_tokens
        uncut = replace(whole.rewrite, untouched_tokens=tokens, saved_tokens=0)
        best = best_cuts(offers, uncut, self._rates, turns=turns, is_cold=whole.is_cold)
        if best is None:
            return pace, None, {}
        price, cuts = best
        grown = max(1.0, conversation.tokens / turns)  # tokens per turn
        cost = estimate(
            price,
            waited_tokens=pace.finished_waited_tokens,
            turns=turns,
            is_vain=tokens < pace.retry_at_tokens,
            turns_to_full=max(0, room.tokens - tokens) / grown,
        )
        is_done = self._cuts and cost.rewrites
        # The waited tokens include this turn's saving, which is added again when the turn ends: subtract it.
        saving = 0.0 if is_done else max(0.0, price.saving_tokens)
        waited = 0.0 if is_done else cost.waited_tokens - saving
        pace = replace(pace, finished_waited_tokens=waited, finished_saving_tokens=saving)
        spans = tuple(spans_of(cuts, view.decisions))
        finished = FinishedEstimate(spans=spans, cost_estimate=cost, is_done=is_done)
        if not is_done:
            return pace, finished, {}
        return pace, finished, self._without([cut.span for cut in cuts], view, stays, room.tokens)

    def _without(
        self,
        spans: Iterable[ProposedSpan],
        view: ContextView,
        stays: frozenset[int],
        room_tokens: int,
    ) -> dict[int, Decision]:
        """Return the changed decisions, by unit index, if these spans are cut."""
        planner, changes = self._planner, dict[int, Decision]()
        decided, candidates = list(view.decisions), planner.conversation.candidates
        planner.follow()
        need, in_force = Need(room_tokens=room_tokens), stated(view.notices.in_force)
        compared = within_horizon(planner.references, need)
        for span in spans:
            inner = span.inner(decided, stays)
            if not inner:
                continue
            tokens = sum(decided[i].tokens_after for i in inner)
            stretch = Stretch(
                before=view.decisions,
                in_force=in_force,
                units=inner,
                among=inner,
                outside={i: each for i, each in enumerate(decided) if i not in inner},
                messages=sum(len(candidates[i].unit.messages) for i in inner),
                tokens=sum(candidates[i].tokens for i in inner),
                limit_tokens=tokens,
                room_tokens=int(tokens * LEFT_FRACTION),
                notice_tokens=int(tokens * NOTICE_FRACTION),
            )
            cut = planner.cut(stretch, need, compared=compared).decided
            changes |= cut
            for i, decision in cut.items():
                decided[i] = decision
        return changes


def spans_of(cuts: Iterable[Offer], decisions: Sequence[Decision]) -> list[FinishedSpan]:
    """Return the spans that are cut, in order."""
    return [
        FinishedSpan(
            start=decisions[cut.span.start].start,
            stop=decisions[cut.span.stop - 1].stop,
            kind=cut.span.kind,
            confidence=cut.span.confidence,
            saved_tokens=cut.saved_tokens,
        )
        for cut in sorted(cuts, key=lambda cut: cut.span.start)
    ]
