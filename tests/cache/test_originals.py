"""Originals come back equal while their store holds them, and it holds no more than its limits."""

import logging
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import override

from autogen_context.cache.originals import (
    MESSAGE_BYTES,
    DiskOriginals,
    OriginalStore,
    OriginalTier,
    size_of,
)
from autogen_context.cache.seal import SEAL_BYTES
from autogen_context.cache.store import DiskStore
from autogen_context.cache.tier import Scope
from autogen_context.errors import OriginalNotFound, StoreUnavailable
from autogen_context.messages.message import Message, ToolCall, ToolResult
from support.entries import ANY_TEXT, ENTRIES, Clock, said
from support.own_tier import OwnTier

SCOPE = Scope(tenant="acme", agent="coder")
OTHERS = [Scope(tenant="acme", agent="writer"), Scope(tenant="acmec", agent="oder")]
PUTS = st.lists(st.sampled_from("abcdef"), max_size=12)
MESSAGES = st.lists(st.text(max_size=40), max_size=3).map(
    lambda texts: tuple(Message(role="user", text=text) for text in texts)
)
CONTENTS = st.fixed_dictionaries(dict.fromkeys("abcdef", MESSAGES))
BOTH = pytest.mark.parametrize("memory_bytes", [0, 10**6], ids=["on disk", "in memory"])


@settings(max_examples=8)
@given(st.dictionaries(ANY_TEXT, ENTRIES, max_size=5), st.sampled_from([0, 1_000, 10**9]))
def test_what_was_put_comes_back_to_the_byte(
    tmp_path_factory: pytest.TempPathFactory,
    entries: dict[str, tuple[Message, ...]],
    memory_bytes: int,
) -> None:
    """From memory, from disk, and in another process: every field and every character, under any handle."""
    folder = tmp_path_factory.mktemp("originals")
    store = OriginalStore(memory_bytes, tiers=[DiskOriginals(folder, scope=SCOPE)])
    store.put_all(entries.items())
    later = OriginalStore(memory_bytes, tiers=[DiskOriginals(folder, scope=SCOPE)])
    for handle, messages in entries.items():
        assert store.get(handle) == later.get(handle) == messages
    assert (store.evicted, set(store.handles)) == (0, set(entries))
    assert later.handles == ()


@settings(max_examples=6)
@given(PUTS, CONTENTS, st.integers(0, 1_500), st.integers(0, 1_500))
def test_two_places_hold_what_either_holds(
    tmp_path_factory: pytest.TempPathFactory,
    handles: list[str],
    contents: dict[str, tuple[Message, ...]],
    memory_bytes: int,
    file_bytes: int,
) -> None:
    """Each within its own limit; what is in neither is reported once."""
    folder = tmp_path_factory.mktemp("originals")
    disk = DiskOriginals(folder, scope=SCOPE, limit_bytes=file_bytes)
    store, evicted = OriginalStore(memory_bytes, tiers=[disk]), 0
    for handle in handles:
        before = {name for name in "abcdef" if name in store} | {handle}
        store.put(handle, contents[handle])
        evicted += len({name for name in before if name not in store})
    newest_first = dict.fromkeys(reversed(handles))
    held = [name for name in newest_first if name in store]
    assert store.handles == tuple(reversed(held))
    assert store.evicted == evicted
    in_memory = list(store)
    assert sum(size_of(messages) for _, messages in in_memory) <= memory_bytes
    assert list(OriginalStore(memory_bytes, in_memory)) == in_memory


def test_what_is_gone_is_an_error_with_the_way_out(caplog: pytest.LogCaptureFixture) -> None:
    """It names the handle and how many went; each time their number doubles there is one warning, without texts."""
    store = OriginalStore(700)
    for handle in ("old", "mid", "new"):
        store.put(handle, said("secret" * 10))
    way_out = r"'old' \(evicted so far: 1\); raise originals_bytes"
    with pytest.raises(OriginalNotFound, match=way_out) as caught:
        store.get("old")
    assert (caught.value.handle, caught.value.evicted) == ("old", 1)
    store.put_all([("a", said("secret")), ("b", said("secret")), ("c", said("secret"))])
    told = [(r.levelno, vars(r)["left"], vars(r)["evicted"]) for r in caplog.records]
    assert told == [(logging.WARNING, 1, 1), (logging.WARNING, 2, 3)]
    for n in range(300):
        store.put(f"{n}", said("secret"))
    assert (store.evicted > 256, len(caplog.records)) == (True, 9)  # at 4, 8, ... 256
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
    assert size_of((message, message)) == 2 * (MESSAGE_BYTES + 4 + 1 + 2 + 3 + 8)
    assert size_of(()) == 0


