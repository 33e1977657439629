"""Facts that users stated about themselves and their constraints, extracted during the conversation.

Promise: facts come from users or the system prompt, never from a tool or a model. A newer statement about a subject replaces
the older one; a deleted fact returns only if it is stated again.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, get_args

from autogen_context.argument import require_text
from autogen_context.language.phrases import phrases
from autogen_context.language.terms import stem, stop_words
from autogen_context.ledger import Entry, Kind, Ledger
from autogen_context.ledger.reader import RULES
from autogen_context.messages.identifiers import PART
from autogen_context.messages.message import content_digest
from autogen_context.messages.openai_chat import messages_in

FactKind = Literal["identity", "preference", "fact", "constraint"]

OPENING = "[What is known of the person, in their own words:]"
KINDS: dict[Kind, FactKind] = {
    "identity": "identity",
    "preference": "preference",
    "fact": "fact",
    "constraint": "constraint",
    "safety rule": "constraint",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A fact: its kind, subject and wording, and the position and digest (``source``) of its message."""

    kind: FactKind
    key: str
    text: str
    position: int
    source: str

    @property
    def id(self) -> str:
        """Identifier by kind and subject, so that a new value of a fact keeps its id: 12 hex digits."""
        return content_digest(self.kind, self.key)[:6].hex()


class Facts:
    """The facts of one conversation."""

    def __init__(self) -> None:
        self._ledger = Ledger()
        self._sources: dict[Entry, str] = {}
        self._edited: dict[str, str] = {}  # id -> replacement text
        self._deleted: dict[str, str] = {}  # id -> source of the deleted fact

    def __iter__(self) -> Iterator[Fact]:
        """Iterate over the facts, newest last."""
        for entry, source in list(self._sources.items()):
            fact = fact_of(entry, source)
            yield replace(fact, text=self._edited.get(fact.id, fact.text))

    def __len__(self) -> int:
        """Return the number of facts."""
        return len(self._sources)

    def learn(self, messages: Iterable[object], *, start: int = 0) -> list[Fact]:
        """Extract facts from new messages; return those that are new or changed.

        Args:
            messages: oldest first, in OpenAI's format or as ``Message``.
            start: position of the first one in the conversation.

        Raises:
            InvalidTranscript: an element is not a message; nothing was extracted.
            ValueError: ``messages`` is not a list.
        """
        learnt: list[Fact] = []
        for position, message in enumerate(list(messages_in(messages)), start):
            source = content_digest(message.role, message.text).hex()
            for entry in self._ledger.learn([message], start=position):
                fact = fact_of(entry, source)
                if not is_fact(entry) or self._deleted.get(fact.id) == source:
                    self._ledger.forget(entry)
                else:
                    self._edited.pop(fact.id, None)
                    for old in [old for old in self._sources if overturns(entry, old)]:
                        self._ledger.forget(old)
                    self._sources[entry] = source
                    learnt.append(fact)
            holding = set(self._ledger)
            self._sources = {e: said for e, said in self._sources.items() if e in holding}
        return [fact for fact in learnt if fact in set(self)]

    def edit(self, fact_id: str, text: str) -> Fact:
        """Replace the text of a fact.

        Raises:
            KeyError: there is no such fact.
            ValueError: the text is empty or not a string.
        """
        require_text("text", text)
        line = " ".join(text.split())
        if not line:
            raise ValueError("text must not be empty; to remove a fact, delete it")
        self._edited[self._by_id(fact_id).id] = line
        return self._by_id(fact_id)

    def delete(self, fact_id: str) -> None:
        """Delete a fact.

        Raises:
            KeyError: there is no such fact.
        """
        fact = self._by_id(fact_id)
        for entry, source in list(self._sources.items()):
            if fact_of(entry, source).id == fact_id:
                self._ledger.forget(entry)
                del self._sources[entry]
        self._deleted[fact_id] = fact.source

    def rendered(self) -> str:
        """Return all facts as text for the model, constraints last; empty if there are none."""
        kinds = get_args(FactKind)
        lines = [f"- {fact.text}" for kind in kinds for fact in self if fact.kind == kind]
        return "\n".join([OPENING, *lines]) if lines else ""

    def _by_id(self, fact_id: str) -> Fact:
        for fact in self:
            if fact.id == fact_id:
                return fact
        raise KeyError(fact_id)


def is_fact(entry: Entry) -> bool:
    """Return True for a user's own statement about themselves or a constraint; of a system prompt only rules count."""
    return (
        entry.kind in KINDS
        and (entry.author == "person" or entry.kind in RULES)
        and not entry.reported
    )


def overturns(new: Entry, old: Entry) -> bool:
    """Return True if a new preference reverses an old one: "coffee" or "coffee over tea" after "tea over coffee", and vice versa."""
    if new.kind != "preference" or old.kind != "preference" or new == old:
        return False
    (liked, second), (liked_before, second_before) = choice_in(new.text), choice_in(old.text)
    second, second_before = second - liked, second_before - liked_before
    is_second_now = bool(second_before) and liked - liked_before == second_before
    return is_second_now or (bool(second) and liked_before - liked == second)


def choice_in(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the stems of the preferred thing and of the thing it is preferred to, without stop words."""
    marks = phrases("choice").find(text)
    start, stop = (marks[0].start, marks[0].stop) if marks else (len(text), len(text))
    parts = (map(str.lower, PART.findall(part)) for part in (text[:start], text[stop:]))
    liked, second = (frozenset(stem(w) for w in part if w not in stop_words()) for part in parts)
    return liked, second


def fact_of(entry: Entry, source: str) -> Fact:
    """Return a ledger entry as a fact, with the digest of its message."""
    return Fact(
        kind=KINDS.get(entry.kind, "fact"),
        key=entry.key or entry.text,
        text=entry.text,
        position=entry.position,
        source=source,
    )
