"""diskcache, with everything taken out that runs code or touches other files.

Promise: whatever the database holds, reading it gives bytes or an error. No pickle is loaded, for a value or a key, and
no file beside the database is read or deleted. Reading writes nothing, so it waits for no other process.

By itself diskcache loads a pickle wherever a row says that it is one (CVE-2025-69872), reads the file that a row names, and
deletes that file with the row.
"""

import os
import sqlite3
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Final, Literal, Protocol, cast

import diskcache  # type: ignore[import-untyped]  # it has no types
from typing_extensions import override

FILE: Final = "cache.db"  # diskcache's name for it

Timeout: type[Exception] = diskcache.Timeout  # it was locked for too long

MOST_NOTED = 4096  # rows that were used since the last write

_LOCKED_S = 2.0  # how long one process waits for another
_USE: Final = "least-recently-used"  # diskcache's names
_NOTHING: Final = "none"
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


class Rows:
    """The rows of a database, by their names. What is not used goes first where there is too much.

    A row that is read is noted as used, and that is written down with the next write: by itself each read would be one.

    Args:
        table: the database; nothing else uses it.
    """

    def __init__(self, table: "_Table") -> None:
        self._table = table
        self._used: dict[str, None] = {}  # since the last write, in this order
        self._evict_by(_NOTHING)

    def get(self, name: str, /) -> bytes | None:
        """The bytes of a row.

        Raises:
            ValueError: it holds anything else.
        """
        value = self._table.get(name)
        if value is not None:
            self._used.pop(name, None)
            self._used[name] = None
            if len(self._used) >= MOST_NOTED:
                self.write_uses()
        return value

    def set(self, name: str, value: bytes, /, *, ttl_s: float | None) -> bool:
        """Write a row, which may go after so many seconds."""
        with self._by_use():
            self._read_used()
            return self._table.set(name, value, expire=ttl_s)

    def write_uses(self) -> None:
        """Write down which rows were read since this was done last."""
        if self._used:
            with self._by_use():
                self._read_used()

    def delete(self, name: str, /) -> None:
        """Delete a row."""
        self._table.delete(name)

    def clear(self) -> None:
        """Delete every row."""
        self._table.clear()

    def names(self) -> Iterator[str]:
        """The name of every row whose time is not over; the others are deleted."""
        self._table.expire()
        return self._table.iterkeys()

    def close(self) -> None:
        """Close the file."""
        self._table.close()

    def _read_used(self) -> None:
        for name in self._used:
            self._table.get(name)
        self._used = {}

    @contextmanager
    def _by_use(self) -> Generator[None]:
        """One write, in which what is read counts as used, and what was not goes first."""
        with self._table.transact():
            self._evict_by(_USE)
            try:
                yield
            finally:
                self._evict_by(_NOTHING)

    def _evict_by(self, policy: str) -> None:
        self._table.reset("eviction_policy", policy, update=False)


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
    table = _OPEN(
        str(directory),
        timeout=_LOCKED_S,
        disk=_PlainDisk,
        eviction_policy=_USE,
        size_limit=limit_bytes,
        sqlite_trusted_schema=0,
    )
    return Rows(table)


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


class _Table(Protocol):
    """What is used of ``diskcache.Cache``."""

    def get(self, key: str, /) -> bytes | None: ...

    def set(self, key: str, value: bytes, /, *, expire: float | None) -> bool: ...

    def delete(self, key: str, /) -> bool: ...

    def clear(self) -> int: ...

    def expire(self) -> int: ...

    def iterkeys(self) -> Iterator[str]: ...

    def transact(self) -> AbstractContextManager[None]: ...

    def reset(self, key: str, value: str, /, *, update: bool) -> object: ...

    def close(self) -> None: ...


_OPEN = cast("Callable[..., _Table]", diskcache.Cache)  # it has no types
