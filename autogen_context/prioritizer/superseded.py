"""What later units make worthless: the same file read again, the same test run again, a file written since.

Promise: a unit is superseded only where later units show all that it shows; what it points to is later than it. Forgetting
the last units leaves what would be there had they never come. A unit costs about the same however many there are.

A failed call supersedes nothing. So does a read that gives far less than the older one, such as "unchanged since".
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from autogen_context.messages.segment import Unit
from autogen_context.messages.tool_action import ToolAction, ToolKind, View, answers_of, is_failure
from autogen_context.messages.tool_call import BY_NAME, ToolKinds, actions_of

LEAST_FRACTION = 0.5  # of an older read's characters, that a newer one must have to take its place
OUTCOMES: frozenset[ToolKind] = frozenset({"run", "test"})  # that they failed is what came out
MOST_COMPARED = 200  # of the views of one file, with a newer one
TOLD_CHARS = 80  # of a command, in a reason
IN_CALL = 2**62  # characters of a content that stands in the call itself: nothing of it is missing

_WORDS: Mapping[ToolKind, str] = {
    "read": "read",
    "write": "version",
    "search": "search",
    "run": "run",
    "test": "run",
}


@dataclass(slots=True, kw_only=True, eq=False)
class _Shown:
    """One thing that a unit shows: a view of a file, or the answer to what was asked; and what became of it."""

    unit: int
    kind: ToolKind
    what: View | str
    chars: int
    by: int | None = None
    stale: int | None = None


@dataclass(slots=True, kw_only=True)
class _Entry:
    """A unit: what it shows, what it made of older units, and whether it did more than can be shown again."""

    shown: list[_Shown] = field(default_factory=list[_Shown])
    replaced: list[_Shown] = field(default_factory=list[_Shown])
    outdated: list[_Shown] = field(default_factory=list[_Shown])
    lasting: bool = False


class Superseded:
    """Which unit of a growing list is superseded by which."""

    def __init__(self) -> None:
        self._entries: list[_Entry] = []
        self._shown: defaultdict[str, list[_Shown]] = defaultdict(list)  # by place

    def __len__(self) -> int:
        """How many units there are."""
        return len(self._entries)

    def add(self, unit: Unit, actions: Sequence[ToolAction] | None = None) -> None:
        """Append a unit.

        Args:
            unit: the unit; a call without a result supersedes nothing yet.
            actions: what its calls do, in their order; by the names of the tools where nothing is given.
        """
        entry = _Entry()
        self._entries.append(entry)
        answers = answers_of(unit)
        known = actions_of(unit) if actions is None else actions
        for action, (_, answer) in zip(known, answers, strict=True):
            self._done(action, answer, entry)

    def truncate(self, units: int) -> None:
        """Forget all but the first so many units.

        Raises:
            ValueError: there are fewer, or the number is negative.
        """
        if not 0 <= units <= len(self):
            raise ValueError(f"units={units}: give 0 to {len(self)}, what is there")
        while len(self) > units:
            self._forget_last()

    def by(self, index: int) -> int | None:
        """The later unit that, with those before it, shows all that this one shows; ``None`` where none does."""
        entry = self._entries[index]
        found = [shown.by for shown in entry.shown if shown.by is not None]
        complete = not entry.lasting and 0 < len(found) == len(entry.shown)
        return max(found) if complete else None

    @property
    def paths(self) -> Collection[str]:
        """The files of which something is shown, and what else was asked, under names that no file has."""
        return self._shown.keys()

    def showing(self, path: str) -> list[int]:
        """The units that show something of a file, or tried to, which no later unit shows, oldest first."""
        return [shown.unit for shown in self._shown.get(path, ()) if shown.by is None]

    def stale(self, index: int) -> int | None:
        """The first later unit that changed a file which this one shows; ``None`` where none did."""
        found = [shown.stale for shown in self._entries[index].shown if shown.stale is not None]
        return min(found, default=None)

    def reason(self, index: int) -> str:
        """Why a unit is superseded or stale, in words; empty where it is neither."""
        shown = self._entries[index].shown
        if self.by(index) is not None:
            return f"older {_WORDS.get(shown[0].kind, 'call')} of {told(shown[0])}"
        changed = next((each for each in shown if each.stale is not None), None)
        return f"{told(changed)} was changed since" if changed else ""

    def _done(self, action: ToolAction, answer: str | None, entry: _Entry) -> None:
        """Note what a call did."""
        worked = answer is not None and not is_failure(answer)
        if worked:
            for path in action.writes:
                self._outdate(path, entry)
        here, size = len(self) - 1, len(answer or "")
        for view in action.views:
            chars = IN_CALL if view.path in action.writes else size
            shown = _Shown(unit=here, kind=action.kind, what=view, chars=chars)
            self._show(shown, entry, counts=worked)
        if action.key:
            shown = _Shown(unit=here, kind=action.kind, what=action.key, chars=size)
            came_out = answer is not None and action.kind in OUTCOMES
            self._show(shown, entry, counts=worked or came_out)
        whole = {view.path for view in action.views if view.whole}
        shows_all = bool(action.views or action.key) and whole.issuperset(action.writes)
        entry.lasting |= not shows_all

    def _outdate(self, path: str, entry: _Entry) -> None:
        """A file was written: what was shown of it is stale; of what was shown before the last time it is already."""
        here = len(self) - 1
        for shown in reversed(self._shown.get(path, ())):
            if shown.stale is not None:
                return
            if shown.unit < here:
                shown.stale = here
                entry.outdated.append(shown)

    def _show(self, shown: _Shown, entry: _Entry, *, counts: bool) -> None:
        """A unit shows something; if that counts, what was shown of it before has had its time."""
        entry.shown.append(shown)
        same = self._shown[place_of(shown.what)]
        for older in same[-MOST_COMPARED:] if counts else ():
            if older.by is None and replaces(shown, older):
                older.by = shown.unit
                entry.replaced.append(older)
        same.append(shown)

    def _forget_last(self) -> None:
        """Take back the newest unit and what it made of older ones."""
        entry = self._entries.pop()
        for shown in reversed(entry.shown):
            place = place_of(shown.what)
            self._shown[place].pop()
            if not self._shown[place]:
                del self._shown[place]
        for older in entry.replaced:
            older.by = None
        for older in entry.outdated:
            older.stale = None


def superseded(units: Sequence[Unit], kinds: ToolKinds = BY_NAME) -> dict[int, int]:
    """Which of these units are superseded, by position, and by which."""
    found = Superseded()
    for unit in units:
        found.add(unit, actions_of(unit, kinds))
    by = {index: found.by(index) for index in range(len(found))}
    return {index: newer for index, newer in by.items() if newer is not None}


def replaces(newer: _Shown, older: _Shown) -> bool:
    """Whether what is shown now is all that was shown before."""
    if isinstance(newer.what, str) or isinstance(older.what, str):
        return newer.what == older.what
    return newer.what.covers(older.what) and newer.chars >= LEAST_FRACTION * older.chars


def place_of(what: View | str) -> str:
    """Where things are kept that may supersede each other; no file has such a name as what was asked."""
    return what.path if isinstance(what, View) else f"\0{what}"


def told(shown: _Shown) -> str:
    """What was shown, in words."""
    what = shown.what.told() if isinstance(shown.what, View) else shown.what
    return what if len(what) <= TOLD_CHARS else f"{what[:TOLD_CHARS]}…"
