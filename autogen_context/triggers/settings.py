"""Which triggers there are, and how they are set.

Promise: values only.
"""

from dataclasses import dataclass

from autogen_context.triggers.checks import check_least, check_share

STALE_ABOVE = 0.7  # staleness of a turn
TURNS = 10  # without a proposal, before turns are proposed for their number alone


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
    fallback_turns: int = TURNS

    def __post_init__(self) -> None:
        """Check the numbers."""
        check_share("staleness_threshold", self.staleness_threshold)
        check_least("fallback_turns", self.fallback_turns, 0)
