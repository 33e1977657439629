"""Changes of a folder and of all below it, as Linux tells them.

Promise: from when ``start`` returned, each change of an entry that is not ignored is reported: the entry itself, or a
folder above it, which stands for all that is below. Where the system lost events the top is reported. Ignored folders
cost no watch. Where the system has no watch left, nothing is half watched: ``start`` fails or ``is_watching`` turns false.

``watchdog`` reads the events. What is watched is decided here rather than by its ``Observer``, which (7.1) reports no lost
events, is silent when watches run out below the top, watches ignored folders too, and queues without a bound.
"""

import errno
import os
import stat
from collections.abc import Callable
from threading import Lock

from watchdog.observers.inotify_c import InotifyConstants, InotifyEvent, InotifyFD

from autogen_context.cache.files.ignored import RULES_FILE, Rules, folders_in
from autogen_context.cache.watch.folder import WatchedFolder
from autogen_context.cache.watch.path import folder_of

Changed = Callable[[str], None]

_CAME = InotifyConstants.IN_CREATE | InotifyConstants.IN_MOVED_TO
_WENT = InotifyConstants.IN_DELETE | InotifyConstants.IN_MOVED_FROM
_ITSELF_WENT = (
    InotifyConstants.IN_DELETE_SELF | InotifyConstants.IN_MOVE_SELF | InotifyConstants.IN_UNMOUNT
)
_NONE_LEFT = (errno.ENOSPC, errno.EMFILE, errno.ENOMEM)


class InotifyTree:
    """A folder that is watched.

    Args:
        reader: reads the events; it may be shared.
        top: the folder, with no link in its path.
        recursive: whether what is below its folders is watched too; if not, nothing of it is ignored.
        changed: is told the paths; called in the thread of the reader.
    """

    def __init__(self, reader: InotifyFD, top: str, *, recursive: bool, changed: Changed) -> None:
        self._reader = reader
        self._top = top
        self._recursive = recursive
        self._changed = changed
        self._lock = Lock()
        self._folders: dict[str, WatchedFolder] = {}

    @property
    def is_watching(self) -> bool:
        """Whether the folder is there and everything in it is watched."""
        return self._top in self._folders and self._reader.is_alive()

    def start(self) -> None:
        """Watch from now on.

        Raises:
            OSError: the folder is gone, or the system has no watch left.
        """
        with self._lock:
            self._watch(self._top, Rules())
            if self._top not in self._folders:
                raise OSError(errno.ENOENT, "no folder that can be read", self._top)

    def stop(self) -> None:
        """Watch no more."""
        with self._lock:
            self._forget(self._top)

    def check(self) -> None:
        """Nothing is due: the system tells."""

    def hears(self, path: str) -> bool:
        """Whether changes of an entry are reported: its folder is watched, and it is ignored neither as file nor folder."""
        with self._lock:
            folder = self._folders.get(folder_of(path))
            if path in self._folders or folder is None:
                return path in self._folders
            return not any(self._hides(folder, path, is_folder=kind) for kind in (False, True))

    def covers(self, path: str) -> bool:
        """Whether each change of an entry, and of all below it, is reported.

        Of a link, a second name of the same file, a pipe, or what lies behind a link, it is not.
        """
        return self.is_watching and self.hears(path) and (path in self._folders or _is_plain(path))

    def hear(self, folder: WatchedFolder, event: InotifyEvent) -> None:
        """An event in a folder."""
        with self._lock:
            if self._folders.get(folder.path) is not folder:
                return  # it was in the queue when the folder went
            if event.name:
                path = folder.path.rstrip(os.sep) + os.sep + os.fsdecode(event.name)
                self._hear_of_entry(folder, path, event)
            elif folder.path == self._top and event.mask & _ITSELF_WENT:
                self._lose()

    def lose_events(self, folder: WatchedFolder) -> None:
        """The system dropped events: watch what is there now, and report all of it.

        It says so of each folder; that of the top is heard.
        """
        with self._lock:
            if self._folders.get(self._top) is not folder:
                return
            self._watch_again(self._top, Rules())
            self._changed(self._top)

    def lose(self, folder: WatchedFolder) -> None:
        """The system watches a folder no more."""
        with self._lock:
            if self._folders.get(folder.path) is not folder:
                return
            self._forget(folder.path)
            self._changed(folder.path)

    def _hear_of_entry(self, folder: WatchedFolder, path: str, event: InotifyEvent) -> None:
        is_folder = event.is_directory
        if self._recursive and is_folder and event.mask & _WENT:
            self._forget(path)
        if self._hides(folder, path, is_folder=is_folder):
            return
        if self._recursive and is_folder and event.mask & _CAME:
            self._watch_again(path, folder.rules)
        if self._recursive and path.endswith(os.sep + RULES_FILE):
            self._watch_again(folder.path, folder.above)
            path = folder.path
        self._changed(path)

    def _hides(self, folder: WatchedFolder, path: str, *, is_folder: bool) -> bool:
        return self._recursive and folder.rules.hides(path, is_folder=is_folder)

    def _lose(self) -> None:
        """The top is gone, or is not where it was."""
        self._forget(self._top)
        self._changed(self._top)

    def _watch_again(self, path: str, above: Rules) -> None:
        """Watch what is there now; whatever changed before is reported after this, by the folder."""
        self._forget(path)
        try:
            self._watch(path, above)
        except (
            OSError
        ):  # no watch is left; whoever looks after the top learns why when trying again
            self._lose()

    def _watch(self, path: str, above: Rules) -> None:
        """Watch a folder and all below it; what cannot be read, or is gone, is left out.

        Raises:
            OSError: the system has no watch left; then nothing is watched.
        """
        waiting = [(path, above)]
        while waiting:
            path, above = waiting.pop()
            folder = self._watched(path, above)
            if folder is not None and self._recursive:
                folder.rules = above.within(path)  # read when what is written from now on is heard
                found = folders_in(path, folder.rules)
                folder.below = set(found)
                waiting += [(each, folder.rules) for each in found]

    def _watched(self, path: str, above: Rules) -> WatchedFolder | None:
        """The folder, with a watch; ``None`` where it cannot have one."""
        folder = WatchedFolder(self, path, above)
        try:
            folder.watch(self._reader)
        except OSError as error:
            if error.errno in _NONE_LEFT:
                self._forget(self._top)
                raise
            return None
        if folder.descriptor == -1:  # not ours to read
            folder.forget(self._reader)
            return None
        self._folders[path] = folder
        parent = self._folders.get(folder_of(path))
        if parent is not None:
            parent.below.add(path)
        return folder

    def _forget(self, path: str) -> None:
        """Watch a folder and all below it no more."""
        waiting = [path]
        while waiting:
            folder = self._folders.pop(waiting.pop(), None)
            if folder is not None:
                waiting += folder.below
                folder.forget(self._reader)


def _is_plain(path: str) -> bool:
    """Whether all that happens to an entry happens under this name; also where none is there."""
    try:
        found = os.lstat(path)
    except OSError:
        return True
    return stat.S_ISREG(found.st_mode) and found.st_nlink == 1
