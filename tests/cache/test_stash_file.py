"""What is on disk belongs to its scope and its owner; what is damaged or planted is a miss, and runs nothing."""

import logging
import os
import pickle
import sqlite3
import stat
import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from math import inf
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from autogen_context.cache.originals.file import StashFile
from autogen_context.cache.originals.stash import Stash
from autogen_context.cache.scope import Scope
from autogen_context.messages.saved import messages_as_bytes
from support.entries import ANY_TEXT, said

SCOPE = Scope(tenant="acme", agent="coder")
LONG = said("an original " * 500)


def file_in(folder: Path, *, limit_bytes: int = 10**6, scope: Scope = SCOPE) -> StashFile:
    """The file in a folder that is made for it."""
    return StashFile(folder / "stash", scope=scope, limit_bytes=limit_bytes)


def write(file: StashFile, *handles: str) -> list[str]:
    """Put a long entry under each handle; it is kept for ever."""
    return file.write([(handle, LONG) for handle in handles], expires_at=inf, now=0.0)


def execute(file: StashFile, statement: str, *values: object) -> None:
    """Do something to the file from outside."""
    with closing(sqlite3.connect(file.path)) as connection, connection:
        connection.execute(statement, values)


@given(ANY_TEXT, ANY_TEXT, ANY_TEXT, ANY_TEXT)
def test_scopes_are_told_apart(tenant: str, agent: str, tenant2: str, agent2: str) -> None:
    """By both names, wherever one ends and the other begins."""
    one, other = Scope(tenant=tenant, agent=agent), Scope(tenant=tenant2, agent=agent2)
    assert (one.key == other.key) == (one == other)


OTHERS = [
    Scope(tenant="acme", agent="writer"),
    Scope(tenant="other", agent="coder"),
    Scope(tenant="coder", agent="acme"),
    Scope(tenant="acmec", agent="oder"),
    Scope(),
]


@pytest.mark.parametrize("other", OTHERS, ids=repr)
def test_no_scope_has_what_another_has(tmp_path: Path, other: Scope) -> None:
    """Not by its handle, not by forgetting or clearing it, not by writing under the same handle."""
    ours, theirs = file_in(tmp_path), file_in(tmp_path, scope=other)
    write(ours, "handle")
    stash = Stash(0, file=theirs)
    assert "handle" not in stash
    assert stash.handles == ()
    assert theirs.held(["handle"], now=0.0) == set()
    theirs.forget("handle")
    theirs.clear()
    stash.put("handle", said("theirs"))
    assert ours.read("handle", now=0.0) == LONG
    assert stash.get("handle") == said("theirs")


def test_a_row_that_was_moved_to_another_scope_is_a_miss(tmp_path: Path) -> None:
    """Its checksum knows whose it was, and under which handle."""
    ours = file_in(tmp_path)
    write(ours, "handle", "other")
    execute(ours, "UPDATE originals SET scope = ?", OTHERS[0].key)
    assert file_in(tmp_path, scope=OTHERS[0]).read("handle", now=0.0) is None
    execute(ours, "UPDATE originals SET scope = ?, handle = handle || x'00'", SCOPE.key)
    assert ours.read("handle\0", now=0.0) is None


def test_names_of_tenants_and_agents_are_not_written(tmp_path: Path) -> None:
    """Who reads the file learns no customer's name."""
    file = file_in(tmp_path, scope=Scope(tenant="Tenant & Sons", agent="secret-agent"))
    write(file, "handle")
    data = file.path.read_bytes()
    assert b"Sons" not in data
    assert b"secret-agent" not in data


def test_only_the_owner_can_read_it(tmp_path: Path) -> None:
    """The folder 0700 and every file 0600, the log of an open connection included, whatever the umask."""
    file = file_in(tmp_path)
    before = os.umask(0)
    try:
        write(file, "handle")
        with closing(sqlite3.connect(file.path)) as connection:
            connection.execute("SELECT * FROM originals").fetchall()
            files = list(file.path.parent.iterdir())
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.path.parent.stat().st_mode) == 0o700
    assert len(files) == 3
    assert {stat.S_IMODE(path.stat().st_mode) for path in files if path.exists()} == {0o600}


def test_nothing_is_made_before_something_is_written(tmp_path: Path) -> None:
    """Neither by reading nor by deleting."""
    file = file_in(tmp_path)
    assert file.read("handle", now=0.0) is None
    assert file.held(["handle"], now=0.0) == set()
    file.forget("handle")
    file.clear()
    assert not list(tmp_path.iterdir())


