"""Say what is to be known of what is out of sight: what was stated and still holds, what was done, what came of it.

Promise: what is said fits its room and stands in the conversation, or is a model's summary that was verified; statements
go last. A statement of a unit that is in sight as it was said is not repeated, and neither is one in whose place another
came that is told beside the messages.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Generic

from autogen_context.compressor.action_log import action_log
from autogen_context.compressor.people import RANKS, STATES_NOTHING
from autogen_context.compressor.source import reopened, without_outdated
from autogen_context.compressor.span import Span
from autogen_context.compressor.statements import Name, Statements
from autogen_context.ledger import Ledger
from autogen_context.ledger.rendering import render
from autogen_context.messages.message import Message
from autogen_context.messages.people import People, people_in
from autogen_context.messages.piece import Written
from autogen_context.messages.prefix import same_at_front
from autogen_context.prioritizer.references import UnitText
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.view.decision import Candidate, Decision

LEDGER_FRACTION = 0.5  # of the room, for statements


class EvictionNotice(Generic[Name]):
    """Tells what left one conversation.

    Args:
        counter: counts texts.
        people: names of people, beside those that can be told.

    Attributes:
        statements: those that are told beside the messages.
    """

    def __init__(self, counter: MessageCounter, people: Collection[str] = ()) -> None:
        self.statements = Statements[Name]({})
        self._counter = counter
        self._named = people
        self._ledger = Ledger(people)
        self._people = People()
        self._learnt: list[Message] = []
        self._ranks: dict[int, int] = {}

    def follow(self, messages: Sequence[Message]) -> None:
        """Take in what people and the model stated since the last time."""
        same = same_at_front(self._learnt, messages)
        if same < len(self._learnt):
            self._ledger, self._learnt, same = Ledger(self._named), [], 0
        if not same:
            self._people = people_in(messages, self._named)
        for position, message in enumerate(messages[same:], same):
            if not message.own:
                self._ledger.learn([message], start=position)
        self._learnt = list(messages)
        self._ranks = {}
        for entry in self._ledger:
            if not entry.reported:
                rank = min(RANKS[entry.kind], self.rank(entry.position))
                self._ranks[entry.position] = rank

    def people_in(self, units: Sequence[Candidate], said: Iterable[int]) -> list[int]:
        """Those of some units in which a person speaks, and not another agent in a person's role."""
        return [i for i in said if self._people.speaks(units[i].unit.messages[0])]

    def rank(self, position: int) -> int:
        """How soon what a message states is given up: 0 for last, ``STATES_NOTHING`` where nothing of it holds."""
        return self._ranks.get(position, STATES_NOTHING)

    def states(self, text: str) -> bool:
        """Whether a text by a person states something."""
        return bool(Ledger().learn_text(text))

    def overruled(self) -> frozenset[Name]:
        """The notices about which messages said something else since."""
        return self.statements.overruled(self._ledger)

    def told(
        self,
        units: Sequence[UnitText],
        decided: Mapping[int, Decision],
        *,
        summaries: Mapping[Span, str],
        room_tokens: int,
    ) -> str:
        """What is to be known of units that are left out, or of which only parts stay.

        Args:
            units: n units.
            decided: the decisions on those of which something stays.
            summaries: what a model made of spans of them.
            room_tokens: what may be said, in tokens.
        """
        count = self._counter.text
        stated = self._stated(units, decided, int(room_tokens * LEDGER_FRACTION))
        room_tokens -= count(stated) + 1
        gone = {i for i in range(len(units)) if i not in decided}
        summed: list[str] = []
        for span in sorted(summaries, key=lambda span: -span.start):  # the newest first
            covered = gone.intersection(range(span.start, span.stop))
            summary = self._current(span, summaries[span], units, room_tokens) if covered else ""
            if summary:
                summed.insert(0, summary)
                gone -= covered
                room_tokens -= count(summary) + 1
        done = action_log([units[i] for i in sorted(gone)], room_tokens=room_tokens, count=count)
        return "\n\n".join(part for part in (stated, *summed, done) if part)

    def _current(
        self, span: Span, summary: str, units: Sequence[UnitText], room_tokens: int
    ) -> str:
        """What of a summary still holds, without its statements, which are told once for all; empty where it has no room."""
        _, said = reopened(summary)
        if self._counter.text(said) >= room_tokens:
            return ""
        stop = units[span.stop - 1].unit.stop
        newer = [entry for entry in self._ledger if entry.position >= stop]
        return without_outdated(said, [*newer, *self.statements.since(stop)])

    def _stated(
        self, units: Sequence[UnitText], decided: Mapping[int, Decision], room_tokens: int
    ) -> str:
        """What was stated out of sight and still holds."""
        hidden: set[int] = set()
        shortened: list[str] = []
        for i, text in enumerate(units):
            if i not in decided or decided[i].hides:
                hidden.update(range(text.unit.start, text.unit.stop))
            if i in decided and decided[i].action == "shorten":
                written = (p for p in decided[i].pieces if isinstance(p, Written))
                shortened += [piece.message.text for piece in written]
        in_sight = " ".join(" ".join(shortened).split())
        entries = [entry for entry in self._ledger if entry.position in hidden]
        entries = [entry for entry in entries if entry.text not in in_sight]
        entries = [entry for entry in entries if not self.statements.replace(entry)]
        return render(entries, room_tokens=room_tokens, count=self._counter.text).text
