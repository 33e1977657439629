"""Which words of people stay in a request as they were written.

Promise: a sentence of a person stays the longer the likelier it still matters (``language/reading.py``): the fuller the room, the
surer it has to be; so rules, limits, facts, corrections outlive talk, whatever their wording. Beyond that the newest messages
stay whole. The same conversation in the same room gives the same choice; no sentence is looked at twice.
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from math import sqrt
from typing import NamedTuple

from autogen_context.compressor.protocol import Extracting
from autogen_context.compressor.remarks import REMARK_LINES, end_of, ends_around, words_around
from autogen_context.compressor.shorten import fit_pieces
from autogen_context.language.links import Links, Stated, probability_of
from autogen_context.language.own_words import all_sentences
from autogen_context.language.reading import reading_of
from autogen_context.ledger.reader import RULES, kind_of, looked_at
from autogen_context.messages.message import SYSTEM_ROLES, Message, without_images
from autogen_context.messages.origin import is_strong, may_be_a_persons
from autogen_context.messages.piece import Written, index_of, messages_of
from autogen_context.text.fit import marked
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.view.decision import Candidate, Decision, Why, kept, replaced
from autogen_context.view.index import Overview

SURE_LINK, LEAST_LINK = (
    0.3,
    0.3,
)  # probability of a link from which a change has all the worth of what it changes; and any
LEAST_WORTH = 0.15  # of a sentence; below it only recency keeps it
STRONG_WORTH = 0.9  # of a sentence that the host reports as said with strong emotion
CUED_WORTH = 0.8  # at least, of a sentence that its cues make a rule
QUOTED_FACTOR = 0.6  # for a sentence that stands in what is pasted, as far as its form tells
USED_FACTOR = 0.5  # for a sentence whose names the model has used since: they stand there as well
IS_RULE = 0.5  # probability from which a sentence counts as a rule
MOST_MISSES = 60  # sentences without room in a row behind which no more are looked at
GAP_TOKENS = 4  # of a mark for what is left out, about
FRAME_TOKENS = 5  # of a message, about
WHOLE_FACTOR, WHOLE_TOKENS = 1.25, 8  # a message that costs little more whole is not cut
REPEATED = 0.5  # of a message; above it, the message only repeats newer ones
MOST_DOUBTFUL = 32  # doubtful messages before what is within reach that are looked at, the newest
MOST_STATED = 64  # long messages whose statements are remembered


class SaidSentence(NamedTuple):
    """A sentence of a person's message, by what sorts it: the likeliest to matter first, then the newest."""

    worth: float  # negative
    unit: int  # negative
    start: int
    stop: int
    is_rule: bool

    @property
    def at(self) -> int:
        """The index of its unit."""
        return -self.unit


class PeoplesRoom(NamedTuple):
    """What people's words may take, in tokens.

    Attributes:
        total: of all messages after the compaction.
        own: of people's messages that stay anyway.
        guaranteed: for people's messages as they were written.
        sure_fraction: of the total, up to which a sentence that is sure to matter may fill it with people's words.
        long: above which a message does not count as short.
    """

    total: int
    own: int
    guaranteed: int
    sure_fraction: float
    long: int


