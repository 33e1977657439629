"""The statements of one conversation that hold, the newest about each thing.

Promise: learning message by message equals learning at once, and learning is in proportion to what is new. A rule, a
constraint or a preference comes from a person or the system prompt, never from what an assistant or a tool says. What was
rendered is read again as what it was, so that no round of compaction wears it down. ``from_json(to_json())`` equals what
was saved.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict

from autogen_context.argument import require_text
from autogen_context.ledger.entry import Author, Entry
from autogen_context.ledger.known import Known, withdrawn
from autogen_context.ledger.reading import Reading, readings
from autogen_context.ledger.rendering import (
    BLOCK,
    CountText,
    Rendering,
    entries_in,
    entry_of,
    render,
)
from autogen_context.ledger.saved import SCHEMA, SavedLedger
from autogen_context.ledger.speakers import speeches
from autogen_context.ledger.spoken import parts_by_ledger, spoken
from autogen_context.ledger.step import Step
from autogen_context.ledger.values import Value, values
from autogen_context.messages.openai_chat import messages_in
from autogen_context.messages.saved import read_saved

MOST_REPORTED = 200  # entries that an assistant or a tool said; the oldest go first


class Ledger:
    """What was stated in one conversation and still holds."""

    def __init__(self) -> None:
        self._known = Known()

    def __iter__(self) -> Iterator[Entry]:
        """All entries, in the order in which they were said."""
        return iter(self.entries)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._known)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All entries, in the order in which they were said."""
        return tuple(self._known)

    def learn(self, messages: Iterable[object], *, start: int = 0) -> list[Entry]:
        """Take in what new messages state.

        Args:
            messages: oldest first, in OpenAI's format or as ``Message``.
            start: position of the first of them in the conversation.

        Returns:
            The entries that are new or changed.

        Raises:
            BrokenTranscript: one is no message; nothing was learnt.
            ValueError: it is no list; a text goes to ``learn_text``.
        """
        learnt: list[Entry] = []
        for position, message in enumerate(list(messages_in(messages)), start):
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

        Raises:
            ValueError: it is no text.
        """
        require_text("text", text)
        return [entry for step in self._steps(text, author, position) for entry in step.entries]

    def learn_places(
        self, text: str, *, author: Author = "person", position: int = 0
    ) -> list[tuple[int, int]]:
        """Take in what one text states, and tell where it does.

        Args:
            text: what was said, as for ``learn_text``.
            author: whose text it is.
            position: of its message, from 0.

        Returns:
            n pairs, in order and apart: where a statement begins that the ledger says now, or says no longer, and the place
            behind it.
        """
        steps = list(self._steps(text, author, position))
        given_up = {old.text for step in steps for old in step.given_up}
        given_up -= {entry.text for entry in self}
        places = {  # a statement that leans on the one before begins where that begins
            step.start: step.end for step in steps if step.takes and step.text not in given_up
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

        Raises:
            ValueError: it is no text.
        """
        ledger = cls()
        text = rendering.text if isinstance(rendering, Rendering) else rendering
        require_text("rendering", text, give="what rendered() gave, or its text")
        for block in BLOCK.finditer(text):
            for entry in entries_in(block["lines"], position):
                ledger._known.add(entry)
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
        saved = read_saved(SavedLedger, data, what="ledger entries", schema=SCHEMA)
        ledger = cls()
        ledger._known = Known(saved.entries)
        return ledger

    def _steps(self, text: str, author: Author, position: int) -> Iterator[Step]:
        """Take in what one text states, statement by statement."""
        for speaker, start, end in speeches(text, author):
            for part, offset, is_ledger in parts_by_ledger(text[start:end], speaker):
                if is_ledger:
                    yield self._fold(part, position)
                    continue
                for reading in readings(part, speaker):
                    yield self._take(reading, start + offset, position)

    def _fold(self, block: str, position: int) -> Step:
        """Take in what a ledger says, all of it at once: its entries replace none of its own."""
        new = [entry for entry in entries_in(block, position) if not self._known.say(entry)]
        stale = [self._known.stale(entry, marked=True) for entry in new]
        given_up = [
            old
            for entry, replaced in zip(new, stale, strict=True)
            for old in self._put(entry, replaced)
        ]
        return Step(entries=new, given_up=given_up)

    def _take(self, reading: Reading, offset: int, position: int) -> Step:
        """Do what a reading asks for."""
        took_back = self._withdraw(reading) if reading.taken_back else False
        entries = self._correct(reading, position) if reading.corrected else []
        given_up: list[Entry] = []
        if reading.kind is not None:
            entry = entry_of(reading.kind, reading.text, reading.author, position)
            if not self._known.say(entry):
                entries.append(entry)
                stale = [
                    *self._known.stale(entry, marked=reading.marked),
                    *self._known.saying(reading.leans_on),
                ] or self._known.revised(entry, raw=reading.raw, around=reading.around)
                given_up = self._put(entry, stale)
        return Step(
            start=offset + reading.start,
            end=offset + reading.end,
            text=reading.text,
            takes=took_back or bool(entries) or reading.kind is not None,
            entries=entries,
            given_up=given_up,
        )

    def _put(self, entry: Entry, replaced: Iterable[Entry]) -> list[Entry]:
        """Add an entry in the place of others, and give up the oldest that were reported beyond the limit."""
        for old in replaced:
            self._known.discard(old)
        self._known.add(entry)
        given_up: list[Entry] = []
        while len(self._known.reported) > MOST_REPORTED:
            given_up.append(next(iter(self._known.reported)))
            self._known.discard(given_up[-1])
        return given_up

    def _withdraw(self, reading: Reading) -> bool:
        meant = withdrawn(reading.taken_back, self._known)
        for entry in meant:
            self._known.discard(entry)
        return bool(meant)

    def _correct(self, reading: Reading, position: int) -> list[Entry]:
        for entry in reversed(self._known):
            found = values(entry.text)
            if (
                len(found) == 1
                and entry.author == reading.author
                and is_like(found[0], reading.corrected)
            ):
                text = entry.text[: found[0].start] + reading.corrected + entry.text[found[0].end :]
                self._known.discard(entry)
                corrected = entry_of(entry.kind, text, entry.author, position)
                self._known.add(corrected)
                return [corrected]
        return []


def is_like(value: Value, text: str) -> bool:
    """Whether a text is a value of the same kind, an amount of money being a number."""
    amounts = {"money", "number"}
    return any(
        {value.kind, other.kind} <= amounts or value.kind == other.kind
        for other in values(text)[:1]
    )
