"""The files of a folder and what they say, brought up to date by as little reading as possible.

Promise: a file is not read again only where what the system says of it proves that it is the same. Nothing outside the
folder is read, no pipe is opened, no secret is kept. What was read is cached by content.
"""

import asyncio
import errno
import os
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from pathlib import Path
from time import time_ns
from typing import Protocol

from pydantic import TypeAdapter

from autogen_context.cache.files import RULES_FILE, levels, read_regular
from autogen_context.messages.message import content_digest
from autogen_context.project.documents import Document, Paper, papers_of, read_document
from autogen_context.project.secrets import without_secrets
from autogen_context.project.symbols import Language, Symbols, language_by_name, symbols_of

Builder = Callable[[], str]  # called in a thread
Papers = Mapping[Paper, tuple[Document, ...]]
Proof = tuple[int, ...]  # what the system said of a path; empty where that proves nothing

MOST_BYTES = 1024 * 1024  # of one file
BINARY_BYTES = 8_192  # from the beginning; a zero among them is of no text
SETTLED_NS = 2_000_000_000  # the coarsest clock of a file system
MOST_PARSED = 2_000  # source files of a tree that are read by grammar, some 4 ms each; of a larger one all by words
MOST_BUILDS = 50_000  # in memory; the symbols of a file are a kilobyte or two
BATCH = 64  # files that are read before others have their turn
SCHEMA = 4  # of what is in a cache

SAID = attrgetter("st_mtime_ns", "st_ctime_ns", "st_size", "st_mode", "st_dev", "st_ino")
GONE: Proof = (0, 0)


class Builds(Protocol):
    """Keeps what was built; a ``ContextCache`` does."""

    async def get_or_build(self, key: str, builder: Builder) -> str:
        """What is kept under a key, built where it is not there; the keys of a project name contents."""
        ...


