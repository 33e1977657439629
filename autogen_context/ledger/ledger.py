"""The statements of one conversation that are still valid, each with its author.

Promise: learning message by message gives the same ledger as learning all at once, at a cost proportional to the new text.
A newer statement replaces an older one only if the two differ in a single value, or if it names what it corrects;
otherwise both are kept, the newest last. Rules come only from people and the system prompt, never from tool output, web
pages or other agents: text cannot claim authority for itself. A rendered ledger is read back as the same statements.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Literal, cast

from autogen_context.argument import require_text
from autogen_context.ledger.reader import (
    AUTHORITIES,
    RULES,
    Author,
    Entry,
    Statement,
    is_quoted,
    looked_at,
    read,
)
from autogen_context.ledger.rendering import (
    BLOCK,
    CountText,
    Rendering,
    entries_in,
    entry_of,
    render,
)
from autogen_context.messages.message import Message, Origin
from autogen_context.messages.openai_chat import messages_in
from autogen_context.messages.origin import Declared, speaks_for_model, with_origin

AUTHORS: dict[
    Origin | Literal[""], Author
] = {  # what programs say, and what is doubtful, states nothing
    "system": "system",
    "person": "person",
    "agent": "assistant",
    "unknown": "assistant",
}
LEADING_NUMBER = re.compile(r"\d[\d.,]*")
Mark = tuple[str, str]
MOST_REPORTED = 200  # entries not from an authority (assistant, tool); the oldest are evicted first
SPEAKERS: dict[str, Author] = {  # role names used in transcripts
    **dict.fromkeys(("user", "human", "customer"), "person"),
    **dict.fromkeys(("assistant", "ai", "agent", "bot"), "assistant"),
    **dict.fromkeys(("tool", "function", "observation", "tool result", "tool output"), "tool"),
    **dict.fromkeys(("function result", "function output"), "tool"),
    **dict.fromkeys(("system", "developer"), "system"),
}
ROLE = "|".join(sorted(SPEAKERS, key=len, reverse=True))
MARKER = re.compile(
    rf"^[ \t]*(?:\[(?P<bracketed>{ROLE})(?: calls [^\]\n]{{1,80}})?\]:?|(?P<plain>{ROLE}):|\*\*(?P<starred>{ROLE})(?::\*\*|\*\*:)|<(?P<tagged>{ROLE})>|\#+ (?P<headed>{ROLE}):?[ \t]*$)",
    re.IGNORECASE | re.MULTILINE,
)
INNER = re.compile(rf"[ \t]*\[(?P<bracketed>{ROLE})\]:?", re.IGNORECASE)


class Ledger:
    """The statements of one conversation that are still valid; ``people`` and ``program_output`` as in the settings."""

    def __init__(
        self,
        people: Collection[str] = (),
        *,
        program_output: Collection[str] = (),
        only_sure: bool = False,
    ) -> None:
        self._only_sure = only_sure
        self._declared = Declared.of(people, program_output)
        self._asked: Message | None = None  # the newest message of the model or a tool
        self._entries: dict[Entry, None] = {}
        self._reported: dict[Entry, None] = {}
        self._by_mark: dict[Mark, dict[Entry, None]] = {}

    def __iter__(self) -> Iterator[Entry]:
        """Iterate over all entries in the order in which they were stated."""
        return iter(tuple(self._entries))

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self._entries)

    def learn(self, messages: Iterable[object], *, start: int = 0) -> list[Entry]:
        """Learn the statements of new messages and return the new entries; ``start`` is the first message's position."""
        learnt: list[Entry] = []
        for position, message in enumerate(list(messages_in(messages)), start):
            known = message if message.origin else with_origin(message, self._asked, self._declared)
            self._asked = message if speaks_for_model(message) else self._asked
            author = AUTHORS.get(known.origin)
            if author is not None:
                learnt += self._learn(said_in(message.text, author), position)
        return learnt

    def learn_text(self, text: str, *, author: Author = "person", position: int = 0) -> list[Entry]:
        """Learn the statements of one text or transcript and return the new entries."""
        require_text("text", text)
        return self._learn(statements_in(text, author), position)

    def _learn(self, stated: Iterable[tuple[Author, Statement]], position: int) -> list[Entry]:
        learnt: list[Entry] = []
        for speaker, statement in stated:
            if statement.sure or not self._only_sure:
                learnt += self._take(statement, speaker, position, learnt)
        return learnt

    def forget(self, entry: Entry) -> None:
        """Remove an entry if it is present."""
        if entry in self._entries:
            del self._entries[entry]
            self._reported.pop(entry, None)
            for mark in marks_of(entry):
                self._by_mark[mark].pop(entry, None)

    def rendered(self, *, room_tokens: int, count: CountText) -> Rendering:
        """Render the ledger within a token budget."""
        return render(tuple(self), room_tokens=room_tokens, count=count)

    @classmethod
    def read(cls, rendering: str, *, only_sure: bool = False) -> "Ledger":
        """Rebuild a ledger from its rendered text."""
        ledger = cls(only_sure=only_sure)
        require_text("rendering", rendering, give="what rendered() gave")
        for block in BLOCK.finditer(rendering):
            ledger._put(entries_in(block["lines"], 0))
        return ledger

    def _take(
        self, statement: Statement, author: Author, position: int, fresh: Collection[Entry]
    ) -> list[Entry]:
        gone = self._withdrawn(statement, author)
        unclear = len(gone) > 1  # ambiguous: keep all, and add the statement after them
        gone = [] if unclear else gone
        entries = self._recast(statement, author, position) if statement.recasts else []
        unclear = unclear or bool(statement.recasts and not entries)
        kind = "decision" if statement.kind == "withdrawal" and unclear else statement.kind
        if kind != "withdrawal" and not entries:
            entry = entry_of(kind, statement.text, author, position)
            if not self._says(entry):
                gone += self._stale(entry, changes=statement.changes, fresh=fresh)
                entries = [entry]
        for old in gone:
            self.forget(old)
        self._put(entries)
        return entries

    def _put(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            self._entries.setdefault(entry)
            if entry.reported:
                self._reported.setdefault(entry)
            for mark in marks_of(entry):
                self._by_mark.setdefault(mark, {})[entry] = None
        while len(self._reported) > MOST_REPORTED:
            self.forget(next(iter(self._reported)))

    def _marked(self, *marks: Mark) -> dict[Entry, None]:
        return {entry: None for mark in marks for entry in self._by_mark.get(mark, ())}

    def _says(self, entry: Entry) -> bool:
        same = self._marked(("text", entry.text.casefold()))
        return any(old.reported <= entry.reported for old in same)

    def _stale(self, new: Entry, *, changes: bool, fresh: Collection[Entry] = ()) -> list[Entry]:
        sentence = looked_at(new.text)
        near = self._marked(("subject", sentence.subject.key))
        known = [old for old in near if changes or old not in fresh]
        return [old for old in known if replaces(new, old, changes=changes)]

    def _withdrawn(self, statement: Statement, author: Author) -> list[Entry]:
        """Return the entries that the statement may withdraw: of the matching ones, those with the fewest other terms."""
        terms = looked_at(statement.withdraws).terms
        if not terms:
            return []
        rarest = min((self._marked(("term", term)) for term in terms), key=len)
        meant = [old for old in rarest if may_replace(author, old) and withdraws(statement, old)]
        extra = {old: len(looked_at(old.text).terms - terms) for old in meant}
        return [old for old in meant if extra[old] == min(extra.values())]

    def _recast(self, statement: Statement, author: Author, position: int) -> list[Entry]:
        """Return the author's newest entry with its value replaced; empty unless it has exactly one value of that group."""
        value = looked_at(statement.recasts).values[-1]
        old = next((each for each in reversed(self._entries) if each.author == author), None)
        values = looked_at(old.text).values if old else ()
        found = [each for each in values if each.group == value.group]
        if old is None or len(found) != 1:
            return []
        is_bare = LEADING_NUMBER.fullmatch(value.text) is not None  # it keeps the currency
        given = LEADING_NUMBER.sub(value.text, found[0].text) if is_bare else value.text
        self.forget(old)
        text = old.text[: found[0].start] + given + old.text[found[0].stop :]
        return [entry_of(old.kind, text, author, position)]


def marks_of(entry: Entry) -> Iterator[Mark]:
    """Return the index keys of an entry."""
    sentence = looked_at(entry.text)
    yield "text", entry.text.casefold()
    if sentence.subject.key:
        yield "subject", sentence.subject.key
    for term in sentence.terms:
        yield "term", term


def replaces(new: Entry, old: Entry, *, changes: bool) -> bool:
    """Return True if a new entry replaces an older one; ``changes`` says that its wording announces a change."""
    if new.text == old.text or not may_replace(new.author, old):
        return False
    one, other = looked_at(new.text).subject, looked_at(old.text).subject
    if not one.key or one.key != other.key:
        return False
    if one.linked:
        return one.relation == other.relation or None in {one.relation, other.relation}
    return changes and not (old.kind in RULES and "<term>" in one.key)  # both rules stay


def may_replace(author: Author, old: Entry) -> bool:
    """Return True if an author may replace an entry.

    Assistants and tools may replace only reported entries; only the system may replace its safety rules.
    """
    if old.author == "system" and old.kind == "safety rule":
        return author == "system"
    return old.reported or author in AUTHORITIES


def withdraws(statement: Statement, old: Entry) -> bool:
    """Return True if an entry has all withdrawn terms; "instead of" must also share a term and repeat all its values."""
    gone, known = looked_at(statement.withdraws), looked_at(old.text)
    if not gone.terms <= known.terms or statement.text == old.text:
        return False
    if not looked_at(statement.text).has("instead", "not_but"):
        return True
    shared = looked_at(statement.text).terms & known.terms - gone.terms
    return bool(shared) and all(value.text in statement.text for value in known.values)


def said_in(text: str, author: Author) -> Iterator[tuple[Author, Statement]]:
    """Yield the statements of a message; marks of speakers in its text may take authority from it, and never give it more."""
    for speaker, statement in statements_in(text, author):
        yield (author if speaker == "system" else speaker), statement


def statements_in(text: str, author: Author) -> Iterator[tuple[Author, Statement]]:
    """Yield the statements of a text or transcript, each with who makes it."""
    for speaker, start, end in speeches(text, author):
        for statement in read(text[start:end], speaker, start):
            yield speaker, statement


def speeches(text: str, author: Author) -> Iterator[tuple[Author, int, int]]:
    """Split a text or transcript into ``(speaker, start, end)``; only markers in the style of the first one count."""
    markers = list(MARKER.finditer(text)) if author in AUTHORITIES else []
    before = markers[0].start() if markers else len(text)
    opens = not text[:before].strip()
    if not markers or not (opens or (len(markers) > 1 and not is_quoted(text, before))):
        yield author, 0, len(text)
        return
    turns = [match for match in markers if match.lastgroup == markers[0].lastgroup]
    yield author, 0, before
    ends = [match.start() for match in turns[1:]] + [len(text)]
    for turn, end in zip(turns, ends, strict=True):
        speaker = SPEAKERS[turn[cast("str", turn.lastgroup)].lower()]
        if speaker == "system" and not opens:  # a later line that claims to be the system
            speaker = "tool"
        start, opens = turn.end(), False
        while turn.lastgroup == "bracketed" and (inner := INNER.match(text, start, end)):
            named = SPEAKERS[inner["bracketed"].lower()]  # the original speaker of a quote
            start = inner.end()
            speaker = speaker if named in AUTHORITIES or speaker not in AUTHORITIES else named
        yield speaker, start, end
