"""Vectors on disk, by key, for the next process.

Promise: what is read is what was written, or nothing; a file that is damaged, locked, or on a disk that is full costs
what it holds, never an error. It holds raw numbers only: reading it runs nothing.

One file of SQLite, opened for each call and used in one transaction: nothing is open in between, several processes may
share it, and a process that is killed leaves it whole. It is never waited for by the disk (``synchronous = OFF``): what
a power cut destroys is computed again.
"""

import logging
import os
import sqlite3
from array import array
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from zlib import crc32

_LOGGER = logging.getLogger(__name__)
_NAME = "vectors-1.sqlite3"  # the number is that of the schema below
_SCHEMA = """
    CREATE TABLE IF NOT EXISTS vectors (
        age INTEGER PRIMARY KEY, key TEXT UNIQUE NOT NULL, floats BLOB NOT NULL, crc INTEGER NOT NULL
    )
"""
_READ = "SELECT floats, crc FROM vectors WHERE key = ?"
_WRITE = "INSERT OR REPLACE INTO vectors (key, floats, crc) VALUES (?, ?, ?)"
_TRIM = "DELETE FROM vectors WHERE age <= (SELECT max(age) FROM vectors) - ?"
_LOCKED_S = 2.0  # how long one process waits for another
_FLOAT_BYTES = 4


class VectorFile:
    """A file of vectors in a folder, with a limit.

    Args:
        directory: the folder; it is made when something is written, for its owner alone.
        entries: how many vectors the file holds, the newest.

    Raises:
        ValueError: ``directory`` is something else than a folder.
    """

    def __init__(self, directory: Path, *, entries: int = 100_000) -> None:
        if directory.exists() and not directory.is_dir():
            raise ValueError(f"directory={str(directory)!r}: give a folder; this is none")
        self.path = directory / _NAME
        self._entries = entries

    def read(self, keys: Iterable[str]) -> dict[str, Sequence[float]]:
        """The vectors that are there whole, by key."""
        found: dict[str, Sequence[float]] = {}
        if self.path.exists():
            with self._forgiven(), self._opened() as connection:
                for key in keys:
                    row = connection.execute(_READ, (key,)).fetchone()
                    if row and (vector := _vector(key, *row)):
                        found[key] = vector
        return found

    def write(self, vectors: Mapping[str, Sequence[float]]) -> None:
        """Keep vectors of 32-bit floats; the oldest beyond the limit go."""
        packed = [(key, array("f", vector).tobytes()) for key, vector in vectors.items()]
        with self._forgiven(), self._opened() as connection:
            connection.executemany(
                _WRITE, [(key, floats, _crc(key, floats)) for key, floats in packed]
            )
            connection.execute(_TRIM, (self._entries,))

    @contextmanager
    def _opened(self) -> Generator[sqlite3.Connection]:
        """The file, in one transaction; one that only its owner can read, where there was none."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
        with closing(sqlite3.connect(self.path, timeout=_LOCKED_S)) as connection, connection:
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute(_SCHEMA)
            yield connection

    @contextmanager
    def _forgiven(self) -> Generator[None]:
        """Whatever goes wrong with the file is one warning; what is damaged goes."""
        try:
            yield
        except (OSError, sqlite3.Error, UnicodeDecodeError) as error:
            _LOGGER.warning("the file of vectors failed; it is done without", exc_info=error)
            if _is_damage(error):
                with suppress(OSError):
                    self.path.unlink()


def _is_damage(error: Exception) -> bool:
    """Whether the file is none of SQLite's (any more); locks and full disks are other errors."""
    if isinstance(error, UnicodeDecodeError):
        return True  # what SQLite says of damage can quote bytes of it that are no text
    return isinstance(error, sqlite3.DatabaseError) and not isinstance(
        error, sqlite3.OperationalError
    )


def _vector(key: str, floats: object, crc: object) -> Sequence[float] | None:
    """The numbers of a row, if these are the bytes that were written under this key."""
    if not isinstance(floats, bytes) or len(floats) % _FLOAT_BYTES or _crc(key, floats) != crc:
        return None
    return memoryview(floats).cast("f")


def _crc(key: str, floats: bytes) -> int:
    return crc32(floats, crc32(key.encode()))
