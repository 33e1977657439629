"""What goes wrong with a real server: it is slow, dead, refuses, or is none. Nobody waits for it, and nobody fails."""

import asyncio
import itertools
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

import pytest
from typing_extensions import override

from autogen_context.cache.originals import OriginalStore, RedisOriginals
from autogen_context.cache.redis_server import RedisLimits, RedisServer
from autogen_context.cache.redis_tier import RedisTier
from autogen_context.cache.tier import Scope
from autogen_context.errors import StoreRefused, StoreUnavailable
from support.entries import said
from support.redis_pair import KEY, PATIENT
from support.redis_server import LocalRedis, babbling, delayed, nothing, port_that, silent_port
from support.waiting import until

FIRM = replace(PATIENT, timeout_s=0.5)
HURRIED = replace(PATIENT, timeout_s=0.05, patience_s=0.3)
AWAY, BACK = "a shared store is away", "the shared store is back"


@pytest.fixture(autouse=True)
def empty(request: pytest.FixtureRequest) -> None:
    """What a test does to the server is undone for the next one."""
    if "redis" in request.fixturenames:
        redis: LocalRedis = request.getfixturevalue("redis")
        redis.said(b"FLUSHALL", b"CONFIG SET maxmemory 0")


@asynccontextmanager
async def tier_on(url: str, limits: RedisLimits = PATIENT) -> AsyncGenerator[RedisTier]:
    """A tier with a line of its own."""
    server = RedisServer(url, limits=limits, key=KEY)
    try:
        yield RedisTier(server, tenant="acme")
    finally:
        await asyncio.to_thread(server.close)


async def read(tier: RedisTier, key: str) -> bytes | None:
    """The value of a key."""
    return (await asyncio.to_thread(tier.read_all, [key])).get(key)


async def forget(tier: RedisTier, key: str) -> None:
    """Have a key deleted, now or when the server is back."""
    with suppress(StoreUnavailable):
        await asyncio.to_thread(tier.forget, [key])


async def comes_to(tier: RedisTier, key: str, value: bytes | None) -> None:
    """Wait until a key has a value."""

    async def has_it() -> bool:
        return await read(tier, key) == value

    await until(has_it)


def said_of(caplog: pytest.LogCaptureFixture, what: str) -> int:
    """How often it was logged."""
    return sum(record.getMessage().startswith(what) for record in caplog.records)


async def test_a_read_ends_before_a_server_answers_that_hangs(
    redis: LocalRedis, caplog: pytest.LogCaptureFixture
) -> None:
    """Every one of a hundred, and the originals of a stash as well, though no answer ever comes; one warning."""
    released = asyncio.Event()
    async with (
        port_that(delayed(redis.port, released.wait)) as port,
        tier_on(redis.through(port), HURRIED) as tier,
    ):
        tier.write({"key": b"1"}, ttl_s=60)
        assert [await read(tier, str(n)) for n in range(100)] == [None] * 100
        assert await read(tier, "key") == b"1"
        await forget(tier, "key")
        assert await read(tier, "key") is None
        server = RedisServer(redis.through(port), limits=HURRIED, key=KEY)
        stash = OriginalStore(0, tiers=[RedisOriginals(server, scope=Scope())])
        assert "nobody's" not in stash
        stash.put("own", said("own"))
        assert stash.get("own") == said("own")
        await asyncio.to_thread(server.close)
        assert not released.is_set()
        released.set()
    assert said_of(caplog, AWAY) <= 2  # one for each line


