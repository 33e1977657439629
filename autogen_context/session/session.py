"""One conversation: what came in, what is held, what is pinned, what it was before, and its turns.

Promise: a turn that raises leaves what was held; a state holds all that another session needs to continue to the byte.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

from autogen_context.compressor.arrival.arrival import Arrival
from autogen_context.compressor.span import Span
from autogen_context.errors import NotInHistory
from autogen_context.recall.exchanges import newest_request
from autogen_context.session.beside import Beside
from autogen_context.session.compacting import Compacting
from autogen_context.session.conversation import Conversation
from autogen_context.session.front import Front
from autogen_context.session.held import Held
from autogen_context.session.holding import Holding
from autogen_context.session.integrity import Integrity
from autogen_context.session.prepared import Prepared
from autogen_context.session.rules import Fixed, Room, Rules, Surroundings
from autogen_context.session.sending import Sender
from autogen_context.session.state import State
from autogen_context.session.turning import Turning
from autogen_context.session.versions import Moment, Past, Version, Versions
from autogen_context.triggers.price import after_change

if TYPE_CHECKING:
    from autogen_context.prioritizer.explanation import Explanation


READ_AHEAD_FRACTION = (
    0.5  # of the window; with more in it, each turn reads for the compaction to come
)


class Session:
    """A conversation under its window.

    Args:
        rules: what holds for every turn.
        around: what it works with.
        state: where to continue; empty at the start.
    """

    def __init__(self, rules: Rules, *, around: Surroundings, state: State) -> None:
        counter = around.counter
        self.window = around.window
        self.stash = around.stash
        self.pins = set(state.pins)
        self.conversation = Conversation(
            around.host, counter, orphans=rules.orphans, digests=state.digests
        )
        self._rules = rules
        self._around = around
        self._arrival = Arrival(counter, kinds=rules.kinds, keep=around.stash.put_text)
        self.can_recall(can=False)  # until it is seen
        self._holding = Holding(
            self.conversation,
            arrival=self._arrival,
            stash=around.stash,
            decisions=state.decisions,
        )
        self._sender = Sender(around.host, counter=counter, window=around.window, roles=rules.roles)
        self.context_id, self.branches = state.context_id, state.branches
        self.beside = Beside(
            self.conversation, self.held, counter=counter, kinds=rules.kinds, budget=around.budget
        )
        self.beside.notices, self.beside.sent = state.notices, state.sent
        self.front = Front(
            state.front,
            conversation=self.conversation,
            held=self.held,
            beside=self.beside,
            counter=counter,
        )
        open_pairs = rules.orphans == "report"
        self.integrity = Integrity(self.conversation, self.held, open_pairs=open_pairs)
        self._compacting = Compacting(
            rules,
            around,
            conversation=self.conversation,
            holding=self._holding,
            beside=self.beside,
            state=state,
        )
        self._turning = Turning(
            rules,
            around,
            conversation=self.conversation,
            holding=self._holding,
            beside=self.beside,
            front=self.front,
            compacting=self._compacting,
            sender=self._sender,
        )
        self.versions = Versions(rules.versions, clock=around.clock, records=state.versions)
        if not state.versions:
            self.record("start", "the context as it was at the start")

    @property
    def held(self) -> Held:
        """The decisions in force."""
        return self._holding.held

    @property
    def state(self) -> State:
        """What another session needs to continue."""
        return State(
            digests=tuple(self.conversation.history.digests),
            decisions=tuple(self.held.decisions),
            pins=frozenset(self.pins),
            calibration=self.window.calibration,
            stash=tuple(self.stash),
            must_replan=self._compacting.must_replan,
            rewrites=self._compacting.rewrites,
            pace=self._compacting.pace,
            usage=self.window.usage,
            summaries=dict(self._around.summaries),
            advice=dict(self._around.advice),
            notices=self.beside.notices,
            sent=self.beside.sent,
            versions=self.versions.records,
            context_id=self.context_id,
            branches=self.branches,
            front=self.front.fronted,
        )

    @property
    def moment(self) -> Moment:
        """What a version made now holds."""
        return Moment(
            past=Past(self.held.decisions),
            pins=frozenset(self.pins),
            notices=self.beside.notices,
            must_replan=self._compacting.must_replan,
        )

    def record(self, kind: str, summary: str) -> Version:
        """Make a version of how it is now."""
        return self.versions.record(kind, summary, self.moment, tokens=self.held.tokens)

    def restore(self, moment: Moment) -> None:
        """Have everything as it was; the host's messages are those that it handed in last."""
        self._holding.restore(moment.decisions)
        self.pins, self._compacting.must_replan = set(moment.pins), moment.must_replan
        self.beside.notices = moment.notices

    def roll_back(self, number: int) -> Version:
        """Have everything as it was in a version; what the host handed in since comes in anew.

        Raises:
            NoSuchVersion: there is none, or it is not kept any more.
        """
        self.restore(self.versions.moment(number))
        self.beside.sent = 0
        self._compacting.rewrites += 1
        if self.conversation.candidates:
            self._holding.follow(self._pinned)
        return self.record("roll back", f"as in version {number}")

    def take_in(self, payloads: Sequence[object]) -> None:
        """Follow the host's list: what it appended is held as new, where it changed its past that is forgotten."""
        same = self.conversation.update(payloads)
        if same < self.held.stop:
            self._sender.forget()
            self._holding.cut_back(same)
            self._compacting.must_replan = True
            self._compacting.rewrites += (
                same < self.beside.sent
            )  # what was heard alone was not sent
            self._compacting.pace = after_change(self._compacting.pace)
            self.beside.cut_back(same)
            self.versions.cut_back(same)
        self._holding.follow(self._pinned)

    def can_recall(self, *, can: bool) -> None:
        """Whether the agent has the tool that asks back what was cut; ``reduce="auto"`` cuts where it has."""
        self.recalls, mode = can, self._rules.reduce
        self._arrival.mode = mode if mode != "auto" else "lossy" if can else "lossless"

    def is_full(self, fixed_tokens: int, *, at_fraction: float) -> bool:
        """Whether the next request, with so much beside messages, fills at least this share of the room."""
        return self.used_tokens(fixed_tokens) >= at_fraction * self.room_tokens

    @property
    def room_tokens(self) -> int:
        """What a request may have."""
        return self._compacting.room_tokens

    def used_tokens(self, fixed_tokens: int) -> int:
        """What the next request has, with so much beside messages."""
        return self.held.tokens + self.front.tokens + fixed_tokens

    def spans_due(self, fixed_tokens: int, *, at_fraction: float) -> list[Span]:
        """What will go next, in parts that are summarised apart; nothing while the room is less full than this share.

        Args:
            fixed_tokens: what the next request has beside messages.
            at_fraction: of the room.
        """
        if not self.is_full(fixed_tokens, at_fraction=at_fraction):
            return []
        beside = fixed_tokens + self.front.tokens
        there = Room(limit_tokens=self._compacting.room_tokens, fixed_tokens=beside)
        return self._compacting.compaction.spans(self.conversation, there, self._pinned)

    def pin(self, digest: bytes) -> None:
        """Keep a message from now on; it comes back if it was dropped."""
        self.pins.add(digest)
        self._compacting.must_replan = True
        self._compacting.pace = after_change(self._compacting.pace)

    def unpin(self, digest: bytes) -> None:
        """Let a pinned message go at the next compaction."""
        self.pins.discard(digest)
        self._compacting.pace = after_change(self._compacting.pace)

    def explain(self, digest: bytes) -> "Explanation":
        """What became of a message in the last turn, and why.

        Raises:
            NotInHistory: the list that was taken in last does not have it, or it is not decided yet.
        """
        known = self.conversation.history.positions({digest})
        decided = [position for position in known if position < self.held.stop]
        if not decided:
            raise NotInHistory
        at = bisect_right(self.held.decisions, max(decided), key=lambda d: d.start) - 1
        references = self._compacting.compaction.references
        references.follow(self.conversation.candidates, self.conversation.messages)
        from autogen_context.prioritizer.explanation import Explainer  # noqa: PLC0415 - when somebody asks

        memory, messages = self._around.memory, self.conversation.messages
        memory.follow(messages)
        task = newest_request(messages)
        explainer = Explainer(references, task, memory.scores(task))
        return explainer.explain(self.held.decisions[at], at)

    def turn(self, payloads: Sequence[object], fixed: Fixed) -> Prepared[object]:
        """The list to send for what was taken in.

        Args:
            payloads: the host's list that was taken in last.
            fixed: what the request has beside messages.

        Raises:
            ContextWindowExceeded: what must stay does not fit; what was held is held on.
        """
        before, pinned = self.held.tokens, self._pinned
        turned = self._turning.turn(fixed, pinned)
        self.beside.sent = self.held.stop
        if turned.rewrote:
            self.record("compaction", f"from {before} to {self.held.tokens} tokens")
        elif self.held.tokens > READ_AHEAD_FRACTION * self.window.limit_tokens:
            self._compacting.compaction.read_ahead(self.conversation)
        finished = turned.finished
        return Prepared(
            messages=self._sender.payloads(
                turned.request, payloads, edition=self.conversation.history.edition
            ),
            certificate=turned.request.certificate,
            decisions=tuple(self.held.decisions),
            compacted=turned.rewrote,
            cost_estimate=finished.cost_estimate
            if finished is not None and finished.is_done
            else turned.cost,
            finished=finished,
        )

    @property
    def _pinned(self) -> frozenset[int]:
        """Positions of the messages that are pinned."""
        return self.conversation.history.positions(self.pins)
