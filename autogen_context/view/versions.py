"""What a conversation's view was after each change and each compaction, to look at, to compare and to go back to.

Promise: a version is an old view, which shares what it has with those before and behind it. As many as are set are kept, the
oldest go first. A diff of a version with itself is empty, and ``str()`` of it says so.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from typing_extensions import override

from autogen_context.errors import NoSuchVersion
from autogen_context.messages.message import Text
from autogen_context.view.decision import Decision
from autogen_context.view.view import ContextView

SHOWN_UNITS = 20  # of those that differ, in the text


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """What is known of a version.

    Attributes:
        number: counts up from 0, the start.
        kind: ``start``, ``compaction``, ``roll back``, or the type of the change; ``changes`` where several came at once.
        summary: what made it, in words.
        tokens: what the messages that are sent cost, as we count.
        timestamp: when, in seconds since 1970, by the manager's clock.
    """

    number: int
    kind: Text
    summary: Text
    tokens: int
    timestamp: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """The versions of one conversation."""

    most: int
    kept: tuple[tuple[Version, ContextView], ...] = ()
    stop: int = 0  # how many of the host's messages any of them may have decided on

    def __iter__(self) -> Iterator[Version]:
        """Those that are kept, oldest first."""
        return (version for version, _ in self.kept)

    @property
    def newest(self) -> Version:
        """The newest one."""
        return self.kept[-1][0]

    def view(self, number: int) -> ContextView:
        """The view of a version."""
        for version, view in self.kept:
            if version.number == number:
                return view
        raise NoSuchVersion(number, known=tuple(version.number for version, _ in self.kept))

    def recorded(self, kind: str, summary: str, view: ContextView, *, at_s: float) -> "Versions":
        """These and a version of how it is now."""
        number = self.kept[-1][0].number + 1 if self.kept else 0
        version = Version(
            number=number, kind=kind, summary=summary, tokens=view.tokens, timestamp=at_s
        )
        past = ContextView(
            decisions=view.decisions,
            pins=view.pins,
            notices=view.notices,
            must_replan=view.must_replan,
        )
        kept = (*self.kept, (version, past))[-max(1, self.most) :]
        return replace(self, kept=kept, stop=max(self.stop, past.decisions.stop))

    def cut_back(self, messages: int) -> "Versions":
        """These where the host has another past from a message on."""

        def cut(view: ContextView) -> ContextView:
            return replace(
                view,
                decisions=view.decisions.until(messages),
                notices=view.notices.cut_back(messages),
                must_replan=True,
            )

        kept = tuple(
            (version, cut(view) if view.decisions.stop > messages else view)
            for version, view in self.kept
        )
        return replace(self, kept=kept, stop=min(self.stop, messages))


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitDiff:
    """A unit of which something else was decided.

    Attributes:
        start: position of its first message in the host's list.
        before: what was decided in the first version; ``None`` where it was not there.
        after: what was decided in the second; ``None`` where it is not there.
    """

    start: int
    before: Decision | None
    after: Decision | None

    @override
    def __str__(self) -> str:
        """It in a line."""
        return f"message {self.start}: {said(self.before)} -> {said(self.after)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionDiff:
    """What is different between two versions.

    Attributes:
        a: number of the first.
        b: number of the second.
        units: of which something else was decided, in their order.
        notes_gone: what the first told beside the messages and the second does not.
        notes_new: what the second tells and the first did not.
        pins_gone: digests of messages that only the first pinned, in hex.
        pins_new: digests of messages that only the second pins, in hex.
    """

    a: int
    b: int
    units: tuple[UnitDiff, ...] = ()
    notes_gone: tuple[str, ...] = ()
    notes_new: tuple[str, ...] = ()
    pins_gone: tuple[str, ...] = ()
    pins_new: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything is different."""
        return any((self.units, self.notes_gone, self.notes_new, self.pins_gone, self.pins_new))

    @override
    def __str__(self) -> str:
        """The diff in lines."""
        return "\n".join([f"version {self.a} -> version {self.b}", *self._lines()])

    def _lines(self) -> Iterator[str]:
        if not self:
            yield "  no difference"
        yield from (f"  {unit}" for unit in self.units[:SHOWN_UNITS])
        if len(self.units) > SHOWN_UNITS:
            yield f"  … and {len(self.units) - SHOWN_UNITS} more units"
        yield from (f"- {note}" for note in self.notes_gone)
        yield from (f"+ {note}" for note in self.notes_new)
        yield from (f"- pinned {pin}" for pin in self.pins_gone)
        yield from (f"+ pinned {pin}" for pin in self.pins_new)


def difference(a: int, b: int, *, before: ContextView, after: ContextView) -> VersionDiff:
    """What is different between version ``a``, as it was ``before``, and version ``b``, as it is ``after``."""
    old, new = (dict.fromkeys(n.told for n in view.notices.standing) for view in (before, after))
    return VersionDiff(
        a=a,
        b=b,
        units=tuple(units_of(before.decisions, after.decisions)),
        notes_gone=tuple(text for text in old if text not in new),
        notes_new=tuple(text for text in new if text not in old),
        pins_gone=tuple(sorted(pin.hex() for pin in before.pins - after.pins)),
        pins_new=tuple(sorted(pin.hex() for pin in after.pins - before.pins)),
    )


def units_of(before: Sequence[Decision], after: Sequence[Decision]) -> Iterator[UnitDiff]:
    """The units of which something else was decided, whatever the reason."""
    old, new = ({decision.start: decision for decision in each} for each in (before, after))
    for start in sorted(old.keys() | new.keys()):
        was, now = old.get(start), new.get(start)
        if was is now:
            continue
        decided = [each and (each.stop, each.action, each.sent) for each in (was, now)]
        if decided[0] != decided[1]:
            yield UnitDiff(start=start, before=was, after=now)


def said(decision: Decision | None) -> str:
    """A decision in words."""
    if decision is None:
        return "not there"
    in_front = ", with something in front" if decision.before else ""
    return f"{decision.action} ({decision.tokens_after} tokens{in_front})"
