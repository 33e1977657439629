"""A folder as parts of a context, kept current: what is wanted, what was decided, what is where, how one works on it.

Promise: head and tail together have no more tokens than the budget; the same tree gives the same bytes; nothing outside the
root is read, nothing in it is waited for, and what is left out is counted. The head stays as it was written until it is
renewed; what is newer is told in the tail, from the very turn on in which the files say it.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path, PurePath

from autogen_context.compressor.action_log import Step
from autogen_context.ledger import Entry
from autogen_context.prioritizer.attention import ContextPart
from autogen_context.project.builds import Builds, Counted, Kept
from autogen_context.project.changes import Change, with_room
from autogen_context.project.focus import focus_of
from autogen_context.project.head import Head, Papers
from autogen_context.project.hearing import Watches
from autogen_context.project.index import Index, Progress
from autogen_context.project.reading import Reading
from autogen_context.project.saved import Saved, dump, load, resumed
from autogen_context.project.since import Current, Since
from autogen_context.project.tail import tail_parts, written_tail
from autogen_context.project.tree import TreeLimits
from autogen_context.project.view import OPENING, ProjectView
from autogen_context.project.writing import Writing
from autogen_context.tokens.estimate import EstimateCounter

MOST_FILES = 20_000
DEFAULT_TOKENS = 8_000
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
        progress: is called with how many files are read, and of how many, while they are; in the thread that reads.

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
        progress: Progress | None = None,
    ) -> None:
        self.root = Path(root).resolve()
        if not self.root.is_dir():
            raise ValueError(f"root={str(root)!r}: give a folder that is there")
        require_positive("budget_tokens", budget_tokens)
        require_positive("most_files", most_files)
        self.builds = Counted(cache or Kept())
        self._watch = watch
        self._given_count = count
        self._budget_tokens = budget_tokens
        self._limits = TreeLimits(files=most_files)
        self._count = lru_cache(REMEMBERED)(count or estimated)  # what is told is often told again
        self._progress = progress
        self._reading = Reading(
            self.root, cache=self.builds, watch=watch, limits=self._limits, progress=progress
        )
        self._writing = Writing(
            self.root.name,
            index=self._reading.index,
            budget_tokens=budget_tokens,
            count=self._count,
        )
        self._since: Since | None = None
        self._saved: Saved | None = None
        self._lock = asyncio.Lock()

    async def context(
        self,
        task: str = "",
        *,
        in_play: Iterable[str | PurePath] = (),
        issue: str = "",
        stated: Sequence[Entry] = (),
        steps: Sequence[Step] = (),
    ) -> ProjectView:
        """What to tell of the project now.

        Args:
            task: what is to be done; a head is written for it.
            in_play: files that the conversation is at, from the root or absolute, and names of definitions.
            issue: the text of the issue that is worked on.
            stated: what holds by the conversation's ledger.
            steps: what was done in the conversation, oldest first; the latest are told.
        """
        async with self._lock:
            papers = await self._read(issue)
            focus = focus_of(task, in_play, root=self.root, files=self._index.files)
            since = before = self._since
            changes, missing = self._newer(papers, self._writing.budget(task).reserve_buffer)
            if since is None or missing:
                since, changes = await self._writing.written(task, focus, papers), []
                self._since = since
            said = tail_parts(
                [change.text for change in changes],
                since.head,
                stated=stated,
                steps=steps,
                in_play=focus.files,
                room=(self._budget_tokens - since.head.tokens, self._count),
            )
            return self._view(since.head, said, renewed=since is not before)

    async def current(
        self,
        task: str = "",
        *,
        in_play: Iterable[str | PurePath] = (),
    ) -> Current:
        """What there is for who places the head and keeps it: it is written anew after ``renew`` alone.

        Args:
            task: what is to be done, where the head is to be written.
            in_play: files that the conversation is at, likewise.
        """
        async with self._lock:
            papers = await self._read("")
            since = self._since
            if since is None:
                focus = focus_of(task, in_play, root=self.root, files=self._index.files)
                since = self._since = await self._writing.written(task, focus, papers)
            changes, missing = self._newer(papers, self._budget_tokens - since.head.tokens)
            return Current(
                opening=OPENING.format(name=self.root.name),
                parts=tuple(part.text for part in since.head.parts),
                changes=tuple(changes),
                missing=frozenset(missing),
            )

    def for_conversation(
        self, *, budget_tokens: int, count: Callable[[str], int]
    ) -> "ProjectContext":
        """The context of the same folder for another conversation; what is read of files is shared, and one watch.

        Args:
            budget_tokens: what head and tail may have together, where this one has not less.
            count: tokens of a text, where this one was given nothing to count.
        """
        if self._watch is None:
            from autogen_context.cache.watch import FileWatch  # noqa: PLC0415 - for who needs it

            self._watch = FileWatch()
        return ProjectContext(
            self.root,
            cache=self.builds,
            watch=self._watch,
            budget_tokens=min(budget_tokens, self._budget_tokens),
            count=self._given_count or count,
            most_files=self._limits.files,
            progress=self._progress,
        )

    @property
    def state(self) -> Mapping[str, object]:
        """What another process needs to go on with this head, as JSON data; empty before one was written."""
        if self._saved is not None:
            return self._saved.data
        return dump(self._since, self._index) if self._since else {}

    def resume(self, state: Mapping[str, object]) -> None:
        """Go on with the head of another process; who uses what is told once it is renewed.

        Raises:
            ValueError: the state is damaged; nothing was changed.
        """
        saved = load(state, name=self.root.name, count=self._count) if state else None
        self._since, self._saved = None, saved

    def renew(self) -> None:
        """Have the head written anew the next time: when the conversation is compacted, its prefix changes anyway."""
        self._since, self._saved = None, None

    def close(self) -> None:
        """Listen to the watch no more."""
        self._reading.close()

    async def _read(self, issue: str) -> Papers:
        """Bring all up to date; the documents as they are."""
        placed = self._since.head.map.shown if self._since else ()
        papers = await self._reading.read(issue=issue, placed=placed)
        if self._saved is not None:
            self._since = resumed(self._saved, self._index, count=self._count)
            self._saved = None
        return papers

    @property
    def _index(self) -> Index:
        return self._reading.index

    def _newer(self, papers: Papers, room_tokens: int) -> tuple[list[Change], list[str]]:
        """What is newer than the head, and the names of the files that have no room."""
        newer = self._since.changes(papers, self._index) if self._since else []
        return with_room(newer, room_tokens=room_tokens, count=self._count)

    def _view(self, head: Head, said: Sequence[ContextPart], *, renewed: bool) -> ProjectView:
        """Head and tail, measured."""
        room_tokens = self._budget_tokens - head.tokens
        parts, tail, tokens = written_tail(
            self.root.name, said, room_tokens=room_tokens, count=self._count
        )
        return ProjectView(
            parts=(*head.parts, *parts),
            head=head.text,
            tail=tail,
            tokens=head.tokens + tokens,
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
    return EstimateCounter().count(text).tokens
