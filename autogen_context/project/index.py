"""What the files of a folder say: the symbols of its sources and its documents, brought up to date by as little looking as possible.

Promise: after ``update`` all is as the files are, but for changes that a watch has not told yet of files that were not
asked about; nothing is read again that has not changed, and what was told and could not be dealt with is told again. What
was read goes by content: a file that is moved, or that a branch brings back, is taken from the cache. No secret of a file
is kept, in the cache or here.
"""

import asyncio
import logging
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Protocol, TypeVar

from pydantic import TypeAdapter

from autogen_context.project.builds import Builds
from autogen_context.project.documents import Paper, papers_of, read_document
from autogen_context.project.pieces import Document
from autogen_context.project.secrets import without_secrets
from autogen_context.project.symbols import Language, Symbols, language_by_name, symbols_of
from autogen_context.project.tree import (
    ROOT,
    Folder,
    Reason,
    Source,
    Stamp,
    folder_of,
    is_below,
    look,
    read_source,
    touched_by,
)

Progress = Callable[[int, int], object]
Papers = Mapping[Paper, tuple[Document, ...]]
Shape = TypeVar("Shape")

MOST_PARSED = 2_000  # source files of a tree that are read by grammar, some 4 ms each; of a larger one all by words
MOST_HEARD = 4_096  # paths that are held; of more everything is looked at
BATCH = 64  # files that are read before others have their turn
SCHEMA = 2  # of what is in a cache
SYMBOLS = TypeAdapter(Symbols)
DOCUMENT = TypeAdapter(Document)

_LOGGER = logging.getLogger(__name__)


class Watches(Protocol):
    """Tells of changed files; a ``FileWatch`` does."""

    @property
    def is_alive(self) -> bool:
        """Whether it tells."""
        ...

    def follow(self, root: Path) -> None:
        """Begin to follow a folder."""
        ...

    def listen(self, heard: Callable[[Collection[Path]], None]) -> Callable[[], None]:
        """Tell of changes, in any thread; a path stands for all below it. Returns what ends that."""
        ...

    def covers(self, path: Path, /) -> bool:
        """Whether each change of a path is learned of at once."""
        ...


class Hearing:
    """What a watch told of one tree since it was asked last. Where it does not cover all of it, everything is looked at.

    Args:
        root: the folder, resolved.
        watch: tells of changes; without one everything has to be looked at each time.
    """

    def __init__(self, root: Path, watch: Watches | None) -> None:
        self._root = root
        self._watch = watch
        self._lock = Lock()
        self._paths: set[Path] = set()
        self._lost = True
        self._leave: Callable[[], None] | None = None

    async def start(self) -> None:
        """Begin to listen; once is enough."""
        if self._watch is None or self._leave is not None:
            return
        self._leave = self._watch.listen(self.hear)
        try:
            await asyncio.to_thread(self._watch.follow, self._root)
        except (OSError, RuntimeError, ValueError) as error:
            _LOGGER.warning(
                "a project cannot be watched; all its files are looked at", exc_info=error
            )

    def stop(self) -> None:
        """Listen no more."""
        if self._leave is not None:
            self._leave()

    def take(self) -> set[Path] | None:
        """The paths told since the last time; ``None`` where everything has to be looked at."""
        covered = self._watch is not None and self._watch.covers(self._root)
        with self._lock:
            paths, lost = self._paths, self._lost or not covered
            self._paths, self._lost = set(), not covered
        return None if lost else paths

    def hear(self, paths: Collection[Path] | None) -> None:
        """Hold paths that were told, or were taken and could not be dealt with; ``None`` stands for everything."""
        with self._lock:
            self._paths.update(paths or ())
            if paths is None or len(self._paths) > MOST_HEARD:
                self._paths, self._lost = set(), True


