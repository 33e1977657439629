"""What must stay: system prompt, pins, pending calls, the newest unit, the task.

Promise: system prompt and pins stay as they are; the newest unit and the task stay whole if all fits, otherwise
shortened; if that does not fit either, ``BudgetImpossible`` says what needs how much.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from autogen_context.errors import BudgetImpossible
from autogen_context.messages.message import SYSTEM_ROLES
from autogen_context.messages.piece import Piece
from autogen_context.messages.user_output import words_and_output
from autogen_context.view.decision import Candidate, Decision, kept, replaced, tokens_of

Floor = Literal["system", "pinned", "pending", "newest", "task"]

VERBATIM: frozenset[Floor] = frozenset({"system", "pinned"})
TASK_SHARE = 0.5  # of the room, for a task that does not fit, or not beside the newest unit
LEAST_TASK = 32  # tokens; a task shortened to less tells nothing
LEAST_STUB = 24  # tokens for each message of the newest unit; with less a request makes no sense
LEAST_NEWEST = 256  # tokens for each message of the newest unit, before the task gets its share
NEWEST_SHARE = 0.2  # of the room, for a newest unit that does not fit; the rest is turns that hold

Fit = Callable[[Candidate, int], tuple[tuple[Piece, ...], int] | None]
"""Makes a unit fit a room of so many tokens: its pieces and what they cost, or ``None`` where it cannot be."""


def floors_of(candidates: Sequence[Candidate], pinned: frozenset[int]) -> dict[int, Floor]:
    """Which candidates must stay, by position, and why; of two reasons the stronger one.

    Pinned are messages, by position. The task is the latest instruction of a person, and the first one, which set the conversation's
    purpose; output that a host sends in the user's role is none.
    """
    floors: dict[int, Floor] = {}
    people = [i for i in range(len(candidates)) if is_instruction(candidates, i)]
    for i in people[:1] + people[-1:]:
        floors[i] = "task"
    for i, candidate in enumerate(candidates[-1:], len(candidates) - 1):
        floors[i] = "pending" if candidate.unit.unanswered else "newest"
    if pinned:
        for i, candidate in enumerate(candidates):
            if not pinned.isdisjoint(range(candidate.unit.start, candidate.unit.stop)):
                floors[i] = "pinned"
    for i, candidate in enumerate(candidates):
        if candidate.unit.messages[0].role not in SYSTEM_ROLES:
            break
        floors[i] = "system"
    return floors


def is_instruction(candidates: Sequence[Candidate], i: int) -> bool:
    """Whether a person, or the orchestrator in a person's role, says something in a unit."""
    message = candidates[i].unit.messages[0]
    if message.role != "user":
        return False
    before = candidates[i - 1].unit.messages[-1] if i else None
    words, output = words_and_output(message, before)
    return bool(words.strip()) or not output


def satisfied(decisions: Sequence[Decision], floors: Mapping[int, Floor]) -> bool:
    """Whether decisions keep what must stay."""
    for i, floor in floors.items():
        action = decisions[i].action
        if action == "drop" or (action == "shorten" and floor in VERBATIM):
            return False
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class FloorPlan:
    """Chooses what becomes of the units that must stay.

    Attributes:
        candidates: n units.
        floors: which of them must stay, and why.
        limit_tokens: what they may have together.
        fit: shortens a unit.
    """

    candidates: Sequence[Candidate]
    floors: Mapping[int, Floor]
    limit_tokens: int
    fit: Fit

    def choose(self) -> dict[int, Decision]:
        """A decision for each unit that must stay, by position; a task for which there is no room at all is left out.

        Raises:
            BudgetImpossible: they do not fit, not even shortened.
        """
        whole = {i: kept(self.candidates[i], f"must stay: {f}") for i, f in self.floors.items()}
        if tokens_of(whole) <= self.limit_tokens:
            return whole
        if not whole:
            raise self._impossible()
        chosen = {i: d for i, d in whole.items() if self.floors[i] in VERBATIM}
        newest = len(self.candidates) - 1
        chosen |= self._tasks(self._task_room(chosen))
        if newest not in chosen:
            chosen[newest] = self._newest(newest, used=tokens_of(chosen))
        if tokens_of(chosen) > self.limit_tokens:
            raise self._impossible()
        return chosen

    def _task_room(self, chosen: Mapping[int, Decision]) -> int:
        """What the tasks may have together.

        What the newest unit leaves, if it fits whole; otherwise a share of what is beyond the newest unit's least, or
        the least of a task, if that leaves a stub of the newest unit.
        """
        room = self.limit_tokens - tokens_of(chosen)
        newest = self.candidates[-1]
        if len(self.candidates) - 1 in chosen:
            return room
        if room - newest.tokens >= LEAST_TASK:
            return room - newest.tokens
        messages = len(newest.unit.messages)
        share = min(int(room * TASK_SHARE), room - LEAST_NEWEST * messages)
        return max(share, min(LEAST_TASK, room - LEAST_STUB * messages))

    def _tasks(self, room: int) -> dict[int, Decision]:
        """The tasks in a room that they share, the latest first."""
        tasks = sorted((i for i, floor in self.floors.items() if floor == "task"), reverse=True)
        decisions: dict[int, Decision] = {}
        for n, i in enumerate(tasks):
            share = (room - tokens_of(decisions)) // (len(tasks) - n)
            worth_it = share >= min(LEAST_TASK, self.candidates[i].tokens)
            decision = self._within(i, share) if worth_it else None
            decisions |= {i: decision} if decision else {}
        return decisions

    def _newest(self, i: int, used: int) -> Decision:
        """The newest unit whole, or cut so far that the turns to come can hold what is decided now."""
        room, candidate = self.limit_tokens - used, self.candidates[i]
        if room < min(candidate.tokens, LEAST_STUB * len(candidate.unit.messages)):
            raise self._impossible()
        least = min(room, LEAST_NEWEST * len(candidate.unit.messages))
        share = TASK_SHARE if is_instruction(self.candidates, i) else NEWEST_SHARE
        part = max(int(room * share), least)
        decision = self._within(i, room if candidate.tokens <= room else part)
        decision = decision or self._within(i, room)
        if decision is None:
            raise self._impossible()
        return decision

    def _within(self, i: int, room: int) -> Decision | None:
        """A unit whole if it fits the room, otherwise shortened, or ``None``."""
        candidate, floor = self.candidates[i], self.floors[i]
        if candidate.tokens <= room:
            return kept(candidate, f"must stay: {floor}")
        fitted = self.fit(candidate, room)
        if fitted is None:
            return None
        return replaced(candidate, "shorten", f"must stay: {floor}; shortened to fit", *fitted)

    def _impossible(self) -> BudgetImpossible:
        parts: dict[str, int] = {}
        for i, floor in self.floors.items():
            parts[floor] = parts.get(floor, 0) + self.candidates[i].tokens
        return BudgetImpossible(
            limit_tokens=self.limit_tokens, floor_tokens=sum(parts.values()), parts=parts
        )
