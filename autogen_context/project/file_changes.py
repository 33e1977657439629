"""The files that conversations have seen: which of them are not any more as they were.

Promise: no change is missed for good: each file is looked at in turn, by its stamp, and read where that differs or is too
young to be believed. What one look may read is bounded, the rest waits for the next; all that is kept stays within its
limits, the longest unseen goes first. Only regular files within the folder are read, and no link that leads out of it;
nothing here fails on a bad path.
"""

import errno
import logging
import os
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Literal

from autogen_context.cache.files import read_regular
from autogen_context.project.line_changes import told_changes
from autogen_context.project.tree import Stamp

MOST_FILES = 512
MOST_BYTES = 16 * 1024 * 1024  # of the texts that are kept together, in characters of about a byte
MOST_BYTES_PER_FILE = 512 * 1024  # a larger file is told in numbers
MOST_CHARS = 2_000  # of what is told of a file
MOST_READ = 256  # files at a time
MOST_LOOKED_AT = 64  # stamps at a time, of files that were read before

_SNIFFED_BYTES = 8_192  # a zero byte among these is what git takes for the sign of a binary file
_GONE = Stamp(identity=(), settled=True)

_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """What became of a file since it was shown.

    Attributes:
        kind: ``"unreadable"`` where it is there, and cannot or must not be read any more.
        detail: what to tell below the line that names the file.
        digest: of what it holds now, in hex; empty where it cannot be read.
    """

    kind: Literal["changed", "deleted", "unreadable"]
    detail: str = ""
    digest: str = ""


class FileChangeTracker:
    """A folder whose files are followed once a conversation has seen them; several conversations may share it.

    Args:
        root: the folder; nothing outside of it is read.

    Raises:
        ValueError: ``root`` is no folder.
    """

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = Path(os.path.normpath(Path(root).absolute()))
        if not self.root.is_dir():
            raise ValueError(f"root={str(root)!r}: give a folder; this is none")
        self._real_root = self.root.resolve()

    def path_of(self, written: str) -> Path | None:
        """The file that a conversation means; ``None`` where that is not below the root."""
        path = Path(os.path.normpath(self.root / written))
        for root in (self.root, self._real_root):
            if path.is_relative_to(root):
                return self.root / path.relative_to(root)
        return None

    def real(self, path: Path) -> Path:
        """Where a file below the root lies, without links, be it there or not.

        Raises:
            OSError: that is outside of the root.
            ValueError: it is a path that no file can have.
            RuntimeError: it is a link that leads to itself.
        """
        real = (self._real_root / path.relative_to(self.root)).resolve()
        if not real.is_relative_to(self._real_root):
            raise PermissionError(errno.EPERM, "it leads out of the project")
        return real


@dataclass(frozen=True, slots=True, kw_only=True)
class _Content:
    """What a file holds: a digest, the text where it is to be shown, and what it is in words where it is not.

    How lines end, and whether the last one does, makes no difference to a text.
    """

    digest: bytes
    text: str | None = None
    words: str = ""


@dataclass(slots=True, kw_only=True)
class _Seen:
    """A file that was seen.

    Attributes:
        name: as the conversation wrote it.
        content: as it was shown; ``None`` until it is read.
        stamp: what the system said when it was compared last; ``None`` where it is to be compared.
        told: which content was found last, empty where it is as it was; ``None`` where nobody knows what was told.
    """

    name: str
    content: _Content | None = None
    stamp: Stamp | None = None
    told: str | None = ""


