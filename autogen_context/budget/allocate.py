"""Share out a window: how many tokens each section of the context may have.

Promise: the allocations of a budget are whole numbers, none negative, and add up to its total, whatever the role, the
efficiency and the needs; a larger total gives no section less; a section that needs less than it has leaves the rest to
those that need more, and nobody has more than it needs but the buffer.

The tables are in ``pipeline.budget.profile``, the arithmetic in ``pipeline.budget.apportion``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

from autogen_context.budget.apportion import apportion, fill
from autogen_context.budget.efficiency import Efficiency
from autogen_context.budget.profile import (
    DEFAULT_TOKENS,
    ROLE_WEIGHTS,
    Profile,
    Role,
    Section,
    Shares,
    balanced,
    conservative,
    strict,
)
from autogen_context.budget.task import TaskDefinition

COMPRESSION_THRESHOLD = 0.8  # of the total


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenBudget:
    """A window, shared out.

    Attributes:
        total: the whole, in tokens.
        allocations: what each section may have, in tokens; with ``buffer`` they add up to ``total``.
        reserve_buffer: what stays free at least, in tokens; ``allocations["buffer"]`` is this or more.
        compression_threshold: the share of the total, 0..1, from which on compression is due.

    Raises:
        ValueError: an allocation is negative, they do not add up to the total, or the threshold is no share.
    """

    total: int
    allocations: Mapping[Section, int]
    reserve_buffer: int
    compression_threshold: float = COMPRESSION_THRESHOLD

    def __post_init__(self) -> None:
        """Refuse what is no division of the whole."""
        given = sum(self.allocations.values())
        if given != self.total or min(self.allocations.values(), default=0) < 0:
            raise ValueError(
                f"allocations={dict(self.allocations)}: they have {given} tokens; give 0 or more each, {self.total} in all"
            )
        if not 0 <= self.compression_threshold <= 1:
            raise ValueError(
                f"compression_threshold={self.compression_threshold}: give a share from 0 to 1, such as 0.8"
            )

    @property
    def compress_at_tokens(self) -> int:
        """How much may be in use before compression is due, in tokens."""
        return int(self.total * self.compression_threshold)


class TokenBudgetManager:
    """Shares out a window by task, role and what earlier turns made of their tokens.

    Args:
        total_tokens: what there is to share; left out, 8,000 for ``balanced``, 12,000 for ``conservative`` and 1,500 for
            ``strict``.
        role: what the agent does; ``balanced`` moves its shares by it.
        profile: which tables are used.

    Raises:
        ValueError: ``total_tokens`` is no positive whole number, or ``role`` or ``profile`` is unknown.
    """

    def __init__(
        self,
        total_tokens: int | None = None,
        *,
        role: Role = "assistant",
        profile: Profile = "balanced",
    ) -> None:
        require_known("profile", profile, get_args(Profile))
        require_known("role", role, tuple(ROLE_WEIGHTS))
        if total_tokens is not None and not is_positive(total_tokens):
            raise ValueError(
                f"total_tokens={total_tokens!r}: give 1 or more, or leave it out for {DEFAULT_TOKENS[profile]}"
            )
        self.total_tokens = DEFAULT_TOKENS[profile] if total_tokens is None else total_tokens
        self.role: Role = role
        self.profile: Profile = profile
        self.efficiency = Efficiency()

    def allocate(
        self,
        task: str | TaskDefinition,
        *,
        needs: Mapping[Section, int] | None = None,
        messages: int = 0,
    ) -> TokenBudget:
        """Share out the window for a task.

        Args:
            task: what the agent is at; a text is judged by its words.
            needs: what each section could use, in tokens; one that is not named needs nothing. Left out, every section
                has its share.
            messages: how many messages the conversation has; ``conservative`` gives longer ones more.

        Raises:
            ValueError: a need is negative or of a section that this profile does not have; or the task is no text.
        """
        defined = task if isinstance(task, TaskDefinition) else TaskDefinition.from_text(task)
        shares = self._shares(defined, messages)
        total, reserve = self.total_tokens, int(self.total_tokens * shares.free)
        if needs is None:
            parts = apportion(total - reserve, shares.weights)
        else:
            parts = filled(total - reserve, shares.weights, needs)
        return TokenBudget(
            total=total, allocations=with_buffer(parts, total), reserve_buffer=reserve
        )

    def record_usage(self, section: Section, *, given_tokens: int, used_tokens: int) -> None:
        """Note what a section had in a request and what of it later turns used.

        Raises:
            ValueError: it is no section to which tokens are given, or more was used than given.
        """
        given_to = tuple(each for each in get_args(Section) if each != "buffer")
        require_known("section", section, given_to)
        self.efficiency = self.efficiency.measured(
            section, given_tokens=given_tokens, used_tokens=used_tokens
        )

    def _shares(self, task: TaskDefinition, messages: int) -> Shares:
        match self.profile:
            case "balanced":
                return balanced(task.complexity, role=self.role, factor=self.efficiency.factor)
            case "conservative":
                return conservative(task, messages=messages)
            case "strict":
                return strict()


def flow(budget: TokenBudget, needs: Mapping[Section, int]) -> dict[Section, int]:
    """What the sections of a budget have once each has said what it needs.

    Args:
        budget: what each may have.
        needs: what each could use, in tokens; one that is not named needs nothing.

    Returns:
        Allocations of the same total: what a section leaves goes to those that need more, by their shares; what nobody
        needs stays free, in ``buffer``.

    Raises:
        ValueError: a need is negative or of a section that the budget does not have.
    """
    weights: dict[Section, float] = {**budget.allocations}
    free = int(weights.pop("buffer", 0))
    return with_buffer(filled(budget.total - free, weights, needs), budget.total)


def filled(
    total: int, weights: Mapping[Section, float], needs: Mapping[Section, int]
) -> dict[Section, int]:
    """``fill``, for needs that come from outside."""
    for section, tokens in needs.items():
        require_known("needs", section, tuple(weights))
        if tokens < 0:
            raise ValueError(f"needs[{section!r}]={tokens}: give 0 tokens or more")
    return fill(total, weights, needs)


def with_buffer(parts: Mapping[Section, int], total: int) -> dict[Section, int]:
    """The parts, and what they leave of the whole."""
    return {**parts, "buffer": total - sum(parts.values())}


def is_positive(tokens: object) -> bool:
    """Whether it is a whole number above 0; ``True`` is none."""
    return isinstance(tokens, int) and not isinstance(tokens, bool) and tokens > 0


def require_known(argument: str, name: str, known: tuple[str, ...]) -> None:
    """Refuse a name that is not in a list, and say the list."""
    if name not in known:
        raise ValueError(f"{argument}={name!r}: give one of {', '.join(known)}")