class Kept:
    """Keeps in memory, the least recently used go."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, str] = OrderedDict()

    async def get_or_build(self, key: str, builder: Builder) -> str:
        """What is kept under a key."""
        if key not in self._kept:
            self._kept[key] = await asyncio.to_thread(builder)
            if len(self._kept) > MOST_BUILDS:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]


def changed(proofs: Mapping[str, Proof], *, now_ns: int | None = None) -> dict[str, Proof]:
    """The paths that may be others than they were, each with what proves from now on that it is the same.

    What was written within a tick of the clock can be written again and look the same: nothing proves it yet.
    """
    settled_ns = (now_ns or time_ns()) - SETTLED_NS
    found: dict[str, Proof] = {}
    for path, proof in proofs.items():
        try:
            now = SAID(os.stat(path))  # noqa: PTH116 - of thousands of files in a turn
        except (OSError, ValueError):
            now = GONE
        if now != proof:
            found[path] = now if max(now[0], now[1]) < settled_ns else ()
    return found


def files_below(root: Path, most_files: int) -> tuple[frozenset[str], dict[str, Proof]]:
    """The files of a tree that git does not ignore, by their names from the root, and what changes when names come or go.

    That are the folders and their rules. What lies deepest is left out; so are links, pipes, and names of several lines.
    """
    names: list[str] = []
    folders, begun_ns, start = [str(root)], time_ns(), len(str(root)) + 1
    if os.path.realpath(root) == str(root):  # else another folder has taken its place
        for listing in levels(str(root)):
            folders += [entry.path for entry in listing.folders]
            files = [each for each in listing.files if each.is_file(follow_symlinks=False)]
            names += [entry.path[start:] for entry in files if entry.path[start:].isprintable()]
            if len(names) >= most_files:
                break
    rules = [f"{folder}/{RULES_FILE}" for folder in folders]
    proofs = changed(dict.fromkeys([*folders, *rules], ()), now_ns=begun_ns)
    there = {path: proof for path, proof in proofs.items() if proof != GONE or path == str(root)}
    return frozenset(names[:most_files]), there


def read_text(root: Path, name: str) -> tuple[str, bytes]:
    """The text of a file and a digest of its bytes; ``OSError`` where it is no text, too large, or out of the root."""
    path = root / name
    data = read_regular(path, most_bytes=MOST_BYTES)
    if path.resolve() != path or not path.is_relative_to(root):  # a folder has become a link
        raise PermissionError(errno.EPERM, "it leads out of the project")
    if b"\0" in data[:BINARY_BYTES]:
        raise OSError(errno.EINVAL, "binary")
    text = data.decode("utf-8-sig", errors="replace").replace("\r\n", "\n")
    return text, content_digest(data)


def texts_of(root: Path, names: Sequence[str]) -> list[tuple[str, str, bytes]]:
    """The texts of files with their digests; of one that cannot be read both are empty."""
    found: list[tuple[str, str, bytes]] = []
    for name in names:
        try:
            found.append((name, *read_text(root, name)))
        except (OSError, RuntimeError):
            found.append((name, "", b""))
    return found


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
        files: the names of all of them.
        symbols: of the source files.
        papers: the documents of each kind, the more important first.
        version: another number once symbols or documents have changed.
    """

    def __init__(self, root: Path, *, cache: Builds, most_files: int) -> None:
        self.files = frozenset[str]()
        self.symbols: dict[str, Symbols] = {}
        self.papers: Papers = {}
        self.version = 0
        self._root = root
        self._cache = cache
        self._most_files = most_files
        self._names: dict[str, Proof] = {str(root): ()}  # what proves that these are the files
        self._texts: dict[str, Proof] = {}  # what proves that these are their texts, by path
        self._named: Mapping[Paper, tuple[str, ...]] = papers_of(())  # the files of the documents
        self._kinds: Mapping[str, list[Paper]] = {}  # the same the other way round
        self._read: dict[str, tuple[bytes, Facts]] = {}  # by digests; empty of what has no text
        self._by_grammar: bool | None = None
        self._drawn = -1  # the version that symbols and documents are of

    async def update(self) -> None:
        """Read what may have changed, some at a time; what was read stays read if this is cancelled."""
        if await asyncio.to_thread(changed, self._names):
            files, names = await asyncio.to_thread(files_below, self._root, self._most_files)
            if files != self.files:
                self._take_names(files)
            self._names = names
        due = list((await asyncio.to_thread(changed, self._texts.copy())).items())
        for at in range(0, len(due), BATCH):
            batch = {
                path[len(str(self._root)) + 1 :]: proof for path, proof in due[at : at + BATCH]
            }
            for name, text, digest in await asyncio.to_thread(texts_of, self._root, list(batch)):
                await self._take(name, text, digest)
                self._texts[f"{self._root}/{name}"] = batch[name]
        if self._drawn != self.version:
            self._drawn, read = self.version, self._read
            self.symbols = {
                name: facts.symbols
                for name, (_, facts) in read.items()
                if facts.symbols is not None
            }
            self.papers = {
                paper: tuple(
                    read[name][1].documents[paper]
                    for name in names
                    if name in read and paper in read[name][1].documents
                )
                for paper, names in self._named.items()
            }

    def _take_names(self, files: frozenset[str]) -> None:
        """See which files are to be read, and forget what was read of those that are gone or are other documents now."""
        self._named, kinds = papers_of(files), defaultdict[str, list[Paper]](list)
        for paper, names in self._named.items():
            for name in names:
                kinds[name].append(paper)
        sources = {name for name in files if language_by_name(name) is not None}
        if self._by_grammar is None:
            self._by_grammar = len(sources) <= MOST_PARSED
        wanted = sorted(sources | kinds.keys())
        same = {name for name in wanted if kinds.get(name) == self._kinds.get(name)}
        for name in self._read.keys() - same:
            del self._read[name]
            self.version += 1
        paths = {name: f"{self._root}/{name}" for name in wanted}
        self._texts = {
            path: self._texts.get(path, ()) if name in same else () for name, path in paths.items()
        }
        self.files, self._kinds = files, kinds

    async def _take(self, name: str, text: str, digest: bytes) -> None:
        """Keep what a file says; the cache knows it by its content, and by its name where that says how to read it."""
        if name in self._read and self._read[name][0] == digest:
            return
        language, papers = language_by_name(name), self._kinds.get(name, [])
        if language is not None and not self._by_grammar:
            language = Language(language.family)
        facts = NOTHING
        if digest:
            means = f"{'-'.join(papers)}/{name if papers else language}"
            key = f"project-{SCHEMA}/{means}/{digest.hex()}"
            make = partial(facts_of, name, text, language, papers)
            kept = await self._cache.get_or_build(key, lambda: FACTS.dump_json(make()).decode())
            try:
                facts = FACTS.validate_json(kept)
            except ValueError:  # whoever shares the cache put something else there
                facts = await asyncio.to_thread(make)
        self._read[name] = digest, facts
        self.version += 1
