"""Bytes by name in a folder: the disk store of the cache, the originals and the vectors.

Promise: a read returns what was last written under the name, or nothing. A damaged or locked file, or a full disk, costs
cached values but raises no error on read or write; a failing file is left alone for a while. Reading an intact file executes
and writes nothing: it loads no pickle, touches no other file and waits for no writer. The store stays within its limit and
reports evictions.

It uses diskcache with a custom ``Disk``: by default diskcache unpickles any row marked as a pickle (CVE-2025-69872), reads
the file that a row names, deletes that file with the row, and writes at each read.
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

from autogen_context.argument import require_whole
from autogen_context.cache.tier import sealed, unsealed
from autogen_context.errors import StoreUnavailable

ResultT = TypeVar("ResultT")

FILE: Final = "cache.db"  # diskcache's name for it
ROW_BYTES: Final = 200  # approximate overhead of a row

_LOGGER = logging.getLogger(__name__)
_LOCKED_S = 2.0  # how long one process waits for another's lock
_REST_S = 30.0  # how long a file that failed is left alone
_RAW: Final = 1  # diskcache's mode for a value stored in its row


class DiskStore:
    """A ``Tier`` in a folder. Thread-safe; several processes may share the folder.

    The folder is created at the first write, with access for its owner only. To stay within ``limit_bytes``, the least
    recently written values are evicted. ``keep_open`` is faster, for callers that use one thread and call ``close``; without
    it, deleted data is overwritten in the file when the call returns.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        *,
        limit_bytes: int = 1024**3,
        keep_open: bool = False,
    ) -> None:
        folder = Path(directory)
        if folder.exists() and not folder.is_dir():
            raise ValueError(f"directory={str(folder)!r}: give a folder; this is not one")
        if os.path.expandvars(folder) != str(folder):  # diskcache would open another folder
            raise ValueError(f"directory={str(folder)!r}: give a path without variables")
        require_whole("limit_bytes", limit_bytes, least=0, give="a number of bytes, 0 or more")
        self.path = folder.absolute() / FILE
        self._limit_bytes = limit_bytes
        self._keep_open = keep_open
        self._rests_until = -math.inf
        self._table: _Table | None = None
        self._forgotten: set[str] = set()  # names whose deletion is pending
        self._lock = RLock()

    @property
    def held_bytes(self) -> int:
        """The size of the database file and its write-ahead log."""
        files = (self.path, self.path.with_name(f"{FILE}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def read(self, name: str) -> bytes | None:
        """Return the value under a name; ``None`` if it is missing, damaged or expired."""
        return self.read_all([name]).get(name)

    def read_all(self, names: Iterable[str]) -> dict[str, bytes]:
        """Read several values at once."""

        def read(table: "_Table") -> dict[str, bytes]:
            self._delete_forgotten(table)
            rows = {name: table.row(name) for name in names if name not in self._forgotten}
            values = {name: unsealed(name, row) for name, row in rows.items() if row is not None}
            if None in values.values():
                _LOGGER.warning("%s has a damaged or foreign row", self.path)
            return {name: value for name, value in values.items() if value is not None}

        return self._tried(read, {})

    def write(self, values: Mapping[str, bytes], *, ttl_s: float | None = None) -> list[str]:
        """Store values, replacing those under their names. Returns the names not stored or evicted, oldest first."""
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

        self._forgotten |= set(gone)  # older values under these names are stale
        return gone + self._tried(write, list(fitting), creates=bool(fitting))

    def forget(self, names: Iterable[str]) -> None:
        """Delete names. If this raises ``StoreUnavailable``, they are no longer read here, and are deleted later."""
        if self.path.exists():
            self._forgotten |= set(names)
            self._done(self._delete_forgotten, None)

    def clear(self, prefix: str = "") -> None:
        """Delete everything, or all names with a prefix. Raises ``StoreUnavailable`` if that fails for now."""

        def delete(table: "_Table") -> None:
            with table.transact():
                for name in cast("list[object]", list(table)):
                    if isinstance(name, str) and name.startswith(prefix):
                        table.delete(name)

        self._done(delete, None)

    def names(self) -> list[str]:
        """Return the names of all rows, oldest first; empty if the file cannot be read now."""
        nothing: list[object] = []
        rows = self._tried(list[object], nothing)
        return [name for name in rows if isinstance(name, str) and name not in self._forgotten]

    def items(self) -> Iterator[tuple[str, bytes | None]]:
        """Yield each name and value, ``None`` for a damaged or foreign row. May raise ``StoreUnavailable``."""
        try:
            for name in self._run(list[object]) if self.path.exists() else []:
                row = self._run(partial(_Table.row, name=name)) if isinstance(name, str) else b""
                if row is not None:
                    yield str(name), unsealed(str(name), row)
        except Exception as error:  # as in _done
            raise StoreUnavailable(str(self.path), reason=str(error)) from error

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        table, self._table = self._table, None
        if table is not None:
            table.close()

    def _delete_forgotten(self, table: "_Table") -> None:
        for name in sorted(self._forgotten):
            table.delete(name)
            self._forgotten.discard(name)

    def _tried(
        self, action: "Callable[[_Table], ResultT]", otherwise: ResultT, *, creates: bool = False
    ) -> ResultT:
        """Run an action unless the file failed a short while ago; return ``otherwise`` if it fails."""
        if time.monotonic() < self._rests_until:
            return otherwise
        try:
            return self._done(action, otherwise, creates=creates)
        except StoreUnavailable as error:
            _LOGGER.warning("%s; continuing without it", error)
            self._rests_until = time.monotonic() + _REST_S
            return otherwise

    def _done(
        self, action: "Callable[[_Table], ResultT]", otherwise: ResultT, *, creates: bool = False
    ) -> ResultT:
        """Run an action; return ``otherwise`` if there is no file, or if it is damaged, in which case it is deleted.

        Raises:
            StoreUnavailable: the file is locked, the disk is full, or another error that may pass.
        """
        if not creates and not self.path.exists():
            return otherwise
        try:
            return self._run(action)
        except Exception as error:  # diskcache may raise any on a damaged table
            reason = f"it cannot be written now; nothing was deleted ({error})"
            if not _is_passing(error):
                with suppress(OSError):
                    self._remove()
                    _LOGGER.warning("%s was damaged and is deleted: %s", self.path, error)
                    return otherwise
            raise StoreUnavailable(str(self.path), reason=reason) from error

    def _run(self, action: Callable[["_Table"], ResultT]) -> ResultT:
        with self._lock:
            if self._table is not None and not self.path.exists():  # someone deleted the file
                self.close()
            if self._table is None:
                self._table = _opened(self.path)
            try:
                return action(self._table)
            finally:
                if not self._keep_open:
                    self._table.close()

    def _remove(self) -> None:
        """Delete the file and its write-ahead log, which SQLite would otherwise apply to the next file."""
        with self._lock:
            self.close()
            for suffix in ("", "-wal", "-shm"):
                self.path.with_name(FILE + suffix).unlink(missing_ok=True)
            self._forgotten.clear()


def _opened(path: Path) -> "_Table":
    """Open the file; a new one is readable by its owner only."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    with closing(sqlite3.connect(path, timeout=_LOCKED_S)) as probe:
        probe.execute("BEGIN IMMEDIATE")  # diskcache itself would wait a minute for a locked file
    table = _Table(
        str(path.parent),
        timeout=_LOCKED_S,
        disk=_PlainDisk,
        eviction_policy="least-recently-stored",  # creates the index by store time
        sqlite_secure_delete=1,
        sqlite_mmap_size=0,  # truncating a mapped file would crash the process
        sqlite_trusted_schema=0,
    )
    table.reset("eviction_policy", "none", update=False)  # so that reads write nothing
    return table


def _is_passing(error: Exception) -> bool:
    """Return True if an error may go away without a new file: locks, a full or failing disk, missing rights."""
    if isinstance(error, sqlite3.OperationalError):  # without a code: text that cannot be decoded
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
        return code & 0xFF != sqlite3.SQLITE_ERROR  # a table or column is missing
    return isinstance(error, OSError | MemoryError | sqlite3.DataError | diskcache.Timeout)


_Cache: Any = diskcache.Cache  # it has no types, and the inferred ones are too narrow


class _Table(_Cache):  # type: ignore[misc]  # as above
    """A diskcache table that reports which rows it evicts."""

    room_bytes: float = math.inf
    gone: list[str]

    def __init__(self, directory: str, **settings: object) -> None:
        try:
            super().__init__(directory, **settings)  # pyright: ignore[reportUnknownMemberType]
        except Exception:  # diskcache leaves a damaged file open
            self.close()
            raise

    def row(self, name: str) -> bytes | None:
        """Return the raw row under a name; ``None`` if it is missing or expired."""
        return cast("bytes | None", self.get(name))  # the type that ``_PlainDisk.fetch`` returns

    @override
    def _cull(  # pyright: ignore[reportGeneralTypeIssues] - the base class is ``Any``
        self, now: float, sql: Callable[..., Any], cleanup: object, limit: object = None
    ) -> None:
        """Delete expired rows, then the oldest until the rest fits; diskcache calls this after each write."""
        sql("DELETE FROM Cache WHERE expire_time < ?", (now,))
        excess = self.reset("size") - self.room_bytes
        while excess > 0:
            oldest = sql("SELECT rowid, key, size FROM Cache ORDER BY store_time, rowid LIMIT 1")
            for rowid, name, size in oldest.fetchall():
                sql("DELETE FROM Cache WHERE rowid = ?", (rowid,))
                self.gone.append(str(name))
                excess -= size


class _PlainDisk(diskcache.Disk):  # type: ignore[misc]  # it has no types
    """A diskcache ``Disk`` that stores bytes in their rows only: no pickle, and no file besides the database."""

    @override
    def put(self, key: str) -> tuple[str, Literal[True]]:
        return key, True

    @override
    def get(self, key: str, raw: bool) -> str:
        return key

    @override
    def store(  # pyright: ignore[reportIncompatibleMethodOverride] - its types are inferred
        self, value: bytes, read: bool, key: object = None
    ) -> tuple[int, Literal[1], None, bytes]:
        return len(value) - 4 + ROW_BYTES, _RAW, None, value  # without the seal

    @override
    def fetch(self, mode: int, filename: object, value: object, read: bool) -> bytes:
        """Return the bytes; for any other kind of row, bytes that ``unsealed`` rejects."""
        return value if mode == _RAW and isinstance(value, bytes) else b""

    @override
    def remove(self, file_path: str) -> None:
        pass
