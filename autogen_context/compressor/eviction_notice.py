"""Follow what is stated in a conversation: in which order people's messages stay, and what is told of what left sight.

Promise: what is told stands in the conversation, or is a model's summary that was verified. A statement in sight as it was
said is not repeated, and neither is one in whose place another came that is told beside the messages.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
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
REPEATED = 0.5  # of a message; with more that stands in newer ones, it says nothing of its own
TELLS = 7  # the rank of a message that tells something, by no cue of what holds
STATES_NOTHING = 9  # the rank of a message that states nothing


class Said(NamedTuple):
    """What a person said in the unit at a position: whole, or what it states; how soon it is given up."""

    unit: int
    rank: int
    decision: Decision

    @property
    def states(self) -> bool:
        """Whether it states something that still holds."""
        return self.rank < STATES_NOTHING


def is_replaced(entry: Entry, statements: Iterable[Entry]) -> bool:
    """Whether one that came later says what a message said, or is about the same."""
    later = (own for own in statements if own.position > entry.position)
    return any(own.text == entry.text or replaces(own, entry, changes=True) for own in later)


def overruled(statements: Mapping[Name, Entry], entries: Collection[Entry]) -> frozenset[Name]:
    """The names of statements about which somebody with as much say said something else later."""
    return frozenset(
        name
        for name, own in statements.items()
        if any(e.position >= own.position and replaces(e, own, changes=False) for e in entries)
    )


class EvictionNotice(Generic[Name]):
    """Tells what left one conversation; ``statements`` are told beside its messages, each under a name."""

    def __init__(
        self, counter: MessageCounter, people: Collection[str] = (), *, compressor: Compressor
    ) -> None:
        self.statements: Mapping[Name, Entry] = {}
        self._compressor = compressor
        self._counter = counter
        self._named = people
        self._ledger = Ledger(people)
        self._people = People()
        self._learnt, self._last = 0, Message(role="system")
        self._strong: list[int] = []
        self._telling: list[int] = []
        self._earlier = ActionLog()
        self._noted = 0
        self._notes: dict[int, tuple[Candidate, UnitNote]] = {}  # of units that are in reach
        self._newest_noted: Candidate | None = None

    def follow(self, messages: Sequence[Message]) -> None:
        """Take in what people and the model stated since the last time."""
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
        """Note what was done in the units up to a position: they are out of reach, and are not looked at again.

        What is noted depends on the units and the position alone, so that a loaded state notes the same.
        """
        noted = self._noted
        if noted > until or (noted and units[noted - 1].candidate is not self._newest_noted):
            self._noted, self._earlier = 0, ActionLog()
        for i in range(self._noted, until):
            self._earlier.add(self._note(i, units[i]))
            self._notes.pop(i)
            self._noted, self._newest_noted = i + 1, units[i].candidate

    def _note(self, i: int, text: UnitText) -> UnitNote:
        """What a log says of a unit; made once."""
        known = self._notes.get(i)
        if known is None or known[0] is not text.candidate:
            known = self._notes[i] = text.candidate, note_of(text)
        return known[1]

    def overruled(self) -> frozenset[Name]:
        """The notices about which messages said something else since."""
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
        """What people said in units with an instruction, what holds longest first; what states nothing comes last, the newest first.

        Of a message beyond ``long_tokens`` what it states stays. Of units before ``reach`` only what states something is looked at.
        ``is_used``: whether the model named since what a person names in a unit; that holds no longer than the work on it.
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
                continue  # the model calls tools right behind it: that is under way, or done
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
        """A message with the sentences alone that state something; ``None`` where that is all of it, or nothing."""
        [message, *others] = messages_of(candidate.pieces, messages)
        words, output = words_and_output(message, before)
        text = self._compressor.stated(words)
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
        """What is to be known of units that are left out, or of which only parts stay; what was done before ``reach`` was noted."""
        gone = {i for i in range(reach, len(units)) if i not in decided}
        summed: list[Summarised] = []
        for span in sorted(summaries, key=lambda span: span.start):
            inside = range(span.start, span.stop)
            if all(i in decided for i in inside):
                continue
            _, said = reopened(summaries[span])  # its statements are told once for all
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
        """What was stated out of sight and still holds."""
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
    """Which unit has the message at a position."""
    return bisect_right(units, position, key=lambda each: each.unit.start) - 1


def is_repeated(text: str, lines: set[str]) -> bool:
    """Whether most of a text stands in others, of which these are the lines; notes its own."""
    own = [line for line in map(str.strip, text.splitlines()) if line]
    again = sum(len(line) for line in own if line in lines)
    lines.update(own)
    return again > REPEATED * sum(map(len, own))
