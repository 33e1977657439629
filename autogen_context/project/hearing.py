"""What a watch told of a tree since it was asked last.

Promise: nothing that was told is lost, and no more is held than a number of paths; whenever the watch does not cover the
whole tree, the answer is that everything has to be looked at.
"""

import asyncio
import logging
from collections.abc import Callable, Collection
from pathlib import Path
from threading import Lock
from typing import Protocol

MOST_PATHS = 4_096

_LOGGER = logging.getLogger(__name__)


class Watches(Protocol):
    """Tells of changed files; a ``FileWatch`` does."""

    @property
    def is_alive(self) -> bool:
        """Whether it tells."""
        ...

    def follow(self, root: Path) -> None:
        """Begin to follow a folder."""
        ...

    def listen(self, heard: Callable[[Collection[Path]], None]) -> Callable[[], None]:
        """Tell of changes, in any thread; a path stands for all below it. Returns what ends that."""
        ...

    def covers(self, path: Path) -> bool:
        """Whether each change of a path is learned of at once."""
        ...


class Hearing:
    """Listens for one tree.

    Args:
        root: the folder, resolved.
        watch: tells of changes; without one everything has to be looked at each time.
    """

    def __init__(self, root: Path, watch: Watches | None) -> None:
        self._root = root
        self._watch = watch
        self._lock = Lock()
        self._paths: set[Path] = set()
        self._lost = True
        self._leave: Callable[[], None] | None = None

    async def start(self) -> None:
        """Begin to listen; once is enough. Where nothing can be told, everything is looked at each time."""
        if self._watch is None or self._leave is not None:
            return
        self._leave = self._watch.listen(self._heard)
        try:
            await asyncio.to_thread(self._watch.follow, self._root)
        except (OSError, RuntimeError, ValueError) as error:
            _LOGGER.warning(
                "a project cannot be watched; all its files are looked at", exc_info=error
            )

    def stop(self) -> None:
        """Listen no more."""
        if self._leave is not None:
            self._leave()

    def take(self) -> set[Path] | None:
        """The paths told since the last time; ``None`` where everything has to be looked at."""
        covered = self._watch is not None and self._watch.covers(self._root)
        with self._lock:
            paths, lost = self._paths, self._lost or not covered
            self._paths, self._lost = set(), not covered
        return None if lost else paths

    def give_back(self, paths: Collection[Path] | None) -> None:
        """Paths that were taken and could not be dealt with."""
        if paths is None:
            with self._lock:
                self._lost = True
        else:
            self._heard(paths)

    def _heard(self, paths: Collection[Path]) -> None:
        with self._lock:
            self._paths.update(paths)
            if len(self._paths) > MOST_PATHS:
                self._paths, self._lost = set(), True
