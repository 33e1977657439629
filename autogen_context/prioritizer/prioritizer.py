"""ContextPrioritizer: what matters for the task at hand, and why.

Promise: one score chooses what stays and is the one that ``explain`` shows, whoever gives it; it falls when the same values
already stand among what is kept. Sums over sets are exact (``fsum``), as their order differs from process to process. The
constants are round numbers, chosen on recorded conversations: docs/decisions/0011-plan.md.

A prioritizer of your own is one method, ``scores``; ``UnitScores`` makes the score of each unit into one for each block:

    class Shortest:
        def scores(self, conversation, need):
            return UnitScores(conversation, [1 / (1 + unit.candidate.tokens) for unit in conversation.units])
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from math import exp, fsum, isfinite, log, log1p
from typing import NamedTuple, Protocol

from autogen_context.argument import require_fraction
from autogen_context.budget.task import TaskDefinition
from autogen_context.messages.identifiers import is_telling
from autogen_context.messages.segment import Unit
from autogen_context.prioritizer.attention import ContextPart, relevances, require_parts
from autogen_context.prioritizer.blocks import Place
from autogen_context.prioritizer.category import Category, category_of_label, weights_of
from autogen_context.prioritizer.references import References, UnitText

LEAST = 0.2  # of its weight, for a part that shares no word with the task

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


class BlockAt(NamedTuple):
    """Where a block stands: which unit, which of its passages, which block of that; older ones first."""

    unit: int
    passage: int
    block: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What a compaction chooses for.

    Attributes:
        room_tokens: what all may have together; how much age counts is relative to it.
        task: what a person said last; empty where nobody did.
        relevance: of messages to the newest one, by position, 0..1, where that asks for the past; else empty.
        stale: units that show a file as it was before it changed on disk.
        advised: what a model says that each category counts for the task, 1 as usual; empty where none did.
    """

    room_tokens: int
    task: str = ""
    relevance: Mapping[int, float] = field(default_factory=dict[int, float])
    stale: AbstractSet[int] = frozenset()
    advised: Mapping[Category, float] = field(default_factory=dict[Category, float])


class Scores(Protocol):
    """The scores of one compaction: of each block, given what is kept so far."""

    def score(self, at: BlockAt, /) -> float:
        """What a block adds to what is kept: not negative, and never more after something was kept."""
        ...

    def keep(self, at: BlockAt, /) -> None:
        """Take a block as kept."""
        ...

    def keep_unit(self, unit: int, /) -> None:
        """Take a whole unit as kept."""
        ...

    def reasons(self, unit: int, /) -> tuple[str, ...]:
        """Where the scores of a unit's blocks come from, in words."""
        ...


class Prioritizer(Protocol):
    """Says what matters."""

    def scores(self, conversation: References, need: Need, /) -> Scores:
        """Score a conversation, what stands in each unit and who used it again, for one compaction."""
        ...


class UnitScores:
    """Scores blocks by their units: each counts what its unit does, for each character.

    Args:
        conversation: the units.
        scores: of each unit, 0 or more; the highest stays longest.
        reasons: of each unit, in words; may be left out.

    Raises:
        ValueError: there is not one score for each unit, or one is negative or no number.
    """

    def __init__(
        self, conversation: References, scores: Sequence[float], reasons: Sequence[str] = ()
    ) -> None:
        if len(scores) != len(conversation.units):
            raise ValueError(
                f"scores: {len(scores)} of them; give one for each of the {len(conversation.units)} units"
            )
        for unit, score in enumerate(scores):
            if not (isfinite(score) and score >= 0):
                raise ValueError(f"scores[{unit}]={score}: give a number, 0 or more")
        self._units = conversation.units
        self._scores = scores
        self._reasons = reasons

    def score(self, at: BlockAt) -> float:
        """The score of its unit, for each character."""
        block = self._units[at.unit].passages[at.passage].blocks[at.block]
        return self._scores[at.unit] * len(block.text)

    def keep(self, at: BlockAt) -> None:
        """Nothing changes."""

    def keep_unit(self, unit: int) -> None:
        """Nothing changes."""

    def reasons(self, unit: int) -> tuple[str, ...]:
        """As they were given."""
        return (self._reasons[unit],) if self._reasons else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Priority:
    """What a labelled part matters, 0..1, and where that comes from, what weighs most first."""

    score: float
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrioritizedContext:
    """What matters for a task, in order.

    Attributes:
        task: what it was ranked for.
        priorities: n priorities, in the order of the parts.
        order: n positions, most important first: what is critical, then by score; equals as they came.
    """

    task: TaskDefinition
    priorities: tuple[Priority, ...]
    order: tuple[int, ...]


