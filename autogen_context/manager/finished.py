"""Cut finished spans when the saving pays for the prompt cache that the cut invalidates.

Promise: everything before the first cut is sent byte for byte as before; no span grows. A span keeps its highest-scored
content in a small room, and a notice in place of the dropped ones describes what was done.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from autogen_context.manager.compaction import CompactionPlanner, left_out, notice_of, with_notice
from autogen_context.manager.parts import Parts, cuts_finished
from autogen_context.prioritizer.prioritizer import Need
from autogen_context.prioritizer.selection import fill, standing
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.triggers.hybrid import SemanticHybridTrigger
from autogen_context.triggers.price import (
    LEFT_FRACTION,
    TOLD_FRACTION,
    FinishedEstimate,
    FinishedSpan,
    Proposals,
    ProposedSpan,
    Rewrite,
    best_cuts,
    estimate,
    offers_of,
)
from autogen_context.view.decision import Candidate, Decision, kept, tokens_of
from autogen_context.view.view import ContextView

if TYPE_CHECKING:
    from autogen_context.manager.engine import Engine


class Finishing:
    """Evaluates and cuts finished spans of one conversation; the proposals can be recomputed from its units."""

    def __init__(self, parts: Parts, *, engine: "Engine") -> None:
        self._engine, config = engine, parts.setup.config
        given = parts.setup.options.get("triggers")
        self._rates = parts.rates
        self._counter = parts.counter
        self._cuts = cuts_finished(config, given)
        triggers = given or SemanticHybridTrigger(
            subtasks=config.enable_subtask_detection,
            intents=config.enable_intent_detection,
            boundaries=config.enable_boundary_detection,
            staleness=config.enable_staleness_detection,
            staleness_threshold=config.staleness_threshold,
            fallback_turns=config.fallback_turns,
        )
        self._proposals = Proposals(triggers, parts.setup.kinds)

    def judge(
        self, view: ContextView, tokens: int, *, now_s: float | None
    ) -> tuple[ContextView, FinishedEstimate | None]:
        """Return the view of a request of ``tokens`` with the best finished spans cut, if that pays, and the estimate, if any.

        With ``dry_run`` there is the estimate alone.
        """
        engine, conversation = self._engine, self._engine.conversation
        since = max(0, view.pace.seen_units - 1)
        if not self._proposals.follow(conversation.candidates, since=since):
            return view, None
        spoken = conversation.voices.instructions
        stays = frozenset(conversation.protected(engine.pinned(view))).union(spoken)
        pace, turns, room = view.pace, view.pace.expected_turns, engine.room(view).tokens
        uncut = Rewrite(
            window_tokens=tokens,
            untouched_tokens=tokens,
            saved_tokens=0,
            new_tokens=engine.new_tokens(view),
        )
        offers = offers_of(self._proposals.spans, view.decisions, stays)
        cold = self._rates.is_cold(idle_s=pace.idle_s(now_s))
        best = best_cuts(offers, uncut, self._rates, turns=turns, is_cold=cold)
        if best is None:
            return view, None
        price, cuts = best
        grown = max(1.0, conversation.tokens / turns)  # tokens per turn
        cost = estimate(
            price,
            waited_tokens=pace.finished_waited_tokens,
            turns=turns,
            is_vain=pace.is_vain(tokens, limit_tokens=engine.window.limit_tokens),
            turns_to_full=max(0, room - tokens) / grown,
        )
        is_done = self._cuts and cost.rewrites
        told = [
            FinishedSpan(
                start=view.decisions[cut.span.start].start,
                stop=view.decisions[cut.span.stop - 1].stop,
                kind=cut.span.kind,
                confidence=cut.span.confidence,
                saved_tokens=cut.saved_tokens,
            )
            for cut in sorted(cuts, key=lambda cut: cut.span.start)
        ]
        # The waited tokens include this turn's saving, which is added again when the turn ends: subtract it.
        saving = 0.0 if is_done else max(0.0, price.saving_tokens)
        waited = 0.0 if is_done else cost.waited_tokens - saving
        pace = replace(pace, finished_waited_tokens=waited, finished_saving_tokens=saving)
        view = replace(view, pace=pace)
        if is_done:
            engine.planner.follow()
            spans = [cut.span for cut in cuts]
            changes = without(
                spans,
                conversation.candidates,
                view.decisions,
                stays=stays,
                planner=engine.planner,
                counter=self._counter,
                room_tokens=room,
            )
            view = engine.rewritten(
                view,
                changes,
                tokens,
                promised_tokens=price.rewrite.saved_tokens,
                since=min(span.start for span in spans),
            )
        return view, FinishedEstimate(spans=tuple(told), cost_estimate=cost, is_done=is_done)


def without(
    spans: Sequence[ProposedSpan],
    candidates: Sequence[Candidate],
    decisions: Sequence[Decision],
    *,
    stays: frozenset[int],
    planner: CompactionPlanner,
    counter: MessageCounter,
    room_tokens: int,
) -> dict[int, Decision]:
    """Return the changed decisions, by unit index, if these spans are cut."""
    decided, references = list(decisions), planner.references
    changes: dict[int, Decision] = {}
    need = Need(room_tokens=room_tokens)
    compared = standing(references, need)
    for span in spans:
        inner = span.inner(decided, stays)
        if not inner:
            continue
        references.cut({*compared, *inner})
        scores = planner.prioritizer.scores(references, need)
        tokens = sum(decided[i].tokens_after for i in inner)
        others = {i: each for i, each in enumerate(decided) if i not in inner}
        sent = {i: each for i, each in others.items() if each.action != "drop"}
        filled = fill(
            references,
            inner,
            taken=sent,
            scores=scores,
            counter=counter,
            room_tokens=int(tokens * LEFT_FRACTION),
        )
        chosen = {**others, **filled.stays}
        # Units cut earlier already have a notice in their place.
        seen = chosen | {i: kept(candidates[i], "") for i, d in others.items() if d.hides}
        room = int(tokens * TOLD_FRACTION)
        told = planner.telling.told(references.units, seen, summaries={}, room_tokens=room)
        dropped = {i: left_out(candidates[i], filled.left.get(i)) for i in inner if i not in chosen}
        messages = sum(len(candidates[i].unit.messages) for i in dropped)
        gone = sum(candidates[i].tokens for i in dropped)
        cut = {**filled.stays, **dropped}
        cut |= with_notice(
            dropped,
            (notice_of(messages, gone, told), notice_of(messages, gone)),
            room_tokens=min(tokens - tokens_of(filled.stays), gone),
            count=counter.message,
        )
        changes |= cut
        for i, decision in cut.items():
            decided[i] = decision
    return changes
