"""ContextPrioritizer: what matters for the task at hand, and why.

Promise: the score that chooses what is kept is the one that ``explain`` shows. The score of a block falls once the values it
names are kept elsewhere. Sums over sets use ``fsum``, so that they do not depend on iteration order. The constants are round
numbers, chosen on recorded conversations: docs/decisions/0011-plan.md.

Your own prioritizer needs one method, ``scores``, and may return one score for each unit:

    class Shortest:
        def scores(self, conversation, need):
            return {unit.position: 1 / (1 + unit.tokens) for unit in conversation.units}
"""

from collections.abc import Awaitable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from math import exp, fsum, isfinite, log, log1p
from typing import NamedTuple, Protocol

from autogen_context.argument import require_fraction, wrong_argument
from autogen_context.budget.task import TaskDefinition
from autogen_context.messages.blocks import Place
from autogen_context.messages.identifiers import is_distinctive
from autogen_context.prioritizer.attention import ContextPart, relevances, require_parts
from autogen_context.prioritizer.category import Category, category_of_label, weights_of
from autogen_context.prioritizer.record import ConversationRecord
from autogen_context.prioritizer.references import References, UnitText, unit_at

LEAST = 0.2  # fraction of its weight for a part that shares no word with the task

PLAIN = 0.02  # weight of a plain word, relative to an identifier
USED = 1.2  # bonus for a value that the model used, times log(1 + uses)
USE_FADES = 20  # units after the last use until that bonus fell to 1/e
ASKED = 1.0  # bonus for a value that a person named
FOCUS = 1.0  # bonus for a value of the newest step
FOCUS_UNITS = 5  # newest units that count as current work
KEPT = 0.3  # fraction of its weight for a value that is kept elsewhere
KEPT_LINE = 0.15  # the same for a whole line
LINE: Mapping[Place, float] = {
    "text": 0.0,
    "result": 0.5,
    "argument": 0.3,
}  # weight of a whole line
MOST_USAGE = 6.0  # the most usage of a block: weights of used, asked and current values
PASSES_NEXT = 0.5  # fraction passed on to the following block, as from a heading
PASSES_LAST = 0.25  # fraction passed on to the previous block
CALLED = 1.5  # factor for tool call arguments: a model repeats what it wrote
SEARCHED = 0.5  # factor for search results: lists of names that no edit repeats
SUPERSEDED = 0.25  # factor for a unit whose content later units show again
STALE = 0.25  # factor for a unit that shows an outdated version of a file
FADES = 0.75  # of the room: tokens behind a unit from which its age matters
FADING = 0.5  # exponent of the age factor
SHARPNESS = 4  # exponent of relevance: one full answer beats many partial ones
NAMED_VALUES = 3  # values named in a reason
NAMED_CHARS = 40  # of each


class BlockAt(NamedTuple):
    """Position of a block: unit, text of the unit, block of the text; sorts oldest first."""

    unit: int
    text: int
    block: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What a compaction has to choose for.

    Attributes:
        room_tokens: budget of all kept units together; age counts relative to it.
        task: what people want, and behind it what they said last; or empty.
        relevance: relevance of messages to the newest one, 0..1 by position, if that asks about the past; else empty.
        stale: units that show an outdated version of a file.
        advised: a model's multiplier for each category, 1 for no change; empty without a model.
    """

    room_tokens: int
    task: str = ""
    relevance: Mapping[int, float] = field(default_factory=dict[int, float])
    stale: AbstractSet[int] = frozenset()
    advised: Mapping[Category, float] = field(default_factory=dict[Category, float])


class Scores(Protocol):
    """Scores blocks within one compaction, given what is kept so far."""

    def score(self, at: BlockAt, /) -> float:
        """Return what a block adds, 0 or more; it never rises when something else is kept."""
        ...

    def keep(self, at: BlockAt, /) -> None:
        """Note that a block is kept."""
        ...

    def reasons(self, unit: int, /) -> tuple[str, ...]:
        """Explain the scores of a unit's blocks in words."""
        ...


class Prioritizer(Protocol):
    """Decides what matters in a compaction."""

    def scores(
        self, conversation: ConversationRecord, need: Need, /
    ) -> Scores | Mapping[int, float] | Awaitable[Mapping[int, float]]:
        """Return the scores of a conversation's blocks for one compaction, or one score for each unit, 0 or more, by position.

        An ``async`` one returns a score for each unit. ``prepare`` awaits it up to ``prioritizer_timeout_s``; where it is not
        awaited, as in ``prepare_nowait``, ``ContextPrioritizer`` decides.
        """
        ...