@BOTH
def test_an_entry_is_kept_for_its_time(tmp_path: Path, memory_bytes: int) -> None:
    """Counted from when it was put last; then it is gone everywhere, and that is no eviction."""
    clock = Clock()
    disk = DiskOriginals(tmp_path, scope=SCOPE)
    store = OriginalStore(memory_bytes, tiers=[disk], ttl_s=60, clock=clock)
    store.put("early", said("early"))
    store.put("again", said("again"))
    clock.now_s += 59
    store.put("again", said("again"))
    assert ("early" in store, "again" in store) == (True, True)
    clock.now_s += 1
    assert ("early" in store, "again" in store) == (False, True)
    assert store.handles == ("again",)
    assert [handle for handle, _ in store] == (["again"] if memory_bytes else [])
    disk.write([("over", said("over"))], ttl_s=-1)
    disk.write([("late", said("late"))])
    assert b"over" not in disk.store.path.read_bytes()
    assert store.evicted == 0


@BOTH
def test_what_is_forgotten_is_gone(tmp_path: Path, memory_bytes: int) -> None:
    """From memory and from the bytes of the file; the others stay until all are cleared."""
    disk = DiskOriginals(tmp_path, scope=SCOPE)
    store = OriginalStore(memory_bytes, tiers=[disk])
    names = ("first", "second", "third")
    store.put_all((name, said(f"{name} secret" * 2_000)) for name in names)
    store.forget("second")
    store.forget("never there")
    assert [name in store for name in names] == [True, False, True]
    assert store.handles == ("first", "third")
    assert b"second secret" not in disk.store.path.read_bytes()
    store.clear()
    assert [name in store for name in names] == [False] * 3
    assert not [*store.handles, *store]
    assert store.evicted == 0
    assert b"secret" not in disk.store.path.read_bytes()


