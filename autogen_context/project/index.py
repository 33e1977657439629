"""The files of a folder and what they say, brought up to date by as little reading as possible.

After ``update`` all is as the files are, but for changes that a watch has not told yet of files that were not asked about.
What was read is cached by content. Nothing outside the folder is read, no pipe is opened, no secret is kept.
"""

import asyncio
import errno
import logging
import os
import stat
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from time import time_ns
from typing import Protocol

from pydantic import TypeAdapter

from autogen_context.cache.files import levels, read_regular
from autogen_context.messages.message import content_digest
from autogen_context.project.documents import (
    PAPERS,
    Document,
    Paper,
    papers_of,
    read_document,
)
from autogen_context.project.secrets import without_secrets
from autogen_context.project.symbols import (
    Definition,
    Language,
    Symbols,
    language_by_name,
    symbols_of,
)

Builder = Callable[[], str]  # called in a thread
Papers = Mapping[Paper, tuple[Document, ...]]

MOST_BYTES = 1024 * 1024  # of one file
BINARY_BYTES = 8_192  # from the beginning; a zero among them is of no text
SETTLED_NS = 2_000_000_000  # the coarsest clock of a file system; a younger file may change under the same stamp
MOST_PARSED = 2_000  # source files of a tree that are read by grammar, some 4 ms each; of a larger one all by words
MOST_BUILDS = 50_000  # in memory; the symbols of a file are a kilobyte or two
BATCH = 64  # files that are read before others have their turn
SCHEMA = 3  # of what is in a cache

_LOGGER = logging.getLogger(__name__)


class Builds(Protocol):
    """Keeps what was built; a ``ContextCache`` does."""

    async def get_or_build(self, key: str, builder: Builder, *, depends_on: Sequence[Path]) -> str:
        """What is kept under a key, built where it is not there; the keys of a project name contents."""
        ...


class Kept:
    """Keeps in memory, the least recently used go."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, str] = OrderedDict()

    async def get_or_build(self, key: str, builder: Builder, *, depends_on: Sequence[Path]) -> str:  # noqa: ARG002 - a cache's
        """What is kept under a key."""
        if key not in self._kept:
            self._kept[key] = await asyncio.to_thread(builder)
            if len(self._kept) > MOST_BUILDS:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]


class Watches(Protocol):
    """Tells of changed files; a ``FileWatch`` does."""

    def follow(self, root: Path) -> None:
        """Begin to follow a folder."""
        ...

    def listen(self, heard: Callable[[Collection[Path]], None]) -> Callable[[], None]:
        """Tell of changes, in any thread; a path stands for all below it. Returns what ends that."""
        ...

    def covers(self, path: Path, /) -> bool:
        """Whether each change of a path is learned of at once."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """What a file system says of a file: size, the times of change, device and inode; settled once any later change shows."""

    identity: tuple[int, ...]
    settled: bool

    @classmethod
    def of(cls, found: os.stat_result) -> "Stamp":
        """The stamp in what the system answers."""
        times = (found.st_mtime_ns, found.st_ctime_ns)
        identity = (found.st_size, *times, found.st_dev, found.st_ino)
        return cls(identity=identity, settled=time_ns() - max(times) > SETTLED_NS)

    def holds(self, now: "Stamp | None") -> bool:
        """Whether a file that had this stamp has the same content still, by its stamp of now."""
        return self.settled and now is not None and self.identity == now.identity


def stamp_of(root: Path, name: str) -> Stamp | None:
    """The stamp of a regular file of the tree; ``None`` where there is none."""
    try:
        found = os.lstat(f"{root}/{name}")  # a Path takes longer than the system
    except (OSError, ValueError):
        return None
    fits = stat.S_ISREG(found.st_mode) and found.st_size <= MOST_BYTES
    is_one_line = name.isprintable()  # no control characters, no bytes that are no characters
    return Stamp.of(found) if fits and is_one_line else None


def files_below(root: Path, most_files: int) -> dict[str, Stamp]:
    """The files of a tree that git does not ignore, by their names from the root; what lies deepest is left out."""
    if os.path.realpath(root) != str(root) or not root.is_dir():
        return {}
    entries = (entry for found in levels(str(root)) for entry in found.files)
    names = (entry.path[len(str(root)) + 1 :] for entry in entries)
    stamps = ((name, stamp_of(root, name)) for name in names)
    return dict(islice(((name, stamp) for name, stamp in stamps if stamp is not None), most_files))


def read_text(root: Path, name: str) -> tuple[str, bytes]:
    """The text of a file and a digest of its bytes.

    Raises:
        OSError: it is no regular file, too large, binary, or leads out of the root.
    """
    path = root / name
    data = read_regular(path, most_bytes=MOST_BYTES)
    if path.resolve() != path or not path.is_relative_to(root):  # a folder has become a link
        raise PermissionError(errno.EPERM, "it leads out of the project")
    if b"\0" in data[:BINARY_BYTES]:
        raise OSError(errno.EINVAL, "binary")
    text = data.decode("utf-8-sig", errors="replace").replace("\r\n", "\n")
    return text, content_digest(data)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a file says: what a source defines and uses, and the documents that it is."""

    symbols: Symbols | None = None
    documents: Mapping[Paper, Document] = field(default_factory=dict[Paper, Document])


