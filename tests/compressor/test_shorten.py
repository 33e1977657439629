"""What is too large gives: head, tail and error lines stay, and a mark says how much went."""

import json
from math import ceil

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from autogen_context.compressor.shorten import (
    LEAST_ARGUMENTS,
    LONGEST_LINE,
    extract_of,
    head_of,
    mark_of,
    shorten_arguments,
    shorten_text,
    tail_of,
)
from autogen_context.messages.message import Image, Message, without_images
from autogen_context.tokens.measure import EstimateCounter

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
ROOMS = st.integers(-3, 200)


def quarter(text: str) -> int:
    """Four characters a token, rounded up."""
    return -(-len(text) // 4)


def estimate(text: str) -> int:
    """The bound that counts where no tokenizer is."""
    return EstimateCounter().count(text).tokens


COUNTS = st.sampled_from([quarter, estimate])


@given(TEXTS, ROOMS, st.data())
def test_it_fits(text: str, room: int, data: st.DataObject) -> None:
    """What fits comes back as it is; what does not has at most the room, nothing if there is none."""
    count = data.draw(COUNTS)
    short = shorten_text(text, room_tokens=room, count=count)
    if count(text) <= room:
        assert short is text
    else:
        assert count(short) <= max(0, room)
        assert count(short) < count(text) or not text
        assert short == shorten_text(text, room_tokens=room, count=count)


@given(TEXTS, st.integers(20, 400))
def test_head_and_tail_stay(text: str, room: int) -> None:
    """With room beside the mark, it begins and ends as the text does, and the mark has the size that was."""
    short = shorten_text(text, room_tokens=room, count=quarter)
    if short != text:
        head, found, tail = short.partition(mark_of(quarter(text)))
        assert found
        assert text.startswith(head.removesuffix("\n"))
        assert text.endswith(tail.rpartition("\n[…]\n")[2].removeprefix("\n"))
        assert quarter(short) >= room // 3


def test_uneven_texts_fill_their_room() -> None:
    """Where head and tail cost more than the middle, what is left is still about what has room."""

    def count(text: str) -> int:
        return ceil(sum(1 if character > "~" else 0.25 for character in text))

    text = "検" * 500 + "a" * 20_000 + "検" * 500
    assert 450 <= count(shorten_text(text, room_tokens=600, count=count)) <= 600


def test_errors_of_the_middle_stay() -> None:
    """Lines that tell of an error are kept though they are far from both ends."""
    text = "fine, all of it\n" * 400 + "  ZeroDivisionError: by zero\n" + "fine, all of it\n" * 400
    short = shorten_text(text, room_tokens=200, count=quarter)
    assert "\nZeroDivisionError: by zero\n[…]\n" in short


@pytest.mark.parametrize(
    "line",
    ["an Error: x", "Traceback (most recent", "test_a FAILED", "3 failures", "PANIC", "KeyError"],
)
def test_what_an_error_line_is(line: str) -> None:
    """It has a word that loggers, compilers and test runners use for what went wrong."""
    text = "plain words\n" * 90 + line + "\n" + "plain words\n" * 90
    extract = extract_of(text, mark="[mark]", chars=600)
    assert line in extract


def test_words_that_only_sound_like_errors_stay_behind() -> None:
    """A part of a word is no error."""
    text = "plain words\n" * 90 + "terror and failsafe\n" + "plain words\n" * 90
    assert "terror" not in extract_of(text, mark="[mark]", chars=600)


def test_a_long_error_line_is_cut() -> None:
    """One line that goes on and on leaves room for the next."""
    text = "x\n" * 2_000 + "error " + "y" * 1_000 + "\nfatal\n" + "x\n" * 2_000
    extract = extract_of(text, mark="[mark]", chars=3_000)
    assert "\nerror " + "y" * (LONGEST_LINE - 6) + "\nfatal\n[…]\n" in extract


def test_errors_have_a_share_and_no_more() -> None:
    """Where all lines are errors, the first ones of the middle get a quarter, head and tail the rest."""
    text = "".join(f"error {i:04d} {'x' * 20}\n" for i in range(400))
    head, middle = extract_of(text, mark="[mark]", chars=1_000).split("[mark]\n")
    errors, tail = middle.split("\n[…]\n")
    assert 200 <= len(errors) <= 250
    assert errors.startswith("error 00")
    assert 600 <= len(head) + len(tail) <= 1_000 - len(errors)
    assert tail.endswith(text[-100:])


@pytest.mark.parametrize(
    ("text", "chars", "head", "tail"),
    [
        pytest.param("a" * 50, 10, "a" * 10, "a" * 10, id="no line ends"),
        pytest.param("12345678\n" * 9, 11, "12345678", "12345678\n", id="a line ends near"),
        pytest.param("1\n" + "a" * 50 + "\n1", 10, "1\naaaaaaaa", "aaaaaaaa\n1", id="far off"),
        pytest.param("abc", 0, "", "", id="no room"),
    ],
)
def test_cuts_at_lines(text: str, chars: int, head: str, tail: str) -> None:
    """A line's end is taken where it costs at most a fifth."""
    assert (head_of(text, chars), tail_of(text, chars)) == (head, tail)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@given(JSON_VALUES, st.integers(1, 200))
@example(dict.fromkeys("abc", "y" * 900), 7)  # the keys alone would fit
def test_arguments_stay_json(value: object, room: int) -> None:
    """F13: valid JSON stays valid and within the room, and says that it was shortened; a mark alone is the least there is."""
    arguments = json.dumps(value, ensure_ascii=False)
    short = shorten_arguments(arguments, room_tokens=room, count=quarter)
    json.loads(short)
    assert quarter(short) <= max(room, quarter(LEAST_ARGUMENTS))
    assert short is arguments if quarter(arguments) <= room else "…" in short


@given(TEXTS, st.integers(1, 200))
@example('{"cut": "of', 1)
def test_what_is_no_json_becomes_json(arguments: str, room: int) -> None:
    """Arguments that no parser takes are wrapped once they are shortened."""
    short = shorten_arguments("<" + arguments, room_tokens=room, count=quarter)
    if short != "<" + arguments:
        assert set(json.loads(short)) <= {"shortened"}
        assert quarter(short) <= max(room, quarter(LEAST_ARGUMENTS))


def test_keys_and_short_values_stay() -> None:
    """The long string gives, the rest of the object is as it was."""
    arguments = json.dumps({"path": "a.py", "line": 7, "text": ["y" * 900, "z"], "n": None})
    short = json.loads(shorten_arguments(arguments, room_tokens=120, count=quarter))
    assert (short["path"], short["line"], short["n"], short["text"][1]) == ("a.py", 7, None, "z")
    assert mark_of(225) in short["text"][0]


@pytest.mark.parametrize("depth", [100, 300, 480, 2_000, 100_000])
def test_nesting_is_no_trap(depth: int) -> None:
    """Arguments nested deeper than Python recurses are shortened as text."""
    arguments = "[" * depth + json.dumps("y" * 9_000) + "]" * depth
    short = shorten_arguments(arguments, room_tokens=300, count=quarter)
    assert quarter(short) <= 300
    json.loads(short)


def test_images_leave_a_note() -> None:
    """How many they were; a message without images is the same object."""
    message = Message(role="user", text="see", images=(Image(), Image()))
    assert without_images(message) == Message(role="user", text="see\n[2 images left out]")
    assert without_images(Message(role="user", text="")).text == ""
    plain = Message(role="user", text="see")
    assert without_images(plain) is plain
