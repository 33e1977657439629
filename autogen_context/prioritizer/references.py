"""References between units: where values occur, and who used them again.

Promise: reading unit by unit, with some taken back in between, gives the same as reading what is left at once. Only units under
consideration are split into blocks.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from autogen_context.messages.blocks import (
    PlacedText,
    parsed,
    strings_in,
    texts_of,
)
from autogen_context.messages.identifiers import NOTHING, values_of
from autogen_context.messages.message import MODEL_ROLES, SYSTEM_ROLES, Message
from autogen_context.messages.origin import is_users
from autogen_context.messages.segment import Unit
from autogen_context.messages.tool_action import ToolAction
from autogen_context.messages.tool_call import BY_NAME, ToolKinds, actions_of
from autogen_context.prioritizer.category import Category, category_of
from autogen_context.prioritizer.superseded import Superseded
from autogen_context.text.passage import Passage
from autogen_context.view.decision import Candidate


class Named(NamedTuple):
    """Values of a unit by who named them, and the actions of its tool calls."""

    used: tuple[str, ...]  # by the model
    asked: tuple[str, ...]  # by a person
    is_sought: bool  # by a person or a system message
    actions: tuple[ToolAction, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitText:
    """The content of a unit; it is split into blocks only while the unit is under consideration."""

    candidate: Candidate
    named: Named  # values by who named them
    texts: tuple[PlacedText, ...] = ()

    @property
    def unit(self) -> Unit:
        """The unit."""
        return self.candidate.unit

    @property
    def messages(self) -> Sequence[Message]:
        """Its messages, as they may be sent."""
        return self.candidate.said

    @property
    def category(self) -> Category:
        """Its category, one of seven."""
        return category_of(self.unit, self.named.actions)

    @property
    def tokens_per_char(self) -> float:
        """Average tokens per character."""
        return self.candidate.tokens / max(1, sum(each.chars for each in self.texts))

    @property
    def blocks(self) -> list[Passage]:
        """The blocks of all its texts."""
        return [block for each in self.texts for block in each.blocks]

    @property
    def values(self) -> frozenset[str]:
        """All values that it names."""
        return frozenset(self.named.used).union(*(block.values for block in self.blocks))


def unit_at(units: Sequence[Candidate] | Sequence[UnitText], position: int) -> int:
    """Return the index of the unit that contains the message at a position."""
    return bisect_right(units, position, key=lambda each: each.unit.start) - 1


class References:
    """The part of a conversation's index that knows its units and the values in them; ``kinds`` classifies the tools.

    ``superseded`` is another part, which FilesShown reads as well.
    """

    def __init__(self, kinds: ToolKinds = BY_NAME, superseded: Superseded | None = None) -> None:
        self.units: list[UnitText] = []
        self.blocks = Counter[str]()  # blocks with a value, in the units under consideration
        self.total_blocks = 0  # number of their blocks
        self.asked = Counter[str]()  # units in which a person named a value
        self.superseded = superseded or Superseded(kinds)
        self._kinds = kinds
        self._cut: set[int] = set()
        self._uses: dict[str, list[int]] = {}

    @property
    def considered(self) -> list[int]:
        """The units under consideration, whose texts are split into blocks, ascending."""
        return sorted(self._cut)

    @property
    def used(self) -> Collection[str]:
        """All values that the model named."""
        return self._uses.keys()

    def uses(self, value: str) -> Sequence[int]:
        """Return the units in which the model named a value, oldest first."""
        return self._uses.get(value, ())

    def add(self, at: int, candidate: Candidate) -> None:
        """Read the next unit, or a system message in place of one, which names nothing that is counted."""
        named = named_in(candidate, self._kinds)
        if at < len(self.units):
            self._forget_blocks(at)
            self.units[at] = UnitText(candidate=candidate, named=named)
            return
        for value in named.used:
            known = self._uses.setdefault(value, [at])  # list literals are smaller than grown lists
            known += [] if known[-1] == at else [at]
        self.asked.update(named.asked)
        self.units.append(UnitText(candidate=candidate, named=named))

    def truncate(self, units: int) -> int:
        """Forget all units after the first ones."""
        while len(self.units) > units:
            named = self.units[-1].named
            self._forget_blocks(len(self.units) - 1)
            self.units.pop()
            for value in named.used:
                self._uses[value].pop()
                if not self._uses[value]:
                    del self._uses[value]
            forget(named.asked, self.asked)
        return units

    def cut(self, units: Iterable[int]) -> None:
        """Split the texts of exactly these units into blocks."""
        wanted = set(units)
        for unit in self._cut - wanted:
            self._forget_blocks(unit)
        for unit in sorted(wanted - self._cut):
            self._cut.add(unit)
            text = self.units[unit]
            text = replace(text, texts=texts_of(text.messages))
            self.units[unit], blocks = text, text.blocks
            self.blocks.update(chain.from_iterable([block.values for block in blocks]))
            self.total_blocks += len(blocks)

    def _forget_blocks(self, unit: int) -> None:
        self._cut.discard(unit)
        text = self.units[unit]
        for block in text.blocks:
            forget(block.values, self.blocks)
            self.total_blocks -= 1
        self.units[unit] = replace(text, texts=())


def forget(values: Iterable[str], counts: Counter[str]) -> None:
    """Decrement the counts of values and remove those at 0."""
    for value in values:
        counts[value] -= 1
        if not counts[value]:
            del counts[value]


def named_in(candidate: Candidate, kinds: ToolKinds) -> Named:
    """Return the values of a unit by who named them; keys of tool arguments do not count as named by the model."""
    used, asked, stated = NOTHING, NOTHING, NOTHING
    for message in candidate.said:
        if message.role in MODEL_ROLES:
            texts = [message.text]
            for call in message.calls:
                value = parsed(call.arguments)
                texts += [call.arguments] if value is None else strings_in(value)
            used |= values_of("\n".join(texts))  # no value spans lines
        elif message.role in SYSTEM_ROLES:
            stated |= values_of(message.text)
        elif is_users(message):
            asked |= values_of(message.text)
    return Named(
        used=tuple(used),
        asked=tuple(asked),
        is_sought=bool(asked or stated),
        actions=actions_of(candidate.unit, kinds),
    )