class ContextPrioritizer:
    """Says what matters: of a conversation for a compaction, of labelled parts for a task.

    Args:
        category_exponent: how much the weight of a unit's category for the task counts in a conversation, 0..1. At 0 what is
            named again decides alone: on recorded runs that keeps more than any weight of categories does.

    Raises:
        ValueError: ``category_exponent`` is not in 0..1.
    """

    def __init__(self, *, category_exponent: float = 0.0) -> None:
        require_fraction("category_exponent", category_exponent, give="0 to 1; 0 is usual")
        self._category_exponent = category_exponent

    def scores(self, conversation: References, need: Need) -> Scores:
        """Score the blocks of a conversation: by what they answer where a person asks for the past, else by what they name."""
        if need.relevance:
            return answer_scores(conversation, need.relevance)
        counts: dict[Category, float] = dict(need.advised)
        if self._category_exponent:
            weights = weights_of(TaskDefinition.from_text(need.task).type, advised=need.advised)
            greatest = max(weights.values())
            counts = {c: (w / greatest) ** self._category_exponent for c, w in weights.items()}
        return ValueScores(conversation, need, counts)

    def prioritize(
        self,
        task: str | TaskDefinition,
        parts: Sequence[ContextPart],
        *,
        advised: Mapping[Category, float] | None = None,
    ) -> PrioritizedContext:
        """Rank labelled parts: the weight of their category for the task, by the words that they share with it.

        Args:
            task: what is to be done.
            parts: n parts, in any order.
            advised: multipliers of categories, in place of the rules' for the type of task.

        Returns:
            n priorities, and the order.

        Raises:
            ValueError: one of the parts is none.
        """
        require_parts(parts)
        task = task if isinstance(task, TaskDefinition) else TaskDefinition.from_text(task)
        weights = weights_of(task.type, advised=advised)
        greatest = max(weights.values())
        relevant = relevances(task.text, [part.text for part in parts])
        priorities: list[Priority] = []
        for part, relevance in zip(parts, relevant, strict=True):
            category = category_of_label(part.label)
            weight = weights[category] / greatest
            said = [f"{category}: weight {weight:.2f}", f"relevance {relevance:.2f}"]
            reasons = ("critical: comes first", *said) if part.critical else tuple(said)
            score = weight * (LEAST + (1 - LEAST) * relevance)
            priorities.append(Priority(score=score, reasons=reasons))
        order = sorted(
            range(len(parts)), key=lambda i: (not parts[i].critical, -priorities[i].score)
        )
        return PrioritizedContext(task=task, priorities=tuple(priorities), order=tuple(order))


class PassageScore(NamedTuple):
    """What of a passage does not change while blocks are chosen: of each block, of all of them, and of each line."""

    alike: Sequence[Mapping[str, float]]
    heat: Sequence[float]
    factor: float
    line: float


