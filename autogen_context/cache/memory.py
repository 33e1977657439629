"""The entries of a cache that were used last, in memory.

Promise: never more entries, nor more bytes, than the limits say; what goes is what was not asked for the longest, however
often it was before. Any thread may call it.
"""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

from autogen_context.cache.entry import CacheEntry


class CacheMemory:
    """Entries by key, least recently used first.

    Args:
        entries: how many there may be.
        limit_bytes: what they may take together.
    """

    def __init__(self, *, entries: int, limit_bytes: int) -> None:
        self._most_entries = entries
        self._limit_bytes = limit_bytes
        self._entries: OrderedDict[str, CacheEntry] = OrderedDict()
        self._lock = Lock()
        self.held_bytes = 0

    def __len__(self) -> int:
        """How many entries there are."""
        return len(self._entries)

    def read(self, key: str) -> CacheEntry | None:
        """The entry under a key, which is the most recently used one then."""
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
            return self._entries.get(key)

    def write(self, entry: CacheEntry) -> None:
        """Keep an entry, in place of the one under its key; one that is larger than the room is not kept."""
        with self._lock:
            self._remove(entry.key)
            if entry.size_bytes > self._limit_bytes:
                return
            self._entries[entry.key] = entry
            self.held_bytes += entry.size_bytes
            while len(self._entries) > self._most_entries or self.held_bytes > self._limit_bytes:
                self._remove(next(iter(self._entries)))

    def replace(self, old: CacheEntry, new: CacheEntry) -> None:
        """Keep an entry in place of the one that is there, if that is still ``old``."""
        with self._lock:
            if self._entries.get(old.key) is old:
                self._entries[old.key] = new
                self.held_bytes += new.size_bytes - old.size_bytes

    def forget(self, concerns: Callable[[CacheEntry], bool]) -> list[str]:
        """Drop the entries that something concerns; their keys."""
        with self._lock:
            keys = self._keys_of(concerns)
            for key in keys:
                self._remove(key)
            return keys

    def keys_of(self, concerns: Callable[[CacheEntry], bool]) -> list[str]:
        """The keys of the entries that something concerns."""
        with self._lock:
            return self._keys_of(concerns)

    def _keys_of(self, concerns: Callable[[CacheEntry], bool]) -> list[str]:
        return [entry.key for entry in self._entries.values() if concerns(entry)]

    def _remove(self, key: str) -> None:
        entry = self._entries.pop(key, None)
        self.held_bytes -= entry.size_bytes if entry else 0
