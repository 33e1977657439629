"""What the settings of triggers must be.

Promise: what cannot be used is refused, with its name, its value and the way out.
"""

from math import isfinite


def check_share(name: str, value: float) -> None:
    """Refuse what is no share.

    Raises:
        ValueError: it is not in 0..1.
    """
    if not 0 <= value <= 1:
        raise ValueError(f"{name}={value}: give a number in 0..1")


def check_amount(name: str, value: float) -> None:
    """Refuse what is no amount.

    Raises:
        ValueError: it is negative, or not finite.
    """
    if not (isfinite(value) and value >= 0):
        raise ValueError(f"{name}={value}: give a finite number, 0 or more")


def check_least(name: str, value: int, least: int) -> None:
    """Refuse what is too small.

    Raises:
        ValueError: it is less than the least.
    """
    if value < least:
        raise ValueError(f"{name}={value}: give {least} or more")
