"""diskcache, with everything taken out that runs code or touches other files.

Promise: whatever the database holds, reading it gives bytes or an error. No pickle is loaded, for a value or a key, and
no file beside the database is read or deleted.

By itself diskcache loads a pickle wherever a row says that it is one (CVE-2025-69872), reads the file that a row names, and
deletes that file with the row.
"""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final, Literal, Protocol, cast

import diskcache  # type: ignore[import-untyped]  # it has no types
from typing_extensions import override

FILE: Final = "cache.db"  # diskcache's name for it

Timeout: type[Exception] = diskcache.Timeout  # it was locked for too long

_LOCKED_S = 2.0  # how long one process waits for another
_RAW: Final = 1  # diskcache's mode of a value that stands in its row
_PASSING = {
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_INTERRUPT,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_TOOBIG,
}


class Rows(Protocol):
    """What is used of ``diskcache.Cache``."""

    def get(self, key: str, /) -> bytes | None:
        """The bytes of a row; ``ValueError`` if it holds anything else."""
        ...

    def set(self, key: str, value: bytes, /, *, expire: float | None) -> bool:
        """Write a row, which may go after so many seconds."""
        ...

    def delete(self, key: str, /) -> bool:
        """Delete a row."""
        ...

    def clear(self) -> int:
        """Delete every row."""
        ...

    def close(self) -> None:
        """Close the file."""
        ...

    def iterkeys(self) -> Iterator[str]:
        """The name of every row."""
        ...


def open_rows(directory: Path, *, limit_bytes: int) -> Rows:
    """Open the database in a folder; one that only its owner can read, where there was none.

    Raises:
        OSError: the folder cannot be made, or the file not be opened.
        sqlite3.Error: the file is locked, or damaged. A damaged one may come to any other error as well.
    """
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(directory / FILE, os.O_CREAT | os.O_RDWR, 0o600))
    with closing(sqlite3.connect(directory / FILE, timeout=_LOCKED_S)) as probe:
        probe.execute("BEGIN IMMEDIATE")  # for a locked file diskcache would wait a minute
    return _OPEN(
        str(directory),
        timeout=_LOCKED_S,
        disk=_PlainDisk,
        eviction_policy="least-recently-used",
        size_limit=limit_bytes,
        sqlite_trusted_schema=0,
    )


def is_passing(error: Exception) -> bool:
    """Whether it is something that passes, as locks and full disks do; all else is damage."""
    if isinstance(error, sqlite3.Error):
        return getattr(error, "sqlite_errorcode", 0) & 0xFF in _PASSING
    return isinstance(error, OSError | MemoryError | Timeout)


class _PlainDisk(diskcache.Disk):  # type: ignore[misc]  # it has no types
    """Keeps bytes in their rows, and nothing else: no pickle, and no file beside the database.

    A file named in a row would be read, and be deleted with the row; none is written here, so none is touched.
    """

    @override
    def put(self, key: str) -> tuple[str, Literal[True]]:
        return key, True

    @override
    def get(self, key: str, raw: bool) -> str:
        return key

    @override
    def store(
        self, value: bytes, read: bool, key: object = None
    ) -> tuple[Literal[0], Literal[1], None, bytes]:
        return 0, _RAW, None, value

    @override
    def fetch(self, mode: int, filename: object, value: object, read: bool) -> bytes:
        if mode != _RAW or not isinstance(value, bytes):
            raise ValueError("a row of another mode")
        return value

    @override
    def remove(self, file_path: str) -> None:
        pass


_OPEN = cast("Callable[..., Rows]", diskcache.Cache)  # it has no types
