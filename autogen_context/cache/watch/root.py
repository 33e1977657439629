"""A folder that is followed, whatever becomes of it.

Promise: while it is there, its changes are learned of: from the system, or by looking where the system does not tell,
which is said once with the reason. That it went, came back or is another one is a change of all that is in it.
"""

import logging
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from autogen_context.cache.watch.announce import Announcer
from autogen_context.cache.watch.mounts import mounted_now, remote_type
from autogen_context.cache.watch.path import is_within
from autogen_context.cache.watch.poll import PolledTree

if TYPE_CHECKING:
    from watchdog.observers.inotify_c import InotifyFD

_LOGGER = logging.getLogger(__name__)

_Identity = tuple[str, int, int]
_Changed = Callable[[str], None]


class Source(Protocol):
    """Where the changes of a folder are learned of."""

    @property
    def is_watching(self) -> bool:
        """Whether it does so."""
        ...

    def hears(self, path: str) -> bool:
        """Whether changes of a path are learned of: it is not ignored."""
        ...

    def covers(self, path: str) -> bool:
        """Whether each change of a path is learned of at once."""
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
    """Finds a source for each folder.

    Args:
        poll: whether all are polled, since the system would not tell.
        begin: begins to read what the system tells.
    """

    def __init__(self, *, poll: bool, begin: "Callable[[], InotifyFD]" = begin_reading) -> None:
        self._poll = poll
        self._begin = begin
        self._lock = Lock()
        self._reader: InotifyFD | None = None
        self._told: set[str] = set()

    @property
    def is_alive(self) -> bool:
        """Whether what the system tells is read, where anything is."""
        return self._reader is None or self._reader.is_alive()

    def begin(self, top: str, *, recursive: bool, changed: _Changed) -> Source:
        """Learn of the changes of a folder from now on."""
        reason = "" if self._poll else _reason_to_poll(top)
        if reason is None:
            try:
                return self._told_by_system(top, recursive=recursive, changed=changed)
            except OSError as error:
                reason = error.strerror or str(error)
        self._say_once(top, reason)
        tree = PolledTree(top, recursive=recursive, changed=changed)
        tree.start()
        return tree

    def stop(self) -> None:
        """Read no more of what the system tells."""
        if self._reader is not None:
            self._reader.stop()

    def _told_by_system(self, top: str, *, recursive: bool, changed: _Changed) -> Source:
        """Raises ``OSError`` where the system does not do it."""
        from autogen_context.cache.watch.inotify import InotifyTree  # noqa: PLC0415 - Linux has it

        tree = InotifyTree(self._running_reader(), top, recursive=recursive, changed=changed)
        tree.start()
        return tree

    def _running_reader(self) -> "InotifyFD":
        with self._lock:
            if self._reader is None or not self._reader.is_alive():
                self._reader = self._begin()
            return self._reader

    def _say_once(self, top: str, reason: str) -> None:
        if reason and top not in self._told:
            self._told.add(top)
            _LOGGER.warning("%s is polled: %s", top, reason)


class FollowedRoot:
    """A folder that is followed.

    Args:
        path: absolute; links in it are followed.
        recursive: whether all below it is followed; if not, the names in ``only`` are.
        sources: finds where its changes are learned of.
        announcer: is told them, below ``path``.
    """

    def __init__(
        self, path: str, *, recursive: bool, sources: Sources, announcer: Announcer
    ) -> None:
        self.path = path
        self.only: set[str] = set()
        self._recursive = recursive
        self._sources = sources
        self._announcer = announcer
        self._top = path
        self._identity: _Identity | None = None
        self._source: Source | None = None

    def start(self) -> None:
        """Follow it from now on, if it is there."""
        self._identity = _identity(self.path)
        if self._identity is not None:
            self._top = self._identity[0]
            self._source = self._sources.begin(
                self._top, recursive=self._recursive, changed=self._change
            )

    def check(self) -> None:
        """Look whether it is still what it was, and do what is due."""
        watching = self._source is not None and self._source.is_watching
        identity = _identity(self.path)
        if identity != self._identity or (identity and not watching):
            self.stop()
            self.start()
            self._change(self._top)
        elif self._source is not None:
            self._source.check()

    def stop(self) -> None:
        """Follow it no more."""
        if self._source is not None:
            self._source.stop()
        self._source = None

    def hears(self, path: str) -> bool:
        """Whether changes of a path are learned of, sooner or later."""
        source = self._source
        return source is not None and self._is_followed(path) and source.hears(self._real(path))

    def covers(self, path: str) -> bool:
        """Whether each change of a path is learned of at once."""
        source = self._source
        return source is not None and self._is_followed(path) and source.covers(self._real(path))

    def _is_followed(self, path: str) -> bool:
        if not self._recursive:
            return path in self.only
        return is_within(path, self.path)

    def _real(self, path: str) -> str:
        """A path below this one, without the links that lead here."""
        return self._top + path[len(self.path) :]

    def _change(self, path: str) -> None:
        """A path below changed, or all that is."""
        told = self.path + path[len(self._top) :]
        if self._recursive:
            self._announcer.change(told, top=self.path)
            return
        for each in sorted(self.only) if told == self.path else self.only & {told}:
            self._announcer.change(each, top=each)


def _reason_to_poll(top: str) -> str | None:
    """Why the system would not tell of changes; ``None`` where it does."""
    if sys.platform != "linux":
        return "its changes are told on Linux only"
    kind = remote_type(top, mounted_now())
    return kind and f"others may write to this {kind} file system"


def _identity(path: str) -> _Identity | None:
    """Which folder is there: the path that leads to it without a link, and what it is; ``None`` if there is none."""
    try:
        found = Path(path).stat()
    except OSError:
        return None
    if not stat.S_ISDIR(found.st_mode):
        return None
    return str(Path(path).resolve()), found.st_dev, found.st_ino
