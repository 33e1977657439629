"""Bytes by name in a folder: the disk store of the cache, the originals and the vectors.

Promise: a read returns what this store wrote last under the name, or nothing. A damaged, planted or locked file, a full disk, or
a folder that is not ours costs cached values but raises no error on read or write; what cannot be trusted is put aside once,
what fails is left alone for a while. Reading an intact file executes and writes nothing: it loads no pickle, touches no other
file and waits for no writer. The store stays within its limit and reports evictions; no number in the file decides how much
work that is.

diskcache makes the file, and whoever opens it with diskcache finds the rows. Its statements are ours: diskcache's own unpickle
any row marked as a pickle (CVE-2025-69872), read the file that a row names, delete that file with the row, write at each read,
and take their settings from the file.
"""

import logging
import math
import os
import sqlite3
import time
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import RLock
from typing import Any, Final, TypeVar

import diskcache  # type: ignore[import-untyped]  # it has no types

from autogen_context.argument import require_whole
from autogen_context.cache.seal import (
    KEY_FILE,
    SEAL_BYTES,
    Seal,
    folder_key,
    locked_alone,
    store_key,
    take_file,
    take_folder,
)
from autogen_context.errors import StoreUnavailable
from autogen_context.forks import when_forked

ResultT = TypeVar("ResultT")

FILE: Final = "cache.db"  # diskcache's name for it
ASIDE: Final = f"{FILE}.damaged"  # what could not be trusted, until something in it is deleted
ROW_BYTES: Final = 200  # approximate overhead of a row
SUBFOLDERS: Final = ("originals", "values", "memory")

_LOGGER = logging.getLogger(__name__)
_LOCKED_S = 2.0  # how long one process waits for another's lock
_REST_S = 30.0  # how long a file that failed is left alone
_RAW: Final = 1  # diskcache's mode for a value stored in its row
_JOURNALS: Final = ("-wal", "-shm", "-journal")
_OURS: Final = frozenset({FILE, ASIDE, KEY_FILE, *SUBFOLDERS, *(FILE + each for each in _JOURNALS)})
# Of SQLite's machine: a call looks at each row of a file once or twice, in some twenty steps; a damaged tree has no end.
_STEPS_AT_ONCE: Final = 100_000
_LEAST_STEPS: Final = 20_000_000  # of one call, whatever the file's size
_STEPS_A_BYTE: Final = 4  # more, of a larger file
# Of names in a file that was put aside; SQLite keeps a short one in one piece.
_MOST_SOUGHT: Final = (
    100  # in a large file; in a smaller one as many as take no longer than about a second
)
_MOST_SOUGHT_BYTES: Final = 2**31
_LEAST_PART_CHARS: Final = 8
_MOST_SOUGHT_CHARS: Final = 400
_READ_BYTES: Final = 2**20
_DELETE_UNNAMED: Final = "DELETE FROM Cache WHERE key < '' OR key >= x'' OR key IS NULL"
# Mistakes of a caller or a platform, which no file makes.
_NO_DAMAGE: Final = (TypeError, AttributeError, UnicodeEncodeError, sqlite3.ProgrammingError)
_SETTINGS: Final = {
    "statistics": 0,
    "tag_index": 0,
    "eviction_policy": "least-recently-stored",  # creates the index by store time
    "size_limit": 2**30,
    "cull_limit": 10,
    "disk_min_file_size": 2**15,
    "disk_pickle_protocol": 0,
}
_PRAGMAS: Final = {
    "auto_vacuum": "1",
    "journal_mode": "wal",
    "synchronous": "1",
    "secure_delete": "1",
    "mmap_size": "0",  # truncating a mapped file would crash the process
    "trusted_schema": "0",
}
_INSERT: Final = (
    "INSERT INTO Cache(key, raw, store_time, expire_time, access_time, access_count, size, mode, value)"
    " VALUES (?, 1, ?, ?, ?, 0, ?, 1, ?)"  # as they are: name and value
)
_ROW_SIZE: Final = f"length(value) - {SEAL_BYTES} + {ROW_BYTES}"


