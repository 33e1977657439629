"""Fill a room: what fits of a text or a list, the best first."""

from collections.abc import Callable

CountText = Callable[[str], int]
"""Tokens of a text, exact or an upper bound."""