async def test_a_server_that_becomes_slow_is_left_alone(
    redis: LocalRedis, caplog: pytest.LogCaptureFixture
) -> None:
    """When it answers after the limit one read waits for it and the rest for nothing; one warning, and one line after it."""
    caplog.set_level("INFO")
    wait_s, answers = 0.0, 0

    async def waited() -> None:
        nonlocal answers
        await asyncio.sleep(wait_s)
        answers += 1

    async with (
        port_that(delayed(redis.port, waited)) as port,
        tier_on(redis.through(port), replace(FIRM, timeout_s=0.1)) as tier,
    ):
        await comes_to(tier, "none", None)
        tier.write({"key": b"1"}, ttl_s=60)
        await asyncio.to_thread(tier.close)
        await comes_to(tier, "key", b"1")
        wait_s = 0.15
        await comes_to(tier, "key", None)
        before, tried = said_of(caplog, AWAY), answers
        await until(lambda: answers > tried + 3)  # somebody else asks whether it is quick again
        assert [await read(tier, "key") for _ in range(500)] == [None] * 500
        assert before == said_of(caplog, AWAY) >= 1
        wait_s = 0.0
        await comes_to(tier, "key", b"1")
        await until(lambda: said_of(caplog, BACK) >= 1)


async def test_a_server_dies_and_comes_back_in_mid_use(
    redis: LocalRedis, caplog: pytest.LogCaptureFixture
) -> None:
    """Two processes' worth of use meets no error and nothing that was not written under its key, whatever happens."""
    caplog.set_level("INFO")
    over = asyncio.Event()

    async def used(tier: RedisTier) -> None:
        for step in itertools.count():
            key = str(step % 7)
            tier.write({key: f"{key} {step}".encode()}, ttl_s=60)
            value = await read(tier, str(step % 5))
            assert value is None or value.startswith(b"%d " % (step % 5))
            if step % 11 == 0:
                await forget(tier, key)
            await asyncio.sleep(0)
            if over.is_set() and step > 10:
                return

    here, there = (RedisServer(redis.url, limits=PATIENT, key=KEY) for _ in range(2))
    async with here, there:
        one, two = RedisTier(here), RedisTier(there)
        tasks = [asyncio.create_task(used(RedisTier(line, tenant="a"))) for line in (here, there)]
        for end in (redis.kill, redis.stop):
            await asyncio.sleep(0.05)
            await asyncio.to_thread(end)
            await asyncio.sleep(0.05)
            await asyncio.to_thread(redis.start)
            one.write({"alive": b"1"}, ttl_s=60)
            await comes_to(two, "alive", b"1")
        over.set()
        await asyncio.gather(*tasks)
    assert said_of(caplog, AWAY) <= 4 * 2
    assert said_of(caplog, AWAY) == said_of(caplog, BACK) >= 2


async def test_what_was_forgotten_while_the_server_was_away_is_not_served_again(
    redis: LocalRedis,
) -> None:
    """It is a miss at once, and deleted for all when the line is back; who listens is told."""
    here = delayed(redis.port, nothing)
    async with tier_on(redis.url) as far:
        heard: list[str] = []
        far.listen(heard.append)
        await until(lambda: bool(heard))
        async with port_that(here) as port:
            line = RedisServer(redis.through(port), limits=FIRM, key=KEY)
            near = RedisTier(line, tenant="acme")
            near.write({"old": b"1", "kept": b"1"}, ttl_s=60)
            await comes_to(far, "kept", b"1")
        await forget(near, "old")
        near.write({"new": b"2"}, ttl_s=60)
        assert [await read(near, key) for key in ("old", "new")] == [None, b"2"]
        assert await read(far, "old") == b"1"
        async with port_that(here, port=port):
            await until(lambda: "old" in heard)
            await comes_to(far, "new", b"2")
            assert [await read(tier, "old") for tier in (far, near)] == [None, None]
            await comes_to(near, "kept", b"1")
            await asyncio.to_thread(line.close)


