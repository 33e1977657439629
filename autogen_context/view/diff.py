"""What is different between two versions.

Promise: pure; a diff of a version with itself is empty, and ``str()`` of it says so.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from typing_extensions import override

from autogen_context.view.decision import Decision
from autogen_context.view.notice import Notice
from autogen_context.view.view import ContextView

SHOWN_UNITS = 20  # of those that differ, in the text


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
    old, new = told(before.notices.standing), told(after.notices.standing)
    return VersionDiff(
        a=a,
        b=b,
        units=tuple(units_of(before.decisions, after.decisions)),
        notes_gone=tuple(text for text in old if text not in new),
        notes_new=tuple(text for text in new if text not in old),
        pins_gone=hexed(before.pins - after.pins),
        pins_new=hexed(after.pins - before.pins),
    )


def units_of(before: Sequence[Decision], after: Sequence[Decision]) -> Iterator[UnitDiff]:
    """The units of which something else was decided."""
    old, new = by_start(before), by_start(after)
    for start in sorted(old.keys() | new.keys()):
        was, now = old.get(start), new.get(start)
        if was is not now and become(was) != become(now):
            yield UnitDiff(start=start, before=was, after=now)


def become(decision: Decision | None) -> tuple[object, ...]:
    """What became of a unit, whatever the reason."""
    return (decision.stop, decision.action, decision.sent) if decision else ()


def by_start(decisions: Sequence[Decision]) -> Mapping[int, Decision]:
    """Decisions by where their units begin."""
    return {decision.start: decision for decision in decisions}


def told(notices: Sequence[Notice]) -> dict[str, None]:
    """What notices tell, in their order."""
    return dict.fromkeys(notice.told for notice in notices)


def hexed(pins: frozenset[bytes]) -> tuple[str, ...]:
    """Digests in hex, in an order that depends on nothing else."""
    return tuple(sorted(pin.hex() for pin in pins))


def said(decision: Decision | None) -> str:
    """A decision in words."""
    if decision is None:
        return "not there"
    in_front = ", with something in front" if decision.before else ""
    return f"{decision.action} ({decision.tokens_after} tokens{in_front})"
