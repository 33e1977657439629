"""What a caller without a type checker may hand over, and the words in which it is refused.

Promise: what is right goes on as it is, for the price of a look at its type; what is wrong is a ``ValueError`` that names
the argument, its value and what to give.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import cast
from urllib.parse import urlsplit

LISTS = (list, tuple)  # made once: it is looked at in each turn


def wrong_argument(name: str, value: object, give: str) -> ValueError:
    """The error of a wrong argument; a long value is cut."""
    return ValueError(f"{name}={value!r:.80}: give {give}")


def require_kind(name: str, value: object, kind: type, *, give: str) -> None:
    """Refuse what is not of a kind."""
    if not isinstance(value, kind):
        raise wrong_argument(name, value, give)


def require_text(name: str, value: object, *, give: str = "a text") -> None:
    """Refuse what is no string."""
    require_kind(name, value, str, give=give)


def require_path(name: str, value: object) -> None:
    """Refuse what is neither a string nor path-like."""
    if not isinstance(value, str | os.PathLike):
        raise wrong_argument(name, value, "a path")


def require_number(name: str, value: object, *, give: str) -> None:
    """Refuse what is no number, or a truth value; one that cannot be, such as NaN, is a number."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise wrong_argument(name, value, give)


def require_whole(name: str, value: object, *, least: int, give: str) -> None:
    """Refuse what is no whole number, or too small a one."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise wrong_argument(name, value, give)


def require_fraction(name: str, value: object, *, give: str) -> None:
    """Refuse what is no number from 0 to 1."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1:
        raise wrong_argument(name, value, give)


def require_several(name: str, value: object, *, give: str) -> None:
    """Refuse what does not hold several things: one alone, and text or a mapping, whose letters or keys would be taken."""
    if not is_several(value):
        raise wrong_argument(name, value, give)


def is_several(value: object) -> bool:
    """Whether something holds several things."""
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)


def listed(name: str, value: object, *, give: str) -> Sequence[object]:
    """A list or tuple as it is; any other sequence but a text, of which not all can be cut, as a list."""
    if isinstance(value, LISTS):
        return cast("Sequence[object]", value)  # what is in it is read one by one
    if isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray):
        return list(cast("Sequence[object]", value))  # as above
    raise wrong_argument(name, value, give)


def require_address(name: str, value: str) -> None:
    """Refuse what is no HTTP address.

    Raises:
        ValueError: it is none.
    """
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError(f"{name}={value!r}: give an address like http://127.0.0.1:8000/v1")
