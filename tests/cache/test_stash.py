"""Originals come back equal while the stash holds them, and it holds no more than its limits."""

import logging
import math
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.cache.originals.file import ROW_BYTES, StashFile
from autogen_context.cache.originals.memory import ENTRY_BYTES, size_of
from autogen_context.cache.originals.stash import Stash
from autogen_context.cache.scope import Scope
from autogen_context.errors import NotStashed
from autogen_context.messages.message import Message, ToolCall, ToolResult
from support.entries import ENTRIES, Clock, said

Entry = tuple[str, tuple[Message, ...]]

SCOPE = Scope(tenant="acme", agent="coder")
PUTS = st.lists(
    st.tuples(
        st.sampled_from("abcdef"),
        st.lists(st.text(max_size=40), max_size=3).map(
            lambda texts: tuple(Message(role="user", text=text) for text in texts)
        ),
    ),
    max_size=12,
)


@given(PUTS, st.integers(0, 2_000))
def test_the_newest_that_fit_are_there(entries: list[Entry], limit: int) -> None:
    """Each as it was put last; the oldest went, and as many as went were reported."""
    stash = Stash(limit)
    expected: dict[str, tuple[Message, ...]] = {}
    evicted = 0
    for handle, messages in entries:
        stash.put(handle, messages)
        expected.pop(handle, None)
        expected[handle] = messages
        while sum(map(size_of, expected.values())) > limit:
            del expected[next(iter(expected))]
            evicted += 1
    assert list(stash) == list(expected.items())
    assert stash.handles == tuple(expected)
    assert stash.held_bytes == sum(map(size_of, expected.values())) <= limit
    assert stash.evicted == evicted
    for handle in "abcdef":
        assert (handle in stash) == (handle in expected)
        if handle in expected:
            assert stash.get(handle) is expected[handle]
    assert list(Stash(limit, stash)) == list(stash)


@given(
    st.dictionaries(st.text(st.characters(), max_size=8), ENTRIES, max_size=5),
    st.sampled_from([0, 1_000, 10**9]),
)
def test_what_was_put_comes_back_to_the_byte(
    entries: dict[str, tuple[Message, ...]], memory_bytes: int
) -> None:
    """From memory, from disk, and in another process: every field and every character, under any handle."""
    with tempfile.TemporaryDirectory() as folder:
        stash = Stash(memory_bytes, file=StashFile(Path(folder), scope=SCOPE))
        stash.put_all(entries.items())
        later = Stash(memory_bytes, file=StashFile(Path(folder), scope=SCOPE))
        for handle, messages in entries.items():
            assert stash.get(handle) == later.get(handle) == messages
        assert (stash.evicted, set(stash.handles)) == (0, set(entries))
        assert later.handles == ()


@given(PUTS, st.integers(0, 1_500), st.integers(0, 1_500))
def test_two_tiers_hold_what_either_holds(
    entries: list[Entry], memory_bytes: int, file_bytes: int
) -> None:
    """Each within its own limit; what is in neither is reported once, and is the oldest."""
    with tempfile.TemporaryDirectory() as folder:
        file = StashFile(Path(folder), scope=SCOPE, limit_bytes=file_bytes)
        stash = Stash(memory_bytes, file=file)
        evicted = 0
        for handle, messages in entries:
            before = {name for name in "abcdef" if name in stash} | {handle}
            stash.put(handle, messages)
            left = {name for name in before if name not in stash}
            evicted += len(left)
        held = tuple(
            name for name in dict.fromkeys(n for n, _ in reversed(entries)) if name in stash
        )
        newest = list(dict.fromkeys(name for name, _ in reversed(entries)))
        assert list(held) == [name for name in newest if name in stash]
        assert stash.handles == tuple(reversed(held))
        assert stash.evicted == evicted
        assert stash.held_bytes <= memory_bytes
        on_disk = [dict(entries)[name] for name in newest if file.held([name], now=0.0)]
        assert sum(ROW_BYTES + len(m) for m in on_disk) <= file_bytes


