"""Tell those who listen what changed, in a thread of its own.

Promise: everyone who listens is told each burst once, whatever the others make of it. Who is listening is not kept alive
by it, where the listener is a method. Nothing runs before ``start``, and whoever says what changed never waits for
whoever is told.
"""

import inspect
import logging
import time
from collections.abc import Callable, Collection
from pathlib import Path
from threading import Condition, Thread, current_thread
from weakref import WeakMethod

from autogen_context.cache.watch.debounce import Debouncer

Heard = Callable[[Collection[Path]], None]

_LOGGER = logging.getLogger(__name__)


class Announcer:
    """Collects changes, and tells them when it is quiet.

    Args:
        debouncer: what waits to be told; nobody else may use it.
    """

    def __init__(self, debouncer: Debouncer) -> None:
        self._debouncer = debouncer
        self._changed = Condition()
        self._listeners: list[_Listener] = []
        self._thread = Thread(target=self._run, name="file-watch-announcer", daemon=True)
        self._stopped = False

    @property
    def is_alive(self) -> bool:
        """Whether changes are told."""
        return self._thread.is_alive() and not self._stopped

    def start(self) -> None:
        """Begin to tell; once is enough."""
        self._thread.start()

    def stop(self) -> None:
        """End, without telling what waits."""
        with self._changed:
            self._stopped = True
            self._changed.notify()

    def join(self) -> None:
        """Wait until nobody is being told any more; at once where a listener itself asks for it."""
        if self._thread.ident is not None and self._thread is not current_thread():
            self._thread.join()

    def listen(self, heard: Heard) -> Callable[[], None]:
        """Tell ``heard`` from now on; returns what ends that."""
        listener = _Listener(heard)
        with self._changed:
            self._listeners.append(listener)

        def leave() -> None:
            with self._changed:
                self._listeners = [each for each in self._listeners if each is not listener]

        return leave

    def change(self, path: str, *, top: str) -> None:
        """A path changed, or what is below it; to be told by nothing above ``top``."""
        with self._changed:
            first = self._debouncer.due_at is None
            self._debouncer.add(path, top=top, now=time.monotonic())
            if first:  # later ones put it off, which is seen when the first would have been due
                self._changed.notify()

    def holds(self, path: str) -> bool:
        """Whether a change of a path waits to be told."""
        with self._changed:
            return self._debouncer.holds(path)

    def _run(self) -> None:
        while paths := self._next():
            told = frozenset(map(Path, paths))
            for listener in self._listening():
                listener.tell(told)

    def _next(self) -> list[str]:
        """What is due, as soon as it is; nothing when this ended."""
        with self._changed:
            while not self._stopped:
                due_at = self._debouncer.due_at
                left_s = None if due_at is None else due_at - time.monotonic()
                if left_s is not None and left_s <= 0:
                    return self._debouncer.take()
                self._changed.wait(left_s)
        return []

    def _listening(self) -> list["_Listener"]:
        """Who listens; those that are gone are forgotten."""
        with self._changed:
            self._listeners = [each for each in self._listeners if each.is_there]
            return list(self._listeners)


class _Listener:
    """One who is told."""

    def __init__(self, heard: Heard) -> None:
        self._heard = WeakMethod(heard) if inspect.ismethod(heard) else lambda: heard
        self._warned = False

    @property
    def is_there(self) -> bool:
        return self._heard() is not None

    def tell(self, paths: Collection[Path]) -> None:
        """Hand the paths over; the first failure is a warning, the next ones are nothing new."""
        heard = self._heard()
        try:
            if heard is not None:
                heard(paths)
        except Exception:
            if not self._warned:
                _LOGGER.warning("who listens to changed files failed", exc_info=True)
            self._warned = True
