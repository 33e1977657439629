"""Changes of a folder found by looking, where the system does not tell.

Promise: a change that is still there when it is looked for is reported, at least once: size, times and identity of each
entry that is not ignored are compared with those of the last look. At most ``MOST_ENTRIES`` are looked at.
"""

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from itertools import islice

from autogen_context.cache.files.ignored import levels

MOST_ENTRIES = 100_000

_Stamp = tuple[int, ...]
_LOGGER = logging.getLogger(__name__)


class PolledTree:
    """A folder that is looked at.

    Args:
        top: the folder, with no link in its path.
        recursive: whether its folders are looked at too; if not, nothing of it is ignored.
        changed: is told the paths, by whoever calls ``check``.
        most_entries: how many entries are looked at; those that lie deepest are left out.
    """

    is_watching = True

    def __init__(
        self,
        top: str,
        *,
        recursive: bool,
        changed: Callable[[str], None],
        most_entries: int = MOST_ENTRIES,
    ) -> None:
        self._top = top
        self._recursive = recursive
        self._changed = changed
        self._most_entries = most_entries
        self._seen: Mapping[str, _Stamp] = {}

    def start(self) -> None:
        """Look for the first time."""
        self._seen = self._look()
        if len(self._seen) == self._most_entries:
            numbers = {"most_entries": self._most_entries}
            _LOGGER.warning("not all of %s is polled; it is too large", self._top, extra=numbers)

    def stop(self) -> None:
        """Nothing runs here that could end."""

    def check(self) -> None:
        """Look again, and report what differs."""
        before, self._seen = self._seen, self._look()
        for path in differences(before, self._seen):
            self._changed(path)

    def hears(self, path: str) -> bool:
        """Whether changes of an entry are reported: it is not ignored, and was there at the last look."""
        return path == self._top or path in self._seen

    def covers(self, path: str) -> bool:  # noqa: ARG002 - of none
        """Never: what changed since the last look is not known."""
        return False

    def _look(self) -> Mapping[str, _Stamp]:
        entries = self._entries() if self._recursive else _all_in(self._top)
        return dict(islice(_stamped(entries), self._most_entries))

    def _entries(self) -> Iterator[os.DirEntry[str]]:
        for found in levels(self._top):
            yield from found.folders
            yield from found.files


def differences(before: Mapping[str, _Stamp], after: Mapping[str, _Stamp]) -> list[str]:
    """The paths that came, went or have another stamp, by name."""
    return sorted(
        path for path in before.keys() | after.keys() if before.get(path) != after.get(path)
    )


def _all_in(folder: str) -> list[os.DirEntry[str]]:
    """What a folder holds, ignored or not; nothing where it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _stamped(
    entries: Iterator[os.DirEntry[str]] | list[os.DirEntry[str]],
) -> Iterator[tuple[str, _Stamp]]:
    """Entries that are still there, each with what changes when it does."""
    for entry in entries:
        try:
            found = entry.stat(follow_symlinks=False)
            is_folder = entry.is_dir(follow_symlinks=False)
        except OSError:
            continue
        times = (
            found.st_mtime_ns,
            found.st_ctime_ns,
            found.st_size,
        )  # of a folder: of what is in it
        yield entry.path, (found.st_ino, *(() if is_folder else times))
