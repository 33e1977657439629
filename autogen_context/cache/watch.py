"""Know which files changed, without asking for each.

Promise: whoever listens is told of every change of what is followed and not ignored: the path, or a folder above it, which
stands for all below. What was lost on the way is a change of all there is. However much happens, so many paths wait at
most. It works when nobody ever closes it, and costs nothing before something is followed.
"""

import inspect
import logging
import time
from collections import Counter
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock, Thread, current_thread
from typing import Self
from weakref import WeakMethod, finalize

from autogen_context.cache.watched_root import Sources, WatchedRoot, folder_of

LONGEST_S = 1.0  # a file that is written all the time is told of this often
MOST_PATHS = 4_096

_BUSY_FRACTION = 0.1  # of a core, for looking

_LOGGER = logging.getLogger(__name__)

Heard = Callable[[Collection[Path]], None]


class FileWatch:
    """Follows folders and files.

    Args:
        debounce_s: how long it must be quiet before a change is told, in seconds; it is told after one second at most.
        poll_s: how often is looked where the system does not tell, and whether a root is still there, in seconds.
        poll: whether to look everywhere: for a network mount that does not show as one.

    Raises:
        ValueError: a time is not above 0.
    """

    def __init__(
        self, *, debounce_s: float = 0.05, poll_s: float = 2.0, poll: bool = False
    ) -> None:
        for name, seconds in (("debounce_s", debounce_s), ("poll_s", poll_s)):
            if not seconds > 0:
                raise ValueError(f"{name}={seconds}: give a number of seconds above 0")
        self._teller = _Teller(
            Pending(debounce_s=debounce_s, longest_s=max(LONGEST_S, debounce_s)),
            Sources(poll=poll),
            poll_s=poll_s,
        )
        self._lock = Lock()
        self._end = finalize(self, self._teller.end)

    @property
    def is_alive(self) -> bool:
        """Whether something is followed, and all that is needed for it is running."""
        return self._teller.is_alive

    def follow(self, root: Path) -> None:
        """Be told of its changes from when this returns.

        Args:
            root: a folder, followed with all below it that is not ignored; or a file, there or not, in a folder that is.
                A folder with 10,000 others takes a second or two.

        Raises:
            ValueError: neither it nor its folder is there.
            RuntimeError: this was closed.
        """
        path = root.resolve() if ".." in root.parts else root.absolute()
        if not path.is_dir() and not path.parent.is_dir():
            raise ValueError(f"root={str(root)!r}: neither it nor its folder is there")
        with self._lock:
            if not self._end.alive:
                raise RuntimeError("this FileWatch is closed; make another one")
            self._teller.follow(str(path), is_folder=path.is_dir())

    def listen(self, heard: Heard) -> Callable[[], None]:
        """Have changes told.

        Args:
            heard: is called with the paths of a burst, each once, in a thread that is not the caller's. A path stands for
                itself and for all below it. A method is held weakly: it ends with its object.

        Returns:
            What ends it.
        """
        return self._teller.listen(heard)

    def covers(self, folder: Path) -> bool:
        """Whether each change below a folder that is not ignored is learned of at once, and the folder does not wait to be told.

        It is not where it is polled, ignored or behind a link. What a file is by now only looking at it proves.
        """
        return ".." not in folder.parts and self._teller.covers(str(folder.absolute()))

    def close(self) -> None:
        """Follow nothing any more, and wait until nobody is being told."""
        with self._lock:  # nothing is begun to be followed after this
            self._end()
        self._teller.join()

    def __enter__(self) -> Self:
        """Nothing yet; ``follow`` starts it."""
        return self

    def __exit__(self, *_: object) -> None:
        """As ``close`` does."""
        self.close()


