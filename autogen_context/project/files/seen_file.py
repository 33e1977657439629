"""Files as they were shown, and in few words what became of them since.

Promise: what is told of a file is short, the same for the same content, and nothing where the content is the same again.
Only regular files within the root are read, and no link that leads out of it; what cannot be shown is said in words. All
that is kept stays within its limits, the longest unseen goes first. Nothing here fails on a bad path.
"""

import errno
import os
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Literal

from autogen_context.project.files.content import Content, of_text, read
from autogen_context.project.files.line_changes import told_changes

Kind = Literal["changed", "deleted", "unreadable"]

MOST_FILES = 512
MOST_BYTES_PER_FILE = 1024 * 1024
MOST_BYTES = 16 * 1024 * 1024
MOST_CHARS = 2_000

_FORGOTTEN = "what it was is not known any more"


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


class SeenFiles:
    """The files that a conversation has shown.

    Args:
        root: the folder outside of which nothing is read; a link to one is followed.
        most_files: how many are kept.
        most_bytes_per_file: a file that is larger is not read, in bytes.
        most_bytes: what the texts that are kept have together, in characters of about a byte.
        most_chars: what is told of one file, in characters beside its name.
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
        self._root = root.absolute()
        self._real_root = root.resolve()
        self._most_files = most_files
        self._most_bytes_per_file = most_bytes_per_file
        self._most_bytes = most_bytes
        self._most_chars = most_chars
        self._seen: OrderedDict[str, Content] = OrderedDict()
        self._kept_bytes = 0
        self._lock = Lock()  # for the two above, when they are changed or copied

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
            most = self._most_bytes_per_file
            self._keep(name, read(real, most) if text is None else of_text(text, most))
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
        return self._other(self._expected(digests))

    def copy(self) -> "SeenFiles":
        """Another one, with the same files; a file that is being read may be as it was before, or not in it."""
        with self._lock:
            seen = list(self._seen.items())
        return self._other(seen)

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
            now = read(self._real(name), self._most_bytes_per_file)
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

    def _difference(self, name: str, seen: Content, now: Content) -> SeenChange:
        if seen.text is None or now.text is None:
            words = now.words or seen.words
            return self._told(name, "changed", f"changed since it was shown ({words})", now)
        changes = told_changes(seen.text, now.text, most_chars=self._most_chars)
        return self._told(name, "changed", f"changed since it was shown; {changes}", now)

    def _told(self, name: str, kind: Kind, words: str, now: Content | None = None) -> SeenChange:
        shown = name if name.isprintable() else ascii(name)  # a name may have line ends
        return SeenChange(
            path=self._root / name,
            kind=kind,
            text=f"{shown} {words}",
            digest=now.digest.hex() if now else "",
        )

    def _other(self, seen: Iterable[tuple[str, Content]]) -> "SeenFiles":
        """Another one with the same limits."""
        other = SeenFiles(
            self._root,
            most_files=self._most_files,
            most_bytes_per_file=self._most_bytes_per_file,
            most_bytes=self._most_bytes,
            most_chars=self._most_chars,
        )
        for name, content in seen:
            other._keep(name, content)
        return other

    def _expected(self, digests: Mapping[Path, str]) -> Iterator[tuple[str, Content]]:
        """What is to be there, by digests; with its text where that is known."""
        for path, digest in digests.items():
            name, expected = self._name(path), bytes.fromhex(digest)
            known = self._seen.get(name) if name else None
            if known is None or known.digest != expected:
                known = Content(digest=expected, text=None, words=_FORGOTTEN)
            if name:
                yield name, known

    def _keep(self, name: str, content: Content) -> None:
        """Know a file; the longest unseen go where there is too much."""
        with self._lock:
            known = self._seen.get(name)
            self._kept_bytes += content.size - (known.size if known else 0)
            self._seen[name] = content
            while len(self._seen) > self._most_files or self._kept_bytes > self._most_bytes:
                _, gone = self._seen.popitem(last=False)
                self._kept_bytes -= gone.size

    def _forget(self, name: str) -> None:
        with self._lock:
            content = self._seen.pop(name, None)
            self._kept_bytes -= content.size if content else 0

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


def _reason(error: Exception) -> str:
    """Why a file cannot be read, without its path."""
    return (error.strerror or "") if isinstance(error, OSError) else "its name leads nowhere"
