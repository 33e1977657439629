"""Whatever stands in a folder or on a server: it is the value that was written or a miss, after a bounded amount of work."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from redis import Redis

from autogen_context import IncrementalContextManager
from autogen_context.cache.cache import ContextCache
from autogen_context.cache.originals import DiskOriginals, OriginalStore, RedisOriginals
from autogen_context.cache.redis_server import RedisServer
from autogen_context.cache.redis_tier import RedisTier
from autogen_context.cache.store import DiskStore
from autogen_context.cache.tier import Scope
from autogen_context.errors import OriginalNotFound
from support.entries import said
from support.redis_server import LocalRedis, keys_of
from support.tracing import counted_statements

SCOPE = Scope(tenant="acme", agent="coder")
KEPT = {name: said(f"{name} " * 200) for name in ("one", "two", "three")}
LIMIT = 20_000
LATER_STATEMENTS = 600  # of all that ``used`` does; a healthy folder takes about 250
ALL_ROWS = "SELECT name FROM sqlite_master WHERE type = 'table'"
VALUES = st.one_of(
    st.none(),
    st.sampled_from([0, -1, 10**8, -(10**8), 2**63 - 1, -(2**63), 1e308, float("inf")]),
    st.sampled_from(["", "x", "\ud83d".encode("utf-8", "surrogatepass"), b"", b"\xff" * 40]),
    st.binary(max_size=60),
)


def filled(folder: Path) -> Path:
    """A folder of originals; the path of its database."""
    disk = DiskOriginals(folder, scope=SCOPE, limit_bytes=LIMIT)
    disk.write(KEPT.items())
    return disk.store.path


def used(folder: Path, limit_bytes: int = LIMIT) -> None:
    """Everything that is done with originals, by a process that begins then: nothing raises, nothing is another's."""
    disk = DiskOriginals(folder, scope=SCOPE, limit_bytes=limit_bytes)
    store = OriginalStore(0, tiers=[disk])
    for name, messages in KEPT.items():
        with suppress(OriginalNotFound):
            assert store.get(name) == messages
    disk.handles()
    for step in range(6):
        store.put(f"new {step}", said("new " * 500))
        assert store.get(f"new {step}") == said("new " * 500)
    store.forget(["one", "new 1"])
    assert not {"one", "new 1"} & {name for name in (*KEPT, "new 1") if name in store}
    store.clear()
    assert not [name for name in KEPT if name in store]
    store.put("last", said("last"))
    assert OriginalStore(0, tiers=[disk]).get("last") == said("last")


