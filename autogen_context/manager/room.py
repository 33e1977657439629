"""The room of a request: the window, what it has other than messages, and what a view has and needs of it.

Promise: a value, worked out of a view once it is made; stages hand it on with the view.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from autogen_context.budget.policy import BudgetPolicy, TurnBudget
from autogen_context.manager.injected import NoticeWriter, has_place
from autogen_context.messages.message import SYSTEM_ROLES
from autogen_context.tokens.calibrate import Bill, Calibration
from autogen_context.tokens.measure import Count, Source
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.tokens.prices import Rewrite
from autogen_context.view.conversation import Conversation
from autogen_context.view.decision import Candidate
from autogen_context.view.invariants import Certificate
from autogen_context.view.view import ContextView


class Fixed(NamedTuple):
    """Tokens of a request other than messages (upper bound), the part of them that no provider documents, and which tools these are."""

    tokens: int
    assumed: int
    tools: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The window in the provider's tokens, and the reserve for what the host adds unseen."""

    window_tokens: int
    reserve_tokens: int
    source: Source  # source of counts before the first bill

    @property
    def limit_tokens(self) -> int:
        """Window minus reserve."""
        return self.window_tokens - self.reserve_tokens

    def bound(self, calibration: Calibration, counted: int, rewrites: int) -> Count:
        """Return the upper bound for a request of ``counted`` tokens, without the reserve."""
        source = "provider" if calibration.last else self.source
        return Count(tokens=calibration.bound(counted, rewrites=rewrites), source=source)

    def billed(
        self, calibration: Calibration, certificate: Certificate, prompt_tokens: int
    ) -> Calibration | None:
        """Return the calibration updated by a bill, or ``None`` if the bill is not plausible.

        The reserve is subtracted from the bill first: what the host adds beyond it becomes an offset, and an unused
        reserve stays reserved.
        """
        bill = Bill(
            counted=certificate.counted_tokens,
            billed=prompt_tokens,
            assumed=certificate.assumed_tokens,
            fixed=certificate.fixed_tokens,
            rewrites=certificate.rewrites,
        )
        if not calibration.believes(bill):
            return None
        billed = max(bill.billed - self.reserve_tokens, calibration.least(bill), 1)
        return calibration.after(replace(bill, billed=billed))


class RequestRoom(NamedTuple):
    """The next request in tokens of our own count: what it may have, what it has so far, and the turn's budget."""

    tokens: int
    used_tokens: int  # without notices that are to be sent
    other_tokens: (
        int  # of these: tools, format, preamble, record and what is sent behind of the prompt
    )
    due_tokens: int  # notices that are to be sent
    budget: TurnBudget

    @property
    def needed_tokens(self) -> int:
        """What it has, with the notices."""
        return self.used_tokens + self.due_tokens

    @property
    def free_tokens(self) -> int:
        """What is left; negative if it exceeds the room."""
        return self.tokens - self.used_tokens - self.due_tokens


class Rooms:
    """Works out the rooms of one conversation's requests, in a ``window`` and with the ``fixed`` tokens of the next request."""

    def __init__(
        self,
        conversation: Conversation,
        counter: MessageCounter,
        notices: NoticeWriter,
        budget: BudgetPolicy,
        window: Window,
    ) -> None:
        self._conversation, self._counter, self._budget = conversation, counter, budget
        self._notices = notices
        self.window = window
        self._calibration = Calibration()
        self._limits: dict[int, int] = {}  # of a request in our own count, by number of rewrites
        self.for_tools(0)

    def for_tools(self, tokens: int, which: str = "") -> None:
        """Take the tokens of the tools of the next request; ``which`` they are is noted."""
        per_request = self._counter.overheads.per_request
        self.fixed = Fixed(tokens + per_request, assumed=tokens, tools=which)

    def resize(self, window_tokens: int) -> None:
        """Use another window from the next turn on."""
        self.window = replace(self.window, window_tokens=window_tokens)
        self._limits = {}

    def of(self, view: ContextView, *, rewritten: bool = False) -> RequestRoom:
        """Return the room of the next request; with ``rewritten`` if that does not continue the last one."""
        tokens, due = self._limit(view, view.rewrites + rewritten), view.notices.due
        budget, due_tokens = self._budget.for_turn(tokens), 0
        if due and not view.notices.waits and has_place(view, self._conversation.candidates):
            due_tokens = self._notices.needed_tokens(due, budget)
        other = self.other_tokens(view)
        return RequestRoom(tokens, view.decisions.tokens + other, other, due_tokens, budget)

    def other_tokens(self, view: ContextView) -> int:
        """Return the tokens of a request other than its units and notices that are to be sent."""
        tokens = self.fixed.tokens
        for text in (view.preamble.text, view.record.text, view.prompt.text_apart):
            tokens += self._counter.own(text) if text else 0
        return tokens

    def _limit(self, view: ContextView, rewrites: int) -> int:
        if view.calibration is not self._calibration:
            self._calibration, self._limits = view.calibration, {}
        if rewrites not in self._limits:
            limit, known = self.window.limit_tokens, (rewrites, rewrites + 1)
            self._limits = {n: view.calibration.room(limit, rewrites=n) for n in known}
        return self._limits[rewrites]


def possible_rewrite(
    view: ContextView, room: RequestRoom, candidates: Sequence[Candidate]
) -> Rewrite:
    """Estimate what a compaction would leave in addition to tools, format and preamble, without planning it."""
    decisions, opening = view.decisions, room.other_tokens + room.due_tokens
    for i, candidate in enumerate(candidates):  # the opening is never changed
        opening += decisions[i].tokens_after
        if candidate.unit.messages[0].role not in SYSTEM_ROLES:
            break
    window = room.needed_tokens
    protected = opening + (decisions.last.tokens_after if decisions.last else 0)
    low = protected + int(room.budget.kept_fraction * max(0, room.tokens - protected))
    saved = max(0, window - max(low, opening))
    return Rewrite(
        window_tokens=window,
        untouched_tokens=min(opening, window - saved),
        saved_tokens=saved,
        new_tokens=view.new_tokens,
    )
