"""A conversation as the plan sees it: units with their cost, kept up message by message.

Promise: a turn reads, segments and measures only what is new in it, and the candidates are those that the whole list
would give at once.
"""

from collections.abc import Sequence
from typing import Literal

from autogen_context.errors import InvalidTranscript
from autogen_context.messages.message import SYSTEM_ROLES, HostFormat
from autogen_context.messages.people import words_and_output
from autogen_context.messages.piece import Written, messages_of
from autogen_context.messages.segment import Unit, as_it_came, extend, repaired
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.view.decision import Candidate
from autogen_context.view.history import History
from autogen_context.view.protected import (
    Protection,
    Voices,
    is_instruction,
    protected_of,
)

Orphans = Literal["repair", "report", "refuse"]


class Conversation:
    """The units of a host's list."""

    def __init__(
        self,
        host: HostFormat,
        counter: MessageCounter,
        *,
        orphans: Orphans = "repair",
        digests: Sequence[bytes] = (),
    ) -> None:
        self.history = History(host, digests)
        self.messages = self.history.messages  # all of the host's list
        self.candidates: list[Candidate] = []
        self.tokens = 0
        self._counter = counter
        self._mode: Orphans = orphans
        self.orphans: list[int] = []  # positions of units that came in broken
        self._instructions: list[int] = []
        self._systems: list[int] = []
        self._same = len(digests)

    @property
    def voices(self) -> Voices:
        """Who says something in which unit; not to be kept, it grows with the list."""
        return Voices(instructions=self._instructions, systems=self._systems)

    @property
    def system_messages(self) -> int:
        """How many system messages open the list."""
        others = (i for i, m in enumerate(self.messages) if m.role not in SYSTEM_ROLES)
        return next(others, len(self.messages))

    @property
    def latest_instruction(self) -> range:
        """Positions of the messages of the latest unit in which somebody instructs; empty where nobody does."""
        if not self._instructions:
            return range(0)
        unit = self.candidates[self._instructions[-1]].unit
        return range(unit.start, unit.stop)

    @property
    def newest_request(self) -> str:
        """What a person, or the orchestrator in a person's role, said last; empty where nobody did."""
        for i in reversed(self._instructions):
            message, start = self.candidates[i].unit.messages[0], self.candidates[i].unit.start
            before = self.messages[start - 1] if start else None
            words = "" if message.results else words_and_output(message, before)[0].strip()
            if words:
                return words
        return ""

    def protected(self, pinned: frozenset[int]) -> dict[int, Protection]:
        """Which units must stay, by position, and why."""
        return protected_of(self.candidates, pinned, self.voices)

    def update(self, payloads: Sequence[object]) -> int:
        """Take the host's list in."""
        candidates = self.candidates
        # Where an update broke off, what it found to be changed is still to be told.
        same = self._same = min(self._same, self.history.update(payloads))
        settled, stop = len(candidates), candidates[-1].unit.stop if candidates else 0
        if same == stop == len(payloads):
            return same
        while settled and candidates[settled - 1].unit.stop > same:
            settled -= 1
        # A unit that waits for results may grow.
        settled -= bool(settled and candidates[settled - 1].unit.unanswered)
        start = candidates[settled - 1].unit.stop if settled else 0
        open_units = [c.unit for c in candidates[settled : settled + 1] if c.unit.stop <= same]
        taken = open_units[-1].stop if open_units else start
        if settled < len(candidates):
            self._forget_from(settled, start)
        units = extend(open_units, self.messages[taken:], start=taken)
        for unit in units:
            candidate = self._candidate(unit, last=unit is units[-1])
            candidates.append(candidate)
            self.tokens += candidate.tokens
            role = unit.messages[0].role
            if role in SYSTEM_ROLES:
                self._systems.append(len(candidates) - 1)
            elif role == "user" and is_instruction(candidates, len(candidates) - 1):
                self._instructions.append(len(candidates) - 1)
        self._same = len(payloads)
        return same

    def _forget_from(self, keep: int, stop: int) -> None:
        self.tokens -= sum(candidate.tokens for candidate in self.candidates[keep:])
        del self.candidates[keep:]
        while self.orphans and self.orphans[-1] >= stop:
            self.orphans.pop()
        for said in (self._instructions, self._systems):
            while said and said[-1] >= keep:
                said.pop()

    def _candidate(self, unit: Unit, *, last: bool) -> Candidate:
        if not (unit.faulty or unit.unanswered):
            tokens = sum(map(self._counter.message, unit.messages))
            return Candidate(unit=unit, pieces=as_it_came(unit), tokens=tokens)
        pieces = repaired(unit, last=last)
        faulty = any(isinstance(piece, Written) for piece in pieces)
        if faulty:
            self._note_orphan(unit)
        if self._mode != "repair":
            pieces = as_it_came(unit)
        said = messages_of(pieces, self.messages)
        tokens = sum(map(self._counter.message, said))
        return Candidate(
            unit=unit, pieces=pieces, tokens=tokens, repaired=faulty and self._mode == "repair"
        )

    def _note_orphan(self, unit: Unit) -> None:
        if self._mode == "refuse":
            reason = (
                "a tool result without its call"
                if unit.is_stray
                else "a tool call without its result"
            )
            raise InvalidTranscript(index=unit.start, reason=f'{reason}, and orphans="refuse"')
        self.orphans.append(unit.start)
