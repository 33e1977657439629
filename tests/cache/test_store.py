"""What is on disk belongs to its owner; what is damaged or planted is a miss with a warning, and runs nothing."""

import logging
import os
import pickle
import resource
import signal
import sqlite3
import stat
import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import override

from autogen_context.cache import store
from autogen_context.cache.cache import ContextCache
from autogen_context.cache.seal import locked_alone
from autogen_context.cache.store import FILE, ROW_BYTES, DiskStore
from autogen_context.errors import StoreUnavailable
from support.forks import ended, forked
from support.waiting import tick


class Bomb:
    """What would make a folder if it were unpickled."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @override
    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return os.mkdir, (str(self.folder),)


@pytest.fixture(params=[False, True], ids=["closed", "open"])
def disk(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[DiskStore]:
    """A folder with a value under ``key``, opened for each call or kept open."""
    made = DiskStore(tmp_path / "store", keep_open=request.param)
    made.write({"key": b"value"})
    yield made
    made.close()


def execute(path: Path, statement: str, *values: object) -> None:
    """Do something to the file from outside."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement, values)


@contextmanager
def locked(path: Path, how: str = "EXCLUSIVE") -> Generator[None]:
    """Another process uses the file."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"BEGIN {how}")
        yield
        connection.execute("ROLLBACK")


def warned(caplog: pytest.LogCaptureFixture) -> int:
    """How many warnings there were, and nothing worse."""
    assert {record.levelno for record in caplog.records} <= {logging.WARNING}
    return len(caplog.records)


STEPS = st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 900), st.booleans()), max_size=9)


@settings(max_examples=10)
@given(STEPS, st.integers(0, 2_000))
def test_the_newest_that_fit_are_there(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int, bool]], limit: int
) -> None:
    """The limit holds; what went is named, and is what was written the longest ago."""
    with closing(
        DiskStore(tmp_path_factory.mktemp("s"), limit_bytes=limit, keep_open=True)
    ) as disk:
        model: dict[str, bytes] = {}
        for name, size, reads in steps:
            if reads:
                assert disk.read(name) == model.get(name)
                continue
            model.pop(name, None)
            expected = [name] if size + ROW_BYTES > limit else []
            if not expected:
                model[name] = bytes(size)
            while sum(len(value) + ROW_BYTES for value in model.values()) > limit:
                expected.append(next(iter(model)))
                del model[expected[-1]]
            assert disk.write({name: bytes(size)}) == expected
        assert dict(disk.items()) == model


def test_the_folder_is_its_owners(disk: DiskStore) -> None:
    """0700, and the files in it 0600: its key, the database and those beside it, whatever the umask."""
    before = os.umask(0)
    try:
        with closing(sqlite3.connect(disk.path)) as connection:
            connection.execute("SELECT * FROM Cache").fetchall()
            files = list(disk.path.parent.iterdir())
            modes = {stat.S_IMODE(file.stat().st_mode) for file in files}
    finally:
        os.umask(before)
    assert stat.S_IMODE(disk.path.parent.stat().st_mode) == 0o700
    assert (len(files), modes) == (4, {0o600})


def test_reading_makes_no_folder(tmp_path: Path) -> None:
    """Nor does forgetting, nor what is larger than all room."""
    one = DiskStore(tmp_path / "store", limit_bytes=10)
    assert one.read("key") is None
    one.forget(["key"])
    one.clear()
    assert list(one.items()) == []
    assert one.write({"large": bytes(20)}) == ["large"]
    assert not (tmp_path / "store").exists()


PLANTED = {
    "a pickle in the row": "mode = 4, value = :pickle",
    "a pickle in a file": "mode = 4, value = NULL, filename = 'pickle'",
    "bytes in a file": "mode = 2, value = NULL, filename = '/etc/passwd'",
    "a pickle for a key": "key = :pickle, raw = 0",
    "a number": "value = 5",
    "nothing": "value = NULL",
    "a damaged value": "value = substr(value, 1, length(value) - 1)",
}


@pytest.mark.parametrize("name", PLANTED)
async def test_a_planted_row_is_a_miss_and_a_warning(
    tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Code in it never runs; the value is built, and kept in its place. A row of another key is no row of this one."""
    async with ContextCache(tmp_path) as cache:
        await cache.get_or_build("key", lambda: "old")
    data = pickle.dumps(Bomb(tmp_path / "exploded"))
    (tmp_path / "pickle").write_bytes(data)
    with closing(sqlite3.connect(tmp_path / FILE)) as connection, connection:
        connection.execute(f"UPDATE Cache SET {PLANTED[name]}", {"pickle": data})  # noqa: S608 - our own text
    assert [value for _, value in DiskStore(tmp_path).items()] == [None]
    for builds in (1, 0):
        async with ContextCache(tmp_path) as cache:
            assert await cache.get_or_build("key", lambda: "built") == "built"
            assert cache.stats().builds == builds
    assert warned(caplog) == (name != "a pickle for a key")
    assert not (tmp_path / "exploded").exists()
    pickle.loads(data)  # noqa: S301 - it would have worked
    assert (tmp_path / "exploded").exists()


