"""Versions: the view of a conversation after each change and compaction, to inspect, compare and roll back to.

Promise: a version is an old view that shares structure with its neighbours. The configured number of versions is kept; the
oldest are dropped first. The diff of a version with itself is empty, and its ``str()`` says so.
"""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from typing_extensions import override

from autogen_context.messages.message import Text
from autogen_context.view.alignment import HostChange
from autogen_context.view.decision import Candidate, Decision
from autogen_context.view.view import ContextView

SHOWN_UNITS = 20  # differing units listed in the text


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """Description of a version.

    Attributes:
        number: counts up from 0, the start.
        kind: ``start``, ``compaction``, ``roll back``, or the type of the change; ``changes`` for several at once.
        summary: description of its cause.
        tokens: counted tokens of the messages as sent.
        timestamp: creation time in seconds since 1970, by the manager's clock.
    """

    number: int
    kind: Text
    summary: Text
    tokens: int
    timestamp: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """The versions of one conversation, at most ``most`` of them."""

    most: int
    kept: tuple[tuple[Version, ContextView], ...] = ()
    stop: int = 0  # number of host messages that the kept decisions may cover

    def __iter__(self) -> Iterator[Version]:
        """Iterate over the kept versions, oldest first."""
        return (version for version, _ in self.kept)

    @property
    def newest(self) -> Version:
        """The newest version."""
        return self.kept[-1][0]

    def view(self, number: int) -> ContextView:
        """Return the view of a version; ``ValueError`` if it is not kept."""
        for version, view in self.kept:
            if version.number == number:
                return view
        oldest, newest = self.kept[0][0].number, self.kept[-1][0].number
        raise ValueError(
            f"no version {number} is kept, only {oldest} to {newest}; see manager.versions"
        )

    def diff(self, a: int, b: int) -> "VersionDiff":
        """Return the differences between two versions; ``ValueError`` if one is not kept."""
        before, after = self.view(a), self.view(b)
        old, new = notices_and_pins(before), notices_and_pins(after)
        return VersionDiff(
            a=a,
            b=b,
            units=tuple(units_of(before.decisions, after.decisions)),
            gone=tuple(each for each in old if each not in new),
            new=tuple(each for each in new if each not in old),
        )

    def recorded(self, kind: str, summary: str, view: ContextView, *, at_s: float) -> "Versions":
        """Return the versions with one of the given view added; the oldest is dropped beyond ``most``."""
        number = self.kept[-1][0].number + 1 if self.kept else 0
        version = Version(
            number=number, kind=kind, summary=summary, tokens=view.tokens, timestamp=at_s
        )
        kept = (*self.kept, (version, view.past))[-max(1, self.most) :]
        return replace(self, kept=kept, stop=max(self.stop, view.decisions.stop))

    def renamed(self, digests: Mapping[bytes, bytes]) -> "Versions":
        """Return the versions with the pins of these messages under other digests."""
        return replace(
            self, kept=tuple((version, past.renamed(digests)) for version, past in self.kept)
        )

    def without(self, positions: AbstractSet[int], lines: AbstractSet[str]) -> "Versions":
        """Return the versions without what tells of messages at these positions, with these lines."""
        kept = tuple(
            (version, past.begun_anew().past if past.has_derived(positions, lines) else past)
            for version, past in self.kept
        )
        return replace(self, kept=kept)

    def realigned(self, change: HostChange, candidates: Sequence[Candidate]) -> "Versions":
        """Return the versions after the host changed its list to these units."""
        if change.same >= self.stop or change.heads:
            return self  # the tokens of a prompt are corrected where a version is gone back to
        kept = tuple(
            (version, past.realigned(change, candidates).past) for version, past in self.kept
        )
        stop = max((past.decisions.stop for _, past in kept), default=0)
        return replace(self, kept=kept, stop=stop)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitDiff:
    """A unit whose decision differs between two versions.

    Attributes:
        start: position of its first message in the host's list.
        before: its decision in the first version; ``None`` if it was not in it.
        after: its decision in the second version; ``None`` if it is not in it.
    """

    start: int
    before: Decision | None
    after: Decision | None

    @override
    def __str__(self) -> str:
        """Return the difference as one line."""
        return f"message {self.start}: {said(self.before)} -> {said(self.after)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionDiff:
    """Differences between two versions.

    Attributes:
        a: number of the first.
        b: number of the second.
        units: units whose decisions differ, in conversation order.
        gone: notices and pins only in the first, in words.
        new: notices and pins only in the second.
    """

    a: int
    b: int
    units: tuple[UnitDiff, ...] = ()
    gone: tuple[str, ...] = ()
    new: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Return True if anything differs."""
        return any((self.units, self.gone, self.new))

    @override
    def __str__(self) -> str:
        """Return the differences, one per line."""
        lines = [f"version {self.a} -> version {self.b}"]
        lines += [f"  {unit}" for unit in self.units[:SHOWN_UNITS]]
        if len(self.units) > SHOWN_UNITS:
            lines.append(f"  … and {len(self.units) - SHOWN_UNITS} more units")
        lines += [*(f"- {gone}" for gone in self.gone), *(f"+ {new}" for new in self.new)]
        return "\n".join(lines if self else [*lines, "  no difference"])


def notices_and_pins(view: ContextView) -> list[str]:
    """Return the valid notices and the pins of a view, in words."""
    pins = sorted(f"pinned {pin.hex()}" for pin in view.pins)
    return list(dict.fromkeys([*(notice.rendered for notice in view.notices.in_force), *pins]))


def units_of(before: Sequence[Decision], after: Sequence[Decision]) -> Iterator[UnitDiff]:
    """Yield the units whose range, action or sent pieces differ; reasons are not compared."""
    old, new = ({decision.start: decision for decision in each} for each in (before, after))
    for start in sorted(old.keys() | new.keys()):
        was, now = old.get(start), new.get(start)
        if was is now:
            continue
        decided = [each and (each.stop, each.action, each.sent) for each in (was, now)]
        if decided[0] != decided[1]:
            yield UnitDiff(start=start, before=was, after=now)


def said(decision: Decision | None) -> str:
    """Return a decision in words."""
    if decision is None:
        return "not there"
    preceded = ", with something in front" if decision.before else ""
    return f"{decision.action} ({decision.tokens_after} tokens{preceded})"
