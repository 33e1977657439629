"""What is on disk belongs to its owner; what is damaged or planted is a miss with a warning, and runs nothing."""

import logging
import os
import pickle
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from math import inf
from pathlib import Path

import pytest
from typing_extensions import override

from autogen_context.cache.cache import CacheLimits, ContextCache
from autogen_context.cache.disk import CacheDisk
from autogen_context.cache.entry import CacheEntry
from autogen_context.cache.rows import FILE


class Bomb:
    """What would make a folder if it were unpickled."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @override
    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return os.mkdir, (str(self.folder),)


def entry(key: str, size: int = 10) -> CacheEntry:
    """An entry that is kept for ever."""
    return CacheEntry(
        key=key,
        kind="bytes",
        payload=os.urandom(size),
        dependencies=(),
        built_at=0.0,
        expires_at=inf,
    )


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[CacheDisk]:
    """A folder with an entry under ``key``."""
    made = CacheDisk(tmp_path / "cache")
    made.write(entry("key"), ttl_s=None)
    yield made
    made.close()


def execute(disk: CacheDisk, statement: str, *values: object) -> None:
    """Do something to the file from outside."""
    with closing(sqlite3.connect(disk.path)) as connection, connection:
        connection.execute(statement, values)


def warned(caplog: pytest.LogCaptureFixture) -> int:
    """How many warnings there were, and nothing worse."""
    assert {record.levelno for record in caplog.records} <= {logging.WARNING}
    return len(caplog.records)


def test_an_entry_comes_back(disk: CacheDisk) -> None:
    """Equal to what was written last under its key, here and after reopening; forgotten, it is gone."""
    newer = entry("key", 100_000)
    disk.write(newer, ttl_s=60)
    assert disk.read("key") == newer
    disk.close()
    assert disk.read("key") == newer
    assert disk.read("other") is None
    disk.forget(["key", "other"])
    assert disk.read("key") is None


def test_the_folder_is_its_owners(disk: CacheDisk) -> None:
    """0700, and the files in it 0600, those beside the database too."""
    assert stat.S_IMODE(disk.path.parent.stat().st_mode) == 0o700
    files = list(disk.path.parent.iterdir())
    assert FILE in {file.name for file in files}
    assert len(files) > 1
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_reading_makes_no_folder(tmp_path: Path) -> None:
    """Nor does forgetting."""
    one = CacheDisk(tmp_path / "cache")
    assert one.read("key") is None
    one.forget(["key"])
    one.clear()
    assert list(one.entries()) == []
    assert not (tmp_path / "cache").exists()


PLANTED = {
    "a pickle in the row": "mode = 4, value = :pickle",
    "a pickle in a file": "mode = 4, value = NULL, filename = 'pickle'",
    "bytes in a file": "mode = 2, value = NULL, filename = '/etc/passwd'",
    "text in a file": "mode = 3, value = NULL, filename = '/etc/passwd'",
    "a mode that is none": "mode = 9",
    "a number": "value = 5",
    "a text": "value = 'text'",
    "nothing": "value = NULL",
    "other bytes": "value = x'00'",
    "a damaged entry": "value = substr(value, 1, length(value) - 1)",
}


@pytest.mark.parametrize("columns", PLANTED.values(), ids=PLANTED)
async def test_a_planted_row_is_a_miss_and_a_warning(
    disk: CacheDisk, tmp_path: Path, columns: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Code in it never runs; the value is built, and kept in its place."""
    data = pickle.dumps(Bomb(tmp_path / "exploded"))
    (disk.path.parent / "pickle").write_bytes(data)
    with closing(sqlite3.connect(disk.path)) as connection, connection:
        connection.execute(f"UPDATE Cache SET {columns}", {"pickle": data})  # noqa: S608 - our own text
    async with ContextCache(disk.path.parent) as cache:
        assert await cache.get_or_build("key", lambda: "built") == "built"
        assert cache.stats().builds == 1
    assert warned(caplog) == 1
    async with ContextCache(disk.path.parent) as cache:
        assert await cache.get_or_build("key", lambda: "again") == "built"
    assert warned(caplog) == 1
    assert not (tmp_path / "exploded").exists()


