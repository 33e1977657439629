"""Originals on disk, by scope and handle, for what memory gives up and for later processes.

Promise: what is read is what was written under this scope and handle, or nothing. A file that is damaged, locked, or on
a disk that is full costs what it holds, never an error. Reading runs nothing: a row is JSON with a checksum. The file
holds at most its limit, the oldest entries of all scopes go first; what is past its time, forgotten or too old is
overwritten, not merely unlinked.

One file of SQLite, opened for each call: nothing is open in between, and several processes may share it. Each entry is
written on its own, so that a process that is killed loses the one it was writing at most, and so does a power cut
(``synchronous = NORMAL`` with a write-ahead log, which wants a disk of this machine, none of a network).
"""

import logging
import os
import sqlite3
import time
from collections.abc import Generator, Iterable
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from zlib import crc32

from autogen_context.cache.originals.memory import Entry
from autogen_context.cache.scope import Scope
from autogen_context.messages.message import Message
from autogen_context.messages.saved import messages_as_bytes, messages_from_bytes

_Row = tuple[str, bytes, float, int, int, bytes]

ROW_BYTES = 200  # what a row costs beside its JSON, roughly

_LOGGER = logging.getLogger(__name__)
_NAME = "stash-1.sqlite3"  # the number is that of the schema below
_SCHEMA = """
    CREATE TABLE IF NOT EXISTS originals (
        age INTEGER PRIMARY KEY, scope TEXT NOT NULL, handle BLOB NOT NULL, expires_at REAL NOT NULL,
        bytes INTEGER NOT NULL, crc INTEGER NOT NULL, messages BLOB NOT NULL, UNIQUE (scope, handle)
    );
    CREATE INDEX IF NOT EXISTS sizes ON originals (bytes);
    CREATE INDEX IF NOT EXISTS times ON originals (expires_at)
"""
_PRAGMAS = (
    "journal_mode = WAL",
    "synchronous = NORMAL",
    "secure_delete = ON",
    "trusted_schema = OFF",
)
_WRITE = """
    INSERT OR REPLACE INTO originals (scope, handle, expires_at, bytes, crc, messages)
    VALUES (?, ?, ?, ?, ?, ?)
"""
_READ = """
    SELECT expires_at, crc, messages FROM originals
    WHERE scope = ? AND handle = ? AND expires_at > ?
"""
_HELD = "SELECT 1 FROM originals WHERE scope = ? AND handle = ? AND expires_at > ?"
_EXPIRE = "DELETE FROM originals WHERE expires_at <= ?"
_TOTAL = "SELECT total(bytes) FROM originals"
_TRIM = """
    DELETE FROM originals WHERE age IN (
        SELECT age FROM (SELECT age, sum(bytes) OVER (ORDER BY age DESC) AS kept FROM originals)
        WHERE kept > ?
    ) RETURNING scope, handle
"""
_FORGET = "DELETE FROM originals WHERE scope = ? AND handle = ?"
_CLEAR = "DELETE FROM originals WHERE scope = ?"
_LOCKED_S = 2.0  # how long one process waits for another
_PAUSE_S = 0.005  # until it tries again what SQLite does not wait for


