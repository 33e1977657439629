"""Texts in blocks, and units without some of them: nothing is lost, nothing is large, and what is left out is marked."""

import json
import re
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.messages.identifiers import is_telling, shape_of, values_of
from autogen_context.messages.message import Message, ToolCall, ToolResult
from autogen_context.prioritizer.blocks import (
    BLOCK_CHARS,
    BLOCK_LINES,
    MANY,
    MOST_LEVELS,
    PART_CHARS,
    WHOLE_LINE,
    Kept,
    UnitPassage,
    alike_in,
    blocks_of,
    extracted,
    marked,
    parsed,
    passages_of,
    with_strings,
)
from autogen_context.testing.transcripts import broken_transcripts, transcripts
from support.texts import HOSTILE, TEXTS
from support.units import read_all

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
    telling = {value for block in blocks for value in block.values if is_telling(value)}
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


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
ARGUMENTS = st.one_of(
    JSON.map(json.dumps),
    JSON.map(lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":"))),
    JSON.map(lambda value: json.dumps(value, indent=2)),
    st.sampled_from(["", "{}", "{", "NaN", "[1e999]", '{"a": 1, "a": 2}']),
    TEXTS,
)
CALLS = st.builds(ToolCall, id=st.text(max_size=3), name=st.text(max_size=3), arguments=ARGUMENTS)
RESULTS = st.builds(ToolResult, call_id=st.text(max_size=3), text=TEXTS, name=st.text(max_size=3))
MESSAGES = st.builds(
    Message,
    role=st.sampled_from(["user", "assistant", "tool", "system"]),
    text=TEXTS,
    calls=st.lists(CALLS, max_size=2).map(tuple),
    results=st.lists(RESULTS, max_size=2).map(tuple),
)
UNITS = st.one_of(
    st.lists(MESSAGES, max_size=2),
    transcripts().map(read_all),
    broken_transcripts().map(read_all),
)
MARK = re.compile(r"\[… (\d+) lines …\]\n?|\[…\]\n?")


def some_of(passages: Sequence[UnitPassage], data: st.DataObject) -> Kept:
    """A choice of blocks."""
    return {
        i: data.draw(st.sets(st.integers(0, len(passage.blocks) - 1)))
        for i, passage in enumerate(passages)
    }


def texts_of(messages: Sequence[Message]) -> list[str]:
    """All that may be cut: texts, results, arguments."""
    return [
        text
        for m in messages
        for text in (m.text, *(r.text for r in m.results), *(c.arguments for c in m.calls))
    ]


def without_texts(messages: Sequence[Message]) -> list[object]:
    """What is never cut."""
    return [
        (
            m.role,
            m.name,
            m.extra,
            m.images,
            m.own,
            [(c.id, c.name, skeleton(c.arguments)) for c in m.calls],
            [(r.call_id, r.name) for r in m.results],
        )
        for m in messages
    ]


def skeleton(arguments: str) -> object:
    """Arguments without their strings."""
    try:
        value = json.loads(arguments)
    except ValueError:
        return arguments
    return repr(with_strings(value, lambda _: ""))


@given(UNITS, st.data())
def test_only_texts_give(messages: list[Message], data: st.DataObject) -> None:
    """Roles, names, ids, pairs, images and the form of arguments stay; no text is longer; with all blocks nothing changes."""
    passages = passages_of(messages)
    kept: Kept = {i: range(len(passage.blocks)) for i, passage in enumerate(passages)}
    assert list(map(id, extracted(messages, passages, kept))) == list(map(id, messages))
    kept = some_of(passages, data)
    short = extracted(messages, passages, kept)
    for i, passage in enumerate(passages):
        if passage.place == "text":
            flagged = [(n in kept[i], block.text) for n, block in enumerate(passage.blocks)]
            runs = groupby(flagged, itemgetter(0))
            parts = [(stays, "".join(text for _, text in run)) for stays, run in runs]
            expected = "".join(text if stays else marked(text) for stays, text in parts)
            assert short[passage.message].text == expected
    assert without_texts(short) == without_texts(messages)
    for before, after in zip(texts_of(messages), texts_of(short), strict=True):
        assert len(after) <= len(before)
    for message, now in zip(messages, short, strict=True):
        assert now is message or now != message
        for call, cut in zip(message.calls, now.calls, strict=True):
            if is_strict_json(call.arguments):
                assert is_strict_json(cut.arguments)


def is_strict_json(text: str) -> bool:
    """Whether any JSON parser takes it."""
    try:
        json.dumps(json.loads(text), allow_nan=False)
    except ValueError:
        return False
    return True


@given(TEXTS)
def test_a_mark_is_shorter_than_what_it_stands_for(gap: str) -> None:
    """Otherwise that itself stays; a mark tells the lines and ends as the gap did."""
    mark = marked(gap)
    assert mark == gap or (len(mark) < len(gap) and MARK.fullmatch(mark))
    assert mark.endswith("\n") == gap.endswith("\n")
    found = MARK.fullmatch(mark)
    if mark != gap and found and found[1]:
        assert int(found[1]) == gap.count("\n")


@pytest.mark.parametrize("levels", [MOST_LEVELS, MOST_LEVELS + 1, 500, 100_000])
def test_deep_arguments_do_no_harm(levels: int) -> None:
    """What is nested too deep is not taken apart; it neither fails nor changes."""
    deep = "[" * levels + json.dumps("some words. " * 40) + "]" * levels
    message = Message(role="assistant", calls=(ToolCall(id="1", name="f", arguments=deep),))
    passages = passages_of([message])
    assert len(passages) == (levels <= MOST_LEVELS)
    assert (extracted([message], passages, {}) == (message,)) == (not passages)


def test_half_a_character_stays_an_escape() -> None:
    """A model that was cut off within an emoji wrote half of it; written out, nothing could send it."""
    arguments = json.dumps({"text": "words " * 60, "end": "\ud83d"})
    message = Message(role="assistant", calls=(ToolCall(id="1", name="f", arguments=arguments),))
    [short] = extracted([message], passages_of([message]), {})
    assert short.calls[0].arguments == '{"text": "[…]", "end": "\\ud83d"}'


def test_each_string_of_a_call_is_cut_for_itself() -> None:
    """Keys, short strings and numbers say what the call does and stay."""
    old, new = "the old words. " * 20, "the new words. " * 20
    edit = {"path": "src/app.py", "old": old, "new": [new, 4711], "words. " * 30: None}
    for number in ("1e999", "NaN"):  # that JSON could not write again
        bad = f'{{"text": "{old}", "number": {number}}}'
        call = ToolCall(id="1", name="edit", arguments=bad)
        assert passages_of([Message(role="assistant", calls=(call,))]) == ()
    call = ToolCall(id="1", name="edit", arguments=json.dumps(edit))
    message = Message(role="assistant", calls=(call,))
    passages = passages_of([message])
    assert [passage.leaf for passage in passages] == [1, 2]
    [short] = extracted([message], passages, {1: range(len(passages[1].blocks))})
    assert parsed(short.calls[0].arguments) == edit | {"old": "[…]"}
