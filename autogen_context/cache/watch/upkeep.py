"""Look after what is followed, in a thread of its own.

Promise: each root is looked at about every ``poll_s`` seconds, and takes at most a tenth of a core. When this ends,
whatever way, all of it ends: no root is followed any more, and nobody is told.
"""

import time
from queue import Empty, SimpleQueue
from threading import Lock, Thread, current_thread

from autogen_context.cache.watch.announce import Announcer
from autogen_context.cache.watch.root import FollowedRoot, Sources

_BUSY_SHARE = 0.1


class Upkeep:
    """The roots that are followed.

    Args:
        poll_s: how often they are looked at, in seconds.
        sources: where their changes are learned of; ends with this.
        announcer: tells of them; ends with this.
    """

    def __init__(self, *, poll_s: float, sources: Sources, announcer: Announcer) -> None:
        self._poll_s = poll_s
        self._sources = sources
        self._announcer = announcer
        self._roots: dict[tuple[str, bool], FollowedRoot] = {}
        self._lock = Lock()
        self._ended: SimpleQueue[None] = SimpleQueue()
        self._thread = Thread(target=self._run, name="file-watch-upkeep", daemon=True)

    @property
    def is_alive(self) -> bool:
        """Whether all that is needed to follow, and to tell, is running."""
        return self._thread.is_alive() and self._announcer.is_alive and self._sources.is_alive

    @property
    def roots(self) -> list[FollowedRoot]:
        """What is followed."""
        return list(self._roots.values())

    def start(self) -> None:
        """Begin; once is enough."""
        self._announcer.start()
        self._thread.start()

    def end(self) -> None:
        """Have all of it end soon. Takes no lock: the garbage collector may call it at any point of any thread."""
        self._ended.put(None)

    def join(self) -> None:
        """Wait until it has ended; not for a thread of its own that asks for it."""
        if self._thread.ident is not None and self._thread is not current_thread():
            self._thread.join()
        self._announcer.join()

    def follow_tree(self, path: str) -> None:
        """Follow a folder and all below it."""
        with self._lock:
            if not any(root.hears(path) for root in self.roots):
                self._begin(path, recursive=True)

    def follow_file(self, path: str, *, folder: str) -> None:
        """Follow one entry of a folder."""
        with self._lock:
            if any(root.hears(path) for root in self.roots):
                return
            root = self._roots.get((folder, False)) or self._begin(folder, recursive=False)
            root.only.add(path)

    def _begin(self, path: str, *, recursive: bool) -> FollowedRoot:
        root = FollowedRoot(
            path, recursive=recursive, sources=self._sources, announcer=self._announcer
        )
        root.start()
        self._roots[path, recursive] = root
        return root

    def _run(self) -> None:
        try:
            wait_s = self._poll_s
            while not self._is_ended(wait_s):
                began = time.monotonic()
                for root in self.roots:
                    root.check()
                wait_s = max(self._poll_s, (time.monotonic() - began) / _BUSY_SHARE)
        finally:
            self._stop()

    def _is_ended(self, wait_s: float) -> bool:
        """Wait, and say whether it is over."""
        try:
            self._ended.get(timeout=wait_s)
        except Empty:
            return False
        return True

    def _stop(self) -> None:
        with self._lock:
            for root in self.roots:
                root.stop()
            self._sources.stop()
            self._announcer.stop()
