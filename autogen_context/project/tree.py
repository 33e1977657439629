"""What is below a folder, and what is in one of its files; safe from whatever lies there.

Promise: no link is followed, no pipe or device is opened, nothing outside the root and no more than the limits is read,
and nothing is waited for. What git ignores is not seen; what is seen and cannot be read is told with the reason. The same
tree gives the same answer in the same order. What is read is what the file held while its stamp was as told.
"""

import errno
import os
import stat
from collections import deque
from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import time_ns
from typing import Literal, get_args

from autogen_context.cache.files import RULES_FILE, Listing, Rules, listing
from autogen_context.messages.message import content_digest

Reason = Literal[
    "a link",
    "outside the root",
    "no regular file",
    "unreadable",
    "too large",
    "binary",
    "an odd name",
    "beyond the limit of files",
]
REASONS: tuple[Reason, ...] = get_args(Reason)

ROOT = "."
MOST_BYTES = 1024 * 1024  # of one file
BINARY_BYTES = 8_192  # from the beginning; a zero among them is of no text
SETTLED_NS = 2_000_000_000  # the coarsest clock of a file system; a younger file may change under the same stamp
FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """What a file system says of a file; a file that was changed has another one, once it is settled.

    Attributes:
        identity: size in bytes, when its content was changed last (programs can set that), when anything of it was
            (programs cannot), device and inode.
        settled: whether it was old enough, when this was taken, that any later change shows.
    """

    identity: tuple[int, ...]
    settled: bool

    @classmethod
    def of(cls, found: os.stat_result) -> "Stamp":
        """The stamp in what the system answers."""
        newest = max(found.st_mtime_ns, found.st_ctime_ns)
        return cls(identity=identity_of(found), settled=time_ns() - newest > SETTLED_NS)

    def holds(self, now: "Stamp") -> bool:
        """Whether a file that had this stamp has the same content still, by its stamp of now."""
        return self.settled and self.identity == now.identity

    def is_of(self, found: os.stat_result) -> bool:
        """The same, by what the system answers now; a turn asks this for each file that is placed."""
        return self.settled and self.identity == identity_of(found)


