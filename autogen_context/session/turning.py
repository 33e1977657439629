"""One turn: hold what was decided, or compact, and say what is sent.

Promise: below the mark nothing changes but by appending; above it the whole is planned anew, once, and held again. What
is sent fits, or ``ContextWindowExceeded`` is raised and what was held is held on.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from autogen_context.errors import ContextWindowExceeded
from autogen_context.messages.piece import Written
from autogen_context.session.beside import Beside
from autogen_context.session.compacting import Compacting
from autogen_context.session.conversation import Conversation
from autogen_context.session.front import Front
from autogen_context.session.held import Held
from autogen_context.session.holding import Holding
from autogen_context.session.rules import Fixed, Rules, Surroundings
from autogen_context.session.sending import Request, Sender
from autogen_context.session.tail import Tail
from autogen_context.triggers.price import CostEstimate

if TYPE_CHECKING:
    from autogen_context.session.cutting import Finishing
    from autogen_context.triggers.finished import FinishedEstimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Turned:
    """What became of a turn.

    Attributes:
        request: what is sent.
        cost: whether a rewrite was worth its price.
        finished: what would be cut, or was, of what is finished; ``None`` where nothing was looked for or found.
        compacted: whether everything was planned anew.
    """

    request: Request
    cost: CostEstimate
    finished: "FinishedEstimate | None"
    compacted: bool

    @property
    def rewrote(self) -> bool:
        """Whether something else is sent than was sent before."""
        return self.compacted or (self.finished is not None and self.finished.is_done)


class Turning:
    """The turns of one conversation.

    Args:
        rules: what holds for every turn.
        around: what it works with.
        conversation: what there is.
        holding: holds what was decided.
        beside: what is told beside the messages.
        front: what stands behind the system prompt.
        compacting: plans anew.
        sender: writes what is sent.
    """

    def __init__(
        self,
        rules: Rules,
        around: Surroundings,
        *,
        conversation: Conversation,
        holding: Holding,
        beside: Beside,
        front: Front,
        compacting: Compacting,
        sender: Sender,
    ) -> None:
        self._rules = rules
        self._around = around
        self._conversation = conversation
        self._holding = holding
        self._beside = beside
        self._front = front
        self._compacting = compacting
        self._sender = sender
        self._tail = Tail(around.memory, around.counter, around.budget)

    def turn(self, fixed: Fixed, pinned: frozenset[int]) -> Turned:
        """What is sent for what was taken in.

        Args:
            fixed: what the request has beside messages.
            pinned: positions of pinned messages.

        Raises:
            ContextWindowExceeded: what must stay does not fit; what was held is held on.
        """
        window = self._around.window
        try:
            return self._turn(fixed, pinned)
        except ContextWindowExceeded:
            if not window.calibration.before:
                raise
        with window.before_last_bill():  # one false bill must not keep all others from coming
            return self._turn(fixed, pinned)

    def _turn(self, fixed: Fixed, pinned: frozenset[int]) -> Turned:
        compacting, front = self._compacting, self._front
        self._beside.follow()
        if not self._beside.sent:
            self._place_front(fixed.tokens + self._room_due + self._held.tokens)
        used = fixed.tokens + front.tokens + self._room_due
        cost = compacting.estimate(used, pinned)
        compacted = compacting.acts(cost) or self._must_look_back(used)
        if compacted:
            self._compact(fixed.tokens, pinned)
        finished = None if compacted else self._finish(used, pinned)
        beside = fixed.tokens + front.tokens
        self._bring_back(beside + self._room_due)
        self._tell(beside)
        request = self._request(fixed, pinned)
        more = fixed.tokens
        while request.certificate.bound.tokens > request.certificate.limit_tokens:
            # Fillers between roles, or held counts of another tokenizer: more is sent than held, so there is less room.
            counted = request.certificate.counted_tokens
            unheld = counted - self._held.tokens - front.tokens
            more = max(unheld, more + 1) if compacted else more  # each time less room: this ends
            self._compact(more, pinned)
            compacted = True
            request = self._request(fixed, pinned)
        compacting.pass_turn(cost, rewrote=compacted)
        return Turned(request=request, cost=cost, finished=finished, compacted=compacted)

    @cached_property
    def _finishing(self) -> "Finishing":
        """Cuts what is finished; loaded where that is asked for."""
        from autogen_context.session.cutting import Finishing  # noqa: PLC0415 - as said

        return Finishing(
            self._rules,
            self._around,
            conversation=self._conversation,
            holding=self._holding,
            compacting=self._compacting,
        )

    @property
    def _held(self) -> Held:
        return self._holding.held

    def _compact(self, fixed: int, pinned: frozenset[int]) -> None:
        """Plan the whole anew, behind the newest head; that yields to what must stay."""
        front, chosen = self._front, self._front.fronted
        if front.is_offered:
            candidates = self._conversation.candidates
            protected = sum(candidates[i].tokens for i in self._conversation.protected(pinned))
            chosen = front.chosen(self._compacting.mark_tokens - fixed - protected)
        self._compacting.compact(fixed + front.cost(chosen.text), pinned)
        front.place(chosen)

    def _place_front(self, used: int) -> None:
        """Have the newest head in front, where nothing of what was sent is continued."""
        if self._front.is_offered:
            self._front.place(self._front.chosen(self._compacting.mark_tokens - used))

    def _finish(self, used: int, pinned: frozenset[int]) -> "FinishedEstimate | None":
        """Judge what is finished, if that was asked for; cut it, if that was and pays."""
        acts = self._rules.cuts_finished
        if not (acts or self._rules.dry_run):
            return None
        return self._finishing.judge(used, pinned, acts=acts)

    def _must_look_back(self, fixed: int) -> bool:
        """Whether the newest message asks for what only another choice has room for."""
        room, used = self._compacting.room_tokens, self._held.tokens + fixed
        return self._tail.lacks_room(
            self._conversation, self._held, room_tokens=room, used_tokens=used
        )

    def _bring_back(self, fixed: int) -> None:
        """Put what the newest message asks for of the past in front of it."""
        room, used = self._compacting.room_tokens, self._held.tokens + fixed
        tail = self._tail.of(self._conversation, self._held, room_tokens=room, used_tokens=used)
        if tail is not None:
            self._held.put_before_last(Written(message=tail), self._around.counter.message(tail))

    @property
    def _room_due(self) -> int:
        """The room that what is due to be told needs."""
        return self._beside.room_due(self._compacting.room_tokens)

    def _tell(self, fixed: int) -> None:
        """Put what is due to be told in front of the newest message."""
        room = self._compacting.room_tokens
        self._front.tell(room_tokens=room, used_tokens=self._held.tokens + fixed)
        self._beside.tell(room_tokens=room, used_tokens=self._held.tokens + fixed)

    def _request(self, fixed: Fixed, pinned: frozenset[int]) -> Request:
        """What is sent for what is held."""
        return self._sender.request(
            self._held,
            self._conversation,
            front=self._front,
            fixed=fixed,
            pinned=pinned,
            rewrites=self._compacting.rewrites,
        )
