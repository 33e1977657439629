"""Bytes by name in a folder: what the cache, the originals and the vectors keep beyond a process.

Promise: what is read is what was written last under this name, or nothing. A file that is damaged, locked, or on a disk
that is full costs what it holds, never an error; while it fails it is left alone. Reading runs nothing and writes nothing:
no pickle is loaded, no other file is touched, no writer is waited for. It holds its limit, and says what went.

It is diskcache with a Disk of its own: by itself diskcache loads a pickle wherever a row says that it is one
(CVE-2025-69872), reads the file that a row names, deletes that file with the row, and writes at each read.
"""

import logging
import math
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from threading import RLock
from typing import Any, Final, Literal, TypeVar, cast

import diskcache  # type: ignore[import-untyped]  # it has no types
from typing_extensions import override

from autogen_context.cache.tier import sealed, unsealed
from autogen_context.errors import StoreUnavailable

ResultT = TypeVar("ResultT")

FILE: Final = "cache.db"  # diskcache's name for it
ROW_BYTES: Final = 200  # what a row costs beside its value, roughly

_LOGGER = logging.getLogger(__name__)
_LOCKED_S = 2.0  # how long one process waits for another
_REST_S = 30.0  # how long a file that failed is left alone
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


class DiskStore:
    """A folder of values, a ``Tier``. Any thread may use it, and several processes may share the folder.

    It is made when something is written, for its owner alone. Within ``limit_bytes`` what was written the longest ago goes
    first. ``keep_open`` is faster, for who uses it from one thread and closes it; without it, what was deleted is
    overwritten in the file when the call returns.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        *,
        limit_bytes: int = 1024**3,
        keep_open: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        folder = Path(directory)
        if folder.exists() and not folder.is_dir():
            raise ValueError(f"directory={str(folder)!r}: give a folder; this is none")
        if os.path.expandvars(folder) != str(folder):  # diskcache would open another folder
            raise ValueError(f"directory={str(folder)!r}: give a path without variables")
        if limit_bytes < 0:
            raise ValueError(f"limit_bytes={limit_bytes}: give a number of bytes, 0 or more")
        self.path = folder.absolute() / FILE
        self._limit_bytes = limit_bytes
        self._keep_open = keep_open
        self._clock = clock
        self._rests_until = -math.inf
        self._table: _Table | None = None
        self._forgotten: set[str] = set()  # what could not be deleted yet
        self._lock = RLock()

    @property
    def held_bytes(self) -> int:
        """What the file has, with the log beside it."""
        files = (self.path, self.path.with_name(f"{FILE}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def read(self, name: str) -> bytes | None:
        """The value under a name, if it is there whole and its time is not over."""
        return self.read_all([name]).get(name)

    def read_all(self, names: Iterable[str]) -> dict[str, bytes]:
        """Likewise the values under many names."""

        def read(table: "_Table") -> dict[str, bytes]:
            self._delete_forgotten(table)
            values = {name: self._value(table, name) for name in names}
            return {name: value for name, value in values.items() if value is not None}

        return self._tried(read, {}) if self.path.exists() else {}

    def write(self, values: Mapping[str, bytes], *, ttl_s: float | None = None) -> list[str]:
        """Keep values, each in place of what is under its name; the names that went for want of room, the oldest first."""
        most_bytes = self._limit_bytes - ROW_BYTES
        gone = [name for name, value in values.items() if len(value) > most_bytes]
        fitting = {name: sealed(name, values[name]) for name in values if name not in gone}

        def write(table: "_Table") -> list[str]:
            self._delete_forgotten(table)
            table.room_bytes, table.gone = self._limit_bytes, []
            with table.transact():
                for name, value in fitting.items():
                    table.set(name, value, expire=ttl_s)
            return table.gone

        if gone and self.path.exists():
            self._forgotten |= set(gone)  # what is under these names is not what was written last
        if not fitting and not self._forgotten:
            return gone
        return gone + self._tried(write, list(fitting))

    def forget(self, names: Iterable[str]) -> None:
        """Delete what is under these names; where that raises ``StoreUnavailable``, it is not read any more, and deleted later."""
        if self.path.exists():
            self._forgotten |= set(names)
            self._done(self._delete_forgotten)

    def clear(self, prefix: str = "") -> None:
        """Delete everything, or what has names that begin so; raises what ``forget`` does."""

        def delete(table: "_Table") -> None:
            with table.transact():
                for name in cast("list[object]", list(table)):
                    if isinstance(name, str) and name.startswith(prefix):
                        table.delete(name)

        if self.path.exists():
            self._done(delete)

    def names(self) -> list[str]:
        """The names of all rows, oldest first; none where the file cannot be read now."""
        nothing: list[object] = []
        rows = self._tried(list[object], nothing) if self.path.exists() else nothing
        return [name for name in rows if isinstance(name, str) and name not in self._forgotten]

    def items(self) -> Iterator[tuple[str, bytes | None]]:
        """Every value by its name, ``None`` for a row that holds none that was written here; may raise ``StoreUnavailable``."""
        try:
            for name in self._run(list[object]) if self.path.exists() else []:
                if not isinstance(name, str):
                    yield str(name), None
                    continue
                row = self._run(partial(_Table.row, name=name))
                if row is not None:
                    yield name, unsealed(name, row)
        except Exception as error:  # as in _tried
            raise StoreUnavailable(str(self.path), reason=str(error)) from error

    def close(self) -> None:
        """Close the file; used again it is opened again."""
        table, self._table = self._table, None
        if table is not None:
            table.close()

    def _value(self, table: "_Table", name: str) -> bytes | None:
        """The value of a row; a row that holds something else is deleted."""
        row = None if name in self._forgotten else table.row(name)
        if row is None:
            return None
        value = unsealed(name, row)
        if value is None:
            _LOGGER.warning("a row holds no value that was written there; it is deleted")
            with table.transact():
                if table.row(name) == row:  # unless another process has written it anew meanwhile
                    table.delete(name)
        return value

    def _delete_forgotten(self, table: "_Table") -> None:
        for name in sorted(self._forgotten):
            table.delete(name)
            self._forgotten.discard(name)

    def _done(self, action: Callable[["_Table"], object]) -> None:
        """Run what must not fail unnoticed; with a file that is damaged everything is gone."""
        try:
            self._run(action)
        except Exception as error:  # as in _tried
            if _is_passing(error):
                reason = "it cannot be written now, so that nothing was deleted"
                raise StoreUnavailable(str(self.path), reason=reason) from error
            self._remove()

    def _tried(self, action: Callable[["_Table"], ResultT], otherwise: ResultT) -> ResultT:
        """Whatever goes wrong with the file is one warning; what is damaged goes, the rest has time to pass."""
        if self._clock() < self._rests_until:
            return otherwise
        try:
            return self._run(action)
        except Exception as error:  # on a damaged or planted table diskcache fails in any way
            _LOGGER.warning("a store's file failed; it is done without", exc_info=error)
            if _is_passing(error):
                self._rests_until = self._clock() + _REST_S
            else:
                with suppress(OSError):
                    self._remove()
            return otherwise

    def _run(self, action: Callable[["_Table"], ResultT]) -> ResultT:
        with self._lock:
            if self._table is not None and not self.path.exists():  # somebody took it away
                self.close()
            if self._table is None:
                self._table = _opened(self.path)
            try:
                return action(self._table)
            finally:
                if not self._keep_open:
                    self._table.close()

    def _remove(self) -> None:
        """Take the file away, with the log beside it, which would be read into the next one."""
        with self._lock:
            self.close()
            for suffix in ("", "-wal", "-shm"):
                self.path.with_name(FILE + suffix).unlink(missing_ok=True)
            self._forgotten.clear()


def _opened(path: Path) -> "_Table":
    """Open the file; one that only its owner can read, where there was none."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    with closing(sqlite3.connect(path, timeout=_LOCKED_S)) as probe:
        probe.execute("BEGIN IMMEDIATE")  # for a locked file diskcache would wait a minute
    table = _Table(
        str(path.parent),
        timeout=_LOCKED_S,
        disk=_PlainDisk,
        eviction_policy="least-recently-stored",  # for the index by time
        sqlite_secure_delete=1,
        sqlite_mmap_size=0,  # a mapped file that somebody cuts off would end the process
        sqlite_trusted_schema=0,
    )
    table.reset("eviction_policy", "none", update=False)  # reading writes nothing
    return table