class DiskStore:
    """A ``Tier`` in a folder. Thread-safe; several processes may share the folder.

    The folder is created at the first write, with access for its owner only. A folder or file of another user, or a link, is
    not used; rights of others on ours are taken away. To stay within ``limit_bytes``, the least recently written values are
    evicted. With a ``subfolder`` the file is there, and all this holds for it: ``directory`` itself, and what is above it, may
    be links. ``keep_open`` is faster, for callers that use one thread and call ``close``; without it, deleted data is
    overwritten in the file when the call returns.

    Each value is sealed with a ``key``: given, from ``AUTOGEN_CONTEXT_STORE_KEY``, or else the folder's own in ``cache.key``.
    A copy of the folder opens only with a key that was given.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        *,
        subfolder: str = "",
        limit_bytes: int = 1024**3,
        keep_open: bool = False,
        key: str | bytes | None = None,
    ) -> None:
        folder = Path(directory)
        if os.path.lexists(folder) and not os.path.isdir(folder):  # noqa: PTH112 - raises nothing
            raise ValueError(f"directory={str(folder)!r}: give a folder; this is not one")
        if os.path.expandvars(folder) != str(folder):  # diskcache would open another folder
            raise ValueError(f"directory={str(folder)!r}: give a path without variables")
        require_whole("limit_bytes", limit_bytes, least=0, give="a number of bytes, 0 or more")
        self.path = folder.absolute() / subfolder / FILE
        self._limit_bytes = limit_bytes
        self._keep_open = keep_open
        self._key = store_key(key)
        self._rests_until = -math.inf
        self._table: _Table | None = None
        self._warned: set[str] = set()
        self._begin_anew()
        when_forked(
            self._begin_anew, lock="_lock"
        )  # of what is halfway SQLite would tell the child

    def _begin_anew(self) -> None:
        self._lock = RLock()
        # Both changed under the lock; those of before a fork are deleted by the parent.
        self._forgotten: set[str] = set()  # names whose deletion is pending
        self._stale: set[str] = set()  # names that a newer value could not be written under

    @property
    def used_bytes(self) -> int:
        """The size of the database file and its write-ahead log."""
        used = 0
        for file in (self.path, self.path.with_name(f"{FILE}-wal")):
            with suppress(OSError):
                used += file.stat().st_size
        return used

    def read(self, name: str) -> bytes | None:
        """Return the value under a name; ``None`` if it is missing, damaged or expired."""
        return self.read_all([name]).get(name)

    def read_all(self, names: Iterable[str]) -> dict[str, bytes]:
        """Read several values at once."""

        def read(table: "_Table") -> dict[str, bytes]:
            if self._forgotten:
                self._delete_forgotten(table)
            wanted = [name for name in names if name not in self._stale]
            rows = {name: table.row(name, most_bytes=self._limit_bytes) for name in wanted}
            values = {
                name: table.seal.opened(name, row) for name, row in rows.items() if row is not None
            }
            if None in values.values():
                self._tell("%s has a damaged or foreign row; it is not read", self.path)
            return {name: value for name, value in values.items() if value is not None}

        return self._tried(read, {})

    def write(self, values: Mapping[str, bytes], *, ttl_s: float | None = None) -> list[str]:
        """Store values, replacing those under their names. Returns the names not stored or evicted, oldest first."""
        _encodable(values)
        most_bytes = self._limit_bytes - ROW_BYTES
        gone = [name for name, value in values.items() if len(value) > most_bytes]
        fitting = {name: values[name] for name in values if name not in gone}

        def write(table: "_Table") -> list[str]:
            self._delete_forgotten(table)
            return table.write(fitting, ttl_s=ttl_s, room_bytes=self._limit_bytes)

        with self._lock:
            self._stale |= set(gone)
        evicted = self._tried(write, None, creates=bool(fitting))
        if evicted is None:
            with self._lock:
                self._stale |= set(fitting) if self._is_there() else set()
        return gone + (list(fitting) if evicted is None else evicted)

    def forget(self, names: Iterable[str]) -> None:
        """Delete names. If this raises ``StoreUnavailable``, they are no longer read here, and are deleted later."""
        names = _encodable(names)
        if self._is_there():
            with self._lock:
                self._forgotten |= names
            self._done(self._delete_forgotten, None)
        self._delete_aside(names)

    def clear(self, prefix: str = "") -> None:
        """Delete everything, or all names with a prefix. Raises ``StoreUnavailable`` if that fails for now."""
        self._done(partial(_Table.delete_all, prefix=prefix), None)
        self._delete_aside([prefix])

    def names(self) -> list[str]:
        """Return the names of all rows, oldest first. Raises ``StoreUnavailable`` if the file cannot be read now."""
        names = self._tried(_Table.names, None)
        if names is None and self._is_there():
            raise StoreUnavailable(str(self.path), reason="it cannot be listed now")
        gone = self._forgotten | self._stale
        return [name for name in names or () if name not in gone]

    def items(self) -> Iterator[tuple[str, bytes | None]]:
        """Yield each name and value, ``None`` for a damaged or foreign row. May raise ``StoreUnavailable``."""

        def value(table: "_Table", name: str) -> tuple[bool, bytes | None]:
            row = table.row(name, most_bytes=self._limit_bytes)
            return row is not None, table.seal.opened(name, row or b"")

        try:
            if not self._is_there():
                return
            for name in self._run(_Table.names):
                is_there, data = self._run(partial(value, name=name))
                if is_there:
                    yield name, data
            for key in self._run(_Table.damaged_keys):
                yield key, None
        except Exception as error:  # as in _done
            raise StoreUnavailable(str(self.path), reason=str(error)) from error

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            table, self._table = self._table, None
            if table is not None:
                table.close()

    def _is_there(self) -> bool:
        return os.path.lexists(self.path)  # unlike Path.exists, it raises nothing

    def _delete_forgotten(self, table: "_Table") -> None:
        if due := self._forgotten | self._stale:
            table.delete_names(due)
            self._forgotten.clear()
            self._stale.clear()  # all of them: who adds one waits for the lock that is held here

    def _delete_aside(self, names: Collection[str]) -> None:
        """Delete what was put aside if one of these names, or of these beginnings of names, may be in it."""
        aside = self.path.with_name(ASIDE)
        try:
            if not _may_hold(aside, names):
                return
            aside.unlink(missing_ok=True)
        except OSError as error:
            raise StoreUnavailable(str(aside), reason=str(error)) from error
        _LOGGER.warning("%s is deleted: what is to be forgotten may be in it", aside)

    def _tell(self, text: str, *parts: object) -> None:
        """Warn of something once, however often it happens."""
        if text not in self._warned:
            self._warned.add(text)
            _LOGGER.warning(text, *parts)

    def _tried(
        self, action: "Callable[[_Table], ResultT]", otherwise: ResultT, *, creates: bool = False
    ) -> ResultT:
        """Run an action unless the file failed a short while ago; return ``otherwise`` if it fails."""
        if time.monotonic() < self._rests_until:
            return otherwise
        try:
            return self._done(action, otherwise, creates=creates)
        except StoreUnavailable as error:
            self._tell("%s; continuing without it", error)
            self._rests_until = time.monotonic() + _REST_S
            return otherwise

    def _done(
        self, action: "Callable[[_Table], ResultT]", otherwise: ResultT, *, creates: bool = False
    ) -> ResultT:
        """Run an action; return ``otherwise`` if there is no file, or if it cannot be trusted and is put aside.

        With ``creates`` the action is then tried once more, on a new file.

        Raises:
            StoreUnavailable: the file is locked, the disk is full, or another error that may pass.
        """
        for is_last in (not creates, True):
            if not creates and not self._is_there():
                return otherwise
            try:
                return self._run(action)
            except _NO_DAMAGE:
                raise
            except Exception as error:  # a damaged table may make any
                reason = f"it cannot be written now; nothing was deleted ({error})"
                if _is_passing(error) or not self._is_put_aside(error):
                    raise StoreUnavailable(str(self.path), reason=reason) from error
            if is_last:
                break
        return otherwise

    def _run(self, action: Callable[["_Table"], ResultT]) -> ResultT:
        with self._lock:
            here = os.getpid(), _identity_of(self.path)
            if self._table is not None and (self._table.pid, self._table.identity) != here:
                self.close()  # of the process that this one was forked off, or someone replaced the file
            if self._table is None:
                self._table = self._opened()
            table = self._table
            table.steps_left = _LEAST_STEPS + _STEPS_A_BYTE * self.used_bytes
            try:
                table.require_ours()
                return action(table)
            finally:
                if not self._keep_open:
                    self.close()

    def _opened(self) -> "_Table":
        """Open the file, or make one, ours alone."""
        path = self.path
        take_folder(path.parent, ours=_OURS)
        with locked_alone(path.parent):  # from what is checked to the file that is open
            taken = [take_file(path.with_name(FILE + suffix)) for suffix in ("", *_JOURNALS)]
            is_filled = path.exists() and path.stat().st_size > 0
            secret, is_new = folder_key(path.parent, self._key, could_be_planted=any(taken))
            if is_new and is_filled:
                self._put_aside("its key is not there")
            os.close(os.open(path, os.O_CREAT | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0), 0o600))
            identity = _identity_of(path)
            connection = _connected(path, timeout_s=_LOCKED_S)
            try:
                if not _is_complete(connection):
                    with connection:  # diskcache itself would wait a minute for a locked file
                        connection.execute("BEGIN IMMEDIATE")
                    _make(path.parent)
                return _Table(connection, seal=Seal(secret, place="folder"), identity=identity)
            except BaseException:
                connection.close()
                raise

    def _is_put_aside(self, error: Exception) -> bool:
        try:
            self._put_aside(str(error))
        except (OSError, StoreUnavailable):
            return False
        return True

    def _put_aside(self, why: str) -> None:
        """Rename the file, and delete its write-ahead log, which SQLite would otherwise apply to the next file."""
        with self._lock:
            self.close()
            aside = self.path.with_name(ASIDE)
            self.path.replace(aside)
            for suffix in _JOURNALS:
                self.path.with_name(FILE + suffix).unlink(missing_ok=True)
            self._tell("%s cannot be trusted and is put aside as %s: %s", self.path, aside, why)
            self._delete_aside(self._forgotten)
            self._forgotten.clear()
            self._stale.clear()


def _encodable(names: Iterable[str]) -> set[str]:
    """Return names. Raise ``ValueError`` if one cannot stand in a file; if it were pending, nothing could be done any more."""
    found = set(names)
    for name in found:
        name.encode()
    return found


def _may_hold(path: Path, names: Collection[str]) -> bool:
    """Return whether a file may have one of these names in it; it is not opened as a database, since it may be a damaged one."""
    if not names or not os.path.lexists(path):
        return False
    most = max(_MOST_SOUGHT, _MOST_SOUGHT_BYTES // max(1, path.lstat().st_size))
    if len(names) > most or max(map(len, names)) > _MOST_SOUGHT_CHARS:
        return True
    sought = [_last_part(name).encode() for name in names]
    before = b""
    with path.open("rb") as file:
        while data := file.read(_READ_BYTES):
            data = before + data
            if any(name in data for name in sought):
                return True
            before = data[-_MOST_SOUGHT_CHARS * 4 :]
    return False


def _last_part(name: str) -> str:
    """Return a name without its scope: an earlier release may have had it under another one."""
    part = name.rpartition(":")[2]
    return part if len(part) >= _LEAST_PART_CHARS else name


def _identity_of(path: Path) -> tuple[int, ...]:
    """Return what tells a file from another one under its name.

    Number and times of its key are part of it: a folder that is deleted and made again may get the same numbers.
    """
    with suppress(OSError):
        key = path.with_name(KEY_FILE).stat()
        return path.stat().st_ino, key.st_ino, key.st_ctime_ns, key.st_mtime_ns
    return ()


def _connected(path: Path, *, timeout_s: float) -> sqlite3.Connection:
    """Connect to a file; nothing in it decides how."""
    connection = sqlite3.connect(
        path, timeout=timeout_s, isolation_level=None, check_same_thread=False
    )
    try:
        connection.text_factory = _text
        for name, value in _PRAGMAS.items():
            known = connection.execute(f"PRAGMA {name}").fetchone()
            if known is None or str(known[0]) != value:
                connection.execute(f"PRAGMA {name} = {value}").fetchall()
    except BaseException:
        connection.close()
        raise
    return connection


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")  # a damaged name is another name


def _is_complete(connection: sqlite3.Connection) -> bool:
    """Return whether all tables are there. Raise ``sqlite3.DatabaseError`` if there is something that diskcache does not make."""
    found = _schema_in(connection)
    if found and not found <= _schema():
        raise sqlite3.DatabaseError("it has tables, views or triggers that are not ours")
    return found == _schema()


def _schema_in(connection: sqlite3.Connection) -> frozenset[tuple[object, ...]]:
    rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master LIMIT 100")
    return frozenset(rows.fetchall())


@cache
def _schema() -> frozenset[tuple[object, ...]]:
    """Return what the installed diskcache makes; views and triggers of others could run on every call."""
    with TemporaryDirectory() as folder:
        _make(Path(folder))
        with closing(_connected(Path(folder) / FILE, timeout_s=_LOCKED_S)) as connection:
            return _schema_in(connection)


def _make(folder: Path) -> None:
    """Have diskcache make its tables, as far as they are missing."""
    make: Any = diskcache.Cache  # it has no types
    make(str(folder), timeout=_LOCKED_S, **_SETTINGS).close()


def _is_passing(error: Exception) -> bool:
    """Return True if an error may go away without a new file: locks, a full or failing disk, missing rights."""
    if isinstance(error, sqlite3.OperationalError):
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        # a table or column is missing; a statement has no end
        return code not in {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_INTERRUPT}
    return isinstance(error, OSError | MemoryError | sqlite3.DataError)


class _Table:
    """A file of diskcache that believes no number in it.

    Attributes:
        seal: of its values.
        identity: which file it is.
        steps_left: how many steps of SQLite's machine the current call may take.
    """

    def __init__(
        self, connection: sqlite3.Connection, *, seal: Seal, identity: tuple[int, ...]
    ) -> None:
        self.seal, self.identity, self.pid = seal, identity, os.getpid()
        self.steps_left = _LEAST_STEPS
        self._sql = connection.execute
        self._connection = connection
        self._known_version = self._version()  # of the schema, which was looked at before
        self._is_measured = False
        connection.set_progress_handler(self._stepped, _STEPS_AT_ONCE)

    def _stepped(self) -> bool:
        self.steps_left -= _STEPS_AT_ONCE
        return self.steps_left < 0

    def _version(self) -> int:
        (version,) = self._sql("PRAGMA schema_version").fetchone()
        return int(version)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @contextmanager
    def transaction(self) -> Generator[None]:
        """Do all that is in the body, or nothing."""
        with self._connection:
            self._sql("BEGIN IMMEDIATE")
            yield

    def require_ours(self) -> None:
        """Raise ``sqlite3.DatabaseError`` if somebody has changed the tables."""
        if (version := self._version()) != self._known_version:
            _is_complete(self._connection)
            self._known_version = version

    def row(self, name: str, *, most_bytes: int) -> bytes | None:
        """Return the sealed value under a name; ``None`` if it is missing or expired, nothing if it is no value of ours."""
        found = self._sql(
            f"SELECT CASE WHEN mode = {_RAW} AND typeof(value) = 'blob' AND length(value) <= ? THEN value END FROM Cache"  # noqa: S608 - a number
            " WHERE key = ? AND raw = 1 AND (expire_time IS NULL OR expire_time > ?)",
            (most_bytes + SEAL_BYTES, name, time.time()),
        ).fetchone()
        return None if found is None else found[0] or b""

    def names(self) -> list[str]:
        """Return all names, oldest first."""
        found = self._sql(
            "SELECT key FROM Cache WHERE typeof(key) = 'text' AND raw = 1 ORDER BY store_time, rowid"
        )
        return [name for (name,) in found]

    def damaged_keys(self) -> list[str]:
        """Return what is no name of ours, as text."""
        found = self._sql(
            "SELECT CAST(key AS TEXT) FROM Cache WHERE typeof(key) != 'text' OR raw IS NOT 1"
        )
        return [str(key) for (key,) in found]

    def delete_names(self, names: Iterable[str]) -> None:
        """Delete rows by name, and all that have no name of ours: nobody knows what they were."""
        with self.transaction():
            self._connection.executemany(
                "DELETE FROM Cache WHERE key = ?", [(name,) for name in sorted(names)]
            )
            self._sql(_DELETE_UNNAMED)

    def delete_all(self, prefix: str) -> None:
        """Delete all rows whose name has a prefix, and all that have no name of ours."""
        with self.transaction():
            self._sql("DELETE FROM Cache WHERE substr(key, 1, ?) = ?", (len(prefix), prefix))
            self._sql(_DELETE_UNNAMED)

    def write(
        self, values: Mapping[str, bytes], *, ttl_s: float | None, room_bytes: float
    ) -> list[str]:
        """Store values, and delete the oldest until the rest fits. Returns the names of these."""
        now = time.time()
        until = None if ttl_s is None else now + ttl_s
        with self.transaction():
            for name, value in values.items():
                sealed = self.seal.closed(name, value, ttl_s=ttl_s)
                size = len(value) + ROW_BYTES
                self._sql("DELETE FROM Cache WHERE key = ?", (name,))
                self._sql(_INSERT, (name, now, until, now, size, sealed))
            self._sql("DELETE FROM Cache WHERE expire_time < ?", (now,))
            return self._culled(room_bytes)

    def _culled(self, room_bytes: float) -> list[str]:
        gone: list[str] = []
        used = self._used_bytes()
        if used is not None and used <= room_bytes:
            return gone
        if used is None or not self._is_measured:  # the sum is a number in the file
            used = self._measured()
        rowids: list[tuple[int]] = []
        oldest = self._sql(f"SELECT rowid, key, {_ROW_SIZE} FROM Cache ORDER BY store_time, rowid")  # noqa: S608 - numbers
        for rowid, name, size in oldest:
            if used <= room_bytes:
                break
            rowids.append((rowid,))
            gone.append(str(name))
            used -= size or 0
        self._connection.executemany("DELETE FROM Cache WHERE rowid = ?", rowids)
        if used > room_bytes:  # nothing is left: it was changed since it was measured
            self._is_measured = False
        return gone

    def _used_bytes(self) -> int | None:
        """Return the sum of all sizes as diskcache's triggers keep it; ``None`` if it cannot be."""
        found = self._sql("SELECT value FROM Settings WHERE key = 'size'").fetchone()
        used: object = found[0] if found else None
        return used if isinstance(used, int) and used >= 0 else None

    def _measured(self) -> int:
        """Return the sum of all sizes as they are, and correct what the file says; what is no row of ours is deleted."""
        self._sql("DELETE FROM Cache WHERE typeof(key) != 'text' OR typeof(value) != 'blob'")
        self._sql(f"UPDATE Cache SET size = {_ROW_SIZE} WHERE size IS NOT {_ROW_SIZE}")  # noqa: S608 - numbers
        (used,) = self._sql(f"SELECT COALESCE(SUM({_ROW_SIZE}), 0) FROM Cache").fetchone()  # noqa: S608 - numbers
        self._sql("INSERT OR REPLACE INTO Settings VALUES ('size', ?)", (used,))
        self._is_measured = True
        return int(used)