class _Teller:
    """Looks after the roots and tells what changed, in a thread of its own.

    When it ends, whatever way, all of it ends: no root is followed any more, and nobody is told.

    Args:
        pending: what waits to be told; nobody else may use it.
        sources: where changes are learned of; ends with this.
        poll_s: how often the roots are looked at, in seconds.
    """

    def __init__(self, pending: "Pending", sources: Sources, *, poll_s: float) -> None:
        self._pending = pending
        self._sources = sources
        self._poll_s = poll_s
        self._lock = Lock()  # for what waits, and who listens
        self._listeners: list[_Listener] = []
        self._rooting = Lock()
        self._roots: dict[tuple[str, bool], WatchedRoot] = {}
        self._awake: SimpleQueue[None] = SimpleQueue()
        self._ended = False
        self._thread = Thread(target=self._run, name="file-watch", daemon=True)

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive() and not self._ended and self._sources.is_alive

    def follow(self, path: str, *, is_folder: bool) -> None:
        with self._rooting:
            if self._thread.ident is None:
                self._thread.start()
            place = path if is_folder else folder_of(path)
            root = self._roots.get((place, is_folder))
            if root is None and not (is_folder and self.covers(path)):
                root = WatchedRoot(
                    place, recursive=is_folder, sources=self._sources, changed=self._change
                )
                root.start()
                self._roots[place, is_folder] = root
            if root is not None and not is_folder:
                root.only.add(path)

    def listen(self, heard: Heard) -> Callable[[], None]:
        listener = _Listener(heard)
        with self._lock:
            self._listeners.append(listener)

        def leave() -> None:
            with self._lock:
                self._listeners = [each for each in self._listeners if each is not listener]

        return leave

    def covers(self, folder: str) -> bool:
        if not self.is_alive or not any(root.covers(folder) for root in list(self._roots.values())):
            return False
        with self._lock:
            return not self._pending.holds(folder)

    def end(self) -> None:
        """Have all of it end soon. Takes no lock: the garbage collector may call it at any point of any thread."""
        self._ended = True
        self._awake.put(None)

    def join(self) -> None:
        """Wait until nobody is being told any more; at once where a listener itself asks for it."""
        if self._thread.ident is not None and self._thread is not current_thread():
            self._thread.join()

    def _change(self, path: str, top: str) -> None:
        """A path changed, or what is below it; to be told by nothing above ``top``."""
        with self._lock:
            first = self._pending.due_at is None
            self._pending.add(path, top=top, now=time.monotonic())
        if first:  # later ones put it off, which is seen when the first would have been due
            self._awake.put(None)

    def _run(self) -> None:
        check_at = time.monotonic() + self._poll_s
        try:
            while not self._ended:
                now = time.monotonic()
                if now >= check_at:
                    self._check()
                    took_s = time.monotonic() - now
                    check_at = time.monotonic() + max(self._poll_s, took_s / _BUSY_FRACTION)
                with self._lock:
                    due_at = self._pending.due_at
                    paths = self._pending.take() if due_at is not None and due_at <= now else []
                if paths:
                    self._tell(frozenset(map(Path, paths)))
                    continue
                wait_s = min(check_at, due_at or check_at) - time.monotonic()
                with suppress(Empty):
                    self._awake.get(timeout=max(wait_s, 0))
        finally:
            self._ended = True
            with self._rooting:
                for root in self._roots.values():
                    root.stop()
                self._sources.stop()

    def _check(self) -> None:
        with self._rooting:
            for root in self._roots.values():
                root.check()

    def _tell(self, paths: Collection[Path]) -> None:
        with self._lock:
            self._listeners = [each for each in self._listeners if each.is_there]
            listeners = list(self._listeners)
        for listener in listeners:
            if not self._ended:
                listener.tell(paths)


class _Listener:
    """One who is told; the first failure is a warning, the next ones are nothing new."""

    def __init__(self, heard: Heard) -> None:
        self._heard = WeakMethod(heard) if inspect.ismethod(heard) else lambda: heard
        self._warned = False

    @property
    def is_there(self) -> bool:
        return self._heard() is not None

    def tell(self, paths: Collection[Path]) -> None:
        heard = self._heard()
        try:
            if heard is not None:
                heard(paths)
        except Exception:
            if not self._warned:
                _LOGGER.warning("who listens to changed files failed", exc_info=True)
            self._warned = True


class Pending:
    """Paths that wait until it is quiet; each that was added is told, or a folder above it. The time is handed in.

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
        if path in self._tops or self.holds(path):  # most events are of what has just changed
            return
        self._tops[path] = top
        if len(self._tops) > self._most_paths:
            self._fold(self._most_paths // 2)

    def holds(self, path: str) -> bool:
        """Whether a change waits to be told of a path, or of a folder above it."""
        while self._tops and path not in self._tops:
            above = folder_of(path)
            if above == path:
                return False
            path = above
        return bool(self._tops)

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

    def _fold(self, most: int) -> None:
        """Have folders stand for what is in them until there are few enough: those with more than others."""
        while len(self._tops) > most:
            folders = {p: p if p == top else folder_of(p) for p, top in self._tops.items()}
            crowds = Counter(folders.values())
            fewer: dict[str, str] = {}
            for path, top in self._tops.items():
                is_crowd = crowds[folders[path]] * len(crowds) >= len(self._tops)
                fewer[folders[path] if is_crowd else path] = top
            if fewer == self._tops:  # all of them are tops
                return
            self._tops = fewer
