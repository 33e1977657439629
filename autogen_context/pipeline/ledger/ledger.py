"""The statements of one conversation that hold, the newest about each thing.

Promise: learning message by message equals learning at once, and learning is in proportion to what is new. A rule, a
constraint or a preference comes from a person or the system prompt, never from what an assistant or a tool says. What was
rendered is read again as what it was, so that no round of compaction wears it down. ``from_json(to_json())`` equals what
was saved.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict

from autogen_context.pipeline.ledger.entry import AUTHORITIES, Author, Entry
from autogen_context.pipeline.ledger.known import made_stale, withdrawn
from autogen_context.pipeline.ledger.reading import Reading, readings
from autogen_context.pipeline.ledger.rendering import (
    BLOCK,
    CountText,
    Rendering,
    entries_in,
    entry_of,
    render,
)
from autogen_context.pipeline.ledger.saved import SCHEMA, validated
from autogen_context.pipeline.ledger.sentences import is_quoted
from autogen_context.pipeline.ledger.speakers import speeches
from autogen_context.pipeline.ledger.values import Value, values
from autogen_context.pipeline.message import SYSTEM_ROLES, Message

MOST_REPORTED = 200  # entries that an assistant or a tool said; the oldest go first


class Ledger:
    """What was stated in one conversation and still holds."""

    def __init__(self) -> None:
        self._entries: dict[Entry, None] = {}  # in the order in which they were said

    def __iter__(self) -> Iterator[Entry]:
        """All entries, in the order in which they were said."""
        return iter(self.entries)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._entries)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All entries, in the order in which they were said."""
        return tuple(self._entries)

    def learn(self, messages: Iterable[Message], *, start: int = 0) -> list[Entry]:
        """Take in what new messages state.

        Args:
            messages: oldest first.
            start: position of the first of them in the conversation.

        Returns:
            The entries that are new or changed.
        """
        learnt: list[Entry] = []
        for position, message in enumerate(messages, start):
            for text, author in spoken(message):
                learnt += self.learn_text(text, author=author, position=position)
        return learnt

    def learn_text(self, text: str, *, author: Author = "person", position: int = 0) -> list[Entry]:
        """Take in what one text states.

        Args:
            text: what was said; a transcript with its speakers (``User: …``, ``[assistant] …``) where a person or the
                system gives one; a ledger that was rendered, and what follows it.
            author: whose text it is.
            position: of its message, from 0.

        Returns:
            The entries that are new or changed.
        """
        learnt: list[Entry] = []
        for speaker, start, end in speeches(text, author):
            for part, _, is_ledger in parts_by_ledger(text[start:end], speaker):
                learnt += (
                    self._fold(part, position) if is_ledger else self._read(part, speaker, position)
                )
        return learnt

    def covered(self, text: str, *, author: Author = "person") -> list[tuple[int, int]]:
        """Where in a text statements stand that the ledger says, or says no longer.

        Args:
            text: what was said; a transcript and a ledger in it are read as ``learn_text`` reads them.
            author: whose text it is.

        Returns:
            n pairs, in order and apart: where a statement begins, and the place behind it.
        """
        places = {  # a statement that leans on the one before begins where that begins
            start + offset + reading.start: start + offset + reading.end
            for speaker, start, end in speeches(text, author)
            for part, offset, is_ledger in parts_by_ledger(text[start:end], speaker)
            for reading in (() if is_ledger else readings(part, speaker))
        }
        return sorted(places.items())

    def rendered(self, *, room_tokens: int, count: CountText) -> Rendering:
        """The ledger within a room.

        Args:
            room_tokens: what the text may have, in tokens.
            count: tokens of a text.

        Returns:
            A text of at most ``room_tokens``, and the entries that had no room, safety rules given up last.
        """
        return render(self.entries, room_tokens=room_tokens, count=count)

    @classmethod
    def read(cls, rendering: str | Rendering, *, position: int = 0) -> "Ledger":
        """The ledger that was rendered.

        Args:
            rendering: what ``rendered`` gave, or its text.
            position: that of the message in which it stood.
        """
        ledger = cls()
        text = rendering.text if isinstance(rendering, Rendering) else rendering
        for block in BLOCK.finditer(text):
            for entry in entries_in(block["lines"], position):
                ledger._entries[entry] = None
        return ledger

    def to_json(self) -> dict[str, object]:
        """The ledger as JSON data."""
        return {"schema": SCHEMA, "entries": [asdict(entry) for entry in self]}

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> "Ledger":
        """The ledger in JSON data.

        Raises:
            StateError: it is of a schema that this release does not know, or damaged.
        """
        ledger = cls()
        ledger._entries = dict.fromkeys(validated(data).entries)
        return ledger

    def _fold(self, block: str, position: int) -> list[Entry]:
        known = self.entries
        return [
            entry for entry in entries_in(block, position) if self._put(entry, known, marked=True)
        ]

    def _read(self, text: str, author: Author, position: int) -> Iterator[Entry]:
        for reading in readings(text, author):
            if reading.taken_back:
                self._withdraw(reading)
            if reading.corrected:
                yield from self._correct(reading, position)
            if reading.kind is not None:
                entry = entry_of(reading.kind, reading.text, reading.author, position)
                if self._put(entry, self.entries, marked=reading.marked):
                    yield entry

    def _put(self, entry: Entry, known: tuple[Entry, ...], *, marked: bool) -> bool:
        if any(old.text == entry.text and old.reported <= entry.reported for old in known):
            return False
        for stale in made_stale(entry, known, marked=marked):
            self._entries.pop(stale, None)
        self._entries[entry] = None
        self._forget_reports()
        return True

    def _forget_reports(self) -> None:
        reported = [entry for entry in self._entries if entry.reported]
        for entry in reported[:-MOST_REPORTED]:
            del self._entries[entry]

    def _withdraw(self, reading: Reading) -> None:
        for entry in withdrawn(reading.taken_back, self._entries):
            del self._entries[entry]

    def _correct(self, reading: Reading, position: int) -> Iterator[Entry]:
        for entry in reversed(self._entries):
            found = values(entry.text)
            if (
                len(found) == 1
                and entry.author == reading.author
                and is_like(found[0], reading.corrected)
            ):
                text = entry.text[: found[0].start] + reading.corrected + entry.text[found[0].end :]
                del self._entries[entry]
                corrected = entry_of(entry.kind, text, entry.author, position)
                self._entries[corrected] = None
                yield corrected
                return


def is_like(value: Value, text: str) -> bool:
    """Whether a text is a value of the same kind, an amount of money being a number."""
    amounts = {"money", "number"}
    return any(
        {value.kind, other.kind} <= amounts or value.kind == other.kind
        for other in values(text)[:1]
    )


def spoken(message: Message) -> Iterator[tuple[str, Author]]:
    """What a message says, and who says it; the results of tools are said by tools, wherever they stand."""
    if message.role in SYSTEM_ROLES or message.own:
        yield message.text, "system"
    elif message.role == "user" and not message.results:
        yield message.text, "person"
    elif message.text:
        yield message.text, "assistant" if message.role == "assistant" else "tool"
    for result in message.results:
        yield result.text, "tool"


def parts_by_ledger(text: str, speaker: Author) -> Iterator[tuple[str, int, bool]]:
    """The parts of a text, where they begin, and whether they are a ledger; who has no authority has none."""
    at = 0
    for block in BLOCK.finditer(text) if speaker in AUTHORITIES else ():
        if speaker == "person" and is_quoted(text, block.start()):
            continue
        yield text[at : block.start()], at, False
        yield block["lines"], block.start("lines"), True
        at = block.end()
    yield text[at:], at, False