def test_the_bomb_is_one(tmp_path: Path) -> None:
    """Were it unpickled, it would show."""
    pickle.loads(pickle.dumps(Bomb(tmp_path / "exploded")))  # noqa: S301 - this is the point
    assert (tmp_path / "exploded").exists()


def test_a_planted_key_is_not_unpickled(disk: CacheDisk, tmp_path: Path) -> None:
    """A row whose key is a pickle is one without an entry, whoever lists it."""
    data = pickle.dumps(Bomb(tmp_path / "exploded"))
    execute(disk, "UPDATE Cache SET key = ?, raw = 0", data)
    assert [found for _, found in disk.entries()] == [None]
    assert disk.read("key") is None
    assert not (tmp_path / "exploded").exists()


def test_a_file_that_a_row_names_is_not_touched(disk: CacheDisk, tmp_path: Path) -> None:
    """Neither when the row is overwritten nor when it is deleted."""
    actions: list[Callable[[], None]] = [
        lambda: disk.write(entry("key"), ttl_s=None),
        lambda: disk.forget(["key"]),
    ]
    for action in actions:
        victim = tmp_path / "victim"
        victim.touch()
        execute(disk, "UPDATE Cache SET filename = ?", str(victim))
        action()
        assert victim.exists()


def test_a_row_under_another_key_is_a_miss(
    disk: CacheDisk, caplog: pytest.LogCaptureFixture
) -> None:
    """An entry says under which key it was written."""
    disk.write(entry("other"), ttl_s=None)
    execute(disk, "UPDATE Cache SET value = (SELECT value FROM Cache LIMIT 1)")
    found = [disk.read(key) for key in ("key", "other")]
    assert found.count(None) == 1
    assert warned(caplog) == 1


