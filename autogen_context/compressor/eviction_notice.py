"""Follow what is stated in a conversation, and have told what of it left sight.

Promise: what is told stands in the conversation, or is a model's summary that was verified. A statement of a unit that is in sight as it was said is not repeated, and neither is one in whose place another
came that is told beside the messages.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Generic

from autogen_context.compressor.compressor import Compressor, SemanticCompressor
from autogen_context.compressor.notice import LeftOut, Summarised
from autogen_context.compressor.people import STATES_NOTHING
from autogen_context.compressor.span import Span
from autogen_context.compressor.statements import Name, Statements
from autogen_context.compressor.steps import reopened, without_outdated
from autogen_context.ledger import Entry, Ledger
from autogen_context.ledger.rendering import RANKS
from autogen_context.messages.message import Message
from autogen_context.messages.people import People, people_in
from autogen_context.messages.piece import Written, same_at_front
from autogen_context.prioritizer.references import UnitText
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.view.decision import Candidate, Decision


class EvictionNotice(Generic[Name]):
    """Tells what left one conversation.

    Args:
        counter: counts texts.
        people: names of people, beside those that can be told.
        compressor: says it.

    Attributes:
        statements: those that are told beside the messages.
    """

    def __init__(
        self,
        counter: MessageCounter,
        people: Collection[str] = (),
        *,
        compressor: Compressor | None = None,
    ) -> None:
        self._compressor = compressor or SemanticCompressor()
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
        gone = {i for i in range(len(units)) if i not in decided}
        summed: list[Summarised] = []
        for span in sorted(summaries, key=lambda span: span.start):
            covered = sorted(gone.intersection(range(span.start, span.stop)))
            text = self._current(summaries[span], units[span.stop - 1].unit.stop) if covered else ""
            if text:
                summed.append(Summarised(text=text, units=[units[i] for i in covered]))
                gone.difference_update(covered)
        left_out = LeftOut(
            statements=self._stated(units, decided),
            summaries=summed,
            units=[units[i] for i in sorted(gone)],
        )
        return self._compressor.notice(
            left_out, room_tokens=max(0, room_tokens), count=self._counter.text
        )

    def _current(self, summary: str, stop: int) -> str:
        """What of a summary still holds, without its statements, which are told once for all."""
        _, said = reopened(summary)
        newer = [entry for entry in self._ledger if entry.position >= stop]
        return without_outdated(said, [*newer, *self.statements.since(stop)])

    def _stated(self, units: Sequence[UnitText], decided: Mapping[int, Decision]) -> list[Entry]:
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
        return [entry for entry in entries if not self.statements.replace(entry)]
