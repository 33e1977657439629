"""Bytes by name in a folder: the disk store of the cache, the originals and the vectors.

Promise: a read returns what this store wrote last under the name, or nothing. A damaged, planted or locked file, a full disk, or
a folder that is not ours costs cached values but raises no error on read or write; what cannot be trusted is put aside once,
what fails is left alone for a while. Reading an intact file executes and writes nothing: it loads no pickle, touches no other
file and waits for no writer. The store stays within its limit and reports evictions; no number in the file decides how much
work that is.

It uses diskcache with a custom ``Disk``: by default diskcache unpickles any row marked as a pickle (CVE-2025-69872), reads
the file that a row names, deletes that file with the row, writes at each read, and takes its settings from the file.
"""

import logging
import math
import os
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import RLock
from typing import Any, Final, Literal, TypeVar, cast

import diskcache  # type: ignore[import-untyped]  # it has no types
from typing_extensions import override

from autogen_context.argument import require_whole
from autogen_context.cache.seal import (
    KEY_FILE,
    SEAL_BYTES,
    Seal,
    folder_key,
    held_alone,
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
SUBFOLDERS: Final = ("originals", "values")

_LOGGER = logging.getLogger(__name__)
_LOCKED_S = 2.0  # how long one process waits for another's lock
_REST_S = 30.0  # how long a file that failed is left alone
_RAW: Final = 1  # diskcache's mode for a value stored in its row
_BESIDE: Final = ("-wal", "-shm", "-journal")
_OURS: Final = frozenset({FILE, ASIDE, KEY_FILE, *SUBFOLDERS, *(FILE + each for each in _BESIDE)})
# Of SQLite's machine: a call looks at each row of a file once or twice, in some twenty steps; a damaged tree has no end.
_STEPS_AT_ONCE: Final = 100_000
_LEAST_STEPS: Final = 20_000_000
_STEPS_A_BYTE: Final = 4
# Of names in a file that was put aside; SQLite keeps a short one in one piece.
_MOST_SOUGHT: Final = (
    100  # in a large file; in a smaller one as many as take no longer than about a second
)
_MOST_SOUGHT_BYTES: Final = 2**31
_LEAST_TAIL_CHARS: Final = 8
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
_KNOWN: Final = frozenset({*_SETTINGS, *diskcache.core.DEFAULT_SETTINGS, *diskcache.core.METADATA})
_PRAGMAS: Final = {
    "auto_vacuum": "1",
    "journal_mode": "wal",
    "synchronous": "1",
    "secure_delete": "1",
    "mmap_size": "0",  # truncating a mapped file would crash the process
    "trusted_schema": "0",
}
_HELD: Final = f"length(value) - {SEAL_BYTES} + {ROW_BYTES}"


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
        self._told: set[str] = set()
        self._begin_anew()
        when_forked(
            self._begin_anew, holding="_lock"
        )  # of what is halfway SQLite would tell the child

    def _begin_anew(self) -> None:
        self._lock = RLock()  # diskcache itself opens the file anew in a forked process
        # Both changed under the lock; those of before a fork are deleted by the parent.
        self._forgotten: set[str] = set()  # names whose deletion is pending
        self._stale: set[str] = set()  # names that a newer value could not be written under

    @property
    def held_bytes(self) -> int:
        """The size of the database file and its write-ahead log."""
        held = 0
        for file in (self.path, self.path.with_name(f"{FILE}-wal")):
            with suppress(OSError):
                held += file.stat().st_size
        return held

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
            table.room_bytes, table.gone = self._limit_bytes, []
            with table.transact():
                for name, value in fitting.items():
                    table.set(name, table.seal.closed(name, value, ttl_s=ttl_s), expire=ttl_s)
            return table.gone

        with self._lock:
            self._stale |= set(gone)
        told = self._tried(write, None, creates=bool(fitting))
        if told is None:
            with self._lock:
                self._stale |= set(fitting) if self._is_there() else set()
        return gone + (list(fitting) if told is None else told)

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
        if text not in self._told:
            self._told.add(text)
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
            except Exception as error:  # diskcache may raise any on a damaged table
                reason = f"it cannot be written now; nothing was deleted ({error})"
                if _is_passing(error) or not self._is_put_aside(error):
                    raise StoreUnavailable(str(self.path), reason=reason) from error
            if is_last:
                break
        return otherwise

    def _run(self, action: Callable[["_Table"], ResultT]) -> ResultT:
        with self._lock:
            if self._table is not None and self._table.identity != _identity_of(self.path):
                self.close()  # someone deleted or replaced the file
            if self._table is None:
                self._table = self._opened()
            table = self._table
            table.steps_left = _LEAST_STEPS + _STEPS_A_BYTE * self.held_bytes
            try:
                table.require_ours()
                return action(table)
            finally:
                if not self._keep_open:
                    table.close()

    def _opened(self) -> "_Table":
        """Open the file, or make one, ours alone; settings that are not ours are deleted."""
        path = self.path
        take_folder(path.parent, ours=_OURS)
        with held_alone(path.parent):  # from what is checked to the file that is open
            taken = [take_file(path.with_name(FILE + suffix)) for suffix in ("", *_BESIDE)]
            is_filled = path.exists() and path.stat().st_size > 0
            secret, is_new = folder_key(path.parent, self._key, could_be_planted=any(taken))
            if is_new and is_filled:
                self._put_aside("its key is not there")
            os.close(os.open(path, os.O_CREAT | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0), 0o600))
            identity = _identity_of(path)
            with closing(_connected(path, timeout_s=_LOCKED_S)) as probe:
                # diskcache itself would wait a minute for a locked file
                probe.execute("BEGIN IMMEDIATE")
                if _require_schema(probe):
                    known = ", ".join(f"'{name}'" for name in sorted(_KNOWN))
                    probe.execute(f"DELETE FROM Settings WHERE key NOT IN ({known})")  # noqa: S608 - our own names
                probe.execute("COMMIT")
            # One at a time: SQLite does not wait where two turn a new file's log on.
            table = _Table(str(path.parent), timeout=_LOCKED_S, disk=_PlainDisk, **_SETTINGS)
        table.seal = Seal(secret, place="folder")
        table.identity = identity
        return table

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
            for suffix in _BESIDE:
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
    sought = [_tail(name).encode() for name in names]
    before = b""
    with path.open("rb") as file:
        while data := file.read(_READ_BYTES):
            data = before + data
            if any(name in data for name in sought):
                return True
            before = data[-_MOST_SOUGHT_CHARS * 4 :]
    return False


