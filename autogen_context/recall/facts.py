"""Facts that users stated about themselves and their constraints: a view of a ledger that can be edited.

Promise: facts come from users or the system prompt, never from a tool or a model. A newer statement about a subject replaces
the older one; a deleted fact returns only if it is stated in other words.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Literal, get_args

from autogen_context.argument import require_text
from autogen_context.language.phrases import phrases
from autogen_context.language.terms import stem, stop_words
from autogen_context.ledger import Entry, Ledger, StatementKind
from autogen_context.ledger.reader import RULES
from autogen_context.messages.identifiers import PART
from autogen_context.messages.message import content_digest
from autogen_context.messages.openai_chat import messages_in
from autogen_context.text.quote import block

FactKind = Literal["identity", "preference", "fact", "constraint"]
Choice = tuple[frozenset[str], frozenset[str]]
"""The stems of what is preferred, and of what it is preferred to."""

MOST_COMPARED = 50  # preferences that a new one is compared with

OPENING = "[What is known of the person, in their own words:]"
KINDS: dict[StatementKind, FactKind] = {
    "identity": "identity",
    "preference": "preference",
    "fact": "fact",
    "constraint": "constraint",
    "safety rule": "constraint",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A fact: its kind, its subject (or its first wording), its text, and the position of its message."""

    kind: FactKind
    key: str
    text: str
    position: int

    @property
    def id(self) -> str:
        """Identifier by kind and subject, so that a new value of a fact keeps its id: 12 hex digits."""
        return content_digest(self.kind, self.key)[:6].hex()


class Facts:
    """The facts of one conversation."""

    def __init__(self) -> None:
        self._ledger = Ledger()
        self._edited: dict[Entry, str] = {}
        self._deleted: set[str] = set()  # texts
        self._choices: dict[Entry, Choice] = {}  # of preferences, newest last

    def __iter__(self) -> Iterator[Fact]:
        """Iterate over the facts, newest last."""
        return map(self._fact, filter(is_fact, self._ledger))

    def __len__(self) -> int:
        """Return the number of facts."""
        return sum(map(is_fact, self._ledger))

    def learn(self, messages: Iterable[object], *, start: int = 0) -> list[Fact]:
        """Extract facts from new messages; return those that are new or changed.

        Args:
            messages: oldest first, in OpenAI's format or as ``Message``.
            start: position of the first one in the conversation.

        Raises:
            InvalidTranscript: an element is not a message; nothing was extracted.
            ValueError: ``messages`` is not a list.
        """
        learnt: list[Entry] = []
        for position, message in enumerate(list(messages_in(messages)), start):
            for entry in self._ledger.learn([message], start=position):
                if entry.text in self._deleted:
                    self._ledger.forget(entry)
                    continue
                if entry.kind == "preference":
                    self._prefer(entry)
                learnt += [entry] if is_fact(entry) else []
        return [self._fact(entry) for entry in learnt if entry in self._ledger]

    def follow(self, stated: Mapping[Entry, str]) -> None:
        """Make these the facts, oldest first, each with what it was edited to, if it was; statements of other kinds stay."""
        for entry in [e for e in self._ledger if is_fact(e) and e not in stated]:
            self._ledger.forget(entry)
        new = [entry for entry in stated if entry not in self._ledger]
        self._ledger.add(new)
        self._edited = {entry: text for entry, text in stated.items() if text}
        self._choices |= {e: choice_in(e.text) for e in new if e.kind == "preference"}

    def _prefer(self, new: Entry) -> None:
        """Note a preference, and forget those that it reverses if it is a fact, of the newest ``MOST_COMPARED``."""
        choices, choice = self._choices, choice_in(new.text)
        reverses = is_fact(new) and new in self._ledger
        for old in [*islice(reversed(choices), MOST_COMPARED)] if reverses else ():
            if overturns(choice, choices[old]):
                self._ledger.forget(old)
            if old not in self._ledger:
                del choices[old]
        choices[new] = choice

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
        entry = self._entries(fact_id)[0]
        self._edited[entry] = line
        return self._fact(entry)

    def delete(self, fact_id: str) -> None:
        """Delete a fact.

        Raises:
            KeyError: there is no such fact.
        """
        for entry in self._entries(fact_id):
            self._ledger.forget(entry)
            self._deleted.add(entry.text)

    def rendered(self) -> str:
        """Return all facts as text for the model, constraints last; empty if there are none."""
        kinds = get_args(FactKind)
        lines = [block(fact.text) for kind in kinds for fact in self if fact.kind == kind]
        return "\n".join([OPENING, *lines]) if lines else ""

    def _fact(self, entry: Entry) -> Fact:
        key, text = entry.key or entry.text, self._edited.get(entry, entry.text)
        return Fact(kind=KINDS[entry.kind], key=key, text=text, position=entry.position)

    def _entries(self, fact_id: str) -> list[Entry]:
        found = [e for e in self._ledger if is_fact(e) and self._fact(e).id == fact_id]
        if not found:
            raise KeyError(fact_id)
        return found


def is_fact(entry: Entry) -> bool:
    """Return True for a user's own statement about themselves or a constraint; of a system prompt only rules count."""
    return (
        entry.kind in KINDS
        and (entry.author == "person" or entry.kind in RULES)
        and not entry.reported
    )


def overturns(new: Choice, old: Choice) -> bool:
    """Return True if a new preference reverses an old one: "coffee" or "coffee over tea" after "tea over coffee", and vice versa."""
    (liked, second), (liked_before, second_before) = new, old
    second, second_before = second - liked, second_before - liked_before
    is_second_now = bool(second_before) and liked - liked_before == second_before
    return is_second_now or (bool(second) and liked_before - liked == second)


def choice_in(text: str) -> Choice:
    """Return the stems of the preferred thing and of the thing it is preferred to, without stop words."""
    marks = phrases("choice").find(text)
    start, stop = (marks[0].start, marks[0].stop) if marks else (len(text), len(text))
    parts = (map(str.lower, PART.findall(part)) for part in (text[:start], text[stop:]))
    liked, second = (frozenset(stem(w) for w in part if w not in stop_words()) for part in parts)
    return liked, second
