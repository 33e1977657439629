"""Tracking of statements in a conversation: which messages of people to keep first, and the notice about evicted units.

Promise: the notice contains only text of the conversation or verified summaries by a model. A statement that is still
visible in its own words is not repeated, nor one replaced by a statement that is shown beside the messages.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import Generic, NamedTuple, TypeVar

from autogen_context.compressor.compressor import Compressor
from autogen_context.compressor.notice import ActionLog, LeftOut, Summarised, UnitNote, note_of
from autogen_context.compressor.span import Span
from autogen_context.compressor.steps import reopened, without_outdated
from autogen_context.ledger import Entry, Ledger
from autogen_context.ledger.ledger import replaces
from autogen_context.ledger.reader import tells
from autogen_context.ledger.rendering import RANKS
from autogen_context.messages.message import SYSTEM_ROLES, Message, without_images
from autogen_context.messages.people import People, is_strong, is_users, people_in, words_and_output
from autogen_context.messages.piece import Written, index_of, messages_of
from autogen_context.prioritizer.blocks import marked
from autogen_context.prioritizer.references import UnitText
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.view.decision import Candidate, Decision, kept, replaced

Name = TypeVar("Name", bound=Hashable)

REASON = "a person said it"
REPEATED = 0.5  # of a message; above it, the message only repeats newer ones
MOST_STATED = 64  # long messages whose statements are kept
TELLS = 7  # rank of a message that tells something without a statement
STATES_NOTHING = 9  # rank of a message that states nothing


class Said(NamedTuple):
    """A person's message by its unit: the decision to keep it whole or only its statements; higher ranks are dropped first."""

    unit: int
    rank: int
    decision: Decision

    @property
    def states(self) -> bool:
        """True if it states something that is still valid."""
        return self.rank < STATES_NOTHING


def is_replaced(entry: Entry, statements: Iterable[Entry]) -> bool:
    """Return True if a later statement repeats or replaces an entry."""
    later = (own for own in statements if own.position > entry.position)
    return any(own.text == entry.text or replaces(own, entry, changes=True) for own in later)


def overruled(statements: Mapping[Name, Entry], entries: Collection[Entry]) -> frozenset[Name]:
    """Return the names of statements that a later entry with enough authority replaced."""
    return frozenset(
        name
        for name, own in statements.items()
        if any(e.position >= own.position and replaces(e, own, changes=False) for e in entries)
    )


