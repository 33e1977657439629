"""What a budget says of a turn and of a compaction, and how much of what sections were given was used.

Promise: values that exist make sense: fractions in 0..1, tokens 0 or more. They decide how much, never whether a request
fits its window: that is held by the window alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Literal, Protocol, Self

from autogen_context.budget.task import TaskDefinition

Section = Literal[
    "requirements",
    "design",
    "execution_history",
    "project_structure",
    "memory_patterns",
    "system",
    "recent",
    "facts",
    "retrieved",
    "summaries",
    "knowledge",
    "conversation",
    "buffer",
]
Profile = Literal["value", "balanced", "conservative", "strict"]
Role = Literal["assistant", "coder", "planner", "researcher", "reviewer", "tester"]

NO_TASK = TaskDefinition(text="")
EFFICIENCY_FACTORS = (0.5, 1.5)  # least and most
PRIOR_TOKENS = 1_000  # given at the mean of all sections, before the first measurement of one


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetRequest:
    """What is to be compacted, as far as it decides how much of it stays."""

    room_tokens: int  # what a request may have
    fixed_tokens: int = 0  # of these, what it has beside messages, such as tools
    task: TaskDefinition = NO_TASK  # what a person asked for last
    messages: int = 0  # how many the conversation has
    asks_back: bool = False  # whether the newest message asks for something of the past
    has_summaries: bool = False  # whether a model summarised some of what will be left out


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnBudget:
    """What decides in each turn."""

    compact_at_tokens: int  # what a request may have before it is compacted
    kept_fraction: float = 0.36  # about what a compaction would fill beside what is protected
    retrieved_tokens: int  # what a question may bring back of the past
    notice_tokens: int  # what may be told at once of what changed beside the messages
    notice_rooms: int = (
        2  # times its tokens must be free for it; at 1 the next turn may have to compact
    )

    def __post_init__(self) -> None:
        """Refuse numbers that make no sense."""
        require_sound(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionBudget:
    """How much a compaction keeps, and of what.

    The protected messages (system prompt, pins, latest instruction, newest unit) come first and have no fraction; what
    ``total_tokens`` leaves beside them is filled up to ``kept_fraction``, with what people said, then the newest units, then
    what older ones have that scores best. What is left out of it is told in a notice.
    """

    total_tokens: int  # what all messages may have afterwards; more than the window has no effect
    kept_fraction: float = 0.36  # what is filled of the room beside what is protected
    people_fraction: float = 0.15  # of the total, what people's own messages have for certain
    long_message_fraction: float = 0.2  # of that, one message; a longer one has what it states
    stated_fraction: float = 0.5  # of what is filled, what people's statements may have beyond that
    newest_fraction: float = 0.5  # of what is filled, the newest units, as they are
    newest_unit_fraction: float = 0.6  # of the same, the newest one, where it has more than that
    told_fraction: float = 0.06  # of the same, what is told of the units that are left out
    sections: Mapping[Section, float] | None = None  # shares of the rest; else the score decides

    def __post_init__(self) -> None:
        """Refuse numbers that make no sense."""
        require_sound(self)
        for section, share in (self.sections or {}).items():
            if not 0 <= share <= 1:
                raise ValueError(f"sections[{section!r}]={share}: give a fraction from 0 to 1")

    @property
    def long_message_tokens(self) -> int:
        """What a person's message may have to stay whole, in tokens."""
        return int(self.total_tokens * self.people_fraction * self.long_message_fraction)


class BudgetPolicy(Protocol):
    """Says how much of what is sent; a ``TokenBudgetManager`` does."""

    def for_turn(self, room_tokens: int, /) -> TurnBudget:
        """What decides in each turn with so much room, in tokens; asked in every one, so it should be cheap."""
        ...

    def for_compaction(self, request: BudgetRequest, /) -> CompactionBudget:
        """How much a compaction keeps, and of what."""
        ...


def require_sound(budget: TurnBudget | CompactionBudget) -> None:
    """Refuse tokens below 0 and fractions that are none; the name of a field says which it is."""
    for each in fields(budget):
        value: object = getattr(budget, each.name)
        if each.name.endswith("_tokens") and not (isinstance(value, int) and value >= 0):
            raise ValueError(f"{each.name}={value!r}: give a whole number of tokens, 0 or more")
        is_fraction = isinstance(value, int | float) and 0 <= value <= 1
        if each.name.endswith("_fraction") and not is_fraction:
            raise ValueError(f"{each.name}={value!r}: give a fraction from 0 to 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Efficiency:
    """What sections were given, and what of it later turns used, in tokens."""

    given: Mapping[Section, int] = field(default_factory=dict[Section, int])
    used: Mapping[Section, int] = field(default_factory=dict[Section, int])

    def measured(self, section: Section, *, given_tokens: int, used_tokens: int) -> Self:
        """These sums with one more measurement."""
        if not 0 <= used_tokens <= given_tokens:
            raise ValueError(
                f"used_tokens={used_tokens}: give 0 to given_tokens={given_tokens}; a token that is used twice counts once"
            )
        return type(self)(
            given={**self.given, section: self.given.get(section, 0) + given_tokens},
            used={**self.used, section: self.used.get(section, 0) + used_tokens},
        )

    def moved(self, shares: Mapping[Section, float]) -> dict[Section, float]:
        """The same shares moved by what was used of each, and no more of them together."""
        weights: dict[Section, float] = {
            section: share * self.factor(section) for section, share in shares.items()
        }
        whole = sum(shares.values()) / (sum(weights.values()) or 1.0)
        moved: dict[Section, float] = {each: weights[each] * whole for each in weights}
        return moved

    def factor(self, section: Section) -> float:
        """How much better than all together a section does, within bounds; 1 where nothing was measured, or used."""
        mean = sum(self.used.values()) / (sum(self.given.values()) or 1)
        if not mean:
            return 1.0
        used = self.used.get(section, 0) + PRIOR_TOKENS * mean
        share = used / (self.given.get(section, 0) + PRIOR_TOKENS)
        least, most = EFFICIENCY_FACTORS
        return min(most, max(least, share / mean))
