"""The statements of one conversation that are still valid, each with its author.

Promise: learning message by message gives the same ledger as learning all at once, at a cost proportional to the new text.
A newer statement replaces an older one only if the two differ in a single value, or if it names what it corrects;
otherwise both are kept, the newest last. Rules come only from people and the system prompt, never from tool output, web
pages or other agents: text cannot claim authority for itself. A rendered ledger is read back as the same statements.
"""

import re
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from itertools import accumulate, islice, takewhile
from typing import Literal, get_args

from autogen_context.argument import require_text
from autogen_context.language.own_words import is_quoted
from autogen_context.ledger.reader import (
    AUTHORITIES,
    READ_CHARS,
    RULES,
    Entry,
    Statement,
    looked_at,
    read,
)
from autogen_context.ledger.rendering import BLOCK, Rendering, entries_in, entry_of, render
from autogen_context.messages.message import Message, Origin
from autogen_context.messages.openai_chat import messages_in
from autogen_context.messages.origin import LOOK_BACK, Declared, asked_before, origin_of
from autogen_context.text.fit import CountText
from autogen_context.text.memo import remembered, with_memo
from autogen_context.text.passage import Author
from autogen_context.text.work import STATEMENT_CHARS

AUTHORS: dict[Origin, Author] = {  # what is a program's, or doubtful, states nothing
    "system": "system",
    "person": "person",
    "agent": "assistant",
    "unknown": "assistant",
}
LEADING_NUMBER = re.compile(r"\d[\d.,]*")
Mark = tuple[str, ...]
# Entries with a word of a withdrawal; among more it is not clear which one is meant.
MOST_WITHDRAWABLE = 200
KEPT_TEXTS = 16  # whose statements are remembered: the ledger and a brief form ask for the same
MOST_REPORTED = 200  # entries not from an authority (assistant, tool); the oldest are evicted first
SPEAKERS: dict[str, Author] = {  # role names used in transcripts
    **dict.fromkeys(("user", "human", "customer"), "person"),
    **dict.fromkeys(("assistant", "ai", "agent", "bot"), "assistant"),
    **dict.fromkeys(("tool", "function", "observation", "tool result", "tool output"), "tool"),
    **dict.fromkeys(("function result", "function output"), "tool"),
    **dict.fromkeys(("system", "developer"), "system"),
}
Owner = Literal[
    "system's safety rule",
    "person's rule",
    "person's wish",
    "own rule",
    "own",
    "reported rule",
    "reported",
]
ANYBODY: frozenset[Author] = frozenset(get_args(Author))
REPLACED_BY: dict[Owner, frozenset[Author]] = {  # whose entries which authors may replace
    "system's safety rule": frozenset({"system"}),
    "person's rule": frozenset({"person"}),
    "person's wish": frozenset({"person"}),
    "own rule": AUTHORITIES,
    "own": AUTHORITIES,
    "reported rule": ANYBODY,
    "reported": ANYBODY,
}
ROLE = "|".join(sorted(SPEAKERS, key=len, reverse=True))
INITIALS = "".join(sorted({role[0] for role in SPEAKERS}))
MARKER = re.compile(
    rf"^[ \t]*(?=[\[*<#{INITIALS}])(?:\[(?P<bracketed>{ROLE})(?: calls [^\]\n]{{1,80}})?\]:?|(?P<plain>{ROLE}):|\*\*(?P<starred>{ROLE})(?::\*\*|\*\*:)|<(?P<tagged>{ROLE})>|\#+ (?P<headed>{ROLE}):?[ \t]*$)",
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
        self._recent = deque[Message](maxlen=LOOK_BACK)
        self._entries: dict[Entry, None] = {}
        self._reported: dict[Entry, None] = {}
        self._by_mark: dict[Mark, dict[Entry, None]] = {}  # for each mark its entries, newest last

    def __iter__(self) -> Iterator[Entry]:
        """Iterate over all entries in the order in which they were stated."""
        return iter(tuple(self._entries))

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self._entries)

    def __contains__(self, entry: object) -> bool:
        """Return True if an entry is still valid."""
        return entry in self._entries

    @with_memo
    def learn(self, messages: Iterable[object], *, start: int = 0) -> list[Entry]:
        """Learn the statements of new messages and return the new entries; ``start`` is the first message's position."""
        learnt: list[Entry] = []
        for position, message in enumerate(list(messages_in(messages)), start):
            asked = asked_before(self._recent, len(self._recent))
            author = AUTHORS.get(message.origin or origin_of(message, asked, self._declared))
            self._recent.append(message)
            if author is not None:
                learnt += self._learn(said_in(message.text, author), position)
        return learnt

    @with_memo
    def learn_text(self, text: str, *, author: Author = "person", position: int = 0) -> list[Entry]:
        """Learn the statements of one text or transcript and return the new entries."""
        require_text("text", text)
        return self._learn(statements_in(text, author), position)

    def _learn(self, stated: Iterable[tuple[Author, Statement]], position: int) -> list[Entry]:
        learnt: list[Entry] = []
        fresh: set[Entry] = set()  # the same
        for speaker, statement in stated:
            if statement.sure or not self._only_sure:
                new = self._take(statement, speaker, position, fresh)
                learnt += new
                fresh.update(new)
        return learnt

    def add(self, entries: Iterable[Entry]) -> None:
        """Add entries that were learnt before."""
        self._put(entries)

    def forget(self, entry: Entry) -> None:
        """Remove an entry if it is present."""
        if entry in self._entries:
            del self._entries[entry]
            self._reported.pop(entry, None)
            for mark in marks_of(entry):
                known = self._by_mark.get(mark, {})
                known.pop(entry, None)
                if not known:
                    self._by_mark.pop(mark, None)

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
                known = self._by_mark.setdefault(mark, {})
                known.pop(entry, None)  # stated again, it is the newest
                known[entry] = None
        while len(self._reported) > MOST_REPORTED:
            self.forget(next(iter(self._reported)))

    def _marked(self, *mark: str) -> dict[Entry, None]:
        return self._by_mark.get(mark, {})

    def _says(self, entry: Entry) -> bool:
        same = self._marked("text", entry.text.casefold())
        return any(old.reported <= entry.reported for old in same)

    def _stale(self, new: Entry, *, changes: bool, fresh: Collection[Entry] = ()) -> list[Entry]:
        """Return the entries that a new one replaces; those of its own text (``fresh``) only if it announces a change.

        All entries with one mark are replaceable or none is, and fresh ones are the newest: nothing is looked at twice.
        """
        found: list[Entry] = []
        for mark in stale_marks(new, changes=changes):
            if changes:
                found += self._marked(*mark)
            else:
                found += takewhile(lambda old: old not in fresh, self._marked(*mark))
        return [old for old in found if old.text != new.text]

    def _withdrawn(self, statement: Statement, author: Author) -> list[Entry]:
        """Return the entries that the statement may withdraw: of the matching ones, those with the fewest other terms."""
        terms = looked_at(statement.withdraws).terms
        if not terms:
            return []
        rarest = min((self._marked("term", term) for term in terms), key=len)
        if len(rarest) > MOST_WITHDRAWABLE:
            return [*islice(rarest, 2)]  # it is not clear which one is meant
        meant = [old for old in rarest if may_replace(author, old) and withdraws(statement, old)]
        extra = {old: len(looked_at(old.text).terms - terms) for old in meant}
        fewest = min(extra.values(), default=0)
        return [old for old in meant if extra[old] == fewest]

    def _recast(self, statement: Statement, author: Author, position: int) -> list[Entry]:
        """Return the author's newest entry with its value replaced; empty unless it has exactly one value of that group."""
        value = looked_at(statement.recasts).values[-1]
        old = next(reversed(self._marked("author", author)), None)
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
    yield "text", entry.text.casefold()
    yield "author", entry.author
    yield from subject_marks(entry)
    for term in looked_at(entry.text).terms:
        yield "term", term