def _tail(name: str) -> str:
    """Return a name without its scope: an earlier release may have had it under another one."""
    tail = name.rpartition(":")[2]
    return tail if len(tail) >= _LEAST_TAIL_CHARS else name


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
    connection = sqlite3.connect(path, timeout=timeout_s, isolation_level=None)
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


def _require_schema(connection: sqlite3.Connection) -> bool:
    """Return whether there are tables. Raise ``sqlite3.DatabaseError`` if there is something that diskcache does not make."""
    found = _schema_in(connection)
    if found and not found <= _schema():
        raise sqlite3.DatabaseError("it has tables, views or triggers that are not ours")
    return any(name == "Settings" for _, name, _, _ in found)


def _schema_in(connection: sqlite3.Connection) -> frozenset[tuple[object, ...]]:
    rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master LIMIT 100")
    return frozenset(rows.fetchall())


@cache
def _schema() -> frozenset[tuple[object, ...]]:
    """Return what the installed diskcache makes; views and triggers of others could run on every call."""
    with (
        TemporaryDirectory() as folder,
        closing(_Table(folder, timeout=_LOCKED_S, disk=_PlainDisk, **_SETTINGS)) as table,
    ):
        return _schema_in(table.connection)


def _is_passing(error: Exception) -> bool:
    """Return True if an error may go away without a new file: locks, a full or failing disk, missing rights."""
    if isinstance(error, sqlite3.OperationalError):
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        # a table or column is missing; a statement has no end
        return code not in {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_INTERRUPT}
    return isinstance(error, OSError | MemoryError | sqlite3.DataError | diskcache.Timeout)


_Cache: Any = diskcache.Cache  # it has no types, and the inferred ones are too narrow


