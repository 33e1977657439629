"""What a budget for a talk says of a plan: how full, and how much of that for which part.

Promise: shares in 0..1 for any allocation; what is retrieved has its part only where the past is asked for.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from autogen_context.budget.profile import Section

RECENT_FRACTION = 0.5  # of what may be kept beside what must stay, for the newest units as they are
PEOPLE_FRACTION = 0.15  # of the window, for people's own messages
TOLD_FRACTION = 0.06  # of the same, for what is told of the units that are left out

RECENT: tuple[Section, ...] = ("recent", "conversation")
TOLD: tuple[Section, ...] = ("facts", "summaries")
RETRIEVED: tuple[Section, ...] = ("retrieved", "knowledge")


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """How much a plan may keep.

    Attributes:
        limit_tokens: what all may have together, in tokens.
        target_fraction: the low mark: of the room beside what must stay, what is filled.
        recent_fraction: of that, what the newest units may have, as they are.
        told_fraction: of that, what is told of the units that are left out.
        people_fraction: of all, what people's own messages have for certain.
    """

    limit_tokens: int
    target_fraction: float
    recent_fraction: float = RECENT_FRACTION
    told_fraction: float = TOLD_FRACTION
    people_fraction: float = PEOPLE_FRACTION

    @property
    def people_tokens(self) -> int:
        """What people's own messages have for certain, in tokens."""
        return int(self.limit_tokens * self.people_fraction)


def aim_of(allocations: Mapping[Section, int], *, limit_tokens: int, asks: bool) -> Aim:
    """What a plan may keep, by the allocations of ``conservative`` or ``strict``.

    What must stay takes the place of the system's section; the rest stands to it as in the table.

    Args:
        allocations: tokens of each section, the buffer among them.
        limit_tokens: what all may have together.
        asks: whether the newest message asks for the past.
    """
    recent, told = tokens_of(allocations, RECENT), tokens_of(allocations, TOLD)
    filled = recent + told + (tokens_of(allocations, RETRIEVED) if asks else 0)
    beside = sum(allocations.values()) - allocations.get("system", 0)
    return Aim(
        limit_tokens=limit_tokens,
        target_fraction=filled / max(1, beside),
        recent_fraction=recent / max(1, filled),
        told_fraction=told / max(1, filled),
    )


def tokens_of(allocations: Mapping[Section, int], sections: tuple[Section, ...]) -> int:
    """What some sections have together."""
    return sum(allocations.get(section, 0) for section in sections)
