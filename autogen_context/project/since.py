"""What is newer than a head, in few lines; and a head with what is newer, as JSON data for another process.

Promise: only what differs is told, a line that was added or changed with ``+``, one that is gone with ``-``; what stands
in the head comes first. A file or a document is compared again only where it was read again. What is read back tells the
same of the same files; it has no more than the head and the definitions, as they were, of the files that have changed.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from autogen_context.budget.policy import Section
from autogen_context.messages.message import Text, content_digest
from autogen_context.prioritizer.attention import ContextPart
from autogen_context.project.documents import PAPERS, Paper
from autogen_context.project.head import OPENING, Head, framed, line_counter, marked
from autogen_context.project.index import Index, Papers
from autogen_context.project.map import in_tree
from autogen_context.project.pieces import Document, Extracts, extracts
from autogen_context.project.symbols import Definition, Symbols

CountText = Callable[[str], int]
Changed = Mapping[str, tuple[Symbols | None, Symbols | None]]

MOST_LINES = 8  # told of one file
SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What is newer in a file than the head.

    Attributes:
        name: of the file, from the root.
        title: what became of it, on one line.
        lines: what came and what went, the first ones.
    """

    name: str
    title: str
    lines: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """It as it is told: the lines below the title, each with its mark."""
        return "\n".join(part for part in (self.title, marked(self.lines)) if part)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedPart:
    """A part of a head."""

    label: Text
    text: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedHead:
    """A head, and what had changed since it was written.

    Attributes:
        parts: of the head.
        rooms: what each section had, in tokens.
        told: what was taken of the documents of each kind.
        words: what it was written for.
        shown: the files of its map, each with a digest of what it defined.
        before: what the files that have changed defined when it was written; ``None`` where there was no file.
        schema: the number of this shape.
    """

    parts: tuple[SavedPart, ...]
    rooms: Mapping[Section, int]
    told: Mapping[Paper, Mapping[Text, tuple[Text, ...]]]
    words: tuple[Text, ...]
    shown: Mapping[Text, Text]
    before: Mapping[Text, tuple[Definition, ...] | None] = field(
        default_factory=dict[str, tuple[Definition, ...] | None]
    )
    schema: int = SCHEMA


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
    """

    def __init__(
        self,
        head: Head,
        words: frozenset[str],
        *,
        shown: Mapping[str, str],
        unseen: Collection[str] = (),
        papers: Papers | None = None,
        count: CountText,
    ) -> None:
        self.head = head
        self._words = words
        self._shown = shown
        self._unseen = unseen
        self._count = count
        known: Papers = papers or {}
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
            gone = unlike({name: self._shown[name] for name in self._unseen}, index.symbols)
            told = changed_files(self._changed(index), self.head.shown)
            self._files = index.version, [*gone, *told]
        of_papers = [each for paper in PAPERS for each in self._of(paper, papers.get(paper, ()))]
        return [*of_papers, *self._files[1]]

    def saved(self, index: Index) -> SavedHead:
        """It as a value; what changed files used is not told of any more."""
        changed = self._changed(index).items()
        return SavedHead(
            parts=tuple(SavedPart(label=part.label, text=part.text) for part in self.head.parts),
            rooms=self.head.rooms,
            told={
                paper: {name: tuple(lines) for name, lines in self.head.told.get(paper, {}).items()}
                for paper in PAPERS
            },
            words=tuple(sorted(self._words)),
            shown=self._shown,
            before={name: before.definitions if before else None for name, (before, _) in changed},
        )

    def _changed(self, index: Index) -> Changed:
        """The files of which is known what they defined, where they have changed: that, and what they define."""
        return {name: pair for name, pair in index.changed().items() if name not in self._unseen}

    def _of(self, paper: Paper, documents: tuple[Document, ...]) -> list[Change]:
        """What documents say now, beside what the head has of them."""
        known = self._documents.get(paper)
        if known is None or known[0] != documents:
            room, count = self.head.rooms[paper], line_counter(self._count)
            now = extracts(documents, room_tokens=room, count=count, words=self._words)
            changed = list(changed_documents(self.head.told.get(paper, {}), now.lines))
            known = self._documents[paper] = documents, changed
        return known[1]


def head_in(saved: SavedHead, *, name: str, count: CountText) -> Head:
    """The head of a project of that name, without who uses what."""
    parts = tuple(ContextPart(part.label, part.text) for part in saved.parts)
    text = framed(OPENING.format(name=name), [part.text for part in parts])
    tokens, shown = count(text), tuple(saved.shown)
    return Head(
        text=text, parts=parts, tokens=tokens, rooms=saved.rooms, told=saved.told, shown=shown
    )


def resumed(saved: SavedHead, index: Index, *, name: str, count: CountText) -> Since:
    """Go on with what was saved; a file that does not define what it did then has changed when nobody looked.

    Args:
        saved: what was saved.
        index: the files as they are; from here on it counts changes from the head on.
        name: of the project.
        count: tokens of a text.
    """
    index.mark(
        {
            file: None if definitions is None else Symbols(definitions=definitions)
            for file, definitions in saved.before.items()
        }
    )
    known = {file: digest for file, digest in saved.shown.items() if file not in saved.before}
    unseen = frozenset(change.name for change in unlike(known, index.symbols))
    head, words = head_in(saved, name=name, count=count), frozenset(saved.words)
    return Since(head, words, shown=saved.shown, unseen=unseen, count=count)


def changed_documents(before: Extracts, now: Extracts) -> Iterator[Change]:
    """What documents say now, beside what was taken of them."""
    for name in dict.fromkeys([*before, *now]):
        lines = differences(before.get(name, ()), now.get(name, ()))
        if lines:
            yield Change(name=name, title=f"{name} says now:", lines=lines)


def changed_files(changed: Changed, shown: Collection[str]) -> Iterator[Change]:
    """What files define now, beside what they defined; those that the head shows first."""
    for name in sorted(changed, key=lambda name: (name not in shown, in_tree(name))):
        before, now = changed[name]
        lines = differences(defined(before), defined(now))
        if now is None:
            yield Change(name=name, title=f"{name} is gone.")
        elif before is None:
            yield Change(name=name, title=f"{name} is new:", lines=lines)
        elif lines:
            yield Change(name=name, title=f"{name} defines now:", lines=lines)


def unlike(known: Mapping[str, str], now: Mapping[str, Symbols]) -> Iterator[Change]:
    """Files that do not define what they did, where that is known by its digest alone."""
    for name in sorted(known):
        symbols = now.get(name)
        if digest_of(symbols) != known[name]:
            title = f"{name} is gone." if symbols is None else f"{name} has changed."
            yield Change(name=name, title=title)


def digest_of(symbols: Symbols | None) -> str:
    """What tells what a file defines from all else it may define: 16 hex digits, none where there is no file."""
    return "" if symbols is None else content_digest(*defined(symbols))[:8].hex()


def defined(symbols: Symbols | None) -> list[str]:
    """The definitions of a file, a line each."""
    return [each.line for each in symbols.definitions] if symbols else []


def differences(before: Sequence[str], now: Sequence[str]) -> tuple[str, ...]:
    """The first lines that are gone or came, in their orders, and how many more there are."""
    lines = [f"- {line}" for line in beyond(before, now)]
    lines += [f"+ {line}" for line in beyond(now, before)]
    more = len(lines) - MOST_LINES
    return (*lines[:MOST_LINES], *([f"… and {more} more lines"] if more > 0 else []))


def beyond(lines: Iterable[str], others: Iterable[str]) -> Iterator[str]:
    """The lines that the others do not have as often."""
    left = Counter(others)
    for line in lines:
        left[line] -= 1
        if left[line] < 0:
            yield line


def with_room(
    changes: Iterable[Change], *, room_tokens: int, count: CountText
) -> tuple[list[Change], list[str]]:
    """The changes that have room, and the names of the files of those that have none."""
    taken: list[Change] = []
    missing: list[str] = []
    for each in changes:
        cost = count(f"{each.text}\n")
        if cost <= room_tokens:
            room_tokens -= cost
            taken.append(each)
        else:
            missing.append(each.name)
    return taken, missing
