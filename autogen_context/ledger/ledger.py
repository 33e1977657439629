"""The statements of one conversation that hold.

Promise: learning message by message equals learning at once, and costs what is new. A newer statement takes the place of an
older one only where both say the same of the same thing but for one value, or where it says what it corrects; else both
stay, the newest last. Rules come from people and the system prompt, never from what programs, pages or other agents say.
What was rendered is read again as what it was. ``from_json(to_json())`` equals what was saved.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace

from autogen_context.argument import require_text
from autogen_context.ledger.entry import AUTHORITIES, RULES, Author, Entry, Statement
from autogen_context.ledger.reader import read
from autogen_context.ledger.rendering import (
    BLOCK,
    CountText,
    Rendering,
    entries_in,
    entry_of,
    render,
)
from autogen_context.ledger.sentence import looked_at
from autogen_context.ledger.speakers import parts_by_ledger, speeches, spoken
from autogen_context.messages.message import Message
from autogen_context.messages.openai_chat import messages_in
from autogen_context.messages.people import People, is_users, people_in
from autogen_context.messages.saved import read_saved

SCHEMA = 2
LEADING_NUMBER = re.compile(r"\d[\d.,]*")
Mark = tuple[str, str]
LEAST_CONFIDENCE = 0.4
MOST_REPORTED = 200  # entries that an assistant said; the oldest go first


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What a statement did to a ledger.

    Attributes:
        entries: that are new or changed.
        given_up: what an assistant said longest ago, for which there are too many.
        start: where the statement begins in the text.
        stop: where it ends there.
        text: of the statement.
        acts: whether the ledger says it, or says something no longer.
    """

    entries: tuple[Entry, ...] = ()
    given_up: tuple[Entry, ...] = ()
    start: int = 0
    stop: int = 0
    text: str = ""
    acts: bool = False


class Ledger:
    """What was stated in one conversation and still holds.

    Args:
        people: names of people, beside those that can be told; everybody else who has a name is an agent.
        least_confidence: of what is taken in, 0..1.
    """

    def __init__(
        self, people: Collection[str] = (), *, least_confidence: float = LEAST_CONFIDENCE
    ) -> None:
        self._least_confidence = least_confidence
        self._people = People(names=frozenset(people))
        self._met = False  # whoever gave the first task, who is a person
        self._before: Message | None = None
        self._entries: dict[Entry, None] = {}
        self._reported: dict[Entry, None] = {}
        self._by_mark: dict[Mark, dict[Entry, None]] = {}

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

    def learn(self, messages: Iterable[object], *, start: int = 0) -> list[Entry]:
        """Take in what new messages state.

        Args:
            messages: oldest first, in OpenAI's format or as ``Message``; they follow those of the call before.
            start: position of the first of them in the conversation.

        Returns:
            The entries that are new or changed.

        Raises:
            InvalidTranscript: one is no message; nothing was learnt.
            ValueError: it is no list; a text goes to ``learn_text``.
        """
        learnt: list[Entry] = []
        for position, message in enumerate(list(messages_in(messages)), start):
            if not self._met and is_users(message):
                self._people, self._met = people_in([message], self._people.names), True
            for text, author in spoken(message, self._before, self._people):
                learnt += self.learn_text(text, author=author, position=position)
            self._before = message
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
        return [entry for taken in self._taken(text, author, position) for entry in taken.entries]

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
        taken = list(self._taken(text, author, position))
        given_up = {old.text for each in taken for old in each.given_up}
        given_up -= {entry.text for entry in self}
        return [
            (each.start, each.stop) for each in taken if each.acts and each.text not in given_up
        ]

    def forget(self, entry: Entry) -> None:
        """Leave an entry out if it is there."""
        self._discard(entry)

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
    def read(
        cls,
        rendering: str | Rendering,
        *,
        position: int = 0,
        least_confidence: float = LEAST_CONFIDENCE,
    ) -> "Ledger":
        """The ledger that was rendered.

        Args:
            rendering: what ``rendered`` gave, or its text.
            position: that of the message in which it stood.
            least_confidence: of what it takes in from then on, 0..1.

        Raises:
            ValueError: it is no text.
        """
        ledger = cls(least_confidence=least_confidence)
        text = rendering.text if isinstance(rendering, Rendering) else rendering
        require_text("rendering", text, give="what rendered() gave, or its text")
        for block in BLOCK.finditer(text):
            for entry in entries_in(block["lines"], position):
                ledger._add(entry)
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
        for entry in saved.entries:
            ledger._add(entry)
        return ledger

    def _taken(self, text: str, author: Author, position: int) -> Iterator[Taken]:
        """Take in what one text states, statement by statement."""
        for speaker, start, end in speeches(text, author):
            for part, offset, is_ledger in parts_by_ledger(text[start:end], speaker):
                if is_ledger:
                    yield self._fold(part, position)
                    continue
                fresh: set[Entry] = set()
                for statement in read(part, speaker):
                    if statement.confidence < self._least_confidence:
                        continue
                    taken = self._take(statement, speaker, position, fresh)
                    fresh.update(taken.entries)
                    at = start + offset
                    yield replace(taken, start=taken.start + at, stop=taken.stop + at)

    def _fold(self, block: str, position: int) -> Taken:
        """Take in what a ledger says, all of it at once: its entries replace none of its own."""
        new = [entry for entry in entries_in(block, position) if not self._says(entry)]
        stale = [old for entry in new for old in self._stale(entry, changes=True, fresh=set())]
        for old in dict.fromkeys(stale):
            self._discard(old)
        return Taken(entries=tuple(new), given_up=tuple(self._put(new)))

    def _take(
        self, statement: Statement, author: Author, position: int, fresh: Collection[Entry]
    ) -> Taken:
        """Do what a statement asks for; ``fresh`` is what its own text stated before it."""
        gone = self._withdrawn(statement, author)
        unclear = len(gone) > 1  # then all stay, and what it says stands behind them
        gone = [] if unclear else gone
        entries = self._recast(statement, author, position) if statement.recasts else []
        unclear = unclear or bool(statement.recasts and not entries)
        kind = "decision" if statement.kind == "withdrawal" and unclear else statement.kind
        if kind != "withdrawal" and not entries:
            entry = entry_of(kind, statement.text, author, position)
            if not self._says(entry):
                gone += self._stale(entry, changes=statement.changes, fresh=fresh)
                entries = [entry]
        for old in dict.fromkeys(gone):
            self._discard(old)
        return Taken(
            start=statement.start,
            stop=statement.stop,
            text=statement.text,
            acts=bool(gone or entries) or kind != "withdrawal",
            entries=tuple(entries),
            given_up=tuple(self._put(entries)),
        )

    def _put(self, entries: Iterable[Entry]) -> list[Entry]:
        """Add entries behind the others, and give up the oldest that were reported beyond the limit."""
        for entry in entries:
            self._add(entry)
        given_up: list[Entry] = []
        while len(self._reported) > MOST_REPORTED:
            given_up.append(next(iter(self._reported)))
            self._discard(given_up[-1])
        return given_up

    def _add(self, entry: Entry) -> None:
        self._entries.setdefault(entry)
        if entry.reported:
            self._reported.setdefault(entry)
        for mark in marks_of(entry):
            self._by_mark.setdefault(mark, {})[entry] = None

    def _discard(self, entry: Entry) -> None:
        if entry in self._entries:
            del self._entries[entry]
            self._reported.pop(entry, None)
            for mark in marks_of(entry):
                self._by_mark[mark].pop(entry, None)

    def _marked(self, *marks: Mark) -> dict[Entry, None]:
        """The entries that have one of these marks, in order."""
        return {entry: None for mark in marks for entry in self._by_mark.get(mark, ())}

    def _says(self, entry: Entry) -> bool:
        """Whether somebody with as much authority said the same."""
        return any(
            old.reported <= entry.reported for old in self._marked(("text", entry.text.casefold()))
        )

    def _stale(self, new: Entry, *, changes: bool, fresh: Collection[Entry]) -> list[Entry]:
        """The entries in whose place a new one comes; in one text only what says that it changes something does."""
        sentence = looked_at(new.text)
        near = self._marked(("key", sentence.key), ("mask", sentence.mask))
        known = near if changes else [old for old in near if old not in fresh]
        return [old for old in known if replaces(new, old, changes=changes)]

    def _withdrawn(self, statement: Statement, author: Author) -> list[Entry]:
        """The entries that may be meant by what is taken back, those that say least beside it."""
        terms = looked_at(statement.withdraws).terms
        if not terms:
            return []
        rarest = min((self._marked(("term", term)) for term in terms), key=len)
        meant = [old for old in rarest if may_replace(author, old) and withdraws(statement, old)]
        extra = {old: len(looked_at(old.text).terms - terms) for old in meant}
        return [old for old in meant if extra[old] == min(extra.values())]

    def _recast(self, statement: Statement, author: Author, position: int) -> list[Entry]:
        """The newest entry of an author with another value, if it has one of that kind."""
        value = looked_at(statement.recasts).values[-1:]
        old = next((each for each in reversed(self._entries) if each.author == author), None)
        if old is None or not value:
            return []
        found = [each for each in looked_at(old.text).values if each.group == value[0].group]
        if len(found) != 1:
            return []
        bare = value[0].kind == "number" and found[0].kind == "money"
        given = LEADING_NUMBER.sub(value[0].text, found[0].text) if bare else value[0].text
        text = old.text[: found[0].start] + given + old.text[found[0].stop :]
        self._discard(old)
        return [entry_of(old.kind, text, author, position)]


