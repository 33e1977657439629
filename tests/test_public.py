"""The names at the top level: few, and each is there."""

import pytest

import autogen_context

MOST_NAMES = 40


def test_there_are_few_names() -> None:
    """What a user begins with; the rest is found in its room."""
    assert len(autogen_context.__all__) <= MOST_NAMES
    assert sorted(autogen_context.__all__) == autogen_context.__all__


@pytest.mark.parametrize("name", autogen_context.__all__)
def test_each_name_is_there(name: str) -> None:
    """And is what its module has under it."""
    found: object = getattr(autogen_context, name)
    assert getattr(found, "__name__", name) == name
    assert name in dir(autogen_context)
