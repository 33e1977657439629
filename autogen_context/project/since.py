"""What is newer than a head, kept up with the files.

Promise: a file or a document is compared again only where it was read again; a head that was just written has nothing newer.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from autogen_context.project.changes import (
    Change,
    Changed,
    changed_documents,
    changed_files,
    unlike,
)
from autogen_context.project.documents import Paper
from autogen_context.project.extract import Document, extracts
from autogen_context.project.head import PAPERS, Head, Papers, line_counter
from autogen_context.project.index import Index


@dataclass(frozen=True, slots=True, kw_only=True)
class Current:
    """A head for somebody who places it and keeps it for a while, and what is newer.

    Attributes:
        opening: what says what the head is; nothing of it stands without this.
        parts: the parts of the head.
        changes: what is newer, one for each file.
        missing: the names of more files that have changed, of which nothing has room.
    """

    opening: str
    parts: tuple[str, ...]
    changes: tuple[Change, ...]
    missing: frozenset[str]


class Since:
    """What has changed since a head was written.

    Args:
        head: as it was written.
        words: what it was written for.
        shown: the files of its map, each with a digest of what it defined.
        unseen: of these, those that changed when nobody looked: what they defined is not known any more.
        papers: the documents that it was written from; left out, they are compared with what it says.
        count: tokens of a text.

    Attributes:
        head: the same.
        words: the same.
        shown: the same.
        unseen: the same.
    """

    def __init__(
        self,
        head: Head,
        words: frozenset[str],
        *,
        shown: Mapping[str, str],
        unseen: frozenset[str] = frozenset(),
        papers: Papers | None = None,
        count: Callable[[str], int],
    ) -> None:
        self.head = head
        self.words = words
        self.shown = shown
        self.unseen = unseen
        self._count = count
        known: Mapping[Paper, tuple[Document, ...]] = papers or {}
        self._documents: dict[Paper, tuple[tuple[Document, ...], list[Change]]] = {
            paper: (documents, []) for paper, documents in known.items()
        }
        self._files: tuple[int, list[Change]] = -1, []

    def changes(self, papers: Papers, index: Index) -> list[Change]:
        """What is newer.

        Args:
            papers: the documents as they are.
            index: the files as they are; it counts changes from the head on.
        """
        if self._files[0] != index.version:
            known = {name: self.shown[name] for name in self.unseen}
            told = changed_files(self.changed(index), self.head.map.shown)
            self._files = index.version, [*unlike(known, index.symbols), *told]
        of_papers = [each for paper in PAPERS for each in self._of(paper, papers[paper])]
        return [*of_papers, *self._files[1]]

    def changed(self, index: Index) -> Changed:
        """The files of which is known what they defined, where they have changed: that, and what they define."""
        return {name: pair for name, pair in index.changed().items() if name not in self.unseen}

    def _of(self, paper: Paper, documents: tuple[Document, ...]) -> list[Change]:
        """What documents say now, beside what the head has of them."""
        known = self._documents.get(paper)
        if known is None or known[0] != documents:
            now = extracts(
                documents,
                room_tokens=self.head.rooms[paper],
                count=line_counter(self._count),
                words=self.words,
            )
            changed = list(changed_documents(self.head.told.get(paper, {}), now.lines))
            known = self._documents[paper] = documents, changed
        return known[1]
