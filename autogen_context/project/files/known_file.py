"""A file that was seen: how it was written, what would tell of it, and how it looked last.

Promise: looking at a file opens nothing, and fails on no path.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

Stamp = tuple[int, ...]
"""What differs when a file was changed; empty where it is not there."""


@dataclass(slots=True, kw_only=True)
class KnownFile:
    """A file that was seen.

    Attributes:
        name: as the conversation wrote it.
        above: it and the folders above it: what is told of one of these may be told of it.
        stamp: how it looked last.
    """

    name: str
    above: frozenset[Path]
    stamp: Stamp

    @classmethod
    def at(cls, path: Path, *, name: str, stamp: Stamp) -> Self:
        """The file at a path."""
        return cls(name=name, above=frozenset((path, *path.parents)), stamp=stamp)


def stamp_of(path: Path) -> Stamp:
    """How a file looks now."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return ()
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino
