"""What is right goes on as it is; what is wrong is named, with what to give."""

import re
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context import argument
from autogen_context.argument import listed

ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2),
    st.floats(),
    st.text(max_size=3),
    st.binary(max_size=3),
    st.lists(st.text(max_size=2) | st.none(), max_size=3),
    st.dictionaries(st.text(max_size=2), st.none(), max_size=2),
    st.just(Path("a.py")),
)


def is_fraction(value: object) -> bool:
    """A number from 0 to 1."""
    return type(value) in (int, float) and 0 <= cast("float", value) <= 1


def require_path_object(name: str, value: object, *, give: str) -> None:
    """As the callers ask for a kind of ours."""
    argument.require_kind(name, value, Path, give=give)


GUARDS: dict[str, tuple[Callable[..., object], Callable[[object], bool]]] = {
    "text": (argument.require_text, lambda value: isinstance(value, str)),
    "whole": (partial(argument.require_whole, least=1), lambda value: type(value) is int and value >= 1),
    "number": (argument.require_number, lambda value: type(value) in (int, float)),
    "share": (argument.require_fraction, is_fraction),
    "several": (argument.require_several, lambda value: isinstance(value, list)),
    "kind": (require_path_object, lambda value: isinstance(value, Path)),
    "list": (listed, lambda value: isinstance(value, list)),
}  # fmt: skip


@pytest.mark.parametrize(("require", "is_right"), GUARDS.values(), ids=GUARDS)
@given(value=ANYTHING)
def test_only_what_is_right_passes(
    require: Callable[..., object], is_right: Callable[[object], bool], value: object
) -> None:
    """A truth value is no number, a text no list; the error has the name, the value and the way out."""
    if is_right(value):
        require("this", value, give="that")
        return
    with pytest.raises(ValueError, match=re.escape(f"this={value!r:.80}: give that")):
        require("this", value, give="that")


@given(ANYTHING, st.lists(st.integers()))
def test_paths_and_lists(value: object, items: list[int]) -> None:
    """A path is a text or like a path; a list is handed on and not copied, of other sequences it is the items."""
    if isinstance(value, str | Path):
        argument.require_path("this", value)
    else:
        with pytest.raises(ValueError, match=r"this=.*: give a path"):
            argument.require_path("this", value)
    together = tuple(items)
    assert listed("this", items, give="that") is items
    assert listed("this", together, give="that") is together
    assert listed("this", deque(items), give="that") == items


def test_a_long_value_is_cut() -> None:
    """An error stays readable."""
    error = argument.wrong_argument("this", "x" * 999, "that")
    assert str(error) == f"this='{'x' * 79}: give that"
