"""Read one file below a root, and nothing else.

Promise: whatever a name leads to, the answer comes at once and is a text or the reason why there is none: no link is
followed, no pipe or device is opened, nothing outside the root and no more than the limit is read. What is read is what
the file held while its stamp was as told.
"""

import errno
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from time import time_ns
from typing import Literal, get_args

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

BINARY_BYTES = 8_192  # from the beginning; a zero among them is of no text
SETTLED_NS = 2_000_000_000  # the coarsest clock of a file system; a younger file may change under the same stamp
FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """What a file system says of a file; a file that was changed has another one, once it is settled.

    Attributes:
        size: in bytes.
        modified_ns: when its content was changed last; programs can set it.
        changed_ns: when anything of it was changed last; programs cannot.
        inode: which file it is.
        settled: whether it was old enough, when this was taken, that any later change shows.
    """

    size: int
    modified_ns: int
    changed_ns: int
    inode: tuple[int, int]
    settled: bool

    @classmethod
    def of(cls, found: os.stat_result) -> "Stamp":
        """The stamp in what the system answers."""
        newest = max(found.st_mtime_ns, found.st_ctime_ns)
        return cls(
            size=found.st_size,
            modified_ns=found.st_mtime_ns,
            changed_ns=found.st_ctime_ns,
            inode=(found.st_dev, found.st_ino),
            settled=time_ns() - newest > SETTLED_NS,
        )

    def holds(self, now: "Stamp") -> bool:
        """Whether a file that had this stamp has the same content still, by its stamp of now."""
        return (
            self.settled
            and self.size == now.size
            and self.modified_ns == now.modified_ns
            and self.changed_ns == now.changed_ns
            and self.inode == now.inode
        )

    def is_of(self, found: os.stat_result) -> bool:
        """The same, by what the system answers now; a turn asks this for each file that is placed."""
        return (
            self.settled
            and self.size == found.st_size
            and self.modified_ns == found.st_mtime_ns
            and self.changed_ns == found.st_ctime_ns
            and self.inode == (found.st_dev, found.st_ino)
        )


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


def has_odd_name(name: str) -> bool:
    """Whether a name cannot stand on a line of text: control characters, line ends, bytes that are no characters."""
    return not name.isprintable()


def read_source(root: Path, name: str, *, most_bytes: int) -> Source | Reason:
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
        if refused is None and not leads_to(before, root, path):
            refused = "outside the root"
        if refused is not None:
            return refused
        data = file.read(before.st_size + 1)
    if b"\0" in data[:BINARY_BYTES]:
        return "binary"
    text = data.decode("utf-8-sig", errors="replace")
    return Source(
        text=text.replace("\r\n", "\n"), digest=content_digest(data), stamp=Stamp.of(before)
    )


def leads_to(found: os.stat_result, root: Path, path: Path) -> bool:
    """Whether a path, all links on it followed, ends below the root at the very file that was opened."""
    real = os.path.realpath(path)
    return Path(real).is_relative_to(root) and os.path.samestat(os.stat(real), found)  # noqa: PTH116 - half the time
