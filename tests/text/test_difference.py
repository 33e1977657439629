"""What is different between two versions of a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.text.difference import common_start, excerpt, loosest, nature_of

ROWS = {
    "a time": ("Now: 2026-11-29 10:31. Go.", "Now: 2026-11-29 10:32. Go.", "clock"),
    "a time of ISO 8601": ("at 2026-11-29T10:31:00Z", "at 2026-11-29T10:31:05.123Z", "clock"),
    "a date in words": ("Today is Monday, 29 November 2026", "Today is Tuesday, 1 December 2026", "clock"),
    "a short date": ("11/29/2026, 3pm", "12/1/2026, 11 am", "clock"),
    "a German date": ("Es ist 29.11.2026 10:31 Uhr", "Es ist 30.11.2026 08:00 Uhr", "clock"),
    "seconds": ("t=1764412345", "t=1764412399", "clock"),
    "a UUID": (
        "4b2f0c1e-8a6d-4f7e-9b3a-2d1c0e9f8a7b",
        "9b2f0c1e-8a6d-4f7e-9b3a-2d1c0e9f8a7c",
        "identifier",
    ),
    "a name with digits": ("trace req_7fA3kd9", "trace req_9fB3kd1", "identifier"),
    "a counter": ("step 3 of 10", "step 4 of 10", "counter"),
    "spaces": ("a\n b", "a b", "layout"),
    "keys": ('{"a": 1, "b": [2]}', '{"b":[2],"a":1}', "layout"),
    "keys in a text in JSON": (r'{"x": "{\"a\": 1, \"b\": 2}"}', r'{"x": "{\"b\":2,\"a\":1}"}', "layout"),
    "ids of calls": ('{"id": "call_1", "n": 1}', '{"id": "call_2", "n": 1}', "call ids"),
    "words": ("Be kind.", "Be brief.", "content"),
    "words and a time": ("Be kind. 10:31", "Be brief. 10:32", "content"),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "nature"), ROWS.values(), ids=ROWS)
def test_differences_have_a_nature(old: str, new: str, nature: str) -> None:
    """Either way round."""
    assert nature_of(old, new) == nature_of(new, old) == nature
    assert (loosest(old) == loosest(new)) == (nature != "content")


@pytest.mark.parametrize(
    ("old", "new", "line", "shown"),
    [
        ("A\nIt is 2026-11-29 10:31 now", "A\nIt is 2026-11-29 10:32 now", 2, ("2026-11-29 10:31", "2026-11-29 10:32")),
        ("one two three", "one zwei three", 1, ("two", "zwei")),
        ("one", "one more", 1, ("one", "one more")),
    ],
)  # fmt: skip
def test_an_excerpt_has_whole_words_and_dates(
    old: str, new: str, line: int, shown: tuple[str, str]
) -> None:
    """And the line on which they stand."""
    found = excerpt(old, new)
    assert found.line == line
    assert (found.old.strip(), found.new.strip()) == shown


@given(st.text("ab \n1:", max_size=30), st.text("ab \n1:", max_size=30), st.text("ab1", max_size=9))
def test_what_is_the_same_is_found(one: str, other: str, start: str) -> None:
    """The common start is the longest, and an excerpt of texts that differ shows something."""
    length = common_start(start + one, start + other)
    assert (start + one)[:length] == (start + other)[:length]
    assert length >= len(start)
    assert (start + one)[length : length + 1] != (start + other)[
        length : length + 1
    ] or one == other
    if one != other:
        found = excerpt(one, other)
        assert found.old != found.new or nature_of(one, other) == "layout"
        assert nature_of(one, other) == nature_of(other, one)
