"""A conversation: the host's latest message list, split into units with their token counts.

Promise: a turn reads, segments and measures only its new messages, and the candidates equal those of reading the whole list
at once. A message is read once while its content stays the same, whether the host passes the same objects, deep copies
of them, or the list of another process. Identity is compared first, then snapshots; digests only with a saved state. A
digest is of the content as it was read, even if the host has mutated its object since.
"""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from itertools import takewhile
from operator import eq
from typing import Literal, TypeVar

from autogen_context.errors import InvalidTranscript
from autogen_context.messages.message import SYSTEM_ROLES, HostFormat, Message
from autogen_context.messages.people import words_and_output
from autogen_context.messages.piece import Written, same_at_front
from autogen_context.messages.segment import Unit, extend, repaired
from autogen_context.text.work import NAME_CHARS, STATEMENT_CHARS
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.view.decision import Candidate, said_by
from autogen_context.view.protected import Protection, Voices, is_instruction, protected_of

Orphans = Literal["repair", "report", "refuse"]
Read = TypeVar("Read")


class Conversation:
    """The units of a host's message list."""

    def __init__(
        self,
        host: HostFormat,
        counter: MessageCounter,
        *,
        orphans: Orphans = "repair",
        digests: Sequence[bytes] = (),
    ) -> None:
        self.history = History(host, digests)
        self.messages = self.history.messages  # the whole host list
        self.candidates: list[Candidate] = []
        self.tokens = 0
        self._counter = counter
        self._mode: Orphans = orphans
        self.orphans: list[int] = []  # start positions of units that arrived incomplete
        self.partly_read: list[int] = []  # positions of messages that are too long to be read whole
        self.voices = Voices([], [])
        self._same = len(digests)

    @property
    def system_messages(self) -> int:
        """Number of system messages at the start of the list."""
        others = (i for i, m in enumerate(self.messages) if m.role not in SYSTEM_ROLES)
        return next(others, len(self.messages))

    @property
    def latest_instruction(self) -> range:
        """Positions of the messages of the latest instruction unit; empty if there is none."""
        if not self.voices.instructions:
            return range(0)
        unit = self.candidates[self.voices.instructions[-1]].unit
        return range(unit.start, unit.stop)

    @property
    def newest_request(self) -> str:
        """Latest words of a user, or of an orchestrator in the user role; empty if there are none."""
        for i in reversed(self.voices.instructions):
            message, start = self.candidates[i].unit.messages[0], self.candidates[i].unit.start
            before = self.messages[start - 1] if start else None
            words = "" if message.results else words_and_output(message, before)[0].strip()
            if words:
                return words
        return ""

    def protected(self, pinned: frozenset[int]) -> dict[int, Protection]:
        """Return the protected units by index, each with its reason."""
        return protected_of(self.candidates, pinned, self.voices)

    def update(self, payloads: Sequence[object]) -> int:
        """Read the host's list; return the number of leading messages that are unchanged."""
        candidates = self.candidates
        # An interrupted update may have found changes that it did not report yet.
        same = self._same = min(self._same, self.history.update(payloads))
        settled, stop = len(candidates), candidates[-1].unit.stop if candidates else 0
        if same == stop == len(payloads):
            return same
        while settled and candidates[settled - 1].unit.stop > same:
            settled -= 1
        # A unit with pending tool calls may still grow.
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
            for position, message in enumerate(unit.messages, unit.start):
                if is_partly_read(message):
                    self.partly_read.append(position)
            role = unit.messages[0].role
            if role in SYSTEM_ROLES:
                self.voices.systems.append(len(candidates) - 1)
            elif role == "user" and is_instruction(candidates, len(candidates) - 1):
                self.voices.instructions.append(len(candidates) - 1)
        self._same = len(payloads)
        return same

    def _forget_from(self, keep: int, stop: int) -> None:
        self.tokens -= sum(candidate.tokens for candidate in self.candidates[keep:])
        del self.candidates[keep:]
        for positions in (self.orphans, self.partly_read):
            while positions and positions[-1] >= stop:
                positions.pop()
        for said in self.voices:
            while said and said[-1] >= keep:
                said.pop()

    def _candidate(self, unit: Unit, *, last: bool) -> Candidate:
        count = self._counter.message
        if unit.faulty or (unit.unanswered and not last):
            pieces = repaired(unit, last=last)
            if any(isinstance(piece, Written) for piece in pieces):
                self._note_orphan(unit)
                if self._mode == "repair":
                    tokens = sum(map(count, said_by(pieces, unit)))
                    return Candidate(unit=unit, tokens=tokens, repairs=pieces)
        return Candidate(unit=unit, tokens=sum(map(count, unit.messages)))

    def _note_orphan(self, unit: Unit) -> None:
        if self._mode == "refuse":
            reason = (
                "a tool result without its call"
                if unit.is_stray
                else "a tool call without its result"
            )
            raise InvalidTranscript(index=unit.start, reason=f'{reason}, and orphans="refuse"')
        self.orphans.append(unit.start)


