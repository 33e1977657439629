"""What a trigger proposes: turns that may be compacted now, and why.

Promise: values only. A scope is never empty, and what is its outcome lies in it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

TriggerKind = Literal["subtask", "intent", "boundary", "staleness", "turn_count", "none"]


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
