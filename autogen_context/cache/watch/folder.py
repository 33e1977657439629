"""One folder that the system watches.

Promise: from when ``watch`` returned until ``forget``, whoever hears for it hears each change of what lies in it; not what
lies deeper.
"""

import os
from typing import Protocol

from watchdog.observers.inotify_c import (
    CallbackId,
    InotifyConstants,
    InotifyEvent,
    InotifyFD,
    Mask,
    WatchDescriptor,
)

from autogen_context.cache.files.ignored import Rules

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


class Ear(Protocol):
    """Hears for folders."""

    def hear(self, folder: "WatchedFolder", event: InotifyEvent) -> None:
        """Something happened in a folder, or to it."""
        ...

    def lose(self, folder: "WatchedFolder") -> None:
        """The system watches a folder no more."""
        ...

    def lose_events(self, folder: "WatchedFolder") -> None:
        """The system dropped events; it says so of each folder."""
        ...


class WatchedFolder:
    """A folder with a watch, or one that is to have it.

    Attributes:
        path: where it is.
        above: what is ignored in the folder that it lies in.
        rules: what is ignored in it.
        below: the folders in it that are watched too.
        descriptor: by what the system knows the watch; -1 where it may not be read.
    """

    __slots__ = ("_ear", "above", "below", "descriptor", "path", "rules")

    def __init__(self, ear: Ear, path: str, above: Rules) -> None:
        self._ear = ear
        self.path = path
        self.above = above
        self.rules = above
        self.below: set[str] = set()
        self.descriptor = WatchDescriptor(-1)

    def watch(self, reader: InotifyFD) -> None:
        """Have the system tell of it.

        Raises:
            OSError: it is gone, is no folder, or there is no watch left.
        """
        self.descriptor = reader.add_callback(
            os.fsencode(self.path), _MASK, self, CallbackId(id(self))
        )

    def forget(self, reader: InotifyFD) -> None:
        """Hear of it no more."""
        reader.remove_callbacks([(self.descriptor, CallbackId(id(self)))])

    def on_event(self, event: InotifyEvent) -> None:
        """Called by the reader."""
        self._ear.hear(self, event)

    def on_watch_deleted(self, wd: WatchDescriptor) -> None:  # noqa: ARG002 - the reader's signature
        """Called by the reader, when the folder is gone or the reader ends."""
        self._ear.lose(self)

    def on_queue_overflow(self) -> None:
        """Called by the reader, for each folder."""
        self._ear.lose_events(self)
