"""What a text names."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.messages.identifiers import LEAST, MOST, is_distinctive, shape_of, values_of
from support.texts import HOSTILE, TEXTS

NAMES = st.from_regex(re.compile(r"[a-z_]{3,12}", re.ASCII), fullmatch=True)


@given(TEXTS, TEXTS)
def test_lines_are_read_apart(one: str, other: str) -> None:
    """Two texts name together what each names, wherever they stand: parts of them, none too short or too long."""
    assert values_of(f"{one}\n{other}") == values_of(one) | values_of(other)
    assert values_of(f"{other}\n{one}") == values_of(f"{one}\n{other}")
    assert all(value in one and LEAST <= len(value) <= MOST for value in values_of(one))


@given(st.lists(NAMES, min_size=2, max_size=4), st.sampled_from("./@-"))
def test_a_compound_names_its_parts(names: list[str], connector: str) -> None:
    """A path names its folders, a dotted name its attributes, an address its host."""
    compound = connector.join(names)
    assert {compound, *names} <= values_of(f"see ({compound}), please")


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("total_cents += 4711", {"total_cents", "4711"}),
        ("src/app.py:12", {"src/app.py", "src", "app"}),
        ("am 2026-11-21", {"2026-11-21", "2026"}),
        ("größe = größer", {"größe", "größer"}),
        ("it is here.", {"here"}),
        ("a == b", set[str]()),
        ("x" * (MOST + 1), set[str]()),
        ("", set[str]()),
    ],
)
def test_what_values_are(text: str, values: set[str]) -> None:
    """Identifiers, numbers, paths, dates and words, neither too short nor data."""
    assert values_of(text) == values


def test_what_looks_alike() -> None:
    """The same kinds of characters in the same order, however many: ids of one kind, dates."""
    assert shape_of("HAT170") == shape_of("HAT021") == shape_of("LH4") != shape_of("Hat170")
    assert shape_of("2026-11-21") == shape_of("1999-1-2")
    assert shape_of("a/b.py") != shape_of("a.b.py")
    assert shape_of("4711") != shape_of("47x1")


@given(TEXTS)
def test_only_what_is_distinctive_has_a_shape(text: str) -> None:
    """It names one thing by a digit, a connector or a capital within; a plain word looks like nothing."""
    names = ["total_cents", "getName", "HAT170", "4711", "a.b", "well-known", "ada@example"]
    assert all(map(is_distinctive, names))
    assert not any(map(is_distinctive, ["total", "Total", "ERROR", "größe"]))
    assert all(bool(shape_of(value)) == is_distinctive(value) for value in values_of(text))


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:12]))
def test_the_same_again_names_nothing_new(text: str) -> None:
    """A large text of one line has the values of a few of them, and no more."""
    assert len(values_of(text)) <= 12
