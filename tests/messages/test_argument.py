"""What is right goes on as it is; what is wrong is named, with what to give."""

import re
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context import argument
from autogen_context.argument import listed

ANYTHING = st.one_of(
    st.none() | st.booleans() | st.integers(-2, 2) | st.floats() | st.just(Path("a.py")),
    st.text(max_size=3) | st.binary(max_size=3) | st.lists(st.text(max_size=2), max_size=3),
    st.dictionaries(st.text(max_size=2), st.none(), max_size=2),
)
NUMBERS = (int, float)  # a truth value is none
GUARDS: dict[str, tuple[Callable[..., object], Callable[[object], bool]]] = {
    "text": (argument.require_text, lambda value: isinstance(value, str)),
    "whole": (partial(argument.require_whole, least=1), lambda value: type(value) is int and value >= 1),
    "number": (argument.require_number, lambda value: type(value) in NUMBERS),
    "fraction": (argument.require_fraction, lambda value: type(value) in NUMBERS and 0 <= value <= 1),  # type: ignore[operator]  # pyright: ignore[reportOperatorIssue]  # it is a number
    "several": (argument.require_several, lambda value: isinstance(value, list)),
    "kind": (partial(argument.require_kind, kind=Path), lambda value: isinstance(value, Path)),
    "list": (listed, lambda value: isinstance(value, list)),
}  # fmt: skip


@pytest.mark.parametrize(("require", "is_right"), GUARDS.values(), ids=GUARDS)
@given(value=ANYTHING)
def test_only_what_is_right_passes(
    require: Callable[..., object], is_right: Callable[[object], bool], value: object
) -> None:
    """A text is no list; the error has the name, the value and the way out."""
    if is_right(value):
        require("this", value, give="that")
        return
    with pytest.raises(ValueError, match=re.escape(f"this={value!r:.80}: give that")):
        require("this", value, give="that")


def test_paths_and_lists() -> None:
    """A path is a text or like a path; a list is handed on and not copied, of other sequences it is the items; errors stay short."""
    argument.require_path("this", "a.py")
    argument.require_path("this", Path("a.py"))
    with pytest.raises(ValueError, match=r"^this=b'x{78}: give a path$"):
        argument.require_path("this", b"x" * 999)
    for items in ([1, 2], (1, 2)):
        assert listed("this", items, give="that") is items
    assert listed("this", deque([1, 2]), give="that") == [1, 2]
