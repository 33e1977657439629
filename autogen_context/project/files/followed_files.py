"""A folder whose files are followed once a conversation has seen them.

Promise: nothing runs before a file was seen. The folder is watched once, however many conversations there are, and nobody
waits for that to begin. That it is not, or is not any more, is one warning.
"""

import logging
import os
from pathlib import Path
from threading import Lock, Thread

from autogen_context.cache.watch import FileWatch, Heard

_LOGGER = logging.getLogger(__name__)


class FollowedFiles:
    """A folder whose files are followed once they were seen; several conversations may share it.

    Args:
        root: the folder; nothing outside of it is read.
        watch: what tells of changes, where it is shared; one of its own where left out.

    Raises:
        ValueError: ``root`` is no folder.
    """

    def __init__(self, root: str | os.PathLike[str], *, watch: FileWatch | None = None) -> None:
        self.root = Path(os.path.normpath(Path(root).absolute()))
        if not self.root.is_dir():
            raise ValueError(f"root={str(root)!r}: give a folder; this is none")
        self._real_root = self.root.resolve()
        self._watch = watch or FileWatch()
        self._lock = Lock()
        self._begun = self._was_watched = self._warned = False

    def path_of(self, written: str) -> Path | None:
        """The file that a conversation means; ``None`` where that is not below the root."""
        path = Path(os.path.normpath(self.root / written))
        for root in (self.root, self._real_root):
            if path.is_relative_to(root):
                return self.root / path.relative_to(root)
        return None

    def begin(self) -> None:
        """Have the folder watched, in a thread that nobody waits for; once is enough."""
        with self._lock:
            begun, self._begun = self._begun, True
        if not begun:
            Thread(target=self._follow, name="followed-files", daemon=True).start()

    def listen(self, heard: Heard) -> None:
        """Have changes told to a method, as a ``FileWatch`` does; it ends with its object."""
        self._watch.listen(heard)

    def covers(self, path: Path) -> bool:
        """Whether each change of a path is told at once."""
        return self._watch.covers(path.parent)

    @property
    def is_watched(self) -> bool:
        """Whether changes are told; that they no longer are is said once."""
        alive = self._watch.is_alive
        if self._was_watched and not alive:
            self._warn("nothing tells of changed files any more; they are looked at in turn")
        return alive

    def _follow(self) -> None:
        try:
            self._watch.follow(self.root)
            self._was_watched = True
        except Exception:  # noqa: BLE001 - whatever it is, files are looked at instead
            self._warn("changed files are not told of; they are looked at in turn", exc_info=True)

    def _warn(self, message: str, *, exc_info: bool = False) -> None:
        with self._lock:
            warned, self._warned = self._warned, True
        if not warned:
            _LOGGER.warning(message, exc_info=exc_info)