def test_a_file_that_a_row_names_is_not_touched(disk: DiskStore, tmp_path: Path) -> None:
    """Neither when the row is overwritten nor when it is deleted."""
    victim = tmp_path / "victim"
    victim.touch()
    for action in (lambda: disk.write({"key": b"new"}), lambda: disk.forget(["key"])):
        execute(disk.path, "UPDATE Cache SET filename = ?", str(victim))
        action()
        assert victim.exists()


DAMAGES: dict[str, Callable[[Path], object]] = {
    "no database": lambda path: path.write_bytes(b"no database, but long enough to be one" * 50),
    "cut": lambda path: os.truncate(path, path.stat().st_size // 2),
    "a hole": lambda path: path.write_bytes(
        (data := path.read_bytes())[:4_096] + bytes(range(1, 201)) * 40 + data[12_096:]
    ),
    "no text": lambda path: path.write_bytes(path.read_bytes().replace(b"UNIQUE", b"UNIQ\xf7E")),
    "a name": lambda path: execute(
        path, "UPDATE OR REPLACE Cache SET key = CAST(x'ff' AS TEXT) WHERE key = 'key'"
    ),
    "another table": lambda path: execute(path, "ALTER TABLE Cache RENAME COLUMN mode TO modes"),
    "a setting": lambda path: execute(
        path, "UPDATE Settings SET value = 'x' WHERE key = 'eviction_policy'"
    ),
    "a setting too many": lambda path: execute(
        path,
        "INSERT OR REPLACE INTO Settings VALUES ('get', 'x'), ('disk_fetch', 'x'), ('set', 'x')",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_costs_what_it_holds(
    tmp_path: Path, damage: Callable[[Path], object], caplog: pytest.LogCaptureFixture
) -> None:
    """Nobody notices but by misses; there are warnings, and in the end a new file."""
    values = {"key": b"value", "large": bytes(200_000)}
    for keep_open in (False, True):
        with closing(DiskStore(tmp_path, keep_open=keep_open)) as disk:
            disk.write(values)
        damage(disk.path)
        caplog.clear()
        for _ in range(3):
            with closing(DiskStore(tmp_path, keep_open=keep_open)) as disk:
                found = disk.read_all(values)
                assert found.items() <= values.items()
                disk.write(values)
        assert warned(caplog) <= 3
        assert all(
            str(disk.path) in each.getMessage() and not each.exc_info for each in caplog.records
        )
        assert DiskStore(tmp_path).read_all(values) == values
    DiskStore(tmp_path).clear()
    assert not DiskStore(tmp_path).names()


def test_a_mistake_of_a_caller_costs_no_value(disk: DiskStore) -> None:
    """It is an error of the call, and what is in the file stays there."""
    wrong = "\ud800"  # no name
    for call in (
        partial(disk.read, wrong),
        partial(disk.write, {wrong: b"value"}),
        partial(disk.forget, [wrong]),
        partial(disk.clear, wrong),
    ):
        with pytest.raises(UnicodeEncodeError):
            call()
        assert disk.read("key") == b"value"
    with pytest.raises(TypeError):
        disk.write(cast("dict[str, bytes]", {"key": 5}))
    assert DiskStore(disk.path.parent).read("key") == b"value"


@settings(max_examples=8)
@given(st.data())
def test_bytes_that_are_other_are_the_value_or_a_miss(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Flipped, cut off or put in anywhere; the store goes on."""
    disk, values = DiskStore(tmp_path_factory.mktemp("s")), {name: bytes(6_000) for name in "abc"}
    disk.write(values)
    whole = disk.path.read_bytes()
    at = data.draw(st.integers(0, len(whole) - 1))
    cut = data.draw(st.sampled_from([0, 1, 100, len(whole)]))
    put = data.draw(st.binary(max_size=20))
    disk.path.write_bytes(whole[:at] + put + whole[at + cut :])
    assert disk.read_all(values).items() <= values.items()
    for _ in range(2):
        disk.write({"new": b"new"})
    assert disk.read("new") in (None, b"new")


def test_a_file_that_is_taken_away_is_made_again(disk: DiskStore) -> None:
    """What was in it is gone, what is written from then on is there for the next process."""
    for file in disk.path.parent.iterdir():
        file.unlink()
    assert disk.read("key") is None
    disk.write({"key": b"new"})
    assert DiskStore(disk.path.parent).read("key") == b"new"


@pytest.mark.parametrize("loose", [False, True], ids=["none", "loose"])
@pytest.mark.parametrize("step", ["folder_key", "take_file"])
def test_two_that_begin_at_once_keep_what_both_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, *, loose: bool
) -> None:
    """Without a key, or with one that others could use: one makes it, and the other begins in the midst of that."""
    if loose:
        DiskStore(tmp_path).write({"planted": b"value"})
        (tmp_path / FILE).chmod(0o666)
        (tmp_path / "cache.key").chmod(0o644)
    one, other = DiskStore(tmp_path), DiskStore(tmp_path)
    begun = cast("Callable[..., object]", getattr(store, step))
    with ThreadPoolExecutor(1) as thread:
        written = list[Future[list[str]]]()

        def interrupted(*given: Any, **more: Any) -> object:
            monkeypatch.undo()
            found = begun(*given, **more)
            written.append(thread.submit(other.write, {"other": b"value"}))
            wait(written, timeout=0.2)  # it has to wait for us
            return found

        monkeypatch.setattr(store, step, interrupted)
        assert one.write({"one": b"value"}) == []
        assert written[0].result() == []
    expected = {"one": b"value", "other": b"value"}
    assert DiskStore(tmp_path).read_all(["planted", *expected]) == expected


def test_a_folder_that_is_held_too_long_costs_values_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a process that hangs; it is used as soon as that one ends."""
    monkeypatch.setattr("autogen_context.cache.seal._TRIES", 2)
    monkeypatch.setattr(store, "_REST_S", 0.0)
    disk = DiskStore(tmp_path)
    with locked_alone(tmp_path):
        assert disk.write({"key": b"value"}) == ["key"]
    assert disk.write({"key": b"value"}) == []


def test_a_folder_that_is_made_again_is_another_one(tmp_path: Path) -> None:
    """Also where its file gets the number that the old one had: what others write there is read, and what is written they read."""
    one = DiskStore(tmp_path)
    one.write({"old": b"value"})
    number = one.path.stat().st_ino
    tick()
    (tmp_path / "cache.key").unlink()
    one.path.write_bytes(b"")
    other = DiskStore(tmp_path)
    other.write({"key": b"value"})
    assert one.path.stat().st_ino == number
    assert one.read("key") == b"value"
    one.write({"new": b"value"})
    assert other.read_all(["key", "new"]) == {"key": b"value", "new": b"value"}


@pytest.mark.parametrize("prefix", ["", "ke"])
def test_a_row_without_a_name_is_cleared(disk: DiskStore, prefix: str) -> None:
    """Nobody knows what it was."""
    execute(disk.path, "UPDATE Cache SET key = CAST(key AS BLOB)")
    disk.clear(prefix)
    assert list(disk.items()) == []


async def test_a_locked_file_is_left_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is waited for once; then memory serves, and what is forgotten meanwhile is not served later."""
    monkeypatch.setattr("autogen_context.cache.store._LOCKED_S", 0.05)
    async with ContextCache(tmp_path) as cache:
        await cache.get_or_build("old", lambda: "old")
        with locked(tmp_path / FILE):
            for number in range(20):
                assert await cache.get_or_build(f"{number}", lambda: "built") == "built"
            await cache.invalidate("old")
        assert await cache.get_or_build("old", lambda: "new") == "new"
        assert warned(caplog) == 1


def test_all_that_several_threads_forget_is_gone(tmp_path: Path) -> None:
    """However their calls interleave."""
    disk = DiskStore(tmp_path)
    names = [f"{number}" for number in range(240)]
    disk.write(dict.fromkeys(names, b"value"))
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(disk.forget, [[name] for name in names]))
    assert DiskStore(tmp_path).names() == []


def test_what_could_not_be_deleted_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who deletes is told; it is not served from then on, and deleted once the file works again."""
    monkeypatch.setattr("autogen_context.cache.store._LOCKED_S", 0.05)
    monkeypatch.setattr("autogen_context.cache.store._REST_S", 0.0)
    other = DiskStore(tmp_path)
    other.write({"key": b"value"})
    later = DiskStore(tmp_path)
    with locked(later.path):
        for delete in (partial(later.forget, ["key"]), later.clear):
            with pytest.raises(StoreUnavailable, match="nothing was deleted"):
                delete()
        later.write({"key": b"in vain"})
    assert other.read("key") == b"value"
    assert later.read("key") is None
    assert other.read("key") is None


def test_a_value_is_not_read_once_a_newer_one_could_not_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is a miss, also while the file is left alone; the others are there, and so is the next one that is written."""
    monkeypatch.setattr("autogen_context.cache.store._LOCKED_S", 0.05)
    monkeypatch.setattr("autogen_context.cache.store._REST_S", 0.0)
    disk = DiskStore(tmp_path)
    disk.write({"key": b"old", "other": b"value"})
    with locked(disk.path, "IMMEDIATE"):
        assert disk.write({"key": b"in vain"}) == ["key"]
    assert disk.names() == ["other"]
    assert disk.read_all(["key", "other"]) == {"other": b"value"}
    assert disk.write({"new": b"value"}) == []
    assert DiskStore(tmp_path).names() == ["other", "new"]
    disk.write({"key": b"newest"})
    assert disk.read("key") == b"newest"


def test_what_a_parent_could_not_delete_is_not_its_childs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be another value by the time that a forked process gets to it."""
    monkeypatch.setattr("autogen_context.cache.store._LOCKED_S", 0.05)
    disk = DiskStore(tmp_path)
    disk.write({"key": b"value"})
    with locked(disk.path), pytest.raises(StoreUnavailable):
        disk.forget(["key"])
    DiskStore(tmp_path).write({"key": b"new"})
    pid, _ = forked(lambda: int(disk.read("key") != b"new"))
    assert ended(pid) == 0
    assert DiskStore(tmp_path).read("key") == b"new"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="it forks")
def test_a_fork_while_a_value_is_written_costs_none(tmp_path: Path) -> None:
    """SQLite tells a child of locks that are its parent's: it waits until no call is under way, and both keep what they write."""
    disk, done = DiskStore(tmp_path), threading.Event()
    many = {f"{number}": bytes(1_000) for number in range(1_000)}

    def write_on() -> None:
        while not done.wait(0.001):
            assert disk.write(many) == []

    def child() -> int:
        signal.alarm(60)  # ends it if it waits for a lock that nobody holds
        return len(disk.write({"child": b"value"})) + len(many.keys() - disk.read_all(many))

    disk.write(many)
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write_on)
        codes = [ended(forked(child)[0]) for _ in range(4)]
        done.set()
        writing.result()
    assert codes == [0] * len(codes)
    assert {*disk.names()} == {*many, "child"}


async def test_a_full_disk_is_done_without(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What is there is served on."""
    DiskStore(tmp_path).write({"key": b"value"})
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        async with ContextCache(tmp_path) as cache:
            for number in range(20):
                value = f"{number}" * 20_000
                assert await cache.get_or_build(f"{number}", partial(str, value)) == value
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert warned(caplog) == 1
    assert DiskStore(tmp_path).read("key") == b"value"


def test_reading_waits_for_no_process_that_writes(
    disk: DiskStore, caplog: pytest.LogCaptureFixture
) -> None:
    """Many values are read while another one writes: none is missed, and nothing is to be forgiven."""
    disk.write({"other": b"value"})
    with locked(disk.path, "IMMEDIATE"):
        assert disk.read_all(["key", "other"]) == {"key": b"value", "other": b"value"}
    assert not caplog.records
