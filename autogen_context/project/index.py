"""Index of the files of a folder, updated with as little reading as possible.

Promise: a file is read again unless its metadata proves that it is unchanged. Nothing outside the folder is read, no pipe
is opened, no secret is stored. Results are cached by content.
"""

import asyncio
import errno
import os
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import time_ns

from pydantic import TypeAdapter

from autogen_context.cache.files import OWN_RULES_FILE, RULES_FILE, levels, read_regular
from autogen_context.cache.fingerprint import GONE, Proof, changed
from autogen_context.cache.values import Cache
from autogen_context.messages.message import content_digest
from autogen_context.project.documents import Document, DocumentKind, named_by_kind, read_document
from autogen_context.project.secrets import without_secrets
from autogen_context.project.symbols import Symbols, family_of, symbols_of

DocumentsByKind = Mapping[DocumentKind, tuple[Document, ...]]

MOST_BYTES = 1024 * 1024  # of one file
BINARY_BYTES = 8_192  # from the start; a zero byte among them marks a binary file
BATCH = 64  # files read at a time
KIND, SCHEMA = "project", 7  # of cache entries


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
    rules = [f"{root}/{OWN_RULES_FILE}", *(f"{folder}/{RULES_FILE}" for folder in folders)]
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


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFacts:
    """What was extracted from a file: the symbols of a source file, and its document of each kind."""

    symbols: Symbols | None = None
    documents: Mapping[DocumentKind, Document] = field(default_factory=dict[DocumentKind, Document])


FACTS = TypeAdapter(FileFacts)


class Index:
    """The files of a tree, the symbols of its sources and its documents."""

    def __init__(self, root: Path, *, cache: Cache, most_files: int) -> None:
        self.files = frozenset[str]()  # names of all
        self.symbols: dict[str, Symbols] = {}  # of the source files, by name
        self.documents: DocumentsByKind = {}  # the most important first
        self.version = 0  # increases when symbols or documents change
        self._root = root
        self._cache = cache
        self._most_files = most_files
        self._names: dict[str, Proof] = {str(root): ()}  # proofs that the list of files is current
        self._texts: dict[str, Proof] = {}  # proofs that the texts are current, by path
        self._named: Mapping[DocumentKind, tuple[str, ...]] = named_by_kind(())
        self._kinds: Mapping[str, list[DocumentKind]] = {}  # kinds by document name
        self._read: dict[str, tuple[bytes, FileFacts]] = {}  # by name; empty for unreadable files
        self._drawn = -1  # version of ``symbols`` and ``documents``

    def update(self) -> None:
        """Read the files that may have changed, in batches; in a thread, as it waits for disk and cache."""
        if changed(self._names):
            files, names = files_below(self._root, self._most_files)
            if files != self.files:
                self._take_names(files)
            self._names = names
        due = list(changed(self._texts).items())
        for at in range(0, len(due), BATCH):
            self._read_files(dict(due[at : at + BATCH]))
        if self._drawn != self.version:
            self._drawn, read = self.version, self._read
            found = {name: facts.symbols for name, (_, facts) in read.items()}
            self.symbols = {name: each for name, each in found.items() if each is not None}
            self.documents = {
                kind: tuple(
                    read[name][1].documents[kind]
                    for name in names
                    if name in read and kind in read[name][1].documents
                )
                for kind, names in self._named.items()
            }

    def _take_names(self, files: frozenset[str]) -> None:
        """Determine which files to read, and drop the results of files that are gone or changed their document kind."""
        self._named, kinds = named_by_kind(files), defaultdict[str, list[DocumentKind]](list)
        for kind, names in self._named.items():
            for name in names:
                kinds[name].append(kind)
        sources = {name for name in files if family_of(name) is not None}
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

    def _read_files(self, batch: Mapping[str, Proof]) -> None:
        """Read files, and store the facts of those whose content is another one now, as the cache has them or extracted."""
        new: dict[str, tuple[str, bytes]] = {}
        for path in batch:
            name = path[len(str(self._root)) + 1 :]
            try:
                text, digest = read_text(self._root, name)
            except (OSError, RuntimeError):
                text, digest = "", b""
            if self._read.get(name, (None,))[0] != digest:
                new[name] = text, digest
        keys = {name: self._key(name, digest) for name, (_, digest) in new.items() if digest}
        if keys:
            asyncio.run(self._cache.warm(KIND, [*keys.values()]))
        for name, (text, digest) in new.items():
            facts = self._facts(name, text, keys[name]) if digest else FileFacts()
            self._read[name] = digest, facts
            self.version += 1
        self._texts |= batch

    def _key(self, name: str, digest: bytes) -> str:
        """Return the key of a file in a cache: its content and how it is read, and for a document its name."""
        kinds = self._kinds.get(name, ())
        means = name if kinds else family_of(name)
        return f"{SCHEMA}/{'-'.join(kinds)}/{means}/{digest.hex()}"

    def _facts(self, name: str, text: str, key: str) -> FileFacts:
        """Return what the cache has under a key, or else extract it; secrets are removed first."""
        try:
            return FACTS.validate_json(self._cache.remembered(KIND, key))  # type: ignore[arg-type]  # checked by pydantic
        except ValueError:  # it is not there, or somebody else put it there
            bare, family = without_secrets(text), family_of(name)
            kinds = self._kinds.get(name, ())
            facts = FileFacts(
                symbols=symbols_of(bare, family) if family else None,
                documents={kind: read_document(kind, name, bare) for kind in kinds},
            )
            self._cache.remember(KIND, key, FACTS.dump_json(facts).decode())
            return facts
