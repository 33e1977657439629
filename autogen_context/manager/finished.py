"""Cut what is finished, where that was asked for and pays for the cache that it breaks.

Promise: what stands in front of the first cut is sent to the byte as before; no span grows. Of the rest of a span stays
what is worth most in a small room, and a notice in place of what goes says what was done.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from autogen_context.config.config import ContextConfig
from autogen_context.manager.compaction import CompactionPlanner
from autogen_context.manager.parts import Parts
from autogen_context.manager.plan import left_out, notice_of, with_notice
from autogen_context.prioritizer.prioritizer import Need
from autogen_context.prioritizer.selection import BlockSelector, standing
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.triggers.hybrid import SemanticHybridTrigger
from autogen_context.triggers.price import (
    TOLD_FRACTION,
    FinishedEstimate,
    NextRequest,
    Proposals,
    ProposedSpan,
    is_cold,
    judge_finished,
    left_fraction,
    turns_expected,
)
from autogen_context.triggers.turn import TriggerSettings
from autogen_context.view.decision import Candidate, Decision, kept, tokens_of
from autogen_context.view.view import ContextView

if TYPE_CHECKING:
    from autogen_context.manager.engine import Engine


class Finishing:
    """Judges and cuts what is finished in one conversation; what was proposed can be found again from its units."""

    def __init__(self, parts: Parts, *, engine: "Engine") -> None:
        self._engine = engine
        self._rates = parts.rates
        self._counter = parts.counter
        triggers = parts.triggers or SemanticHybridTrigger(settings_of(parts.config))
        self._proposals = Proposals(triggers, parts.kinds)

    def judge(
        self, view: ContextView, used_tokens: int, *, acts: bool, now_s: float | None
    ) -> tuple[ContextView, FinishedEstimate | None]:
        """The view without what is best cut of what is finished, if that pays and is to be done; and the estimate."""
        engine, conversation = self._engine, self._engine.conversation
        since = max(0, view.pace.seen_units - 1)
        if not self._proposals.follow(conversation.candidates, since=since):
            return view, None
        spoken = conversation.voices.instructions
        stays = frozenset(conversation.protected(engine.pinned(view))).union(spoken)
        situation, room = engine.situation(view, used_tokens), engine.room_tokens(view)
        grown = conversation.tokens / turns_expected(view.pace.turns)
        pace, spans, finished = judge_finished(
            view.pace,
            self._proposals.spans,
            view.decisions,
            stays=stays,
            ahead=NextRequest(
                situation=situation,
                new_tokens=engine.new_tokens(view),
                turns_to_full=max(0, room - situation.movable_tokens) / max(1.0, grown),
                is_cold=is_cold(view.pace, self._rates, now_s),
            ),
            rates=self._rates,
            acts=acts,
        )
        view = replace(view, pace=pace)
        if finished is None:
            return view, None
        if finished.is_done:
            engine.planner.follow(conversation)
            changes = without(
                spans,
                conversation.candidates,
                view.decisions,
                stays=stays,
                planner=engine.planner,
                counter=self._counter,
                room_tokens=room,
                left_fraction=left_fraction(self._rates),
            )
            view = engine.rewritten(
                view,
                changes,
                situation,
                promised_tokens=finished.cost_estimate.price.rewrite.saved_tokens,
                since=min(span.start for span in spans),
            )
        return view, finished


def settings_of(config: ContextConfig) -> TriggerSettings:
    """Which triggers propose that something is finished."""
    return TriggerSettings(
        subtasks=config.enable_subtask_detection,
        intents=config.enable_intent_detection,
        boundaries=config.enable_boundary_detection,
        staleness=config.enable_staleness_detection,
        staleness_threshold=config.staleness_threshold,
        fallback_turns=config.fallback_turns,
    )


def without(
    spans: Sequence[ProposedSpan],
    candidates: Sequence[Candidate],
    decisions: Sequence[Decision],
    *,
    stays: frozenset[int],
    planner: CompactionPlanner,
    counter: MessageCounter,
    room_tokens: int,
    left_fraction: float,
) -> dict[int, Decision]:
    """What becomes of units, by position, where these spans are cut."""
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
        selector = BlockSelector(references, counter, scores)
        tokens = sum(decided[i].tokens_after for i in inner)
        others = {i: each for i, each in enumerate(decided) if i not in inner}
        sent = {i: each for i, each in others.items() if each.action != "drop"}
        filled = selector.fill(sent, int(tokens * left_fraction), among=inner)
        chosen = {**others, **filled.stays}
        # What was cut before has been told of where it stood.
        seen = chosen | {i: kept(candidates[i], "") for i, d in others.items() if d.hides}
        room = int(tokens * TOLD_FRACTION)
        told = planner.telling.told(references.units, seen, summaries={}, room_tokens=room)
        dropped = {
            i: filled.left.get(i) or left_out(candidates[i]) for i in inner if i not in chosen
        }
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
