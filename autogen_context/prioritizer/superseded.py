"""What units show (files, results of commands), and which later unit shows it again.

Promise: a unit is superseded only if later units show everything that it shows. The cost of a unit does not grow with their
number, and forgetting units leaves what was before them.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from autogen_context.messages.tool_action import (
    RUNS,
    ToolAction,
    ToolKind,
    View,
    answers_of,
    outcome_of_call,
    path_of,
)
from autogen_context.messages.tool_call import BY_NAME, ToolKinds, actions_of
from autogen_context.view.decision import Candidate

LEAST_FRACTION = 0.5  # of an older read's characters that a newer read needs to supersede it
MOST_COMPARED = 200  # earlier views of a file compared with a new one
NAMED_CHARS = 80  # of a command in a reason
IN_CALL = 2**62  # size of content that is complete in the call itself
WORDS: Mapping[ToolKind, str] = {
    "read": "read",
    "write": "version",
    "search": "search",
    "run": "run",
    "test": "run",
}


@dataclass(slots=True, kw_only=True, eq=False)
class Shown:
    """One thing that a unit shows: a view of a file, or the result of a command or query; ``by`` shows it again."""

    unit: int
    start: int  # position of the unit's first message
    kind: ToolKind
    what: View | str
    chars: int
    by: int | None = None

    @property
    def place(self) -> str:
        """Key under which things are compared; the prefix keeps commands apart from files."""
        return self.what.path if isinstance(self.what, View) else f"\0{self.what}"

    @property
    def description(self) -> str:
        """Short description for a reason."""
        what = self.what.described() if isinstance(self.what, View) else self.what
        return what if len(what) <= NAMED_CHARS else f"{what[:NAMED_CHARS]}…"

    def replaces(self, older: "Shown") -> bool:
        """Whether it shows all that the older one showed; a far smaller result, such as "unchanged", does not."""
        if isinstance(self.what, str) or isinstance(older.what, str):
            return self.what == older.what
        return self.what.covers(older.what) and self.chars >= LEAST_FRACTION * older.chars


class Superseded:
    """The part of a conversation's index that knows what its units show; ``kinds`` classifies the tools."""

    def __init__(self, kinds: ToolKinds = BY_NAME) -> None:
        self._kinds = kinds
        # What a unit shows, and whether it also did something that no later unit can show; most units do neither.
        self._units: dict[int, tuple[Sequence[Shown], bool]] = {}
        self._shown: defaultdict[str, list[Shown]] = defaultdict(list)  # by place
        self._from_root: defaultdict[str, set[str]] = defaultdict(set)  # absolute paths by suffix

    def add(self, at: int, candidate: Candidate) -> None:
        """Read the next unit; failed and pending calls supersede nothing."""
        unit, found, lasting = candidate.unit, list[Shown](), False
        for action, (_, answer) in zip(
            actions_of(unit, self._kinds), answers_of(unit), strict=True
        ):
            things = list(shown_by(action, answer))
            for what, chars, counts in things:
                found.append(
                    Shown(unit=at, start=unit.start, kind=action.kind, what=what, chars=chars)
                )
                self._show(found[-1], supersedes=counts)
            whole = {view.path for view in action.views if view.whole}
            lasting |= not things or not whole.issuperset(action.writes)
        if found or lasting:
            self._units[at] = tuple(found), lasting

    def _show(self, shown: Shown, *, supersedes: bool) -> None:
        same = self._shown[shown.place]
        for older in same[-MOST_COMPARED:] if supersedes else ():
            if older.by is None and shown.replaces(older):
                older.by = shown.unit
        for end in ends_of(shown.place) if not same else ():
            self._from_root[end].add(shown.place)
        same.append(shown)

    def truncate(self, units: int) -> int:
        """Forget all units after the first ones, and undo what they superseded."""
        while self._units and next(reversed(self._units)) >= units:
            _, (found, _) = self._units.popitem()
            for shown in reversed(found):
                same = self._shown[shown.place]
                same.pop()
                for older in same[-MOST_COMPARED:]:
                    older.by = None if older.by == shown.unit else older.by
                if not same:
                    self._hide(shown.place)
        return units

    def _hide(self, place: str) -> None:
        """Forget a place that nothing shows any more."""
        del self._shown[place]
        for end in ends_of(place):
            self._from_root[end].discard(place)
            if not self._from_root[end]:
                del self._from_root[end]

    def by(self, index: int) -> int | None:
        """Return the unit from which on everything that this one shows is shown again, or ``None``."""
        shown, lasting = self._units.get(index, ((), False))
        found = [each.by for each in shown if each.by is not None]
        return max(found) if found and len(found) == len(shown) and not lasting else None

    def showing(self, path: str, *, position: int) -> frozenset[int]:
        """Return the units before a position that show or look for a file, unless superseded.

        An absolute path and a suffix of it count as the same file.
        """
        file = path_of(path)
        same = {file, *ends_of(file), *self._from_root.get(file, ())}
        shown = (each for name in same for each in self._shown.get(name, ()) if each.by is None)
        return frozenset(each.unit for each in shown if each.start < position)

    def reason(self, index: int) -> str:
        """Explain why a unit is superseded; empty if it is not."""
        if self.by(index) is None:
            return ""
        first = self._units[index][0][0]
        return f"older {WORDS.get(first.kind, 'call')} of {first.description}"


def shown_by(action: ToolAction, answer: str | None) -> Iterator[tuple[View | str, int, bool]]:
    """Yield what a call shows, its characters, and whether it supersedes what showed the same before."""
    worked = answer is not None and not outcome_of_call(action, answer).failed
    size = len(answer or "")
    for view in action.views:
        yield view, IN_CALL if view.path in action.writes else size, worked
    if action.key:  # a failure is a result of what runs
        yield action.key, size, worked or (answer is not None and action.kind in RUNS)


def ends_of(path: str) -> Iterator[str]:
    """Yield the suffixes of an absolute path; none for a relative one."""
    end = path
    while path.startswith("/") and "/" in end:
        end = end.partition("/")[2]
        yield end
