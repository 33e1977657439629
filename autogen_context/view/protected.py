"""What must stay, whatever else goes: system messages, pins, a pending call, the latest instruction, the newest unit.

Promise: system prompt and pins stay as they are. The latest instruction stays before everything but those and a pending
call, whole or shortened and marked; the newest unit stays, shortened where it must be. If even that does not fit,
``ContextWindowExceeded`` says what needs how much. A host's memory (a system message behind others) and the first task are
never the cause of that.
"""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from autogen_context.errors import ContextWindowExceeded
from autogen_context.messages.message import SYSTEM_ROLES
from autogen_context.messages.people import words_and_output
from autogen_context.messages.piece import Piece
from autogen_context.view.decision import Candidate, Decision, kept, replaced, tokens_of

Protection = Literal["system", "pinned", "memory", "pending", "instruction", "newest", "task"]

VERBATIM: frozenset[Protection] = frozenset({"system", "pinned"})
INSTRUCTION_FRACTION = 0.5  # of the room, for one that does not fit beside the newest unit
LEAST_TEXT = 32  # tokens; a message shortened to less tells nothing
LEAST_STUB = 24  # tokens for each message of the newest unit; with less a request makes no sense
LEAST_NEWEST = 256  # tokens for each message of the newest unit that is cut, where there are
NEWEST_FRACTION = 0.2  # of the room, for a newest unit that does not fit; the rest is turns

Fit = Callable[[Candidate, int], tuple[tuple[Piece, ...], int] | None]
"""Makes a unit fit a room of so many tokens: its pieces and what they cost, or ``None`` where it cannot be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Voices:
    """Who says something where, by positions of units, ascending."""

    instructions: Sequence[int] = ()
    systems: Sequence[int] = ()


def voices_of(candidates: Sequence[Candidate]) -> Voices:
    """Who says something where in n units."""
    units = range(len(candidates))
    return Voices(
        instructions=[i for i in units if is_instruction(candidates, i)],
        systems=[i for i in units if is_system(candidates[i])],
    )


def is_system(candidate: Candidate) -> bool:
    """Whether a unit is a system message."""
    return candidate.unit.messages[0].role in SYSTEM_ROLES


def is_instruction(candidates: Sequence[Candidate], i: int) -> bool:
    """Whether a person, or the orchestrator in a person's role, says something in a unit; output of a program is nothing."""
    message = candidates[i].unit.messages[0]
    if message.role != "user":
        return False
    before = candidates[i - 1].unit.messages[-1] if i else None
    words, output = words_and_output(message, before)
    return bool(words.strip()) or not output


def protected_of(
    candidates: Sequence[Candidate], pinned: frozenset[int], voices: Voices
) -> dict[int, Protection]:
    """Which of n units must stay, by position, and why; of two reasons the stronger one."""
    if not candidates:
        return {}
    last, systems = candidates[-1].unit, voices.systems
    prompt = next((n for n, i in enumerate(systems) if n != i), len(systems))
    texts = [candidates[i].unit.messages[0].text for i in systems[:prompt]]
    protected: dict[int, Protection] = {
        i: "memory"
        for i in systems[prompt:][-1:]
        if candidates[i].unit.messages[0].text not in texts
    }
    for i in voices.instructions[:1]:
        protected[i] = "task"
    for i in voices.instructions[-1:]:
        protected[i] = "instruction"
    protected[len(candidates) - 1] = "pending" if last.unanswered else "newest"
    for message in pinned:
        if message < last.stop:
            i = bisect_right(candidates, message, key=lambda c: c.unit.start) - 1
            protected[i] = "pinned"
    for i in range(prompt):
        protected[i] = "system"
    return protected


