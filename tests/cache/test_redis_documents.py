"""Versioned documents on a real server: two writers lose no update."""

import asyncio
import math
import subprocess
import sys
from collections.abc import Iterator
from typing import cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autogen_context import IncrementalContextManager
from autogen_context.cache.redis.documents import NEW, Document, RedisDocuments
from autogen_context.cache.redis.server import RedisLimits, RedisServer
from autogen_context.cache.tier import Scope
from autogen_context.errors import StateError, StoreUnavailable, WriteConflict
from autogen_context.messages.message import Message
from autogen_context.recall.facts import Facts
from support.entries import ANY_TEXT
from support.redis_server import LocalRedis, running
from support.waiting import until

PATIENT = RedisLimits(timeout_s=10.0, patience_s=20.0, retry_s=0.05)  # a busy machine is no fault
WINDOW = 4_000
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=8,
)
COUNTER = """
import asyncio, sys
from autogen_context.cache.redis.documents import RedisDocuments
from autogen_context.cache.redis.server import RedisServer
from autogen_context.cache.redis.server import RedisLimits
from autogen_context.cache.tier import Scope

async def main() -> None:
    with RedisServer(sys.argv[1], limits=RedisLimits(timeout_s=10.0, patience_s=20.0)) as server:
        documents = RedisDocuments(server, scope=Scope(tenant="count"))
        for _ in range(200):
            await documents.update("sum", lambda found: (found or 0) + 1)

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalRedis]:
    """A server for the file."""
    yield from running(tmp_path_factory.mktemp("redis"))


@pytest.fixture(scope="module")
def server(redis: LocalRedis) -> Iterator[RedisServer]:
    """The line of this process."""
    with RedisServer(redis.url, limits=PATIENT) as line:
        yield line


def whole(found: object) -> int:
    """A number that was read, 0 where there was none."""
    return cast("int", found or 0)


@given(name=ANY_TEXT, value=JSON)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_was_written_is_read(server: RedisServer, name: str, value: object) -> None:
    """Any JSON under any name, with the version that writing gave it, which is new each time."""

    async def law() -> None:
        documents = RedisDocuments(server, scope=Scope(agent="any"))
        before = await documents.read(name)
        version = await documents.write(
            name, value, expected_version=before.version if before else NEW
        )
        assert await documents.read(name) == Document(value=value, version=version)
        assert version > (before.version if before else NEW)
        if version % 2:
            await documents.delete(name, expected_version=version)
            assert await documents.read(name) is None

    asyncio.run(law())


def test_two_processes_lose_no_update(redis: LocalRedis, server: RedisServer) -> None:
    """Each adds one 200 times, and this one as well: the sum is exact."""
    documents = RedisDocuments(server, scope=Scope(tenant="count"))
    command = [sys.executable, "-W", "error", "-c", COUNTER, redis.url]
    processes = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(2)]  # noqa: S603

    async def count() -> None:
        for _ in range(200):
            await documents.update("sum", lambda found: whole(found) + 1)

    asyncio.run(count())
    assert [process.communicate(timeout=120)[1] for process in processes] == [b"", b""]
    found = asyncio.run(documents.read("sum"))
    assert found is not None
    assert found.value == 600


async def test_who_comes_second_is_told(server: RedisServer) -> None:
    """The first value stays; the error says what is there, and what to do."""
    documents = RedisDocuments(server, scope=Scope(agent="second"))
    first = await documents.write("state", {"by": 1}, expected_version=NEW)
    for expected in (NEW, first - 1, first + 1):
        with pytest.raises(WriteConflict, match=r"'state' .* read it again") as conflict:
            await documents.write("state", {"by": 2}, expected_version=expected)
        assert (conflict.value.expected_version, conflict.value.version) == (expected, first)
        with pytest.raises(WriteConflict):
            await documents.delete("state", expected_version=expected)
    assert await documents.read("state") == Document(value={"by": 1}, version=first)


async def test_no_version_comes_twice(redis: LocalRedis, server: RedisServer) -> None:
    """Neither after a deletion nor after the server has lost all: who read before then is told."""
    documents = RedisDocuments(server, scope=Scope(agent="versions"))
    old = await documents.write("state", 1, expected_version=NEW)
    await documents.delete("state", expected_version=old)
    with pytest.raises(WriteConflict):
        await documents.write("state", 2, expected_version=old)
    again = await documents.write("state", 3, expected_version=NEW)
    redis.said(b"FLUSHALL")
    new = await documents.write("state", 4, expected_version=NEW)
    assert len({old, again, new}) == 3
    for version in (old, again):
        with pytest.raises(WriteConflict):
            await documents.write("state", 5, expected_version=version)


async def test_scopes_have_nothing_in_common(server: RedisServer) -> None:
    """None reads what another wrote under the same name."""
    names = ["", "a", "a:b", "b", "*"]
    scopes = [Scope(tenant=tenant, agent=agent) for tenant in names for agent in names]
    everyones = {scope: RedisDocuments(server, scope=scope) for scope in scopes}
    for scope, documents in everyones.items():
        await documents.write("b", repr(scope), expected_version=NEW)
    for scope, documents in everyones.items():
        found = await documents.read("b")
        assert found is not None
        assert found.value == repr(scope)


@pytest.mark.parametrize(
    "planted",
    [
        b"HSET %b version x json 1",
        b"HSET %b version 1 json [",
        b"HDEL %b json",
        b"HDEL %b version",
        b'HSET %b json "\\xff"',
    ],
    ids=repr,
)
async def test_a_damaged_document_is_an_error(
    redis: LocalRedis, server: RedisServer, planted: bytes
) -> None:
    """It is not taken for none, which somebody would write over; it can be deleted."""
    documents = RedisDocuments(server, scope=Scope(agent=repr(planted)))
    before = set(redis.stored())
    await documents.write("state", {"good": True}, expected_version=NEW)
    (key,) = set(redis.stored()) - before
    redis.said(planted % key)
    with pytest.raises(StateError, match=r"'state' .* is damaged .* delete it"):
        await documents.read("state")
    await documents.delete("state", expected_version=None)
    assert await documents.read("state") is None
    assert await documents.write("state", 1, expected_version=NEW)


@pytest.mark.parametrize(
    "value", [math.nan, {"a": math.inf}, "x" * 2_000], ids=["nan", "inf", "long"]
)
async def test_what_cannot_be_written_is_an_error(redis: LocalRedis, value: object) -> None:
    """It says why; nothing is written."""
    with RedisServer(redis.url, limits=RedisLimits(timeout_s=10.0, value_bytes=1_000)) as narrow:
        documents = RedisDocuments(narrow, scope=Scope(agent="narrow"))
        with pytest.raises(ValueError, match=r"JSON compliant|'state' has 2002 bytes .* 1000"):
            await documents.write("state", value, expected_version=NEW)
        assert await documents.read("state") is None


async def test_states_and_facts_travel(server: RedisServer) -> None:
    """Another worker continues from what one saved."""
    documents = RedisDocuments(server, scope=Scope(agent="travel"))
    manager = IncrementalContextManager(model="gpt-4", window_tokens=WINDOW)
    messages = [{"role": "user", "content": f"line {n} of a long story"} for n in range(900)]
    manager.prepare_nowait(messages)
    facts = Facts()
    facts.learn([Message(role="user", text="My name is Ada. I prefer short answers.")])
    assert len(facts)
    await documents.write("state", manager.save_state(), expected_version=NEW)
    await documents.write("facts", facts.to_json(), expected_version=NEW)
    state, known = await documents.read("state"), await documents.read("facts")
    assert state is not None
    assert known is not None
    other = IncrementalContextManager(model="gpt-4", window_tokens=WINDOW)
    other.load_state(cast("dict[str, object]", state.value))
    assert other.prepare_nowait(messages).messages == manager.prepare_nowait(messages).messages
    assert list(Facts.from_json(cast("dict[str, object]", known.value))) == list(facts)


async def test_nobody_is_told_that_his_state_was_kept_when_it_was_not(redis: LocalRedis) -> None:
    """A server that is away, and one that refuses, are errors; when it is back, all is well."""
    limits = RedisLimits(timeout_s=10.0, retry_s=0.02, retry_max_s=0.1)
    with RedisServer(redis.url, limits=limits) as server:
        documents = RedisDocuments(server, scope=Scope(agent="away"))
        await documents.write("state", 1, expected_version=NEW)
        redis.kill()
        with pytest.raises(StoreUnavailable, match=f"127.0.0.1:{redis.port}/0 cannot be used"):
            await documents.write("state", 2, expected_version=NEW)
        with pytest.raises(StoreUnavailable):
            await documents.read("state")
        redis.start()

        async def is_back() -> bool:
            try:
                return await documents.read("state") is None  # it came back empty
            except StoreUnavailable:
                return False

        await until(is_back)
        assert await documents.write("state", 3, expected_version=NEW)
        server.close()
        with pytest.raises(StoreUnavailable, match="was closed"):
            await documents.read("state")
