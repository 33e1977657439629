"""What a prioritizer is asked, and what it answers: the one score that chooses what stays.

Promise: whoever scores, a compaction keeps what has the highest score for its tokens, and ``explain`` shows that score.

A prioritizer of your own is one method, ``scores``; ``UnitScores`` makes the score of each unit into one for each block:

    class Shortest:
        def scores(self, conversation, need):
            return UnitScores(conversation, [1 / (1 + unit.candidate.tokens) for unit in conversation.units])
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, fields
from math import isfinite
from typing import NamedTuple, Protocol

from autogen_context.budget.policy import Efficiency, Section
from autogen_context.messages.identifiers import is_telling
from autogen_context.messages.segment import Unit
from autogen_context.prioritizer.category import SECTION_OF, Category
from autogen_context.prioritizer.references import References, UnitText
from autogen_context.view.decision import Decision

BEYOND = 1e-6  # of its score, for a block of a section that has its share


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
        relevance: of each message to the newest one, 0..1, where that asks for the past; else empty.
        stale: units that show a file as it was before it changed on disk.
        advised: what a model says that each category counts for the task, 1 as usual; empty where none did.
    """

    room_tokens: int
    task: str = ""
    relevance: Sequence[float] = ()
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


class SectionScores:
    """Puts blocks of sections that have their share behind all others, so that what others leave flows to them."""

    def __init__(
        self, scores: Scores, conversation: References, shares: Mapping[Section, int]
    ) -> None:
        self._scores = scores
        self._units = conversation.units
        self._sections = sections_of(conversation)
        self._left: dict[Section, float] = dict(shares)
        self.keep_unit = scores.keep_unit
        self.reasons = scores.reasons

    def score(self, at: BlockAt) -> float:
        """What a block adds to what is kept."""
        score = self._scores.score(at)
        return score if self._left[self._sections[at.unit]] > 0 else score * BEYOND

    def keep(self, at: BlockAt) -> None:
        """Take a block as kept; its section has less left."""
        self._scores.keep(at)
        unit = self._units[at.unit]
        tokens = len(unit.passages[at.passage].blocks[at.block].text) * unit.tokens_per_char
        self._left[self._sections[at.unit]] -= tokens


def sections_of(conversation: References) -> dict[int, Section]:
    """The section of each unit that stands for choice."""
    return {i: SECTION_OF[conversation.units[i].category] for i in conversation.standing}


def efficiency_of(conversation: References) -> Efficiency:
    """What each section has on offer, and what of it the model named again in later units, by telling values."""
    given, used = Counter[Section](), Counter[Section]()
    for i, section in sections_of(conversation).items():
        unit = conversation.units[i]
        for block in (block for passage in unit.passages for block in passage.blocks):
            tokens = round(len(block.text) * unit.tokens_per_char)
            given[section] += tokens
            uses = ((conversation.uses(value), value) for value in block.values)
            if any(later and later[-1] > i and is_telling(value) for later, value in uses):
                used[section] += tokens
    return Efficiency(given=given, used=used)


def relevance_of(unit: Unit, relevance: Sequence[float]) -> float:
    """How relevant the messages of a unit are, the most relevant one; the newest may not be known yet."""
    return max(relevance[unit.start : unit.stop], default=relevance[-1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation(Decision):
    """A decision, and the score of its unit.

    Attributes:
        score: for each token of its best part: the one that decided, where ``rank`` is there; else as it is now.
        reasons: its place by that, and where the score comes from, in words.
    """

    score: float
    reasons: tuple[str, ...]


def explained(decision: Decision, at: int, unit: UnitText | None, scores: Scores) -> Explanation:
    """What became of the unit at a position, and why; ``unit`` is None while a loaded state is all there is."""
    known = {each.name: getattr(decision, each.name) for each in fields(Decision)}
    score, reasons = 0.0, scores.reasons(at) if unit else ("its messages were not read yet",)
    if unit:
        blocks = ((i, n, b) for i, p in enumerate(unit.passages) for n, b in enumerate(p.blocks))
        score = max(
            (
                scores.score(BlockAt(at, i, n)) / max(1.0, len(block.text) * unit.tokens_per_char)
                for i, n, block in blocks
            ),
            default=0.0,
        )
    if decision.rank:
        score, reasons = decision.rank.score, (str(decision.rank), *reasons)
    return Explanation(**known, score=score, reasons=reasons)
