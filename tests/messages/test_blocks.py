"""Texts in blocks: nothing is lost, and nothing is large."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.messages.blocks import (
    BLOCK_CHARS,
    BLOCK_LINES,
    MANY,
    PART_CHARS,
    WHOLE_LINE,
    alike_in,
    blocks_of,
)
from autogen_context.messages.identifiers import is_distinctive, shape_of, values_of
from support.texts import HOSTILE, TEXTS

IDS = re.compile(r"[A-B]{1,2}[0-9]{2,3}|[a-b]_[0-9]", re.ASCII)


@given(TEXTS | st.sampled_from(HOSTILE))
def test_joined_they_are_the_text(text: str) -> None:
    """Every character is in one block, in its place; none is empty or too large; each knows its values and whole lines."""
    blocks = blocks_of(text)
    assert "".join(block.text for block in blocks) == text
    lines = len(text.splitlines())
    assert len(blocks) <= len(text) / PART_CHARS[0] + lines / BLOCK_LINES + 1
    for block in blocks:
        assert 0 < len(block.text) <= BLOCK_CHARS
        assert block.text.count("\n") <= BLOCK_LINES
        assert block.values == values_of(block.text)
        for line in block.lines:
            assert line in block.text
            assert len(line) >= WHOLE_LINE
            assert line == line.strip()


@given(TEXTS | st.lists(st.from_regex(IDS, fullmatch=True)).map("\n".join))
def test_what_looks_like_many_is_counted(text: str) -> None:
    """Each telling value of many of one shape, wherever in the text they stand, with how many there are; no other."""
    blocks = blocks_of(text)
    telling = {value for block in blocks for value in block.values if is_distinctive(value)}
    same = {v: sum(shape_of(v) == shape_of(other) for other in telling) for v in telling}
    assert alike_in(blocks) == {value: n for value, n in same.items() if n >= MANY}


BODY = "    total = total + line.price * line.count\n"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param("def one():\n" + BODY * 2, "def two():\n" + BODY, id="functions"),
        pytest.param("  1\tdef one():\n" + BODY * 2, "  4\tasync def two():\n", id="numbered"),
        pytest.param("running\n" + BODY * 2, "Traceback (most recent call last)\n", id="trace"),
        pytest.param(BODY * 3, "\nafter an empty line\n", id="paragraphs"),
        pytest.param(BODY * 3, " 17\t\nafter an empty line of a listing\n", id="listing"),
    ],
)
def test_a_block_ends_before_what_opens_something(first: str, second: str) -> None:
    """A function, a heading, an item, a hunk, an error; and at an empty line."""
    assert [block.text for block in blocks_of(first + second)] == [first, second]
