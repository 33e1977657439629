"""Tell which files changed, so that a cache lets go of what was built from them before anybody asks.

Promise: a burst of changes is told once, soon after it. However much happens, little is held, and a flood is told as a change
of all there is. What is told is a hint: systems lose events, so what is served is compared (docs/decisions/0019-files.md).
"""

import inspect
import logging
import os
import time
import warnings
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread, current_thread
from typing import Self
from weakref import WeakMethod, finalize

from typing_extensions import override
from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver
from watchdog.observers.polling import PollingObserver

MOST_CHANGES = 1_024  # of a burst; more of them are a flood

_LONGEST_S = 1.0  # a file that is written all the time is told of this often
_REST_S = 5.0  # how long a folder is not watched after a flood
_POLL_S = 5.0
# Not that a folder was modified: that says no more than what is told of the entry in it.
_CHANGES: list[type[FileSystemEvent]] = [
    *(FileCreatedEvent, FileModifiedEvent, FileMovedEvent, FileDeletedEvent),
    *(DirCreatedEvent, DirMovedEvent, DirDeletedEvent),
]
_LOGGER = logging.getLogger(__name__)

Heard = Callable[[Collection[Path]], None]


class FileWatch:
    """Follows folders.

    Args:
        debounce_s: how long it must be quiet before a change is told, in seconds; it is told after one second at most.

    Raises:
        ValueError: the time is not above 0.
    """

    def __init__(self, *, debounce_s: float = 0.05) -> None:
        if not debounce_s > 0:
            raise ValueError(f"debounce_s={debounce_s}: give a number of seconds above 0")
        self._debounce_s = debounce_s
        self._listeners: list[Callable[[], Heard | None]] = []
        self._roots: dict[str, _Root] = {}
        finalize(self, _end, self._roots).atexit = False

    def follow(self, root: str | os.PathLike[str]) -> None:
        """Be told of its changes from when this returns.

        Args:
            root: a folder, followed with all below it, but not behind links.

        Raises:
            ValueError: it is no folder.
        """
        folder = Path(root).absolute()
        if not folder.is_dir():
            raise ValueError(f"root={str(root)!r}: give a folder; this is none")
        new = _Root(folder, self._debounce_s, self._listeners)
        if (known := self._roots.get(str(folder))) is not None:  # it may have gone and come back
            known.end()
        self._roots[str(folder)] = new

    def listen(self, heard: Heard) -> Callable[[], None]:
        """Have changes told.

        Args:
            heard: is called with the paths of a burst, each once, in a thread that is not the caller's. A path stands for
                itself and for all below it. A method is held weakly: it ends with its object.

        Returns:
            What ends it.
        """
        found = WeakMethod(heard) if inspect.ismethod(heard) else lambda: heard
        self._listeners.append(found)

        def leave() -> None:
            with suppress(ValueError):
                self._listeners.remove(found)

        return leave

    def close(self) -> None:
        """Follow nothing any more, and wait until nobody is being told; at once where a listener itself asks for it."""
        roots = list(self._roots.values())
        self._roots.clear()
        for root in roots:
            root.end()
        for root in roots:
            root.join()

    def __enter__(self) -> Self:  # noqa: D105 - ``follow`` starts it
        return self

    def __exit__(self, *_: object) -> None:  # noqa: D105
        self.close()


class _Root(FileSystemEventHandler):
    """A folder that is followed, by an observer and by a thread that tells; neither holds the watch, so they end with it."""

    def __init__(
        self, folder: Path, debounce_s: float, listeners: list[Callable[[], Heard | None]]
    ) -> None:
        self._folder = str(folder)
        self._place = os.path.realpath(folder)  # a link itself has no events
        self._debounce_s = debounce_s
        self._listeners = listeners
        self._changed: SimpleQueue[str | None] = SimpleQueue()  # ``None`` is the end
        self._warned = False
        self._observer = self._observed()
        self._thread = Thread(target=self._run, name="file-watch", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Tell no more; from any thread, a garbage collector's too."""
        self._changed.put(None)

    def join(self) -> None:
        """Wait for the end."""
        if self._thread is not current_thread():
            self._thread.join()

    @override
    def on_any_event(self, event: FileSystemEvent) -> None:
        if self._changed.qsize() <= MOST_CHANGES:  # of a flood nothing more need be known
            for path in (event.src_path, event.dest_path):
                if path:
                    below = os.fsdecode(path).removeprefix(self._place)
                    self._changed.put(self._folder + below)

    def _run(self) -> None:
        try:
            while (path := self._changed.get()) is not None:
                paths = self._burst(path)
                is_flood = len(paths) > MOST_CHANGES
                self._tell([self._folder] if is_flood else paths)
                if is_flood:
                    self._rest()
        finally:
            self._observer.stop()

    def _burst(self, path: str) -> list[str]:
        """What changes until it is quiet, or has lasted; of a flood no more than shows that it is one."""
        paths, until_s = [path], time.monotonic() + max(_LONGEST_S, self._debounce_s)
        while len(paths) <= MOST_CHANGES and (left_s := until_s - time.monotonic()) > 0:
            try:
                more = self._changed.get(timeout=min(self._debounce_s, left_s))
            except Empty:
                break
            if more is None:
                self.end()  # for who reads on
                break
            paths.append(more)
        return paths

    def _rest(self) -> None:
        """Leave the folder alone for a while, after which anything may have changed."""
        self._observer.stop()
        until_s = time.monotonic() + _REST_S
        while (left_s := until_s - time.monotonic()) > 0:
            with suppress(Empty):
                if self._changed.get(timeout=left_s) is None:
                    self.end()
                    return
        with suppress(OSError):  # the folder is gone
            self._observer = self._observed()
        self._tell([self._folder])

    def _tell(self, paths: Collection[str]) -> None:
        told = frozenset(map(Path, paths))
        for found in list(self._listeners):
            try:
                if (heard := found()) is not None:
                    heard(told)
            except Exception:
                if not self._warned:
                    _LOGGER.warning("who listens to changed files failed", exc_info=True)
                self._warned = True

    def _observed(self) -> BaseObserver:
        """An observer at work; one that looks from time to time where the system has no watch left."""
        # watchdog warns of folders that are made within each other at once; what it does then is right.
        warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)
        observer: BaseObserver = Observer()
        try:
            observer.schedule(self, self._place, recursive=True, event_filter=_CHANGES)
            observer.start()
        except OSError as error:
            observer.stop()
            observer = PollingObserver(timeout=_POLL_S)
            observer.schedule(self, self._place, recursive=True, event_filter=_CHANGES)
            observer.start()
            _LOGGER.warning("%s is looked at every %s s: %s", self._folder, _POLL_S, error)
        return observer


def _end(roots: dict[str, _Root]) -> None:
    for root in roots.values():
        root.end()