def marks_of(entry: Entry) -> Iterator[Mark]:
    """By what an entry is found."""
    sentence = looked_at(entry.text)
    yield "text", entry.text.casefold()
    for kind, mark in (("key", sentence.key), ("mask", sentence.mask)):
        if mark:
            yield kind, mark
    for term in sentence.terms:
        yield "term", term


def replaces(new: Entry, old: Entry, *, changes: bool) -> bool:
    """Whether a newer statement comes in the place of an older one.

    Args:
        new: what is stated now.
        old: what was stated before.
        changes: whether it says that something is otherwise now.
    """
    if new.text == old.text or not may_replace(new.author, old):
        return False
    one, other = looked_at(new.text), looked_at(old.text)
    if one.key and one.key == other.key:
        return one.relation == other.relation or None in {one.relation, other.relation}
    if not changes or not one.mask or one.mask != other.mask:
        return False
    return not (old.kind in RULES and "<term>" in one.mask)  # of two rules for two things both hold


def may_replace(author: Author, old: Entry) -> bool:
    """Whether somebody has the say: over the system's safety rules the system, over people's words no assistant."""
    if old.author == "system" and old.kind == "safety rule":
        return author == "system"
    return old.reported or author in AUTHORITIES


def withdraws(statement: Statement, old: Entry) -> bool:
    """Whether an entry has all that is taken back; what stands "instead of" it must speak of the same, and lose nothing."""
    gone, known = looked_at(statement.withdraws), looked_at(old.text)
    if not gone.terms <= known.terms or statement.text == old.text:
        return False
    if not looked_at(statement.text).has("instead", "not_but"):
        return True
    shared = looked_at(statement.text).terms & known.terms - gone.terms
    kept = [value.text for value in known.values if value.text not in statement.text]
    return bool(shared) and not kept


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedLedger:
    """The shape of a saved state."""

    schema: int
    entries: tuple[Entry, ...]
