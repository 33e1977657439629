"""What a request says of evicted units: which messages of people stay, and the notice in place of the rest.

Promise: the notice fits its limit and contains only text of the conversation or verified summaries by a model, each line of it
marked as a quotation; statements are dropped last. It is built from the units themselves, never from an earlier notice, so it does not degrade. A statement
that is still visible in its own words is not repeated, nor one replaced by a statement that is shown in a notice.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain

from autogen_context.compressor.left_out import Action, ActionLog, LeftOut, actions_in
from autogen_context.compressor.protocol import Extracting
from autogen_context.compressor.steps import reopened, without_outdated
from autogen_context.compressor.summaries import Span
from autogen_context.ledger import Entry, Ledger
from autogen_context.ledger.ledger import replaces
from autogen_context.messages.message import SYSTEM_ROLES
from autogen_context.messages.piece import Written
from autogen_context.messages.tool_call import BY_NAME, ToolKinds
from autogen_context.prioritizer.references import unit_at
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.view.decision import Candidate, Decision
from autogen_context.view.index import ConversationIndex
from autogen_context.view.notice import Name


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


NO_STATEMENTS: Mapping[Name, Entry] = {}


class EvictionNotice:
    """The part of a conversation's index that tells of units evicted from it."""

    def __init__(
        self, counter: MessageCounter, *, compressor: Extracting, kinds: ToolKinds = BY_NAME
    ) -> None:
        self._recorded: tuple[Entry, ...] = ()
        self._compressor, self._counter, self._kinds = compressor, counter, kinds
        self.truncate(0)

    def truncate(self, _units: int) -> int:
        """Begin anew: a ledger and a log take nothing back."""
        self._ledger, self._prompts = Ledger(), 0  # leading system messages
        self._ledger.add(self._recorded)
        self._done: list[list[Action]] = []  # by each unit
        self._earlier, self._noted = ActionLog(), 0
        return 0

    def add(self, at: int, candidate: Candidate) -> None:
        """Learn what people and the model stated in the next unit, and what was done; of a system prompt, which stays, nothing."""
        if at < len(self._done):
            return
        self._done.append(actions_in(candidate.unit, self._kinds))
        for position, message in enumerate(candidate.unit.messages, candidate.unit.start):
            if message.role in SYSTEM_ROLES and position == self._prompts:
                self._prompts += 1
            elif not message.own:
                self._ledger.learn([message], start=position)

    def stated(self, index: ConversationIndex, recorded: Iterable[Entry]) -> list[Entry]:
        """Return all statements that are still valid, by whom ever.

        Those recorded of a list whose front was cut count as said before the first message; they stand elsewhere.
        """
        before, self._recorded = self._recorded, tuple(recorded)
        if self._recorded != before:
            index.truncate(0, [self])
            self.truncate(0)
        index.follow(self)
        return list(self._ledger)

    def _log(self, *, until: int) -> ActionLog:
        """Return the log of the actions of the units before ``until``, which are out of reach.

        It depends only on the units and the position, so a restored state produces the same one.
        """
        if self._noted > until:
            self._earlier, self._noted = ActionLog(), 0
        for actions in self._done[self._noted : until]:
            self._earlier.add(actions)
        self._noted = until
        return self._earlier

    def overruled(self, statements: Mapping[Name, Entry]) -> frozenset[Name]:
        """Return the names of the statements that later messages replaced."""
        return overruled(statements, list(self._ledger))

    def content(
        self,
        units: Sequence[Candidate],
        decided: Mapping[int, Decision],
        *,
        in_force: Mapping[Name, Entry] = NO_STATEMENTS,
        summaries: Mapping[Span, str],
        room_tokens: int,
        horizon: int = 0,
    ) -> str:
        """Return the notice about units left out or shortened; actions before ``horizon`` come from a log.

        Statements ``in_force`` in the notices are shown anyway.
        """
        current: dict[Span, str] = {}
        for span in sorted(summaries, key=lambda span: span.start):
            if any(i not in decided for i in range(span.start, span.stop)):
                _, said = reopened(summaries[span])  # its statements stand with all others
                stop = units[span.stop - 1].unit.stop
                stated = chain(self._ledger, in_force.values())
                newer = [entry for entry in stated if entry.position >= stop]
                current[span] = without_outdated(said, newer)
        earlier = self._log(until=horizon) if horizon else None
        gone = (i for i in range(horizon, len(units)) if i not in decided)
        left_out = LeftOut(
            statements=self._stated(units, decided, in_force.values()),
            summaries=current,
            units={i: self._done[i] for i in gone},
            earlier=earlier if horizon and not any(current.values()) else None,
        )
        return self._compressor.notice(
            left_out, room_tokens=max(0, room_tokens), count=self._counter.text
        )

    def _stated(
        self,
        units: Sequence[Candidate],
        decided: Mapping[int, Decision],
        in_force: Collection[Entry],
    ) -> list[Entry]:
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

        own = (entry for entry in self._ledger if entry.position >= 0)
        return [e for e in own if is_hidden(e) and not is_replaced(e, in_force)]