def identity_of(found: os.stat_result) -> tuple[int, ...]:
    """What tells one state of a file from another."""
    times = (found.st_mtime_ns, found.st_ctime_ns)
    return (found.st_size, *times, found.st_dev, found.st_ino)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file that was read.

    Attributes:
        text: what it holds; bytes that are no UTF-8 are replaced.
        digest: stands for its bytes.
        stamp: what the system said of it.
    """

    text: str
    digest: bytes
    stamp: Stamp


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """What is in a folder.

    Attributes:
        files: the stamps of regular files, by their names from the root.
        folders: the folders in it, by their names from the root.
        left_out: entries that are not read, and why.
    """

    files: Mapping[str, Stamp] = field(default_factory=dict[str, Stamp])
    folders: tuple[str, ...] = ()
    left_out: Mapping[str, Reason] = field(default_factory=dict[str, Reason])


def look(
    root: Path, into: Iterable[str], *, known: Container[str] = (), most_files: int
) -> dict[str, Folder]:
    """What is in some folders, and level by level in those below them that are not known.

    Args:
        root: the folder that all names are told from, resolved.
        into: names of folders; one that is gone is empty.
        known: folders that need not be looked into because they lie in one that is.
        most_files: how many files are told at most; what lies deepest is left out.
    """
    found: dict[str, Folder] = {}
    waiting = deque((name, rules_above(root, name)) for name in sorted(into))
    left = most_files
    while waiting:
        name, above = waiting.popleft()
        if name in found:
            continue
        rules = above.within(os.fspath(root / name))
        seen = entries_of(root, name, rules)
        kept = dict(list(seen.files.items())[:left])
        beyond: list[str] = [file for file in seen.files if file not in kept]
        left -= len(kept)
        inner = [folder for folder in seen.folders if folder not in known]
        if left <= 0:
            beyond += inner
        else:
            waiting.extend((folder, rules) for folder in inner)
        out: dict[str, Reason] = {**seen.left_out, **dict.fromkeys(beyond, REASONS[-1])}
        found[name] = Folder(files=kept, folders=seen.folders, left_out=out)
    return found


def rules_above(root: Path, folder: str) -> Rules:
    """What is ignored in the folder that holds one."""
    rules, place = Rules(), root
    for part in [] if folder == ROOT else folder.split("/"):
        rules = rules.within(os.fspath(place))
        place /= part
    return rules


def entries_of(root: Path, name: str, rules: Rules) -> Folder:
    """What is in one folder; nothing where a part of its name has become a link."""
    path = os.fspath(root if name == ROOT else root / name)
    listed = listing(path, rules) if os.path.realpath(path) == path else Listing()
    prefix = "" if name == ROOT else f"{name}/"
    files: dict[str, Stamp] = {}
    left_out: dict[str, Reason] = {}
    for entry in listed.files:
        found = stamp_or_reason(entry)
        if isinstance(found, Stamp):
            files[prefix + entry.name] = found
        else:
            left_out[prefix + entry.name] = found
    folders: list[str] = []
    for entry in listed.folders:
        if has_odd_name(entry.name):
            left_out[prefix + entry.name] = "an odd name"
        else:
            folders.append(prefix + entry.name)
    return Folder(files=files, folders=tuple(folders), left_out=left_out)


def stamp_or_reason(entry: "os.DirEntry[str]") -> Stamp | Reason:
    """The stamp of a file that may be read, or why it may not."""
    if has_odd_name(entry.name):
        return "an odd name"
    try:
        found = entry.stat(follow_symlinks=False)
    except OSError:
        return "unreadable"
    return refusal_of(found, most_bytes=MOST_BYTES) or Stamp.of(found)


def folder_of(name: str) -> str:
    """The folder of a file."""
    return name.rpartition("/")[0] or ROOT


def touched_by(root: Path, paths: Iterable[Path]) -> tuple[set[str], set[str]] | None:
    """Where changes of some paths show.

    Args:
        root: the folder, resolved.
        paths: what was heard of, absolute; a folder stands for all that is below it.

    Returns:
        Folders to look into, and folders to look below as well; ``None`` where all there is has to be looked at.
    """
    into: set[str] = set()
    under: set[str] = set()
    for path in paths:
        if path.name == RULES_FILE or path == root or not path.is_relative_to(root):
            return None
        name = path.relative_to(root).as_posix()
        into.add(folder_of(name))
        if path.is_dir() and not path.is_symlink():
            under.add(name)
    return into | under, under


def is_below(name: str, folders: Collection[str]) -> bool:
    """Whether a name is one of some folders, or lies in one."""
    parts = name.split("/")
    return any("/".join(parts[: n + 1]) in folders for n in range(len(parts)))


def has_odd_name(name: str) -> bool:
    """Whether a name cannot stand on a line of text: control characters, line ends, bytes that are no characters."""
    return not name.isprintable()


def read_source(root: Path, name: str, *, most_bytes: int = MOST_BYTES) -> Source | Reason:
    """Read a file.

    Args:
        root: the folder, resolved.
        name: of the file, from the root, with ``/``.
        most_bytes: of a larger file nothing is read.
    """
    if has_odd_name(name):
        return "an odd name"
    path = root / name
    try:
        refused = refusal_of(path.lstat(), most_bytes=most_bytes)
        return refused or read_open(root, path, most_bytes=most_bytes)
    except OSError as error:
        return "a link" if error.errno == errno.ELOOP else "unreadable"


def refusal_of(found: os.stat_result, *, most_bytes: int) -> Reason | None:
    """Why a file is not to be opened."""
    if stat.S_ISLNK(found.st_mode):
        return "a link"
    if not stat.S_ISREG(found.st_mode):
        return "no regular file"
    return "too large" if found.st_size > most_bytes else None


def read_open(root: Path, path: Path, *, most_bytes: int) -> Source | Reason:
    """Read what is a regular file; that it still is one, and below the root, is seen once it is open."""
    with os.fdopen(os.open(path, FLAGS), "rb") as file:
        before = os.fstat(file.fileno())
        refused = refusal_of(before, most_bytes=most_bytes)
        if refused is not None:
            return refused
        real = os.path.realpath(path)
        if not Path(real).is_relative_to(root) or not os.path.samestat(os.stat(real), before):  # noqa: PTH116 - half the time
            return "outside the root"
        data = file.read(before.st_size + 1)
    if b"\0" in data[:BINARY_BYTES]:
        return "binary"
    text = data.decode("utf-8-sig", errors="replace")
    return Source(
        text=text.replace("\r\n", "\n"), digest=content_digest(data), stamp=Stamp.of(before)
    )