FACTS = TypeAdapter(Facts)
NOTHING = Facts()


def facts_of(name: str, text: str, language: Language | None, papers: Collection[Paper]) -> Facts:
    """What a text says, without secrets."""
    bare = without_secrets(text)
    return Facts(
        symbols=symbols_of(bare, language) if language else None,
        documents={paper: read_document(paper, name, bare) for paper in papers},
    )


class Index:
    """The files of a tree, the symbols of its sources and its documents.

    Attributes:
        files: all of them, with their stamps.
        symbols: of the source files.
        version: another number once symbols or documents have changed.
    """

    def __init__(
        self,
        root: Path,
        *,
        cache: Builds,
        watch: Watches | None = None,
        most_files: int,
    ) -> None:
        self.files: dict[str, Stamp] = {}
        self.symbols: dict[str, Symbols] = {}
        self.version = 0
        self._root = root
        self._watch = watch
        self._leave: Callable[[], None] | None = None
        self._is_quiet = (
            False  # whether a watch covers the tree and has told of nothing since it was looked at
        )
        self._cache = cache
        self._most_files = most_files
        self._read: dict[str, tuple[Stamp, bytes]] = {}  # stamp before, digest; none without text
        self._names: dict[Paper, tuple[str, ...]] = {}
        self._papers: Mapping[str, list[Paper]] = {}  # the kinds of each document
        self._facts: dict[str, Facts] = {}
        self._due: set[str] = set()
        self._by_grammar: bool | None = None

    @property
    def definitions(self) -> dict[str, tuple[Definition, ...]]:
        """What the source files define."""
        return {name: each.definitions for name, each in self.symbols.items()}

    @property
    def papers(self) -> Papers:
        """The documents of each kind, the more important first."""
        found: dict[Paper, tuple[Document, ...]] = {}
        for paper in PAPERS:
            facts = (self._facts.get(name, NOTHING) for name in self._names.get(paper, ()))
            found[paper] = tuple(each.documents[paper] for each in facts if paper in each.documents)
        return found

    async def update(self, *, placed: Collection[str] = ()) -> None:
        """Look at what may have changed, and read what has.

        Args:
            placed: names of files to look at in any case, beside the documents.
        """
        await self._listen()
        is_covered = self._watch is not None and self._watch.covers(self._root)
        is_quiet, self._is_quiet = self._is_quiet and is_covered, is_covered
        done = False
        try:
            named = {*placed, *self._papers}
            files = await asyncio.to_thread(self._look, named, is_quiet=is_quiet)
            if files is not self.files:
                if files.keys() != self.files.keys():
                    self._take_names(files)
                self.files = files
                self._due |= {name for name in files if self._is_stale(name)}
            await self._read_due()
            done = True
        finally:
            if not done:
                self._is_quiet = False

    async def _listen(self) -> None:
        """Begin to listen to the watch; once is enough."""
        if self._watch is None or self._leave is not None:
            return
        self._leave = self._watch.listen(self._hear)
        try:
            await asyncio.to_thread(self._watch.follow, self._root)
        except (OSError, RuntimeError, ValueError) as error:
            message = "a project cannot be watched; all its files are looked at"
            _LOGGER.warning(message, exc_info=error)

    def _hear(self, _paths: Collection[Path]) -> None:
        self._is_quiet = False

    def close(self) -> None:
        """Listen to the watch no more."""
        if self._leave is not None:
            self._leave()

    def _look(self, named: Collection[str], *, is_quiet: bool) -> dict[str, Stamp]:
        """The files by now; where a watch told of nothing, and what is named is as it was, those that are known."""
        if is_quiet and all(self._is_as_it_was(name) for name in named):
            return self.files
        return files_below(self._root, self._most_files)

    def _is_as_it_was(self, name: str) -> bool:
        known, now = self.files.get(name), stamp_of(self._root, name)
        return now is None if known is None else known.holds(now)

    def _take_names(self, files: Collection[str]) -> None:
        """Forget what was read of files that are gone; see which files are documents now."""
        for name in self._read.keys() - files:
            del self._read[name]
            self._put(name, NOTHING)
            del self._facts[name]
        self._due &= set(files)
        if self._by_grammar is None:
            sources = sum(language_by_name(name) is not None for name in files)
            self._by_grammar = sources <= MOST_PARSED
        self._names = papers_of(files)
        before, papers = self._papers, defaultdict[str, list[Paper]](list)
        for paper, names in self._names.items():
            for name in names:
                papers[name].append(paper)
        self._papers = papers
        for name in papers:
            if papers[name] != before.get(name):
                self._read.pop(name, None)
                self._due.add(name)

    def _is_stale(self, name: str) -> bool:
        """Whether a file has to be read."""
        if language_by_name(name) is None and name not in self._papers:
            return False
        known = self._read.get(name)
        return known is None or not known[0].holds(self.files[name])

    async def _read_due(self) -> None:
        """Read what is due, some files at a time; what was read stays read if this is cancelled."""
        while self._due:
            names = sorted(self._due)[:BATCH]
            for name, text, digest in await asyncio.to_thread(self._texts, names):
                await self._take(name, text, digest)
                self._due.discard(name)

    def _texts(self, names: Sequence[str]) -> list[tuple[str, str, bytes]]:
        """The texts of files with their digests; of one that cannot be read both are empty."""
        found: list[tuple[str, str, bytes]] = []
        for name in names:
            try:
                found.append((name, *read_text(self._root, name)))
            except (OSError, RuntimeError):
                found.append((name, "", b""))
        return found

    async def _take(self, name: str, text: str, digest: bytes) -> None:
        """Keep what a file says; the cache knows it by its content, and by its name where that says how to read it."""
        before = self._read.get(name)
        if before is None or before[1] != digest:
            language, papers = language_by_name(name), self._papers.get(name, [])
            if language is not None and not self._by_grammar:
                language = Language(language.family)
            make = partial(facts_of, name, text, language, papers)
            facts = NOTHING
            if digest:
                means = f"{'-'.join(papers)}/{name if papers else language}"
                facts = await self._built(f"project-{SCHEMA}/{means}/{digest.hex()}", make)
            self._put(name, facts)
        self._read[name] = self.files[name], digest

    def _put(self, name: str, facts: Facts) -> None:
        """Set what is known of a file."""
        self.version += 1
        self._facts[name] = facts
        self.symbols.pop(name, None)
        if facts.symbols is not None:
            self.symbols[name] = facts.symbols

    async def _built(self, key: str, make: Callable[[], Facts]) -> Facts:
        """What is made of a text, from the cache where it has it."""
        kept = await self._cache.get_or_build(
            key, lambda: FACTS.dump_json(make()).decode(), depends_on=()
        )
        try:
            return FACTS.validate_json(kept)
        except ValueError:  # whoever shares the cache put something else there
            return await asyncio.to_thread(make)
