"""Files as they were shown, and in few words what became of them since.

Promise: what is told of a file is short, the same for the same content, and nothing where the content is the same again.
Only regular files within the root are read, and no link that leads out of it; what cannot be shown is said in words. All
that is kept stays within its limits, the longest unseen goes first. Nothing here fails on a bad path.
"""

import errno
import os
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Literal

from autogen_context.store.files.bounded_read import read_regular
from autogen_context.store.files.line_changes import told_changes

Kind = Literal["changed", "deleted", "unreadable"]

MOST_FILES = 512
MOST_BYTES_PER_FILE = 1024 * 1024
MOST_BYTES = 16 * 1024 * 1024
MOST_CHARS = 2_000

_FORGOTTEN = "what it was is not known any more"
_SNIFFED_BYTES = 8_192  # a zero byte among these is what git takes for the sign of a binary file


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenChange:
    """What became of a file since it was shown.

    Attributes:
        path: the file, below the root.
        kind: ``"unreadable"`` where it is there, and cannot or must not be read any more.
        text: what to tell; its first line begins with the name of the file.
        digest: of what it holds now, in hex; empty where it cannot be read.
    """

    path: Path
    kind: Kind
    text: str
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Content:
    """What a file holds: its text, or in words what it is where that is not to be shown."""

    digest: bytes
    text: str | None
    words: str = ""