def test_the_oldest_of_all_scopes_go_and_are_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Our own by their handles, those of others by their number."""
    ours = file_in(tmp_path, limit_bytes=20_000)
    theirs = file_in(tmp_path, limit_bytes=20_000, scope=OTHERS[0])
    assert write(theirs, "x") == []
    assert write(ours, "a", "b") == []
    assert write(ours, "a") == []
    assert caplog.records == []
    assert write(ours, "c", "d") == ["b"]
    assert [(r.levelno, vars(r)["left"]) for r in caplog.records] == [(logging.WARNING, 1)]
    assert ours.held("abcd", now=0.0) == {"a", "c", "d"}
    assert theirs.read("x", now=0.0) is None


def test_what_is_larger_than_the_file_is_not_kept(tmp_path: Path) -> None:
    """It takes nothing else with it that would fit beside nothing."""
    assert write(file_in(tmp_path, limit_bytes=10), "a") == ["a"]


@dataclass
class Attack:
    """Makes a folder when it is loaded."""

    folder: Path

    @override
    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (str(self.folder),)


def test_a_planted_pickle_is_a_miss(tmp_path: Path) -> None:
    """Also with a right checksum, and with the column by which other stores tell pickles: nothing is executed."""
    file, made = file_in(tmp_path), tmp_path / "made"
    write(file, "handle", "other")
    planted = pickle.dumps(Attack(made))
    crc = file._crc("handle", inf, planted)  # pyright: ignore[reportPrivateUsage] # noqa: SLF001 - as an attacker would
    execute(file, "ALTER TABLE originals ADD COLUMN mode INTEGER DEFAULT 4")
    execute(file, "UPDATE originals SET messages = ?, crc = ?", planted, crc)
    assert file.read("handle", now=0.0) is None
    assert file.read("other", now=0.0) is None
    assert not made.exists()
    pickle.loads(planted)  # noqa: S301 - it would have worked
    assert made.exists()


ODD: list[object] = [None, 1, 1.5, "text", b"", messages_as_bytes(said("forged"))]


@given(st.sampled_from(["messages", "crc", "expires_at", "handle", "bytes"]), st.sampled_from(ODD))
def test_a_row_that_was_changed_is_the_original_or_a_miss(column: str, value: object) -> None:
    """Whatever stands in which column."""
    with tempfile.TemporaryDirectory() as folder:
        file = file_in(Path(folder))
        write(file, "handle")
        try:
            execute(file, f"UPDATE originals SET {column} = ?", value)  # noqa: S608 - names of ours
        except sqlite3.IntegrityError:
            return
        assert file.read("handle", now=0.0) in (None, LONG)
        if column in ("messages", "crc"):
            assert file.read("handle", now=0.0) is None


@given(st.data())
def test_a_damaged_file_costs_what_it_holds(data: st.DataObject) -> None:
    """Bytes flipped, cut off or put in anywhere: what comes back is the original or nothing, and the stash goes on."""
    with tempfile.TemporaryDirectory() as folder:
        file = file_in(Path(folder))
        write(file, "a", "b", "c")
        whole = file.path.read_bytes()
        at = data.draw(st.integers(0, len(whole) - 1))
        cut = data.draw(st.sampled_from([0, 1, 100, len(whole)]))
        put = data.draw(st.binary(max_size=20))
        file.path.write_bytes(whole[:at] + put + whole[at + cut :])
        stash = Stash(0, file=file)
        for handle in "abc":
            assert handle not in stash or stash.get(handle) == LONG
        stash.put("new", LONG)
        stash.put("newer", LONG)
        assert {h for h in ("new", "newer") if h in stash} <= set(stash.handles)


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "something else": lambda _: b"not a database at all " * 500,
    "words that are no text": lambda whole: whole.replace(b"PRIMARY KEY", b"PRIMARY \xf7EY"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_is_replaced(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: Callable[[bytes], bytes]
) -> None:
    """With one warning, whatever SQLite says of it; the next entry is kept."""
    file = file_in(tmp_path)
    write(file, "handle")
    file.path.write_bytes(damage(file.path.read_bytes()))
    assert file.read("handle", now=0.0) is None
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    write(file, "handle")
    assert file.read("handle", now=0.0) == LONG
    file.path.write_bytes(damage(file.path.read_bytes()))
    file.clear()
    assert not file.path.exists()


def test_without_its_file_the_stash_goes_on_in_memory(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A folder that cannot be made is one warning for each write; what memory gives up is reported then."""
    (tmp_path / "stash").write_text("in the way")
    with pytest.raises(ValueError, match="give a folder; this is none"):
        file_in(tmp_path)
    stash = Stash(1_000, file=StashFile(tmp_path / "stash" / "below", scope=SCOPE))
    stash.put("a", said("a" * 500))
    assert stash.get("a") == said("a" * 500)
    stash.put("b", said("b" * 500))
    assert ("a" in stash, "b" in stash, stash.evicted) == (False, True, 1)
    assert [record.getMessage()[:9] for record in caplog.records] == [
        "the file ",
        "the file ",
        "originals",
    ]


def test_a_locked_file_says_that_nothing_was_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading and writing go on without it; who deletes is told that it did not happen."""
    monkeypatch.setattr("autogen_context.cache.originals.file._LOCKED_S", 0.05)
    file = file_in(tmp_path)
    write(file, "handle")
    with closing(sqlite3.connect(file.path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            file.forget("handle")
    file.forget("handle")
    assert file.read("handle", now=0.0) is None


def test_a_limit_that_means_nothing_is_refused(tmp_path: Path) -> None:
    """With its name and value."""
    with pytest.raises(ValueError, match=r"limit_bytes=-1: give a number of bytes"):
        file_in(tmp_path, limit_bytes=-1)
