"""Who says something where in a conversation, and which messages did not come or were not read whole: what each turn asks for.

Promise: it is read of each unit once, and units that are taken back leave nothing.
"""

from collections.abc import Sequence

from autogen_context.messages.message import MODEL_ROLES, SYSTEM_ROLES, Message
from autogen_context.messages.origin import KEPT, is_users
from autogen_context.text.work import NAME_CHARS, STATEMENT_CHARS
from autogen_context.view.decision import Candidate


class Overview:
    """The part of a conversation's index that has, as ascending indices of units, who says something where.

    Attributes:
        people: units of people.
        kept: units of people, and those that may be a person's.
        systems: system messages.
        others: units in the user role that are no person's: other agents, and those that may be a person's.
        instructions: units that instruct the agent: people's or, for an agent that hears none, those of who spoke to it first.
    """

    def __init__(self) -> None:
        self.people: list[int] = []
        self.kept: list[int] = []
        self.systems: list[int] = []
        self.others: list[int] = []
        self.instructions: Sequence[int] = ()
        self._led: list[int] = []  # of the others, those of who spoke first
        self._leader = ""
        self._orphans: dict[int, int] = {}  # positions by unit
        self._partly: dict[int, list[int]] = {}

    @property
    def orphans(self) -> tuple[int, ...]:
        """Positions at which units begin that arrived incomplete."""
        return tuple(self._orphans.values())

    @property
    def partly_read(self) -> tuple[int, ...]:
        """Positions of messages that are too long to be read whole."""
        return tuple([at for unit in sorted(self._partly) for at in self._partly[unit]])

    def add(self, at: int, candidate: Candidate) -> None:
        """Read the next unit, or another system prompt."""
        unit = candidate.unit
        if unit.messages[0].role not in MODEL_ROLES:
            self._hear(at, unit.messages[0])
        self._partly.pop(at, None)
        if long := [i for i, m in enumerate(unit.messages, unit.start) if is_partly_read(m)]:
            self._partly[at] = long
        if candidate.is_orphan:
            self._orphans[at] = unit.start

    def _hear(self, at: int, message: Message) -> None:
        """Note who says something that the model does not say."""
        if message.role in SYSTEM_ROLES:
            self.systems += [at] if at > max(self.systems[-1:], default=-1) else []
        elif is_users(message):
            if message.origin in KEPT:
                self.kept.append(at)
            if message.origin == "person":
                self.people.append(at)
            else:
                self.others.append(at)
            if message.origin not in {"person", "doubtful"}:
                self._leader = self._leader if self._led else message.name
                if message.name == self._leader:
                    self._led.append(at)
            self.instructions = self.people or self._led or self.others

    def truncate(self, units: int) -> int:
        """Forget all units after the first ones."""
        for said in (self.people, self.kept, self.systems, self.others, self._led):
            while said and said[-1] >= units:
                said.pop()
        for known in (self._orphans, self._partly):
            for at in [at for at in known if at >= units]:
                del known[at]
        self.instructions = self.people or self._led or self.others
        return units


def is_partly_read(message: Message) -> bool:
    """Return True if a text of a message is longer than what statements or names are looked for in."""
    states = message.role in SYSTEM_ROLES or (message.role == "user" and not message.results)
    if len(message.text) > 2 * (STATEMENT_CHARS if states else NAME_CHARS):
        return True
    for call in message.calls:
        if len(call.arguments) > 2 * NAME_CHARS:
            return True
    for result in message.results:  # noqa: SIM110 - asked of each message: without a generator
        if len(result.text) > 2 * NAME_CHARS:
            return True
    return False