class PeoplesWords:
    """The part of a conversation's index that knows what people said, and how likely it still matters."""

    def __init__(self, counter: MessageCounter, compressor: Extracting) -> None:
        self._counter, self._compressor = counter, compressor
        self.truncate(0)

    def truncate(self, _units: int) -> int:
        """Begin anew: the sentences are in the order of their worth."""
        self._stated = lru_cache(MOST_STATED)(self._compressor.stated)
        self._sentences: list[SaidSentence] = []
        self._doubtful: list[int] = []
        self._links, self._worths = Links(), list[float]()
        self._seen = 0
        return 0

    def add(self, at: int, candidate: Candidate) -> None:
        """Read the next unit."""
        if at < self._seen:
            return
        self._seen = at + 1
        message = candidate.unit.messages[0]
        if message.own or message.role in SYSTEM_ROLES or not may_be_a_persons(message):
            return
        if message.origin == "doubtful":
            self._doubtful.append(at)
            return
        for start, stop, is_quoted in all_sentences(message.text):
            text = " ".join(message.text[start:stop].split())
            reading = reading_of(text)
            ruled = is_cued(text)
            worth = max(reading.worth, CUED_WORTH) if ruled else reading.worth
            worth *= QUOTED_FACTOR if is_quoted else 1.0
            worth = self._inherited(worth, Stated.of(text, reading.corrects))
            worth = max(worth, STRONG_WORTH) if is_strong(message) else worth
            if worth >= LEAST_WORTH:
                is_rule = (ruled or reading.in_force >= IS_RULE) and not is_quoted
                insort(self._sentences, SaidSentence(-worth, -at, start, stop, is_rule))

    def _inherited(self, worth: float, new: Stated) -> float:
        """Return the worth of a sentence, at least that of what it changes, as far as it does."""
        found = worth
        for at, signs in self._links.compared(new):
            chance = min(1.0, probability_of(signs) / SURE_LINK)
            found = max(found, chance * self._worths[at]) if chance >= LEAST_LINK else found
        self._links.add(new)
        self._worths.append(found)
        return found

    def kept(
        self,
        candidates: Sequence[Candidate],
        overview: Overview,
        messages: Sequence[Message],
        *,
        room: PeoplesRoom,
        taken: Collection[int],
        horizon: int,
        is_used: Callable[[int], bool],
        only_rules: bool = False,
    ) -> dict[int, Decision]:
        """Return the decisions on the messages of people that stay, by unit.

        First sentences, the likeliest to matter first, as long as they are worth the room; then whole messages in what is left of the
        guaranteed room, the newest first: people's, those that may be a person's, and what somebody else said last, behind the latest
        instruction. ``taken`` units are decided already. Before ``horizon`` only what is worth it or doubtful is looked at.
        ``is_used(unit)`` tells if the model has since used the names in a message. With ``only_rules`` nothing else stays.
        """
        chosen = self._chosen(candidates, room, taken, is_used, only_rules=only_rules)
        found: dict[int, Decision] = {}
        for unit in sorted(chosen):
            found[unit] = self._cut(candidates[unit], messages, sorted(chosen[unit]))
        if only_rules:
            return found
        left = room.guaranteed - sum(decision.tokens_after for decision in found.values())
        whole = self._whole(candidates, overview, messages, room, found, horizon, is_used)
        for unit, options in whole:
            if unit in taken:
                continue
            before = found[unit].tokens_after if unit in found else 0
            for decision in options:
                if decision.tokens_after - before <= left:
                    left -= decision.tokens_after - before
                    found[unit] = decision
                    break
        return found

    def _chosen(
        self,
        candidates: Sequence[Candidate],
        room: PeoplesRoom,
        taken: Collection[int],
        is_used: Callable[[int], bool],
        *,
        only_rules: bool,
    ) -> dict[int, list[tuple[int, int]]]:
        """Return the sentences that are worth their room, by unit."""
        used_tokens, misses = room.own, 0
        chosen: dict[int, list[tuple[int, int]]] = {}
        said: set[str] = set()
        for sentence in self._sentences:
            at = sentence.at
            if at in taken or at >= len(candidates) or (only_rules and not sentence.is_rule):
                continue
            candidate = candidates[at]
            message = candidate.unit.messages[0]
            text = message.text[sentence.start : sentence.stop]
            worth = -sentence.worth
            if not sentence.is_rule and is_used(at):
                worth *= USED_FACTOR
            tokens = self._counter.text(text) + (GAP_TOKENS if at in chosen else FRAME_TOKENS)
            if text in said:
                continue
            if used_tokens + tokens > room.total * room.sure_fraction * sqrt(worth):
                misses += 1
                if misses >= MOST_MISSES:
                    break
                continue
            misses = 0
            said.add(text)
            used_tokens += tokens
            chosen.setdefault(at, []).append((sentence.start, sentence.stop))
        return chosen

    def _cut(
        self, candidate: Candidate, messages: Sequence[Message], spans: Sequence[tuple[int, int]]
    ) -> Decision:
        """Return the decision to send these sentences of a message; all of it if that costs little more."""
        said = messages_of(candidate.pieces, messages)
        whole = kept(candidate, Why.PERSON)
        if len(said) != 1:
            return whole
        [message] = said
        text = with_marks(message.text, spans)
        cut = self._reworded(candidate, message, text, Why.PERSON)
        if cut is None or candidate.tokens <= WHOLE_FACTOR * cut.tokens_after + WHOLE_TOKENS:
            return whole
        return cut

    def _whole(
        self,
        candidates: Sequence[Candidate],
        overview: Overview,
        messages: Sequence[Message],
        room: PeoplesRoom,
        found: Mapping[int, Decision],
        horizon: int,
        is_used: Callable[[int], bool],
    ) -> Iterator[tuple[int, list[Decision]]]:
        """Yield units with how they may stay, the best first: people's newest first, then those that may be a person's."""
        last = overview.others[-1] if overview.others else -1
        last = last if last > max(overview.instructions, default=-1) else -1
        people = overview.possible_people
        within = people[bisect_left(people, horizon) :]
        older = {at for at in (*found, *self._doubtful[-MOST_DOUBTFUL:]) if at < horizon}
        also: list[int] = [last] if last >= 0 else []
        units: list[int] = sorted({*older, *within, *also}, reverse=True)
        lines: set[str] = set()
        later: list[tuple[int, list[Decision]]] = []
        for at in units:
            candidate = candidates[at]
            message = candidate.unit.messages[0]
            is_again = is_repeated(message.text, lines)
            is_doubtful = message.origin == "doubtful"
            if is_again and not is_doubtful:  # what is said of a thing that is pasted twice differs
                continue
            is_plain = not (is_doubtful or is_strong(message) or at == last)
            if is_plain and at not in found and (works_on(candidates, at) or is_used(at)):
                continue
            options = [kept(candidate, why_of(message))]
            is_long = candidate.tokens > room.long
            if is_long and at in found and message.text.count("\n") < REMARK_LINES:
                continue  # its author's own, all of it: what matters of it is chosen
            if is_long or is_again:
                options = self._brief(candidate, messages, long_tokens=room.long)
            if message.origin == "person":
                yield at, options
            else:
                later.append((at, options))
        yield from later

    def _brief(
        self, candidate: Candidate, messages: Sequence[Message], *, long_tokens: int
    ) -> list[Decision]:
        """Reduce a message, in up to two ways, the longer one first; none if there is nothing to keep or nothing to save.

        Of a person's message stay its ends, where people say what they want of what they pasted, and what they say between. Of a doubtful
        one stays what is outside its frames, or in less room its end. What another agent said is shortened to ``long_tokens``.
        """
        [message, *others] = messages_of(candidate.pieces, messages)
        if others:
            return []
        if message.origin == "doubtful":
            around = self._reworded(
                candidate, message, words_around(message.text), Why.MAYBE_PERSON
            )
            end = self._reworded(candidate, message, end_of(message.text), Why.MAYBE_PERSON)
            is_shorter = around and end and end.tokens_after < around.tokens_after
            whole = around or kept(candidate, Why.MAYBE_PERSON)
            return [whole, *([end] if end and is_shorter else [])]
        if message.origin == "person":
            both = ends_around(message.text, said=self._stated)
            around = self._reworded(candidate, message, both, Why.PERSON)
            return [around or kept(candidate, Why.PERSON)]
        fitted = fit_pieces(
            candidate.pieces,
            [message],
            room_tokens=long_tokens,
            counter=self._counter,
            shorten=self._compressor.shorten,
        )
        if fitted is None:
            return []
        return [replaced(candidate, "shorten", Why.MAYBE_PERSON, *fitted, detail="its ends")]

    def _reworded(
        self, candidate: Candidate, message: Message, text: str, why: Why
    ) -> Decision | None:
        """Return the decision to send a message with another text, which the compressor cuts out of it; ``None`` if that saves nothing."""
        if text and len(text) < len(message.text):
            text = self._compressor.extract(message.text, text, count=self._counter.text)
        short = without_images(replace(message, text=text))
        tokens = self._counter.message(short)
        if not text or tokens >= candidate.tokens:
            return None
        piece = Written(message=short, index=index_of(candidate.pieces[0]))
        return replaced(candidate, "shorten", why, (piece,), tokens, detail="what it states")


