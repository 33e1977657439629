"""A conversation: the host's latest message list, split into units with their token counts.

Promise: a turn reads, segments and measures only its new messages, and the candidates equal those of reading the whole list
at once. A message is read once while its content stays the same, whether the host passes the same objects, deep copies
of them, or the list of another process, and wherever in its list it stands. Identity is compared first, then snapshots;
digests only with a saved state, or where messages moved. A digest is of the content as it was read, even if the host has
mutated its object since. A list that is refused changes nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import islice
from operator import attrgetter
from typing import Literal, NamedTuple, TypeVar

from autogen_context.errors import InvalidTranscript
from autogen_context.messages.message import SYSTEM_ROLES, HostFormat, Message
from autogen_context.messages.origin import (
    LOOK_BACK,
    NOTHING_DECLARED,
    Declared,
    asked_before,
    with_origin,
)
from autogen_context.messages.piece import Written, same_prefix
from autogen_context.messages.segment import Unit, extend, repaired
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.view.alignment import HostChange, Run, aligned
from autogen_context.view.decision import Candidate, said_by
from autogen_context.view.goal import Goals, WantedBefore, Wish
from autogen_context.view.index import ConversationIndex, Overview
from autogen_context.view.invariants import protected_of
from autogen_context.view.protected import Protection

Orphans = Literal["repair", "report", "refuse"]
Read = TypeVar("Read")
TOKENS = attrgetter("tokens")
MOST_EDITED = 8  # messages replaced in place; with more, what stays is looked for by content
PROBES = 8  # messages compared to see whether a list has the objects of the last one


class Conversation:
    """The units of a host's message list."""

    def __init__(
        self,
        host: HostFormat,
        counter: MessageCounter,
        *,
        orphans: Orphans = "repair",
        digests: Sequence[bytes] = (),
        prompts: int = 0,
        handle_key: bytes = b"",
        declared: Declared = NOTHING_DECLARED,
    ) -> None:
        self._handle_key, self._prompts = handle_key, prompts
        self.history = History(host, digests, declared)
        self.messages = self.history.messages  # the whole host list
        self.candidates: list[Candidate] = []
        self.index = ConversationIndex(self.candidates)
        self.tokens = 0
        self._counter = counter
        self._mode: Orphans = orphans
        self.overview = Overview()
        self._goals = Goals(self.candidates, self.overview)

    @property
    def system_messages(self) -> int:
        """Number of system messages at the start of the list."""
        others = (i for i, m in enumerate(self.messages) if m.role not in SYSTEM_ROLES)
        return next(others, len(self.messages))

    @property
    def latest_instruction(self) -> range:
        """Positions of the messages of the latest instruction unit; empty if there is none."""
        said = self.overview.instructions
        unit = self.candidates[said[-1]].unit if said else None
        return range(unit.start, unit.stop) if unit else range(0)

    @property
    def newest_request(self) -> str:
        """Latest words of a person, or of who leads an agent that hears none; empty if there are none."""
        said = (self.candidates[i].unit.messages[0] for i in reversed(self.overview.instructions))
        return next(filter(None, (message.text.strip() for message in said)), "")

    @property
    def said_now(self) -> str:
        """Words of the newest unit if it is an instruction, as those of ``newest_request`` are; else empty."""
        said = self.overview.instructions
        is_now = bool(said) and said[-1] == len(self.candidates) - 1
        return self.messages[-1].text.strip() if is_now else ""

    def wish(self, before: WantedBefore, messages: int | None = None) -> Wish:
        """Return what is wanted after the first ``messages``, by default all; ``before`` is what was wanted in those that are cut."""
        self.index.follow(self._goals)
        return self._goals.wish(before, messages)

    def protected(self, pinned: frozenset[int]) -> dict[int, Protection]:
        """Return the protected units by index, each with its reason."""
        return protected_of(self.candidates, pinned, self.overview)

    def compared(self, payloads: Sequence[object]) -> "Compared":
        """Compare the host's list with the one before, and read what is new in it; nothing changes."""
        compared = self.history.compared(payloads)
        if compared.change.only_grew:
            return compared
        return compared._replace(change=replace(compared.change, heads=self._heads(compared)))

    def update(
        self,
        payloads: Sequence[object],
        leaves: Callable[[HostChange], None] = lambda _: None,
        compared: "Compared | None" = None,
    ) -> HostChange:
        """Read the host's list, unless it was just ``compared``, and measure what is new; return what became of what was known.

        ``leaves`` is called while what leaves is still there; not for system prompts that others replace.
        """
        compared = compared or self.compared(payloads)
        change, candidates, heads = compared.change, self.candidates, compared.change.heads
        only_grew = change.only_grew
        if only_grew and not compared.messages:
            return change
        same = change.known if heads and candidates else change.same
        stable = len(candidates)
        while stable and candidates[stable - 1].unit.stop > same:
            stable -= 1
        # A unit with pending tool calls may still grow.
        stable -= bool(stable and candidates[stable - 1].unit.unanswered)
        start = candidates[stable - 1].unit.stop if stable else 0
        last = candidates[stable].unit if stable < len(candidates) else None
        grows = [last] if last and last.stop <= same else []
        taken = grows[-1].stop if grows else start
        tail = [*self.messages[taken:same], *compared.messages[same - change.same :]]
        units = extend(grows, tail, start=taken)
        new = [self._candidate(unit, last=unit is units[-1]) for unit in units]
        replaced = list[Candidate]()
        for at in heads:
            unit = Unit(start=at, messages=(compared.messages[at - change.same],))
            replaced.append(self._candidate(unit, last=False))
        if not (only_grew or heads):
            leaves(change)
        self.history.take(compared)
        self.index.truncate(stable)
        self.tokens += sum(map(TOKENS, new)) - sum(map(TOKENS, candidates[stable:]))
        candidates[stable:] = new
        for at, candidate in zip(heads, replaced, strict=True):
            self.put(at, candidate)
        if heads:
            self.index.replace(heads)
        self.index.follow(self.overview)
        return change

    def put(self, unit: int, candidate: Candidate) -> None:
        """Have another candidate for a unit: a system message of which another part is sent in front."""
        self.tokens += candidate.tokens - self.candidates[unit].tokens
        self.candidates[unit] = candidate

    def _heads(self, compared: "Compared") -> tuple[int, ...]:
        """Return the positions of leading system messages that replaced others, if that is all that the host changed."""
        change = compared.change
        # Of a saved state it is known how many there were where they were compared from turn to turn.
        most = self.system_messages if self.candidates else self._prompts
        if any(run.old != run.new for run in change.runs):
            return ()
        gone = tuple(islice(change.gone(), most + 1))
        if len(gone) > most or gone[-1] >= most or change.same + len(compared.messages) < most:
            return ()
        new = [compared.messages[at - change.same] for at in gone]
        is_system = all(each.role in SYSTEM_ROLES and not each.results for each in new)
        return gone if is_system else ()

    def _candidate(self, unit: Unit, *, last: bool) -> Candidate:
        count, key = self._counter.message, self._handle_key
        if unit.faulty or (unit.unanswered and not last):
            pieces = repaired(unit, last=last)
            if any(isinstance(piece, Written) for piece in pieces):
                self._refuse_orphan(unit)
                repairs = pieces if self._mode == "repair" else ()
                tokens = sum(map(count, said_by(repairs, unit) if repairs else unit.messages))
                return Candidate(
                    unit=unit, tokens=tokens, repairs=repairs, handle_key=key, is_orphan=True
                )
        return Candidate(unit=unit, tokens=sum(map(count, unit.messages)), handle_key=key)

    def _refuse_orphan(self, unit: Unit) -> None:
        if self._mode == "refuse":
            reason = (
                "a tool result without its call"
                if unit.is_stray
                else "a tool call without its result"
            )
            raise InvalidTranscript(index=unit.start, reason=f'{reason}, and orphans="refuse"')