class EvictionNotice(Generic[Name]):
    """Builds the notice about units evicted from a conversation; ``statements`` are shown beside its messages, by name."""

    def __init__(
        self, counter: MessageCounter, people: Collection[str] = (), *, compressor: Compressor
    ) -> None:
        self.statements: Mapping[Name, Entry] = {}
        self._compressor = compressor
        self._read = lru_cache(MOST_STATED)(compressor.stated)  # a large paste takes a while
        self._counter = counter
        self._named = people
        self._ledger = Ledger(people)
        self._people = People()
        self._learnt, self._last = 0, Message(role="system")
        self._strong: list[int] = []
        self._telling: list[int] = []
        self._earlier = ActionLog()
        self._noted = 0
        self._notes: dict[int, tuple[Candidate, UnitNote]] = {}  # of units within reach
        self._newest_noted: Candidate | None = None

    def follow(self, messages: Sequence[Message]) -> None:
        """Learn what people and the model stated since the last call."""
        same, stop = self._learnt, len(messages)
        if same and (same > len(messages) or messages[same - 1] is not self._last):
            self._ledger, self._strong, self._telling, same = Ledger(self._named), [], [], 0
        if not same:
            self._people = people_in(messages, self._named)
        for position in range(same, stop):
            message = messages[position]
            if not message.own:
                self._ledger.learn([message], start=position)
            if is_strong(message):
                self._strong.append(position)
            if is_users(message):
                words, _ = words_and_output(message, messages[position - 1] if position else None)
                if tells(words):
                    self._telling.append(position)
        self._learnt = max(same, stop)
        if self._learnt:
            self._last = messages[self._learnt - 1]

    def note(self, units: Sequence[UnitText], *, until: int) -> None:
        """Log the actions of the units before ``until``, which are out of reach and not read again.

        The log depends only on the units and the position, so a restored state produces the same one.
        """
        noted = self._noted
        if noted > until or (noted and units[noted - 1].candidate is not self._newest_noted):
            self._noted, self._earlier = 0, ActionLog()
        for i in range(self._noted, until):
            self._earlier.add(self._note(i, units[i]))
            self._notes.pop(i)
            self._noted, self._newest_noted = i + 1, units[i].candidate

    def _note(self, i: int, text: UnitText) -> UnitNote:
        """Return the note on a unit; cached."""
        known = self._notes.get(i)
        if known is None or known[0] is not text.candidate:
            known = self._notes[i] = text.candidate, note_of(text)
        return known[1]

    def overruled(self) -> frozenset[Name]:
        """Return the names of the statements that later messages replaced."""
        return overruled(self.statements, list(self._ledger))

    def said(
        self,
        candidates: Sequence[Candidate],
        units: Sequence[int],
        messages: Sequence[Message],
        *,
        long_tokens: int,
        reach: int = 0,
        is_used: Callable[[int], bool],
    ) -> list[Said]:
        """Return people's messages worth keeping, by rank and then newest first; those that state nothing come last.

        A message beyond ``long_tokens`` is reduced to its statements. Before ``reach`` only units that state something are read.
        ``is_used(unit)`` tells if the model has since used the names in it; then only rules and strong wording keep it.
        """
        found: list[Said] = []
        lines: set[str] = set()
        ranks: dict[int, int] = dict.fromkeys(self._telling, TELLS)
        for entry in self._ledger:
            if not entry.reported:
                known = ranks.get(entry.position, STATES_NOTHING)
                ranks[entry.position] = min(RANKS[entry.kind], known)
        stating = (unit_at(candidates, position) for position in {*ranks, *self._strong})
        older = {i for i in stating if i < reach and bisect_left(units, i) < bisect_right(units, i)}
        for i in reversed([*sorted(older), *units[bisect_left(units, reach) :]]):
            candidate = candidates[i]
            message = candidate.unit.messages[0]
            if not self._people.speaks(message) or is_repeated(message.text, lines):
                continue
            strong = is_strong(message)
            rank = ranks.get(candidate.unit.start, STATES_NOTHING)
            rank = min(rank, RANKS["preference"]) if strong else rank
            behind = (each.unit.messages for each in candidates[i + 1 : i + 3])
            said = next((those for those in behind if those[0].role not in SYSTEM_ROLES), ())
            if rank == STATES_NOTHING and any(each.calls for each in said):
                continue  # the model calls tools right after it: in progress, or done
            if rank > RANKS["constraint"] and not strong and is_used(i):
                continue
            if candidate.tokens <= long_tokens:
                found.append(Said(unit=i, rank=rank, decision=kept(candidate, REASON)))
            elif rank < STATES_NOTHING:
                before = candidates[i - 1].unit.messages[-1] if i else None
                brief = self._brief(candidate, before, messages)
                found += [Said(unit=i, rank=rank, decision=brief)] if brief else []
        return sorted(found, key=lambda said: (said.rank, -said.unit))

    def _brief(
        self, candidate: Candidate, before: Message | None, messages: Sequence[Message]
    ) -> Decision | None:
        """Reduce a message to the sentences that state something; ``None`` if none does, or if that saves nothing."""
        [message, *others] = messages_of(candidate.pieces, messages)
        words, output = words_and_output(message, before)
        text = self._read(words)
        if others or not text:
            return None
        short = without_images(replace(message, text=marked(output) + text))
        tokens = self._counter.message(short)
        if tokens >= candidate.tokens:
            return None
        piece = Written(message=short, index=index_of(candidate.pieces[0]))
        return replaced(candidate, "shorten", f"{REASON}: what it states", (piece,), tokens)

    def told(
        self,
        units: Sequence[UnitText],
        decided: Mapping[int, Decision],
        *,
        summaries: Mapping[Span, str],
        room_tokens: int,
        reach: int = 0,
    ) -> str:
        """Return the notice about units left out or shortened; actions before ``reach`` come from the log of ``note``."""
        gone = {i for i in range(reach, len(units)) if i not in decided}
        summed: list[Summarised] = []
        for span in sorted(summaries, key=lambda span: span.start):
            inside = range(span.start, span.stop)
            if all(i in decided for i in inside):
                continue
            _, said = reopened(summaries[span])  # its statements are told with all others
            stop = units[span.stop - 1].unit.stop
            stated = chain(self._ledger, self.statements.values())
            newer = [entry for entry in stated if entry.position >= stop]
            if text := without_outdated(said, newer):
                covered = [i for i in inside if i in gone]
                notes = [self._note(i, units[i]) for i in covered]
                summed.append(Summarised(text, notes))
                gone.difference_update(covered)
        left_out = LeftOut(
            statements=self._stated(units, decided),
            summaries=summed,
            units=[self._note(i, units[i]) for i in sorted(gone)],
            earlier=self._earlier if reach and not summed else None,
        )
        return self._compressor.notice(
            left_out, room_tokens=max(0, room_tokens), count=self._counter.text
        )

    def _stated(self, units: Sequence[UnitText], decided: Mapping[int, Decision]) -> list[Entry]:
        """Return the statements that are still valid but no longer visible."""
        shortened = [
            piece.message.text
            for decision in decided.values()
            if decision.action == "shorten"
            for piece in decision.pieces
            if isinstance(piece, Written)
        ]
        in_sight = " ".join(" ".join(shortened).split())

        def is_hidden(entry: Entry) -> bool:
            decision = decided.get(unit_at(units, entry.position))
            return (decision is None or decision.hides) and entry.text not in in_sight

        beside = self.statements.values()
        return [e for e in self._ledger if is_hidden(e) and not is_replaced(e, beside)]


def unit_at(units: Sequence[Candidate] | Sequence[UnitText], position: int) -> int:
    """Return the index of the unit that contains the message at a position."""
    return bisect_right(units, position, key=lambda each: each.unit.start) - 1


def is_repeated(text: str, lines: set[str]) -> bool:
    """Return True if most of a text is in ``lines``, to which its own lines are added."""
    own = [line for line in map(str.strip, text.splitlines()) if line]
    again = sum(len(line) for line in own if line in lines)
    lines.update(own)
    return again > REPEATED * sum(map(len, own))