class History:
    """The host's latest message list."""

    def __init__(self, host: HostFormat, digests: Sequence[bytes] = ()) -> None:
        self.messages: list[Message] = []
        self._host = host
        self._payloads: list[object] = []
        self._snapshots: list[object] = []
        self._digests = list(digests)  # of the first messages, computed on demand

    @property
    def payloads(self) -> Sequence[object]:
        """The host's own message objects; empty after restoring a saved state."""
        return tuple(self._payloads)

    @property
    def digests(self) -> Sequence[bytes]:
        """One digest per message."""
        self._digests += map(self._host.digest, self._snapshots[len(self._digests) :])
        return self._digests

    def positions(self, digests: AbstractSet[bytes]) -> frozenset[int]:
        """Return the positions of the messages with these digests."""
        if not digests:
            return frozenset()
        return frozenset(i for i, digest in enumerate(self.digests) if digest in digests)

    def update(self, payloads: Sequence[object]) -> int:
        """Read the host's list; return the number of leading messages that are unchanged."""
        common = self._common(payloads, self._identical(payloads))
        is_restored = len(self._digests) > len(self.messages)
        if common == len(payloads) == len(self._payloads) and not is_restored:
            return common
        appended = payloads[common:]
        new = self._of(self._host.read, appended, common)
        snapshots = self._of(self._host.snapshot, appended, common)
        same = self._known(snapshots) if is_restored else common
        del self.messages[common:], self._payloads[common:], self._snapshots[common:]
        del self._digests[same:]
        self.messages += new
        self._payloads += appended
        self._snapshots += snapshots
        return same

    def _identical(self, payloads: Sequence[object]) -> int:
        """Return how many leading objects are those of the last list; an equal object counts as the same."""
        known, most = self._payloads, len(self._payloads)
        if known and len(payloads) >= most and payloads[most - 1] is known[-1]:
            known += payloads[most:]  # one list comparison, without copying the others
            try:
                if known == payloads:
                    return most
            except (ValueError, RecursionError):
                pass  # incomparable objects: compare by identity only
            finally:
                del known[most:]
        return same_at_front(known, payloads)

    def _common(self, payloads: Sequence[object], identical: int) -> int:
        """Return how many leading payloads have unchanged content; the first ``identical`` are the same objects."""
        common = min(len(self._payloads), len(payloads))
        known, rest = self._snapshots[identical:common], payloads[identical:common]
        if known == rest:
            return common  # copies of plain data: one list comparison
        for at, (snapshot, payload) in enumerate(zip(known, rest, strict=True), identical):
            if snapshot != payload and [snapshot] != self._of(self._host.snapshot, [payload], at):
                common = at
                break
        # Some hosts recreate old message objects (Agent Framework on each run): keep the newest objects.
        self._payloads[identical:common] = payloads[identical:common]
        return common

    def _known(self, snapshots: Sequence[object]) -> int:
        """Return how many leading snapshots match the digests of a saved state."""
        digests = map(self._host.digest, snapshots)
        return sum(1 for _ in takewhile(bool, map(eq, self._digests, digests)))

    def _of(
        self, read: Callable[[object], Read], payloads: Sequence[object], at: int
    ) -> list[Read]:
        """Apply ``read`` to payloads, the first of which is at position ``at``; raise `InvalidTranscript` on failure."""
        found: list[Read] = []
        for index, payload in enumerate(payloads, at):
            try:
                found.append(read(payload))
            except (ValueError, RecursionError) as error:
                raise InvalidTranscript(index=index, reason=str(error)) from error
        return found


def is_partly_read(message: Message) -> bool:
    """Return True if a text of a message is longer than what statements or names are looked for in."""
    states = message.role in SYSTEM_ROLES or (message.role == "user" and not message.results)
    if len(message.text) > 2 * (STATEMENT_CHARS if states else NAME_CHARS):
        return True
    for call in message.calls:
        if len(call.arguments) > 2 * NAME_CHARS:
            return True
    sizes = [len(result.text) for result in message.results]
    return max(sizes, default=0) > 2 * NAME_CHARS


def digest_of(host: HostFormat, payload: object) -> bytes:
    """Return the digest that identifies a payload; raise `ValueError` if the host format cannot read it."""
    host.read(payload)
    return host.digest(host.snapshot(payload))