class Compared(NamedTuple):
    """A list compared with the one before: what became of that, and all of the new one from the first change on."""

    change: HostChange
    messages: list[Message]
    payloads: Sequence[object]
    snapshots: list[object]
    digests: tuple[bytes, ...] | None = None  # of the first of all messages, where these changed


class Recorded:
    """What is kept of a host's messages: a snapshot of each, and digests of the first ones, computed on demand.

    It is only added to: where a host's list changes, another one begins. So what it had at a moment can be read from any
    thread, whatever is added meanwhile.
    """

    def __init__(
        self, host: HostFormat, snapshots: list[object], digests: tuple[bytes, ...] = ()
    ) -> None:
        self._host = host
        self.snapshots = snapshots
        self.digests = digests  # more than snapshots after restoring a saved state

    def digests_of(self, messages: int) -> tuple[bytes, ...]:
        """Return the digests of the first messages."""
        known = self.digests
        if len(known) < messages:
            new = map(self._host.digest, self.snapshots[len(known) : messages])
            known = self.digests = (*known, *new)
        return known[:messages]

    def position(self, payload: object, messages: int) -> int | None:
        """Return the last position of a message among the first ones; ``None`` if it is not there.

        Raises:
            ValueError: the host format cannot read it.
        """
        digest = digest_of(self._host, payload)
        snapshot, known = self._host.snapshot(payload), len(self.snapshots)
        for at in range(min(known, messages) - 1, -1, -1):
            if is_equal(self.snapshots[at], snapshot):
                return at
        restored = self.digests[known:messages]  # of messages that were not handed in since
        return max((at for at, each in enumerate(restored, known) if each == digest), default=None)