class StashFile:
    """The part of a file of originals that belongs to one scope.

    Args:
        directory: the folder; it is made when something is written, for its owner alone.
        scope: whose originals these are; no other scope can read them.
        limit_bytes: what the originals of all scopes in the folder may have together, as JSON.

    Raises:
        ValueError: ``directory`` is something else than a folder, or the limit is negative.
    """

    def __init__(
        self, directory: str | os.PathLike[str], *, scope: Scope, limit_bytes: int = 1024**3
    ) -> None:
        self.path = Path(directory) / _NAME
        if self.path.parent.exists() and not self.path.parent.is_dir():
            raise ValueError(f"directory={str(directory)!r}: give a folder; this is none")
        if limit_bytes < 0:
            raise ValueError(f"limit_bytes={limit_bytes}: give a number of bytes, 0 or more")
        self.limit_bytes = limit_bytes
        self._scope = scope.key

    def write(self, entries: Iterable[Entry], *, expires_at: float, now: float) -> list[str]:
        """Keep entries, each for itself; what is past its time and the oldest beyond the limit go.

        Args:
            entries: handles and their messages; an entry that is there is written anew, and is the newest then.
            expires_at: when they are to go, in seconds on the clock of ``now``.
            now: the time.

        Returns:
            The handles of this scope that went for want of room, oldest first.
        """
        with self._forgiven(), self._opened() as connection:
            connection.execute(_EXPIRE, (now,))
            for handle, messages in entries:
                connection.execute(_WRITE, self._row(handle, messages, expires_at))
            return self._trimmed(connection)
        return []

    def read(self, handle: str, *, now: float) -> tuple[Message, ...] | None:
        """The messages under a handle, if they are there whole and their time is not over."""
        found: tuple[Message, ...] | None = None
        if self.path.exists():
            with self._forgiven(), self._opened() as connection:
                row = connection.execute(_READ, (self._scope, _key(handle), now)).fetchone()
                found = self._messages(handle, *row) if row else None
        return found

    def held(self, handles: Iterable[str], *, now: float) -> set[str]:
        """Which of these have an entry whose time is not over."""
        found: set[str] = set()
        if self.path.exists():
            with self._forgiven(), self._opened() as connection:
                for handle in handles:
                    row = connection.execute(_HELD, (self._scope, _key(handle), now)).fetchone()
                    found |= {handle} if row else set()
        return found

    def forget(self, handle: str) -> None:
        """Overwrite what is under a handle.

        Raises:
            sqlite3.Error: the file cannot be written now, so that it may still be there.
            OSError: likewise.
        """
        self._delete(_FORGET, self._scope, _key(handle))

    def clear(self) -> None:
        """Overwrite all that this scope has.

        Raises:
            sqlite3.Error: the file cannot be written now, so that it may still be there.
            OSError: likewise.
        """
        self._delete(_CLEAR, self._scope)

    def _row(self, handle: str, messages: tuple[Message, ...], expires_at: float) -> _Row:
        """What is written for an entry."""
        data = messages_as_bytes(messages)
        crc = self._crc(handle, expires_at, data)
        return self._scope, _key(handle), expires_at, len(data) + ROW_BYTES, crc, data

    def _messages(
        self, handle: str, expires_at: object, crc: object, data: object
    ) -> tuple[Message, ...] | None:
        """What a row holds, if these are the bytes that were written under this scope and handle."""
        if not isinstance(data, bytes) or not isinstance(expires_at, float):
            return None
        if self._crc(handle, expires_at, data) != crc:
            return None
        with suppress(ValueError):  # whoever wrote this row has reckoned its checksum as well
            return messages_from_bytes(data)
        return None

    def _crc(self, handle: str, expires_at: float, data: bytes) -> int:
        return crc32(data, crc32(b"%b %b %r" % (self._scope.encode(), _key(handle), expires_at)))

    def _trimmed(self, connection: sqlite3.Connection) -> list[str]:
        """Bring the file below its limit; the handles of this scope that went, others are reported here."""
        if connection.execute(_TOTAL).fetchone()[0] <= self.limit_bytes:
            return []
        gone = connection.execute(_TRIM, (self.limit_bytes,)).fetchall()
        own = [_handle(key) for scope, key in gone if scope == self._scope]
        if len(own) < len(gone):
            numbers = {"limit_bytes": self.limit_bytes, "left": len(gone) - len(own)}
            _LOGGER.warning("originals of other agents left the file of the stash", extra=numbers)
        return own

    def _delete(self, statement: str, *values: str | bytes) -> None:
        """Run a statement that deletes; a file that is damaged goes as a whole."""
        if not self.path.exists():
            return
        try:
            with self._opened() as connection:
                connection.execute(statement, values)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            if not _is_damage(error):
                raise
            self._remove()

    @contextmanager
    def _opened(self) -> Generator[sqlite3.Connection]:
        """The file, with each statement for itself; one that only its owner can read, where there was none."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
        with closing(sqlite3.connect(self.path, timeout=_LOCKED_S, isolation_level=None)) as opened:
            _make_ready(opened)
            yield opened

    @contextmanager
    def _forgiven(self) -> Generator[None]:
        """Whatever goes wrong with the file is one warning; what is damaged goes."""
        try:
            yield
        except (OSError, sqlite3.Error, UnicodeDecodeError) as error:
            _LOGGER.warning("the file of the stash failed; it is done without", exc_info=error)
            if _is_damage(error):
                with suppress(OSError):
                    self._remove()

    def _remove(self) -> None:
        """Take the file away, with the log beside it, which would be read into the next one."""
        for suffix in ("", "-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)


def _make_ready(opened: sqlite3.Connection) -> None:
    """Have the tables. Where several processes begin at once SQLite does not wait by itself: each would wait for the others."""
    until_s = time.monotonic() + _LOCKED_S
    while True:
        try:
            for pragma in _PRAGMAS:
                opened.execute(f"PRAGMA {pragma}")
            opened.executescript(_SCHEMA)
        except sqlite3.OperationalError as error:
            is_busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not is_busy or time.monotonic() > until_s:
                raise
            time.sleep(_PAUSE_S)
        else:
            return


def _is_damage(error: Exception) -> bool:
    """Whether the file is none of SQLite's (any more); locks and full disks are other errors."""
    if isinstance(error, UnicodeDecodeError):
        return True  # what SQLite says of damage can quote bytes of it that are no text
    return isinstance(error, sqlite3.DatabaseError) and not isinstance(
        error, sqlite3.OperationalError
    )


def _key(handle: str) -> bytes:
    """The handle as it stands in the file; whatever a model asks for can be written so."""
    return handle.encode("utf-8", "surrogatepass")


def _handle(key: bytes) -> str:
    return key.decode("utf-8", "surrogatepass")