class UnitScores:
    """Scores of blocks from one score per unit, in proportion to their length.

    Args:
        conversation: n units.
        scores: a number by position of a unit, 0 or more; the highest are kept longest, units without one after all others.
        reasons: explanations in words, by position.

    Raises:
        ValueError: a position is not in 0..n-1, or a score is negative or not finite.
    """

    def __init__(
        self,
        conversation: ConversationRecord,
        scores: Mapping[int, float],
        reasons: Mapping[int, str] | None = None,
    ) -> None:
        for unit, score in scores.items():
            if not 0 <= unit < conversation.length:
                raise ValueError(f"scores[{unit}]: there are {conversation.length} units")
            require_score(f"scores[{unit}]", score)
        self._units = conversation.index.units
        self._scores = scores
        self._reasons = reasons or {}

    def score(self, at: BlockAt) -> float:
        """Return the score of its unit times its characters."""
        block = self._units[at.unit].texts[at.text].blocks[at.block]
        return self._scores.get(at.unit, 0.0) * len(block.text)

    def keep(self, at: BlockAt) -> None:
        """Do nothing: scores do not depend on what is kept."""

    def reasons(self, unit: int) -> tuple[str, ...]:
        """Return the reason that was given."""
        return (self._reasons[unit],) if unit in self._reasons else ()


class ScaledScores:
    """The scores of another prioritizer, multiplied by a factor for some units.

    Args:
        scores: of the other.
        factors: a number by position of a unit, 0 or more; 1 for units without one.

    Raises:
        ValueError: a factor is negative or not finite.
    """

    def __init__(self, scores: Scores, factors: Mapping[int, float]) -> None:
        for unit, factor in factors.items():
            require_score(f"factors[{unit}]", factor)
        self._scores, self._factors = scores, factors
        self.keep = scores.keep

    def score(self, at: BlockAt) -> float:
        """Return the other's score times the factor of the unit."""
        return self._scores.score(at) * self._factors.get(at.unit, 1.0)

    def reasons(self, unit: int) -> tuple[str, ...]:
        """Return the other's reasons, and the factor."""
        factor = self._factors.get(unit)
        scaled = () if factor is None else (f"scaled by {factor:.3g}",)
        return (*scaled, *self._scores.reasons(unit))


def require_score(name: str, score: object) -> None:
    """Require a finite number, 0 or more."""
    if not (isinstance(score, int | float) and isfinite(score) and score >= 0):
        raise wrong_argument(name, score, "a number, 0 or more")


@dataclass(frozen=True, slots=True, kw_only=True)
class Priority:
    """Importance of a labelled part, 0..1, and its reasons, strongest first."""

    score: float
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrioritizedContext:
    """Parts ranked for a task.

    Attributes:
        task: the task.
        priorities: n priorities, in the order of the parts.
        order: n positions, most important first: critical parts, then by score; ties keep their order.
    """

    task: TaskDefinition
    priorities: tuple[Priority, ...]
    order: tuple[int, ...]


class ContextPrioritizer:
    """Decides what matters: blocks of a conversation in a compaction, labelled parts for a task.

    Args:
        category_exponent: influence of a unit's category in a conversation, 0..1. At 0, the default, only the values that a
            block names count: on recorded runs that keeps more than any weighting by category.

    Raises:
        ValueError: ``category_exponent`` is not in 0..1.
    """

    def __init__(self, *, category_exponent: float = 0.0) -> None:
        require_fraction("category_exponent", category_exponent, give="0 to 1; 0 is usual")
        self._category_exponent = category_exponent

    def scores(self, conversation: ConversationRecord, need: Need, /) -> Scores:
        """Score blocks by the values they name, or, if a person asks about the past, by relevance to the question."""
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
        """Rank labelled parts by the weight of their category for the task, times their relevance to it.

        Args:
            task: the task, or its text.
            parts: n parts, in any order.
            advised: multipliers of categories that replace those of the rules.

        Returns:
            n priorities and their order.

        Raises:
            ValueError: an element of ``parts`` is no ``ContextPart``.
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


class TextScore(NamedTuple):
    """The terms of a text's score that stay constant within a compaction."""

    alike: Sequence[Mapping[str, float]]
    usage: Sequence[float]
    factor: float
    line: float