class History:
    """The host's latest message list, its messages in the user role with their origin."""

    def __init__(
        self,
        host: HostFormat,
        digests: Sequence[bytes] = (),
        declared: Declared = NOTHING_DECLARED,
    ) -> None:
        self.messages: list[Message] = []
        self._host, self._declared = host, declared
        self._payloads: list[object] = []
        self.recorded = Recorded(host, [], tuple(digests))

    @property
    def payloads(self) -> Sequence[object]:
        """The host's own message objects; empty after restoring a saved state."""
        return tuple(self._payloads)

    @property
    def known(self) -> int:
        """Number of messages that were handed in, or that a saved state has."""
        return max(len(self.messages), len(self.recorded.digests))

    @property
    def digests(self) -> tuple[bytes, ...]:
        """One digest per message."""
        return self.recorded.digests_of(self.known)

    def positions(self, digests: AbstractSet[bytes]) -> frozenset[int]:
        """Return the positions of the messages with these digests."""
        if not digests:
            return frozenset()
        return frozenset(i for i, digest in enumerate(self.digests) if digest in digests)

    def is_continued_by(self, payloads: Sequence[object], most_new: int) -> bool:
        """Whether a list has at most this many messages that are not objects of the last one, as far as a few probes say."""
        known = self._payloads
        if len(payloads) <= most_new:
            return bool(known)
        last = len(known) - 1
        if last < 0 or not last < len(payloads) <= last + 1 + most_new:
            return False
        return all(payloads[at] is known[at] for at in range(last, -1, -1 - last // PROBES))

    def update(self, payloads: Sequence[object]) -> HostChange:
        """Read the host's list; return what became of the messages that were known."""
        compared = self.compared(payloads)
        self.take(compared)
        return compared.change

    def take(self, compared: Compared) -> None:
        """Make a compared list the latest."""
        same, recorded = min(compared.change.same, len(self.messages)), self.recorded
        self.messages[same:] = compared.messages
        self._payloads[same:] = compared.payloads
        if compared.digests is None:
            recorded.snapshots += compared.snapshots
        else:
            snapshots = [*recorded.snapshots[:same], *compared.snapshots]
            self.recorded = Recorded(self._host, snapshots, compared.digests)

    def compared(self, payloads: Sequence[object]) -> Compared:
        """Compare the host's list with the one before, and read what is new in it."""
        return self._with_origins(self._compared(payloads))

    def _compared(self, payloads: Sequence[object]) -> Compared:
        common = self._same_from(payloads, self._identical(payloads))
        known = len(self._payloads)
        if len(self.recorded.digests) > known:
            return self._restored(payloads)
        run = Run(0, 0, common)
        if common == known:
            new = payloads[common:]
            messages = self._of(self._host.read, new, common)
            snapshots = self._of(self._host.snapshot, new, common)
            change = HostChange(known=known, same=common, runs=(run,))
            return Compared(change, messages, new, snapshots)
        seen = dict[int, object]()
        further = self._edited(payloads, common)
        further = self._moved(payloads, common, seen) if further is None else further
        return self._read(payloads, HostChange.of(known, [run][not common :] + further), seen)

    def _restored(self, payloads: Sequence[object]) -> Compared:
        """Compare with the digests of a saved state."""
        messages = self._of(self._host.read, payloads, 0)
        snapshots = self._of(self._host.snapshot, payloads, 0)
        digests, known = tuple(map(self._host.digest, snapshots)), self.recorded.digests
        change = HostChange.of(len(known), aligned(known, digests))
        same = min(change.same, len(self.messages))  # nothing was read before
        return Compared(change, messages[same:], payloads, snapshots[same:], digests)

    def _read(
        self, payloads: Sequence[object], change: HostChange, seen: Mapping[int, object]
    ) -> Compared:
        """Read what no run of a change has; ``seen`` are snapshots by position."""
        same, rest, at = change.same, payloads[change.same :], change.same
        messages, snapshots = list[Message](), list[object]()
        recorded, digests = self.recorded, list(self.recorded.digests[:same])
        is_known = len(recorded.digests) == change.known
        for run in (*change.runs, Run(change.known, len(payloads), 0)):
            if run.new < at:
                continue
            new = payloads[at : run.new]
            messages += self._of(self._host.read, new, at)
            fresh = [
                seen[i] if i in seen else self._of(self._host.snapshot, [payloads[i]], i)[0]
                for i in range(at, run.new)
            ]
            snapshots += fresh
            stays = slice(run.old, run.old + run.length)
            messages += self.messages[stays]
            snapshots += recorded.snapshots[stays]
            if is_known:
                digests += [*map(self._host.digest, fresh), *recorded.digests[stays]]
            at = run.new + run.length
        return Compared(change, messages, rest, snapshots, tuple(digests))

    def _with_origins(self, compared: Compared) -> Compared:
        """Return a compared list with the origin of each message in the user role that is new, or behind a change of the list."""
        new, same = compared.messages, min(compared.change.same, len(self.messages))
        users = [at for at, each in enumerate(new, same) if each.role == "user"]
        if not users:
            return compared
        behind = {run.new + i for run in compared.change.runs for i in range(LOOK_BACK)}
        due = [at for at in users if not new[at - same].origin or at in behind]
        before = self.messages[max(0, same - LOOK_BACK) : same]
        known, first = [*before, *new], same - len(before)
        for at in due:
            asked = asked_before(known, at - first)
            known[at - first] = with_origin(known[at - first], asked, self._declared)
        return compared._replace(messages=known[len(before) :])

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
        return same_prefix(known, payloads)

    def _same_from(self, payloads: Sequence[object], identical: int) -> int:
        """Return where payloads and what is known at the same places begin to differ, from ``identical`` on."""
        common = min(len(self._payloads), len(payloads))
        known, rest = self.recorded.snapshots[identical:common], payloads[identical:common]
        if known == rest:
            return common  # copies of plain data: one list comparison
        for at, (snapshot, payload) in enumerate(zip(known, rest, strict=True), identical):
            if snapshot != payload and [snapshot] != self._of(self._host.snapshot, [payload], at):
                common = at
                break
        # Some hosts recreate old message objects (Agent Framework on each run): keep the newest objects.
        self._payloads[identical:common] = payloads[identical:common]
        return common

    def _edited(self, payloads: Sequence[object], common: int) -> list[Run] | None:
        """Return what stays behind ``common`` where it was, if no more than a few messages were replaced; else ``None``."""
        known, at = len(self._payloads), common
        runs: list[Run] = []
        for _ in range(MOST_EDITED if len(payloads) >= known else 0):
            start = at + 1
            same = same_prefix(self._payloads[start:], payloads[start:])
            at = self._same_from(payloads, start + same)
            runs += [Run(start, start, at - start)] if at > start else []
            if at >= known:
                return runs if runs and runs[-1].old + runs[-1].length == known else None
        return None

    def _moved(self, payloads: Sequence[object], common: int, seen: dict[int, object]) -> list[Run]:
        """Return what stays behind ``common``, wherever it is now; snapshots that it takes are put into ``seen``."""
        known = range(common, len(self._payloads))
        first = {id(self._payloads[i]): i for i in reversed(known)}
        new = [first.get(id(payload)) for payload in payloads[common:]]
        left, old = set(known).difference(each for each in new if each is not None), list(known)
        if left and None in new:
            digests, by_content = self.digests, dict[bytes, int]()
            for i in sorted(left):
                old[i - common] = by_content.setdefault(digests[i], i)
            for at, payload in enumerate(payloads[common:], common):
                if new[at - common] is None:
                    [seen[at]] = self._of(self._host.snapshot, [payload], at)
                    new[at - common] = by_content.get(self._host.digest(seen[at]))
        keys = [-1 - at if key is None else key for at, key in enumerate(new)]
        return [Run(common + a, common + b, n) for a, b, n in aligned(old, keys)]

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


def digest_of(host: HostFormat, payload: object) -> bytes:
    """Return the digest that identifies a payload; raise `ValueError` if the host format cannot read it."""
    host.read(payload)
    return host.digest(host.snapshot(payload))


def is_equal(one: object, other: object) -> bool:
    """Return True if two snapshots are equal; those that cannot be compared are not."""
    try:
        return bool(one == other)
    except (ValueError, RecursionError):
        return False
