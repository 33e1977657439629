"""Which units of a conversation show a file as it was before it changed on disk.

A unit is read once, by what its calls name. What a later unit shows again is no longer shown by the older one.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

from autogen_context.messages.piece import same_at_front
from autogen_context.messages.tool_action import path_of
from autogen_context.messages.tool_call import ToolKinds, actions_of
from autogen_context.prioritizer.references import Superseded
from autogen_context.view.decision import Candidate, Decision
from autogen_context.view.notice import Notice

CHANGED = "{path} changed on disk since it was read above"
DELETED = "{path} was deleted from disk since it was read above"
FURTHER = "{name} may have changed further"


class FilesShown:
    """The files that one conversation shows."""

    def __init__(self, kinds: ToolKinds) -> None:
        self._kinds = kinds
        self._read: list[Candidate] = []
        self._superseded = Superseded()
        self._from_root: defaultdict[str, set[str]] = defaultdict(set)  # by their ends

    def follow(self, candidates: Sequence[Candidate]) -> None:
        """Read what is new, and forget what is no longer there."""
        same = len(self._read)
        if same and (same > len(candidates) or self._read[-1] is not candidates[same - 1]):
            same = same_at_front(self._read, candidates)
            self._superseded.truncate(same)
            del self._read[same:]
        for candidate in candidates[same:]:
            actions = actions_of(candidate.unit, self._kinds)
            for path in {view.path for action in actions for view in action.views}:
                for end in ends_of(path):
                    self._from_root[end].add(path)
            self._superseded.add(candidate.unit, actions)
            self._read.append(candidate)

    def units(self, path: str, *, position: int) -> frozenset[int]:
        """The units in front of a position that show a file, or look for it, and that no later unit shows again.

        A path from the root and one that it ends with may be the same file.
        """
        file = path_of(path)
        same = {file, *ends_of(file), *self._from_root.get(file, ())}
        shown = (unit for each in same for unit in self._superseded.showing(each))
        return frozenset(unit for unit in shown if self._read[unit].unit.start < position)

    def stale(self, notices: Iterable[Notice]) -> frozenset[int]:
        """The units that show what these notices say has changed."""
        units = (self.units(notice.key, position=notice.position) for notice in notices)
        return frozenset[int]().union(*units)


def in_sight(units: Collection[int], decisions: Sequence[Decision]) -> bool:
    """Whether something of one of these units is sent."""
    return any(decisions[unit].action != "drop" for unit in units)


def ends_of(path: str) -> Iterator[str]:
    """The paths that one from the root ends with; any other has none."""
    end = path
    while path.startswith("/") and "/" in end:
        end = end.partition("/")[2]
        yield end