def subject_marks(entry: Entry) -> Iterator[Mark]:
    """Yield the index keys by which a newer entry replaces this one: subject and owner, without and with the relation."""
    subject = looked_at(entry.text).subject
    if subject.key:
        about = "subject", subject.key, owner_of(entry)
        yield about
        yield (*about, "changed" if subject.relation is None else f"is {subject.relation}")


def stale_marks(new: Entry, *, changes: bool) -> Iterator[Mark]:
    """Yield the index keys of the entries that a new one replaces; ``changes`` says that its wording announces a change."""
    subject = looked_at(new.text).subject
    if not subject.key or not (subject.linked or changes):
        return
    for owner, authors in REPLACED_BY.items():
        if new.author not in authors:
            continue
        about = "subject", subject.key, owner
        if subject.linked and subject.relation is not None:
            yield (*about, f"is {subject.relation}")
            yield (*about, "changed")
        elif subject.linked or not (owner.endswith("rule") and "<term>" in subject.key):
            yield about  # of rules about different things both stay


def replaces(new: Entry, old: Entry, *, changes: bool) -> bool:
    """Return True if a new entry replaces an older one; ``changes`` says that its wording announces a change."""
    if new.text == old.text:
        return False
    return not set(stale_marks(new, changes=changes)).isdisjoint(subject_marks(old))


