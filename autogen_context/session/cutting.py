"""Cut what is finished, where that was asked for and pays for the cache that it breaks.

Promise: what stands in front of the first cut is sent to the byte as before; no span grows. Of the rest of a span stays
what is worth most in a small room, and a notice in place of what goes says what was done.
"""

from collections.abc import Sequence

from autogen_context.prioritizer.block_score import ValueScorer
from autogen_context.prioritizer.selection import BlockSelector
from autogen_context.session.compacting import Compacting
from autogen_context.session.compaction import Compaction
from autogen_context.session.conversation import Conversation
from autogen_context.session.holding import Holding
from autogen_context.session.plan import with_notice
from autogen_context.session.rules import Rules, Surroundings
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.triggers.finished import (
    TOLD_FRACTION,
    Finished,
    FinishedEstimate,
    NextRequest,
    Proposals,
    ProposedSpan,
    judge_finished,
    left_fraction,
)
from autogen_context.triggers.hybrid import SemanticHybridTrigger
from autogen_context.triggers.price import turns_expected
from autogen_context.view.decision import Candidate, Decision, kept
from autogen_context.view.pace import Situation


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
        self._counter = around.counter
        self._proposals = Proposals(
            around.triggers or SemanticHybridTrigger(rules.triggers), rules.kinds
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
        compacting, conversation = self._compacting, self._conversation
        since = max(0, compacting.pace.seen_units - 1)
        if not self._proposals.follow(conversation.candidates, since=since):
            return None
        spoken = conversation.voices.instructions
        stays = frozenset(conversation.protected(pinned)).union(spoken)
        situation = compacting.situation(used_tokens)
        compacting.pace, finished = judge_finished(
            compacting.pace,
            self._proposals.spans,
            self._holding.held.decisions,
            stays=stays,
            ahead=NextRequest(
                situation=situation,
                new_tokens=compacting.new_tokens,
                turns_to_full=self._turns_to_full(situation.movable_tokens),
                is_cold=compacting.is_cold,
            ),
            rates=self._rates,
            acts=acts,
        )
        if finished is None:
            return None
        is_done = acts and finished.cost.rewrites
        if is_done:
            self._cut(finished, stays, pinned, situation)
        return FinishedEstimate(spans=finished.told, cost_estimate=finished.cost, is_done=is_done)

    def _cut(
        self,
        finished: Finished,
        stays: frozenset[int],
        pinned: frozenset[int],
        situation: Situation,
    ) -> None:
        compacting, conversation = self._compacting, self._conversation
        compacting.compaction.follow(conversation)
        decisions = without(
            finished.spans,
            conversation.candidates,
            self._holding.held.decisions,
            stays=stays,
            compaction=compacting.compaction,
            counter=self._counter,
            room_tokens=compacting.room_tokens,
            left_fraction=left_fraction(self._rates),
        )
        compacting.replace(
            decisions,
            pinned,
            situation,
            promised_tokens=finished.cost.price.rewrite.saved_tokens,
            since=min(span.start for span in finished.spans),
        )

    def _turns_to_full(self, window_tokens: int) -> float:
        """How many more turns fit, if the conversation goes on growing as it has."""
        grown = self._conversation.tokens / turns_expected(self._compacting.pace.turns)
        return max(0, self._compacting.room_tokens - window_tokens) / max(1.0, grown)


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
