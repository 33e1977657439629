"""What a trigger proposes: turns that may be compacted now, and why; and which triggers there are.

Promise: values only. A scope is never empty, and what is its outcome lies in it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from autogen_context.triggers.turn import Turn, check_fraction, check_least

TriggerKind = Literal["subtask", "intent", "boundary", "staleness", "turn_count", "none"]

LEAST_TURNS = 4  # of a scope; a shorter one is not worth its summary
STALE_ABOVE = 0.7  # staleness of a turn
FALLBACK_TURNS = 10  # without a proposal, before turns are proposed for their number alone


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Turns that belong together, to be compacted from the inside out.

    Attributes:
        start: number of the first turn.
        stop: number behind the last one.
        outcomes: numbers of the turns among them that say what came out, and stay.

    Raises:
        ValueError: it is empty, or an outcome lies outside.
    """

    start: int
    stop: int
    outcomes: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Check the numbers."""
        if not 0 <= self.start < self.stop:
            raise ValueError(f"start={self.start}, stop={self.stop}: give 0 <= start < stop")
        outside = [turn for turn in self.outcomes if not self.start <= turn < self.stop]
        if outside:
            raise ValueError(f"outcomes={self.outcomes}: {outside} lie outside the scope")

    def __len__(self) -> int:
        """How many turns it has."""
        return self.stop - self.start

    def is_enough(self, least_turns: int = LEAST_TURNS) -> bool:
        """Whether it has so many turns, and not all of them stay."""
        return len(self) >= least_turns and len(self.outcomes) < len(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerDecision:
    """What a trigger proposes; whether it is done is decided by the price.

    Attributes:
        kind: which trigger; ``"none"`` where nothing is proposed.
        scope: the turns that may be compacted; ``None`` where nothing is proposed.
        confidence: that a developer would call it right, 0..1.
        details: what was seen, by name, for reports.
    """

    kind: TriggerKind = "none"
    scope: Scope | None = None
    confidence: float = 0.0
    details: Mapping[str, str | float] = field(default_factory=dict[str, str | float])

    @property
    def fires(self) -> bool:
        """Whether anything is proposed."""
        return self.kind != "none"


NOTHING = TriggerDecision()


class Trigger(Protocol):
    """Something that proposes turns to be compacted."""

    def observe(self, turn: Turn, /) -> TriggerDecision:
        """What is proposed after one more turn; ``NOTHING`` where nothing is."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerSettings:
    """Which triggers there are.

    Attributes:
        subtasks: whether a completed subtask is one.
        intents: whether a change of what the agent is after is one.
        boundaries: whether a boundary in the work is one.
        staleness: whether what has grown stale is one.
        staleness_threshold: above which a turn is stale, 0..1.
        fallback_turns: without a proposal, after which turns are proposed for their number alone; 0 for never.

    Raises:
        ValueError: a number is none of these.
    """

    subtasks: bool = True
    intents: bool = True
    boundaries: bool = True
    staleness: bool = True
    staleness_threshold: float = STALE_ABOVE
    fallback_turns: int = FALLBACK_TURNS

    def __post_init__(self) -> None:
        """Check the numbers."""
        check_fraction("staleness_threshold", self.staleness_threshold)
        check_least("fallback_turns", self.fallback_turns, 0)
