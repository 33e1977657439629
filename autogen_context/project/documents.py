"""The documents of a project, by what they are for: requirements, decisions, conventions.

Promise: what is given is what the files say now; each kind is read again only when one of its own files has changed.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from autogen_context.messages.message import content_digest
from autogen_context.project.builds import Counted
from autogen_context.project.design_decisions import decision_files, record_of
from autogen_context.project.extract import (
    Document,
    documents_as_json,
    documents_from_json,
)
from autogen_context.project.memory_patterns import SETTINGS, convention_files, settings_of
from autogen_context.project.prose import document_of
from autogen_context.project.requirements import is_leading, requirement_files
from autogen_context.project.source import Source, Stamp, read_source

Paper = Literal["requirements", "design", "memory_patterns"]

SCHEMA = 1  # of documents in a cache
ENDINGS = (".md", ".markdown", ".rst", ".txt", ".adoc", ".cursorrules")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """How documents of one kind are found and read.

    Attributes:
        files: those of them among the names of all, in order.
        read: a document by its name and its text.
    """

    files: Callable[[Iterable[str]], tuple[str, ...]]
    read: Callable[[str, str], Document]


def page(name: str, text: str) -> Document:
    """A page of requirements; the leading ones come first."""
    return document_of(name, text, turn=0 if is_leading(name) else 1)


def convention(name: str, text: str) -> Document:
    """A file of settings, or a page for contributors."""
    return settings_of(name, text) if name in SETTINGS else document_of(name, text)


KINDS: Mapping[Paper, Kind] = {
    "requirements": Kind(files=requirement_files, read=page),
    "design": Kind(files=decision_files, read=record_of),
    "memory_patterns": Kind(files=convention_files, read=convention),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """Documents as they were read.

    Attributes:
        stamps: of their files, at that time or before.
        documents: what was read.
    """

    stamps: Mapping[str, Stamp]
    documents: tuple[Document, ...]


class Documents:
    """Reads the documents of a tree.

    Args:
        root: the folder, resolved.
        cache: keeps them.
        most_bytes: a larger file is left out.
    """

    def __init__(self, root: Path, *, cache: Counted, most_bytes: int) -> None:
        self._root = root
        self._cache = cache
        self._most_bytes = most_bytes
        self._known: dict[Paper, Known] = {}

    def names(self, files: Collection[str]) -> dict[Paper, tuple[str, ...]]:
        """The documents of each kind, among the names of all files."""
        candidates = [name for name in files if name.endswith(ENDINGS) or name in SETTINGS]
        candidates += [name for name in files if name.lower() == "readme"]
        return {paper: kind.files(candidates) for paper, kind in KINDS.items()}

    async def read(self, paper: Paper, seen: Mapping[str, Stamp]) -> tuple[Document, ...]:
        """The documents of a kind.

        Args:
            paper: the kind.
            seen: their names, in order, with the stamps that they have now.
        """
        known = self._known.get(paper)
        if known is not None and is_as_read(known.stamps, seen):
            self._cache.has()
            return known.documents
        documents = await self._kept(paper, tuple(seen))
        self._known[paper] = Known(stamps=dict(seen), documents=documents)
        return documents

    async def _kept(self, paper: Paper, names: Sequence[str]) -> tuple[Document, ...]:
        """The documents as the cache has them, or as they are read."""
        key = f"documents-{SCHEMA}/{paper}/{content_digest(str(self._root), *names).hex()}"

        def build() -> str:
            return documents_as_json(self._documents(KINDS[paper], names))

        paths = [self._root / name for name in names]
        kept = await self._cache.get_or_build(key, build, depends_on=paths)
        try:
            return documents_from_json(kept)
        except ValueError:  # whoever shares the cache put something else there
            return tuple(await asyncio.to_thread(self._documents, KINDS[paper], names))

    def _documents(self, kind: Kind, names: Sequence[str]) -> list[Document]:
        found: list[Document] = []
        for name in names:
            source = read_source(self._root, name, most_bytes=self._most_bytes)
            if isinstance(source, Source):
                found.append(kind.read(name, source.text))
        return found


def is_as_read(before: Mapping[str, Stamp], now: Mapping[str, Stamp]) -> bool:
    """Whether the same files are there, in the same order, and none has changed."""
    same = list(before) == list(now)
    return same and all(before[name].holds(stamp) for name, stamp in now.items())
