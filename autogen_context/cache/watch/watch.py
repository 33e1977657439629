"""Know which files changed, without asking for each.

Promise: whoever listens is told of every change of what is followed and not ignored: the path, or a folder above it, which
stands for all below. ``covers`` is true of a path only while each change of it is learned of at once and none waits to be
told; of all else one has to look. It works when nobody ever closes it, and costs nothing before something is followed.
"""

from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Self
from weakref import finalize

from autogen_context.cache.watch.announce import Announcer, Heard
from autogen_context.cache.watch.debounce import Debouncer
from autogen_context.cache.watch.root import Sources
from autogen_context.cache.watch.upkeep import Upkeep

LONGEST_S = 1.0  # a file that is written all the time is told of this often


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
        longest_s = max(LONGEST_S, debounce_s)
        debouncer = Debouncer(debounce_s=debounce_s, longest_s=longest_s)
        self._announcer = Announcer(debouncer)
        self._upkeep = Upkeep(poll_s=poll_s, sources=Sources(poll=poll), announcer=self._announcer)
        self._lock = Lock()
        self._started = False
        self._end = finalize(self, self._upkeep.end)

    @property
    def is_alive(self) -> bool:
        """Whether something is followed, and all that is needed for it is running."""
        return self._end.alive and self._upkeep.is_alive

    def follow(self, root: Path) -> None:
        """Be told of its changes from when this returns.

        Args:
            root: a folder, followed with all below it that is not ignored; or a file, there or not, in a folder that is.
                What is followed already is not followed twice. A folder with 10,000 others takes a second or two.

        Raises:
            ValueError: neither it nor its folder is there.
            RuntimeError: this was closed.
        """
        path = root.resolve() if ".." in root.parts else root.absolute()
        if not path.is_dir() and not path.parent.is_dir():
            raise ValueError(f"root={str(root)!r}: neither it nor its folder is there")
        with self._lock:
            self._start()
            if path.is_dir():
                self._upkeep.follow_tree(str(path))
            else:
                self._upkeep.follow_file(str(path), folder=str(path.parent))

    def listen(self, heard: Heard) -> Callable[[], None]:
        """Have changes told.

        Args:
            heard: is called with the paths of a burst, each once, in a thread that is not the caller's. A path stands for
                itself and for all below it. A method is held weakly: it ends with its object.

        Returns:
            What ends it.
        """
        return self._announcer.listen(heard)

    def covers(self, path: Path) -> bool:
        """Whether each change of a path is learned of at once, and none waits to be told.

        It is not for what is polled or ignored, nor for a link, what lies behind one, or a file with a second name.
        """
        plain = str(path.absolute())
        if not self.is_alive or ".." in path.parts:
            return False
        covered = any(root.covers(plain) for root in self._upkeep.roots)
        return covered and not self._announcer.holds(plain)

    def close(self) -> None:
        """Follow nothing any more, and wait until nobody is being told."""
        with self._lock:  # nothing is begun to be followed after this
            self._end()
        self._upkeep.join()

    def __enter__(self) -> Self:
        """Nothing yet; ``follow`` starts it."""
        return self

    def __exit__(self, *_: object) -> None:
        """As ``close`` does."""
        self.close()

    def _start(self) -> None:
        """Start the threads, the first time."""
        if not self._end.alive:
            raise RuntimeError("this FileWatch is closed; make another one")
        if not self._started:
            self._upkeep.start()
            self._started = True