def satisfied(decisions: Sequence[Decision], protected: Mapping[int, Protection]) -> bool:
    """Whether decisions keep what must stay."""
    for i, why in protected.items():
        action = decisions[i].action
        if action == "drop" or (action == "shorten" and why in VERBATIM):
            return False
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectedPlan:
    """Chooses what becomes of the units that must stay."""

    candidates: Sequence[Candidate]
    protected: Mapping[int, Protection]
    limit_tokens: int
    fit: Fit

    def choose(self) -> dict[int, Decision]:
        """A decision for each unit that must stay, by position; a memory or a first task without any room is left out."""
        whole = {
            i: kept(self.candidates[i], f"must stay: {why}") for i, why in self.protected.items()
        }
        if tokens_of(whole) <= self.limit_tokens:
            return whole
        newest = len(self.candidates) - 1
        chosen = {i: d for i, d in whole.items() if self.protected[i] in VERBATIM}
        if not whole:
            raise self._impossible()
        for i in self._marked("instruction"):
            chosen[i] = self._required(i, self._instruction_room(i, chosen))
        for i in self._marked("memory"):
            chosen |= self._if_worth_it(i, self._left(chosen) - self._least_of_newest(chosen))
        if newest not in chosen:
            chosen[newest] = self._newest(newest, self._left(chosen))
        for i in self._marked("task"):
            left = self._left(chosen)
            is_cut = chosen[newest].action == "shorten"
            chosen |= self._if_worth_it(i, left // 2 if is_cut else left)
        if tokens_of(chosen) > self.limit_tokens:
            raise self._impossible()
        return chosen

    def _marked(self, reason: Protection) -> list[int]:
        return [i for i, why in self.protected.items() if why == reason]

    def _left(self, chosen: Mapping[int, Decision]) -> int:
        return self.limit_tokens - tokens_of(chosen)

    def _instruction_room(self, i: int, chosen: Mapping[int, Decision]) -> int:
        """What the latest instruction may have: what the newest unit leaves, or half; never less than tells something."""
        room = self._left(chosen)
        newest = self.candidates[-1]
        if len(self.candidates) - 1 in chosen:
            return room
        if waits_whole(newest):
            return room - newest.tokens
        part = min(int(room * INSTRUCTION_FRACTION), room - self._least_of_newest(chosen))
        return max(room - newest.tokens, part, min(LEAST_TEXT, self.candidates[i].tokens))

    def _least_of_newest(self, chosen: Mapping[int, Decision]) -> int:
        """What the newest unit must have, if it is not decided on: a stub, or all of a call without any result."""
        newest = self.candidates[-1]
        if len(self.candidates) - 1 in chosen:
            return 0
        if waits_whole(newest):
            return newest.tokens
        return min(newest.tokens, LEAST_STUB * len(newest.unit.messages))

    def _newest(self, i: int, room: int) -> Decision:
        """The newest unit whole, or cut so far that the turns to come can hold what is decided now."""
        candidate = self.candidates[i]
        if room < min(candidate.tokens, LEAST_STUB * len(candidate.unit.messages)):
            raise self._impossible()
        if candidate.tokens <= room:
            return self._required(i, room)
        is_person = is_instruction(self.candidates, i)
        fraction = INSTRUCTION_FRACTION if is_person else NEWEST_FRACTION
        least = min(room, LEAST_NEWEST * len(candidate.unit.messages))
        return self._within(i, max(int(room * fraction), least)) or self._required(i, room)

    def _required(self, i: int, room: int) -> Decision:
        """A unit within a room."""
        decision = self._within(i, room)
        if decision is None:
            raise self._impossible()
        return decision

    def _if_worth_it(self, i: int, room: int) -> dict[int, Decision]:
        """A unit within a room, if that is enough to tell something."""
        if room < min(LEAST_TEXT, self.candidates[i].tokens):
            return {}
        decision = self._within(i, room)
        return {} if decision is None else {i: decision}

    def _within(self, i: int, room: int) -> Decision | None:
        """A unit whole if it fits the room, otherwise shortened, or ``None``."""
        candidate, why = self.candidates[i], self.protected[i]
        if candidate.tokens <= room:
            return kept(candidate, f"must stay: {why}")
        fitted = self.fit(candidate, room)
        if fitted is None:
            return None
        return replaced(candidate, "shorten", f"must stay: {why}; shortened to fit", *fitted)

    def _impossible(self) -> ContextWindowExceeded:
        parts: dict[str, int] = {}
        for i, why in self.protected.items():
            parts[why] = parts.get(why, 0) + self.candidates[i].tokens
        return ContextWindowExceeded(
            limit_tokens=self.limit_tokens, floor_tokens=sum(parts.values()), parts=parts
        )


def waits_whole(candidate: Candidate) -> bool:
    """Whether a unit is a call that has no result yet: nothing of it can be shortened."""
    return bool(candidate.unit.unanswered) and len(candidate.unit.messages) == 1
