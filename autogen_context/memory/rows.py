"""The rows of a person's memory: an exchange, a fact, and what stands in place of a forgotten one.

Promise: a row never changes; another one takes its place. Its name says what it is and has none of its words; a name or a value
that is damaged, or that nobody wrote here, is no row.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, TypeAlias, cast

from pydantic import ValidationError

from autogen_context.ledger import Entry, StatementKind
from autogen_context.ledger.rendering import entry_of
from autogen_context.messages.message import Text, content_digest
from autogen_context.messages.saved import adapter_of, saved
from autogen_context.recall.facts import KINDS, Fact

NAME = re.compile(r"(?P<what>[efg]):(?P<id>[0-9a-f]{12,24})(?::[0-9a-f]{16})?")
"""An exchange, a fact, or what is gone; the last part tells the states of one row apart."""


LEAST_SAID_CHARS = 20  # that nobody says by chance again
STATED: Mapping[str, StatementKind] = {each: each for each in KINDS}


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberedExchange:
    """What a person said in a conversation, with its answer.

    Attributes:
        id: to forget it by.
        at_s: when it was said, in seconds since 1970.
        said: the person's messages.
        answer: the last words of the assistant; empty until they are known.
        place: of which question, behind which exchange; those of one place differ in when they were asked.
        after: id of the exchange before it in its conversation; empty for the first.
    """

    id: str
    at_s: float
    said: tuple[Text, ...]
    answer: Text = ""
    place: str
    after: str = ""

    @property
    def what(self) -> Literal["exchange"]:
        """What it is."""
        return "exchange"

    @property
    def texts(self) -> tuple[str, ...]:
        """All its words."""
        return (*self.said, self.answer) if self.answer else self.said


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberedFact:
    """A fact that a person stated; ``edited`` is what it was changed to, if it was."""

    id: str
    at_s: float
    kind: Text
    stated: Text
    edited: Text = ""

    @property
    def what(self) -> Literal["fact"]:
        """What it is."""
        return "fact"

    @property
    def text(self) -> str:
        """As it holds now."""
        return self.edited or self.stated

    @property
    def texts(self) -> tuple[str, ...]:
        """All its words."""
        return (self.stated, self.edited) if self.edited else (self.stated,)

    @property
    def entry(self) -> Entry:
        """Its statement, as a ledger has it."""
        return entry_of(kind_in(self.kind), self.stated, "person", 0)

    def as_fact(self, position: int) -> Fact:
        """Return it as a fact of a conversation; ``position`` is its place among all."""
        entry = self.entry
        key = entry.key or entry.text
        return Fact(kind=KINDS[entry.kind], key=key, text=self.text, position=position)


Row: TypeAlias = RememberedExchange | RememberedFact


def kind_in(kind: str) -> StatementKind:
    """Return the kind of a statement that can be a fact; raise ``ValueError`` for any other text."""
    if kind not in STATED:
        raise ValueError("it is no kind of fact")
    return STATED[kind]


def name_of(row: Row, *, key: bytes) -> str:
    """Return the name under which a row is kept."""
    state = content_digest(*row.texts, repr(row.at_s), key=key).hex()[:16]
    return f"{row.what[0]}:{row.id}:{state}"


def bytes_of(row: Row) -> bytes:
    """Return a row as JSON."""
    text = json.dumps(saved(row), ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def row_in(name: str, value: bytes, *, key: bytes) -> Row | None:
    """Return the row that was kept under a name; ``None`` if it is none."""
    shape = RememberedFact if name.startswith("f") else RememberedExchange
    try:
        data = json.loads(value.decode("utf-8", "surrogatepass"))
        row = cast("Row", adapter_of(shape).validate_python(data))
        if isinstance(row, RememberedFact):
            kind_in(row.kind)
        is_whole = bool(date_of(row)) and name_of(row, key=key) == name
    except (ValidationError, ValueError, OverflowError, OSError, RecursionError):
        return None
    return row if is_whole else None


def marks_of(row: Row, *, key: bytes, by_answer: bool = False) -> list[str]:
    """Return the names that stand for a row once it is forgotten, so that it is not learnt again.

    They are of what the person said, as far as that is more than a few words, which others say as well, and of its place; of an
    exchange that is forgotten for its answer, of all its words.
    """
    if isinstance(row, RememberedFact):
        return [mark_of("fact", [row.stated], key=key)]
    if by_answer:
        return [mark_of("whole", row.texts, key=key)]
    long = [row.said] if is_long(row.said) else []
    return [mark_of("place", [row.place], key=key), *(mark_of("said", s, key=key) for s in long)]


def is_long(said: Iterable[str]) -> bool:
    """Return True if it is more than a few words."""
    return sum(map(len, said)) >= LEAST_SAID_CHARS


def mark_of(what: str, texts: Iterable[str], *, key: bytes) -> str:
    """Return the name that says that these texts are forgotten."""
    return f"g:{content_digest(what, *texts, key=key).hex()[:24]}"


def date_of(row: Row) -> str:
    """Return the day of a row, by UTC."""
    return datetime.fromtimestamp(row.at_s, UTC).date().isoformat()
