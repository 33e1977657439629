"""Which statements a newer one makes stale.

Promise: pure. What is about the same goes, what may be about something else stays: where it cannot be told, both stay. Who
has no authority makes nothing stale that somebody with authority said, and nobody takes back a safety rule of the system.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from itertools import chain, islice

from autogen_context.ledger.content import terms_of
from autogen_context.ledger.cue import words_in
from autogen_context.ledger.english_cues import DIFFERENT, WORDS
from autogen_context.ledger.entry import Entry
from autogen_context.ledger.measures import measures_of
from autogen_context.ledger.parts import parts_of
from autogen_context.ledger.revision import Said
from autogen_context.ledger.subject import MARKED_HEADS, Subject, subject_of
from autogen_context.ledger.values import values

OLD = re.compile(DIFFERENT)
SHIFTING = frozenset(
    {"money", "date", "time", "zone"}
)  # kinds of value of which there is one at a time
MOST_ALIKE = 100  # of the newest entries that measure the same, for one that is revised
DENYING = frozenset(f"{WORDS['DIFFERENT']} from".split())
Mark = tuple[str, str | frozenset[str]]
FROM = re.compile(r"\bfrom (?P<old>[\w.#/@-]+(?: [\w.-]+)?) to\b", re.IGNORECASE)


class Known:
    """Entries, in the order in which they were said, and by what a newer one finds those that it makes stale.

    Args:
        entries: the first of them.
    """

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._entries: dict[Entry, None] = {}
        self._reported: dict[Entry, None] = {}
        self._by_mark: dict[Mark, dict[Entry, None]] = {}
        for entry in entries:
            self.add(entry)

    def __iter__(self) -> Iterator[Entry]:
        """All entries, the oldest first."""
        return iter(self._entries)

    def __reversed__(self) -> Iterator[Entry]:
        """All entries, the newest first."""
        return reversed(self._entries)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._entries)

    @property
    def reported(self) -> Collection[Entry]:
        """Those that nobody with authority said, the oldest first."""
        return self._reported.keys()

    def add(self, entry: Entry) -> None:
        """Add an entry behind the others, unless it is there."""
        self._entries.setdefault(entry)
        if entry.reported:
            self._reported.setdefault(entry)
        for mark in marks_of(entry):
            self._by_mark.setdefault(mark, {})[entry] = None

    def discard(self, entry: Entry) -> None:
        """Remove an entry if it is there."""
        if entry in self._entries:
            del self._entries[entry]
            self._reported.pop(entry, None)
            for mark in marks_of(entry):
                self._by_mark[mark].pop(entry, None)

    def say(self, entry: Entry) -> bool:
        """Whether somebody with as much authority said the same."""
        return any(old.reported <= entry.reported for old in self.saying(entry.text))

    def saying(self, text: str) -> Collection[Entry]:
        """The entries of a text."""
        return tuple(self._marked(("text", text)))

    def stale(self, new: Entry, *, marked: bool) -> list[Entry]:
        """The entries in whose place a new one comes.

        Args:
            new: what is stated now.
            marked: whether it says that something changed.
        """
        subject = subject_of(new.text)
        found = [
            old
            for old in self._replaceable(new, (subject.head, subject.terms))
            if is_same(subject, subject_of(old.text), marked=marked)
        ]
        if not found and may_be_part(subject, marked=marked):
            parts = self._replaceable(new, ("head", subject.head))
            found = only(
                [old for old in parts if is_part(subject, subject_of(old.text), marked=marked)]
            )
        if not found and subject.terms:
            changed = self._replaceable(new, ("terms", subject.terms))
            found = only([old for old in changed if is_changed(new, old, marked=marked)])
        return list(dict.fromkeys([*found, *self._denied(new)]))

    def revised(self, new: Entry, *, raw: str, around: str) -> list[Entry]:
        """The entry of which a new one gives a value anew, in other words.

        Args:
            new: what is stated now.
            raw: as it was said.
            around: what was said just before, of which it may speak.
        """
        if denied_in(new.text):
            return []
        marks = [self._by_mark.get(("measure", measure), {}) for measure in measures_of(new.text)]
        newest = chain.from_iterable(islice(reversed(mark), MOST_ALIKE) for mark in marks)
        alike = {old.text: old for old in newest if may_replace(new, old)}
        alike.pop(new.text, None)
        old = Said(text=new.text, raw=raw, around=around).revises(alike)
        return [] if old is None else [alike[old]]

    def _denied(self, new: Entry) -> Iterator[Entry]:
        """Those of which the new one says that they are no longer so."""
        denied = denied_in(new.text)
        for text in denied:
            for old in self._replaceable(new, ("value", text.partition(" ")[0])):
                if is_denied(old, denied, new):
                    yield old

    def _replaceable(self, new: Entry, mark: Mark) -> list[Entry]:
        return [old for old in self._marked(mark) if may_replace(new, old) and old.text != new.text]

    def _marked(self, mark: Mark) -> Iterable[Entry]:
        return self._by_mark.get(mark, ())


def marks_of(entry: Entry) -> Iterator[Mark]:
    """By what an entry is found: its text, its subject and parts of that, and how its values begin."""
    subject = subject_of(entry.text)
    yield "text", entry.text
    yield "head", subject.head
    yield "terms", subject.terms
    yield subject.head, subject.terms
    for value in values(entry.text):
        yield "value", value.text.partition(" ")[0]
    for measure in measures_of(entry.text):
        yield "measure", measure


def made_stale(new: Entry, known: Iterable[Entry], *, marked: bool) -> list[Entry]:
    """The entries of some in whose place a new one comes; ``marked`` says whether it says that something changed."""
    return Known(known).stale(new, marked=marked)


def may_replace(new: Entry, old: Entry) -> bool:
    """Whether its author has the authority."""
    if old.author == "system" and old.kind == "safety rule":
        return new.author == "system"
    return old.reported or not new.reported


def is_changed(new: Entry, old: Entry, *, marked: bool) -> bool:
    """Whether the new one says in other words that a value of the old one is another now."""
    subject, about = subject_of(new.text), subject_of(old.text)
    if not subject.terms or subject.terms != about.terms:
        return False
    kinds = {value.kind for value in values(old.text)} & {value.kind for value in values(new.text)}
    if not kinds:
        return False
    if subject.head == about.head == "said":
        return marked and not kinds.isdisjoint(SHIFTING)
    moves = parts_of(new.text).form in {"moved", "ordered"}
    return subject.names == about.names and (moves or (marked and not kinds.isdisjoint(SHIFTING)))


def is_same(new: Subject, old: Subject, *, marked: bool) -> bool:
    """Whether both are about the same; another value makes another rule, unless it is said to be new."""
    if new.head in MARKED_HEADS and not marked and new.names != old.names:
        return False
    return new.terms == old.terms and (new.names == old.names or new.head in MARKED_HEADS)


def may_be_part(new: Subject, *, marked: bool) -> bool:
    """Whether a statement about this may name another one in fewer words."""
    return marked and bool(new.terms) if new.head in MARKED_HEADS else new.head != "said"


def is_part(new: Subject, old: Subject, *, marked: bool) -> bool:
    """Whether the new one names the old one in fewer words."""
    if new.head in MARKED_HEADS:
        return new.terms < old.terms
    if old.names and not marked:
        return False
    return new.terms <= old.terms and new.names <= old.names


def only(found: list[Entry]) -> list[Entry]:
    """What was found where it is the only one: of several none is meant."""
    return found if len(found) == 1 else []


def denied_in(text: str) -> list[str]:
    """What a text says is no longer so: ``Postgres`` in "MySQL instead of Postgres"."""
    if words_in(text).isdisjoint(DENYING):
        return []
    return [match["old"].rstrip(".") for match in (*OLD.finditer(text), *FROM.finditer(text))]


def is_denied(old: Entry, denied: list[str], new: Entry) -> bool:
    """Whether the new one says of a value of the old one that it no longer is, and both have more in common."""
    if not any(has_value(old, text) for text in denied) or says_more(old, denied, new):
        return False
    shared = terms_of(old.text) & terms_of(new.text)
    return bool(shared) or subject_of(old.text).head == subject_of(new.text).head


def says_more(old: Entry, denied: list[str], new: Entry) -> bool:
    """Whether the old one has other values that would be lost."""
    others = [value for value in values(old.text) if value.kind != "number"]
    return any(
        value.text not in new.text and not any(value.text.startswith(text) for text in denied)
        for value in others
    )


def has_value(entry: Entry, text: str) -> bool:
    """Whether a text is a value of an entry, or begins one."""
    return any(
        value.text == text or value.text.startswith(f"{text} ") for value in values(entry.text)
    )


def withdrawn(what: str, known: Iterable[Entry]) -> list[Entry]:
    """The known entries that are meant by what is taken back: those that have all of its words."""
    terms = terms_of(what) | {value.text.lower() for value in values(what)}
    if not terms:
        return []
    free = [old for old in known if not (old.author == "system" and old.kind == "safety rule")]
    return [old for old in free if terms <= words_of(old.text)]


@lru_cache(4_096)
def words_of(text: str) -> frozenset[str]:
    """All that a statement can be called by: its words, its values, what kind of value it has."""
    found = values(text)
    subject = subject_of(text)
    kinds = {value.kind for value in found} | {subject.head}
    return terms_of(text) | subject.terms | kinds | {value.text.lower() for value in found}
