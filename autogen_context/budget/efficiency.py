"""How much of what a section was given later turns used.

Promise: a factor for each section, within its bounds, 1 where nothing was measured and where all sections do equally
well; a single measurement moves it little.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from autogen_context.budget.profile import Section

LEAST_FACTOR = 0.5
MOST_FACTOR = 1.5
PRIOR_TOKENS = 1_000  # given at the mean of all sections, before the first measurement of one


@dataclass(frozen=True, slots=True, kw_only=True)
class Efficiency:
    """What sections were given and what of it was used, summed up.

    Attributes:
        given: tokens that each section had in the requests that were measured.
        used: of these, the tokens that later turns used.
    """

    given: Mapping[Section, int] = field(default_factory=dict[Section, int])
    used: Mapping[Section, int] = field(default_factory=dict[Section, int])

    def measured(self, section: Section, *, given_tokens: int, used_tokens: int) -> Self:
        """These sums with one more measurement.

        Raises:
            ValueError: ``used_tokens`` is negative or more than ``given_tokens``.
        """
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
        moved: dict[Section, float] = {
            section: weight * whole for section, weight in weights.items()
        }
        return moved

    @property
    def mean(self) -> float:
        """The share of all given tokens that was used, in 0..1; 1 where none was given."""
        given = sum(self.given.values())
        return sum(self.used.values()) / given if given else 1.0

    def factor(self, section: Section) -> float:
        """How much better than the mean a section does, within the bounds."""
        if not self.mean:  # nothing was used at all: no section does better than another
            return 1.0
        used = self.used.get(section, 0) + PRIOR_TOKENS * self.mean
        share = used / (self.given.get(section, 0) + PRIOR_TOKENS)
        return min(MOST_FACTOR, max(LEAST_FACTOR, share / self.mean))