@settings(max_examples=60)
@given(st.data())
def test_any_cell_of_a_database_may_be_anything(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """A number, a name, a time, a count: what was kept is there or not, what is kept next is there, with bounded work."""
    path = filled(tmp_path_factory.mktemp("folder"))
    with closing(sqlite3.connect(path)) as connection, connection:
        table = data.draw(st.sampled_from(sorted(name for (name,) in connection.execute(ALL_ROWS))))
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        column = data.draw(st.sampled_from(columns))
        rows = [row for (row,) in connection.execute(f"SELECT rowid FROM {table}")]  # noqa: S608 - our own tables
        changed = data.draw(st.sampled_from([*rows, None]))
        where = "" if changed is None else f" WHERE rowid = {changed}"
        value = data.draw(VALUES)
        with suppress(sqlite3.Error):  # not every column takes every value
            connection.execute(f"UPDATE OR IGNORE {table} SET {column} = ?{where}", (value,))  # noqa: S608 - likewise
    with counted_statements() as count:
        used(path.parents[1])
    assert count[0] < LATER_STATEMENTS


WRONG_SUMS = {
    "far above": "value + 100000000",
    "far below": "value - 100000000",
    "no number": "'much'",
    "nothing": "NULL",
}


@pytest.mark.parametrize("wrong", WRONG_SUMS.values(), ids=WRONG_SUMS)
def test_a_wrong_sum_costs_no_original(tmp_path: Path, wrong: str) -> None:
    """What the file says of its size decides nothing: what fits stays, the limit holds, and the turn comes to its end."""
    path = filled(tmp_path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"UPDATE Settings SET value = {wrong} WHERE key = 'size'")  # noqa: S608 - our own text
    with counted_statements() as count:
        disk = DiskOriginals(tmp_path, scope=SCOPE, limit_bytes=LIMIT)
        assert disk.write([("new", said("new"))]) == []
        assert {name for name in (*KEPT, "new") if disk.read(name)} == {*KEPT, "new"}
        gone = [name for n in range(40) for name in disk.write([(str(n), said("x" * 1_000))])]
    assert len(gone) > 20
    assert path.stat().st_size < 10 * LIMIT
    assert count[0] < 20 * LATER_STATEMENTS


def test_a_turn_ends_whatever_the_folder_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a wrong size and a row whose name is none of ours, in a folder that was named by the environment."""
    monkeypatch.setenv("AUTOGEN_CONTEXT_ORIGINALS_DIRECTORY", str(tmp_path))
    monkeypatch.setenv("AUTOGEN_CONTEXT_ORIGINALS_DISK_BYTES", "1000000")

    def turn() -> None:
        messages = [{"role": "user", "content": f"{n} " + "word " * 400} for n in range(20)]
        prepared = IncrementalContextManager(window_tokens=4_000).prepare_nowait(messages)
        assert prepared.certificate.fits
        assert prepared.compacted

    turn()
    with closing(sqlite3.connect(tmp_path / "originals" / "cache.db")) as connection, connection:
        connection.execute("UPDATE Settings SET value = value + 100000000 WHERE key = 'size'")
        connection.execute("UPDATE Cache SET key = substr(key, 1, 33) || 'zz' WHERE rowid = 1")
    with counted_statements() as count:
        turn()
    assert count[0] < LATER_STATEMENTS


PLANTED = {
    "a trigger that never ends": (
        "CREATE TRIGGER t AFTER INSERT ON Cache BEGIN INSERT INTO Settings WITH RECURSIVE c(x) AS "
        "(SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x, x FROM c; END"
    ),
    "a trigger that deletes": "CREATE TRIGGER t AFTER UPDATE ON Settings BEGIN DELETE FROM Cache; END",
    "a view in place of the table": (
        "ALTER TABLE Cache RENAME TO Old;"
        "CREATE VIEW Cache AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"
        " SELECT x AS key, 1 AS raw, x AS value, 1 AS mode, 1 AS rowid, NULL AS expire_time, 1 AS store_time FROM c"
    ),
    "an index": "CREATE INDEX i ON Cache(length(value))",
}


@pytest.mark.parametrize("statement", PLANTED.values(), ids=PLANTED)
def test_tables_that_are_not_ours_are_put_aside(
    tmp_path: Path, statement: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing in them runs; it is told once, the next value is kept in a new file, and who deletes deletes the old one."""
    path = filled(tmp_path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(statement)
    disk = DiskOriginals(tmp_path, scope=SCOPE)
    assert not [name for name in KEPT if disk.read(name)]
    assert disk.write([("new", said("new"))]) == []
    assert disk.read("new") == said("new")
    (aside,) = [each for each in path.parent.iterdir() if "damaged" in each.name]
    assert [str(aside) in each.getMessage() for each in caplog.records] == [True]
    disk.forget(["one"])
    assert not aside.exists()


def test_tables_that_change_while_they_are_used_are_put_aside(tmp_path: Path) -> None:
    """Also for who has them open."""
    with closing(DiskStore(tmp_path, keep_open=True)) as disk:
        disk.write({"key": b"value"})
        with closing(sqlite3.connect(disk.path)) as connection, connection:
            connection.executescript(PLANTED["a trigger that never ends"])
        assert disk.write({"new": b"value"}) == []
        assert disk.read_all(["key", "new"]) == {"new": b"value"}


@settings(max_examples=40)
@given(st.data())
def test_any_key_of_a_server_may_be_anything(
    redis: LocalRedis, server: RedisServer, data: st.DataObject
) -> None:
    """Other bytes, another type, a value of another key, no name at all: misses for who asks, and nothing for the others."""
    raw: Redis = Redis.from_url(redis.url)  # pyright: ignore[reportUnknownMemberType] - its options have no types
    redis.said(b"FLUSHALL")
    tier = RedisOriginals(server, scope=SCOPE)
    tier.write(KEPT.items())
    tier.flush()
    cache_tier = RedisTier(server, tenant="acme")
    cache_tier.write({"row": b"value"})
    cache_tier.flush()
    keys = keys_of(raw)
    for _ in range(data.draw(st.integers(1, 3))):
        key, other = (data.draw(st.sampled_from(keys)) for _ in range(2))
        data.draw(st.sampled_from(CHANGES))(raw, key, other, data.draw(st.binary(max_size=60)))
    store = OriginalStore(0, shared=RedisOriginals(server, scope=SCOPE))
    for name, messages in KEPT.items():
        with suppress(OriginalNotFound):
            assert store.get(name) == messages
    assert set(store.handles) <= set(KEPT)
    assert cache_tier.read_all(["row"]) in ({}, {"row": b"value"})
    store.put("new", said("new"))
    tier.flush()
    manager = IncrementalContextManager(window_tokens=4_000, original_store=tier)
    assert manager.recall_context(query="two")
    store.forget(["one"])
    assert "one" not in store
    assert not server.away
    raw.close()


def _typed(raw: Redis, key: bytes, _other: bytes, value: bytes) -> None:
    raw.delete(key)
    raw.lpush(key, value)


def _named(raw: Redis, key: bytes, _other: bytes, value: bytes) -> None:
    with suppress(Exception):
        raw.zadd(key, {value: 10.0**15})


def _moved(raw: Redis, key: bytes, other: bytes, _value: bytes) -> None:
    if key != other:
        cast("Any", raw).copy(key, other, replace=True)  # its types know no bytes


def _patched(raw: Redis, key: bytes, _other: bytes, value: bytes) -> None:
    with suppress(Exception):
        raw.setrange(key, len(value) % 30, value)


def _set(raw: Redis, key: bytes, _other: bytes, value: bytes) -> None:
    raw.set(key, value)


CHANGES: list[Callable[[Redis, bytes, bytes, bytes], None]] = [
    _set,
    _typed,
    _named,
    _moved,
    _patched,
]


@pytest.mark.parametrize("member", [b"\xff\xfe", b"zz", b"", b"x" * 100_000], ids=len)
def test_a_bad_name_on_a_server_is_nobodys(
    redis: LocalRedis, server: RedisServer, member: bytes
) -> None:
    """A query finds what was kept, for this tenant and the others; the server is not taken for one that is away."""
    tiers = [
        RedisOriginals(server, scope=Scope(tenant=f"{len(member)}{tenant}", agent="team"))
        for tenant in "ab"
    ]
    raw: Redis = Redis.from_url(redis.url)  # pyright: ignore[reportUnknownMemberType] - as above
    before = set(keys_of(raw))
    for tier in tiers:
        tier.write([("handle", said("the zebra is number 7"))])
        tier.flush()
    for key in set(keys_of(raw)) - before:
        if raw.type(key) == b"zset":
            raw.zadd(key, {member: 10.0**15})
    raw.close()
    for tier in tiers:
        manager = IncrementalContextManager(window_tokens=4_000, original_store=tier)
        assert "zebra is number 7" in manager.recall_context(query="zebra")
    assert not server.away


def test_many_invalidations_are_one_deletion(tmp_path: Path) -> None:
    """What others declare wrong is deleted together, so that the next request waits for few statements."""

    async def served() -> None:
        async with ContextCache(tmp_path, shared=Telling()) as cache:
            await cache.get_or_build("key", lambda: "value")
            for number in range(20_000):
                Telling.heard[-1](f"{number}")
            assert await cache.get_or_build("new", lambda: "new") == "new"

    with counted_statements() as count:
        asyncio.run(served())
    assert count[0] < LATER_STATEMENTS


class Telling:
    """A shared tier that keeps nothing and tells who listens."""

    heard: list[Callable[[str], None]] = []  # noqa: RUF012 - of the one test

    def read_all(self, names: object, /) -> dict[str, bytes]:
        """Nothing."""
        return {}

    def write(self, values: object, /, *, ttl_s: float | None = None) -> list[str]:
        """Keep nothing."""
        return []

    def names(self) -> list[str]:
        """None."""
        return []

    def forget(self, names: object, /) -> None:
        """There is nothing."""

    def clear(self) -> None:
        """There is nothing."""

    def close(self) -> None:
        """Nothing is open."""

    def listen(self, heard: Callable[[str], None], /) -> Callable[[], None]:
        """Remember who listens."""
        self.heard.append(heard)
        return lambda: None