def is_cued(sentence: str) -> bool:
    """Whether the cues of a language's grammar make a sentence a rule: "never", "must", "at most"."""
    kind, sure = kind_of(looked_at(sentence))
    return sure and kind in RULES


def why_of(message: Message) -> Why:
    """Return why a message stays."""
    return Why.PERSON if message.origin == "person" else Why.MAYBE_PERSON


def works_on(candidates: Sequence[Candidate], at: int) -> bool:
    """Whether the model calls tools right after a message: in progress, or done."""
    behind = (each.unit.messages for each in candidates[at + 1 : at + 3])
    said = next((those for those in behind if those[0].role not in SYSTEM_ROLES), ())
    return any(each.calls for each in said)


def with_marks(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return these parts of a text, in order, with marks for what is between."""
    parts: list[str] = []
    at = 0
    for start, end in spans:
        stop = end + text[end : end + 1].isspace()
        parts += [
            marked(text[at:start]) if text[at:start].strip() else text[at:start],
            text[start:stop],
        ]
        at = stop
    return "".join([*parts, marked(text[at:]) if text[at:].strip() else ""])


def is_repeated(text: str, lines: set[str]) -> bool:
    """Return True if most of a text is in ``lines``, to which its own lines are added."""
    own = [line for line in map(str.strip, text.splitlines()) if line]
    again = sum(len(line) for line in own if line in lines)
    lines.update(own)
    return again > REPEATED * sum(map(len, own))