class Index:
    """The files of a tree, the symbols of its sources and its documents.

    Args:
        root: the folder, resolved.
        cache: keeps by content what was read.
        watch: tells of changes; without one all files are looked at each time.
        most_files: how many are looked at.
        progress: is told how many files are read, of how many.

    Attributes:
        files: all of them, with their stamps.
        symbols: of the source files.
        papers: the documents of each kind, the more important first.
        version: another number once symbols were read.
        left_out: how much was seen and is not read, by reason.
    """

    def __init__(
        self,
        root: Path,
        *,
        cache: Builds,
        watch: Watches | None = None,
        most_files: int,
        progress: Progress | None = None,
    ) -> None:
        self.files: dict[str, Stamp] = {}
        self.symbols: dict[str, Symbols] = {}
        self.papers: Papers = {}
        self.version = 0
        self.left_out: Mapping[Reason, int] = {}
        self.hearing = Hearing(root, watch)
        self._root = root
        self._cache = cache
        self._most_files = most_files
        self._progress = progress
        self._folders: dict[str, Folder] = {}
        self._read: dict[str, tuple[Stamp, bytes]] = {}  # what each file held when it was read
        self._unread: dict[str, Reason] = {}
        self._due: set[str] = set()
        self._names: dict[Paper, tuple[str, ...]] = {}
        self._documents: dict[tuple[Paper, str], Document] = {}
        self._before: dict[str, Symbols | None] = {}
        self._by_grammar: bool | None = None

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

    async def update(self, *, placed: Iterable[str] = ()) -> None:
        """Look at what may have changed, and read what has.

        Args:
            placed: names of files to look at in any case, beside the documents.
        """
        await self.hearing.start()
        heard, done = self.hearing.take(), False
        try:
            names = {*placed, *(name for names in self._names.values() for name in names)}
            seen, whole = await asyncio.to_thread(self._look, heard, names)
            if seen:
                self._merge(seen, whole=whole)
            if self._due:
                await self._read_due()
            done = True
        finally:
            if not done:
                self.hearing.hear(heard)
        if seen:
            reasons: list[Reason] = [*self._unread.values()]
            for folder in self._folders.values():
                reasons += folder.left_out.values()
            self.left_out = Counter(reasons)

    def _look(self, heard: set[Path] | None, placed: set[str]) -> tuple[dict[str, Folder], bool]:
        """What is in the folders that may have changed, and whether these are all there are."""
        touched = None if heard is None else touched_by(self._root, heard)
        if touched is None or not self._folders:
            return look(self._root, [ROOT], most_files=self._most_files), True
        into, under = touched
        into |= {folder_of(name) for name in placed if not self._is_as_seen(name)}
        if not into:
            return {}, False
        known = {name for name in self._folders if not is_below(name, under)}
        others = sum(len(self._folders[name].files) for name in known - into)
        most = max(0, self._most_files - others)
        return look(self._root, into, known=known, most_files=most), False

    def _is_as_seen(self, name: str) -> bool:
        """Whether a file has the stamp it was seen with last."""
        seen = self.files.get(name)
        try:
            now = os.lstat(f"{self._root}/{name}")  # a Path takes longer than the system
        except OSError:
            return seen is None
        return seen is not None and seen.is_of(now)

    def _merge(self, seen: Mapping[str, Folder], *, whole: bool) -> None:
        """Put what was seen in place of what was known; what has changed is due."""
        before = self.files.keys() if whole else None
        if whole:
            self._folders, self.files = {}, {}
        came_or_went = False
        for name, folder in seen.items():
            known = self._folders.get(name, Folder())
            came_or_went |= known.files.keys() != folder.files.keys()
            for file in known.files:
                self.files.pop(file, None)
            for inner in set(known.folders) - set(folder.folders):
                came_or_went |= self._drop(inner)
            self._folders[name] = folder
            self.files |= folder.files
        if (before is None and came_or_went) or (
            before is not None and before != self.files.keys()
        ):
            self._names_changed()
        self._due |= {
            name for folder in seen.values() for name in folder.files if self._is_stale(name)
        }

    def _drop(self, name: str) -> bool:
        """Forget a folder that is gone, and what was below it; whether there was anything."""
        folder = self._folders.pop(name, None)
        if folder is None:
            return False
        for file in folder.files:
            self.files.pop(file, None)
        for inner in folder.folders:
            self._drop(inner)
        return True

    def _names_changed(self) -> None:
        """Forget what was read of files that are gone; see which files are documents now."""
        for name in self._read.keys() - self.files.keys():
            self._forget(name)
        self._unread = {name: why for name, why in self._unread.items() if name in self.files}
        self._due &= self.files.keys()
        if self._by_grammar is None:
            self._by_grammar = (
                sum(1 for name in self.files if language_by_name(name)) <= MOST_PARSED
            )
        names = papers_of(self.files)
        for paper, each in names.items():
            for name in set(each) - set(self._names.get(paper, ())):
                self._read.pop(name, None)
                self._due.add(name)
        self._names = names
        self._place()

    def _is_stale(self, name: str) -> bool:
        """Whether a file has to be read."""
        if language_by_name(name) is None and not self._papers_with(name):
            return False
        known = self._read.get(name)
        return known is None or not known[0].holds(self.files[name])

    def _papers_with(self, name: str) -> list[Paper]:
        return [paper for paper, names in self._names.items() if name in names]

    async def _read_due(self) -> None:
        """Read what is due, some files at a time; what was read stays read if this is cancelled."""
        due = sorted(self._due)
        for start in range(0, len(due), BATCH):
            names = due[start : start + BATCH]
            for name, found in await asyncio.to_thread(self._sources, names):
                await self._take(name, found)
                self._due.discard(name)
            if self._progress is not None:
                self._progress(start + len(names), len(due))
        self._place()

    def _sources(self, names: Sequence[str]) -> list[tuple[str, Source | Reason]]:
        return [(name, read_source(self._root, name)) for name in names]

    async def _take(self, name: str, found: Source | Reason) -> None:
        """Keep what a file says, or why it says nothing."""
        self._unread.pop(name, None)
        if not isinstance(found, Source):
            self._forget(name)
            self._unread[name] = found
            return
        if self._read.get(name, (None, b""))[1] != found.digest:
            language = language_by_name(name)
            if language is not None:
                self._put(name, await self._symbols(found, language))
            for paper in self._papers_with(name):
                self._documents[paper, name] = await self._document(paper, name, found)
        self._read[name] = found.stamp, found.digest

    def _forget(self, name: str) -> None:
        """A file says nothing any more."""
        self._read.pop(name, None)
        for paper in self._names:
            self._documents.pop((paper, name), None)
        if name in self.symbols:
            self._put(name, None)

    def _put(self, name: str, symbols: Symbols | None) -> None:
        """Set the symbols of a file; what they were at the mark is remembered."""
        self.version += 1
        self._before.setdefault(name, self.symbols.pop(name, None))
        if symbols is not None:
            self.symbols[name] = symbols

    def _place(self) -> None:
        """Put the documents in their order; a kind of which none has changed stays the same object."""
        papers: dict[Paper, tuple[Document, ...]] = {}
        for paper, names in self._names.items():
            found = (self._documents.get((paper, name)) for name in names)
            documents = tuple(each for each in found if each is not None)
            before = self.papers.get(paper)
            papers[paper] = before if before is not None and before == documents else documents
        self.papers = papers

    async def _symbols(self, source: Source, language: Language) -> Symbols:
        grammar = "-".join(language.grammar or ()) if self._by_grammar else ""
        read = language if self._by_grammar else Language(family=language.family)
        key = f"symbols-{SCHEMA}/{language.family}/{grammar}/{source.digest.hex()}"
        return await self._built(
            key, SYMBOLS, lambda: symbols_of(without_secrets(source.text), read)
        )

    async def _document(self, paper: Paper, name: str, source: Source) -> Document:
        key = f"document-{SCHEMA}/{paper}/{name}/{source.digest.hex()}"
        return await self._built(
            key, DOCUMENT, lambda: read_document(paper, name, without_secrets(source.text))
        )

    async def _built(self, key: str, shape: TypeAdapter[Shape], make: Callable[[], Shape]) -> Shape:
        """What is made of a text, from the cache where it has it."""
        kept = await self._cache.get_or_build(
            key, lambda: shape.dump_json(make()).decode(), depends_on=()
        )
        try:
            return shape.validate_json(kept)
        except ValueError:  # whoever shares the cache put something else there
            return await asyncio.to_thread(make)
