"""Originals come back equal while the stash holds them, and it holds no more than its limit."""

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.errors import NotStashed
from autogen_context.pipeline.message import Message, ToolCall, ToolResult
from autogen_context.store.stash import ENTRY_BYTES, Stash, size_of

ENTRIES = st.lists(
    st.tuples(
        st.sampled_from("abcdef"),
        st.lists(st.text(max_size=40), max_size=3).map(
            lambda texts: tuple(Message(role="user", text=text) for text in texts)
        ),
    ),
    max_size=12,
)


@given(ENTRIES, st.integers(0, 2_000))
def test_the_newest_that_fit_are_there(
    entries: list[tuple[str, tuple[Message, ...]]], limit: int
) -> None:
    """Each as it was put first; the oldest went, and as many as are missing were reported."""
    stash = Stash(limit)
    expected: dict[str, tuple[Message, ...]] = {}
    evicted = 0
    for handle, messages in entries:
        stash.put(handle, messages)
        expected.setdefault(handle, messages)
        while sum(map(size_of, expected.values())) > limit:
            del expected[next(iter(expected))]
            evicted += 1
    assert list(stash) == list(expected.items())
    assert stash.held_bytes == sum(map(size_of, expected.values())) <= limit
    assert stash.evicted == evicted
    for handle in "abcdef":
        assert (handle in stash) == (handle in expected)
        if handle in expected:
            assert stash.get(handle) is expected[handle]
    assert list(Stash(limit, stash)) == list(stash)


def test_what_is_gone_is_an_error_with_the_way_out(caplog: pytest.LogCaptureFixture) -> None:
    """It names the handle and how many went; each that goes is a warning without its text."""
    stash = Stash(700)
    for handle in ("old", "mid", "new"):
        stash.put(handle, (Message(role="user", text="secret" * 10),))
    with pytest.raises(
        NotStashed, match=r"'old' \(evicted so far: 1\); raise stash_bytes"
    ) as caught:
        stash.get("old")
    assert (caught.value.handle, caught.value.evicted) == ("old", 1)
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "secret" not in caplog.text


def test_all_texts_of_a_message_weigh() -> None:
    """Text, extra fields, arguments and results, and a little for the rest."""
    message = Message(
        role="tool",
        text="1",
        extra="22",
        calls=(ToolCall(id="", name="", arguments="333"),),
        results=(ToolResult(call_id="", text="4444"),) * 2,
    )
    assert size_of((message, message)) == 2 * (ENTRY_BYTES + 1 + 2 + 3 + 8)
    assert size_of(()) == 0
