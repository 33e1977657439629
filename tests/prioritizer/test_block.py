"""Texts in blocks: nothing is lost, nothing is large, and what belongs together stays together."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.messages.identifiers import is_telling, shape_of, values_of
from autogen_context.prioritizer.blocks.block import (
    BLOCK_CHARS,
    BLOCK_LINES,
    LONGEST_LINE,
    MANY,
    PART_CHARS,
    WHOLE_LINE,
    alike_in,
    blocks_of,
)
from support.texts import HOSTILE, TEXTS

IDS = re.compile(r"[A-B]{1,2}[0-9]{2,3}|[a-b]_[0-9]", re.ASCII)


@given(TEXTS)
def test_joined_they_are_the_text(text: str) -> None:
    """Every character is in one block, in its place; no block is empty."""
    blocks = blocks_of(text)
    assert "".join(block.text for block in blocks) == text
    assert all(block.text for block in blocks)


@given(TEXTS)
def test_they_are_small(text: str) -> None:
    """None has more characters or lines than a block may have."""
    for block in blocks_of(text):
        assert len(block.text) <= BLOCK_CHARS
        assert block.text.count("\n") <= BLOCK_LINES


@given(TEXTS)
def test_a_block_knows_what_it_says(text: str) -> None:
    """Its values are those of its text, its lines are lines of it, without the space around them."""
    for block in blocks_of(text):
        assert block.values == values_of(block.text)
        for line in block.lines:
            assert line in block.text
            assert len(line) >= WHOLE_LINE
            assert line == line.strip()


@given(TEXTS | st.lists(st.from_regex(IDS, fullmatch=True)).map("\n".join))
def test_what_looks_like_many_is_counted(text: str) -> None:
    """Each telling value of many of one shape, wherever in the text they stand, with how many there are; no other."""
    blocks = blocks_of(text)
    telling = {value for block in blocks for value in block.values if is_telling(value)}
    same = {v: sum(shape_of(v) == shape_of(other) for other in telling) for v in telling}
    assert alike_in(blocks) == {value: n for value, n in same.items() if n >= MANY}


def test_words_look_like_nothing() -> None:
    """However many there are."""
    assert alike_in(blocks_of("one two three four five six seven")) == {}


@given(TEXTS)
def test_a_line_that_is_not_long_stays_whole(text: str) -> None:
    """A block ends where a line does, or within one that is too long."""
    ends, at = set[int](), 0
    for line in text.splitlines(keepends=True):
        if len(line) > LONGEST_LINE:
            ends.update(range(at, at + len(line)))
        at += len(line)
        ends.add(at)
    at = 0
    for block in blocks_of(text):
        at += len(block.text)
        assert at in ends


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:12]))
def test_hostile_texts_have_few_blocks(text: str) -> None:
    """Blocks are no smaller than they must be: half a block of characters in the mean, or many lines."""
    blocks = blocks_of(text)
    lines = len(text.splitlines())
    assert len(blocks) <= len(text) / PART_CHARS[0] + lines / BLOCK_LINES + 1
    assert "".join(block.text for block in blocks) == text


def test_an_empty_text_has_none() -> None:
    """There is nothing to keep."""
    assert blocks_of("") == ()


BODY = "    total = total + line.price * line.count\n"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param("def one():\n" + BODY * 2, "def two():\n" + BODY, id="functions"),
        pytest.param("  1\tdef one():\n" + BODY * 2, "  4\tasync def two():\n", id="numbered"),
        pytest.param("# One\n" + BODY * 2, "## Two\n" + BODY, id="headings"),
        pytest.param("- " + BODY * 2, "- another item\n", id="items"),
        pytest.param("@@ -1 +1 @@\n" + BODY * 2, "@@ -9 +9 @@\n" + BODY, id="hunks"),
        pytest.param("running\n" + BODY * 2, "Traceback (most recent call last)\n", id="trace"),
        pytest.param(BODY * 3, "\nafter an empty line\n", id="paragraphs"),
        pytest.param(BODY * 3, " 17\t\nafter an empty line of a listing\n", id="listing"),
    ],
)
def test_a_block_ends_before_what_opens_something(first: str, second: str) -> None:
    """A function, a heading, an item, a hunk, an error; and at an empty line."""
    assert [block.text for block in blocks_of(first + second)] == [first, second]


def test_what_is_short_stays_with_what_follows() -> None:
    """A few words are no block of their own, whatever opens behind them."""
    text = "# Title\n\ndef one():\n    return 1\n"
    assert [block.text for block in blocks_of(text)] == [text]


@pytest.mark.parametrize(
    ("item", "end"),
    [
        pytest.param('{"flight": "HAT170", "seats": [1, 2]}, ', "}, ", id="objects"),
        pytest.param("It was charged twice, which nobody saw. ", ". ", id="sentences"),
        pytest.param("some words without an end ", " ", id="words"),
    ],
)
def test_a_long_line_is_cut_where_something_ends(item: str, end: str) -> None:
    """After an object rather than a sentence, after a sentence rather than a word."""
    blocks = blocks_of(item * 60)
    assert len(blocks) > 3
    for block in blocks[:-1]:
        assert block.text.endswith(end)


def test_data_without_any_end_is_cut_by_length() -> None:
    """Base64 has no words."""
    blocks = blocks_of("QUJD" * 1_000)
    assert {len(block.text) % PART_CHARS[1] for block in blocks[:-1]} == {0}
