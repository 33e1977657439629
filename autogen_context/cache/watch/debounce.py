"""What changed in a burst, told once and in a bounded set.

Promise: each path that was added is in what is taken next, or a folder above it is, which stands for all that is below
it. At most ``most_paths`` are held, however many there were. A path that changes all the time is told all the same.
No clock, no thread: the time is handed in.
"""

from collections import defaultdict

from autogen_context.cache.watch.path import folder_of, upwards

MOST_PATHS = 4_096


class Debouncer:
    """Paths that wait until it is quiet.

    Args:
        debounce_s: how long it must be quiet before they are told, in seconds.
        longest_s: after which time they are told at the latest, from the first of them, in seconds.
        most_paths: how many are held; beyond that, the fullest folders stand for what is in them.
    """

    def __init__(
        self, *, debounce_s: float, longest_s: float, most_paths: int = MOST_PATHS
    ) -> None:
        self._debounce_s = debounce_s
        self._longest_s = longest_s
        self._most_paths = most_paths
        self._tops: dict[str, str] = {}  # path -> the folder above which it must not be told
        self._first = self._last = 0.0

    def add(self, path: str, *, top: str, now: float) -> None:
        """A path changed.

        Args:
            path: absolute; of a folder, it stands for all below it.
            top: the path itself or a folder above it; nothing above this is ever told in its place.
            now: the time, in seconds.
        """
        if not self._tops:
            self._first = now
        self._last = now
        if path in self._tops or self.holds(
            path
        ):  # most events are of a file that has just changed
            return
        self._tops[path] = top
        if len(self._tops) > self._most_paths:
            self._tops = _folded(self._tops, most=self._most_paths // 2)

    def holds(self, path: str) -> bool:
        """Whether a change waits to be told of a path, or of a folder above it."""
        return bool(self._tops) and any(each in self._tops for each in upwards(path))

    @property
    def due_at(self) -> float | None:
        """When the paths are to be told, in seconds on the clock of ``add``; ``None`` where there are none."""
        if not self._tops:
            return None
        return min(self._last + self._debounce_s, self._first + self._longest_s)

    def take(self) -> list[str]:
        """All that waits, by name; then nothing waits."""
        taken, self._tops = self._tops, {}
        return sorted(taken)


def _folded(tops: dict[str, str], *, most: int) -> dict[str, str]:
    """Fewer paths that stand for the same: the fullest folders go first, and no path goes above its top."""
    while len(tops) > most:
        crowds = _crowds(tops)
        fewer = _without_crowds(tops, crowds, most=most)
        if len(fewer) == len(tops):  # no two in one folder: one level up with all of them
            fewer = {_above(path, top): top for path, top in tops.items()}
        if fewer == tops:  # all of them are tops
            break
        tops = fewer
    return tops


def _crowds(tops: dict[str, str]) -> dict[str, list[str]]:
    """The paths by the folder that could stand for them."""
    crowds: dict[str, list[str]] = defaultdict(list)
    for path, top in tops.items():
        crowds[_above(path, top)].append(path)
    return crowds


def _without_crowds(
    tops: dict[str, str], crowds: dict[str, list[str]], *, most: int
) -> dict[str, str]:
    """The paths, with folders in place of what is in them, until there are few enough."""
    left = dict(tops)
    for folder in sorted(crowds, key=lambda folder: (-len(crowds[folder]), folder)):
        if len(left) <= most or len(crowds[folder]) == 1:
            break
        top = tops[crowds[folder][0]]
        for path in crowds[folder]:
            del left[path]
        left[folder] = top
    return left


def _above(path: str, top: str) -> str:
    return path if path == top else folder_of(path)
