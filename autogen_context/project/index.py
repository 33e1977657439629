"""Index of the files of a folder, updated with as little reading as possible.

Promise: a file is read again unless its metadata proves that it is unchanged. Nothing outside the folder is read, no pipe
is opened, no secret is stored. Results are cached by content.
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
Proof = tuple[int, ...]  # metadata of a path; empty if it proves nothing

MOST_BYTES = 1024 * 1024  # of one file
BINARY_BYTES = 8_192  # from the start; a zero byte among them marks a binary file
SETTLED_NS = 2_000_000_000  # the coarsest timestamps of any file system
MOST_PARSED = 2_000  # source files; larger trees are not parsed by grammar (some 4 ms per file)
MOST_BUILDS = 50_000  # in memory; the symbols of a file take a kilobyte or two
BATCH = 64  # files read at a time
SCHEMA = 4  # of cache entries

SAID = attrgetter("st_mtime_ns", "st_ctime_ns", "st_size", "st_mode", "st_dev", "st_ino")
GONE: Proof = (0, 0)


class Builds(Protocol):
    """A cache of computed values, such as ``ContextCache``."""

    async def get_or_build(self, key: str, builder: Builder) -> str:
        """Return the value of a key, built if it is missing; keys identify the content that was read."""
        ...


class Kept:
    """An in-memory cache with LRU eviction."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, str] = OrderedDict()

    async def get_or_build(self, key: str, builder: Builder) -> str:
        """Return the value of a key, built if it is missing."""
        if key not in self._kept:
            self._kept[key] = await asyncio.to_thread(builder)
            if len(self._kept) > MOST_BUILDS:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]


def changed(proofs: Mapping[str, Proof], *, now_ns: int | None = None) -> dict[str, Proof]:
    """Return the paths that may have changed, each with its new proof.

    A file written within the last clock tick can be rewritten with the same metadata, so its proof is empty for now.
    """
    settled_ns = (now_ns or time_ns()) - SETTLED_NS
    found: dict[str, Proof] = {}
    for path, proof in proofs.items():
        try:
            now = SAID(os.stat(path))  # noqa: PTH116 - faster, for thousands of files per turn
        except (OSError, ValueError):
            now = GONE
        if now != proof:
            found[path] = now if max(now[0], now[1]) < settled_ns else ()
    return found


def files_below(root: Path, most_files: int) -> tuple[frozenset[str], dict[str, Proof]]:
    """Return the files of a tree that git does not ignore, relative to the root, and proofs that the list is current.

    The proofs cover folders and ignore files. Links, pipes, unprintable names, and the deepest files over the limit are skipped.
    """
    names: list[str] = []
    folders, begun_ns, start = [str(root)], time_ns(), len(str(root)) + 1
    if os.path.realpath(root) == str(root):  # else it was replaced by a link
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
    """Return the text of a file and a digest of its bytes; raise ``OSError`` if it is binary, too large or outside the root."""
    path = root / name
    data = read_regular(path, most_bytes=MOST_BYTES)
    if path.resolve() != path or not path.is_relative_to(root):  # a folder was replaced by a link
        raise PermissionError(errno.EPERM, "it leads out of the project")
    if b"\0" in data[:BINARY_BYTES]:
        raise OSError(errno.EINVAL, "binary")
    text = data.decode("utf-8-sig", errors="replace").replace("\r\n", "\n")
    return text, content_digest(data)


def texts_of(root: Path, names: Sequence[str]) -> list[tuple[str, str, bytes]]:
    """Return the names, texts and digests of files; text and digest are empty for unreadable files."""
    found: list[tuple[str, str, bytes]] = []
    for name in names:
        try:
            found.append((name, *read_text(root, name)))
        except (OSError, RuntimeError):
            found.append((name, "", b""))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What was extracted from a file: the symbols of a source file, and its document of each kind."""

    symbols: Symbols | None = None
    documents: Mapping[Paper, Document] = field(default_factory=dict[Paper, Document])


FACTS = TypeAdapter(Facts)
NOTHING = Facts()


def facts_of(name: str, text: str, language: Language | None, papers: Sequence[Paper]) -> Facts:
    """Extract symbols and documents from a text, with secrets removed."""
    bare = without_secrets(text)
    return Facts(
        symbols=symbols_of(bare, language) if language else None,
        documents={paper: read_document(paper, name, bare) for paper in papers},
    )


class Index:
    """The files of a tree, the symbols of its sources and its documents.

    Attributes:
        files: names of all files.
        symbols: symbols of the source files, by name.
        papers: documents of each kind, the most important first.
        version: increases when symbols or documents change.
    """

    def __init__(self, root: Path, *, cache: Builds, most_files: int) -> None:
        self.files = frozenset[str]()
        self.symbols: dict[str, Symbols] = {}
        self.papers: Papers = {}
        self.version = 0
        self._root = root
        self._cache = cache
        self._most_files = most_files
        self._names: dict[str, Proof] = {str(root): ()}  # proofs that the list of files is current
        self._texts: dict[str, Proof] = {}  # proofs that the texts are current, by path
        self._named: Mapping[Paper, tuple[str, ...]] = papers_of(())  # document names by kind
        self._kinds: Mapping[str, list[Paper]] = {}  # kinds by document name
        self._read: dict[str, tuple[bytes, Facts]] = {}  # by name; empty for unreadable files
        self._by_grammar: bool | None = None
        self._drawn = -1  # version of ``symbols`` and ``papers``

    async def update(self) -> None:
        """Read the files that may have changed, in batches; completed reads are kept on cancellation."""
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
        """Determine which files to read, and drop the results of files that are gone or changed their document kind."""
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
        """Store the facts of a file; the cache key is its content and language, or its name if it is a document."""
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
            except ValueError:  # a shared cache returned an invalid value
                facts = await asyncio.to_thread(make)
        self._read[name] = digest, facts
        self.version += 1
