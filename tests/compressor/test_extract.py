"""Units without some of their blocks: names, ids and pairs stay, and what is left out is marked."""

import json
import re
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.compressor.compressor import SemanticCompressor
from autogen_context.compressor.extract import Kept, extracted
from autogen_context.messages.blocks import (
    MOST_LEVELS,
    PlacedText,
    parsed,
    texts_of,
    with_strings,
)
from autogen_context.messages.message import Message, ToolCall, ToolResult
from autogen_context.testing.transcripts import broken_transcripts, transcripts
from autogen_context.text.fit import marked
from support.counting import COUNTER
from support.texts import TEXTS
from support.units import read_all

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
    st.lists(MESSAGES, max_size=2), transcripts().map(read_all), broken_transcripts().map(read_all)
)
MARK = re.compile(r"\[… (\d+) lines …\]\n?|\[…\]\n?")


def sent_of(
    messages: Sequence[Message], texts: Sequence[PlacedText], kept: Kept
) -> tuple[Message, ...]:
    """What our own compressor leaves of a unit."""
    return extracted(messages, texts, kept, counter=COUNTER, compressor=SemanticCompressor())


def some_of(texts: Sequence[PlacedText], data: st.DataObject) -> Kept:
    """A choice of blocks."""
    return {
        i: data.draw(st.sets(st.integers(0, len(text.blocks) - 1))) for i, text in enumerate(texts)
    }


def strings_of(messages: Sequence[Message]) -> list[str]:
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
    texts = texts_of(messages)
    kept: Kept = {i: range(len(text.blocks)) for i, text in enumerate(texts)}
    assert list(map(id, sent_of(messages, texts, kept))) == list(map(id, messages))
    kept = some_of(texts, data)
    short = sent_of(messages, texts, kept)
    for i, text in enumerate(texts):
        if text.place == "text":
            flagged = [(n in kept[i], block.text) for n, block in enumerate(text.blocks)]
            runs = groupby(flagged, itemgetter(0))
            parts = [(stays, "".join(part for _, part in run)) for stays, run in runs]
            marks = [marked(part, is_last=part is parts[-1][1]) for _, part in parts]
            expected = "".join(
                part if stays else mark for (stays, part), mark in zip(parts, marks, strict=True)
            )
            assert short[text.message].text == expected
    assert without_texts(short) == without_texts(messages)
    for before, after in zip(strings_of(messages), strings_of(short), strict=True):
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
    texts = texts_of([message])
    assert len(texts) == (levels <= MOST_LEVELS)
    assert (sent_of([message], texts, {}) == (message,)) == (not texts)


def test_half_a_character_stays_an_escape() -> None:
    """A model that was cut off within an emoji wrote half of it; written out, nothing could send it."""
    arguments = json.dumps({"text": "words " * 60, "end": "\ud83d"})
    message = Message(role="assistant", calls=(ToolCall(id="1", name="f", arguments=arguments),))
    [short] = sent_of([message], texts_of([message]), {})
    assert short.calls[0].arguments == '{"text": "[…]", "end": "\\ud83d"}'


def test_each_string_of_a_call_is_cut_for_itself() -> None:
    """Keys, short strings and numbers say what the call does and stay."""
    old, new = "the old words. " * 20, "the new words. " * 20
    edit = {"path": "src/app.py", "old": old, "new": [new, 4711], "words. " * 30: None}
    for number in ("1e999", "NaN"):  # that JSON could not write again
        bad = f'{{"text": "{old}", "number": {number}}}'
        call = ToolCall(id="1", name="edit", arguments=bad)
        assert texts_of([Message(role="assistant", calls=(call,))]) == ()
    call = ToolCall(id="1", name="edit", arguments=json.dumps(edit))
    message = Message(role="assistant", calls=(call,))
    texts = texts_of([message])
    assert [text.leaf for text in texts] == [1, 2]
    [short] = sent_of([message], texts, {1: range(len(texts[1].blocks))})
    assert parsed(short.calls[0].arguments) == edit | {"old": "[…]"}
