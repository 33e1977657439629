"""What is too large gives: head, tail and error lines stay, and a mark says how much went; a unit fits its room and stays one."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from autogen_context.compressor.lines import error_lines
from autogen_context.compressor.shorten import (
    LEAST_ARGUMENTS,
    extract_of,
    fit_pieces,
    mark_of,
    shorten_arguments,
    shorten_text,
)
from autogen_context.messages.blocks import parsed
from autogen_context.messages.message import Message, image_note
from autogen_context.messages.piece import Verbatim, Written
from autogen_context.messages.segment import Unit, segment
from autogen_context.testing.transcripts import transcripts
from autogen_context.text.outcome import is_error_line
from support.counting import COUNTER
from support.reducing import bound
from support.units import read_all

LINES = (
    "all is well here\n",
    "ValueError: bad input\n",
    "检索结果\n",
    "x" * 90,
    "\ud800",
    "  ",
    "👩‍👩‍👧",
    "QUJD" * 30,
    "\n\n",
)
TEXTS = st.lists(st.sampled_from(LINES), max_size=60).map("".join) | st.text(max_size=300)


def quarter(text: str) -> int:
    """Four characters a token, rounded up."""
    return -(-len(text) // 4)


@given(TEXTS, st.integers(-3, 400), st.sampled_from([quarter, bound]))
def test_it_fits_and_head_and_tail_stay(text: str, room: int, count: Callable[[str], int]) -> None:
    """What fits comes back as it is; else it has the room at most, and with room beside the mark both ends of the text."""
    short = shorten_text(text, room_tokens=room, count=count)
    if count(text) <= room:
        assert short is text
        return
    assert count(short) <= max(0, room)
    assert count(short) < count(text) or not text
    if count is quarter and room >= 20:
        head, found, tail = short.partition(mark_of(quarter(text)))
        assert found
        assert text.startswith(head.removesuffix("\n"))
        assert text.endswith(tail.rpartition("\n[…]\n")[2].removeprefix("\n"))
        assert quarter(short) >= room // 3


ERRORS = (
    *("an Error: x", "Traceback (most recent", "3 failures", "PANIC", "KeyError", "10 errors"),
    *("java.io.IOException: gone", "Connection refused", "No such file", "Unable to open it"),
    *("the build fails", "İ it failed", "1 passed, 10 failed"),
)
NO_ERRORS = ("0 failed", "no errors", "errors: 0", "terrors", "failsafe")


@pytest.mark.parametrize(
    ("line", "tells"), [*((line, True) for line in ERRORS), *((line, False) for line in NO_ERRORS)]
)
def test_what_an_error_line_is(line: str, tells: bool) -> None:  # noqa: FBT001 - a row
    """It has a word that loggers, compilers and test runners use for what went wrong; a count of none is none."""
    assert is_error_line(line) is tells
    assert error_lines([line]) == [0] * tells
    text = "plain words\n" * 90 + line + "\n" + "plain words\n" * 90
    assert (line in extract_of(text, "[mark]", 600)) is tells


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@given(JSON_VALUES, st.integers(1, 200))
@example(dict.fromkeys("abc", "y" * 900), 7)  # the keys alone would fit
def test_arguments_stay_json(value: object, room: int) -> None:
    """F13: valid JSON stays valid and within the room, and says that it was shortened; what is none is wrapped."""
    arguments = json.dumps(value, ensure_ascii=False)
    for given_arguments in (arguments, f"<{arguments}"):
        short = shorten_arguments(given_arguments, room_tokens=room, count=quarter)
        assert quarter(short) <= max(room, quarter(LEAST_ARGUMENTS))
        assert short is given_arguments if quarter(given_arguments) <= room else "…" in short
        assert short is given_arguments or json.loads(short)


def test_keys_and_short_values_stay() -> None:
    """The long string gives, the rest of the object is as it was."""
    arguments = json.dumps({"path": "a.py", "line": 7, "text": ["y" * 900, "z"], "n": None})
    short = json.loads(shorten_arguments(arguments, room_tokens=120, count=quarter))
    assert (short["path"], short["line"], short["n"], short["text"][1]) == ("a.py", 7, None, "z")
    assert mark_of(225) in short["text"][0]


@pytest.mark.parametrize("depth", [100, 480, 100_000])
def test_nesting_is_no_trap(depth: int) -> None:
    """Arguments nested deeper than Python recurses are shortened as text."""
    arguments = "[" * depth + json.dumps("y" * 9_000) + "]" * depth
    short = shorten_arguments(arguments, room_tokens=300, count=quarter)
    assert quarter(short) <= 300
    json.loads(short)


# Units

UNITS = transcripts().map(read_all).map(segment).filter(bool).flatmap(st.sampled_from)


def cost(messages: tuple[Message, ...]) -> int:
    """What messages cost together."""
    return sum(map(COUNTER.message, messages))


def fit(
    messages: tuple[Message, ...], room: int, *, keep_calls: bool = False
) -> tuple[Message, ...] | None:
    """The messages within a room; what was not shortened keeps its piece, and the tokens are theirs."""
    pieces = [Verbatim(start=i, stop=i + 1) for i in range(len(messages))]
    fitted = fit_pieces(pieces, messages, room_tokens=room, counter=COUNTER, keep_calls=keep_calls)
    if fitted is None:
        return None
    short: list[Message] = []
    for i, (piece, before) in enumerate(zip(fitted[0], messages, strict=True)):
        if isinstance(piece, Written):
            assert (piece.index, piece.message == before) == (i, False)
            short.append(piece.message)
        else:
            assert piece == pieces[i]
            short.append(before)
    assert fitted[1] == cost(tuple(short))
    return tuple(short)


def bones(message: Message) -> object:
    """What may never change in a message."""
    calls = [(call.id, call.name) for call in message.calls]
    results = [(result.call_id, result.name) for result in message.results]
    return message.role, message.name, message.extra, calls, results


def least_of(message: Message) -> Message:
    """A mark in place of each text, argument and image that costs more than one."""
    note = f"\n{image_note(len(message.images))}" if message.images else ""
    arguments = [min(call.arguments, LEAST_ARGUMENTS, key=COUNTER.text) for call in message.calls]
    results = [replace(result, text=result.text and "…") for result in message.results]
    if results and note:
        results[-1] = replace(results[-1], text=f"{results[-1].text}{note}")
    return replace(
        message,
        text=f"{message.text and '…'}{'' if results else note}",
        images=(),
        calls=tuple(replace(c, arguments=a) for c, a in zip(message.calls, arguments, strict=True)),
        results=tuple(results),
    )


def says_the_same(text: str, left: str) -> bool:
    """Whether both are JSON of one value: a character may be written out in place of its escape, which is shorter."""
    value = parsed(text)
    return value is not None and value == parsed(left)


def texts_in(message: Message) -> list[str]:
    """What may be shortened of it."""
    results = [result.text for result in message.results]
    return [message.text, *results, *(call.arguments for call in message.calls)]


@given(unit=UNITS, room=st.integers(0, 500), keep_calls=st.booleans())
def test_it_fits_and_what_goes_is_marked(unit: Unit, room: int, *, keep_calls: bool) -> None:
    """F12, F13: within the room, the same calls and results; each text, argument and image is whole or marked, or nothing fits."""
    short = fit(unit.messages, room, keep_calls=keep_calls)
    if short is None:
        assert room < cost(unit.messages)
        assert keep_calls or cost(tuple(map(least_of, unit.messages))) > room
        return
    assert cost(short) <= room
    assert list(map(bones, short)) == list(map(bones, unit.messages))
    if keep_calls:
        assert [m for m in short if m.calls] == [m for m in unit.messages if m.calls]
    for before, after in zip(unit.messages, short, strict=True):
        for text, left in zip(texts_in(before), texts_in(after), strict=True):
            assert left == text or "…" in left or "left out]" in left or says_the_same(text, left)
        assert after.images == before.images or image_note(len(before.images)) in "".join(
            texts_in(after)
        )
        for call, kept in zip(before.calls, after.calls, strict=True):
            assert kept == call or json.loads(kept.arguments)
    if cost(unit.messages) <= room:
        assert all(after is before for after, before in zip(short, unit.messages, strict=True))


def test_the_longest_give_first() -> None:
    """Short texts stay whole, and the long ones share what is left of the room, of which most is used."""
    texts = ["short", "the longer one. " * 90, "the longest one of all. " * 300]
    messages = tuple(Message(role="user", text=text) for text in texts)
    short = fit(messages, 700)
    assert short is not None
    assert short[0] is messages[0]
    one, other = (COUNTER.text(message.text) for message in short[1:])
    assert abs(one - other) <= 0.15 * other
    assert cost(short) >= 500
