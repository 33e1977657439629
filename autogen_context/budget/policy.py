"""Budget values: of a turn, of a compaction, and the measured usage of sections.

Promise: constructed values are valid: fractions in 0..1, tokens 0 or more. They decide how much is kept, but do not ensure
that a request fits its window: the window does that.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Literal, Protocol, Self

from autogen_context.argument import require_fraction, require_whole, wrong_argument
from autogen_context.budget.task import TaskDefinition
from autogen_context.guard import Guard, of_kind

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
EFFICIENCY_FACTORS = (0.5, 1.5)  # minimum and maximum
PRIOR_TOKENS = 1_000  # prior weight of the mean usage of all sections


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetRequest:
    """The conversation to compact, as far as its budget depends on it."""

    room_tokens: int  # maximum tokens of a request
    fixed_tokens: int = 0  # part of these outside messages, such as tool schemas
    task: TaskDefinition = NO_TASK  # what people want, with what they said last
    messages: int = 0  # number in the conversation
    asks_back: bool = False  # the newest message asks about the past
    has_summaries: bool = False  # model summaries exist for some dropped units


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnBudget:
    """Budget of a turn."""

    compact_at_tokens: int  # tokens of a request above which it is compacted
    kept_fraction: float = 0.36  # estimate of the fill level after a compaction
    retrieved_tokens: int  # maximum retrieved content
    notice_tokens: int  # maximum notices in one request
    notice_rooms: int = (
        2  # multiples of a notice's tokens that must be free; at 1 it may force a compaction
    )

    def __post_init__(self) -> None:
        """Raise `ValueError` for invalid fields."""
        require_sound(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionBudget:
    """Budget of a compaction, by kind of content.

    The protected messages (system prompt, pins, latest instruction, newest unit) come first and have no fraction. The rest of
    ``total_tokens`` is filled up to ``kept_fraction`` with user messages, then the newest units, then the highest-scored parts
    of older ones. A notice describes what was dropped.
    """

    total_tokens: int  # maximum of all messages afterwards; more than the window has no effect
    kept_fraction: float = 0.36  # fill level of the room for unprotected units
    people_fraction: float = 0.15  # of the total, guaranteed to users' own messages
    long_message_fraction: float = 0.2  # of that, one message; of a longer one its statements
    stated_fraction: float = 0.5  # of the total, up to which a sentence that is sure to matter may fill it with users' words
    newest_fraction: float = 0.5  # of the kept tokens, for the newest units, unchanged
    newest_unit_fraction: float = 0.6  # of the same, up to which the newest one exceeds that
    notice_fraction: float = 0.06  # of the kept tokens, for the notice on dropped units
    sections: Mapping[Section, float] | None = None  # shares of the rest; ``None``: by score alone

    def __post_init__(self) -> None:
        """Raise `ValueError` for invalid fields."""
        require_sound(self)
        for section, share in (self.sections or {}).items():
            require_fraction(f"sections[{section!r}]", share, give="a fraction from 0 to 1")

    @property
    def long_message_tokens(self) -> int:
        """Maximum tokens of a user message that stays whole."""
        return int(self.total_tokens * self.people_fraction * self.long_message_fraction)


class BudgetPolicy(Protocol):
    """Interface of a budget, implemented by ``TokenBudgetManager``."""

    def for_turn(self, room_tokens: int, /) -> TurnBudget:
        """Return the budget of a turn with ``room_tokens``; called on every turn, so it should be cheap."""
        ...

    def for_compaction(self, request: BudgetRequest, /) -> CompactionBudget:
        """Return the budget of a compaction."""
        ...


class GuardedBudget:
    """A budget of the user's own; where it fails or returns something else, the default decides, with one warning per method."""

    def __init__(self, own: BudgetPolicy, default: BudgetPolicy) -> None:
        self._own, self._default = own, default
        self._guard = Guard("budget", type(default).__name__)

    def for_turn(self, room_tokens: int, /) -> TurnBudget:
        """Return the budget of a turn."""
        own = self._guard.asked(
            "for_turn",
            lambda: self._own.for_turn(room_tokens),
            lambda found: of_kind(found, TurnBudget),
        )
        return own or self._default.for_turn(room_tokens)

    def for_compaction(self, request: BudgetRequest, /) -> CompactionBudget:
        """Return the budget of a compaction."""
        own = self._guard.asked(
            "for_compaction",
            lambda: self._own.for_compaction(request),
            lambda found: of_kind(found, CompactionBudget),
        )
        return own or self._default.for_compaction(request)


def require_sound(budget: TurnBudget | CompactionBudget) -> None:
    """Raise `ValueError` for ``*_tokens`` fields below 0 or not integers, and ``*_fraction`` fields outside 0..1."""
    for each in fields(budget):
        value: object = getattr(budget, each.name)
        if each.name.endswith("_tokens"):
            require_whole(each.name, value, least=0, give="a number of tokens, 0 or more")
        elif each.name.endswith("_fraction"):
            require_fraction(each.name, value, give="a fraction from 0 to 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Efficiency:
    """Tokens given to sections, and how many of them later turns used."""

    given: Mapping[Section, int] = field(default_factory=dict[Section, int])
    used: Mapping[Section, int] = field(default_factory=dict[Section, int])

    def measured(self, section: Section, *, given_tokens: int, used_tokens: int) -> Self:
        """Return the sums with one measurement added; raise `ValueError` if more was used than given."""
        if not 0 <= used_tokens <= given_tokens:
            give = f"0 to given_tokens={given_tokens}; a token that is used twice counts once"
            raise wrong_argument("used_tokens", used_tokens, give)
        return type(self)(
            given={**self.given, section: self.given.get(section, 0) + given_tokens},
            used={**self.used, section: self.used.get(section, 0) + used_tokens},
        )

    def moved(self, shares: Mapping[Section, float]) -> dict[Section, float]:
        """Return the shares adjusted by measured usage, with the same sum."""
        weights: dict[Section, float] = {
            section: share * self.factor(section) for section, share in shares.items()
        }
        whole = sum(shares.values()) / (sum(weights.values()) or 1.0)
        moved: dict[Section, float] = {each: weights[each] * whole for each in weights}
        return moved

    def factor(self, section: Section) -> float:
        """Return the usage rate of a section relative to the mean, within bounds; 1 if nothing was measured or used."""
        mean = sum(self.used.values()) / (sum(self.given.values()) or 1)
        if not mean:
            return 1.0
        used = self.used.get(section, 0) + PRIOR_TOKENS * mean
        share = used / (self.given.get(section, 0) + PRIOR_TOKENS)
        least, most = EFFICIENCY_FACTORS
        return min(most, max(least, share / mean))
