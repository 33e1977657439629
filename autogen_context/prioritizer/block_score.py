"""The score of a block: how likely the turns to come name again what it names, or how well it answers what is asked.

Promise: a score is not negative, depends on the conversation alone, and falls when the same values already stand among
what is kept. Sums over sets are exact (``fsum``): their order differs from process to process, and must change no choice.

``ValueScorer`` sums over the values of a block, each by how telling it is, how rare, and whether the model used it, a
person asked for it or the newest steps are about it; and adds something for each line that an edit could repeat, more
where the block or one beside it is about what is being worked on. All of it fades with age. A value that stands among
what is kept counts little, and so does one of many that look alike in a text: of forty flights the model picks one. What a
search gave counts half: what was picked of it the model named, and what was opened of it stands elsewhere as well.
``AnswerScorer`` takes its place where a person asks for the past; ``AdvisedScorer`` and ``SectionScorer`` change what
another one says.

Source:
    The constants are round numbers, chosen on recorded conversations: docs/decisions/0011-plan.md.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from math import exp, fsum, log, log1p
from typing import NamedTuple, Protocol

from autogen_context.budget.efficiency import Efficiency
from autogen_context.budget.profile import Section
from autogen_context.messages.identifiers import is_telling
from autogen_context.prioritizer.blocks import Block, Passage, Place
from autogen_context.prioritizer.category import Category
from autogen_context.prioritizer.references import References, UnitText

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
SHARPNESS = 4  # exponent of an answer's score: many half answers are worth less than a whole one
AS_GOOD = 1e-6  # of what answers as well as another, or not at all, the newer one stays
BEYOND = 1e-6  # of its score, for a block of a section that has its share


class BlockAt(NamedTuple):
    """Where a block stands: which unit, which of its passages, which block of that; older ones first."""

    unit: int
    passage: int
    block: int


class BlockScorer(Protocol):
    """Scores blocks, given what is kept."""

    def score(self, at: BlockAt, /) -> float:
        """What a block adds to what is kept."""
        ...

    def keep(self, at: BlockAt, /) -> None:
        """Take a block as kept."""
        ...

    def keep_unit(self, unit: int, /) -> None:
        """Take a whole unit as kept."""
        ...


class ValueScorer:
    """Scores the blocks of a conversation by what they name, given what is kept.

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
        self._passages: dict[tuple[int, int], PassageScore] = {}

    def keep_unit(self, unit: int) -> None:
        """Take a unit as kept."""
        text = self._units[unit]
        self._keep_values(text.values)
        self._kept_lines |= text.lines

    def keep(self, at: BlockAt) -> None:
        """Take a block as kept."""
        block = self._units[at.unit].passages[at.passage].blocks[at.block]
        self._keep_values(block.values)
        self._kept_lines.update(block.lines)

    def keep_all_but(self, units: Iterable[int]) -> None:
        """Take as kept what all units but these have, and nothing else, at the cost of these alone.

        What people and the system prompt name is not counted: it is sought after.
        """
        few = [self._units[i] for i in units]
        values, lines = counted(few)
        everywhere_values, everywhere_lines = self._counted
        self._weights_now, self._kept = dict(self._weights), set()
        self._kept_lines = {
            line for text in few for line in text.lines if everywhere_lines[line] > lines[line]
        }
        named = {value for text in few for value in text.values}
        self._keep_values({value for value in named if everywhere_values[value] > values[value]})

    def score(self, at: BlockAt) -> float:
        """What a block adds to what is kept."""
        unit, passage, position = at
        block = self._units[unit].passages[passage].blocks[position]
        known = self._passage(unit, passage)
        weights, kept = self._weights_now, self._kept
        if known.alike:
            alike = known.alike[position]
            shares = [w * KEPT if v in kept else w for v, w in alike.items()]
            values = fsum(shares + [weights[v] for v in block.values if v not in alike])
        else:
            values = fsum([weights[v] for v in block.values])
        if not known.line:
            return known.factor * values
        return known.factor * (
            values + known.line * self._lines(block) * (1 + known.heat[position])
        )

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

    @cached_property
    def _counted(self) -> tuple[Counter[str], Counter[str]]:
        """In how many units each value and each line stands."""
        return counted(self._units)

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

    def _passage(self, unit: int, at: int) -> "PassageScore":
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
            known = self._passages[unit, at] = self._weighed(passage, factor)
        return known

    def _weighed(self, passage: Passage, factor: float) -> "PassageScore":
        weights, blocks, line = self._weights, passage.blocks, LINE[passage.place]
        alike = {
            v: weights[v] * share_of(n) for v, n in passage.alike.items() if v not in self._used
        }
        heat = [fsum([weights[v] for v in block.values & self._hot]) for block in blocks if line]
        return PassageScore(
            alike=[{v: alike[v] for v in block.values & alike.keys()} for block in blocks if alike],
            heat=spread([min(HOTTEST, each) for each in heat]),
            factor=factor,
            line=line,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageScore:
    """What of a passage does not change while blocks are chosen.

    Attributes:
        alike: of each block what those of its values weigh that look like many others; empty where there are none.
        heat: of each block; empty where lines are worth nothing.
        factor: of the score of each block.
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


def counted(units: Iterable[UnitText]) -> tuple[Counter[str], Counter[str]]:
    """In how many units each value and each line stands, but for those of people and the system prompt."""
    values, lines = Counter[str](), Counter[str]()
    for unit in units:
        if not unit.is_sought:
            values.update(unit.values)
            lines.update(unit.lines)
    return values, lines


class AnswerScorer:
    """Scores blocks for somebody who asks for the past: as much as their message answers, whatever is kept.

    Args:
        references: what stands in each unit.
        scores: of each message of the conversation, 0..1.
    """

    def __init__(self, references: References, scores: Sequence[float]) -> None:
        self._units = references.units
        self._scores = scores

    def keep_unit(self, unit: int) -> None:
        """Nothing changes."""

    def keep(self, at: BlockAt) -> None:
        """Nothing changes."""

    def score(self, at: BlockAt) -> float:
        """The score of its message, for each character: what answers best per token is kept first."""
        text = self._units[at.unit]
        passage = text.passages[at.passage]
        position = min(text.candidate.unit.start + passage.message, len(self._scores) - 1)
        newer = AS_GOOD * (at.unit + 1) / len(self._units)
        score = self._scores[position] ** SHARPNESS + newer
        return score * len(passage.blocks[at.block].text)


class AdvisedScorer:
    """Multiplies scores by what a model said of each category for the task.

    Args:
        scorer: what blocks score otherwise.
        categories: of each unit.
        multipliers: of each category.
    """

    def __init__(
        self,
        scorer: BlockScorer,
        categories: Sequence[Category],
        multipliers: Mapping[Category, float],
    ) -> None:
        self._scorer = scorer
        self._factors = [multipliers.get(category, 1.0) for category in categories]
        self.keep, self.keep_unit = scorer.keep, scorer.keep_unit

    def score(self, at: BlockAt) -> float:
        """What a block adds to what is kept."""
        return self._scorer.score(at) * self._factors[at.unit]


class SectionScorer:
    """Puts blocks of sections that have their share behind all others, so that what others leave flows to them.

    Args:
        scorer: what blocks score otherwise.
        units: all units.
        sections: of each unit.
        shares: what each section may have, in tokens.
    """

    def __init__(
        self,
        scorer: BlockScorer,
        units: Sequence[UnitText],
        sections: Sequence[Section],
        shares: Mapping[Section, int],
    ) -> None:
        self._scorer = scorer
        self._units = units
        self._sections = sections
        self._left: dict[Section, float] = dict(shares)
        self.keep_unit = scorer.keep_unit

    def score(self, at: BlockAt) -> float:
        """What a block adds to what is kept."""
        score = self._scorer.score(at)
        return score if self._left[self._sections[at.unit]] > 0 else score * BEYOND

    def keep(self, at: BlockAt) -> None:
        """Take a block as kept; its section has less left."""
        self._scorer.keep(at)
        unit = self._units[at.unit]
        tokens = len(unit.passages[at.passage].blocks[at.block].text) * unit.tokens_per_char
        self._left[self._sections[at.unit]] -= tokens


def efficiency_of(references: References, sections: Sequence[Section]) -> Efficiency:
    """What each section was given so far, and what of it later turns named again.

    A block was used where the model named one of its telling values in a later unit.
    """
    given, used = Counter[Section](), Counter[Section]()
    for i, (unit, section) in enumerate(zip(references.units, sections, strict=True)):
        for block in (block for passage in unit.passages for block in passage.blocks):
            tokens = round(len(block.text) * unit.tokens_per_char)
            given[section] += tokens
            if any(is_named_after(value, i, references) for value in block.values):
                used[section] += tokens
    return Efficiency(given=given, used=used)


def is_named_after(value: str, unit: int, references: References) -> bool:
    """Whether the model named a telling value in a unit behind this one."""
    uses = references.uses(value)
    return bool(uses) and uses[-1] > unit and is_telling(value)
