"""The entries of a cache on disk, for what memory gives up and for later processes.

Promise: what is read is what was written under this key, or nothing. A file that is damaged, locked, or on a disk that
is full costs what it holds, never an error; while it fails it is left alone, so that nobody waits for it each time.
Reading runs nothing: a row that is not plain bytes is refused, whoever wrote it.
"""

import logging
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from autogen_context.cache.entry import CacheEntry, entry_as_bytes, entry_from_bytes
from autogen_context.cache.rows import FILE, Rows, is_passing, open_rows
from autogen_context.messages.message import content_digest

ResultT = TypeVar("ResultT")

_LOGGER = logging.getLogger(__name__)
_REST_S = 30.0  # how long a file that failed is left alone


class CacheDisk:
    """A folder of entries. It belongs to one thread; several processes may share the folder.

    Args:
        directory: the folder; it is made when something is written, for its owner alone.
        limit_bytes: about what the file may have; above it the least recently used entries go.
        clock: the time in seconds, by which a file that failed is left alone.

    Raises:
        ValueError: ``directory`` is something else than a folder, or has a variable in it.
    """

    def __init__(
        self,
        directory: Path,
        *,
        limit_bytes: int = 1024 * 1024 * 1024,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if directory.exists() and not directory.is_dir():
            raise ValueError(f"directory={str(directory)!r}: give a folder; this is none")
        if os.path.expandvars(directory) != str(directory):  # diskcache would open another folder
            raise ValueError(f"directory={str(directory)!r}: give a path without variables")
        self.path = directory.absolute() / FILE
        self._limit_bytes = limit_bytes
        self._rows: Rows | None = None
        self._clock = clock
        self._rests_until = -math.inf
        self._forgotten: set[str] = set()  # what could not be deleted

    @property
    def held_bytes(self) -> int:
        """What the file has, with the log beside it."""
        files = (self.path, self.path.with_name(f"{FILE}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def read(self, key: str) -> CacheEntry | None:
        """The entry under a key, if it is there whole."""
        if key in self._forgotten:
            self.forget([key])
            return None
        return self._forgiven(lambda: self._whole(_row(key), key)) if self.path.exists() else None

    def write(self, entry: CacheEntry, *, ttl_s: float | None) -> None:
        """Keep an entry, in place of the one under its key."""
        data = entry_as_bytes(entry)
        if len(data) > self._limit_bytes:
            return
        if self._forgiven(lambda: self._opened().set(_row(entry.key), data, ttl_s=ttl_s)):
            self._forgotten.discard(entry.key)

    def forget(self, keys: Iterable[str]) -> None:
        """Delete what is under these keys; what cannot be deleted now is not read any more."""
        if self.path.exists():
            self._forgotten |= set(keys)
            self._forgiven(self._delete_forgotten)

    def keys_of(self, concerns: Callable[[CacheEntry], bool]) -> list[str]:
        """The keys of the entries that something concerns."""
        found = self._forgiven(lambda: [entry for _, entry in self.entries() if entry])
        return [entry.key for entry in found or () if concerns(entry)]

    def entries(self) -> Iterator[tuple[str, CacheEntry | None]]:
        """Every row by its name, and its entry; ``None`` if it holds none that was written here.

        A row whose time is over is deleted, as the next writes would.

        Raises:
            sqlite3.Error: the file cannot be read; or whatever else a damaged one comes to.
        """
        if self.path.exists():
            for row in self._opened().names():
                try:
                    entry = self._entry(row)
                except ValueError:
                    entry = None
                yield str(row), entry if entry and _row(entry.key) == row else None

    def clear(self) -> None:
        """Delete every entry; a file that is damaged goes as a whole.

        Raises:
            sqlite3.Error: the file cannot be written now, so that they may still be there.
            OSError: likewise.
        """
        if not self.path.exists():
            return
        try:
            self._opened().clear()
        except Exception as error:  # as in _forgiven
            if is_passing(error):
                raise
            self._remove()

    def close(self) -> None:
        """Close the file; used again it is opened again."""
        if self._rows is not None:
            self._forgiven(self._rows.write_uses)
        self._shut()

    def _whole(self, row: str, key: str) -> CacheEntry | None:
        """The entry of a row; a row that holds something else is deleted."""
        try:
            entry = self._entry(row)
            if entry is None or entry.key == key:
                return entry
        except ValueError:
            pass
        _LOGGER.warning("a row of the cache holds no entry that was written there; it is deleted")
        self._opened().delete(row)
        return None

    def _entry(self, row: str) -> CacheEntry | None:
        data = self._opened().get(row)
        return None if data is None else entry_from_bytes(data)

    def _delete_forgotten(self) -> None:
        for key in sorted(self._forgotten):
            self._opened().delete(_row(key))
            self._forgotten.discard(key)

    def _forgiven(self, action: Callable[[], ResultT]) -> ResultT | None:
        """Whatever goes wrong with the file is one warning; what is damaged goes, the rest has time to pass."""
        if self._clock() < self._rests_until:
            return None
        try:
            return action()
        except Exception as error:  # on a damaged or planted table diskcache fails in any way
            _LOGGER.warning("the file of the cache failed; it is done without", exc_info=error)
            if is_passing(error):
                self._rests_until = self._clock() + _REST_S
            else:
                with suppress(OSError):
                    self._remove()
            return None

    def _opened(self) -> Rows:
        if self._rows is None:
            self._rows = open_rows(self.path.parent, limit_bytes=self._limit_bytes)
        return self._rows

    def _shut(self) -> None:
        rows, self._rows = self._rows, None
        if rows is not None:
            rows.close()

    def _remove(self) -> None:
        """Take the file away, with the log beside it, which would be read into the next one."""
        self._shut()
        for suffix in ("", "-wal", "-shm"):
            self.path.with_name(FILE + suffix).unlink(missing_ok=True)


def user_directory() -> Path:
    """The folder of this user for what can be built again."""
    caches = os.environ.get("XDG_CACHE_HOME", "")  # empty or relative counts as not set
    folder = Path(caches) if caches.startswith("/") else Path.home() / ".cache"
    return folder / "autogen-context"


def _row(key: str) -> str:
    """The name of a key's row: no key is too long or too odd for it."""
    return content_digest(key).hex()
