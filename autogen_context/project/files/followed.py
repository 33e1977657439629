"""The files that a conversation has seen: which of them are not any more as they were.

Promise: no change is missed for good. What the system tells of is heard; of all else so many files are looked at each
time, in turn. What one look may read is bounded, the rest waits for the next. Nothing outside of the folder is read.
"""

from collections import OrderedDict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from threading import Lock

from autogen_context.project.files.followed_files import FollowedFiles
from autogen_context.project.files.known_file import KnownFile, Stamp, stamp_of
from autogen_context.project.files.seen_file import MOST_FILES, SeenChange, SeenFiles

MOST_BYTES_PER_FILE = 512 * 1024  # a larger file is told in numbers
MOST_LOOKED_AT = 32  # files at a time, of those whose changes are not told
MOST_READ = 256  # files at a time, where nobody waits for the disk


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """What is known of a file that may have changed.

    Attributes:
        name: the file as the conversation wrote it.
        change: what became of it since it was seen; ``None`` where it is as it was.
    """

    name: str
    change: SeenChange | None


class Followed:
    """The files that one conversation has seen.

    It may be asked from any thread; one that comes while another one reads does nothing.

    Args:
        files: the folder.
    """

    def __init__(self, files: FollowedFiles) -> None:
        self._files = files
        self._seen = SeenFiles(files.root, most_bytes_per_file=MOST_BYTES_PER_FILE)
        self._reading = Lock()
        self._lock = Lock()  # for all below
        self._due: OrderedDict[Path, str] = OrderedDict()
        self._at_hand: tuple[tuple[Path, str], ...] = ()  # what was due and is being read
        self._known: OrderedDict[Path, KnownFile] = OrderedDict()
        self._covered: OrderedDict[Path, None] = OrderedDict()
        self._uncovered: OrderedDict[Path, None] = OrderedDict()
        self._suspects: OrderedDict[Path, None] = OrderedDict()
        self._found: dict[Path, SeenChange | None] = {}
        files.listen(self._hear)

    def see(self, written: str) -> None:
        """A file was shown, as it is on disk now; it is read at the next look."""
        path = self._files.path_of(written)
        if path is None:
            return
        with self._lock:
            self._due[path] = written
            self._due.move_to_end(path)
            self._found.pop(path, None)
            while len(self._due) > MOST_FILES:
                self._due.popitem(last=False)

    @property
    def seen(self) -> dict[str, str]:
        """The files that were shown, as they were written, and digests of what was; but for one that is being read."""
        with self._lock:
            digests = (
                (known.name, self._seen.digest_of(path)) for path, known in self._known.items()
            )
            return {name: digest for name, digest in digests if digest}

    def knows(self, written: str) -> bool:
        """Whether a file was seen."""
        path = self._files.path_of(written)
        return path in self._known or path in self._due

    @property
    def is_busy(self) -> bool:
        """Whether a look would have to ask the disk."""
        waiting = self._due or self._uncovered or self._suspects
        return bool(waiting) or not self._are_told

    def look(self, *, most_read: int = MOST_READ, settled: bool = True) -> None:
        """Read what was seen, and find out what became of what may have changed.

        Args:
            most_read: files that may be read; what is left waits for the next look.
            settled: whether all that the conversation did to files is known; if not, changes wait.
        """
        if not self._reading.acquire(blocking=False):
            return
        try:
            left = most_read - self._remember(most_read)
            self._suspect()
            if settled:
                self._compare(left)
        finally:
            self._reading.release()

    def news(self) -> list[News]:
        """What the looks found since this was asked last."""
        with self._lock:
            found, self._found = self._found, {}
            return [
                News(name=self._known[path].name, change=change)
                for path, change in found.items()
                if path in self._known
            ]

    def doubt(self) -> None:
        """Compare all files at the next looks, whether something tells of them or not."""
        with self._lock:
            self._suspects.update(dict.fromkeys(self._known))

    def branch(self) -> "Followed":
        """Another one that has seen the same; all of it is compared at its next looks. A look under way is not waited for."""
        other = Followed(self._files)
        with self._lock:
            other._seen = self._seen.copy()
            other._due = OrderedDict([*self._at_hand, *self._due.items()])
            for path, known in self._known.items():
                other._keep(path, known.name, stamp=known.stamp)
            other._suspects.update(dict.fromkeys(self._known))
            other._found = dict(self._found)
        return other

    def resumed(self, seen: Mapping[str, str]) -> "Followed":
        """Another one that has seen what one had that was saved; all of it is compared at its next looks.

        Args:
            seen: the files as they were written, and digests, as in ``seen``.

        Raises:
            ValueError: one is no digest.
        """
        other = Followed(self._files)
        paths = {name: self._files.path_of(name) for name in seen}
        known = {path: seen[name] for name, path in paths.items() if path is not None}
        other._seen = self._seen.resumed(known)
        with other._lock:
            for name, path in paths.items():
                if path is not None:
                    other._keep(path, name, stamp=())
            other._suspects.update(dict.fromkeys(other._known))
        if known:
            self._files.begin()
        return other

    def _hear(self, paths: Collection[Path]) -> None:
        """What the watch tells; a folder stands for all below it."""
        told = frozenset(paths)
        with self._lock:
            for path, known in self._known.items():
                if not told.isdisjoint(known.above):
                    self._suspects[path] = None

    def _remember(self, most: int) -> int:
        """Read what was seen; how many files that were."""
        for count in range(most):
            with self._lock:
                if not self._due:
                    return count
                path, name = self._due.popitem(last=False)
                self._at_hand = ((path, name),)
            stamp = stamp_of(path)  # first: what happens after it is noticed
            is_known = self._seen.remember(path)
            with self._lock:
                self._forget(path)
                if is_known:
                    self._keep(path, name, stamp)
                self._at_hand = ()
            if is_known:
                self._files.begin()
        return most

    def _suspect(self) -> None:
        """Look whether something happened to files of which nothing tells, and whether something tells of them now."""
        are_told = self._are_told
        with self._lock:
            if not are_told:
                self._uncovered.update(self._covered)
                self._covered.clear()
            still_covered = list(islice(self._covered, 1))  # the others have their turn
            looked_at = [*still_covered, *islice(self._uncovered, MOST_LOOKED_AT)]
        for path in looked_at:
            covered = self._files.covers(path)  # first: what happens after it is told
            stamp = stamp_of(path)
            with self._lock:
                self._note(path, stamp, covered=covered)

    def _note(self, path: Path, stamp: Stamp, *, covered: bool) -> None:
        """A file was looked at."""
        known = self._known.get(path)
        if known is None:
            return
        if known.stamp != stamp:
            known.stamp = stamp
            self._suspects[path] = None
        for paths in (self._covered, self._uncovered):
            paths.pop(path, None)
        (self._covered if covered else self._uncovered)[path] = None

    def _compare(self, most: int) -> None:
        """Read what may have changed, but for what is to be read as it is shown now."""
        with self._lock:
            suspects = list(islice((p for p in self._suspects if p not in self._due), most))
            for path in suspects:
                del self._suspects[path]
        for path in suspects:
            change = self._seen.change_of(path)
            with self._lock:
                if path not in self._due:
                    self._found[path] = change

    @property
    def _are_told(self) -> bool:
        """Whether changes of what is covered are told."""
        return not self._covered or self._files.is_watched

    def _keep(self, path: Path, name: str, stamp: Stamp) -> None:
        """Follow a file; the longest unseen goes where there are too many."""
        self._known[path] = KnownFile.at(path, name=name, stamp=stamp)
        self._uncovered[path] = None
        while len(self._known) > MOST_FILES:
            self._forget(next(iter(self._known)))

    def _forget(self, path: Path) -> None:
        """Follow a file no more."""
        for paths in (self._covered, self._uncovered, self._suspects):
            paths.pop(path, None)
        self._known.pop(path, None)
        self._found.pop(path, None)
