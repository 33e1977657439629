"""The files of a folder that nobody vouches for: which are ignored, and reading them within bounds.

Promise: what is left out is what git leaves out, and the folders of ``TOOL_FOLDERS`` where no ``.gitignore`` takes them
back in; ``.git`` always. An ignored folder is not looked into, no link is followed, nothing but a regular file is opened,
and a name may have any bytes. A walk gives the same files in the same order for the same tree.

Rules above the root, and those of the person's own git, are not read: what an agent sees of a project does not depend on
where it lies.
"""

import errno
import os
import stat
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from pathlib import Path

from autogen_context.cache.gitignore import GitIgnore

TOOL_FOLDERS = frozenset(
    {
        *("node_modules", "bower_components", ".next", ".nuxt", ".parcel-cache"),
        *("__pycache__", ".venv", "venv", ".tox", ".nox", ".eggs", ".hypothesis"),
        *(".mypy_cache", ".pytest_cache", ".ruff_cache", ".ipynb_checkpoints"),
        *(".hg", ".svn", ".gradle", ".terraform"),
    }
)
RULES_FILE = ".gitignore"
MOST_FILES = 100_000
MOST_BYTES_PER_FILE = 1024 * 1024

_MOST_RULES_BYTES = 256 * 1024  # of one .gitignore; a larger one is none
_CHUNK_BYTES = 1024 * 1024
# Where a system has no such flag, it has no such file either.
_FLAG_NAMES = ("O_NONBLOCK", "O_NOFOLLOW", "O_CLOEXEC", "O_BINARY")
_READ_FLAGS: int = reduce(int.__or__, (getattr(os, name, 0) for name in _FLAG_NAMES), os.O_RDONLY)


@dataclass(frozen=True, slots=True)
class Rules:
    """What is ignored in one folder; without an argument, what is ignored above the first ``.gitignore``."""

    # with the length of their folder, the nearest first
    _files: tuple[tuple[GitIgnore, int], ...] = ()

    def within(self, folder: str) -> "Rules":
        """The rules in a folder below, which are these and those of its own ``.gitignore``."""
        path = os.path.join(folder, RULES_FILE)  # noqa: PTH118 - a name may have any bytes, and there are many folders
        try:
            content = read_regular(path, most_bytes=_MOST_RULES_BYTES)
        except OSError:
            return self
        own = GitIgnore(line.removesuffix("\r") for line in os.fsdecode(content).split("\n"))
        return Rules(((own, len(path) - len(RULES_FILE)), *self._files))

    def hides(self, path: str, *, is_folder: bool) -> bool:
        """Whether an entry of the folder is ignored.

        Args:
            path: the entry; it begins with the folder as ``within`` got it.
            is_folder: whether it is one.
        """
        name = path.rpartition(os.sep)[2]
        if name == ".git":
            return True
        for rules, above in self._files:
            verdict = rules.verdict(path[above:], is_folder=is_folder)
            if verdict is not None:
                return verdict
        return is_folder and name in TOOL_FOLDERS


@dataclass(frozen=True, slots=True)
class Listing:
    """What a folder holds and is not ignored, each by name.

    Attributes:
        files: entries that are no folder, links among them.
        folders: entries that are one.
    """

    files: tuple[os.DirEntry[str], ...] = ()
    folders: tuple[os.DirEntry[str], ...] = ()


def listing(folder: str, rules: Rules) -> Listing:
    """What a folder holds and these rules do not hide; nothing where it is gone or cannot be read."""
    files: list[os.DirEntry[str]] = []
    folders: list[os.DirEntry[str]] = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda each: os.fsencode(each.name)):
            is_folder = entry.is_dir(follow_symlinks=False)
            if not rules.hides(entry.path, is_folder=is_folder):
                (folders if is_folder else files).append(entry)
    return Listing(files=tuple(files), folders=tuple(folders))


def levels(root: str) -> Iterator[Listing]:
    """What is not ignored of a folder, and of each below it: level by level, each folder by name."""
    waiting = deque([(root, Rules())])
    while waiting:
        folder, above = waiting.popleft()
        rules = above.within(folder)
        found = listing(folder, rules)
        waiting.extend((entry.path, rules) for entry in found.folders)
        yield found


def walk(
    root: Path, *, most_files: int = MOST_FILES, most_bytes_per_file: int = MOST_BYTES_PER_FILE
) -> Iterator[Path]:
    """The regular files below a folder that are not ignored.

    Args:
        root: the folder; it may be a link to one.
        most_files: how many at most; those that lie deepest are left out.
        most_bytes_per_file: what is larger is left out, in bytes.

    Returns:
        Paths that begin with ``root``: those of a folder by name, then level by level those of its folders. A link is
        left out, be it to a file or to a folder: what it leads to within the root is found under its own name.

    Raises:
        ValueError: ``root`` is no folder.
    """
    if not root.is_dir():
        raise ValueError(f"root={str(root)!r}: give a folder; this is none")
    entries = (entry for found in levels(os.fspath(root)) for entry in found.files)
    fitting = (Path(entry.path) for entry in entries if _fits(entry, most_bytes_per_file))
    return islice(fitting, most_files)


def _fits(entry: os.DirEntry[str], most_bytes: int) -> bool:
    """Whether an entry is a regular file of at most so many bytes."""
    try:
        found = entry.stat(follow_symlinks=False)
    except OSError:  # it went in the meantime
        return False
    return stat.S_ISREG(found.st_mode) and found.st_size <= most_bytes


def read_regular(path: str | os.PathLike[str], *, most_bytes: int) -> bytes:
    """The content of a regular file; of a pipe, a socket or a device nothing, without waiting for its other end.

    Args:
        path: the file; its last part must not be a symbolic link.
        most_bytes: what it may have, in bytes.

    Raises:
        OSError: it cannot be read; with ``errno.EINVAL`` it is no regular file, with ``errno.EFBIG`` it is larger.
    """
    descriptor = os.open(path, _READ_FLAGS)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))
        content = bytearray()  # whatever its size is said to be
        while chunk := os.read(descriptor, min(_CHUNK_BYTES, most_bytes + 1 - len(content))):
            content += chunk
    finally:
        os.close(descriptor)
    if len(content) > most_bytes:
        raise OSError(errno.EFBIG, f"larger than {most_bytes} bytes", os.fspath(path))
    return bytes(content)
