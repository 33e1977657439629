"""What the files of a folder say now: the symbols of its sources, and its documents.

Promise: after ``read`` both are those of the files as they are, but for changes that a watch has not told yet of files that
were not asked about. What was told and could not be dealt with is told again.
"""

from collections.abc import Iterable
from pathlib import Path

from autogen_context.project.builds import Counted
from autogen_context.project.documents import Documents, Paper
from autogen_context.project.extract import Document
from autogen_context.project.head import Papers
from autogen_context.project.hearing import Hearing, Watches
from autogen_context.project.index import Index, Progress
from autogen_context.project.prose import document_of
from autogen_context.project.tree import TreeLimits

ISSUE = "the issue"


class Reading:
    """Reads one folder, again and again.

    Args:
        root: the folder, resolved.
        cache: keeps what was read.
        watch: tells of changes.
        limits: how much is looked at.
        progress: is told how many files are read, of how many.

    Attributes:
        index: the files and their symbols.
    """

    def __init__(
        self,
        root: Path,
        *,
        cache: Counted,
        watch: Watches | None,
        limits: TreeLimits,
        progress: Progress | None,
    ) -> None:
        self.index = Index(root, cache=cache, limits=limits, progress=progress)
        self._hearing = Hearing(root, watch)
        self._documents = Documents(root, cache=cache, most_bytes=limits.file_bytes)
        self._names: tuple[int, dict[Paper, tuple[str, ...]]] = -1, {}
        self._issue = Document(name=ISSUE, pieces=())
        self._issue_text = ""

    async def read(self, *, issue: str = "", placed: Iterable[str] = ()) -> Papers:
        """Read what has changed.

        Args:
            issue: the text of the issue that is worked on.
            placed: names of files to look at in any case, beside the documents.

        Returns:
            The documents of each kind, and the issue before all others.
        """
        await self._update({*placed, *self._of_documents})
        return await self._read_papers(issue)

    def close(self) -> None:
        """Listen to the watch no more."""
        self._hearing.stop()

    @property
    def _of_documents(self) -> Iterable[str]:
        return (name for names in self._names[1].values() for name in names)

    async def _update(self, placed: set[str]) -> None:
        """Bring what is known of the tree up to date."""
        await self._hearing.start()
        heard = self._hearing.take()
        done = False
        try:
            await self.index.update(heard=heard, placed=placed)
            done = True
        finally:
            if not done:
                self._hearing.give_back(heard)

    async def _read_papers(self, issue: str) -> Papers:
        files = self.index.files
        if self._names[0] != self.index.shape:
            self._names = self.index.shape, self._documents.names(files)
        if issue != self._issue_text:
            self._issue, self._issue_text = document_of(ISSUE, issue), issue
        found: dict[Paper, tuple[Document, ...]] = {}
        for paper, names in self._names[1].items():
            found[paper] = await self._documents.read(paper, {name: files[name] for name in names})
        if issue:
            found["requirements"] = (self._issue, *found["requirements"])
        return found
