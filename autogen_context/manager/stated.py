"""What people stated and still holds, and which of it a request has.

Promise: a statement is a person's, by where its message came from, and stays until a person takes it back or replaces it. It counts
as sent only word for word: in a message of a person or a later one of the system, or in a notice. Nothing is kept here.
"""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property

from autogen_context.ledger import Entry
from autogen_context.manager.record import BEFORE
from autogen_context.messages.message import SYSTEM_ROLES, Message
from autogen_context.messages.piece import Piece, Verbatim
from autogen_context.prioritizer.references import unit_at
from autogen_context.view.conversation import Conversation
from autogen_context.view.statement import PersonStatement, WordsOfPeople, on_one_line
from autogen_context.view.view import ContextView

WORD = re.compile(r"\w+")


class StatementsSent:
    """The statements of a conversation beside what a view sends of it, as ``pieces``."""

    def __init__(
        self, view: ContextView, conversation: Conversation, pieces: Sequence[Piece]
    ) -> None:
        self._view, self._conversation, self._pieces = view, conversation, pieces
        self._read: dict[int, tuple[str, set[str]]] = {}  # text and words, by position

    def of(self, entries: Iterable[Entry]) -> Iterator[PersonStatement]:
        """Yield those of these entries that people stated."""
        for entry in entries:
            position = entry.position if entry.position >= 0 else None
            turn = None if position is None else self._turn(position)
            if entry.author == "person" and (turn or position is None):
                yield PersonStatement(
                    text=entry.text,
                    kind=entry.kind,
                    position=position,
                    turn=turn,
                    in_request=self._is_sent(entry.text, position),
                )

    def absent(self, entries: Iterable[Entry]) -> Iterator[PersonStatement]:
        """Yield those of these entries that are rules of people and are not sent."""
        return (each for each in self.of(entries) if each.is_rule and not each.in_request)

    def absent_since(
        self, known: Iterable[PersonStatement], entries: Collection[Entry], *, since: int
    ) -> Iterator[PersonStatement]:
        """Yield the same of all entries, for a list that was only appended to from message ``since`` on: ``known`` are those absent before."""
        in_force = {(entry.text, entry.position) for entry in entries}
        words = WordsOfPeople(self._texts(since))
        for rule in known:
            at = BEFORE if rule.position is None else rule.position
            own_words = self._own_words(rule.text, rule.position)
            if (rule.text, at) in in_force and not words.has(own_words):
                yield rule
        yield from self.absent(entry for entry in entries if entry.position >= since)

    def _turn(self, position: int) -> int | None:
        """Return which of the people's messages stands at a position, from 1; ``None`` if that is no person's."""
        people = self._conversation.overview.people
        unit = unit_at(self._conversation.candidates, position)
        at = bisect_left(people, unit)
        return at + 1 if people[at : at + 1] == [unit] else None

    def _is_sent(self, text: str, position: int | None) -> bool:
        if position is not None and self._is_whole(position) and self._adds_up(text, position):
            return True
        return self._words.has(self._own_words(text, position))

    def _is_whole(self, position: int) -> bool:
        decisions = self._view.decisions
        return position < decisions.stop and not decisions.hides_message(position)

    def _own_words(self, text: str, position: int | None) -> str:
        """Return a statement without the headings of its message, where it was told with these in front."""
        said, words = self._lines(position), text
        while words and words not in said:
            words = words.partition(": ")[2]
        return words or text

    def _lines(self, position: int | None) -> str:
        """Return the text of a message, without marks; of the last one that was asked for it is known."""
        if position is None:
            return ""
        if position not in self._read:
            text = self._conversation.messages[position].text
            self._read = {position: (on_one_line(text), words_in(text))}
        return self._read[position][0]

    def _adds_up(self, text: str, position: int) -> bool:
        """Return True if a message that is sent whole states it, alone ("limits: hotel 90") or by correcting another ("make that 45")."""
        if text in self._lines(position):
            return True
        words = words_in(text)
        left = words - self._read[position][1]
        return not left or (left != words and any(left <= each for each in self._said))

    @cached_property
    def _words(self) -> WordsOfPeople:
        return WordsOfPeople(self._texts())

    @cached_property
    def _said(self) -> list[set[str]]:
        return [words_in(text) for text in self._texts()]

    def _texts(self, since: int = 0) -> Iterator[str]:
        """Yield what is sent of people's and later system messages from ``since`` on, and what is ours."""
        messages, prompts = self._conversation.messages, self._conversation.system_messages
        since = max(since, prompts)
        yield self._view.record.text
        for piece in self._pieces:
            if isinstance(piece, Verbatim):
                stretch = messages[max(piece.start, since) : piece.stop]
                yield from (message.text for message in stretch if is_said(message))
            elif piece.index is None or (piece.index >= prompts and is_said(messages[piece.index])):
                yield piece.message.text


def words_in(text: str) -> set[str]:
    """Return the words of a text; those of a statement may stand apart in its message, as a heading and an item below it do."""
    return set(WORD.findall(text.casefold()))


def is_said(message: Message) -> bool:
    """Return whether a message of the host is a person's or the system's."""
    return message.role in SYSTEM_ROLES or message.origin == "person"
