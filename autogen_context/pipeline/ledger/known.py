"""Which statements a newer one makes stale.

Promise: pure. What is about the same goes, what may be about something else stays: where it cannot be told, both stay. Who
has no authority makes nothing stale that somebody with authority said, and nobody takes back a safety rule of the system.
"""

import re
from collections.abc import Iterable

from autogen_context.pipeline.ledger.content import terms_of
from autogen_context.pipeline.ledger.cue import words_in
from autogen_context.pipeline.ledger.english_cues import DIFFERENT, WORDS
from autogen_context.pipeline.ledger.entry import Entry
from autogen_context.pipeline.ledger.parts import parts_of
from autogen_context.pipeline.ledger.subject import MARKED_HEADS, Subject, subject_of
from autogen_context.pipeline.ledger.values import values

OLD = re.compile(DIFFERENT)
SHIFTING = frozenset(
    {"money", "date", "time", "zone"}
)  # kinds of value of which there is one at a time
DENYING = frozenset(f"{WORDS['DIFFERENT']} from".split())
FROM = re.compile(r"\bfrom (?P<old>[\w.#/@-]+(?: [\w.-]+)?) to\b", re.IGNORECASE)


def may_replace(new: Entry, old: Entry) -> bool:
    """Whether its author has the authority."""
    if old.author == "system" and old.kind == "safety rule":
        return new.author == "system"
    return old.reported or not new.reported


def made_stale(new: Entry, known: Iterable[Entry], *, marked: bool) -> list[Entry]:
    """The known entries in whose place the new one comes.

    Args:
        new: what is stated now.
        known: entries, in the order in which they were said.
        marked: whether the new one says that something changed.
    """
    subject = subject_of(new.text)
    others = [old for old in known if may_replace(new, old) and old.text != new.text]
    alike = [old for old in others if subject_of(old.text).head == subject.head]
    same = [old for old in alike if is_same(subject, subject_of(old.text), marked=marked)]
    if not same:
        same = only([old for old in alike if is_part(subject, subject_of(old.text), marked=marked)])
    if not same:
        same = only([old for old in others if is_changed(new, old, marked=marked)])
    denied = denied_in(new.text)
    return [
        *same,
        *[old for old in others if denied and old not in same and is_denied(old, denied, new)],
    ]


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


def is_part(new: Subject, old: Subject, *, marked: bool) -> bool:
    """Whether the new one names the old one in fewer words."""
    if new.head in MARKED_HEADS:
        return marked and bool(new.terms) and new.terms < old.terms
    if new.head == "said" or (old.names and not marked):
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
    return [old for old in free if terms <= words_of(old)]


def words_of(entry: Entry) -> frozenset[str]:
    """All that an entry can be called by: its words, its values, what kind of value it has."""
    found = values(entry.text)
    subject = subject_of(entry.text)
    kinds = {value.kind for value in found} | {subject.head}
    return terms_of(entry.text) | subject.terms | kinds | {value.text.lower() for value in found}