@pytest.mark.parametrize("ends", ["killed", "cut", "silent"])
async def test_who_listens_is_told_that_news_may_be_lost(redis: LocalRedis, ends: str) -> None:
    """After each interruption, noticed by whatever sign, all keys are invalid, and what comes then is heard."""
    released, came = asyncio.Event(), list[object]()
    released.set()
    heard: list[str] = []

    async def answers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.append(writer)
        await delayed(redis.port, released.wait)(reader, writer)

    limits = replace(FIRM, pulse_s=0.1 if ends == "silent" else 5.0)
    async with (
        tier_on(redis.url) as far,
        port_that(answers) as port,
        tier_on(redis.through(port), limits) as near,
    ):
        near.listen(heard.append)
        await until(lambda: bool(heard))
        before = len(heard), len(came)
        if ends == "killed":
            redis.kill()
            redis.start()
        elif ends == "cut":
            redis.said(b"CLIENT KILL TYPE pubsub")
        else:
            released.clear()
            await until(lambda: len(came) > before[1])  # another line in place of the silent one
            released.set()
        await until(lambda: len(heard) > before[0])
        assert set(heard) == {""}

        async def is_heard() -> bool:
            await forget(far, "key")
            return "key" in heard

        await until(is_heard)


GARBAGE = {
    "http": b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
    "noise": bytes(range(128, 256)) * 50,
    "nested": b"*1\r\n" * 20_000,
    "pong": b"+PONG\r\n",
    "number": b":1\r\n",
}


@pytest.mark.parametrize("text", GARBAGE.values(), ids=GARBAGE)
async def test_who_is_no_redis_is_a_miss(text: bytes) -> None:
    """Whatever it answers, nothing is read, nothing fails, and nobody hears a key."""
    heard: list[str] = []
    async with (
        port_that(babbling(text)) as port,
        tier_on(f"redis://127.0.0.1:{port}", replace(HURRIED, patience_s=0.1)) as tier,
    ):
        tier.listen(heard.append)
        tier.write({"own": b"1"}, ttl_s=60)
        await forget(tier, "gone")
        for _ in range(3):
            assert await read(tier, "key") is None
            await asyncio.sleep(0.03)
        server = RedisServer(f"redis://127.0.0.1:{port}", limits=HURRIED, key=KEY)
        stash = await asyncio.to_thread(RedisOriginals, server, scope=Scope())
        stash.write([("handle", said("x"))])
        assert stash.read("other") is None
        assert stash.handles() == []
        with suppress(StoreUnavailable):
            await asyncio.to_thread(stash.forget, "handle")
        assert stash.read("handle") is None
        await asyncio.to_thread(server.close)
    assert set(heard) <= {""}


async def test_nobody_is_there(caplog: pytest.LogCaptureFixture) -> None:
    """A port where nobody listens, a socket that is none: everything is a miss, with one warning each."""
    with silent_port() as port:
        for url in (f"redis://:secret@127.0.0.1:{port}", "unix:///nonexistent/redis.sock"):
            caplog.clear()
            async with tier_on(url) as tier:
                tier.write({"key": b"1"}, ttl_s=60)
                assert [await read(tier, str(n)) for n in range(10)] == [None] * 10
                await forget(tier, "key")
                await asyncio.to_thread(tier.close)
            assert said_of(caplog, AWAY) == 1
            assert "secret" not in caplog.text + repr([vars(each) for each in caplog.records])


async def test_a_wrong_password_is_an_error_from_the_first(redis: LocalRedis) -> None:
    """Of ``with`` or the first read; it names the server and the way out, no password; so is a user who may not read."""
    redis.said(b"ACL SETUSER narrow on >hunter2 ~* resetchannels -@all +ping")
    at = f"127.0.0.1:{redis.port}/0"
    for login in (":hunter2@", "nobody:hunter2@", "", "narrow:hunter2@"):
        async with tier_on(f"redis://{login}{at}") as tier:
            for _ in range(2):
                with pytest.raises(StoreRefused, match=f"redis://{at} rejects") as told:
                    await read(tier, "key")
                assert "hunter2" not in str(told.value)
    server = RedisServer(f"redis://{at}", limits=FIRM, key=KEY)
    with pytest.raises(StoreRefused):
        server.connect()
    with pytest.raises(StoreRefused):
        RedisOriginals(server, scope=Scope())
    server.close()


