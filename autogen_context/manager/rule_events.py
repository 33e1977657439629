"""Which rules people stated and ended from turn to turn, for the event log.

Promise: it is found in the writer's thread, from the messages alone. A rule ends by a message, and the event says by which; where the
host changed or cut its list, the event lists all rules in force anew.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from typing_extensions import override

from autogen_context.ledger import Entry, Ledger
from autogen_context.manager.event_schema import EndedRuleEvent, RuleEvent, RulesEvent
from autogen_context.messages.message import SYSTEM_ROLES, Message
from autogen_context.view.statement import RULES, PersonStatement


class Ended(NamedTuple):
    """A rule that is no longer in force, and the position of the message that ended it."""

    rule: Entry
    by: int


class RuleLedger(Ledger):
    """A ledger that is given one message at a time, and notes which rules each of them states and ends."""

    def __init__(self, recorded: Iterable[Entry]) -> None:
        super().__init__()
        self.ended: list[Ended] = []
        self._at = self._prompts = 0
        self.add(recorded)

    @property
    def rules(self) -> list[Entry]:
        """The rules of people in force."""
        return [entry for entry in self if is_persons_rule(entry)]

    def learn_next(self, message: Message, position: int) -> list[Entry]:
        """Learn the next message, of the system prompt nothing; return the rules that it states."""
        self._at = position
        if message.role in SYSTEM_ROLES and position == self._prompts:
            self._prompts += 1
            return []
        learnt = [] if message.own else self.learn([message], start=position)
        return [entry for entry in learnt if is_persons_rule(entry)]

    @override
    def forget(self, entry: Entry) -> None:
        """Remove an entry, and note it if it is a rule."""
        if entry in self and is_persons_rule(entry):
            self.ended.append(Ended(entry, self._at))
        super().forget(entry)


class RuleEvents:
    """Follows the rules of one conversation."""

    def __init__(self, *, record_text: bool) -> None:
        self._record_text = record_text
        self._messages: list[Message] = []
        self._begin(())

    def _begin(self, recorded: tuple[Entry, ...]) -> None:
        self._recorded, self._ledger = recorded, RuleLedger(recorded)

    def follow(
        self, messages: Sequence[Message], recorded: tuple[Entry, ...], *, same: int
    ) -> RulesEvent:
        """Read what is new in a list, and return what it states and ends.

        Args:
            messages: the host's from position ``same`` on; those before are as in the last list.
            recorded: what still holds of messages that the host cut from its list.
            same: number of messages before.
        """
        known, ledger = self._messages[same:], self._ledger
        goes_on = recorded == self._recorded and len(known) <= len(messages)
        goes_on = goes_on and all(a is b for a, b in zip(known, messages, strict=False))
        self._messages[same:] = messages
        if not goes_on:
            self._begin(recorded)
        start, ended = len(known) + same if goes_on else 0, len(ledger.ended) if goes_on else 0
        stated = list[Entry]()
        for position, message in enumerate(self._messages[start:], start):
            stated += self._ledger.learn_next(message, position)
        rules = [rule for rule in stated if rule in self._ledger] if goes_on else self._ledger.rules
        return self._event(rules, ended, anew=not goes_on)

    def whole(self) -> RulesEvent:
        """Return all rules in force, and all that ended."""
        return self._event(self._ledger.rules, 0, anew=True)

    def absent(self, rules: Iterable[PersonStatement]) -> list[RuleEvent]:
        """Return the event's rules for those that a request has not."""
        return [self._rule(rule.position, rule.kind, rule.text) for rule in rules]

    def _event(self, stated: Iterable[Entry], ended: int, *, anew: bool) -> RulesEvent:
        return RulesEvent(
            anew=anew,
            stated=[self._rule(rule.position, rule.kind, rule.text) for rule in stated],
            ended=[
                EndedRuleEvent(**self._rule(rule.position, rule.kind, rule.text), by=by)
                for rule, by in self._ledger.ended[ended:]
            ],
            absent=[],
        )

    def _rule(self, position: int | None, kind: str, text: str) -> RuleEvent:
        at = None if position is None or position < 0 else position
        rule = RuleEvent(message=at, kind=kind)
        return RuleEvent(message=at, kind=kind, text=text) if self._record_text else rule


def is_persons_rule(entry: Entry) -> bool:
    """Return whether an entry is a rule, a limit or a preference of a person."""
    return entry.author == "person" and entry.kind in RULES