def test_what_is_gone_is_an_error_with_the_way_out(caplog: pytest.LogCaptureFixture) -> None:
    """It names the handle and how many went; each time some go there is one warning, without texts."""
    stash = Stash(700)
    for handle in ("old", "mid", "new"):
        stash.put(handle, said("secret" * 10))
    with pytest.raises(
        NotStashed, match=r"'old' \(evicted so far: 1\); raise stash_bytes"
    ) as caught:
        stash.get("old")
    assert (caught.value.handle, caught.value.evicted) == ("old", 1)
    stash.put_all([("a", said("secret")), ("b", said("secret")), ("c", said("secret"))])
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * 2
    assert [vars(record)["left"] for record in caplog.records] == [1, 2]
    assert [vars(record)["evicted"] for record in caplog.records] == [1, 3]
    assert "secret" not in caplog.text


def test_all_texts_of_a_message_weigh() -> None:
    """As UTF-8: text, extra fields, names, arguments and results, and a little for the rest."""
    message = Message(
        role="tool",
        text="1",
        extra="é",
        calls=(ToolCall(id="", name="", arguments="333"),),
        results=(ToolResult(call_id="", text="\ud83d1"),) * 2,
    )
    assert size_of((message, message)) == 2 * (ENTRY_BYTES + 4 + 1 + 2 + 3 + 8)
    assert size_of(()) == 0


@pytest.mark.parametrize("memory_bytes", [0, 10**6], ids=["on disk", "in memory"])
def test_an_entry_is_kept_for_its_time(tmp_path: Path, memory_bytes: int) -> None:
    """Counted from when it was put last; then it is gone from both tiers, and that is no eviction."""
    clock = Clock()
    file = StashFile(tmp_path / "stash", scope=SCOPE)
    stash = Stash(memory_bytes, file=file, ttl_s=60, clock=clock)
    stash.put("early", said("early"))
    stash.put("again", said("again"))
    clock.now_s += 59
    stash.put("again", said("again"))
    assert ("early" in stash, "again" in stash) == (True, True)
    clock.now_s += 1
    assert ("early" in stash, "again" in stash) == (False, True)
    assert stash.handles == ("again",)
    assert [handle for handle, _ in stash] == (["again"] if memory_bytes else [])
    stash.put("late", said("late"))
    assert b"early" not in file.path.read_bytes()
    assert stash.evicted == 0


@pytest.mark.parametrize("ttl_s", [0, -1, math.nan])
def test_a_time_that_means_nothing_is_refused(ttl_s: float) -> None:
    """With what to do instead."""
    with pytest.raises(ValueError, match=r"ttl_s=.*: give seconds above 0"):
        Stash(100, ttl_s=ttl_s)


@pytest.mark.parametrize("memory_bytes", [0, 10**6], ids=["on disk", "in memory"])
def test_what_is_forgotten_is_gone(tmp_path: Path, memory_bytes: int) -> None:
    """From memory and from the bytes of the file; the others stay until all are cleared."""
    file = StashFile(tmp_path / "stash", scope=SCOPE)
    stash = Stash(memory_bytes, file=file)
    stash.put_all((name, said(f"{name} secret" * 2_000)) for name in ("first", "second", "third"))
    stash.forget("second")
    stash.forget("never there")
    assert [name in stash for name in ("first", "second", "third")] == [True, False, True]
    assert stash.handles == ("first", "third")
    assert b"second secret" not in file.path.read_bytes()
    stash.clear()
    assert [name in stash for name in ("first", "second", "third")] == [False] * 3
    assert not stash.handles
    assert not list(stash)
    assert stash.held_bytes == 0
    assert b"secret" not in file.path.read_bytes()
    assert stash.evicted == 0


def test_a_text_is_an_entry_of_one_message() -> None:
    """What a tool returned, before it was reduced."""
    stash = Stash(1_000)
    stash.put_text("handle", "line\n" * 3)
    assert [message.text for message in stash.get("handle")] == ["line\n" * 3]
