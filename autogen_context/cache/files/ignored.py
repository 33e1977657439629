"""What of a folder is not looked at: by its ``.gitignore`` files, or because a tool fills it.

Promise: what is left out is what git leaves out, and the folders of ``TOOL_FOLDERS`` where no ``.gitignore`` takes them
back in; ``.git`` always. No link is followed, no pipe is opened, and a name may have any bytes. A walk gives the same
files in the same order for the same tree.

Rules above the root, and those of the person's own git, are not read: what an agent sees of a project does not depend on
where it lies.
"""

import os
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from autogen_context.cache.files.bounded_read import read_regular
from autogen_context.cache.files.gitignore import GitIgnore

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


@dataclass(frozen=True, slots=True)
class Rules:
    """What is ignored in one folder; without an argument, what is ignored above the first ``.gitignore``."""

    _files: tuple[
        tuple[GitIgnore, int], ...
    ] = ()  # with the length of their folder, the nearest first

    def within(self, folder: str) -> "Rules":
        """The rules in a folder below, which are these and those of its own ``.gitignore``."""
        own = _own_rules(folder)
        return Rules(((own, len(folder.rstrip(os.sep)) + 1), *self._files)) if own else self

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
    folders, files = _parted(folder)
    return Listing(
        files=tuple(entry for entry in files if not rules.hides(entry.path, is_folder=False)),
        folders=tuple(entry for entry in folders if not rules.hides(entry.path, is_folder=True)),
    )


def folders_in(folder: str, rules: Rules) -> list[str]:
    """The folders that a folder holds and these rules do not hide."""
    folders, _ = _parted(folder)
    return [entry.path for entry in folders if not rules.hides(entry.path, is_folder=True)]


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
    return _walked(os.fspath(root), most_files, most_bytes_per_file)


def levels(root: str) -> Iterator[Listing]:
    """What is not ignored of a folder, and of each below it: level by level, each folder by name."""
    waiting = deque([(root, Rules())])
    while waiting:
        folder, above = waiting.popleft()
        rules = above.within(folder)
        found = listing(folder, rules)
        waiting.extend((entry.path, rules) for entry in found.folders)
        yield found


def _walked(root: str, most_files: int, most_bytes: int) -> Iterator[Path]:
    entries = (entry for found in levels(root) for entry in found.files)
    fitting = (Path(entry.path) for entry in entries if _fits(entry, most_bytes))
    return islice(fitting, most_files)


def _parted(folder: str) -> tuple[list[os.DirEntry[str]], list[os.DirEntry[str]]]:
    """The folders that a folder holds, and all else that it holds, each by name."""
    parted: tuple[list[os.DirEntry[str]], list[os.DirEntry[str]]] = [], []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in sorted(entries, key=_name):
            parted[not entry.is_dir(follow_symlinks=False)].append(entry)
    return parted


def _name(entry: os.DirEntry[str]) -> bytes:
    return os.fsencode(entry.name)


def _fits(entry: os.DirEntry[str], most_bytes: int) -> bool:
    """Whether an entry is a regular file of at most so many bytes."""
    try:
        return (
            entry.is_file(follow_symlinks=False)
            and entry.stat(follow_symlinks=False).st_size <= most_bytes
        )
    except OSError:  # it went in the meantime
        return False


def _own_rules(folder: str) -> GitIgnore | None:
    """What the ``.gitignore`` of a folder says; ``None`` where there is none that can be read."""
    try:
        content = read_regular(folder + os.sep + RULES_FILE, most_bytes=_MOST_RULES_BYTES)
    except OSError:
        return None
    return GitIgnore(line.removesuffix("\r") for line in os.fsdecode(content).split("\n"))