class SeenFiles:
    """The files that one conversation has seen.

    It may be asked from any thread; one that comes while another one reads does nothing.

    Args:
        tracker: the folder.
    """

    def __init__(self, tracker: FileChangeTracker) -> None:
        self._tracker = tracker
        self._reading = Lock()
        self._lock = Lock()  # for all below
        self._files: OrderedDict[Path, _Seen] = OrderedDict()  # the longest unseen first
        self._kept_chars = 0
        self._due: dict[Path, None] = {}  # to be read as it is shown
        self._turns: dict[Path, None] = {}  # to be looked at, the longest not looked at first
        self._found: dict[Path, FileChange | None] = {}

    def __bool__(self) -> bool:
        """Whether any file is followed."""
        return bool(self._files)

    def see(self, written: str) -> None:
        """A file was shown, as it is on disk now; it is read at the next look."""
        path = self._tracker.path_of(written)
        if path is not None:
            with self._lock:
                self._keep(path, _Seen(name=written))
                self._due[path] = None

    def knows(self, written: str) -> bool:
        """Whether a file was seen."""
        return self._tracker.path_of(written) in self._files

    @property
    def digests(self) -> dict[str, str]:
        """The files that were shown, as they were written, and digests of what was; but for one that is to be read."""
        with self._lock:
            return {e.name: e.content.digest.hex() for e in self._files.values() if e.content}

    def look(self, *, most_read: int = MOST_READ, settled: bool = True) -> None:
        """Read what was seen, and find out what became of what was read before.

        Args:
            most_read: files that may be read; what is left waits for the next look.
            settled: whether all that the conversation did to files is known; if not, changes wait.
        """
        if not self._reading.acquire(blocking=False):
            return
        try:
            with self._lock:
                due = list(islice(self._due, most_read))
                others = list(islice(self._turns, MOST_LOOKED_AT)) if settled else []
            for path in due:
                self._remember(path)
            left, looked_at = most_read - len(due), 0
            while left > 0 and looked_at < len(others):
                left -= self._compare(others[looked_at])
                looked_at += 1
            with self._lock:  # the next look begins behind these
                there = [path for path in others[:looked_at] if path in self._turns]
                self._turns |= {path: self._turns.pop(path) for path in there}
        finally:
            self._reading.release()

    def changes(self) -> dict[str, FileChange | None]:
        """What the looks found since this was asked last, by the names as written; ``None`` where a file is as it was."""
        with self._lock:
            found, self._found = self._found, {}
            return {self._files[path].name: change for path, change in found.items()}

    def doubt(self) -> None:
        """Compare all files at the next looks, and find again what was found before."""
        with self._lock:
            for seen in self._files.values():
                seen.stamp = seen.told = None

    def resumed(self, digests: Mapping[str, str]) -> "SeenFiles":
        """Another one that has seen what one had that was saved; all of it is compared at its next looks.

        Args:
            digests: as above; a text that is not known here is, once it is read and is the same.

        Raises:
            ValueError: one is no digest.
        """
        other = SeenFiles(self._tracker)
        for name, digest in digests.items():
            content = _Content(
                digest=bytes.fromhex(digest), words="what it was is not known any more"
            )
            path = self._tracker.path_of(name)
            if path is not None:
                known = self._files.get(path)
                if known and known.content and known.content.digest == content.digest:
                    content = known.content
                other._keep(path, _Seen(name=name, content=content, told=None))
        return other

    def _remember(self, path: Path) -> None:
        """Read a file that was shown; what cannot be read is not followed."""
        seen = self._files.get(path)
        stamp = _stamp(path)  # first: what happens after it is noticed
        content: _Content | None = None
        try:
            content = _read(self._tracker.real(path))
        except (OSError, ValueError, RuntimeError):
            _LOGGER.debug("a file that was shown is not followed")
        with self._lock:
            if seen is None or self._files.get(path) is not seen:
                return  # it went, or was shown again
            if content is None:
                self._forget(path)
                return
            del self._due[path]
            seen.content, seen.stamp = content, stamp
            self._kept_chars += len(content.text or "")
            self._trim()

    def _compare(self, path: Path) -> bool:
        """Look whether something happened to a file; whether it had to be read for that."""
        seen = self._files.get(path)
        if seen is None or seen.content is None:
            return False
        stamp = _stamp(path)
        if seen.stamp is not None and seen.stamp.holds(stamp):
            return False
        now, change = self._change_of(path, seen.content)
        told = f"{change.kind} {change.digest or change.detail}" if change else ""
        with self._lock:
            if self._files.get(path) is not seen:
                return True
            if told != seen.told:
                self._found[path] = change
            seen.stamp, seen.told = stamp, told
            if now is not None:
                self._kept_chars += len(now.text or "") - len(seen.content.text or "")
                seen.content = now
                self._trim()
        return True

    def _change_of(self, path: Path, seen: _Content) -> tuple[_Content | None, FileChange | None]:
        """What became of a file: where it is as it was, what it holds, which may have been expected without its text."""
        try:
            now = _read(self._tracker.real(path))
        except FileNotFoundError:
            return None, FileChange(kind="deleted")
        except (OSError, ValueError, RuntimeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "its name leads nowhere"
            return None, FileChange(
                kind="unreadable", detail=f"it cannot be read any more: {reason}"
            )
        if seen.digest == now.digest:
            return now, None
        if seen.text is None or now.text is None:
            detail = f"({now.words or seen.words})"
        else:
            detail = told_changes(seen.text, now.text, most_chars=MOST_CHARS)
        return None, FileChange(kind="changed", detail=detail, digest=now.digest.hex())

    def _keep(self, path: Path, seen: _Seen) -> None:
        """Follow a file, as the one that was seen last."""
        self._forget(path)
        self._files[path] = seen
        self._turns[path] = None
        self._kept_chars += len(seen.content.text or "") if seen.content else 0
        self._trim()

    def _trim(self) -> None:
        while len(self._files) > MOST_FILES or self._kept_chars > MOST_BYTES:
            self._forget(next(iter(self._files)))

    def _forget(self, path: Path) -> None:
        """Follow a file no more."""
        seen = self._files.pop(path, None)
        self._kept_chars -= len(seen.content.text or "") if seen and seen.content else 0
        for paths in (self._due, self._turns, self._found):
            paths.pop(path, None)


def _read(real: Path) -> _Content:
    """What a file holds now; one that is larger than is kept is told by its size, its times and which file it is.

    Raises:
        OSError: it cannot be read.
    """
    try:
        content = read_regular(real, most_bytes=MOST_BYTES_PER_FILE)
    except OSError as error:
        if error.errno != errno.EFBIG:
            raise
        found = real.stat()
        stamp = (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
        words = f"too large to show, {found.st_size:,} bytes"
        return _Content(digest=_digest(" ".join(map(str, stamp)).encode()), words=words)
    if b"\0" in content[:_SNIFFED_BYTES]:
        return _Content(digest=_digest(content), words=f"binary, {len(content):,} bytes")
    text = content.decode("utf-8", "replace").replace("\r\n", "\n").rstrip("\n")
    return _Content(digest=_digest(text.encode()), text=text)


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=16).digest()


def _stamp(path: Path) -> Stamp:
    """What the system says of a file; nothing is opened."""
    try:
        return Stamp.of(os.stat(path))  # noqa: PTH116 - of many files at each turn
    except (OSError, ValueError):
        return _GONE
