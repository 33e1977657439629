"""The files of a folder and what they say, brought up to date by as little looking as possible.

Promise: after ``update`` all is as the files are, but for changes that a watch has not told yet of files that were not
asked about. What was read goes by content, so that a file that is moved, or that a branch brings back, is taken from the
cache. Nothing outside the folder is read, no pipe is opened, no secret is kept.
"""

import asyncio
import errno
import logging
import os
import stat
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from threading import Lock
from time import time_ns
from typing import Protocol, TypeVar

from pydantic import TypeAdapter

from autogen_context.cache.files import RULES_FILE, levels, read_regular
from autogen_context.messages.message import content_digest
from autogen_context.project.documents import (
    PAPERS,
    Document,
    Paper,
    papers_of,
    read_document,
)
from autogen_context.project.secrets import without_secrets
from autogen_context.project.symbols import Language, Symbols, language_by_name, symbols_of

Builder = Callable[[], str]  # called in a thread
Papers = Mapping[Paper, tuple[Document, ...]]
Shape = TypeVar("Shape")

MOST_BYTES = 1024 * 1024  # of one file
BINARY_BYTES = 8_192  # from the beginning; a zero among them is of no text
SETTLED_NS = 2_000_000_000  # the coarsest clock of a file system; a younger file may change under the same stamp
MOST_PARSED = 2_000  # source files of a tree that are read by grammar, some 4 ms each; of a larger one all by words
MOST_HEARD = 256  # paths that are held; of more everything is looked at
MOST_BUILDS = 50_000  # in memory; the symbols of a file are a kilobyte or two
BATCH = 64  # files that are read before others have their turn
SCHEMA = 3  # of what is in a cache
SYMBOLS = TypeAdapter(Symbols)
DOCUMENT = TypeAdapter(Document)

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
    """What a file system says of a file; a file that was changed has another one, once it is settled.

    Attributes:
        identity: size in bytes, when its content was changed last (programs can set that), when anything of it was
            (programs cannot), device and inode.
        settled: whether it was old enough, when this was taken, that any later change shows.
    """

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
    fits = stat.S_ISREG(found.st_mode) and found.st_size <= MOST_BYTES and name.isprintable()
    return Stamp.of(found) if fits else None


def files_below(root: Path, most_files: int) -> dict[str, Stamp]:
    """The files of a tree that git does not ignore, by their names from the root; what lies deepest is left out.

    A name that cannot stand on a line of text (control characters, bytes that are no characters) is left out as well.
    """
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
    if path.resolve() != path or not path.is_relative_to(
        root
    ):  # by now: a folder may have become a link
        raise PermissionError(errno.EPERM, "it leads out of the project")
    if b"\0" in data[:BINARY_BYTES]:
        raise OSError(errno.EINVAL, "binary")
    text = data.decode("utf-8-sig", errors="replace").replace("\r\n", "\n")
    return text, content_digest(data)


class Hearing:
    """What a watch told of one tree since it was asked last. Where it does not cover all of it, everything is looked at."""

    def __init__(self, root: Path, watch: Watches | None) -> None:
        self._root = root
        self._watch = watch
        self._lock = Lock()
        self._paths: set[Path] | None = None
        self._leave: Callable[[], None] | None = None

    async def start(self) -> None:
        """Begin to listen; once is enough."""
        if self._watch is None or self._leave is not None:
            return
        self._leave = self._watch.listen(self.hear)
        try:
            await asyncio.to_thread(self._watch.follow, self._root)
        except (OSError, RuntimeError, ValueError) as error:
            message = "a project cannot be watched; all its files are looked at"
            _LOGGER.warning(message, exc_info=error)

    def stop(self) -> None:
        """Listen no more."""
        if self._leave is not None:
            self._leave()

    def take(self) -> set[Path] | None:
        """The paths told since the last time; ``None`` where everything has to be looked at."""
        covered = self._watch is not None and self._watch.covers(self._root)
        with self._lock:
            paths, self._paths = self._paths, set() if covered else None
        return paths if covered else None

    def hear(self, paths: Collection[Path] | None) -> None:
        """Hold paths that were told, or were taken and could not be dealt with; ``None`` stands for everything."""
        with self._lock:
            held = None if paths is None or self._paths is None else {*self._paths, *paths}
            self._paths = None if held is None or len(held) > MOST_HEARD else held


