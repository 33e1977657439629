"""A folder as parts of a context, kept current: what is wanted, what was decided, what is where, how one works on it.

Promise: head and tail together have no more tokens than the budget; the same tree gives the same bytes; nothing outside the
root is read, nothing in it is waited for, and what is left out is counted. The head stays as it was written until it is
renewed; what is newer is told in the tail, from the very turn on in which the files say it.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path, PurePath

from autogen_context.pipeline.attention.part import ContextPart
from autogen_context.pipeline.budget.allocate import TokenBudget, TokenBudgetManager
from autogen_context.pipeline.estimate import EstimateCounter
from autogen_context.pipeline.fold import Step
from autogen_context.pipeline.ledger import Entry
from autogen_context.pipeline.task.definition import TaskDefinition
from autogen_context.project.builds import Builds, Counted, Kept
from autogen_context.project.changes import changed_documents, changed_files, with_room
from autogen_context.project.documents import Documents, Paper
from autogen_context.project.extract import Document, extracts
from autogen_context.project.focus import focus_of
from autogen_context.project.head import PAPERS, Head, Material, Papers, built, line_counter
from autogen_context.project.hearing import Hearing, Watches
from autogen_context.project.index import Index, Progress
from autogen_context.project.prose import document_of
from autogen_context.project.rank import Focus, ranked
from autogen_context.project.tail import tail_parts
from autogen_context.project.tree import TreeLimits
from autogen_context.project.view import SINCE, ProjectView, framed

MOST_FILES = 20_000
DEFAULT_TOKENS = 8_000
ISSUE = "the issue"
REMEMBERED = 1_000  # texts whose tokens are not counted again


class ProjectContext:
    """The context that a folder gives, for one conversation.

    Args:
        root: the folder.
        cache: a ``ContextCache``, so that later processes and other agents need not read all files again; left out, what
            was read is kept in memory.
        watch: a ``FileWatch``, so that a turn looks at what is told and at what is placed alone; left out, each turn looks
            at all files.
        budget_tokens: what head and tail may have together, in tokens.
        count: tokens of a text; left out, an upper bound that needs no vocabulary.
        most_files: how many files are looked at.

    Raises:
        ValueError: ``root`` is no folder, or a number is not positive.
    """

    def __init__(
        self,
        root: str | Path,
        *,
        cache: Builds | None = None,
        watch: Watches | None = None,
        budget_tokens: int = DEFAULT_TOKENS,
        count: Callable[[str], int] | None = None,
        most_files: int = MOST_FILES,
    ) -> None:
        self.root = Path(root).resolve()
        if not self.root.is_dir():
            raise ValueError(f"root={str(root)!r}: give a folder that is there")
        require_positive("budget_tokens", budget_tokens)
        require_positive("most_files", most_files)
        self.builds = Counted(cache or Kept())
        self._budget_tokens = budget_tokens
        self._count = lru_cache(REMEMBERED)(count or estimated)  # what is told is often told again
        self._hearing = Hearing(self.root, watch)
        limits = TreeLimits(files=most_files)
        self._index = Index(self.root, cache=self.builds, limits=limits)
        self._documents = Documents(self.root, cache=self.builds, most_bytes=limits.file_bytes)
        self._names: tuple[int, dict[Paper, tuple[str, ...]]] = -1, {}
        self._issue = Document(name=ISSUE, pieces=())
        self._issue_text = ""
        self._head: Head | None = None
        self._words: frozenset[str] = frozenset()
        self._differences: dict[Paper, tuple[tuple[Document, ...], list[str]]] = {}
        self._told: tuple[int, list[str]] = -1, []
        self._lock = asyncio.Lock()

    async def context(
        self,
        task: str = "",
        *,
        in_play: Iterable[str | PurePath] = (),
        issue: str = "",
        stated: Sequence[Entry] = (),
        steps: Sequence[Step] = (),
        progress: Progress | None = None,
    ) -> ProjectView:
        """What to tell of the project now.

        Args:
            task: what is to be done; a head is written for it.
            in_play: files that the conversation is at, from the root or absolute, and names of definitions.
            issue: the text of the issue that is worked on.
            stated: what holds by the conversation's ledger.
            steps: what was done in the conversation, oldest first; the latest are told.
            progress: is told how many files are read, of how many.
        """
        async with self._lock:
            await self._update(progress)
            papers = await self._read_papers(issue)
            focus = focus_of(task, in_play, root=self.root, files=self._index.files)
            head, before = self._head, self._head
            changes, missing = self._changes(head, papers) if head else ([], 0)
            if head is None or missing:
                head, changes = await self._written(task, focus, papers), []
            said = tail_parts(
                changes,
                head,
                stated=stated,
                steps=steps,
                in_play=focus.files,
                room=(self._budget_tokens - head.tokens, self._count),
            )
            return self._view(head, said, renewed=head is not before)

    def renew(self) -> None:
        """Have the head written anew the next time: when the conversation is compacted, its prefix changes anyway."""
        self._head = None

    def close(self) -> None:
        """Listen to the watch no more."""
        self._hearing.stop()

    async def _update(self, progress: Progress | None) -> None:
        """Bring what is known of the tree up to date."""
        await self._hearing.start()
        heard = self._hearing.take()
        documents = (name for names in self._names[1].values() for name in names)
        placed = {*self._head.map.shown, *documents} if self._head else ()
        done = False
        try:
            await self._index.update(heard=heard, placed=placed, progress=progress)
            done = True
        finally:
            if not done:
                self._hearing.give_back(heard)

    async def _read_papers(self, issue: str) -> Papers:
        """The documents of each kind, and the issue before all others."""
        files = self._index.files
        if self._names[0] != self._index.shape:
            self._names = self._index.shape, self._documents.names(files)
        if issue != self._issue_text:
            self._issue, self._issue_text = document_of(ISSUE, issue), issue
        found: dict[Paper, tuple[Document, ...]] = {}
        for paper, names in self._names[1].items():
            found[paper] = await self._documents.read(paper, {name: files[name] for name in names})
        if issue:
            found["requirements"] = (self._issue, *found["requirements"])
        return found

    def _changes(self, head: Head, papers: Papers) -> tuple[list[str], int]:
        """What is newer than the head, and how much of it has no room."""
        blocks = [
            block for paper in PAPERS for block in self._changes_of(head, paper, papers[paper])
        ]
        if self._told[0] != self._index.version:
            told = list(changed_files(self._index.changed(), head.map.shown))
            self._told = self._index.version, told
        blocks += self._told[1]
        return with_room(blocks, room_tokens=self._budget.reserve_buffer, count=self._count)

    def _changes_of(
        self, head: Head, paper: Paper, documents: tuple[Document, ...]
    ) -> Sequence[str]:
        """What documents say now, beside what the head has of them."""
        known = self._differences[paper]
        if known[0] != documents:
            now = extracts(
                documents,
                room_tokens=head.rooms[paper],
                count=line_counter(self._count),
                words=self._words,
            )
            blocks = list(changed_documents(head.told.get(paper, {}), now.lines))
            known = self._differences[paper] = documents, blocks
        return known[1]

    async def _written(self, task: str, focus: Focus, papers: Papers) -> Head:
        """A new head."""
        manager = TokenBudgetManager(total_tokens=self._budget_tokens)
        self._budget: TokenBudget = manager.allocate(TaskDefinition.from_text(task))
        symbols, files = dict(self._index.symbols), tuple(sorted(self._index.files))

        def write() -> Head:
            material = Material(
                name=self.root.name,
                files=files,
                symbols=symbols,
                ranking=ranked(symbols, focus),
                papers=papers,
                words=focus.topics,
            )
            return built(material, self._budget, count=self._count)

        self._head = await asyncio.to_thread(write)
        self._words = focus.topics
        self._differences = {paper: (papers[paper], []) for paper in PAPERS}
        self._index.mark()
        self._told = self._index.version, []
        return self._head

    def _view(self, head: Head, said: Sequence[ContextPart], *, renewed: bool) -> ProjectView:
        """Head and tail, measured; what does not fit after all goes, the least important first."""
        parts = list(said)
        while True:
            tail = framed(SINCE.format(name=self.root.name), [part.text for part in parts])
            tokens = head.tokens + (self._count(tail) if tail else 0)
            if tokens <= self._budget_tokens or not parts:
                break
            parts.pop()
        return ProjectView(
            parts=(*head.parts, *parts),
            head=head.text,
            tail=tail,
            tokens=tokens,
            renewed=renewed,
            left_out=self._index.counts_left_out,
            files=len(self._index.files),
        )


def require_positive(argument: str, number: int) -> None:
    """Refuse a number below 1."""
    if number < 1:
        raise ValueError(f"{argument}={number}: give 1 or more")


def estimated(text: str) -> int:
    """An upper bound on the tokens of a text."""
    return ESTIMATE.count(text).tokens


ESTIMATE = EstimateCounter()
