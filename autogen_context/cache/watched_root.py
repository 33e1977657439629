"""A folder that is followed, whatever becomes of it: by what the system tells, or by looking where it does not tell.

Promise: while it is there, its changes are learned of. That it went, came back or is another one is a change of all that
is in it. Where it is looked at, that is said once with the reason.
"""

import logging
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from autogen_context.cache.files import levels

if TYPE_CHECKING:
    from watchdog.observers.inotify_c import InotifyFD

MOST_ENTRIES = 100_000
# What another machine writes there, the kernel of this one does not learn.
REMOTE = frozenset(
    {
        *("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "coda", "lustre", "gpfs"),
        *("beegfs", "glusterfs", "gfs2", "ocfs2", "orangefs", "davfs"),
        *("virtiofs", "vboxsf", "vmhgfs", "prl_fs", "drvfs", "fakeowner", "fuse"),
    }
)

_LOGGER = logging.getLogger(__name__)
_ESCAPED = re.compile(r"\\([0-7]{3})")


class Source(Protocol):
    """Where the changes of a folder are learned of."""

    @property
    def is_watching(self) -> bool:
        """Whether it does so."""
        ...

    def covers(self, folder: str) -> bool:
        """Whether each change of what is in a folder, and not ignored, is learned of at once."""
        ...

    def check(self) -> None:
        """Do what is due from time to time."""
        ...

    def stop(self) -> None:
        """End."""
        ...


def begin_reading() -> "InotifyFD":
    """Read what the system tells, in a thread of its own.

    Raises:
        OSError: the system has no more of what it takes.
    """
    from watchdog.observers.inotify_c import InotifyFD  # noqa: PLC0415 - Linux has it

    reader = InotifyFD()
    reader.name = "file-watch-reader"
    reader.start()
    return reader


class Sources:
    """Finds a source for each folder; one at a time.

    Args:
        poll: whether all are polled, since the system would not tell.
        begin: begins to read what the system tells.
    """

    def __init__(self, *, poll: bool, begin: "Callable[[], InotifyFD]" = begin_reading) -> None:
        self._poll = poll
        self._begin = begin
        self._reader: InotifyFD | None = None
        self._told: set[str] = set()

    @property
    def is_alive(self) -> bool:
        """Whether what the system tells is read, where anything is."""
        return self._reader is None or self._reader.is_alive()

    def begin(self, top: str, *, recursive: bool, changed: Callable[[str], None]) -> Source:
        """Learn of the changes of a folder from now on; of one with a link in its path, nothing is told."""
        reason = "" if self._poll else reason_to_poll(top)
        if reason is None:
            from autogen_context.cache.inotify import InotifyTree  # noqa: PLC0415 - Linux has it

            try:
                if self._reader is None or not self._reader.is_alive():
                    self._reader = self._begin()
                return InotifyTree(self._reader, top, recursive=recursive, changed=changed)
            except OSError as error:
                reason = error.strerror or str(error)
        if reason and top not in self._told:
            self._told.add(top)
            _LOGGER.warning("%s is polled: %s", top, reason)
        return PolledTree(top, recursive=recursive, changed=changed)

    def stop(self) -> None:
        """Read no more of what the system tells."""
        if self._reader is not None:
            self._reader.stop()


class WatchedRoot:
    """A folder that is followed.

    Args:
        path: absolute; links in it are followed.
        recursive: whether all below it is followed; if not, the names in ``only`` are.
        sources: finds where its changes are learned of.
        changed: is told a path, and the folder above which nothing stands for it.
    """

    def __init__(
        self, path: str, *, recursive: bool, sources: Sources, changed: Callable[[str, str], None]
    ) -> None:
        self.only: set[str] = set()
        self._path = path
        self._recursive = recursive
        self._sources = sources
        self._changed = changed
        self._identity: tuple[str, int, int] | None = None
        self._source: Source | None = None

    def start(self) -> None:
        """Follow it from now on, if it is there."""
        self._identity = _identity(self._path)
        if self._identity is not None:
            self._source = self._sources.begin(
                self._identity[0], recursive=self._recursive, changed=self._change
            )

    def check(self) -> None:
        """Look whether it is still what it was, and do what is due."""
        watching = self._source is not None and self._source.is_watching
        identity = _identity(self._path)
        if identity != self._identity or (identity and not watching):
            self.stop()
            self.start()
            self._tell(self._path)
        elif self._source is not None:
            self._source.check()

    def stop(self) -> None:
        """Follow it no more."""
        if self._source is not None:
            self._source.stop()
        self._source = None

    def covers(self, folder: str) -> bool:
        """Whether each change of what is in a folder, and not ignored, is learned of at once."""
        source, identity = self._source, self._identity
        if source is None or identity is None or not self._recursive:
            return False
        if folder != self._path and not folder.startswith(self._path.rstrip(os.sep) + os.sep):
            return False
        return source.covers(identity[0] + folder[len(self._path) :])

    def _change(self, path: str) -> None:
        """A path below changed, or all that is; by a name without links."""
        top = self._identity[0] if self._identity else self._path
        self._tell(self._path + path[len(top) :])

    def _tell(self, path: str) -> None:
        if self._recursive:
            self._changed(path, self._path)
            return
        for each in sorted(self.only) if path == self._path else self.only & {path}:
            self._changed(each, each)


class PolledTree:
    """A folder that is looked at: a change that is still there at the next look is told, at least once.

    Size, times and identity of each entry that is not ignored are compared; nothing is opened.

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
        self._seen = self._look()
        if len(self._seen) == most_entries:
            numbers = {"most_entries": most_entries}
            _LOGGER.warning("not all of %s is polled; it is too large", top, extra=numbers)

    def stop(self) -> None:
        """Nothing runs here that could end."""

    def check(self) -> None:
        """Look again, and tell what differs, by name."""
        before, self._seen = self._seen, self._look()
        for path in sorted(before.keys() | self._seen.keys()):
            if before.get(path) != self._seen.get(path):
                self._changed(path)

    def covers(self, folder: str) -> bool:  # noqa: ARG002 - of none
        """Never: what changed since the last look is not known."""
        return False

    def _look(self) -> Mapping[str, tuple[int, ...]]:
        """Each entry with what changes when it does; of a folder that is which one it is: the rest is of what is in it."""
        seen: dict[str, tuple[int, ...]] = {}
        for entry in islice(self._entries(), self._most_entries):
            with suppress(OSError):  # it went in the meantime
                found = entry.stat(follow_symlinks=False)
                times = (found.st_mtime_ns, found.st_ctime_ns, found.st_size)
                is_folder = entry.is_dir(follow_symlinks=False)
                seen[entry.path] = (found.st_ino, *(() if is_folder else times))
        return seen

    def _entries(self) -> Iterable[os.DirEntry[str]]:
        if self._recursive:
            return chain.from_iterable((*each.folders, *each.files) for each in levels(self._top))
        try:
            with os.scandir(self._top) as entries:
                return list(entries)
        except OSError:
            return []


def folder_of(path: str) -> str:
    """The folder that an absolute path lies in; of the root of all, itself."""
    return path.rpartition(os.sep)[0] or os.sep


def reason_to_poll(top: str) -> str | None:
    """Why the system would not tell of changes; ``None`` where it does."""
    if sys.platform != "linux":
        return "its changes are told on Linux only"
    try:
        mounts = Path("/proc/mounts").read_text("utf-8", "surrogateescape")
    except OSError:
        return None  # its events are believed
    kind = remote_type(top, mounts)
    return kind and f"others may write to this {kind} file system"


def remote_type(folder: str, mounts: str) -> str | None:
    """The type of the remote file system that a folder lies on, or that is mounted somewhere below it.

    Args:
        folder: absolute, with no link in its path.
        mounts: what is mounted, as in ``/proc/mounts``; later lines stand before earlier ones.

    Returns:
        The type as the system names it; ``None`` if there is none.

    Source:
        https://man7.org/linux/man-pages/man5/proc_mounts.5.html
    """
    types: dict[Path, str] = {}
    for fields in (line.split(" ") for line in mounts.splitlines() if line.count(" ") > 1):
        types[Path(_ESCAPED.sub(lambda match: chr(int(match[1], 8)), fields[1]))] = fields[2]
    here = Path(folder)
    around = max(
        (p for p in types if here.is_relative_to(p)), key=lambda p: len(p.parts), default=None
    )
    below = sorted(p for p in types if p.is_relative_to(here))
    kinds = (types[point] for point in ([around] if around else []) + below)
    return next((kind for kind in kinds if kind in REMOTE or kind.startswith("fuse.")), None)


def _identity(path: str) -> tuple[str, int, int] | None:
    """Which folder is there: its path without links, and what it is; ``None`` if there is none."""
    place = Path(path)
    try:
        found = place.stat()
        return (str(place.resolve()), found.st_dev, found.st_ino) if place.is_dir() else None
    except (OSError, RuntimeError):
        return None
