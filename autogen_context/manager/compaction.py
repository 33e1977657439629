"""What a compaction decides: what of a conversation stays in a room.

Promise: the same conversation in the same room gives the same decisions. Indexes are caught up here, when they are
needed; a turn that holds reads nothing of it.

What stays beside what must stay is what later turns are likely to name again. Only where the newest message is a person's
who asks for the past is it what answers that, and then it may fill more of the room.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from autogen_context.budget.policy import BudgetRequest, CompactionBudget, Section
from autogen_context.budget.task import TaskDefinition
from autogen_context.compressor.eviction_notice import EvictionNotice
from autogen_context.compressor.shorten import fit_pieces
from autogen_context.compressor.span import Span, Spans
from autogen_context.ledger import Entry, Kind
from autogen_context.ledger.rendering import entry_of
from autogen_context.manager.parts import Parts
from autogen_context.manager.plan import Means, plan
from autogen_context.messages.identifiers import is_telling
from autogen_context.messages.piece import Piece, messages_of
from autogen_context.prioritizer.advice import Advice, key_of
from autogen_context.prioritizer.prioritizer import ContextPrioritizer, Need
from autogen_context.prioritizer.references import References
from autogen_context.prioritizer.selection import (
    BlockSelector,
    Explanation,
    efficiency_of,
    explained,
    standing,
)
from autogen_context.recall.exchanges import said_now
from autogen_context.view.conversation import Conversation
from autogen_context.view.decision import Candidate, Decision, Decisions
from autogen_context.view.notice import Name, Notice, Notices, Topic

STATED: Mapping[Topic, Kind] = {"requirement": "constraint", "decision": "decision"}


class CompactionPlanner:
    """Plans a conversation anew."""

    def __init__(self, parts: Parts) -> None:
        self._counter = parts.counter
        self._memory = parts.memory
        self._compressor = parts.compressor
        self._known = parts.summaries
        self._budget = parts.budget
        self._advice = parts.advice
        self._spans = Spans(parts.config.people)
        self.prioritizer = parts.prioritizer or ContextPrioritizer()
        self.references = References(parts.kinds)
        self.telling: EvictionNotice[Name] = EvictionNotice(
            parts.counter, parts.config.people, compressor=parts.compressor
        )

    def follow(self, conversation: Conversation) -> None:
        """Read all that was not read yet."""
        self.references.follow(conversation.candidates)
        self.telling.follow(conversation.messages)

    def planned(
        self,
        conversation: Conversation,
        *,
        before: Decisions,
        limit_tokens: int,
        fixed_tokens: int,
        pinned: frozenset[int],
        notices: Notices,
        stale: frozenset[int],
    ) -> dict[int, Decision]:
        """A decision for each unit of which something was sent or may be, by position."""
        candidates = conversation.candidates
        self.follow(conversation)
        protected = conversation.protected(pinned)
        request = conversation.newest_request
        advice = self._advice.get(key_of(request)) if self._advice else None
        need = self._need(conversation, limit_tokens, stale)
        compared = standing(self.references, need)
        self.references.cut(compared)
        near = (
            standing(self.references, replace(need, relevance={})) if need.relevance else compared
        )
        reach = near[0] if near else 0
        self.telling.note(self.references.units, until=reach)
        self.telling.statements = stated(notices.standing)
        summaries = self._summaries(conversation, limit_tokens, pinned)
        task = TaskDefinition.from_text(request)
        budget = self._budget.for_compaction(
            BudgetRequest(
                room_tokens=limit_tokens,
                fixed_tokens=fixed_tokens,
                task=task if advice is None else advice.applied_to(task),
                messages=len(conversation.messages),
                asks_back=bool(need.relevance),
                has_summaries=bool(summaries),
            )
        )
        scores = self.prioritizer.scores(self.references, need)
        return plan(
            candidates,
            before=before,
            compared={*before.live, *compared, *near},
            protected=protected,
            said=self.telling.said(
                candidates,
                conversation.voices.instructions,
                conversation.messages,
                long_tokens=budget.long_message_tokens,
                reach=reach,
                is_used=self._is_used,
            ),
            history_tokens=conversation.tokens,
            limit_tokens=limit_tokens - fixed_tokens,
            budget=budget,
            means=Means(
                fit=lambda candidate, tokens: self._fit(conversation, candidate, tokens),
                fill=BlockSelector(
                    self.references, self._counter, scores, self._shares(budget)
                ).fill,
                tell=lambda decided, tokens: self.telling.told(
                    self.references.units,
                    decided,
                    summaries=summaries,
                    room_tokens=tokens,
                    reach=reach,
                ),
                count=self._counter.message,
            ),
        )

    def overruled(self) -> frozenset[Name]:
        """The notices about which messages had said something else at the last plan."""
        return self.telling.overruled()

    def spans(
        self, conversation: Conversation, room_tokens: int, pinned: frozenset[int]
    ) -> list[Span]:
        """What of a conversation will go before the rest, in parts that are summarised apart."""
        return self._spans.of(
            conversation.candidates, stays=conversation.protected(pinned), room_tokens=room_tokens
        )

    def explained(
        self,
        decision: Decision,
        at: int,
        conversation: Conversation,
        room_tokens: int,
        stale: frozenset[int],
    ) -> Explanation:
        """What became of the unit at a position, and why; arguments as of ``planned``."""
        self.references.follow(conversation.candidates)
        need = self._need(conversation, room_tokens, stale)
        units, unit = standing(self.references, need), None
        if at < len(self.references.units):
            self.references.cut([*units, at])
            unit = self.references.units[at]
        return explained(decision, at, unit, self.prioritizer.scores(self.references, need))

    def _need(self, conversation: Conversation, room_tokens: int, stale: frozenset[int]) -> Need:
        """What is chosen for."""
        task = conversation.newest_request
        advice: Advice | None = self._advice.get(key_of(task)) if self._advice else None
        return Need(
            room_tokens=room_tokens,
            task=task,
            relevance=self._asked_for(conversation),
            stale=stale,
            advised={} if advice is None else advice.multipliers,
        )

    def _shares(self, budget: CompactionBudget) -> dict[Section, int] | None:
        """What each section may have of the room, in tokens; None where the score alone decides."""
        if budget.sections is None:
            return None
        shares = efficiency_of(self.references).moved(budget.sections)
        filled = budget.total_tokens * budget.kept_fraction
        return {section: int(filled * share) for section, share in shares.items()}

    def _is_used(self, unit: int) -> bool:
        """Whether the model has named all that a person named in a unit: it was of use, and stands where it was used."""
        named = [value for value in self.references.units[unit].named.asked if is_telling(value)]
        uses = (self.references.uses(value) for value in named)
        return bool(named) and all(used and used[-1] > unit for used in uses)

    def _summaries(
        self, conversation: Conversation, room_tokens: int, pinned: frozenset[int]
    ) -> dict[Span, str]:
        """What a model made of them so far."""
        spans = self.spans(conversation, room_tokens, pinned) if self._known else []
        return {span: self._known[span.key] for span in spans if span.key in self._known}

    def _asked_for(self, conversation: Conversation) -> dict[int, float]:
        """What messages have to do with the newest one, if that asks for the past; else nothing."""
        query = said_now(conversation.messages)
        if not query:
            return {}
        # Its wording decides: what is known depends on what was read, and here nothing must have been read yet. What is
        # asked for all of it matches nothing more than the rest.
        verdict = self._memory.judge(query, conversation.messages)
        if not verdict.retrieve or verdict.kind == "summary":
            return {}
        self._memory.follow(conversation.messages[:-1])  # a question is no answer to itself
        return self._memory.scores(query)

    def _fit(
        self, conversation: Conversation, candidate: Candidate, room_tokens: int
    ) -> tuple[tuple[Piece, ...], int] | None:
        return fit_pieces(
            candidate.pieces,
            messages_of(candidate.pieces, conversation.messages),
            room_tokens=room_tokens,
            counter=self._counter,
            keep_calls=bool(candidate.unit.unanswered),
            shorten=self._compressor.shorten,
        )


def stated(notices: Iterable[Notice]) -> dict[Name, Entry]:
    """What some notices state, as a person's words."""
    return {
        notice.name: entry_of(STATED[notice.topic], notice.text, "person", notice.position)
        for notice in notices
        if notice.topic in STATED
    }
