"""Versions as JSON data, and back.

Promise: what is read equals what was written. A decision that several versions share, or a version and the state around
them, is written once; a version names stretches of them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import pairwise

from autogen_context.messages.record import Record
from autogen_context.session.decisions_json import checked, dump_decision, load_decision
from autogen_context.session.notices_json import dump_notices, load_notices
from autogen_context.session.versions import Kept, Moment, Past, Version
from autogen_context.view.decision import Decision


class Table:
    """Decisions, each once, by the number that it has in a list.

    Args:
        decisions: the first of them.
    """

    def __init__(self, decisions: Iterable[Decision] = ()) -> None:
        self.decisions: list[Decision] = []
        self._by_content: dict[Decision, int] = {}
        self._by_identity: dict[int, int] = {}  # what is shared need not be compared
        self._given: list[Decision] = []  # so that no other object gets their identity
        for decision in decisions:
            self.number(decision)

    def number(self, decision: Decision) -> int:
        """Where a decision stands; behind the others from now on, where it is new."""
        known = self._by_identity.get(id(decision))
        if known is None:
            known = self._by_content.setdefault(decision, len(self.decisions))
            if known == len(self.decisions):
                self.decisions.append(decision)
            self._by_identity[id(decision)] = known
            self._given.append(decision)
        return known


def dump_versions(records: Sequence[Kept], decisions: Sequence[Decision]) -> dict[str, object]:
    """Versions as JSON data.

    Args:
        records: the versions with what they hold.
        decisions: what is written elsewhere in the same data, each once.
    """
    table = Table(decisions)
    versions = [dump_version(version, moment, table) for version, moment in records]
    others = table.decisions[len(decisions) :]
    return {"decisions": [dump_decision(d) for d in others], "versions": versions}


def dump_version(version: Version, moment: Moment, table: Table) -> dict[str, object]:
    """A version as JSON data."""
    numbers = [table.number(decision) for decision in moment.past.decisions]
    return {
        **asdict(version),
        "decided": list(stretches(numbers)),
        "pins": sorted(pin.hex() for pin in moment.pins),
        "notices": dump_notices(moment.notices),
        "must_replan": moment.must_replan,
        "same": moment.same,
    }


def stretches(numbers: Sequence[int]) -> Iterator[dict[str, int]]:
    """Where a sequence counts up, the first and the last of each stretch."""
    breaks = [i for i, (a, b) in enumerate(pairwise(numbers), 1) if b != a + 1]
    for start, stop in pairwise([0, *breaks, len(numbers)]):
        if start < stop:
            yield {"first": numbers[start], "last": numbers[stop - 1]}


def load_versions(data: Record, decisions: Sequence[Decision], *, known: int) -> tuple[Kept, ...]:
    """Versions from JSON data.

    Args:
        data: the versions.
        decisions: what is written elsewhere in the same data.
        known: how many messages are known.

    Raises:
        ValueError: a version names decisions that there are not, or that do not follow each other, or is out of order.
    """
    table = [*decisions, *map(load_decision, data.records("decisions"))]
    kept = tuple(load_version(record, table) for record in data.records("versions"))
    for (older, _), (newer, _) in pairwise(kept):
        if newer.number <= older.number:
            raise ValueError(f"version {newer.number} after {older.number}")
    for _, moment in kept:
        checked(moment.decisions, known=known)
    return kept


def load_version(data: Record, table: Sequence[Decision]) -> Kept:
    """A version from JSON data."""
    version = Version(
        number=data.whole("number"),
        kind=data.text("kind"),
        summary=data.text("summary"),
        tokens=data.whole("tokens"),
        timestamp=data.number("timestamp"),
    )
    moment = Moment(
        past=Past([d for stretch in data.records("decided") for d in named_in(stretch, table)]),
        pins=frozenset(map(bytes.fromhex, data.texts("pins"))),
        notices=load_notices(data.record("notices")),
        must_replan=data.flag("must_replan"),
        same=None if data.is_null("same") else data.whole("same"),
    )
    return version, moment


def named_in(stretch: Record, table: Sequence[Decision]) -> Sequence[Decision]:
    """The decisions of a stretch."""
    first, last = stretch.whole("first"), stretch.whole("last")
    if not 0 <= first <= last < len(table):
        raise ValueError(f"decisions {first} to {last} of {len(table)}")
    return table[first : last + 1]
