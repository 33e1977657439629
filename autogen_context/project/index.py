"""The files of a folder and what they say, brought up to date by as little reading as possible.

What was read is cached by content. Nothing outside the folder is read, no pipe is opened, no secret is kept.
"""

import asyncio
import errno
import os
import stat
from collections import OrderedDict
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
from autogen_context.project.documents import Document, Paper, papers_of, read_document
from autogen_context.project.secrets import without_secrets
from autogen_context.project.symbols import Language, Symbols, language_by_name, symbols_of

Builder = Callable[[], str]  # called in a thread
Papers = Mapping[Paper, tuple[Document, ...]]

MOST_BYTES = 1024 * 1024  # of one file
BINARY_BYTES = 8_192  # from the beginning; a zero among them is of no text
SETTLED_NS = 2_000_000_000  # the coarsest clock of a file system; a younger file may change under the same stamp
MOST_PARSED = 2_000  # source files of a tree that are read by grammar, some 4 ms each; of a larger one all by words
MOST_BUILDS = 50_000  # in memory; the symbols of a file are a kilobyte or two
BATCH = 64  # files that are read before others have their turn
SCHEMA = 4  # of what is in a cache


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

    def holds(self, now: "Stamp") -> bool:
        """Whether a file that had this stamp has the same content still, by its stamp of now."""
        return self.settled and self.identity == now.identity


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


def facts_of(name: str, text: str, language: Language | None, papers: Sequence[Paper]) -> Facts:
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
        papers: the documents of each kind, the more important first.
        version: another number once symbols or documents have changed.
    """

    def __init__(self, root: Path, *, cache: Builds, most_files: int) -> None:
        self.files: dict[str, Stamp] = {}
        self.symbols: dict[str, Symbols] = {}
        self.papers: Papers = {}
        self.version = 0
        self._root = root
        self._cache = cache
        self._most_files = most_files
        self._names: Mapping[Paper, tuple[str, ...]] = {}
        self._kinds: dict[str, list[Paper]] = {}  # of document that a file is; none of most
        self._drawn = -1  # the version that the papers are of
        self._read: dict[str, tuple[Stamp, bytes]] = {}  # stamp before, digest; none without text
        self._facts: dict[str, Facts] = {}
        self._by_grammar: bool | None = None

    async def update(self) -> None:
        """Look at all files, and read what may have changed, some at a time; what was read stays read if this is cancelled."""
        files = await asyncio.to_thread(files_below, self._root, self._most_files)
        if files.keys() != self.files.keys():
            self._take_names(files)
        self.files, known = files, self._read
        due = [
            name
            for name in sorted(files)
            if not (name in known and known[name][0].holds(files[name]))
            and (name in self._kinds or language_by_name(name) is not None)
        ]
        for start in range(0, len(due), BATCH):
            texts = await asyncio.to_thread(self._texts, due[start : start + BATCH])
            for name, text, digest in texts:
                await self._take(name, text, digest)
        if self._drawn != self.version:
            facts, self._drawn = self._facts, self.version
            self.papers = {
                paper: tuple(
                    facts[name].documents[paper]
                    for name in names
                    if paper in facts.get(name, NOTHING).documents
                )
                for paper, names in self._names.items()
            }

    def _take_names(self, files: Collection[str]) -> None:
        """See which files are documents now, and forget what was read of those that are gone or are others."""
        self._names = papers_of(files)
        kinds: dict[str, list[Paper]] = {}
        for paper, names in self._names.items():
            for name in names:
                kinds.setdefault(name, []).append(paper)
        if self._by_grammar is None:
            sources = sum(language_by_name(name) is not None for name in files)
            self._by_grammar = sources <= MOST_PARSED
        for name in list(self._read):
            if name not in files or kinds.get(name) != self._kinds.get(name):
                del self._read[name]
                self._put(name, NOTHING)
        self._kinds = kinds

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
        if name not in self._read or self._read[name][1] != digest:
            language, papers = language_by_name(name), self._kinds.get(name, [])
            if language is not None and not self._by_grammar:
                language = Language(language.family)
            facts = NOTHING
            if digest:
                means = f"{'-'.join(papers)}/{name if papers else language}"
                key = f"project-{SCHEMA}/{means}/{digest.hex()}"
                facts = await self._built(key, partial(facts_of, name, text, language, papers))
            self._put(name, facts)
        self._read[name] = self.files[name], digest

    def _put(self, name: str, facts: Facts) -> None:
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
