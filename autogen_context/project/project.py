"""A folder as parts of a context, kept current: what is wanted, what was decided, what is where, how one works on it.

Promise: head and tail together have no more tokens than the budget; the same tree gives the same bytes; nothing outside the
root is read, nothing in it is waited for, and what is left out is counted. The head stays as it was written until it is
renewed; what is newer is told in the tail, from the very turn on in which the files say it. What matters less goes first
from the tail, and nothing in it grows with the conversation.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePath

from autogen_context.budget.manager import TokenBudget, TokenBudgetManager
from autogen_context.budget.task import TaskDefinition
from autogen_context.compressor.notice import Step, action_log
from autogen_context.ledger import Entry, Kind
from autogen_context.ledger.rendering import render
from autogen_context.messages.saved import read_saved, saved
from autogen_context.prioritizer.attention import ContextPart
from autogen_context.project.builds import Builds, Kept
from autogen_context.project.head import LABELS, OPENING, Head, Material, built, framed, marked
from autogen_context.project.index import Index, Papers, Progress, Watches
from autogen_context.project.pieces import Document, document_of
from autogen_context.project.rank import Focus, focus_of, ranked
from autogen_context.project.secrets import without_secrets
from autogen_context.project.since import (
    SCHEMA,
    Change,
    Current,
    SavedHead,
    Since,
    digest_of,
    resumed,
    with_room,
)
from autogen_context.project.tree import Reason
from autogen_context.tokens.measure import EstimateCounter

MOST_FILES = 20_000
DEFAULT_TOKENS = 8_000
REMEMBERED = 1_000  # texts whose tokens are not counted again

SINCE = "[The project {name}, since the beginning of this conversation]"
DECIDED: frozenset[Kind] = frozenset({"decision", "goal state"})
LASTING: frozenset[Kind] = frozenset({"safety rule", "constraint", "preference"})
RULES: frozenset[Kind] = frozenset({"safety rule", "constraint"})
DONE = "What was done lately:"
STATED_FRACTION = 0.3  # of what is left, for what was decided, and again for what is lasting
MOST_STEPS = 60  # the latest ones
MOST_PLAYED = 5  # files in play whose users are named
MOST_USERS = 6
LEAST_TOKENS = 24  # with less, nothing can be said


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectView:
    """What an agent may be told of a project.

    Attributes:
        parts: what there is to tell, each by itself: those of the head, then those of the tail.
        head: the text to place at the front, behind the system prompt. It stays the same to the byte until it is renewed,
            so that what a provider has cached of it and behind it stays good.
        tail: the text to place before the newest message; it may be another at each turn. Empty where there is nothing
            to tell.
        tokens: what head and tail have together.
        renewed: whether the head is another than in the view before.
        left_out: how many files were seen and not read, by reason.
        files: how many were seen.
    """

    parts: tuple[ContextPart, ...]
    head: str
    tail: str
    tokens: int
    renewed: bool
    left_out: Mapping[Reason, int] = field(default_factory=dict[Reason, int])
    files: int = 0


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
        for argument, number in (("budget_tokens", budget_tokens), ("most_files", most_files)):
            if number < 1:
                raise ValueError(f"{argument}={number}: give 1 or more")
        self._builds = cache or Kept()
        self._watch = watch
        self._given_count = count
        self._budget_tokens = budget_tokens
        self._most_files = most_files
        self._count = lru_cache(REMEMBERED)(count or estimated)  # what is told is often told again
        self._progress = progress
        self._index = Index(
            self.root, cache=self._builds, watch=watch, most_files=most_files, progress=progress
        )
        self._issue = "", Document(name="the issue", pieces=())
        self._since: Since | None = None
        self._saved: SavedHead | None = None
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
            before = since = self._since
            changes, missing = self._newer(papers, self._budget(task).reserve_buffer)
            if since is None or missing:
                since, changes = await self._written(task, focus, papers), []
            room = self._budget_tokens - since.head.tokens
            tail = Tail(room, self._count)
            tail.take("changes", "\n".join(change.text for change in changes))
            tail.take_stated("memory_patterns", LASTING, stated)
            tail.take_stated("design", DECIDED, stated)
            tail.take(
                LABELS["project_structure"], marked(users_told(sorted(focus.files), since.head))
            )
            tail.take_steps(steps[-MOST_STEPS:])
            text, tokens = tail.written(SINCE.format(name=self.root.name), room)
            return ProjectView(
                parts=(*since.head.parts, *tail.parts),
                head=since.head.text,
                tail=text,
                tokens=since.head.tokens + tokens,
                renewed=since is not before,
                left_out=self._index.left_out,
                files=len(self._index.files),
            )

    async def current(self, task: str = "", *, in_play: Iterable[str | PurePath] = ()) -> Current:
        """What there is for who places the head and keeps it: it is written anew after ``renew`` alone.

        Args:
            task: what is to be done, where the head is to be written.
            in_play: files that the conversation is at, likewise.
        """
        async with self._lock:
            papers = await self._read("")
            focus = focus_of(task, in_play, root=self.root, files=self._index.files)
            since = self._since or await self._written(task, focus, papers)
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
            cache=self._builds,
            watch=self._watch,
            budget_tokens=min(budget_tokens, self._budget_tokens),
            count=self._given_count or count,
            most_files=self._most_files,
            progress=self._progress,
        )

    @property
    def state(self) -> Mapping[str, object]:
        """What another process needs to go on with this head, as JSON data; empty before one was written."""
        head = self._saved or (self._since and self._since.saved(self._index))
        return saved(head) if head else {}

    def resume(self, state: Mapping[str, object]) -> None:
        """Go on with the head of another process; who uses what is told once it is renewed.

        Raises:
            StateError: the state is damaged; nothing was changed.
        """
        self._since, self._saved = None, head_in_state(state)

    def renew(self) -> None:
        """Have the head written anew the next time: when the conversation is compacted, its prefix changes anyway."""
        self._since, self._saved = None, None

    def close(self) -> None:
        """Listen to the watch no more."""
        self._index.hearing.stop()

    async def _read(self, issue: str) -> Papers:
        """Bring all up to date; the documents as they are, and the issue before all others."""
        await self._index.update(placed=self._since.head.shown if self._since else ())
        if self._saved is not None:
            name = self.root.name
            self._since = resumed(self._saved, self._index, name=name, count=self._count)
            self._saved = None
        papers = self._index.papers
        if not issue:
            return papers
        if issue != self._issue[0]:
            self._issue = issue, document_of("the issue", without_secrets(issue))
        return {**papers, "requirements": (self._issue[1], *papers["requirements"])}

    def _newer(self, papers: Papers, room_tokens: int) -> tuple[list[Change], list[str]]:
        """What is newer than the head, and the names of the files that have no room."""
        newer = self._since.changes(papers, self._index) if self._since else []
        return with_room(newer, room_tokens=room_tokens, count=self._count)

    def _budget(self, task: str) -> TokenBudget:
        """What each section may have for a task."""
        manager = TokenBudgetManager(total_tokens=self._budget_tokens)
        return manager.allocate(TaskDefinition.from_text(task))

    async def _written(self, task: str, focus: Focus, papers: Papers) -> Since:
        """Write a head, in a thread; what changes from now on is counted, and nothing before."""
        budget, files = self._budget(task), tuple(self._index.files)
        symbols = dict(self._index.symbols)

        def write() -> Head:
            material = Material(
                name=self.root.name,
                files=files,
                symbols=symbols,
                ranking=ranked(symbols, focus),
                papers=papers,
                words=focus.topics,
            )
            return built(material, budget, count=self._count)

        head = await asyncio.to_thread(write)
        shown = {name: digest_of(symbols.get(name)) for name in head.shown}
        self._index.mark()
        self._since = Since(head, focus.topics, shown=shown, papers=papers, count=self._count)
        return self._since


class Tail:
    """Takes parts of a tail while they have room, the most important first.

    Args:
        room_tokens: what all may have, in tokens.
        count: tokens of a text.

    Attributes:
        parts: those that were taken.
    """

    def __init__(self, room_tokens: int, count: Callable[[str], int]) -> None:
        self.parts: list[ContextPart] = []
        self._left = room_tokens
        self._count = count

    def take(self, label: str, text: str, *, critical: bool = False) -> None:
        """A part, if there is anything in it and it has room."""
        cost = self._count(f"{text}\n\n")
        if text and cost <= self._left:
            self._left -= cost
            self.parts.append(ContextPart(label, text, critical=critical))

    def take_stated(self, section: str, kinds: Collection[Kind], stated: Sequence[Entry]) -> None:
        """What the conversation states of some kinds; critical where people or the system rule it."""
        entries = [entry for entry in stated if entry.kind in kinds]
        room = int(self._left * STATED_FRACTION)
        if entries and room >= LEAST_TOKENS:
            text = render(entries, room_tokens=room, count=self._count).text
            rules = any(entry.kind in RULES and not entry.reported for entry in entries)
            self.take(section.replace("_", " "), text, critical=rules)

    def take_steps(self, steps: Sequence[Step]) -> None:
        """What was done lately and how it ended."""
        if steps and self._left >= LEAST_TOKENS:
            log = action_log(steps, room_tokens=self._left - LEAST_TOKENS, count=self._count)
            self.take("execution history", f"{DONE}\n{marked(log.splitlines())}" if log else "")

    def written(self, opening: str, room_tokens: int) -> tuple[str, int]:
        """The parts as one text, and its tokens; what does not fit after all goes, the least important first."""
        while self.parts:
            text = framed(opening, [part.text for part in self.parts])
            tokens = self._count(text)
            if tokens <= room_tokens:
                return text, tokens
            self.parts.pop()
        return "", 0


def users_told(in_play: Iterable[str], head: Head) -> Iterator[str]:
    """Who uses the files in play, as of the head."""
    known = [name for name in in_play if head.users.get(name)]
    for name in known[:MOST_PLAYED]:
        users = head.users[name]
        more = f" and {len(users) - MOST_USERS} more" if len(users) > MOST_USERS else ""
        yield f"{name} is used by {', '.join(users[:MOST_USERS])}{more}"


def head_in_state(state: Mapping[str, object]) -> SavedHead | None:
    """The head in a state; ``None`` where there was none.

    Raises:
        StateError: the state is damaged.
    """
    what = "context of the project"
    return read_saved(SavedHead, state, what=what, schema=SCHEMA, source="state") if state else None


def estimated(text: str) -> int:
    """An upper bound on the tokens of a text."""
    return EstimateCounter().count(text).tokens