class _Table(_Cache):  # type: ignore[misc]  # as above
    """A diskcache table that reports which rows it evicts, and believes no number in the file.

    Attributes:
        seal: of its values.
        identity: which file it is.
        steps_left: how many steps of SQLite's machine the current call may take.
    """

    seal: Seal
    identity: tuple[int, ...] = ()
    room_bytes: float = math.inf
    gone: list[str]
    steps_left: int = _LEAST_STEPS
    _known_version: int = -1  # of the schema
    _is_measured: bool = False

    def __init__(self, directory: str, **settings: object) -> None:
        try:
            super().__init__(directory, **settings)  # pyright: ignore[reportUnknownMemberType]
        except Exception:  # diskcache leaves a damaged file open
            self.close()
            raise

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection of this thread."""
        return self._con

    @property
    def _con(self) -> sqlite3.Connection:  # pyright: ignore[reportIncompatibleVariableOverride] - the base class is ``Any``
        """As diskcache's own, without its settings from the file."""
        kept: Any = self._local
        if getattr(kept, "pid", None) != os.getpid():  # a forked child needs one of its own
            self.close()
            kept.pid = os.getpid()
        if getattr(kept, "con", None) is None:
            kept.con = _connected(Path(self._directory) / FILE, timeout_s=self._timeout)
            kept.con.set_progress_handler(self._stepped, _STEPS_AT_ONCE)
        return cast("sqlite3.Connection", kept.con)

    def _stepped(self) -> bool:
        self.steps_left -= _STEPS_AT_ONCE
        return self.steps_left < 0

    @override
    def reset(  # pyright: ignore[reportGeneralTypeIssues] - the base class is ``Any``
        self, key: str, value: object = diskcache.core.ENOVAL, update: bool = True
    ) -> object:
        """Set an attribute; ``sqlite_…`` settings of the file are no pragmas here."""
        if value is not diskcache.core.ENOVAL:
            setattr(self, key, value)
        return value

    def require_ours(self) -> None:
        """Raise ``sqlite3.DatabaseError`` if somebody has changed the tables."""
        (version,) = self.connection.execute("PRAGMA schema_version").fetchone()
        if version != self._known_version:
            _require_schema(self.connection)
            self._known_version = version

    def row(self, name: str, *, most_bytes: int) -> bytes | None:
        """Return the sealed value under a name; ``None`` if it is missing or expired, nothing if it is no value of ours."""
        found = self.connection.execute(
            f"SELECT CASE WHEN mode = {_RAW} AND typeof(value) = 'blob' AND length(value) <= ? THEN value END FROM Cache"  # noqa: S608 - a number
            " WHERE key = ? AND raw = 1 AND (expire_time IS NULL OR expire_time > ?)",
            (most_bytes + SEAL_BYTES, name, time.time()),
        ).fetchone()
        return None if found is None else found[0] or b""

    def names(self) -> list[str]:
        """Return all names, oldest first."""
        found = self.connection.execute(
            "SELECT key FROM Cache WHERE typeof(key) = 'text' AND raw = 1 ORDER BY store_time, rowid"
        )
        return [name for (name,) in found]

    def damaged_keys(self) -> list[str]:
        """Return what is no name of ours, as text."""
        found = self.connection.execute(
            "SELECT CAST(key AS TEXT) FROM Cache WHERE typeof(key) != 'text' OR raw IS NOT 1"
        )
        return [str(key) for (key,) in found]

    def delete_names(self, names: Iterable[str]) -> None:
        """Delete rows by name, and all that have no name of ours: nobody knows what they were."""
        with self.transact():
            self.connection.executemany(
                "DELETE FROM Cache WHERE key = ?", [(name,) for name in sorted(names)]
            )
            self.connection.execute(_DELETE_UNNAMED)

    def delete_all(self, prefix: str) -> None:
        """Delete all rows whose name has a prefix, and all that have no name of ours."""
        with self.transact():
            self.connection.execute(
                "DELETE FROM Cache WHERE substr(key, 1, ?) = ?", (len(prefix), prefix)
            )
            self.connection.execute(_DELETE_UNNAMED)

    @override
    def _cull(  # pyright: ignore[reportGeneralTypeIssues] - the base class is ``Any``
        self, now: float, sql: Callable[..., Any], cleanup: object, limit: object = None
    ) -> None:
        """Delete expired rows, then the oldest until the rest fits; diskcache calls this after each write."""
        sql("DELETE FROM Cache WHERE expire_time < ?", (now,))
        held = self._held(sql)
        if held is not None and held <= self.room_bytes:
            return
        if held is None or not self._is_measured:  # the sum is a number in the file
            held = self._measured(sql)
        rowids: list[tuple[int]] = []
        oldest = sql(f"SELECT rowid, key, {_HELD} FROM Cache ORDER BY store_time, rowid")  # noqa: S608 - numbers
        for rowid, name, size in oldest:
            if held <= self.room_bytes:
                break
            rowids.append((rowid,))
            self.gone.append(str(name))
            held -= size or 0
        self.connection.executemany("DELETE FROM Cache WHERE rowid = ?", rowids)
        if held > self.room_bytes:  # nothing is left: it was changed since it was measured
            self._is_measured = False

    def _held(self, sql: Callable[..., Any]) -> int | None:
        """Return the sum of all sizes as diskcache's triggers keep it; ``None`` if it cannot be."""
        found = sql("SELECT value FROM Settings WHERE key = 'size'").fetchone()
        held: object = found[0] if found else None
        return held if isinstance(held, int) and held >= 0 else None

    def _measured(self, sql: Callable[..., Any]) -> int:
        """Return the sum of all sizes as they are, and correct what the file says; what is no row of ours is deleted."""
        sql("DELETE FROM Cache WHERE typeof(key) != 'text' OR typeof(value) != 'blob'")
        sql(f"UPDATE Cache SET size = {_HELD} WHERE size IS NOT {_HELD}")  # noqa: S608 - numbers
        (held,) = sql(f"SELECT COALESCE(SUM({_HELD}), 0) FROM Cache").fetchone()  # noqa: S608 - numbers
        sql("INSERT OR REPLACE INTO Settings VALUES ('size', ?)", (held,))
        self._is_measured = True
        return int(held)


class _PlainDisk(diskcache.Disk):  # type: ignore[misc]  # it has no types
    """A diskcache ``Disk`` that stores bytes in their rows only: no pickle, and no file besides the database."""

    @override
    def put(self, key: str) -> tuple[str, Literal[True]]:
        return key, True

    @override
    def store(  # pyright: ignore[reportIncompatibleMethodOverride] - its types are inferred
        self, value: bytes, read: bool, key: object = None
    ) -> tuple[int, Literal[1], None, bytes]:
        return len(value) - SEAL_BYTES + ROW_BYTES, _RAW, None, value

    @override
    def remove(self, file_path: str) -> None:
        pass