async def test_what_the_server_does_not_delete_is_not_served_again(redis: LocalRedis) -> None:
    """A user who may read and not delete has it no more, though others do; one who may nothing any more has misses."""
    redis.said(b"ACL SETUSER keeper on >keeper ~* &* +@all -unlink")
    keeper = f"redis://keeper:keeper@127.0.0.1:{redis.port}/0"
    async with tier_on(keeper, replace(FIRM, patience_s=0.5)) as tier, tier_on(redis.url) as far:
        tier.write({"wrong": b"1", "right": b"1"}, ttl_s=60)
        await comes_to(far, "right", b"1")
        await forget(tier, "wrong")
        for _ in range(2):
            assert await read(tier, "wrong") is None
            await comes_to(tier, "right", b"1")
        assert await read(far, "wrong") == b"1"
        redis.said(b"ACL SETUSER keeper off", b"CLIENT KILL USER keeper")
        assert await read(tier, "right") is None


async def test_a_server_that_is_full_takes_nothing_and_serves_what_it_has(
    redis: LocalRedis, caplog: pytest.LogCaptureFixture
) -> None:
    """What it declines is left out with a warning; when there is room again, the next value is taken."""
    async with tier_on(redis.url) as tier, tier_on(redis.url) as other:
        tier.write({"before": b"1"}, ttl_s=60)
        await comes_to(other, "before", b"1")
        redis.said(b"CONFIG SET maxmemory 1")
        tier.write({"full": b"1"}, ttl_s=60)
        await comes_to(tier, "full", None)
        assert await read(tier, "before") == b"1"
        assert "it rejected a command (OutOfMemoryError)" in caplog.text
        assert said_of(caplog, AWAY) == 0
        redis.said(b"CONFIG SET maxmemory 0")
        tier.write({"after": b"1"}, ttl_s=60)
        await comes_to(other, "after", b"1")


async def test_a_value_that_waits_is_used_for_its_time_only(redis: LocalRedis) -> None:
    """It is a miss from then on, while the server is away and when it is back, and so is the older one that stood there."""
    here = delayed(redis.port, nothing)
    async with tier_on(redis.url) as far:
        async with port_that(here) as port:
            line = RedisServer(redis.through(port), limits=FIRM, key=KEY)
            near = RedisTier(line, tenant="acme")
            near.write({"key": b"older"}, ttl_s=60)
            await comes_to(far, "key", b"older")
        await until(lambda: read_away(near))
        near.write({"key": b"brief"}, ttl_s=0.001)
        near.write({"kept": b"1"}, ttl_s=60)
        await comes_to(near, "key", None)
        assert await read(near, "kept") == b"1"
        async with port_that(here, port=port):
            await comes_to(far, "kept", b"1")
            await comes_to(far, "key", None)
            assert await read(near, "key") is None
            await asyncio.to_thread(line.close)


async def read_away(tier: RedisTier) -> bool:
    """Whether the server is known to be away: nothing is there, not even what it has."""
    return await read(tier, "key") is None


class Weighed(bytes):
    """A value that counts how often somebody asks for its size."""

    asked = 0

    @override
    def __len__(self) -> int:
        type(self).asked += 1
        return super().__len__()


async def test_what_waits_is_not_weighed_again_for_each_that_comes() -> None:
    """However many came before it; the oldest go as soon as there are too many bytes."""
    with silent_port() as port:
        limits = replace(HURRIED, waiting_bytes=1_000)
        async with tier_on(f"redis://127.0.0.1:{port}", limits) as tier:
            gone = [
                name
                for number in range(400)
                for name in tier.write({str(number): Weighed(b"12345")}, ttl_s=60)
            ]
            assert gone == [str(number) for number in range(200)]
            tier.write({"399": b"new"}, ttl_s=60)
            with suppress(StoreUnavailable):
                tier.forget(["398"])
            assert tier.write({"7": b"1234567"}, ttl_s=60) == []
            assert Weighed.asked < 400 * 5
