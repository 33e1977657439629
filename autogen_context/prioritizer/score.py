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
from dataclasses import dataclass, field
from math import isfinite
from typing import NamedTuple, Protocol

from autogen_context.budget.policy import Efficiency, Section
from autogen_context.messages.identifiers import is_telling
from autogen_context.prioritizer.category import Category
from autogen_context.prioritizer.references import References

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
        """Score a conversation for one compaction.

        Args:
            conversation: what stands in each unit, who named it and who used it again.
            need: what is chosen for.
        """
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
    """Puts blocks of sections that have their share behind all others, so that what others leave flows to them.

    Args:
        scores: what blocks score otherwise.
        conversation: the units.
        sections: of each unit.
        shares: what each section may have, in tokens.
    """

    def __init__(
        self,
        scores: Scores,
        conversation: References,
        sections: Sequence[Section],
        shares: Mapping[Section, int],
    ) -> None:
        self._scores = scores
        self._units = conversation.units
        self._sections = sections
        self._left: dict[Section, float] = dict(shares)
        self.keep_unit = scores.keep_unit

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

    def reasons(self, unit: int) -> tuple[str, ...]:
        """Those of the score, and the section where that has its share."""
        section = self._sections[unit]
        full = () if self._left[section] > 0 else (f"{section} has its share of the budget",)
        return (*self._scores.reasons(unit), *full)


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
