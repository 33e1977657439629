"""What a block is worth to the turns to come: how likely they name again what it names.

Promise: a worth is not negative, depends on the conversation alone, and falls when the same values already stand among
what is kept. Sums over sets are exact (``fsum``): their order differs from process to process, and must change no choice.

A block is worth the sum over its values, each by how telling it is, how rare, and whether the model used it, a person
asked for it or the newest steps are about it; and something for each line that an edit could repeat, more where the
block or one beside it is about what is being worked on. All of it fades with age. A value that stands among what is
kept counts little, and so does one of many that look alike in a text: of forty flights the model picks one.

Source:
    The constants are round numbers, chosen on recorded conversations: docs/decisions/0011-plan.md.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from math import exp, fsum, log, log1p
from typing import NamedTuple

from autogen_context.pipeline.blocks.extract import Passage, Place
from autogen_context.pipeline.blocks.references import References, UnitText
from autogen_context.pipeline.blocks.values import NOTHING, is_telling, shape_of

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
SUPERSEDED = 0.25  # of the worth of a unit that later ones show again
STALE = 0.25  # of the worth of a unit that shows a file as it was before it changed on disk
FADES = 0.75  # of the room: where so much has come since, age counts
FADING = 0.5  # exponent


class Spot(NamedTuple):
    """Where a block stands: which unit, which of its passages, which block of that; older ones first."""

    unit: int
    passage: int
    block: int


class Standing(NamedTuple):
    """How a value stands in a conversation, whoever names it.

    Attributes:
        weight: how likely it is named again.
        hot: whether the conversation is about it: a person or the model named it.
        used: whether the model used it.
        shape: that of a telling value; empty for a plain word.
    """

    weight: float
    hot: bool
    used: bool
    shape: str


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
        self._focus = focus_of(references.units[-FOCUS_UNITS:])
        self._standings: dict[str, Standing] = {}
        self._kept: set[str] = set()
        self._kept_lines: set[str] = set()
        self._ages = ages_of(references.units)
        self._passages: dict[tuple[int, int], PassageWorth] = {}

    def keep_unit(self, unit: int) -> None:
        """Take a unit as kept."""
        text = self._units[unit]
        self._kept.update(text.values)
        for passage in text.passages:
            for block in passage.blocks:
                self._kept_lines.update(block.lines)

    def keep(self, spot: Spot) -> None:
        """Take a block as kept."""
        block = self._units[spot.unit].passages[spot.passage].blocks[spot.block]
        self._kept.update(block.values)
        self._kept_lines.update(block.lines)

    def of(self, spot: Spot) -> float:
        """What a block adds to what is kept."""
        passage = self._units[spot.unit].passages[spot.passage]
        block, known = passage.blocks[spot.block], self._passage(spot.unit, spot.passage)
        kept, kept_lines = self._kept, self._kept_lines
        weights = zip(block.values, known.weights[spot.block], strict=True)
        values = fsum([w * KEPT if v in kept else w for v, w in weights])
        lines = sum([KEPT_LINE if line in kept_lines else 1.0 for line in block.lines])
        return known.factor * (values + known.line * lines * (1 + known.heat[spot.block]))

    def weight(self, value: str) -> float:
        """How likely a value is named again, relative to a telling one that stands everywhere and nobody named."""
        references = self._references
        weight = 1.0 if is_telling(value) else PLAIN
        found = references.blocks.get(value, 0)
        if found:
            weight *= log(1 + references.total_blocks / found) / log(1 + references.total_blocks)
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

    def _standing(self, value: str) -> Standing:
        """How a value stands in the conversation."""
        known = self._standings.get(value)
        if known is None:
            asked, used = self._references.asked.get(value, 0), bool(self._references.uses(value))
            known = self._standings[value] = Standing(
                weight=self.weight(value),
                hot=bool(asked or used or value in self._focus),
                used=used,
                shape=shape_of(value) if is_telling(value) else "",
            )
        return known

    def _passage(self, unit: int, at: int) -> "PassageWorth":
        known = self._passages.get((unit, at))
        if known is None:
            passage = self._units[unit].passages[at]
            age = (1 + self._ages[unit] / self._fades) ** -FADING
            factor = age * (CALLED if passage.place == "argument" else 1.0)
            if self._references.superseded.by(unit) is not None:
                factor *= SUPERSEDED
            if unit in self._stale:
                factor *= STALE
            known = self._passages[unit, at] = self._weighed_passage(passage, factor)
        return known

    def _weighed_passage(self, passage: Passage, factor: float) -> "PassageWorth":
        standings = [[self._standing(v) for v in block.values] for block in passage.blocks]
        named = NOTHING.union(*[block.values for block in passage.blocks])
        of_shape = shares(Counter([self._standing(v).shape for v in named]))
        heat = [min(HOTTEST, fsum([s.weight for s in block if s.hot])) for block in standings]
        weights = [
            [s.weight if s.used else s.weight * of_shape[s.shape] for s in block]
            for block in standings
        ]
        return PassageWorth(weights, spread(heat), factor, LINE[passage.place])


@dataclass(frozen=True, slots=True)
class PassageWorth:
    """What does not change while blocks are chosen: of each block the weights of its values, in their order, and the heat."""

    weights: list[list[float]]
    heat: list[float]
    factor: float
    line: float


def shares(alike: Mapping[str, int]) -> dict[str, float]:
    """What is left of the weight of a value of each shape, by how many of a text have it; all of a plain word's."""
    return {shape: max(1, n - 2) ** -0.5 if shape else 1.0 for shape, n in alike.items()}


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


def ages_of(units: Sequence[UnitText]) -> list[int]:
    """For each unit how many tokens came after it."""
    ages: list[int] = []
    behind = 0
    for unit in reversed(units):
        ages.append(behind)
        behind += unit.candidate.tokens
    return ages[::-1]