def owner_of(entry: Entry) -> Owner:
    """Return whose entry it is, for who may replace it."""
    if entry.kind == "safety rule" and entry.author == "system":
        return "system's safety rule"
    if entry.reported:
        return "reported rule" if entry.kind in RULES else "reported"
    if entry.author == "person" and entry.kind in {*RULES, "preference"}:
        return "person's rule" if entry.kind in RULES else "person's wish"
    return "own rule" if entry.kind in RULES else "own"


def may_replace(author: Author, old: Entry) -> bool:
    """Return True if an author may replace an entry."""
    return author in REPLACED_BY[owner_of(old)]


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
        yield (author if speaker in AUTHORITIES else speaker), statement


@remembered(KEPT_TEXTS)
def statements_in(text: str, author: Author) -> tuple[tuple[Author, Statement], ...]:
    """Return the statements of a text or transcript, each with who makes it; of many speeches the first and the last are read."""
    return tuple(
        (speaker, statement)
        for speaker, start, end in speeches(text, author)
        for statement in read(text[start:end], speaker, start)
    )


def speeches(text: str, author: Author) -> Iterator[tuple[Author, int, int]]:
    """Split a text or transcript into ``(speaker, start, end)``; only markers in the style of the first one count.

    Of many speeches those at either end come that together reach ``STATEMENT_CHARS`` of what is read of them.
    """
    markers = list(MARKER.finditer(text)) if author in AUTHORITIES else []
    before = markers[0].start() if markers else len(text)
    opens = not text[:before].strip()
    if not markers or not (opens or (len(markers) > 1 and not is_quoted(text, before))):
        yield author, 0, len(text)
        return
    turns = [match for match in markers if match.lastgroup == markers[0].lastgroup]
    yield author, 0, before
    ends = [*(match.start() for match in turns[1:]), len(text)]

    def reached(places: range) -> int:
        sizes = (chars_of(turns[at], ends[at]) for at in places)
        return sum(1 for _ in takewhile(lambda chars: chars < STATEMENT_CHARS, accumulate(sizes)))

    first = reached(range(len(turns))) + 1
    last = len(turns) - 1 - reached(range(len(turns))[: first - 1 : -1])
    for at in (*range(len(turns))[:first], *range(max(first, last), len(turns))):
        speaker, start = speaker_of(text, turns[at], ends[at])
        if speaker == "system" and (at or not opens):  # a later line that claims to be the system
            speaker = "tool"
        yield speaker, start, ends[at]


def chars_of(turn: re.Match[str], end: int) -> int:
    """Return how much is read for a speech: its marker, and what its speaker may say."""
    most = 2 * READ_CHARS[SPEAKERS[turn[turn.lastgroup or 0].lower()]]
    return turn.end() - turn.start() + min(end - turn.end(), most)


def speaker_of(text: str, turn: re.Match[str], end: int) -> tuple[Author, int]:
    """Return who speaks, and where the speech begins: behind the marker, and behind those of what it quotes."""
    speaker, start = SPEAKERS[turn[turn.lastgroup or 0].lower()], turn.end()
    while turn.lastgroup == "bracketed" and (inner := INNER.match(text, start, end)):
        named = SPEAKERS[inner["bracketed"].lower()]  # the original speaker of a quote
        start = inner.end()
        speaker = speaker if named in AUTHORITIES or speaker not in AUTHORITIES else named
    return speaker, start
