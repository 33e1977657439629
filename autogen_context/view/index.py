"""The one index of a conversation: what rooms know of its units, brought up to date where it is needed.

Promise: a part has read the units of the list as it is now, in their order, each once; asking for it costs what is new since.
The conversation alone compares a list with the one before: what it drops leaves all parts at once. Another system prompt in
place of a leading one is read in its place, and nothing else is read again. ``Overview`` is the part that each turn asks for.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol

from autogen_context.messages.message import MODEL_ROLES, SYSTEM_ROLES, Message
from autogen_context.messages.origin import POSSIBLE_PEOPLE, is_users
from autogen_context.text.work import NAME_CHARS, STATEMENT_CHARS
from autogen_context.view.decision import Candidate


class Part(Protocol):
    """What is read of units; it can be made again by reading them."""

    def add(self, at: int, candidate: Candidate, /) -> None:
        """Read the next unit, or a system message that stands in place of a leading one."""
        ...

    def truncate(self, units: int, /) -> int:
        """Forget all but the first units; return how many are left, fewer where they have to be read again."""
        ...


class ConversationIndex:
    """The parts of one conversation; ``units`` are those of its list, which its owner changes."""

    def __init__(self, units: Sequence[Candidate]) -> None:
        self.units = units
        self._parts: dict[int, Part] = {}  # by identity
        self._read: dict[int, int] = {}  # units that a part has read

    def follow(self, *parts: Part, stop: int | None = None) -> None:
        """Bring parts up to date: they know the first ``stop`` units, all by default, and no others."""
        stop = len(self.units) if stop is None else stop
        for part in parts:
            key = id(part)
            if self._read.get(key, 0) > stop:
                self._read[key] = part.truncate(stop)
            for at in range(self._read.get(key, 0), stop):
                self._parts[key], self._read[key] = part, at + 1
                part.add(at, self.units[at])

    def truncate(self, units: int, parts: Iterable[Part] | None = None) -> None:
        """Have parts, all by default, forget all but the first units."""
        for part in list(self._parts.values()) if parts is None else parts:
            if self._read.get(id(part), 0) > units:
                self._read[id(part)] = part.truncate(units)

    def replace(self, heads: Iterable[int]) -> None:
        """Have all parts read the system messages that stand in place of leading ones, by index."""
        for at in heads:
            for key, part in self._parts.items():
                if at < self._read[key]:
                    part.add(at, self.units[at])


class Overview:
    """Who says something where, as ascending indices of units, and which messages did not come or were not read whole.

    Attributes:
        people: units of people.
        possible_people: units of people, and those that may be a person's.
        systems: system messages.
        others: units in the user role that are no person's: other agents, and those that may be a person's.
        instructions: units that instruct the agent: people's or, for an agent that hears none, those of who spoke to it first.
    """

    def __init__(self) -> None:
        self.people: list[int] = []
        self.possible_people: list[int] = []
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
        known = self._partly
        return tuple([at for unit in sorted(known) for at in known[unit]]) if known else ()

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
            if message.origin in POSSIBLE_PEOPLE:
                self.possible_people.append(at)
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
        for said in (self.people, self.possible_people, self.systems, self.others, self._led):
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
