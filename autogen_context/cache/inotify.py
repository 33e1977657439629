"""Changes of a folder and of all below it, as Linux tells them.

Promise: each change of an entry that is not ignored is told: the entry itself, or a folder above it. Where the system lost
events the top is told. Where it has no watch left, making this fails, or ``is_watching`` turns false.

``watchdog`` reads the events; why not its ``Observer``: docs/decisions/0019-files.md.
"""

import errno
import os
from collections.abc import Callable
from threading import Lock

from watchdog.observers.inotify_c import (
    CallbackId,
    InotifyConstants,
    InotifyEvent,
    InotifyFD,
    Mask,
    WatchDescriptor,
)

from autogen_context.cache.files import RULES_FILE, Rules, listing

# Neither opening nor closing is a change. Links are not followed: what they lead to is watched where it lies.
_MASK = Mask(
    InotifyConstants.IN_MODIFY
    | InotifyConstants.IN_ATTRIB
    | InotifyConstants.IN_CREATE
    | InotifyConstants.IN_DELETE
    | InotifyConstants.IN_MOVE
    | InotifyConstants.IN_DELETE_SELF
    | InotifyConstants.IN_MOVE_SELF
    | InotifyConstants.IN_ONLYDIR
    | InotifyConstants.IN_DONT_FOLLOW
    | InotifyConstants.IN_EXCL_UNLINK
)
_CAME = InotifyConstants.IN_CREATE | InotifyConstants.IN_MOVED_TO
_WENT = InotifyConstants.IN_DELETE | InotifyConstants.IN_MOVED_FROM
_ITSELF_WENT = (
    InotifyConstants.IN_DELETE_SELF | InotifyConstants.IN_MOVE_SELF | InotifyConstants.IN_UNMOUNT
)
_NONE_LEFT = (errno.ENOSPC, errno.EMFILE, errno.ENOMEM)


def begin_reading() -> InotifyFD:
    """Read what the system tells, in a thread of its own; ``OSError`` if it has no more of what it takes."""
    reader = InotifyFD()
    reader.name = "file-watch-reader"
    reader.start()
    return reader


class InotifyTree:
    """A folder, with no link in its path, that is watched; ``changed`` is called in the thread of the reader.

    Raises:
        OSError: the folder is gone, or the system has no watch left.
    """

    def __init__(self, reader: InotifyFD, top: str, changed: Callable[[str], None]) -> None:
        self._reader = reader
        self._top = top
        self._changed = changed
        self._lock = Lock()
        self._folders: dict[str, _Folder] = {}
        with self._lock:
            self._watch(top, Rules())
        if top not in self._folders:
            raise OSError(errno.ENOENT, "no folder that can be read", top)

    @property
    def is_watching(self) -> bool:
        """Whether the folder is there and everything in it is watched."""
        return self._top in self._folders and self._reader.is_alive()

    def covers(self, folder: str) -> bool:
        """Whether each change of what is in a folder, and not ignored, is told."""
        return self.is_watching and folder in self._folders

    def stop(self) -> None:
        """Watch no more."""
        with self._lock:
            self._forget(self._top)

    def hear(self, folder: "_Folder", event: InotifyEvent) -> None:
        """An event in a folder, or of it."""
        with self._lock:
            if self._folders.get(folder.path) is not folder:
                return  # it was in the queue when the folder went
            if event.name:
                path = folder.path.rstrip(os.sep) + os.sep + os.fsdecode(event.name)
                self._hear_of_entry(folder, path, event)
            elif folder.path == self._top and event.mask & _ITSELF_WENT:
                self._forget(self._top)
                self._changed(self._top)

    def lose(self, folder: "_Folder") -> None:
        """The system watches a folder no more."""
        with self._lock:
            if self._folders.get(folder.path) is folder:
                self._forget(folder.path)
                self._changed(folder.path)

    def lose_events(self, folder: "_Folder") -> None:
        """The system dropped events, and says so of each folder: with the top, all is watched anew and told."""
        with self._lock:
            if folder.path == self._top and self._folders.get(self._top) is folder:
                self._watch_again(self._top, Rules())
                self._changed(self._top)

    def _hear_of_entry(self, folder: "_Folder", path: str, event: InotifyEvent) -> None:
        is_folder = event.is_directory
        if is_folder and event.mask & _WENT:
            self._forget(path)
        if folder.rules.hides(path, is_folder=is_folder):
            return
        if is_folder and event.mask & _CAME:
            self._watch_again(path, folder.rules)
        elif path.endswith(os.sep + RULES_FILE):
            path = folder.path
            self._watch_again(path, folder.above)
        self._changed(path)

    def _watch_again(self, path: str, above: Rules) -> None:
        """Watch what is there now; whatever changed before is told after this, by the folder."""
        self._forget(path)
        try:
            self._watch(path, above)
        except OSError:  # no watch is left; whoever checks the top learns why when trying again
            self._changed(self._top)

    def _watch(self, path: str, above: Rules) -> None:
        """Watch a folder and all below it but for what cannot be read; if no watch is left, nothing is watched."""
        waiting = [(path, above)]
        while waiting:
            folder = _Folder(self, *waiting.pop())
            try:
                readable = folder.watch(self._reader)
            except OSError as error:
                if error.errno in _NONE_LEFT:
                    self._forget(self._top)
                    raise
                continue
            if not readable:
                continue
            self._folders[folder.path] = folder
            parent = self._folders.get(folder.path.rpartition(os.sep)[0] or os.sep)
            if parent is not None and parent is not folder:
                parent.below.add(folder.path)
            folder.rules = folder.above.within(folder.path)  # read once what is written is heard
            inner = listing(folder.path, folder.rules).folders
            waiting += [(each.path, folder.rules) for each in inner]

    def _forget(self, path: str) -> None:
        waiting = [path]
        while waiting:
            folder = self._folders.pop(waiting.pop(), None)
            if folder is not None:
                waiting += folder.below
                folder.forget(self._reader)


class _Folder:
    """A folder with a watch, which the reader calls: the rules above it, those in it, and the watched folders in it."""

    __slots__ = ("_descriptor", "_tree", "above", "below", "path", "rules")

    def __init__(self, tree: InotifyTree, path: str, above: Rules) -> None:
        self._tree = tree
        self._descriptor = WatchDescriptor(-1)
        self.path = path
        self.above = self.rules = above
        self.below: set[str] = set()

    def watch(self, reader: InotifyFD) -> bool:
        """Have the system tell of it; whether it may be read. ``OSError`` if it is gone, or no watch is left."""
        path = os.fsencode(self.path)
        self._descriptor = reader.add_callback(path, _MASK, self, CallbackId(id(self)))
        if self._descriptor == -1:
            self.forget(reader)
        return self._descriptor != -1

    def forget(self, reader: InotifyFD) -> None:
        """Hear of it no more."""
        reader.remove_callbacks([(self._descriptor, CallbackId(id(self)))])

    def on_event(self, event: InotifyEvent) -> None:
        self._tree.hear(self, event)

    def on_watch_deleted(self, wd: WatchDescriptor) -> None:  # noqa: ARG002 - the reader's signature
        self._tree.lose(self)

    def on_queue_overflow(self) -> None:
        self._tree.lose_events(self)