DAMAGES: dict[str, Callable[[Path], object]] = {
    "no database": lambda path: path.write_bytes(b"no database, but long enough to be one" * 50),
    "zeros": lambda path: path.write_bytes(bytes(20_000)),
    "cut": lambda path: os.truncate(path, path.stat().st_size // 2),
    "a hole": lambda path: os.pwrite(os.open(path, os.O_WRONLY), os.urandom(8_000), 4_096),
    "another table": lambda path: _execute(path, "ALTER TABLE Cache RENAME COLUMN mode TO modes"),
    "a setting": lambda path: _execute(
        path, "UPDATE Settings SET value = 'x' WHERE key = 'eviction_policy'"
    ),
    "a setting too many": lambda path: _execute(
        path, "INSERT INTO Settings VALUES ('get', 'x'), ('disk_fetch', 'x'), ('set', 'x')"
    ),
}


def _execute(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
async def test_a_damaged_file_costs_what_it_holds(
    disk: CacheDisk, damage: Callable[[Path], object], caplog: pytest.LogCaptureFixture
) -> None:
    """No caller notices but by a build; there are warnings, and in the end a new file."""
    disk.write(entry("large", 200_000), ttl_s=None)
    disk.close()
    damage(disk.path)
    for _ in range(3):
        async with ContextCache(disk.path.parent) as cache:
            for key in ("key", "large", "new"):
                await cache.get_or_build(key, lambda: b"built")
    assert warned(caplog) <= 3
    async with ContextCache(disk.path.parent) as cache:
        assert await cache.get_or_build("new", lambda: b"other") == b"built"


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits long for another process."""
    monkeypatch.setattr("autogen_context.cache.rows._LOCKED_S", 0.05)


@pytest.mark.usefixtures("hasty")
async def test_a_locked_file_is_left_alone(
    disk: CacheDisk, caplog: pytest.LogCaptureFixture
) -> None:
    """It is waited for once; then memory serves, and what is forgotten meanwhile is not served later."""
    async with ContextCache(disk.path.parent) as cache:
        await cache.get_or_build("old", lambda: "old")
        with closing(sqlite3.connect(disk.path, isolation_level=None)) as connection:
            connection.execute("BEGIN EXCLUSIVE")
            for number in range(20):
                assert await cache.get_or_build(f"{number}", lambda: "built") == "built"
            await cache.invalidate("old")
        assert await cache.get_or_build("old", lambda: "new") == "new"
        assert warned(caplog) == 1


@pytest.mark.usefixtures("hasty")
def test_what_could_not_be_deleted_is_not_read(disk: CacheDisk) -> None:
    """Also once the file works again; then it is deleted."""
    now = 0.0
    later = CacheDisk(disk.path.parent, clock=lambda: now)
    with closing(sqlite3.connect(disk.path, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        later.forget(["key"])
        later.write(entry("key"), ttl_s=None)  # in vain
    now = 60.0
    assert disk.read("key") is not None
    assert later.read("key") is None
    assert disk.read("key") is None
    later.close()


async def test_a_full_disk_is_done_without(
    disk: CacheDisk, caplog: pytest.LogCaptureFixture
) -> None:
    """What is there is served on."""
    _execute(disk.path, "INSERT INTO Settings VALUES ('sqlite_max_page_count', 20)")
    disk.close()
    async with ContextCache(disk.path.parent) as cache:
        for number in range(20):
            value = f"{number}" * 20_000
            assert await cache.get_or_build(f"{number}", partial(str, value)) == value
    assert warned(caplog) == 1
    assert disk.read("key") is not None


async def test_a_folder_that_cannot_be_made_is_done_without(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """One warning, and the values are in memory."""
    cache = ContextCache(tmp_path / "cache")
    (tmp_path / "cache").touch()
    for _ in range(3):
        assert await cache.get_or_build("key", lambda: "built") == "built"
    assert cache.stats().builds == 1
    assert warned(caplog) == 1


def test_the_least_recently_used_goes_first(tmp_path: Path) -> None:
    """About the limit is kept; what was read of late stays, however old it is."""
    disk = CacheDisk(tmp_path / "cache", limit_bytes=1_000_000)
    disk.write(entry("old", 20_000), ttl_s=None)
    for number in range(100):
        disk.write(entry(f"{number}", 20_000), ttl_s=None)
        assert disk.read("old") is not None
    assert disk.read("0") is None
    assert disk.read("99") is not None
    assert disk.held_bytes < 8_000_000
    disk.close()


def test_what_was_read_by_a_process_that_ended_stays(tmp_path: Path) -> None:
    """Reading alone counts as use, also where nothing was written any more."""
    with closing(CacheDisk(tmp_path / "cache", limit_bytes=1_000_000)) as first:
        for number in range(30):
            first.write(entry(f"{number}", 20_000), ttl_s=None)
    with closing(CacheDisk(tmp_path / "cache")) as reader:
        assert reader.read("0") is not None
    with closing(CacheDisk(tmp_path / "cache", limit_bytes=1_000_000)) as later:
        for number in range(100, 130):
            later.write(entry(f"{number}", 20_000), ttl_s=None)
        assert later.read("0") is not None
        assert later.read("1") is None


def test_reading_waits_for_no_process_that_writes(
    disk: CacheDisk, caplog: pytest.LogCaptureFixture
) -> None:
    """Many entries are read while another one writes: none is missed, and nothing is to be forgiven."""
    disk.write(entry("other"), ttl_s=None)
    with closing(sqlite3.connect(disk.path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        assert all(disk.read(key) for key in ("key", "other"))
        connection.execute("ROLLBACK")
    assert not caplog.records


async def test_what_is_larger_than_all_room_is_not_written(tmp_path: Path) -> None:
    """It is in memory if there is room."""
    async with ContextCache(tmp_path, limits=CacheLimits(disk_bytes=1_000)) as cache:
        for _ in range(2):
            assert await cache.get_or_build("key", lambda: b"x" * 2_000) == b"x" * 2_000
        assert cache.stats().builds == 1
    assert not (tmp_path / FILE).exists()


@pytest.mark.usefixtures("hasty")
def test_clearing_says_if_it_did_not_happen(disk: CacheDisk) -> None:
    """A locked file is an error for who clears, a damaged one goes."""
    with closing(sqlite3.connect(disk.path, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        with pytest.raises(Exception, match=r"locked|^$"):
            CacheDisk(disk.path.parent).clear()
    disk.clear()
    assert disk.read("key") is None
    disk.close()
    disk.path.write_bytes(b"no database" * 1_000)
    disk.clear()
    assert not disk.path.exists()