def _is_passing(error: Exception) -> bool:
    if isinstance(error, sqlite3.Error):
        return getattr(error, "sqlite_errorcode", 0) & 0xFF in _PASSING
    return isinstance(error, OSError | MemoryError | diskcache.Timeout)


_Cache: Any = diskcache.Cache  # it has no types, and what can be read from its code is too narrow


class _Table(_Cache):  # type: ignore[misc]  # as above
    """A table that says what it gives up, which diskcache's own culling does not."""

    room_bytes: float = math.inf
    gone: list[str]

    def row(self, name: str) -> bytes | None:
        """What stands under a name, as it is; ``None`` if nothing does, or its time is over."""
        return cast("bytes | None", self.get(name))  # what ``_PlainDisk.fetch`` gives

    @override
    def _cull(  # pyright: ignore[reportGeneralTypeIssues] - what it overrides cannot be seen in ``Any``
        self, now: float, sql: Callable[..., Any], cleanup: object, limit: object = None
    ) -> None:
        """What diskcache calls after each row that it writes."""
        sql("DELETE FROM Cache WHERE expire_time < ?", (now,))
        excess = self.reset("size") - self.room_bytes
        while excess > 0:
            oldest = sql("SELECT rowid, key, size FROM Cache ORDER BY store_time, rowid LIMIT 1")
            for rowid, name, size in oldest.fetchall():
                sql("DELETE FROM Cache WHERE rowid = ?", (rowid,))
                self.gone.append(str(name))
                excess -= size


class _PlainDisk(diskcache.Disk):  # type: ignore[misc]  # it has no types
    """Keeps bytes in their rows, and nothing else: no pickle, and no file beside the database is read or deleted."""

    @override
    def put(self, key: str) -> tuple[str, Literal[True]]:
        return key, True

    @override
    def get(self, key: str, raw: bool) -> str:
        return key

    @override
    def store(  # pyright: ignore[reportIncompatibleMethodOverride] - its types are those of its own code
        self, value: bytes, read: bool, key: object = None
    ) -> tuple[int, Literal[1], None, bytes]:
        return len(value) - 4 + ROW_BYTES, _RAW, None, value  # without the seal

    @override
    def fetch(self, mode: int, filename: object, value: object, read: bool) -> bytes:
        """The bytes; of a row of any other kind such as no seal has."""
        return value if mode == _RAW and isinstance(value, bytes) else b""

    @override
    def remove(self, file_path: str) -> None:
        pass
