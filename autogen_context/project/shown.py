"""Which units of a conversation show a file as it was before it changed on disk.

Promise: a unit is read once, by what its calls name, and only where somebody asks. What a later unit shows again is no
longer shown by the older one.
"""

from collections.abc import Collection, Iterable, Sequence

from autogen_context.messages.prefix import same_at_front
from autogen_context.messages.tool_action import path_of
from autogen_context.messages.tool_call import ToolKinds, actions_of
from autogen_context.prioritizer.superseded import Superseded
from autogen_context.view.decision import Candidate, Decision
from autogen_context.view.notice import Notice


class FilesShown:
    """The files that one conversation shows.

    Args:
        kinds: what tools do.
    """

    def __init__(self, kinds: ToolKinds) -> None:
        self._kinds = kinds
        self._read: list[Candidate] = []
        self._superseded = Superseded()

    def follow(self, candidates: Sequence[Candidate]) -> None:
        """Read what is new, and forget what is no longer there."""
        same = same_at_front(self._read, candidates)
        self._superseded.truncate(same)
        del self._read[same:]
        for candidate in candidates[same:]:
            self._superseded.add(candidate.unit, actions_of(candidate.unit, self._kinds))
            self._read.append(candidate)

    def units(self, path: str, *, position: int) -> frozenset[int]:
        """The units in front of a position that show a file, or look for it, and that no later unit shows again."""
        file = path_of(path)
        shown = (
            unit
            for known in self._superseded.paths
            if is_same_file(known, file)
            for unit in self._superseded.showing(known)
        )
        return frozenset(unit for unit in shown if self._read[unit].unit.start < position)

    def stale(self, notices: Iterable[Notice]) -> frozenset[int]:
        """The units that show what these notices say has changed."""
        units = (self.units(notice.key, position=notice.position) for notice in notices)
        return frozenset[int]().union(*units)


def in_sight(units: Collection[int], decisions: Sequence[Decision]) -> bool:
    """Whether something of one of these units is sent."""
    return any(decisions[unit].action != "drop" for unit in units)


def is_same_file(one: str, other: str) -> bool:
    """Whether two paths may name the same file: equal, or the one from the root ends with the other."""
    if one == other:
        return True
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    return longer.startswith("/") and longer.endswith(f"/{shorter}")
