"""What people said of themselves and of what must hold, kept while the conversation goes on.

Promise: a fact is what a person or the system prompt said, never what a tool or a model did. The newest statement about
something takes the place of the older one; what was deleted comes back only when it is said anew. ``from_json(to_json())``
equals what was saved.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import get_args

from autogen_context.argument import require_text
from autogen_context.ledger.personal import Statement, StatementKind, statements
from autogen_context.messages.message import SYSTEM_ROLES, Message, content_digest
from autogen_context.messages.openai_chat import messages_in
from autogen_context.messages.saved import read_saved

SCHEMA = 1
OPENING = "[What is known of the person, in their own words:]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One thing known.

    Attributes:
        kind: identity, preference or constraint.
        key: what it is about.
        text: what is known, on one line.
        position: of the message that said it, from 0.
        source: digest of that message, in hex.
    """

    kind: StatementKind
    key: str
    text: str
    position: int
    source: str

    @property
    def id(self) -> str:
        """The same for all statements about the same: 12 hex digits."""
        return content_digest(self.kind, self.key)[:6].hex()


class Facts:
    """The facts of one conversation."""

    def __init__(self) -> None:
        self._facts: dict[str, Fact] = {}
        self._deleted: dict[str, str] = {}  # id -> source of what was deleted

    def __iter__(self) -> Iterator[Fact]:
        """All facts, in the order in which they were first said."""
        return iter(list(self._facts.values()))

    def __len__(self) -> int:
        """How many there are."""
        return len(self._facts)

    def learn(self, messages: Iterable[object], *, start: int = 0) -> list[Fact]:
        """Take in what new messages state.

        Args:
            messages: oldest first, in OpenAI's format or as ``Message``.
            start: position of the first of them in the conversation.

        Returns:
            The facts that are new or changed.

        Raises:
            BrokenTranscript: one is no message; nothing was learnt.
            ValueError: it is no list.
        """
        learnt: list[Fact] = []
        for position, message in enumerate(list(messages_in(messages)), start):
            learnt += [fact for fact in facts_in(message, position) if self._take(fact)]
        return learnt

    def edit(self, fact_id: str, text: str) -> Fact:
        """Put other words in the place of a fact's.

        Raises:
            KeyError: there is no such fact.
            ValueError: the text is empty, or none.
        """
        require_text("text", text)
        line = " ".join(text.split())
        if not line:
            raise ValueError("text must not be empty; to remove a fact, delete it")
        self._facts[fact_id] = replace(self._facts[fact_id], text=line)
        return self._facts[fact_id]

    def delete(self, fact_id: str) -> None:
        """Forget a fact.

        Raises:
            KeyError: there is no such fact.
        """
        self._deleted[fact_id] = self._facts.pop(fact_id).source

    def rendered(self) -> str:
        """One text for the model, constraints last; empty where nothing is known."""
        kinds = get_args(StatementKind)
        lines = [f"- {fact.text}" for kind in kinds for fact in self if fact.kind == kind]
        return "\n".join([OPENING, *lines]) if lines else ""

    def to_json(self) -> dict[str, object]:
        """The facts as JSON data."""
        return {
            "schema": SCHEMA,
            "facts": [asdict(fact) for fact in self],
            "deleted": dict(self._deleted),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> "Facts":
        """The facts in JSON data.

        Raises:
            StateError: it is of a schema that this release does not know, or damaged.
        """
        saved = read_saved(SavedFacts, data, what="facts", schema=SCHEMA)
        facts = cls()
        facts._facts = {fact.id: fact for fact in saved.facts}
        facts._deleted = dict(saved.deleted)
        return facts

    def _take(self, fact: Fact) -> bool:
        if self._deleted.get(fact.id) == fact.source or self._is_known(fact):
            return False
        self._facts[fact.id] = fact
        return True

    def _is_known(self, fact: Fact) -> bool:
        known = self._facts.get(fact.id)
        return known is not None and (known.source == fact.source or known.text == fact.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedFacts:
    """The shape of a saved state."""

    schema: int
    facts: tuple[Fact, ...]
    deleted: dict[str, str]


def facts_in(message: Message, position: int) -> Iterator[Fact]:
    """What a message of a person states, or a system message rules."""
    by_person = message.role == "user" and not message.results
    if by_person or message.role in SYSTEM_ROLES:
        source = content_digest(message.role, message.text).hex()
        for statement in statements(message.text, of_a_person=by_person):
            yield fact_of(statement, position, source)


def fact_of(statement: Statement, position: int, source: str) -> Fact:
    """A statement with where it stood."""
    return Fact(
        kind=statement.kind,
        key=statement.key,
        text=statement.text,
        position=position,
        source=source,
    )