class Index:
    """The files of a tree, the symbols of its sources and its documents.

    Attributes:
        files: all of them, with their stamps.
        symbols: of the source files.
        version: another number once symbols or documents have changed.
        hearing: what a watch told.
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
        self.hearing = Hearing(root, watch)
        self._root = root
        self._cache = cache
        self._most_files = most_files
        self._read: dict[str, tuple[Stamp, bytes]] = {}  # stamp before, digest; none without text
        self._names: dict[Paper, tuple[str, ...]] = {}
        self._papers: Mapping[str, list[Paper]] = {}  # the kinds of each document
        self._documents: dict[tuple[Paper, str], Document] = {}
        self._due: set[str] = set()
        self._by_grammar: bool | None = None

    @property
    def papers(self) -> Papers:
        """The documents of each kind, the more important first."""
        return {
            paper: tuple(
                self._documents[paper, name] for name in names if (paper, name) in self._documents
            )
            for paper, names in self._names.items()
        }

    async def update(self, *, placed: Collection[str] = ()) -> None:
        """Look at what may have changed, and read what has.

        Args:
            placed: names of files to look at in any case, beside the documents.
        """
        await self.hearing.start()
        heard, done = self.hearing.take(), False
        try:
            files, seen = await asyncio.to_thread(self._look, heard, {*placed, *self._papers})
            if files.keys() != self.files.keys():
                self._take_names(files)
            self.files = files
            self._due |= {name for name in seen if self._is_stale(name)}
            await self._read_due()
            done = True
        finally:
            if not done:
                self.hearing.hear(heard)

    def _look(
        self, heard: set[Path] | None, named: set[str]
    ) -> tuple[dict[str, Stamp], Collection[str]]:
        """The files by now, and which were looked at: what is named and was heard of where that is enough, else all."""
        known = self.files
        everything = heard is None or not known
        for path in heard or ():
            if not path.is_relative_to(self._root):
                everything |= self._root.is_relative_to(path)
                continue
            name = path.relative_to(self._root).as_posix()
            if name in known and os.path.realpath(path) == str(path):
                named.add(name)
            elif path.name == RULES_FILE or os.path.lexists(path):
                everything = True
            else:
                everything |= any(each.startswith(f"{name}/") for each in known)
        found = {} if everything else {name: stamp_of(self._root, name) for name in named}
        if everything or any((now is None) != (name not in known) for name, now in found.items()):
            files = files_below(self._root, self._most_files)
            return files, files
        changed = {name: now for name, now in found.items() if now and not known[name].holds(now)}
        return {**known, **changed} if changed else known, changed

    def _take_names(self, files: Collection[str]) -> None:
        """Forget what was read of files that are gone; see which files are documents now."""
        for name in self._read.keys() - files:
            del self._read[name]
            self._put(name, None, {})
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
        """Keep what a file says."""
        before = self._read.get(name)
        if before is None or before[1] != digest:
            symbols: Symbols | None = None
            language = language_by_name(name)
            if digest and language is not None:
                read = language if self._by_grammar else Language(language.family)
                key = f"{'-'.join(read.grammar or ())}/{digest.hex()}"
                symbols = await self._built(
                    f"symbols-{SCHEMA}/{read.family}/{key}",
                    SYMBOLS,
                    lambda: symbols_of(without_secrets(text), read),
                )
            documents: dict[Paper, Document] = {}
            for paper in self._papers.get(name, ()) if digest else ():
                key = f"document-{SCHEMA}/{paper}/{name}/{digest.hex()}"
                make = partial(read_document, paper, name, text)
                documents[paper] = await self._built(key, DOCUMENT, make)
            self._put(name, symbols, documents)
        self._read[name] = self.files[name], digest

    def _put(self, name: str, symbols: Symbols | None, documents: Mapping[Paper, Document]) -> None:
        """Set what is known of a file."""
        self.version += 1
        self.symbols.pop(name, None)
        if symbols is not None:
            self.symbols[name] = symbols
        for paper in PAPERS:
            self._documents.pop((paper, name), None)
        self._documents |= {(paper, name): document for paper, document in documents.items()}

    async def _built(self, key: str, shape: TypeAdapter[Shape], make: Callable[[], Shape]) -> Shape:
        """What is made of a text, from the cache where it has it."""
        kept = await self._cache.get_or_build(
            key, lambda: shape.dump_json(make()).decode(), depends_on=()
        )
        try:
            return shape.validate_json(kept)
        except ValueError:  # whoever shares the cache put something else there
            return await asyncio.to_thread(make)