class SeenFiles:
    """The files that a conversation has shown.

    Args:
        root: the folder outside of which nothing is read; a link to one is followed.
        most_files: how many are kept.
        most_bytes_per_file: a file that is larger is not read, in bytes.
        most_bytes: what the texts that are kept have together, in characters of about a byte.
        most_chars: what is told of one file, in characters beside its name.

    Raises:
        ValueError: ``root`` is no folder.
    """

    def __init__(
        self,
        root: Path,
        *,
        most_files: int = MOST_FILES,
        most_bytes_per_file: int = MOST_BYTES_PER_FILE,
        most_bytes: int = MOST_BYTES,
        most_chars: int = MOST_CHARS,
    ) -> None:
        if not root.is_dir():
            raise ValueError(f"root={str(root)!r}: give a folder; this is none")
        self._root = root.absolute()
        self._real_root = root.resolve()
        self._most_files = most_files
        self._most_bytes_per_file = most_bytes_per_file
        self._most_bytes = most_bytes
        self._most_chars = most_chars
        self._seen: OrderedDict[str, _Content] = OrderedDict()
        self._kept_bytes = 0

    def remember(self, path: str | os.PathLike[str], text: str | None = None) -> bool:
        """A file was shown; what was known of it before is forgotten.

        Args:
            path: the file; if relative, below the root.
            text: all of it as it was shown; left out, it is read now.

        Returns:
            Whether it is known from now on. It is not if it lies outside of the root or cannot be read.
        """
        name = self._name(path)
        if name is None:
            return False
        self._forget(name)
        try:
            real = self._real(name)
            self._keep(name, self._read(real) if text is None else self._shown(text))
        except (OSError, ValueError, RuntimeError):
            return False
        return name in self._seen

    def resumed(self, digests: Mapping[Path, str]) -> "SeenFiles":
        """What was shown when a state was saved; a text that is not known here is, once it is read and is the same.

        Args:
            digests: what ``digest_of`` said of each file then.

        Raises:
            ValueError: one is no digest.
        """
        other = SeenFiles(
            self._root,
            most_files=self._most_files,
            most_bytes_per_file=self._most_bytes_per_file,
            most_bytes=self._most_bytes,
            most_chars=self._most_chars,
        )
        for path, digest in digests.items():
            name, expected = self._name(path), bytes.fromhex(digest)
            known = self._seen.get(name) if name else None
            if known is None or known.digest != expected:
                known = _Content(digest=expected, text=None, words=_FORGOTTEN)
            if name:
                other._keep(name, known)
        return other

    def digest_of(self, path: str | os.PathLike[str]) -> str:
        """What a file held when it was shown, as a digest in hex; empty where it was not shown."""
        name = self._name(path)
        seen = None if name is None else self._seen.get(name)
        return seen.digest.hex() if seen else ""

    def forget(self, path: str | os.PathLike[str]) -> None:
        """What was shown of a file is no longer in sight."""
        name = self._name(path)
        if name is not None:
            self._forget(name)

    def change_of(self, path: str | os.PathLike[str]) -> SeenChange | None:
        """What became of a file since it was shown; ``None`` if nothing, or if it was not shown.

        Args:
            path: the file; if relative, below the root.
        """
        name = self._name(path)
        seen = None if name is None else self._seen.get(name)
        if name is None or seen is None:
            return None
        try:
            now = self._read(self._real(name))
        except FileNotFoundError:
            return self._told(name, "deleted", "was deleted since it was shown")
        except (OSError, ValueError, RuntimeError) as error:
            return self._told(name, "unreadable", f"cannot be read any more: {_reason(error)}")
        if seen.digest == now.digest:
            self._keep(name, now)  # where it was only expected its text is known from now on
            return None
        return self._difference(name, seen, now)

    @property
    def paths(self) -> list[Path]:
        """The files that are known, the longest unseen first."""
        return [self._root / name for name in self._seen]

    def _difference(self, name: str, seen: _Content, now: _Content) -> SeenChange:
        if seen.text is None or now.text is None:
            words = now.words or seen.words
            return self._told(name, "changed", f"changed since it was shown ({words})", now)
        changes = told_changes(seen.text, now.text, most_chars=self._most_chars)
        return self._told(name, "changed", f"changed since it was shown; {changes}", now)

    def _told(self, name: str, kind: Kind, words: str, now: _Content | None = None) -> SeenChange:
        shown = name if name.isprintable() else ascii(name)  # a name may have line ends
        return SeenChange(
            path=self._root / name,
            kind=kind,
            text=f"{shown} {words}",
            digest=now.digest.hex() if now else "",
        )

    def _keep(self, name: str, content: _Content) -> None:
        """Know a file; the longest unseen go where there is too much."""
        known = self._seen.get(name)
        self._kept_bytes -= _size(known) if known else 0
        self._seen[name] = content
        self._kept_bytes += _size(content)
        while len(self._seen) > self._most_files or self._kept_bytes > self._most_bytes:
            self._forget(next(iter(self._seen)))

    def _name(self, path: str | os.PathLike[str]) -> str | None:
        """The path below the root, as it is written; ``None`` where that leads out of it."""
        written = Path(os.path.normpath(self._root / path))
        for root in (self._root, self._real_root):
            if written != root and written.is_relative_to(root):
                return str(written.relative_to(root))
        return None

    def _real(self, name: str) -> Path:
        """Where a file lies, without links, be it there or not.

        Raises:
            OSError: that is outside of the root.
            ValueError: it is a path that no file can have.
            RuntimeError: it is a link that leads to itself.
        """
        real = (self._real_root / name).resolve()
        if not real.is_relative_to(self._real_root):
            raise PermissionError(errno.EPERM, "it leads out of the project")
        return real

    def _read(self, real: Path) -> _Content:
        """What a file holds now.

        Raises:
            OSError: it cannot be read.
        """
        try:
            return self._content(read_regular(real, most_bytes=self._most_bytes_per_file))
        except OSError as error:
            if error.errno != errno.EFBIG:
                raise
            return _large(real)

    def _content(self, content: bytes) -> _Content:
        if b"\0" in content[:_SNIFFED_BYTES]:
            words = f"binary, {len(content):,} bytes"
            return _Content(digest=_digest(content), text=None, words=words)
        return self._shown(content.decode("utf-8", "replace"))

    def _shown(self, text: str) -> _Content:
        """A text; how its lines end, and whether the last one does, makes no difference."""
        plain = text.replace("\r\n", "\n").rstrip("\n")
        digest = _digest(plain.encode("utf-8", "surrogatepass"))
        if len(plain) > self._most_bytes_per_file:
            return _Content(digest=digest, text=None, words=f"{len(plain):,} characters")
        return _Content(digest=digest, text=plain)

    def _forget(self, name: str) -> None:
        content = self._seen.pop(name, None)
        if content is not None:
            self._kept_bytes -= _size(content)


def _large(path: Path) -> _Content:
    """What stands for a file that is too large to be read: its size, its time and which file it is."""
    found = path.stat()
    stamp = f"{found.st_size} {found.st_mtime_ns} {found.st_ctime_ns} {found.st_ino}"
    words = f"too large to show, {found.st_size:,} bytes"
    return _Content(digest=_digest(stamp.encode()), text=None, words=words)


def _size(content: _Content) -> int:
    return len(content.text or "")


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=16).digest()


def _reason(error: Exception) -> str:
    """Why a file cannot be read, without its path."""
    return (error.strerror or "") if isinstance(error, OSError) else "its name leads nowhere"
