"""Divide a whole number of tokens among the sections of a context.

Promise: the parts are whole, none is negative, they add up to the whole, each is within a few tokens of its exact
share, and a larger whole gives no part less. A section that needs less than it has leaves the rest to those that need more.

Source: Webster's method (Sainte-Laguë), computed by "jump and step" (Pukelsheim, Proportional Representation, 2014,
chapter 4). Largest remainders, the more familiar way, may take a token from a part when the whole grows by one (the
Alabama paradox).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import TypeVar

from autogen_context.budget.profile import Section

COMPRESSION_THRESHOLD = 0.8  # of the total

Name = TypeVar("Name", bound=str)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenBudget:
    """A window, shared out.

    Attributes:
        total: the whole, in tokens.
        allocations: what each section may have, in tokens; with ``buffer`` they add up to ``total``.
        reserve_buffer: what stays free at least, in tokens; ``allocations["buffer"]`` is this or more.
        compression_threshold: the fraction of the total, 0..1, from which on compression is due.

    Raises:
        ValueError: an allocation is negative, they do not add up to the total, or the threshold is no fraction.
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
                f"compression_threshold={self.compression_threshold}: give a fraction from 0 to 1, such as 0.8"
            )

    @property
    def compress_at_tokens(self) -> int:
        """How much may be in use before compression is due, in tokens."""
        return int(self.total * self.compression_threshold)


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


def filled(total: int, weights: Mapping[Name, float], needs: Mapping[Name, int]) -> dict[Name, int]:
    """Divide ``total`` by weights, none having more than it needs: what one leaves goes to the others.

    Returns:
        The part of each. Together they have ``total``, or all that is needed if that is less.

    Raises:
        ValueError: a need is negative or of a section without a weight.
    """
    for section, tokens in needs.items():
        if section not in weights:
            raise ValueError(f"needs={section!r}: give one of {', '.join(weights)}")
        if tokens < 0:
            raise ValueError(f"needs[{section!r}]={tokens}: give 0 tokens or more")
    parts: dict[Name, int] = {}
    open_weights: dict[Name, float] = dict(weights)
    while open_weights:
        shared = apportion(total - sum(parts.values()), open_weights)
        sated = {each: needs.get(each, 0) for each in shared if shared[each] >= needs.get(each, 0)}
        parts |= sated or shared
        open_weights = {each: weights[each] for each in open_weights if each not in parts}
    return {section: parts[section] for section in weights}


def with_buffer(parts: Mapping[Section, int], total: int) -> dict[Section, int]:
    """The parts, and what they leave of the whole."""
    return {**parts, "buffer": total - sum(parts.values())}


def apportion(total: int, weights: Mapping[Name, float]) -> dict[Name, int]:
    """Divide ``total`` by weights.

    Args:
        total: what there is, in tokens, 0 or more.
        weights: 0 or more each; only their ratios count. Where all are 0 they count as equal.

    Returns:
        The part of each, in tokens; the parts add up to ``total`` (of no weights, nothing is had).
    """
    exact = {name: Fraction(weight) for name, weight in weights.items()}  # never by rounding
    if not any(exact.values()):
        exact = dict.fromkeys(weights, Fraction(1))
    whole = sum(exact.values())
    parts = {name: floor(total * weight / whole + Fraction(1, 2)) for name, weight in exact.items()}
    while parts and (missing := total - sum(parts.values())):
        if missing > 0:  # the highest quotient gains the next token; of equals the first
            gains = max(parts, key=lambda name: exact[name] / (2 * parts[name] + 1))
            parts[gains] += 1
        else:  # the lowest one loses its last; of equals the last
            held = [name for name in reversed(parts) if parts[name]]
            parts[min(held, key=lambda name: exact[name] / (2 * parts[name] - 1))] -= 1
    return parts
