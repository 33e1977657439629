"""Retrieve the earlier exchanges that the newest message refers to.

Promise: each message is indexed once, only when a query needs it; retrieved exchanges are whole or marked as shortened.
Answers are near their questions, so scores include neighbouring messages; messages by an author named in the query rank
first. A statement revised later is returned only together with its revision. With an embedding model,
meaning counts beside words.
"""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypedDict

from autogen_context.compressor.shorten import Shorten, shorten_text
from autogen_context.language.query import is_question
from autogen_context.language.terms import terms
from autogen_context.ledger import Ledger
from autogen_context.messages.message import Message, joined_text
from autogen_context.messages.origin import is_users
from autogen_context.prioritizer.attention import LexicalIndex, fused
from autogen_context.recall.evidence import Evidence, evidence_of
from autogen_context.recall.exchanges import (
    LEAST_SCORE,
    Exchange,
    Render,
    begins,
    exchange,
    fitting,
    rendered,
    retrieve,
)
from autogen_context.recall.gate import (
    LEAST_OPENINGS,
    RecallDecision,
    author_of,
    authors_of,
    decided,
)
from autogen_context.text.fit import CountText
from autogen_context.text.sentence import sentences_of
from autogen_context.text.work import QUERY_CHARS, ends_of
from autogen_context.view.decision import Candidate

Meanings = Callable[[str, Sequence[str]], Sequence[float | None]]
"""Returns how related each text is to a query, 0..1; None for one without a vector (yet), empty if the query has none."""
MEANING_FACTOR = (
    0.6  # of what is added to a score: any two messages are somewhat alike, and neighbours add up
)
OTHERS_FRACTION = 0.5  # factor on the scores of authors other than those named in the query
NEIGHBOURS = 4  # neighbours on each side that count
NEARNESS = 0.5  # of a neighbour's score; of the one behind it the square of that, and so on
MOST_LATER = 8  # later messages searched for a revision of a statement
LATEST_MESSAGES = 100  # searched for the authors of the conversation


class Fits(TypedDict):
    """What retrieved exchanges have to fit, and how."""

    room_tokens: int
    count: CountText
    shorten: Shorten
    render: Render


