"""The score by value: how likely the turns to come name again what a block names, or how well it answers what is asked.

Promise: a score is not negative, depends on the conversation alone, and falls when the same values already stand among
what is kept. Sums over sets are exact (``fsum``): their order differs from process to process, and must change no choice.

``ValueScores`` sums over the values of a block: each by how telling it is, how rare, and whether the model used it, a person
asked for it or the newest steps are about it; and adds something for each line that an edit could repeat, more where the
block or one beside it is about what is being worked on. All of it fades with age. A value that stands among what is kept
counts little, and so does one of many that look alike in a text: of forty flights the model picks one. What a search gave
counts half: what was picked of it the model named, and what was opened of it stands elsewhere as well. ``AnswerScores``
takes its place where a person asks for the past.

Source:
    The constants are round numbers, chosen on recorded conversations: docs/decisions/0011-plan.md.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from math import exp, fsum, log, log1p

from autogen_context.messages.identifiers import is_telling
from autogen_context.messages.segment import Unit
from autogen_context.prioritizer.blocks import Block, Passage, Place
from autogen_context.prioritizer.category import Category
from autogen_context.prioritizer.references import References, UnitText
from autogen_context.prioritizer.score import BlockAt, Need

PLAIN = 0.02  # of a telling value, for a plain word
USED = 1.2  # beside 1, times log(1 + uses), for a value that the model used
USE_FADES = 20  # units after its last use until that counts 1/e
ASKED = 1.0  # beside 1, for a value that a person named
FOCUS = 1.0  # beside 1, for a value of the newest step
FOCUS_UNITS = 5  # that the newest steps are
KEPT = 0.3  # of its weight, for a value that stands among what is kept
KEPT_LINE = 0.15  # of a line, if that stands among what is kept
LINE: Mapping[Place, float] = {"text": 0.0, "result": 0.5, "argument": 0.3}  # for a whole line
HOTTEST = 6.0  # a block is not hotter than this
HEATS_NEXT = 0.5  # of its heat, for the block behind it: what a heading names
HEATS_LAST = 0.25  # of its heat, for the block before it
CALLED = 1.5  # for the arguments of a call: what a model wrote it writes again
SEARCHED = 0.5  # for what a search gave: names to choose from, in lines that no edit repeats
SUPERSEDED = 0.25  # of the score of a unit that later ones show again
STALE = 0.25  # of the score of a unit that shows a file as it was before it changed on disk
FADES = 0.75  # of the room: where so much has come since, age counts
FADING = 0.5  # exponent
SHARPNESS = 4  # exponent of an answer's score: many half answers are worth less than a whole one
AS_GOOD = 1e-6  # of what answers as well as another, or not at all, the newer one stays
NAMED_VALUES = 3  # of a unit, in a reason
NAMED_CHARS = 40  # of one of them


class ValueScores:
    """Scores the blocks of a conversation by what they name, given what is kept.

    Args:
        conversation: its units, and who named what when.
        need: what is chosen for.
        categories: what the category of a unit counts; 1 for one that is not in it.
    """

    def __init__(
        self, conversation: References, need: Need, categories: Mapping[Category, float]
    ) -> None:
        self._conversation = conversation
        self._units = conversation.units
        self._stale = need.stale
        self._categories = categories
        self._fades = max(1.0, FADES * need.room_tokens)
        self._rareness = log(1 + conversation.total_blocks) or 1.0
        self._focus = focus_of(conversation.units[-FOCUS_UNITS:])
        self._ages = ages_of(conversation.units)
        self._weights = Numbers(self.weight)
        self._weights_now = Numbers(self._weight_now)
        self._kept: set[str] = set()
        self._kept_lines: set[str] = set()
        self._passages: dict[tuple[int, int], PassageScore] = {}

    def keep_unit(self, unit: int) -> None:
        """Take a unit as kept."""
        text = self._units[unit]
        self._keep(text.values, text.lines)

    def keep(self, at: BlockAt) -> None:
        """Take a block as kept."""
        block = self._units[at.unit].passages[at.passage].blocks[at.block]
        self._keep(block.values, block.lines)

    def score(self, at: BlockAt) -> float:
        """What a block adds to what is kept."""
        unit, passage, position = at
        block = self._units[unit].passages[passage].blocks[position]
        known = self._passage(unit, passage)
        weights, kept = self._weights_now, self._kept
        if known.alike:
            alike = known.alike[position]
            parts = [w * KEPT if v in kept else w for v, w in alike.items()]
            values = fsum(parts + [weights[v] for v in block.values if v not in alike])
        else:
            values = fsum([weights[v] for v in block.values])
        if not known.line:
            return known.factor * values
        lines = known.line * self._lines(block) * (1 + known.heat[position])
        return known.factor * (values + lines)

    def weight(self, value: str) -> float:
        """How likely a value is named again, relative to a telling one in a single block that nobody named."""
        conversation = self._conversation
        holders = conversation.blocks.get(value, 0)
        weight = log(1 + conversation.total_blocks / holders) / self._rareness if holders else 1.0
        weight *= 1.0 if is_telling(value) else PLAIN
        uses = conversation.uses(value)
        if uses:
            since = len(self._units) - 1 - uses[-1]
            weight *= 1 + USED * log1p(len(uses)) * exp(-since / USE_FADES)
        if conversation.asked.get(value, 0):
            weight *= 1 + ASKED
        return weight * (1 + FOCUS * self._focus.get(value, 0.0))

    def reasons(self, unit: int) -> tuple[str, ...]:
        """What a unit names that counts most, who used it since, its age, and what takes away from it."""
        text, superseded = self._units[unit], self._conversation.superseded
        values = sorted(text.values, key=lambda value: (-self._weights[value], value))
        named = ", ".join(value[:NAMED_CHARS] for value in values[:NAMED_VALUES])
        later = {i for value in values for i in self._conversation.uses(value) if i > unit}
        said = {
            f"names {named}": bool(named),
            f"used again by {len(later)} later message{'s' * (len(later) > 1)}": bool(later),
            f"{self._ages[unit]} tokens old: counts {self._age(unit):.2f}": self._ages[unit] > 0,
            f"a search: counts {SEARCHED}": is_search(text),
            f"superseded: {superseded.reason(unit)}: counts {SUPERSEDED}": superseded.by(unit)
            is not None,
            f"{text.category}: counts {self._categories.get(text.category, 1.0):.2f}": bool(
                self._categories
            ),
            f"stale: changed on disk since: counts {STALE}": unit in self._stale,
        }
        return tuple(reason for reason, holds in said.items() if holds)

    def _keep(self, values: AbstractSet[str], lines: Iterable[str]) -> None:
        for value in values - self._kept:
            self._weights_now.pop(value, None)
        self._kept |= values
        self._kept_lines.update(lines)

    def _weight_now(self, value: str) -> float:
        weight = self._weights[value]
        return weight * KEPT if value in self._kept else weight

    def _lines(self, block: Block) -> float:
        """How many lines of a block an edit could repeat, of those that stand among what is kept a part."""
        kept = self._kept_lines
        if kept.isdisjoint(block.lines):
            return len(block.lines)
        return sum([KEPT_LINE if line in kept else 1.0 for line in block.lines])

    def _age(self, unit: int) -> float:
        """What age leaves of a score."""
        left: float = (1 + self._ages[unit] / self._fades) ** -FADING
        return left

    def _passage(self, unit: int, at: int) -> "PassageScore":
        known = self._passages.get((unit, at))
        if known is None:
            text = self._units[unit]
            passage, factor = text.passages[at], self._age(unit)
            if passage.place == "argument":
                factor *= CALLED
            if passage.place == "result" and is_search(text):
                factor *= SEARCHED
            if self._conversation.superseded.by(unit) is not None:
                factor *= SUPERSEDED
            if unit in self._stale:
                factor *= STALE
            if self._categories:
                factor *= self._categories.get(text.category, 1.0)
            known = self._passages[unit, at] = self._weighed(passage, factor)
        return known

    def _weighed(self, passage: Passage, factor: float) -> "PassageScore":
        weights, blocks, line = self._weights, passage.blocks, LINE[passage.place]
        used, asked, focus = self._conversation.used, self._conversation.asked, self._focus
        alike = {v: weights[v] * left_of(n) for v, n in passage.alike.items() if v not in used}
        heat = [
            fsum([weights[v] for v in block.values if v in used or v in asked or v in focus])
            for block in blocks
            if line
        ]
        return PassageScore(
            alike=[{v: alike[v] for v in block.values & alike.keys()} for block in blocks if alike],
            heat=spread([min(HOTTEST, each) for each in heat]),
            factor=factor,
            line=line,
        )


class Numbers(dict[str, float]):
    """Numbers that are worked out when they are first asked for.

    Args:
        work_out: the number of a text.
    """

    def __init__(self, work_out: Callable[[str], float]) -> None:
        super().__init__()
        self._work_out = work_out

    def __missing__(self, text: str) -> float:
        """Work it out."""
        number = self[text] = self._work_out(text)
        return number


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


def left_of(alike: int) -> float:
    """What is left of the weight of a value that so many of a text look like, itself included."""
    left: float = max(1, alike - 2) ** -0.5
    return left


def is_search(text: UnitText) -> bool:
    """Whether a unit calls something, searches, and does nothing else."""
    return bool(text.actions) and all(action.kind == "search" for action in text.actions)


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


def focus_of(newest: Sequence[UnitText]) -> dict[str, float]:
    """What the newest steps are about: values that the model named, 1 in the newest step and less before."""
    return {
        value: (position + 1 + FOCUS_UNITS - len(newest)) / FOCUS_UNITS
        for position, unit in enumerate(newest)
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


class AnswerScores:
    """Scores blocks for somebody who asks for the past: as much as their message answers, whatever is kept.

    Args:
        conversation: its units.
        relevance: of each message to what is asked, 0..1.
    """

    def __init__(self, conversation: References, relevance: Sequence[float]) -> None:
        self._units = conversation.units
        self._relevance = relevance

    def keep_unit(self, unit: int) -> None:
        """Nothing changes."""

    def keep(self, at: BlockAt) -> None:
        """Nothing changes."""

    def score(self, at: BlockAt) -> float:
        """The score of its message, for each character: what answers best per token is kept first."""
        text = self._units[at.unit]
        passage = text.passages[at.passage]
        newer = AS_GOOD * (at.unit + 1) / len(self._units)
        score = self._of(text.candidate.unit.start + passage.message) ** SHARPNESS + newer
        return score * len(passage.blocks[at.block].text)

    def reasons(self, unit: int) -> tuple[str, ...]:
        """How relevant its messages are to what is asked."""
        relevance = relevance_of(self._units[unit].unit, self._relevance)
        return (f"relevance {relevance:.2f} to what is asked",)

    def _of(self, message: int) -> float:
        return self._relevance[min(message, len(self._relevance) - 1)]


def relevance_of(unit: Unit, relevance: Sequence[float]) -> float:
    """How relevant the messages of a unit are, the most relevant one; the newest may not be known yet."""
    return max(relevance[unit.start : unit.stop], default=relevance[-1])
