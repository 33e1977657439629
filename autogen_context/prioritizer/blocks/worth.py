"""What a block is worth to the turns to come: how likely they name again what it names.

Promise: a worth is not negative, depends on the conversation alone, and falls when the same values already stand among
what is kept. Sums over sets are exact (``fsum``): their order differs from process to process, and must change no choice.

A block is worth the sum over its values, each by how telling it is, how rare, and whether the model used it, a person
asked for it or the newest steps are about it; and something for each line that an edit could repeat, more where the
block or one beside it is about what is being worked on. All of it fades with age. A value that stands among what is
kept counts little, and so does one of many that look alike in a text: of forty flights the model picks one. What a
search gave counts half: what was picked of it the model named, and what was opened of it stands elsewhere as well.

Source:
    The constants are round numbers, chosen on recorded conversations: docs/decisions/0011-plan.md.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from math import exp, fsum, log, log1p
from typing import NamedTuple

from autogen_context.messages.identifiers import is_telling
from autogen_context.prioritizer.blocks.block import Block
from autogen_context.prioritizer.blocks.extract import Passage, Place
from autogen_context.prioritizer.blocks.others import Shared
from autogen_context.prioritizer.blocks.references import References, UnitText

PLAIN = 0.05  # of a telling value, for a plain word
USED = 1.2  # beside 1, times log(1 + uses), for a value that the model used
USE_FADES = 20  # units after its last use until that counts 1/e
ASKED = 1.0  # beside 1, for a value that a person named
FOCUS = 1.0  # beside 1, for a value of the newest step
FOCUS_UNITS = 5  # that the newest steps are
TOLD = 0.1  # of its weight, for a value that the system prompt has anyway
KEPT = 0.3  # of its weight, for a value that stands among what is kept
KEPT_LINE = 0.15  # of a line, if that stands among what is kept
LINE: Mapping[Place, float] = {"text": 0.0, "result": 0.5, "argument": 0.3}  # for a whole line
HOTTEST = 6.0  # a block is not hotter than this
HEATS_NEXT = 0.5  # of its heat, for the block behind it: what a heading names
HEATS_LAST = 0.25  # of its heat, for the block before it
CALLED = 1.5  # for the arguments of a call: what a model wrote it writes again
SEARCHED = 0.5  # for what a search gave: names to choose from, in lines that no edit repeats
SUPERSEDED = 0.25  # of the worth of a unit that later ones show again
STALE = 0.25  # of the worth of a unit that shows a file as it was before it changed on disk
FADES = 0.75  # of the room: where so much has come since, age counts
FADING = 0.5  # exponent


class Spot(NamedTuple):
    """Where a block stands: which unit, which of its passages, which block of that; older ones first."""

    unit: int
    passage: int
    block: int


class Worth:
    """What the blocks of a conversation are worth, given what is kept.

    Args:
        references: the values of the conversation.
        room_tokens: what all may have together; ages are relative to it.
        stale: the units that show a file as it was before it changed on disk.
    """

    def __init__(
        self,
        references: References,
        *,
        room_tokens: int,
        stale: AbstractSet[int] = frozenset(),
    ) -> None:
        self._references = references
        self._units = references.units
        self._stale = stale
        self._fades = max(1.0, FADES * room_tokens)
        self._rarity = rarity_of(references)
        self._focus = focus_of(references.units[-FOCUS_UNITS:])
        self._used = frozenset(references.used)
        self._hot = self._used.union(references.asked, self._focus)
        self._named = self._hot.union(references.told)
        self._weights = {value: self.weight(value) for value in references.blocks}
        self._weights_now = dict(self._weights)
        self._kept: set[str] = set()
        self._kept_lines: set[str] = set()
        self._ages = ages_of(references.units)
        self._passages: dict[tuple[int, int], PassageWorth] = {}

    def keep_unit(self, unit: int) -> None:
        """Take a unit as kept."""
        text = self._units[unit]
        self._keep_values(text.values)
        self._kept_lines |= text.lines

    def keep(self, spot: Spot) -> None:
        """Take a block as kept."""
        block = self._units[spot.unit].passages[spot.passage].blocks[spot.block]
        self._keep_values(block.values)
        self._kept_lines.update(block.lines)

    def keep_only(self, shared: Shared) -> None:
        """Take as kept what units share with others, and nothing else."""
        self._weights_now, self._kept = dict(self._weights), set()
        self._kept_lines = set(shared.lines)
        self._keep_values(shared.values)

    def of(self, spot: Spot) -> float:
        """What a block adds to what is kept."""
        unit, passage, at = spot
        block, known = self._units[unit].passages[passage].blocks[at], self._passage(unit, passage)
        weights, kept = self._weights_now, self._kept
        if known.alike:
            alike = known.alike[at]
            shares = [w * KEPT if v in kept else w for v, w in alike.items()]
            values = fsum(shares + [weights[v] for v in block.values if v not in alike])
        else:
            values = fsum([weights[v] for v in block.values])
        if not known.line:
            return known.factor * values
        return known.factor * (values + known.line * self._lines(block) * (1 + known.heat[at]))

    def weight(self, value: str) -> float:
        """How likely a value is named again, relative to a telling one that stands everywhere and nobody named."""
        references = self._references
        weight = 1.0 if is_telling(value) else PLAIN
        weight *= self._rarity[references.blocks.get(value, 0)]
        if value not in self._named:
            return weight
        uses = references.uses(value)
        if uses:
            since = len(self._units) - 1 - uses[-1]
            weight *= 1 + USED * log1p(len(uses)) * exp(-since / USE_FADES)
        asked = references.asked.get(value, 0)
        if asked:
            weight *= 1 + ASKED
        if value in self._focus:
            return weight * (1 + FOCUS * self._focus[value])
        return weight * TOLD if references.told.get(value, 0) and not asked else weight

    def _keep_values(self, values: AbstractSet[str]) -> None:
        for value in values - self._kept:
            if value in self._weights:
                self._weights_now[value] = self._weights[value] * KEPT
        self._kept |= values

    def _lines(self, block: Block) -> float:
        """How many lines of a block an edit could repeat, of those that stand among what is kept a part."""
        kept = self._kept_lines
        if kept.isdisjoint(block.lines):
            return len(block.lines)
        return sum([KEPT_LINE if line in kept else 1.0 for line in block.lines])

    def _passage(self, unit: int, at: int) -> "PassageWorth":
        known = self._passages.get((unit, at))
        if known is None:
            passage = self._units[unit].passages[at]
            age = (1 + self._ages[unit] / self._fades) ** -FADING
            factor = age * (CALLED if passage.place == "argument" else 1.0)
            if passage.place == "result" and only_searches(self._units[unit]):
                factor *= SEARCHED
            if self._references.superseded.by(unit) is not None:
                factor *= SUPERSEDED
            if unit in self._stale:
                factor *= STALE
            known = self._passages[unit, at] = self._weighed_passage(passage, factor)
        return known

    def _weighed_passage(self, passage: Passage, factor: float) -> "PassageWorth":
        weights, blocks, line = self._weights, passage.blocks, LINE[passage.place]
        alike = {
            v: weights[v] * share_of(n) for v, n in passage.alike.items() if v not in self._used
        }
        heat = [fsum([weights[v] for v in block.values & self._hot]) for block in blocks if line]
        return PassageWorth(
            alike=[{v: alike[v] for v in block.values & alike.keys()} for block in blocks if alike],
            heat=spread([min(HOTTEST, each) for each in heat]),
            factor=factor,
            line=line,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageWorth:
    """What of a passage does not change while blocks are chosen.

    Attributes:
        alike: of each block what those of its values weigh that look like many others; empty where there are none.
        heat: of each block; empty where lines are worth nothing.
        factor: of the worth of each block.
        line: what a line is worth.
    """

    alike: Sequence[Mapping[str, float]]
    heat: Sequence[float]
    factor: float
    line: float


def share_of(alike: int) -> float:
    """What is left of the weight of a value that so many of a text look like, itself included."""
    share: float = max(1, alike - 2) ** -0.5
    return share


def only_searches(text: UnitText) -> bool:
    """Whether the calls of a unit search, and do nothing else."""
    return all(action.kind == "search" for action in text.actions)


def spread(heat: Sequence[float]) -> list[float]:
    """The heat of each block with what the others pass on to it, less with each block between them."""
    passed = [0.0] * len(heat)
    carried = 0.0
    for i, own in enumerate(heat):
        passed[i] += own + carried
        carried = (carried + own) * HEATS_NEXT
    carried = 0.0
    for i in range(len(heat) - 1, -1, -1):
        passed[i] += carried
        carried = (carried + heat[i]) * HEATS_LAST
    return passed


def focus_of(newest: Iterable[UnitText]) -> dict[str, float]:
    """What the newest steps are about: values that the model named, 1 in the newest step and less before."""
    units = list(newest)
    return {
        value: (position + 1 + FOCUS_UNITS - len(units)) / FOCUS_UNITS
        for position, unit in enumerate(units)
        for value in unit.used
    }


def rarity_of(references: References) -> dict[int, float]:
    """How rare a value is that stands in so many blocks, for each such number: 1 in a single one, less in more."""
    total = references.total_blocks
    numbers = set(references.blocks.values())
    return {0: 1.0} | {n: log(1 + total / n) / log(1 + total) for n in numbers}


def ages_of(units: Sequence[UnitText]) -> list[int]:
    """For each unit how many tokens came after it."""
    ages: list[int] = []
    behind = 0
    for unit in reversed(units):
        ages.append(behind)
        behind += unit.candidate.tokens
    return ages[::-1]
