"""Know which files changed, without asking for each.

Promise: whoever listens is told of every change of what is covered and not ignored: the path, or a folder above it, which
stands for all below. What was lost on the way is a change of all there is. However much happens, so many paths wait at
most. It works when nobody ever closes it, and costs nothing before something is followed.
"""

import inspect
import logging
import math
import os
import re
import sys
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock, Thread, current_thread
from typing import TYPE_CHECKING, Self
from weakref import WeakMethod, finalize, ref

if TYPE_CHECKING:
    from watchdog.observers.inotify_c import InotifyFD

    from autogen_context.cache.inotify import InotifyTree

MOST_PATHS = 4_096
# What another machine writes there, the kernel of this one does not learn.
REMOTE = frozenset(
    {
        *("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "coda", "lustre", "gpfs"),
        *("beegfs", "glusterfs", "gfs2", "ocfs2", "orangefs", "davfs"),
        *("virtiofs", "vboxsf", "vmhgfs", "prl_fs", "drvfs", "fakeowner", "fuse"),
    }
)

_LONGEST_S = 1.0  # a file that is written all the time is told of this often
_ESCAPED = re.compile(r"\\([0-7]{3})")
_LOGGER = logging.getLogger(__name__)

Heard = Callable[[Collection[Path]], None]


class FileWatch:
    """Follows folders.

    Args:
        debounce_s: how long it must be quiet before a change is told, in seconds; it is told after one second at most.
        check_s: how often is looked whether a root is still there, in seconds.

    Raises:
        ValueError: a time is not above 0.
    """

    def __init__(self, *, debounce_s: float = 0.05, check_s: float = 2.0) -> None:
        for name, seconds in (("debounce_s", debounce_s), ("check_s", check_s)):
            if not seconds > 0:
                raise ValueError(f"{name}={seconds}: give a number of seconds above 0")
        self._check_s = check_s
        self._check_at = time.monotonic() + check_s
        self._pending = Pending(debounce_s=debounce_s, longest_s=max(_LONGEST_S, debounce_s))
        self._reader = Reader()
        self._roots: dict[str, WatchedRoot] = {}
        self._listeners: list[Callable[[], Heard | None]] = []
        self._lock, self._rooting = Lock(), Lock()  # for what waits and who listens; for the roots
        self._closed = self._warned = False
        self._awake: SimpleQueue[None] = SimpleQueue()
        finalize(self, self._awake.put, None)
        own = ref(self), self._awake, self._roots, self._reader
        self._thread = Thread(target=_run, args=own, name="file-watch", daemon=True)

    @property
    def is_alive(self) -> bool:
        """Whether something is followed, and all that is needed for it is running."""
        return self._thread.is_alive() and not self._closed and self._reader.is_alive

    def follow(self, root: Path) -> None:
        """Be told of its changes from when this returns.

        Args:
            root: a folder, followed with all below it that is not ignored. One with 10,000 others in it takes a second
                or two.

        Raises:
            ValueError: it is no folder.
            RuntimeError: this was closed.
        """
        folder = root.resolve() if ".." in root.parts else root.absolute()
        if not folder.is_dir():
            raise ValueError(f"root={str(root)!r}: give a folder; this is none")
        path, weakly = str(folder), WeakMethod(self._change)

        def changed(path: str, top: str) -> None:
            if (change := weakly()) is not None:
                change(path, top)

        with self._rooting:
            if self._closed:
                raise RuntimeError("this FileWatch is closed; make another one")
            if self._thread.ident is None:
                self._thread.start()
            if path not in self._roots and not self.covers(folder):
                watched = WatchedRoot(path, self._reader, changed)
                watched.start()
                self._roots[path] = watched

    def listen(self, heard: Heard) -> Callable[[], None]:
        """Have changes told.

        Args:
            heard: is called with the paths of a burst, each once, in a thread that is not the caller's. A path stands for
                itself and for all below it. A method is held weakly: it ends with its object.

        Returns:
            What ends it.
        """
        found = WeakMethod(heard) if inspect.ismethod(heard) else lambda: heard
        with self._lock:
            self._listeners.append(found)

        def leave() -> None:
            with self._lock:
                self._listeners = [each for each in self._listeners if each is not found]

        return leave

    def covers(self, folder: Path) -> bool:
        """Whether each change below a folder that is not ignored is learned of at once, and the folder does not wait to be told.

        It is not where the system does not tell, where it is ignored or behind a link. What a file is by now only looking at it
        proves.
        """
        path = str(folder.absolute())
        if ".." in folder.parts or not self.is_alive:
            return False
        if not any(root.covers(path) for root in list(self._roots.values())):
            return False
        with self._lock:
            return not self._pending.holds(path)

    def close(self) -> None:
        """Follow nothing any more, and wait until nobody is being told; at once where a listener itself asks for it."""
        with self._rooting:
            self._closed = True
        self._awake.put(None)
        if self._thread.ident is not None and self._thread is not current_thread():
            self._thread.join()

    def __enter__(self) -> Self:  # noqa: D105 - ``follow`` starts it
        return self

    def __exit__(self, *_: object) -> None:  # noqa: D105
        self.close()

    def step(self) -> float | None:
        """What the thread does again and again: after how many seconds the next time, ``None`` at the end."""
        now = time.monotonic()
        if now >= self._check_at and not self._closed:
            with self._rooting:
                for root in self._roots.values():
                    root.check()
            self._check_at = time.monotonic() + self._check_s
        with self._lock:
            due_at = self._pending.due_at
            paths = self._pending.take() if due_at is not None and due_at <= now else []
            self._listeners = [each for each in self._listeners if each() is not None]
            listeners = list(self._listeners) if paths else []
        for listener in listeners:
            if not self._closed:
                self._tell(listener(), frozenset(map(Path, paths)))
        wait_s = 0.0 if paths else min(self._check_at, due_at or math.inf) - time.monotonic()
        return None if self._closed else max(wait_s, 0.0)

    def _tell(self, heard: Heard | None, paths: Collection[Path]) -> None:
        try:
            if heard is not None:
                heard(paths)
        except Exception:
            if not self._warned:
                _LOGGER.warning("who listens to changed files failed", exc_info=True)
            self._warned = True

    def _change(self, path: str, top: str) -> None:
        with self._lock:
            first = self._pending.due_at is None
            self._pending.add(path, top=top, now=time.monotonic())
        if first:  # later ones put it off, which is seen when the first would have been due
            self._awake.put(None)


def _run(
    watch: "ref[FileWatch]",
    awake: "SimpleQueue[None]",
    roots: "dict[str, WatchedRoot]",
    reader: "Reader",
) -> None:
    """The life of the thread, which does not hold the watch: it ends with it."""
    try:
        while (found := watch()) is not None and (wait_s := found.step()) is not None:
            del found
            with suppress(Empty):
                awake.get(timeout=wait_s)
    finally:
        for root in roots.values():
            root.stop()
        reader.stop()


class Pending:
    """Paths that wait until it is quiet; each that was added is told, or a folder above it. The time is handed in."""

    def __init__(
        self, *, debounce_s: float, longest_s: float, most_paths: int = MOST_PATHS
    ) -> None:
        self._debounce_s = debounce_s
        self._longest_s = longest_s
        self._most_paths = most_paths
        self._tops: dict[str, str] = {}  # path -> its root
        self._first = self._last = 0.0

    def add(self, path: str, *, top: str, now: float) -> None:
        """A path below a root changed; where too many wait, the roots stand for them."""
        if not self._tops:
            self._first = now
        self._last = now
        if path not in self._tops and not self.holds(path):
            self._tops[path] = top
        if len(self._tops) > self._most_paths:
            self._tops = {each: each for each in self._tops.values()}

    def holds(self, path: str) -> bool:
        """Whether a change waits to be told of a path, or of a folder above it."""
        while self._tops and path not in self._tops:
            above = path.rpartition(os.sep)[0] or os.sep
            if above == path:
                return False
            path = above
        return bool(self._tops)

    @property
    def due_at(self) -> float | None:
        """When the paths are to be told, on the clock of ``add``; ``None`` where there are none."""
        if not self._tops:
            return None
        return min(self._last + self._debounce_s, self._first + self._longest_s)

    def take(self) -> list[str]:
        """All that waits, by name; then nothing waits."""
        taken, self._tops = self._tops, {}
        return sorted(taken)


class Reader:
    """What reads the system's events for all roots, from the first one on."""

    def __init__(self, begin: "Callable[[], InotifyFD] | None" = None) -> None:
        self._begin = begin
        self._running: InotifyFD | None = None

    @property
    def is_alive(self) -> bool:
        """Whether what the system tells is read, where anything is."""
        return self._running is None or self._running.is_alive()

    def watch(self, top: str, changed: Callable[[str], None]) -> "InotifyTree | None":
        """Learn of the changes of a folder from now on; ``None``, with a warning, where they are not told."""
        reason = _reason_not_to_watch(top)
        if reason is None:
            from autogen_context.cache.inotify import InotifyTree, begin_reading  # noqa: PLC0415 - Linux has it

            try:
                if self._running is None or not self._running.is_alive():
                    self._running = (self._begin or begin_reading)()
                return InotifyTree(self._running, top, changed)
            except OSError as error:
                reason = error.strerror or str(error)
        _LOGGER.warning("%s is not watched: %s", top, reason)
        return None

    def stop(self) -> None:
        """Read no more."""
        if self._running is not None:
            self._running.stop()


class WatchedRoot:
    """A folder that is followed, whatever becomes of it: that it went, came or is another one is a change of all in it."""

    def __init__(self, path: str, reader: Reader, changed: Callable[[str, str], None]) -> None:
        self._path = path
        self._reader = reader
        self._changed = changed
        self._identity: tuple[str, int, int] | None = None
        self._tree: InotifyTree | None = None

    def start(self) -> None:
        """Follow it from now on, if it is there."""
        self._identity = _identity(self._path)
        if self._identity is not None:
            self._tree = self._reader.watch(self._identity[0], self._change)

    def check(self) -> None:
        """Look whether it is still what it was; if not, begin anew."""
        is_lost = self._tree is not None and not self._tree.is_watching
        if is_lost or _identity(self._path) != self._identity:
            self.stop()
            self.start()
            self._changed(self._path, self._path)

    def stop(self) -> None:
        """Follow it no more."""
        if self._tree is not None:
            self._tree.stop()
        self._tree = None

    def covers(self, folder: str) -> bool:
        """Whether each change of what is in a folder, and not ignored, is learned of at once."""
        tree, identity = self._tree, self._identity
        if tree is None or identity is None:
            return False
        if folder != self._path and not folder.startswith(self._path.rstrip(os.sep) + os.sep):
            return False
        return tree.covers(identity[0] + folder[len(self._path) :])

    def _change(self, path: str) -> None:
        """What changed has a name without links here; it is told by the name that is followed."""
        top = self._identity[0] if self._identity else self._path
        self._changed(self._path + path[len(top) :], self._path)


def _reason_not_to_watch(top: str) -> str | None:
    if sys.platform != "linux":
        return "its changes are told on Linux only"
    try:
        mounts = Path("/proc/mounts").read_text("utf-8", "surrogateescape")
    except OSError:
        return None  # its events are believed
    kind = remote_type(top, mounts)
    return kind and f"others may write to this {kind} file system"


def remote_type(folder: str, mounts: str) -> str | None:
    """The type of the remote file system that a folder lies on, or that is mounted below it; later lines count.

    Source: https://man7.org/linux/man-pages/man5/proc_mounts.5.html
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