class Recaller:
    """The part of a conversation's index that is searched.

    Args:
        meanings: are added to the lexical scores.
        shorten: shortens a retrieved message that has no room whole.
        render: writes what is retrieved.
    """

    def __init__(
        self,
        meanings: Meanings | None = None,
        *,
        shorten: Shorten = shorten_text,
        render: Render = rendered,
    ) -> None:
        self._meanings, self._shorten, self._render = meanings, shorten, render
        self._index = LexicalIndex()
        self._stated: dict[int, frozenset[str]] = {}  # by message that asks, the terms of the rest
        self._messages: list[Message] = []
        self._units: list[int] = []  # start positions of units
        self._starts: list[int] = []  # start positions of exchanges
        self._names = Counter[str]()  # author names in message fields
        self._openings = Counter[str]()  # author names at the start of texts

    def add(self, at: int, candidate: Candidate) -> None:
        """Read the next unit, or another system prompt."""
        messages = candidate.unit.messages
        if at < len(self._units):
            self._name(self._messages[at], -1)
            self._name(messages[0], 1)
            self._messages[at] = messages[0]
        else:
            self._units.append(len(self._messages))
            self.read(messages)

    def read(self, messages: Iterable[Message]) -> None:
        """Read further messages."""
        for message in messages:
            self._messages.append(message)
            self._name(message, 1)
            if begins(self._messages, len(self._messages) - 1, self._starts):
                self._starts.append(len(self._messages) - 1)

    def truncate(self, units: int) -> int:
        """Forget all units after the first ones."""
        same = self._units[units]
        self._index.truncate(min(same, len(self._index)))
        self._stated = {at: found for at, found in self._stated.items() if at < same}
        while self._starts and self._starts[-1] >= same:
            self._starts.pop()
        for message in self._messages[same:]:
            self._name(message, -1)
        del self._messages[same:], self._units[units:]
        return units

    def _name(self, message: Message, times: int) -> None:
        """Count the names in a message so many times more."""
        self._names[message.name] += times
        self._openings[author_of(message)] += times

    def decide(self, query: str, in_sight: Iterable[Message]) -> RecallDecision:
        """Decide by the wording of a query and by what of it only messages out of sight have; or by who speaks."""
        seen = list(in_sight)
        evidence = self.evidence(query, seen) if self._messages else None
        return decided(query, (), lambda: authors_of(seen[-LATEST_MESSAGES:]), evidence)

    def evidence(self, query: str, in_sight: Sequence[Message]) -> Evidence:
        """Look up what is known of a query's words, with these messages in sight."""
        self._indexed()
        shown = {id(message) for message in in_sight}
        texts = [joined_text([message]) for message in in_sight]
        stated = self._stated

        def counts(term: str, at: int) -> bool:
            if id(self._messages[at]) in shown:
                return False
            return at not in stated or term in stated[at]

        return evidence_of(query, self._index, texts, counts)

    def judge(self, query: str, spoken: Sequence[Message]) -> RecallDecision:
        """Decide by wording and authors alone, without the messages read or visible."""
        return decided(query, people=lambda: authors_of(spoken[-LATEST_MESSAGES:]))

    def _indexed(self) -> None:
        """Index what was read since the last query; prompts are always in sight."""
        prompts = self._starts[0] if self._starts else len(self._messages)
        for at in range(len(self._index), len(self._messages)):
            message = self._messages[at]
            self._index.add(joined_text([message]) if at >= prompts else "")
            if is_users(message) and "?" in message.text:  # what it asks is no evidence
                said = [each for each in sentences_of(message.text) if not is_question(each)]
                self._stated[at] = frozenset(terms(" ".join(said)))

    def scores(self, query: str) -> dict[int, float]:
        """Return the relevance of messages to a query by position, 0..1; missing positions score 0.

        Take messages whole, best first, until the room is full: docs/decisions/0007-relevance.md.
        """
        self._indexed()
        scores, total = self._index.scores(query), len(self._messages)
        if self._meanings is not None:
            texts = [joined_text([message]) for message in self._messages]
            if meanings := self._meanings(query, texts):
                words = [scores.get(at, 0.0) for at in range(total)]
                scores = dict(enumerate(fused(words, meanings, MEANING_FACTOR)))
        scores = with_neighbours(scores, total)
        is_usual = total - self._openings[""] >= LEAST_OPENINGS * total
        authors = self._names | self._openings if is_usual else self._names
        query = ends_of(query, QUERY_CHARS)
        asked = query.lower()
        named = {
            author
            for author, times in authors.items()
            if author and times and author.lower() in asked  # the faster of the two
            if re.search(rf"(?<!\w){re.escape(author)}(?!\w)", query, re.IGNORECASE)
        }
        for at in scores if named else ():
            message = self._messages[at]
            if (message.name or (author_of(message) if is_usual else "")) not in named:
                scores[at] *= OTHERS_FRACTION
        return scores

    def text(
        self, query: str, hides: Callable[[int], bool], *, room_tokens: int, count: CountText
    ) -> str:
        """Return the matching exchanges as one text within the room, those with a message that the view ``hides``."""
        scores = self.scores(query)
        out_of_sight = [
            each
            for each in self._exchanges_at(
                at for at, score in scores.items() if score >= LEAST_SCORE
            )
            if each.messages and any(map(hides, range(each.start, each.stop)))
        ]
        fits = Fits(
            room_tokens=room_tokens, count=count, shorten=self._shorten, render=self._render
        )
        found = retrieve(out_of_sight, scores, **fits)
        newer = self._newer(found)
        if newer:  # include the revisions, and give them room first
            latest = self._exchanges_at(newer.values())
            found = [
                each for each in self._exchanges_at(e.start for e in found) if each not in latest
            ]
            found.sort(key=lambda each: -each.score(scores))
            found = [*latest[::-1], *found]
            found = fitting(found, **fits)
            there = {at for each in found for at in each.searched}
            found = [each for each in found if newer.get(each.start, each.start) in there]
        return self._render(found)

    def _exchanges_at(self, positions: Iterable[int]) -> list[Exchange]:
        """Return the exchanges that contain these messages, oldest first."""
        starts, found = self._starts, list[Exchange]()
        for n in sorted({bisect_right(self._starts, at) for at in positions} - {0}):
            stop = starts[n] if n < len(starts) else len(self._messages)
            found.append(exchange(self._messages, starts[n - 1], stop))
        return found

    def _newer(self, found: Sequence[Exchange]) -> dict[int, int]:
        """Return, for exchanges with a statement revised since, by their start: the position of the latest revision."""
        stating: dict[int, set[int]] = {}  # message -> exchanges whose statements it has or revises
        alike: dict[int, float] = {}
        for each in found:
            stating |= {at: {each.start} for at in each.searched if each.asked}
            for at, score in self._index.scores(joined_text(each.asked)).items():
                if at >= each.stop and is_users(self._messages[at]):
                    alike[at] = max(score, alike.get(at, 0.0))
        later = sorted(alike, key=lambda at: (-alike[at], -at))[:MOST_LATER]
        ledger, newer = Ledger(), dict[int, int]()
        for at in sorted({*stating, *later}):
            before = set(ledger)
            ledger.learn([self._messages[at]], start=at)
            for gone in before.difference(ledger):
                changed = stating.get(gone.position, set[int]())
                stating[at] = stating.get(at, set[int]()) | changed
                newer |= dict.fromkeys(changed, at)
        return newer


def with_neighbours(scores: Mapping[int, float], total: int) -> dict[int, float]:
    """Add to each score those of its neighbours: half of a direct neighbour's, a quarter of the next, ...; at most 1 again."""
    found = defaultdict[int, float](float)
    for at, score in scores.items():
        for near in range(max(0, at - NEIGHBOURS), min(total, at + NEIGHBOURS + 1)):
            found[near] += score * NEARNESS ** abs(near - at)
    most = max(1.0, max(found.values(), default=0.0))
    return {at: score / most for at, score in found.items()}
