"""What is known of a tree: its files and their symbols, brought up to date by as little looking as possible.

Promise: after ``update`` the symbols are those of the files as they are, but for changes that a watch has not told yet of
files that were not asked about; nothing is read again that has not changed. Symbols go by content: a file that is moved,
or that a branch brings back, is taken from the cache.
"""

import asyncio
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

from autogen_context.project.builds import Builds
from autogen_context.project.language import Language, language_by_name
from autogen_context.project.source import Reason, Source, Stamp, read_source
from autogen_context.project.symbols import Symbols, symbols_of
from autogen_context.project.tree import Folder, TreeLimits, again, below, folder_of, touched_by

Progress = Callable[[int, int], object]

MOST_PARSED = 2_000  # source files of a tree that are read by grammar, some 4 ms each; of a larger one all by words
BATCH = 64  # files that are read before others have their turn
SCHEMA = 1  # of symbols in a cache


class Index:
    """The files of a tree and their symbols.

    Args:
        root: the folder, resolved.
        cache: keeps symbols by content.
        limits: how much is looked at.
        progress: is told how many files are read, of how many.
    """

    def __init__(
        self,
        root: Path,
        *,
        cache: Builds,
        limits: TreeLimits,
        progress: Progress | None = None,
    ) -> None:
        self.files: dict[str, Stamp] = {}
        self.symbols: dict[str, Symbols] = {}
        self.shape = 0  # another number once files came or went
        self.version = 0  # another number once symbols were read
        self._root = root
        self._cache = cache
        self._limits = limits
        self._progress = progress
        self._folders: dict[str, Folder] = {}
        self._read: dict[str, tuple[Stamp, bytes]] = {}
        self._unread: dict[str, Reason] = {}
        self._due: set[str] = set()
        self._before: dict[str, Symbols | None] = {}
        self._grammar: bool | None = None
        self._counts: Mapping[Reason, int] = {}

    @property
    def left_out(self) -> Mapping[str, Reason]:
        """What was seen and is not read, and why."""
        found: dict[str, Reason] = {**self._unread}
        for folder in self._folders.values():
            found |= folder.left_out
        return found

    @property
    def counts_left_out(self) -> Mapping[Reason, int]:
        """How much was left out, by reason."""
        return self._counts

    def mark(self, before: Mapping[str, Symbols | None] | None = None) -> None:
        """Count changes from here on.

        Args:
            before: what files defined that have changed already; ``None`` of one that was not there.
        """
        self._before = dict(before or {})

    def changed(self) -> dict[str, tuple[Symbols | None, Symbols | None]]:
        """The source files whose symbols are not those at the mark: what they were, and are; ``None`` where there is no file."""
        pairs = {
            name: (before, self.symbols.get(name)) for name, before in sorted(self._before.items())
        }
        return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}

    async def update(
        self,
        *,
        heard: Iterable[Path] | None = None,
        placed: Collection[str] = (),
    ) -> None:
        """Look at what may have changed, and read what has.

        Args:
            heard: the paths that a watch told of since the last time; ``None`` to look at everything.
            placed: names of files to look at in any case.
        """
        seen, whole = await asyncio.to_thread(self._look, heard, placed)
        if seen:
            self._merge(seen, whole=whole)
        if self._due:
            await self._read_due()
        if seen:
            self._counts = Counter(self.left_out.values())

    def _merge(self, seen: Mapping[str, Folder], *, whole: bool) -> None:
        """Put what was seen in place of what was known; what has changed is due."""
        if whole:
            self._forget_all()
        for name, folder in seen.items():
            self._take(name, folder)
        self._drop_gone()
        if self._grammar is None:
            sources = sum(1 for name in self.files if language_by_name(name))
            self._grammar = sources <= MOST_PARSED
        self._due |= {
            name for folder in seen.values() for name in folder.files if self._is_stale(name)
        }

    def _look(
        self, heard: Iterable[Path] | None, placed: Collection[str]
    ) -> tuple[dict[str, Folder], bool]:
        """What is in the folders that may have changed, and whether these are all there are."""
        touched = None if heard is None else touched_by(self._root, heard)
        if touched is None or not self._folders:
            return below(self._root, limits=self._limits), True
        into, under = touched
        into |= {folder_of(name) for name in placed if not self._is_as_seen(name)}
        seen = again(self._root, into, most_bytes=self._limits.file_bytes)
        for name, folder in list(seen.items()):
            known = self._folders.get(name, Folder()).folders
            new = {inner for inner in folder.folders if inner not in known or inner in under}
            for inner in sorted(new):
                seen |= below(self._root, inner, limits=self._beside(inner))
        return seen, False

    def _beside(self, folder: str) -> TreeLimits:
        """The limits, where all files but those of a folder count already."""
        others = sum(1 for name in self.files if not name.startswith(f"{folder}/"))
        return TreeLimits(
            files=max(0, self._limits.files - others), file_bytes=self._limits.file_bytes
        )

    def _is_as_seen(self, name: str) -> bool:
        """Whether a file has the stamp it was seen with last."""
        seen = self.files.get(name)
        try:
            now = os.lstat(f"{self._root}/{name}")  # a Path takes longer than the system
        except OSError:
            return seen is None
        return seen is not None and seen.is_of(now)

    def _forget_all(self) -> None:
        self._folders, self.files = {}, {}
        self.shape += 1

    def _take(self, name: str, folder: Folder) -> None:
        """Put what was seen of a folder in place of what was known of it."""
        known = self._folders.get(name, Folder())
        self.shape += known.files.keys() != folder.files.keys()
        for file in known.files:
            self.files.pop(file, None)
        for inner in set(known.folders) - set(folder.folders):
            self._drop_folder(inner)
        self._folders[name] = folder
        self.files |= folder.files

    def _drop_folder(self, name: str) -> None:
        """Forget a folder that is gone, and what was below it."""
        folder = self._folders.pop(name, Folder())
        self.shape += 1
        for file in folder.files:
            self.files.pop(file, None)
        for inner in folder.folders:
            self._drop_folder(inner)

    def _drop_gone(self) -> None:
        """Forget what was read of files that are gone."""
        for name in self._read.keys() - self.files.keys():
            del self._read[name]
            self._put(name, None)
        self._unread = {name: why for name, why in self._unread.items() if name in self.files}
        self._due &= self.files.keys()

    def _is_stale(self, name: str) -> bool:
        """Whether a source file has to be read."""
        if language_by_name(name) is None:
            return False
        known = self._read.get(name)
        return known is None or not known[0].holds(self.files[name])

    async def _read_due(self) -> None:
        """Read what is due, some files at a time; what was read stays read if this is cancelled."""
        due = sorted(self._due)
        for start in range(0, len(due), BATCH):
            names = due[start : start + BATCH]
            for name, found in await asyncio.to_thread(self._sources, names):
                await self._take_source(name, found)
                self._due.discard(name)
            if self._progress is not None:
                self._progress(start + len(names), len(due))

    def _sources(self, names: Sequence[str]) -> list[tuple[str, Source | Reason]]:
        most = self._limits.file_bytes
        return [(name, read_source(self._root, name, most_bytes=most)) for name in names]

    async def _take_source(self, name: str, found: Source | Reason) -> None:
        """Keep the symbols of a file, or why it has none."""
        self._unread.pop(name, None)
        language = language_by_name(name)
        if not isinstance(found, Source) or language is None:
            self._read.pop(name, None)
            self._put(name, None)
            if isinstance(found, str):
                self._unread[name] = found
            return
        if self._read.get(name, (None, b""))[1] != found.digest:
            self._put(name, await self._symbols(found, language))
        self._read[name] = found.stamp, found.digest

    async def _symbols(self, source: Source, language: Language) -> Symbols:
        """The symbols of a text, from the cache where it has them."""
        how = language if self._grammar else language.without_grammar()

        def read() -> Symbols:
            return symbols_of(source.text, how)

        def build() -> str:
            return read().to_json()

        key = f"symbols-{SCHEMA}/{how.key}/{source.digest.hex()}"
        try:
            return Symbols.from_json(await self._cache.get_or_build(key, build, depends_on=()))
        except ValueError:  # whoever shares the cache put something else there
            return await asyncio.to_thread(read)

    def _put(self, name: str, symbols: Symbols | None) -> None:
        """Set the symbols of a file; what they were at the mark is remembered."""
        self.version += 1
        before = self.symbols.pop(name, None)
        self._before.setdefault(name, before)
        if symbols is not None:
            self.symbols[name] = symbols
