"""Watch folders for changed files, so that a cache drops stale entries before the next request.

Promise: a burst of changes is reported once, soon after it ends. Memory use is bounded: a flood of changes is reported as
one change of the whole folder. Reports are hints: operating systems lose events, so a cache still checks files before it
serves a value (docs/decisions/0019-files.md).
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
from watchdog import events
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver
from watchdog.observers.polling import PollingObserver

from autogen_context.argument import require_seconds

MOST_CHANGES = 1_024  # in a burst; more are a flood

_LONGEST_S = 1.0  # the longest burst; constant writes are reported this often
_REST_S = 5.0  # how long a folder is not watched after a flood
_POLL_S = 5.0
# Without DirModifiedEvent, which adds nothing to the event of the entry in the folder.
_CHANGES: list[type[events.FileSystemEvent]] = [
    *(events.FileCreatedEvent, events.FileModifiedEvent, events.FileMovedEvent),
    *(events.FileDeletedEvent, events.DirCreatedEvent, events.DirMovedEvent),
    events.DirDeletedEvent,
]
_LOGGER = logging.getLogger(__name__)

Heard = Callable[[Collection[Path]], None]


class FileWatch:
    """A watcher of folders.

    Args:
        debounce_s: the quiet time in seconds that ends a burst; a burst of changes is reported after one second at the
            latest, or after ``debounce_s`` if that is longer.

    Raises:
        ValueError: ``debounce_s`` is not positive.
    """

    def __init__(self, *, debounce_s: float = 0.05) -> None:
        require_seconds("debounce_s", debounce_s)
        self._debounce_s = debounce_s
        self._listeners: list[Callable[[], Heard | None]] = []
        self._roots: dict[str, _Root] = {}
        finalize(self, _end, self._roots).atexit = False

    def follow(self, root: str | os.PathLike[str]) -> None:
        """Watch a folder; changes after this call returns are reported.

        Args:
            root: the folder, watched recursively, without following symbolic links below it.

        Raises:
            ValueError: ``root`` is not a folder.
        """
        folder = Path(root).absolute()
        if not folder.is_dir():
            raise ValueError(f"root={str(root)!r}: give a folder; this is not one")
        known, new = self._roots.get(str(folder)), _Root(folder, self._debounce_s, self._listeners)
        self._roots[str(folder)] = new
        if known is not None:  # the folder may have been recreated
            known.end()

    def listen(self, heard: Heard) -> Callable[[], None]:
        """Add a listener for changes.

        Args:
            heard: called with the distinct paths of a burst, in another thread. A path stands for itself and everything
                below it. A bound method is referenced weakly and does not keep its object alive.

        Returns:
            A function that removes the listener.
        """
        found = WeakMethod(heard) if inspect.ismethod(heard) else lambda: heard
        self._listeners.append(found)

        def leave() -> None:
            with suppress(ValueError):
                self._listeners.remove(found)

        return leave

    def close(self) -> None:
        """Stop watching and wait for running listeners; a listener that calls this does not wait for itself."""
        threads = [root.thread for root in self._roots.values()]
        _end(self._roots)
        for thread in threads:
            if thread is not current_thread():
                thread.join()

    def __enter__(self) -> Self:  # noqa: D105 - ``follow`` starts it
        return self

    def __exit__(self, *_: object) -> None:  # noqa: D105
        self.close()


class _Root(events.FileSystemEventHandler):
    """A watched folder, its observer and its reporting thread. Neither references the ``FileWatch``, so both end with it."""

    def __init__(
        self, folder: Path, debounce_s: float, listeners: list[Callable[[], Heard | None]]
    ) -> None:
        self._folder = str(folder)
        self._place = os.path.realpath(folder)  # a symbolic link itself has no events
        self._debounce_s = debounce_s
        self._listeners = listeners
        self._changed: SimpleQueue[str | None] = SimpleQueue()  # ``None`` ends the thread
        self._warned = False
        self._observer = self._observed()
        self.thread = Thread(target=self._run, name="file-watch", daemon=True)
        self.thread.start()

    def end(self) -> None:
        """Stop reporting; may be called in any thread, also by the garbage collector."""
        self._changed.put(None)

    @override
    def on_any_event(self, event: events.FileSystemEvent) -> None:
        if self._changed.qsize() <= MOST_CHANGES:  # in a flood, further paths do not matter
            for path in (event.src_path, event.dest_path):
                if path:
                    below = os.fsdecode(path).removeprefix(self._place)
                    self._changed.put(self._folder + below)

    def _run(self) -> None:
        try:
            while (path := self._changed.get()) is not None:
                paths = self._burst(path)
                if len(paths) <= MOST_CHANGES:
                    self._tell(paths)
                else:
                    self._tell([self._folder])
                    self._rest()
        finally:
            self._observer.stop()

    def _burst(self, path: str) -> list[str]:
        """Collect changed paths until it is quiet, the time is over, or there are enough for a flood."""
        paths, until_s = [path], time.monotonic() + max(_LONGEST_S, self._debounce_s)
        while len(paths) <= MOST_CHANGES and (left_s := until_s - time.monotonic()) > 0:
            try:
                more = self._changed.get(timeout=min(self._debounce_s, left_s))
            except Empty:
                break
            if more is None:
                self.end()  # put the end marker back for ``_run``
                break
            paths.append(more)
        return paths

    def _rest(self) -> None:
        """Pause watching for a while, then report the whole folder as changed."""
        self._observer.stop()
        until_s = time.monotonic() + _REST_S
        while (left_s := until_s - time.monotonic()) > 0:
            with suppress(Empty):
                if self._changed.get(timeout=left_s) is None:
                    self.end()
                    return
        with suppress(OSError):  # the folder was deleted
            self._observer = self._observed()
        self._tell([self._folder])

    def _tell(self, paths: Collection[str]) -> None:
        changed = frozenset(map(Path, paths))
        for found in list(self._listeners):
            try:
                if (heard := found()) is not None:
                    heard(changed)
            except Exception:
                if not self._warned:
                    _LOGGER.warning("a listener for file changes failed", exc_info=True)
                self._warned = True

    def _observed(self) -> BaseObserver:
        """Start an observer; a polling one if the system has no watches left."""
        # watchdog warns about nested folders created at the same time, but handles them correctly.
        warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)
        observer: BaseObserver = Observer()
        try:
            return self._start(observer)
        except OSError as error:
            observer.stop()
            _LOGGER.warning("%s is looked at every %s s: %s", self._folder, _POLL_S, error)
            return self._start(PollingObserver(timeout=_POLL_S))

    def _start(self, observer: BaseObserver) -> BaseObserver:
        observer.schedule(self, self._place, recursive=True, event_filter=_CHANGES)
        observer.start()
        return observer


def _end(roots: dict[str, _Root]) -> None:
    while roots:
        roots.popitem()[1].end()
