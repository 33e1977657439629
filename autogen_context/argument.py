"""Run-time checks of arguments, for callers without a type checker.

Promise: valid values pass for the price of a type check; invalid ones are a ``ValueError`` that names the argument, its
value and what to give instead.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import cast
from urllib.parse import urlsplit

LISTS = (list, tuple)  # a constant, as it is used in every turn
SINGLE: tuple[type, ...] = (str, bytes, Mapping)  # iterable, but no list


def wrong_argument(name: str, value: object, give: str) -> ValueError:
    """Return the error for a wrong argument; long values are truncated."""
    return ValueError(f"{name}={value!r:.80}: give {give}")


def require_kind(name: str, value: object, kind: type, *, give: str) -> None:
    """Require an instance of ``kind``."""
    if not isinstance(value, kind):
        raise wrong_argument(name, value, give)


def require_text(name: str, value: object, *, give: str = "a text") -> None:
    """Require a string."""
    require_kind(name, value, str, give=give)


def require_path(name: str, value: object) -> None:
    """Require a string or path-like object."""
    if not isinstance(value, str | os.PathLike):
        raise wrong_argument(name, value, "a path")


def require_number(name: str, value: object, *, give: str) -> None:
    """Require a number, NaN included, but no bool."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise wrong_argument(name, value, give)


def require_whole(name: str, value: object, *, least: int, give: str) -> None:
    """Require an integer of at least ``least``."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise wrong_argument(name, value, give)


def require_fraction(name: str, value: object, *, give: str) -> None:
    """Require a number from 0 to 1."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1:
        raise wrong_argument(name, value, give)


def require_seconds(name: str, value: object) -> None:
    """Require a time limit above 0."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not value > 0:
        raise wrong_argument(name, value, "seconds above 0")


def require_choice(name: str, value: str, known: Sequence[str]) -> None:
    """Require one of these names."""
    if value not in known:
        raise wrong_argument(name, value, f"one of {', '.join(known)}")


def require_several(name: str, value: object, *, give: str) -> None:
    """Require an iterable that is no string, bytes or mapping."""
    if isinstance(value, SINGLE) or not isinstance(value, Iterable):
        raise wrong_argument(name, value, give)


def listed(name: str, value: object, *, give: str) -> Sequence[object]:
    """Return a list or tuple as it is, any other sequence except text as a list; else raise ``ValueError``."""
    if isinstance(value, LISTS):
        return cast("Sequence[object]", value)  # elements are checked by the caller
    if isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray):
        return list(cast("Sequence[object]", value))  # as above
    raise wrong_argument(name, value, give)


def require_address(name: str, value: str) -> None:
    """Require an HTTP address."""
    give = "an address like http://127.0.0.1:8000/v1"
    try:
        parts = urlsplit(value)  # which drops some control characters, and refuses others
        is_address = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError as error:
        raise wrong_argument(name, value, f"{give}; {error}") from error
    if not is_address or not value.isprintable() or " " in value:
        raise wrong_argument(name, value, give)