class ValueScores:
    """Scores blocks by how likely the turns to come name again what they name, given what is kept.

    A value counts by how telling it is, how rare, and whether the model used it, a person asked for it or the newest steps
    are about it; a line that an edit could repeat counts more near what is being worked on. All of it fades with age. What
    stands among what is kept counts little, and so does one of many values that look alike in a text.
    """

    def __init__(
        self, conversation: References, need: Need, categories: Mapping[Category, float]
    ) -> None:
        self._conversation = conversation
        self._units = units = conversation.units
        self._stale = need.stale
        self._categories = categories
        self._fades = max(1.0, FADES * need.room_tokens)
        self._ages: dict[int, int] = {}  # how many tokens came after a unit that stands for choice
        behind = 0
        for unit in range(len(units) - 1, min(conversation.standing, default=len(units)) - 1, -1):
            self._ages[unit] = behind
            behind += units[unit].candidate.tokens
        newest = units[-FOCUS_UNITS:]
        self._focus = {  # what the newest steps are about, 1 in the newest one and less before
            value: (position + 1 + FOCUS_UNITS - len(newest)) / FOCUS_UNITS
            for position, unit_text in enumerate(newest)
            for value in unit_text.named.used
        }
        self._weights = {value: self._weight(value) for value in conversation.blocks}
        self._weights_now = dict(self._weights)
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
        known = self._passages.get((unit, passage))
        if known is None:
            known = self._passages[unit, passage] = self._passage(unit, passage)
        weights, kept = self._weights_now, self._kept
        if known.alike:
            alike = known.alike[position]
            parts = [w * KEPT if v in kept else w for v, w in alike.items()]
            values = fsum(parts + [weights[v] for v in block.values if v not in alike])
        else:
            values = fsum([weights[v] for v in block.values])
        if not known.line:
            return known.factor * values
        lines: float = len(block.lines)
        if not self._kept_lines.isdisjoint(block.lines):
            lines = sum([KEPT_LINE if line in self._kept_lines else 1.0 for line in block.lines])
        return known.factor * (values + known.line * lines * (1 + known.heat[position]))

    def reasons(self, unit: int) -> tuple[str, ...]:
        """What a unit names that counts most, who used it since, its age, and what takes away from it."""
        text, superseded = self._units[unit], self._conversation.superseded
        values = sorted(text.values, key=lambda value: (-self._weight(value), value))
        later = {i for value in values for i in self._conversation.uses(value) if i > unit}
        age = self._ages.get(unit, 0)
        said: list[str] = []
        if values:
            said.append(
                "names " + ", ".join(value[:NAMED_CHARS] for value in values[:NAMED_VALUES])
            )
        if later:
            said.append(f"used again by {len(later)} later message{'s' * (len(later) > 1)}")
        if age:
            said.append(f"{age} tokens old: counts {self._left_by_age(unit):.2f}")
        if is_search(text):
            said.append(f"a search: counts {SEARCHED}")
        if superseded.by(unit) is not None:
            said.append(f"superseded: {superseded.reason(unit)}: counts {SUPERSEDED}")
        if self._categories:
            said.append(f"{text.category}: counts {self._categories.get(text.category, 1.0):.2f}")
        if unit in self._stale:
            said.append(f"stale: changed on disk since: counts {STALE}")
        return tuple(said)

    def _weight(self, value: str) -> float:
        conversation, total = self._conversation, self._conversation.total_blocks
        holders = conversation.blocks.get(value, 0)
        weight = log(1 + total / holders) / log(1 + total) if holders else 1.0
        weight *= 1.0 if is_telling(value) else PLAIN
        uses = conversation.uses(value)
        if uses:
            since = len(self._units) - 1 - uses[-1]
            weight *= 1 + USED * log1p(len(uses)) * exp(-since / USE_FADES)
        if conversation.asked.get(value, 0):
            weight *= 1 + ASKED
        return weight * (1 + FOCUS * self._focus.get(value, 0.0))

    def _keep(self, values: AbstractSet[str], lines: Iterable[str]) -> None:
        for value in values - self._kept:
            if value in self._weights:
                self._weights_now[value] = self._weights[value] * KEPT
        self._kept |= values
        self._kept_lines.update(lines)

    def _left_by_age(self, unit: int) -> float:
        left: float = (1 + self._ages[unit] / self._fades) ** -FADING
        return left

    def _passage(self, unit: int, at: int) -> PassageScore:
        text, weights = self._units[unit], self._weights
        passage, factor = text.passages[at], self._left_by_age(unit)
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
        used, asked, focus = self._conversation.used, self._conversation.asked, self._focus
        alike = {  # of many that look alike the model picks one
            value: weights[value] * max(1, n - 2) ** -0.5
            for value, n in passage.alike.items()
            if value not in used
        }
        line = LINE[passage.place]
        heat = [
            fsum([weights[v] for v in block.values if v in used or v in asked or v in focus])
            for block in passage.blocks
            if line
        ]
        return PassageScore(
            alike=[{v: alike[v] for v in b.values & alike.keys()} for b in passage.blocks if alike],
            heat=spread([min(HOTTEST, each) for each in heat]),
            factor=factor,
            line=line,
        )


def is_search(text: UnitText) -> bool:
    """Whether a unit calls something, searches, and does nothing else."""
    actions = text.named.actions
    return bool(actions) and all(action.kind == "search" for action in actions)


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


def answer_scores(conversation: References, relevance: Mapping[int, float]) -> UnitScores:
    """The scores for somebody who asks for the past: as much as a unit answers, whatever is kept; of equals the newer one."""
    answers = [relevance_of(text.unit, relevance) for text in conversation.units]
    newer = AS_GOOD / max(1, len(answers))
    return UnitScores(
        conversation,
        [answer**SHARPNESS + newer * (i + 1) for i, answer in enumerate(answers)],
        [f"relevance {answer:.2f} to what is asked" for answer in answers],
    )


def relevance_of(unit: Unit, relevance: Mapping[int, float]) -> float:
    """How relevant the messages of a unit are, the most relevant one."""
    return max(relevance.get(at, 0.0) for at in range(unit.start, unit.stop))
