"""Plans a compaction: which units and blocks of a conversation are kept.

Promise: the same conversation in the same room gives the same decisions; they fit, and protected messages are kept. Indexes
are updated here, and units that left long ago are not examined again.

Order: protected messages; people's messages within their fraction; the newest units, whole; then blocks of older units by
score, or by relevance if a person asks about the past, which may then fill more of the room.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import NamedTuple

from autogen_context.budget.policy import BudgetRequest, CompactionBudget, Section
from autogen_context.compressor.extract import fill
from autogen_context.compressor.notice import EvictionNotice
from autogen_context.compressor.people import PeoplesRoom, PeoplesWords
from autogen_context.compressor.shorten import fit_pieces
from autogen_context.compressor.summaries import Span, Spans
from autogen_context.ledger import Entry, StatementKind
from autogen_context.ledger.rendering import entry_of
from autogen_context.manager.cut import (
    Cut,
    Stretch,
    left_again,
    left_out,
    notice_message,
    with_notice,
)
from autogen_context.manager.goal import Wanted, wanted_of
from autogen_context.manager.parts import Setup
from autogen_context.manager.prefetch import Prefetcher
from autogen_context.messages.identifiers import is_distinctive
from autogen_context.messages.piece import Piece, messages_of
from autogen_context.prioritizer.advice import Advice, key_of
from autogen_context.prioritizer.prioritizer import Need
from autogen_context.prioritizer.record import ConversationRecord
from autogen_context.prioritizer.references import References
from autogen_context.prioritizer.selection import considered, efficiency_of
from autogen_context.prioritizer.superseded import Superseded
from autogen_context.recall.exchanges import IMMEDIATE_EXCHANGES, why_dropped
from autogen_context.text.fit import fit
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.view.conversation import Conversation
from autogen_context.view.decision import (
    Candidate,
    Decision,
    Decisions,
    Why,
    kept,
    replaced,
    tokens_of,
)
from autogen_context.view.explanation import Reasoned
from autogen_context.view.notice import Name, Notice, Topic
from autogen_context.view.protected import Protection, choose_protected
from autogen_context.view.view import ContextView

REPEATED = "the same system message is sent once"
FRAME = "-"  # a placeholder, to measure the notice without its content
NOTHING_SUMMED: Mapping[Span, str] = {}
STATED: Mapping[Topic, StatementKind] = {"requirement": "constraint", "decision": "decision"}


class Plan(NamedTuple):
    """What a compaction decides."""

    decided: Mapping[int, Decision]  # by index of the unit
    reasoned: Mapping[int, Reasoned]  # why, of those that were compared and are still considered
    overruled: frozenset[Name]  # notices that later messages contradict


class CompactionPlanner:
    """Plans the compactions of one conversation."""

    def __init__(
        self,
        setup: Setup,
        counter: MessageCounter,
        ready: Prefetcher,
        conversation: Conversation,
        superseded: Superseded,
    ) -> None:
        self.conversation = conversation
        self.counter = counter
        self._setup, self._ready = setup, ready
        self._spans = Spans()
        self.prioritizer = setup.prioritizer
        self.references = References(setup.kinds, superseded)
        self.eviction_notice = EvictionNotice(
            counter, compressor=setup.compressor, kinds=setup.kinds
        )
        self.peoples_words = PeoplesWords(counter, setup.compressor)

    def follow(self) -> None:
        """Bring what a plan asks for up to date."""
        references = self.references
        parts = references.superseded, references, self.eviction_notice, self.peoples_words
        self.conversation.index.follow(*parts)

    def stated(self, recorded: Iterable[Entry]) -> list[Entry]:
        """Return what is stated and still holds, after what was recorded of messages that the host cut."""
        return self.eviction_notice.stated(self.conversation.index, recorded)

    def planned(
        self,
        view: ContextView,
        *,
        limit_tokens: int,
        fixed_tokens: int,
        pinned: frozenset[int],
        stale: frozenset[int],
        known: Mapping[int, Reasoned],
    ) -> Plan:
        """Decide on the units by index; those without a decision were not sent before and are not sent now.

        ``known`` are the reasons of the last plan. Raises ``ContextWindowExceeded`` if the protected units do not fit in addition to ``fixed_tokens``, not even shortened.
        """
        self.follow()
        conversation, candidates = self.conversation, self.conversation.candidates
        wanted, limit = wanted_of(view, conversation), limit_tokens - fixed_tokens
        advice = self._ready.advice.get(key_of(wanted.lasting)) if self._ready.advice else None
        need = Need(
            room_tokens=limit_tokens,
            task=wanted.text,
            relevance=self._asked_for(),
            stale=stale,
            advised=advice.multipliers if advice else {},
        )
        compared, near = considered(self.references, need)
        horizon = near[0] if near else 0
        summaries = NOTHING_SUMMED
        if self._ready.summaries:
            summaries = self._ready.ready(self.spans(limit_tokens, pinned))
        budget = self._budget_for(need, wanted, advice, fixed_tokens, has_summaries=bool(summaries))
        total, protected = budget.total_tokens, conversation.protected(pinned)
        asked = {*view.decisions.live, *compared, *near, *protected}
        needless = self._needless(asked, protected)

        # In their order: protected units, people's messages, the newest units, and of the rest the highest scores.
        firm = choose_protected(candidates, protected, limit_tokens=limit, fit=self._fit)
        messages = candidates[-1].unit.stop if candidates else 0
        frame = self.counter.message(notice_message(messages, conversation.tokens, FRAME))
        unprotected = int((total - tokens_of(firm)) * budget.kept_fraction) - frame
        people = self._people(need, budget, firm, needless, protected, horizon)
        unprotected = min(unprotected, total - tokens_of(firm | people) - frame)
        taken = firm | people | needless
        newest = newest_first(candidates, taken, budget=budget, unprotected_tokens=unprotected)
        notice_tokens = max(0, int(unprotected * budget.notice_fraction))
        stretch = Stretch(
            before=view.decisions,
            in_force=stated(view.notices.in_force),
            units=asked,
            among=[i for i in compared if i not in needless],
            stays=firm | people | newest,
            leaves=needless,
            messages=messages,
            tokens=conversation.tokens,
            limit_tokens=limit,
            room_tokens=max(0, unprotected - tokens_of(newest) - notice_tokens),
            notice_tokens=notice_tokens,
        )
        cut = self.cut(stretch, need, budget=budget, summaries=summaries, horizon=horizon)
        return Plan(
            decided=cut.decided,
            reasoned=self._explained(view.decisions, cut, known),
            overruled=self.eviction_notice.overruled(stretch.in_force),
        )

    def cut(
        self,
        stretch: Stretch,
        need: Need,
        *,
        compared: Iterable[int] = (),
        budget: CompactionBudget | None = None,
        summaries: Mapping[Span, str] = NOTHING_SUMMED,
        horizon: int = 0,
    ) -> Cut:
        """Cut a full window, or finished work: choose among its units by score, drop the others, and tell what was in them.

        Scores compare the units of the stretch, and those ``compared`` with them. Units before ``horizon`` are in the action log.
        """
        references, candidates = self.references, self.conversation.candidates
        references.cut({*compared, *stretch.among})
        scores = self.prioritizer.scores(ConversationRecord(references), need)
        filled = fill(
            references,
            stretch.among,
            taken={**stretch.sent, **stretch.stays, **stretch.leaves},
            scores=scores,
            counter=self.counter,
            compressor=self._setup.compressor,
            room_tokens=stretch.room_tokens,
            shares=self._shares(budget) if budget else None,
        )
        chosen = {**stretch.stays, **filled.stays}
        dropped = {
            i: left_again(stretch.before, i)
            or stretch.leaves.get(i)
            or left_out(candidates[i], filled.left.get(i))
            for i in sorted({*stretch.units, *filled.left}.difference(chosen))
        }
        content = self.eviction_notice.content(
            candidates,
            {**stretch.known(candidates), **chosen},
            in_force=stretch.in_force,
            summaries=summaries,
            room_tokens=stretch.notice_tokens,
            horizon=horizon,
        )
        messages = stretch.messages - sum(len(candidates[i].unit.messages) for i in chosen)
        gone = stretch.tokens - sum(candidates[i].tokens for i in chosen)
        room = min(stretch.limit_tokens - tokens_of(chosen) - tokens_of(dropped), gone)
        notices = notice_message(messages, gone, content), notice_message(messages, gone)
        notice = with_notice(dropped, notices, room_tokens=room, count=self.counter.message)
        return Cut(chosen=chosen, dropped=dropped, notice=notice, scores=scores)

    def _explained(
        self, before: Decisions, cut: Cut, known: Mapping[int, Reasoned]
    ) -> dict[int, Reasoned]:
        """Return the reasons of what was decided by score: now, or before if it left then, while it is under consideration."""
        decided = cut.decided
        new = {
            i: Reasoned(decided[i], cut.scores.reasons(i))
            for i in self.references.considered
            if i in decided and decided[i].rank
            if not (i in known and i < len(before) and decided[i] is before[i])
        }
        return {i: known[i] for i in self.references.considered if i in known} | new

    def _people(
        self,
        need: Need,
        budget: CompactionBudget,
        firm: Mapping[int, Decision],
        needless: Mapping[int, Decision],
        protected: Mapping[int, Protection],
        horizon: int,
    ) -> dict[int, Decision]:
        """Return what stays of what people said; for a question about the past only rules, since what answers it goes before."""
        own = sum(
            decision.tokens_after
            for i, decision in firm.items()
            if protected[i] in ("task", "instruction")
        )
        total, free = budget.total_tokens, budget.total_tokens - tokens_of(firm)
        part = budget.people_fraction * max(0, free + own) ** 2 / max(1, total)
        room = PeoplesRoom(
            total=free + own,
            own=own,
            guaranteed=min(int(part) - own, free // 2),
            sure_fraction=budget.stated_fraction,
            long=budget.long_message_tokens,
        )
        conversation = self.conversation
        return self.peoples_words.kept(
            conversation.candidates,
            conversation.overview,
            conversation.messages,
            room=room,
            taken={*firm, *needless},
            horizon=horizon,
            is_used=self._is_used,
            only_rules=bool(need.relevance),
        )

    def _needless(
        self, units: Iterable[int], protected: Mapping[int, Protection]
    ) -> dict[int, Decision]:
        """Drop what is sent once already or says nothing: repeated system messages, courtesies before the last exchanges."""
        candidates, overview = self.conversation.candidates, self.conversation.overview
        systems, said = frozenset(overview.systems), overview.instructions[-IMMEDIATE_EXCHANGES:]
        sent = {candidates[i].unit.messages[0].text for i in systems.intersection(protected)}
        found: dict[int, Decision] = {}
        for i in set(units).difference(protected):
            messages, why = candidates[i].unit.messages, ""
            if i in systems:
                why = REPEATED if messages[0].text in sent else ""
            elif i < min(said, default=0) and len(messages) == 1:
                why = why_dropped(messages[0], candidates[i - 1].unit.messages[-1] if i else None)
            if why:
                found[i] = replaced(candidates[i], "drop", Why.LEFT_OUT, detail=why)
        return found

    def _budget_for(
        self,
        need: Need,
        wanted: Wanted,
        advice: Advice | None,
        fixed_tokens: int,
        *,
        has_summaries: bool,
    ) -> CompactionBudget:
        """Return how much is kept, and of what."""
        task = wanted.task
        request = BudgetRequest(
            room_tokens=need.room_tokens,
            fixed_tokens=fixed_tokens,
            task=advice.applied_to(task) if advice else task,
            messages=len(self.conversation.messages),
            asks_back=bool(need.relevance),
            has_summaries=has_summaries,
        )
        budget = self._setup.budget.for_compaction(request)
        total = max(0, min(need.room_tokens - fixed_tokens, budget.total_tokens))
        return replace(budget, total_tokens=total)

    def spans(self, room_tokens: int, pinned: frozenset[int]) -> list[Span]:
        """Return the spans that will leave first, each to be summarised separately."""
        stays = self.conversation.protected(pinned)
        return self._spans.of(self.conversation.index, stays=stays, room_tokens=room_tokens)

    def _shares(self, budget: CompactionBudget) -> dict[Section, int] | None:
        """Return the tokens of each section; ``None`` if the score alone decides."""
        if budget.sections is None:
            return None
        shares = efficiency_of(self.references).moved(budget.sections)
        filled = budget.total_tokens * budget.kept_fraction
        return {section: int(filled * share) for section, share in shares.items()}

    def _is_used(self, unit: int) -> bool:
        """Whether the model used all values of a person's message later, so that they stand there as well."""
        named = [
            value for value in self.references.units[unit].named.asked if is_distinctive(value)
        ]
        uses = (self.references.uses(value) for value in named)
        return bool(named) and all(used and used[-1] > unit for used in uses)

    def _asked_for(self) -> dict[int, float]:
        """Return the relevance of messages to the newest one, if that asks about the past; else nothing."""
        messages = self.conversation.messages
        query = self.conversation.said_now
        if not query:
            return {}
        # Only the wording decides here, as the index may not be up to date. A request for a summary of everything matches
        # nothing in particular.
        verdict = self._ready.memory.judge(query, messages)
        if not verdict.retrieve or verdict.kind == "summary":
            return {}
        behind = len(self.conversation.candidates) - 1  # a question is no answer to itself
        self.conversation.index.follow(self._ready.memory, stop=behind)
        return self._ready.memory.scores(query)

    def _fit(self, candidate: Candidate, room_tokens: int) -> tuple[tuple[Piece, ...], int] | None:
        return fit_pieces(
            candidate.pieces,
            messages_of(candidate.pieces, self.conversation.messages),
            room_tokens=room_tokens,
            counter=self.counter,
            keep_calls=bool(candidate.unit.unanswered),
            shorten=self._setup.compressor.shorten,
        )


def stated(notices: Iterable[Notice]) -> dict[Name, Entry]:
    """Return the statements of notices as ledger entries."""
    return {
        notice.name: entry_of(STATED[notice.topic], notice.text, "person", notice.position)
        for notice in notices
        if notice.topic in STATED
    }


def newest_first(
    candidates: Sequence[Candidate],
    taken: Mapping[int, Decision],
    *,
    budget: CompactionBudget,
    unprotected_tokens: int,
) -> dict[int, Decision]:
    """Keep the newest units within their fraction, back to the first that does not fit; the newest alone may exceed it."""
    left = (i for i in range(len(candidates) - 1, -1, -1) if i not in taken)
    newest, room = [*islice(left, 1)], int(budget.newest_fraction * unprotected_tokens)
    for i in newest:
        if candidates[i].tokens <= budget.newest_unit_fraction * unprotected_tokens:
            room = max(room, candidates[i].tokens)
    chosen = fit(
        chain(newest, left), room, cost=lambda i: candidates[i].tokens, ends=lambda _: True
    )
    return {i: kept(candidates[i], Why.RECENT) for i in chosen.kept}