class ValueScores:
    """Scores blocks by how likely later turns need the values they name, given what is kept.

    A value weighs more if it is an identifier, rare, used by the model, named by a person, or part of the newest steps. A
    line that an edit could repeat weighs more near the current work. Scores fall with age; a value that is kept elsewhere,
    or that is one of many similar ones in its text, weighs little.
    """

    def __init__(
        self, conversation: ConversationRecord, need: Need, categories: Mapping[Category, float]
    ) -> None:
        self._conversation = index = conversation.index
        self._units = units = index.units
        self._stale = need.stale
        self._categories = categories
        self._fades = max(1.0, FADES * need.room_tokens)
        self._ages: dict[int, int] = {}  # tokens after each unit that may be chosen
        behind = 0
        for unit in range(len(units) - 1, min(index.considered, default=len(units)) - 1, -1):
            self._ages[unit] = behind
            behind += units[unit].candidate.tokens
        newest = units[-FOCUS_UNITS:]
        self._focus = {  # values of the newest steps: 1 in the newest, less in earlier ones
            value: (position + 1 + FOCUS_UNITS - len(newest)) / FOCUS_UNITS
            for position, unit_text in enumerate(newest)
            for value in unit_text.named.used
        }
        self._log_of_all = log(1 + index.total_blocks)
        self._weights = {value: self._weight(value) for value in index.blocks}
        self._weights_now = dict(self._weights)
        self._kept: set[str] = set()
        self._kept_lines: set[str] = set()
        self._texts: dict[tuple[int, int], TextScore] = {}
        self._lowered: dict[int, tuple[bool, bool]] = {}  # units: a search, superseded

    def keep(self, at: BlockAt) -> None:
        """Note that a block is kept."""
        block = self._units[at.unit].texts[at.text].blocks[at.block]
        for value in block.values - self._kept:
            self._weights_now[value] = self._weights[value] * KEPT
        self._kept |= block.values
        self._kept_lines.update(block.lines)

    def score(self, at: BlockAt) -> float:
        """Return what a block adds to what is kept."""
        unit, text, position = at
        block = self._units[unit].texts[text].blocks[position]
        known = self._texts.get((unit, text))
        if known is None:
            known = self._texts[unit, text] = self._text(unit, text)
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
        return known.factor * (values + known.line * lines * (1 + known.usage[position]))

    def reasons(self, unit: int) -> tuple[str, ...]:
        """Name the strongest values of a unit, later uses, its age, and what lowers its score."""
        text, superseded = self._units[unit], self._conversation.superseded
        known = self._weights
        weights = {v: known[v] if v in known else self._weight(v) for v in text.values}
        values = sorted(weights, key=lambda value: (-weights[value], value))
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
        conversation = self._conversation
        holders = conversation.blocks.get(value, 0)
        weight = 1.0
        if holders:
            weight = log(1 + conversation.total_blocks / holders) / self._log_of_all
        weight *= 1.0 if is_distinctive(value) else PLAIN
        uses = conversation.uses(value)
        if uses:
            since = len(self._units) - 1 - uses[-1]
            weight *= 1 + USED * log1p(len(uses)) * exp(-since / USE_FADES)
        if conversation.asked.get(value, 0):
            weight *= 1 + ASKED
        return weight * (1 + FOCUS * self._focus.get(value, 0.0))

    def _left_by_age(self, unit: int) -> float:
        left: float = (1 + self._ages[unit] / self._fades) ** -FADING
        return left

    def _text(self, unit: int, at: int) -> TextScore:
        content, weights = self._units[unit], self._weights
        text, factor = content.texts[at], self._left_by_age(unit)
        if text.place == "argument":
            factor *= CALLED
        known = self._lowered.get(unit)
        if known is None:  # once for all texts: a unit may have thousands of calls
            superseded = self._conversation.superseded.by(unit) is not None
            known = self._lowered[unit] = is_search(content), superseded
        if text.place == "result" and known[0]:
            factor *= SEARCHED
        if known[1]:
            factor *= SUPERSEDED
        if unit in self._stale:
            factor *= STALE
        if self._categories:
            factor *= self._categories.get(content.category, 1.0)
        used, asked, focus = self._conversation.used, self._conversation.asked, self._focus
        alike = {  # of many similar values the model picks one
            value: weights[value] * max(1, n - 2) ** -0.5
            for value, n in text.alike.items()
            if value not in used
        }
        line = LINE[text.place]
        usage = [
            fsum([weights[v] for v in block.values if v in used or v in asked or v in focus])
            for block in text.blocks
            if line
        ]
        return TextScore(
            alike=[{v: alike[v] for v in b.values & alike.keys()} for b in text.blocks if alike],
            usage=spread([min(MOST_USAGE, each) for each in usage]),
            factor=factor,
            line=line,
        )


def is_search(text: UnitText) -> bool:
    """Whether all tool calls of a unit, at least one, are searches."""
    actions = text.named.actions
    return bool(actions) and all(action.kind == "search" for action in actions)


def spread(usage: Sequence[float]) -> list[float]:
    """Add to each block's usage what its neighbours pass on, decaying with distance."""
    passed = [0.0] * len(usage)
    carried = 0.0
    for i, own in enumerate(usage):
        passed[i] += own + carried
        carried = (carried + own) * PASSES_NEXT
    carried = 0.0
    for i in range(len(usage) - 1, -1, -1):
        passed[i] += carried
        carried = (carried + usage[i]) * PASSES_LAST
    return passed


def answer_scores(conversation: ConversationRecord, relevance: Mapping[int, float]) -> UnitScores:
    """Score units by their relevance to a question about the past."""
    answers = answers_of(conversation.index, relevance)
    return UnitScores(
        conversation,
        {unit: answer**SHARPNESS for unit, answer in answers.items()},
        {unit: f"relevance {answer:.2f} to what is asked" for unit, answer in answers.items()},
    )


def answers_of(conversation: References, relevance: Mapping[int, float]) -> dict[int, float]:
    """Return the highest relevance among the messages of each unit that has any, by position."""
    answers: dict[int, float] = {}
    for at, score in relevance.items():
        unit = unit_at(conversation.units, at)
        answers[unit] = max(score, answers.get(unit, 0.0))
    return answers