@BOTH
def test_a_handle_keeps_what_it_has(
    tmp_path: Path, memory_bytes: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Other content under it is refused with a warning, alone and among several, until it is forgotten."""
    store = OriginalStore(memory_bytes, tiers=[DiskOriginals(tmp_path, scope=SCOPE)])
    store.put("handle", said("first"))
    store.put("handle", said("first"))
    assert not caplog.records
    store.put("handle", said("second"))
    store.put_all([("new", said("a")), ("new", said("b"))])
    assert (store.get("handle"), store.get("new")) == (said("first"), said("a"))
    told = [(each.levelno, each.getMessage()) for each in caplog.records]
    assert told == 2 * [(logging.WARNING, "an original was not stored: its handle has another one")]
    store.forget("handle")
    store.put("handle", said("second"))
    assert (store.get("handle"), store.handles, store.evicted) == (
        said("second"),
        ("new", "handle"),
        0,
    )


@BOTH
def test_several_are_forgotten_at_once(tmp_path: Path, memory_bytes: int) -> None:
    """From memory and every tier, also what another process put there; the rest stays."""
    folder, far = DiskOriginals(tmp_path, scope=SCOPE), OriginalTier(OwnTier(), scope=SCOPE)
    store = OriginalStore(memory_bytes, tiers=[folder], shared=far)
    store.put_all((name, said(f"{name} secret")) for name in "abcd")
    folder.write([("elsewhere", said("elsewhere secret"))])
    store.forget(name for name in ("a", "c", "elsewhere", "never there"))
    assert store.handles == ("b", "d")
    assert [name for name in "abcd" if name in store] == ["b", "d"]
    for tier in (folder, far):
        assert [name for name in (*"abcd", "elsewhere") if tier.read(name)] == ["b", "d"]
    assert b"elsewhere secret" not in folder.store.path.read_bytes()


@settings(max_examples=30)
@given(ANY_TEXT, ANY_TEXT, ANY_TEXT, ANY_TEXT)
def test_scopes_are_told_apart(tenant: str, agent: str, tenant2: str, agent2: str) -> None:
    """By both names, wherever one ends and the other begins."""
    one, other = Scope(tenant=tenant, agent=agent), Scope(tenant=tenant2, agent=agent2)
    assert (one.key == other.key) == (one == other)


@pytest.mark.parametrize("other", OTHERS, ids=repr)
def test_no_scope_has_what_another_has(tmp_path: Path, other: Scope) -> None:
    """Not by its handle, not by forgetting or clearing it, not by writing under the same handle."""
    ours, theirs = (DiskOriginals(tmp_path, scope=scope) for scope in (SCOPE, other))
    ours.write([("handle", said("ours"))])
    store = OriginalStore(0, tiers=[theirs])
    assert "handle" not in store
    assert theirs.read("handle") is None
    theirs.forget("handle")
    theirs.clear()
    store.put("handle", said("theirs"))
    assert ours.read("handle") == said("ours")
    assert store.get("handle") == said("theirs")
    with closing(sqlite3.connect(ours.store.path)) as connection, connection:
        connection.execute("DELETE FROM Cache WHERE key LIKE ?", (f"{other.key}%",))
        moved = "UPDATE Cache SET key = replace(key, ?, ?)"
        connection.execute(moved, (SCOPE.key, other.key))
    assert theirs.read("handle") is None  # its checksum knows whose it was


def test_the_oldest_of_all_scopes_go_and_are_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Our own by their handles, those of others by their number."""

    def write(disk: DiskOriginals, *handles: str) -> list[str]:
        entries = [(handle, said("an original " * 500)) for handle in handles]
        return disk.write(entries)

    ours = DiskOriginals(tmp_path, scope=SCOPE, limit_bytes=20_000)
    theirs = DiskOriginals(tmp_path, scope=OTHERS[0], limit_bytes=20_000)
    assert write(theirs, "x") == write(ours, "a", "b") == write(ours, "a") == []
    assert caplog.records == []
    assert write(ours, "c", "d") == ["b"]
    assert [(r.levelno, vars(r)["left"]) for r in caplog.records] == [(logging.WARNING, 1)]
    assert [h for h in "abcd" if ours.read(h)] == ["a", "c", "d"]
    assert theirs.read("x") is None


def test_without_its_file_the_store_goes_on_in_memory(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A folder that cannot be made is one warning; what memory gives up is reported then."""
    (tmp_path / "file").write_text("in the way")
    store = OriginalStore(1_000, tiers=[DiskOriginals(tmp_path / "file" / "x", scope=SCOPE)])
    store.put("a", said("a" * 500))
    assert store.get("a") == said("a" * 500)
    store.put("b", said("b" * 500))
    assert ("a" in store, "b" in store, store.evicted) == (False, True, 1)
    warnings = [record.getMessage().split(" ")[0] for record in caplog.records]
    assert warnings == ["the", "originals"]


def test_what_cannot_be_listed_is_cleared_or_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder whose file was in use a moment ago, and one whose file is in use; of the other agent nothing is deleted."""
    monkeypatch.setattr("autogen_context.cache.store._LOCKED_S", 0.05)
    folder = DiskStore(tmp_path)
    one, other = (OriginalTier(folder, scope=scope) for scope in (SCOPE, OTHERS[0]))
    for tier in (one, other):
        tier.write([("handle", said("x"))])
    with closing(sqlite3.connect(folder.path, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        one.write([("late", said("x"))])
        with pytest.raises(StoreUnavailable):
            one.clear()
        connection.execute("ROLLBACK")
    assert one.handles() == []
    one.clear()
    later = DiskStore(tmp_path)
    assert OriginalTier(later, scope=one.scope).handles() == []
    assert OriginalTier(later, scope=other.scope).handles() == ["handle"]


class Declining(OwnTier):
    """Deletes nothing, and says so."""

    @override
    def forget(self, names: Iterable[str], /) -> None:
        raise StoreUnavailable("own", reason="nothing was deleted")


def test_what_one_tier_does_not_delete_the_others_do() -> None:
    """Who deletes is told that it did not happen."""
    far = OriginalTier(OwnTier(), scope=SCOPE)
    store = OriginalStore(0, tiers=[OriginalTier(Declining(), scope=SCOPE), far])
    store.put("handle", said("x"))
    with pytest.raises(StoreUnavailable, match="nothing was deleted"):
        store.forget("handle")
    assert far.read("handle") is None


def of_an_earlier_release(folder: Path, handle: str) -> Path:
    """A folder as it was left by one that sealed nothing, and had one scope for all conversations. What is put aside of it."""
    earlier = DiskOriginals(folder, scope=SCOPE)
    earlier.write([(handle, said("an original of an earlier release"))])
    with closing(sqlite3.connect(earlier.store.path)) as connection, connection:
        connection.execute("UPDATE Cache SET value = substr(value, ?)", (SEAL_BYTES + 1,))
    (folder / "originals" / "cache.key").unlink()
    return folder / "originals" / "cache.db.damaged"


DELETIONS: dict[str, Callable[[DiskOriginals], None]] = {
    "one": lambda tier: tier.forget("another handle"),
    "many": lambda tier: tier.forget(f"another handle {number}" for number in range(1_000)),
    "short": lambda tier: tier.forget("o"),
    "all of a conversation": lambda tier: tier.clear(),
}


@pytest.mark.parametrize("delete", DELETIONS.values(), ids=DELETIONS)
def test_originals_of_an_earlier_release_are_put_aside(
    tmp_path: Path, delete: Callable[[DiskOriginals], None]
) -> None:
    """They are not read, since anybody may have written them; a deletion of others leaves them, one of their own does not."""
    aside = of_an_earlier_release(tmp_path, "a handle of theirs")
    later = DiskOriginals(tmp_path, scope=Scope(tenant="acme", agent="coder", conversation="7"))
    assert later.read("a handle of theirs") is None
    later.write([("new", said("new"))])
    delete(later)
    assert b"an original of an earlier release" in aside.read_bytes()
    later.forget("a handle of theirs")
    assert not aside.exists()
