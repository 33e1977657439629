"""Divide a whole number of tokens by weights.

Promise: the parts are whole, none is negative, they add up to the whole, each is within a few tokens of its exact
share, and a larger whole gives no part less.

Source: Webster's method (Sainte-Laguë), computed by "jump and step" (Pukelsheim, Proportional Representation, 2014,
chapter 4). Largest remainders, the more familiar way, may take a token from a part when the whole grows by one (the
Alabama paradox).
"""

from collections.abc import Mapping
from fractions import Fraction
from math import floor
from typing import TypeVar

Name = TypeVar("Name", bound=str)


def apportion(total: int, weights: Mapping[Name, float]) -> dict[Name, int]:
    """Divide ``total`` by weights.

    Args:
        total: what there is, in tokens, 0 or more.
        weights: 0 or more each; only their ratios count. Where all are 0 they count as equal.

    Returns:
        The part of each, in tokens; the parts add up to ``total`` (of no weights, nothing is had).
    """
    exact = exact_weights(weights)
    whole = sum(exact.values())
    parts = {name: nearest(total * weight / whole) for name, weight in exact.items()}
    while parts and (missing := total - sum(parts.values())):
        if missing > 0:
            parts[next_to_gain(parts, exact)] += 1
        else:
            parts[next_to_lose(parts, exact)] -= 1
    return parts


def fill(total: int, weights: Mapping[Name, float], needs: Mapping[Name, int]) -> dict[Name, int]:
    """Divide ``total`` by weights, none having more than it needs: what one leaves goes to the others.

    Args:
        total: what there is, in tokens, 0 or more.
        weights: as for ``apportion``.
        needs: what each can use, in tokens; one that is not named needs nothing.

    Returns:
        The part of each. Together they have ``total``, or all that is needed if that is less.
    """
    filled: dict[Name, int] = {}
    open_weights: dict[Name, float] = dict(weights)
    while open_weights:
        parts = apportion(total - sum(filled.values()), open_weights)
        sated = {name: needs.get(name, 0) for name in parts if parts[name] >= needs.get(name, 0)}
        filled |= sated or parts
        open_weights = {name: weights[name] for name in open_weights if name not in filled}
    return {name: filled[name] for name in weights}


def exact_weights(weights: Mapping[Name, float]) -> dict[Name, Fraction]:
    """The weights as fractions, equal ones where all are 0; exact, so that a part never depends on rounding."""
    if not any(weights.values()):
        return dict.fromkeys(weights, Fraction(1))
    return {name: Fraction(weight) for name, weight in weights.items()}


def nearest(quota: Fraction) -> int:
    """The nearest whole number, halves up."""
    return floor(quota + Fraction(1, 2))


def next_to_gain(parts: Mapping[Name, int], weights: Mapping[Name, Fraction]) -> Name:
    """Whose next token has the highest quotient; of equals the first."""
    return max(parts, key=lambda name: weights[name] / (2 * parts[name] + 1))


def next_to_lose(parts: dict[Name, int], weights: Mapping[Name, Fraction]) -> Name:
    """Whose last token has the lowest quotient; of equals the last."""
    held = [name for name in reversed(parts) if parts[name]]
    return min(held, key=lambda name: weights[name] / (2 * parts[name] - 1))
